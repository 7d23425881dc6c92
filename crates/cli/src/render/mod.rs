//! Text for people. Everything here returns strings, so that tests need no process.

mod hex;
mod paint;
mod progress;
mod table;

pub(crate) use hex::{byte_map, byte_map_by};
pub(crate) use paint::{Ink, findings_error};
pub(crate) use progress::{Progress, beside, heard};
pub(crate) use table::{Table, middle};

/// A number of bytes for people: exact below a kibibyte, three digits above.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut scaled = bytes as f64 / 1024.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if scaled < 1023.95 {
            break;
        }
        scaled /= 1024.0;
        unit = next;
    }
    if scaled < 9.995 { format!("{scaled:.2} {unit}") } else { format!("{scaled:.1} {unit}") }
}

/// A number of bytes as people write it: `1000`, `500MB` (decimal), `2GiB` (binary).
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1000,
        "m" | "mb" => 1000 * 1000,
        "g" | "gb" => 1000 * 1000 * 1000,
        "t" | "tb" => 1000 * 1000 * 1000 * 1000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return None,
    };
    match number.parse::<u64>() {
        Ok(number) => number.checked_mul(factor),
        Err(_) => {
            let bytes = number.parse::<f64>().ok()? * factor as f64;
            (bytes.is_finite() && bytes < u64::MAX as f64).then_some(bytes as u64)
        }
    }
}

/// A path as text shows it.
pub(crate) fn shown(path: &std::path::Path) -> String {
    framewright::report::visible(&path.display().to_string()).into_owned()
}

/// A shape for people.
pub(crate) fn shape(dimensions: &[u64]) -> String {
    let parts: Vec<_> = dimensions.iter().map(u64::to_string).collect();
    if parts.is_empty() { "scalar".to_owned() } else { parts.join("x") }
}

/// `1 object`, `2 objects`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (4_153_344, "3.96 MiB"),
            (64 << 20, "64.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        for (text, bytes) in [("0", 0), ("5GB", 5_000_000_000), ("1.5 KiB", 1536), ("12m", 12_000_000)] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "GB", "5 parsecs", "-1", "99999999999TB", "1e400", "1.2.3"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
        assert_eq!((shape(&[]), shape(&[721, 1440])), ("scalar".to_owned(), "721x1440".to_owned()));
    }
}
