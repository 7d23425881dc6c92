//! Ticks at round numbers, with labels that are exact decimals.

use crate::range::Span;
use crate::text::{number, superscript};

/// A place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// The value, inside the range.
    pub value: f64,
    /// Its label; all labels of an axis have the same number of decimals.
    pub label: String,
}

/// The ticks of an axis.
///
/// ```
/// use fw_draw::Ticks;
///
/// let ticks = Ticks::linear(-0.3, 0.72, 6);
/// let labels: Vec<&str> = ticks.ticks.iter().map(|tick| tick.label.as_str()).collect();
/// assert_eq!(labels, ["−0.2", "0.0", "0.2", "0.4", "0.6"]);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ticks {
    /// In rising order.
    pub ticks: Vec<Tick>,
    /// Labels are to be multiplied by ten to this power.
    pub exponent: i32,
}

impl Ticks {
    /// At most `most` multiples of 1, 2, 2.5 or 5 times a power of ten, inside `low..=high`.
    #[must_use]
    pub fn linear(low: f64, high: f64, most: usize) -> Self {
        if !(low.is_finite() && high.is_finite()) || low >= high || most == 0 {
            return Self::default();
        }
        let raw = high / most as f64 - low / most as f64;
        for decimal in steps(raw) {
            let Some(found) = multiples(low, high, decimal, most) else { continue };
            let exponent = common_exponent(&found);
            let ticks = found.into_iter().map(|(number, value)| Tick { value, label: number.label(exponent) });
            return Self { ticks: ticks.collect(), exponent };
        }
        // Too narrow for decimals that a double can tell apart.
        Self { ticks: vec![Tick { value: low, label: number(low) }], exponent: 0 }
    }

    /// At most `most` round numbers on a logarithmic axis: powers of ten, with 2 and 5 between them where there is room.
    #[must_use]
    pub fn log(low: f64, high: f64, most: usize) -> Self {
        if !(low > 0.0 && high.is_finite()) || low >= high || most == 0 {
            return Self::default();
        }
        let inside = |mantissas: &[u8], stride: i32| -> Vec<Tick> {
            let plain = exponent_of(low) >= -4 && exponent_of(high) < 6;
            let powers = (exponent_of(low)..=exponent_of(high)).filter(|power| power.rem_euclid(stride) == 0);
            let all = powers.flat_map(|power| mantissas.iter().map(move |mantissa| (*mantissa, power)));
            all.filter_map(|(mantissa, power)| {
                let value: f64 = format!("{mantissa}e{power}").parse().ok()?;
                (low..=high).contains(&value).then(|| Tick { value, label: power_label(mantissa, power, plain) })
            })
            .collect()
        };
        let dense: [&[u8]; 2] = [&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[1, 2, 5]];
        for mantissas in dense {
            let ticks = inside(mantissas, 1);
            if (3..=most).contains(&ticks.len()) && ticks.len() <= 12 {
                return Self { ticks, exponent: 0 };
            }
        }
        let decades = exponent_of(high) - exponent_of(low);
        for stride in (1..=decades.max(1)).chain([1000]) {
            let ticks = inside(&[1], stride);
            if (2..=most).contains(&ticks.len()) {
                return Self { ticks, exponent: 0 };
            }
        }
        Self::linear(low, high, most)
    }

    /// The ticks of a range on its own scale.
    #[must_use]
    pub fn of(span: &Span, most: usize) -> Self {
        if span.is_log() {
            Self::log(span.low(), span.high(), most)
        } else {
            Self::linear(span.low(), span.high(), most)
        }
    }

    /// Degrees of latitude (`30°N`) inside `south..=north`.
    #[must_use]
    pub fn latitude(south: f64, north: f64, most: usize) -> Self {
        Self::degrees(south.max(-90.0), north.min(90.0), most, |degrees| (degrees, if degrees < 0 { 'S' } else { 'N' }))
    }

    /// Degrees of longitude (`150°W`) inside `west..=east`, which may go beyond 180.
    #[must_use]
    pub fn longitude(west: f64, east: f64, most: usize) -> Self {
        Self::degrees(west, east, most, |degrees| {
            let wrapped = (degrees + 180_000).rem_euclid(360_000) - 180_000;
            (wrapped, if wrapped < 0 { 'W' } else { 'E' })
        })
    }

    /// Ticks in thousandths of a degree.
    fn degrees(low: f64, high: f64, most: usize, side: impl Fn(i64) -> (i64, char)) -> Self {
        let fine = low < high && low.abs() <= 1000.0 && high.abs() <= 1000.0;
        if !fine || most == 0 {
            return Self::default();
        }
        for step in DEGREE_STEPS {
            let first = (low * 1000.0 / step as f64).ceil() as i64;
            let last = (high * 1000.0 / step as f64).floor() as i64;
            if last - first + 1 > most as i64 {
                continue;
            }
            let ticks = (first..=last).map(|index| {
                let (degrees, letter) = side(index * step);
                let plain = decimal_text(i128::from(degrees.abs()), -3);
                let plain = plain.trim_end_matches('0').trim_end_matches('.');
                let plain = if plain.is_empty() { "0" } else { plain };
                let letter = if degrees == 0 || degrees.abs() == 180_000 { String::new() } else { letter.to_string() };
                Tick { value: (index * step) as f64 / 1000.0, label: format!("{plain}°{letter}") }
            });
            return Self { ticks: ticks.collect(), exponent: 0 };
        }
        Self::default()
    }

    /// The power of ten as text, such as `×10⁶`; empty when labels are the values.
    #[must_use]
    pub fn exponent_text(&self) -> String {
        if self.exponent == 0 { String::new() } else { format!("×10{}", superscript(self.exponent)) }
    }
}

/// A decimal: `digits` times ten to the power of `scale`.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    digits: i128,
    scale: i32,
}

impl Decimal {
    /// The nearest double: parsing rounds correctly on every machine, powers of ten do not.
    fn value(self) -> f64 {
        format!("{}e{}", self.digits, self.scale).parse().unwrap_or(f64::NAN)
    }

    fn label(self, exponent: i32) -> String {
        let sign = if self.digits < 0 { "−" } else { "" };
        format!("{sign}{}", decimal_text(self.digits.abs(), self.scale - exponent))
    }
}

fn decimal_text(digits: i128, scale: i32) -> String {
    let mut text = digits.to_string();
    if scale >= 0 {
        if digits != 0 {
            text.extend(std::iter::repeat_n('0', scale as usize));
        }
        return text;
    }
    let decimals = scale.unsigned_abs() as usize;
    if text.len() <= decimals {
        text.insert_str(0, &"0".repeat(decimals + 1 - text.len()));
    }
    text.insert(text.len() - decimals, '.');
    text
}

/// Round steps from about `raw` upwards.
fn steps(raw: f64) -> impl Iterator<Item = Decimal> {
    let power = exponent_of(raw);
    (power..=power.saturating_add(2)).flat_map(|power| {
        [(1, power), (2, power), (25, power - 1), (5, power)].map(|(digits, scale)| Decimal { digits, scale })
    })
}

/// Multiples of a step inside the range; `None` when there are more than `most`, or when doubles cannot tell them apart.
fn multiples(low: f64, high: f64, step: Decimal, most: usize) -> Option<Vec<(Decimal, f64)>> {
    let size = step.value();
    let first = (low / size).floor();
    if !(size > 0.0 && first.abs() < 1e15 && (high / size).abs() < 1e15) || high / size - first > most as f64 + 3.0 {
        return None;
    }
    let mut found = Vec::new();
    for index in first as i128..=(high / size).ceil() as i128 {
        let number = Decimal { digits: index * step.digits, scale: step.scale };
        let value = number.value();
        if (low..=high).contains(&value) {
            // Minus zero would be a label of its own.
            found.push((number, value + 0.0));
        }
    }
    (found.len() <= most).then_some(found)
}

/// The power of ten that is taken out of all labels: none while the largest has a handy length.
fn common_exponent(ticks: &[(Decimal, f64)]) -> i32 {
    let largest = ticks.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        return 0;
    }
    let power = exponent_of(largest);
    if (-3..6).contains(&power) { 0 } else { power.div_euclid(3) * 3 }
}

/// The exponent of the first decimal digit, exact.
fn exponent_of(value: f64) -> i32 {
    let text = format!("{value:e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// Labels of one axis are all decimals or all powers.
fn power_label(mantissa: u8, power: i32, plain: bool) -> String {
    if plain {
        decimal_text(i128::from(mantissa), power)
    } else if mantissa == 1 {
        format!("10{}", superscript(power))
    } else {
        format!("{mantissa}×10{}", superscript(power))
    }
}

const DEGREE_STEPS: [i64; 20] = [
    1, 2, 5, 10, 20, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 45_000, 60_000, 90_000, 180_000,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_labels() {
        assert_eq!(labels(&Ticks::linear(0.0, 10.0, 6)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&Ticks::linear(0.0, 1.0, 5)), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(labels(&Ticks::linear(98_000.0, 104_000.0, 4)), ["98000", "100000", "102000", "104000"]);
        let large = Ticks::linear(0.0, 3.2e7, 5);
        assert_eq!((labels(&large), large.exponent), (vec!["0", "10", "20", "30"], 6));
        assert_eq!(large.exponent_text(), "×10⁶");
        let small = Ticks::linear(0.0, 2e-5, 3);
        assert_eq!((labels(&small), small.exponent), (vec!["0", "10", "20"], -6));
    }

    #[test]
    fn extreme_ranges_do_not_fail() {
        for (low, high) in [
            (f64::MIN, f64::MAX),
            (0.0, 5e-324),
            (1.0, 1.0 + f64::EPSILON),
            (1e300, 1.0000001e300),
            (-5e-324, 5e-324),
            (f64::NAN, 1.0),
            (2.0, 1.0),
        ] {
            for most in 0..9 {
                let ticks = Ticks::linear(low, high, most);
                assert!(ticks.ticks.len() <= most, "{low} {high} {most}");
                assert!(ticks.ticks.iter().all(|tick| (low..=high).contains(&tick.value)), "{low} {high} {most}");
            }
        }
    }

    #[test]
    fn logarithmic_labels() {
        assert_eq!(labels(&Ticks::log(1.0, 1e4, 6)), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(labels(&Ticks::log(1e-8, 1e8, 5)), ["10⁻⁶", "10⁻³", "10⁰", "10³", "10⁶"]);
        assert_eq!(labels(&Ticks::log(1.5, 60.0, 6)), ["2", "5", "10", "20", "50"]);
        assert!(!Ticks::log(1.1, 1.2, 5).ticks.is_empty());
    }

    #[test]
    fn degrees_have_sides() {
        assert_eq!(labels(&Ticks::latitude(-90.0, 90.0, 7)), ["90°S", "60°S", "30°S", "0°", "30°N", "60°N", "90°N"]);
        assert_eq!(labels(&Ticks::longitude(150.0, 210.0, 5)), ["150°E", "165°E", "180°", "165°W", "150°W"]);
        assert_eq!(labels(&Ticks::longitude(-5.0, 5.0, 3)), ["5°W", "0°", "5°E"]);
        assert_eq!(labels(&Ticks::latitude(47.9, 49.1, 4)), ["48°N", "48.5°N", "49°N"]);
    }
}
