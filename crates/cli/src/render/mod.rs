//! Text for people. Everything here returns strings, so that tests need no process.

mod hex;
mod table;
mod value;

pub(crate) use hex::byte_map;
pub(crate) use table::Table;
pub(crate) use value::{compact, tree};

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
        assert_eq!((shape(&[]), shape(&[721, 1440])), ("scalar".to_owned(), "721x1440".to_owned()));
    }
}
