//! Text for titles, axes and SVG.

pub(crate) use fw_report::visible;

/// Text for the content of an XML element or a quoted attribute.
pub(crate) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(character),
        }
    }
    out
}

/// An integer in superscript digits.
pub(crate) fn superscript(value: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = value.unsigned_abs().to_string();
    let sign = if value < 0 { "⁻" } else { "" };
    sign.chars().chain(digits.bytes().map(|digit| DIGITS[usize::from(digit - b'0')])).collect()
}

/// A number in at most six significant digits, for titles and legends.
///
/// ```
/// assert_eq!(fw_draw::number(0.1 + 0.2), "0.3");
/// assert_eq!(fw_draw::number(-101325.0), "−101325");
/// assert_eq!(fw_draw::number(6.02214e23), "6.02214×10²³");
/// ```
#[must_use]
pub fn number(value: f64) -> String {
    rounded(value, 6)
}

/// A number in at most `digits` significant digits; digits before the decimal point stay as they are up to a million.
pub(crate) fn rounded(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    let most = digits.max(1) - 1;
    let scientific = format!("{:.most$e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
    };
    if value == 0.0 {
        "0".to_owned()
    } else if (-4..6).contains(&exponent) {
        let decimals = (most as i32 - exponent).max(0) as usize;
        format!("{sign}{}", trim(&format!("{:.decimals$}", value.abs())))
    } else {
        format!("{sign}{}×10{}", trim(mantissa), superscript(exponent))
    }
}

/// Shortens text in the middle until `fits`, which is given each shorter form.
pub(crate) fn shortened(text: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(text) {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    // Halving is enough: a shorter form never takes more room.
    let form = |kept: usize| -> String {
        let head = kept.div_ceil(2);
        let tail = characters.len() - (kept - head);
        characters[..head].iter().chain(['…'].iter()).chain(&characters[tail..]).collect()
    };
    let (mut good, mut bad) = (0, characters.len());
    if !fits(&form(0)) {
        return String::new();
    }
    while bad - good > 1 {
        let middle = (good + bad) / 2;
        if fits(&form(middle)) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    form(good)
}

/// A name with its unit: `temperature (K)`.
pub(crate) fn with_unit(name: &str, unit: &str) -> String {
    match (name.is_empty(), unit.is_empty()) {
        (_, true) => name.to_owned(),
        (true, false) => unit.to_owned(),
        (false, false) => format!("{name} ({unit})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_holds_no_markup() {
        assert_eq!(xml("a\u{7}\u{ffff}"), "a\\u{7}\\u{ffff}");
        assert_eq!(xml("<a & \"b\">'"), "&lt;a &amp; &quot;b&quot;&gt;&#39;");
    }

    #[test]
    fn numbers_are_rounded() {
        assert_eq!(rounded(230.7414, 4), "230.7");
        assert_eq!(rounded(101_325.4, 4), "101325");
        assert_eq!(rounded(-1.5e-7, 4), "−1.5×10⁻⁷");
        assert_eq!(rounded(f64::MAX, 4), "1.798×10³⁰⁸");
        assert_eq!(rounded(0.0, 4), "0");
    }

    #[test]
    fn long_text_is_cut_in_the_middle() {
        assert_eq!(shortened("abcdefghij", |text| text.chars().count() <= 5), "ab…ij");
        assert_eq!(shortened("abc", |text| text.chars().count() <= 5), "abc");
        assert_eq!(shortened("abc", |_| false), "");
    }
}
