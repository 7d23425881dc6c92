//! Exact comparison of integers and floats.

use std::cmp::Ordering;

/// An integer or a float; the two kinds compare by their exact values.
///
/// ```
/// use fw_query::Number;
///
/// assert_eq!(Number::parse("12"), Number::parse("12.0"));
/// let above = Number::Integer((1 << 53) + 1);
/// assert!(above > Number::Float(9007199254740992.0)); // as floats they would be equal
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer.
    Integer(i128),
    /// A float.
    Float(f64),
}

impl Number {
    /// Reads `12`, `-0.5`, `1e-3`. Words (`inf`, `nan`) and other notations are not numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        // The float parser also takes words; a number starts with a digit or a point.
        if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        // `12.000` is the integer 12, exactly, whatever its size.
        let whole = match text.split_once('.') {
            Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole,
            _ => text,
        };
        if let Ok(integer) = whole.parse::<i128>() {
            return Some(Self::Integer(integer));
        }
        text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Self::Float)
    }

    /// A total order for sorting: NaN comes after all other numbers.
    pub fn total_cmp(self, other: Self) -> Ordering {
        let nan = |number: Self| matches!(number, Self::Float(value) if value.is_nan());
        self.partial_cmp(&other).unwrap_or_else(|| nan(self).cmp(&nan(other)))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (*self, *other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b),
            (Self::Integer(a), Self::Float(b)) => compare(a, b),
            (Self::Float(a), Self::Integer(b)) => compare(b, a).map(Ordering::reverse),
        }
    }
}

fn compare(integer: i128, float: f64) -> Option<Ordering> {
    const LIMIT: f64 = (1u128 << 127) as f64;
    if float.is_nan() {
        return None;
    }
    if float >= LIMIT {
        return Some(Ordering::Less);
    }
    if float < -LIMIT {
        return Some(Ordering::Greater);
    }
    // In range, so the cast is exact; what it cuts off decides between equal whole parts.
    let whole = float.trunc();
    Some(integer.cmp(&(whole as i128)).then(whole.partial_cmp(&float)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_floats_compare_by_exact_value() {
        let order = |a: i128, b: f64| Number::Integer(a).partial_cmp(&Number::Float(b));
        assert_eq!(order(12, 12.0), Some(Ordering::Equal));
        assert_eq!(order(-3, -3.5), Some(Ordering::Greater));
        assert_eq!(order(3, 3.5), Some(Ordering::Less));
        assert_eq!(order((1 << 53) + 1, (1u64 << 53) as f64), Some(Ordering::Greater));
        assert_eq!(order(i128::MAX, f64::INFINITY), Some(Ordering::Less));
        assert_eq!(order(i128::MAX, 2f64.powi(127)), Some(Ordering::Less));
        assert_eq!(order(i128::MIN, -(2f64.powi(127))), Some(Ordering::Equal));
        assert_eq!(order(i128::MIN, f64::NEG_INFINITY), Some(Ordering::Greater));
        assert_eq!(order(0, -0.0), Some(Ordering::Equal));
        assert_eq!(order(0, f64::NAN), None);
    }

    #[test]
    fn numbers_are_digits_not_words() {
        for text in ["", "-", "+", "inf", "nan", "0x10", "1_000", "1e999", ".", "1 ", "12.0.0", "--1", "-+1"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        assert_eq!(Number::parse("9007199254740993.0"), Some(Number::Integer(9_007_199_254_740_993)));
        assert_eq!(Number::parse("+5"), Some(Number::Integer(5)));
        assert_eq!(Number::parse("-.5"), Some(Number::Float(-0.5)));
        assert_eq!(Number::parse("1e3"), Some(Number::Integer(1000)));
    }
}
