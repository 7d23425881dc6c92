//! Huffman coding as the stream stores it.
//!
//! A section is an explicit tree, the number of symbols (not for block selectors, whose number stands elsewhere), the
//! length of the coded bytes, and the bits from the most significant down.

mod code; // lengths and codes from how often each symbol occurs
mod decode; // symbols back from bits, several per table look-up
mod encode; // symbols to bits
mod histogram; // how often each symbol occurs
mod tree; // the stored tree, checked

pub(super) use decode::Decoder;
pub(super) use encode::write_section;
pub(super) use histogram::histogram;

/// Whether a section says how many symbols it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// It does.
    Stored,
    /// The number is known from elsewhere.
    Implied,
}

#[cfg(test)]
mod tests {
    use super::code::CodeBook;
    use super::*;
    use fw_bytes::Cursor;

    /// Symbols with a sharp peak and a long tail, so that short and very long codes both occur.
    fn peaked(count: usize, seed: u64) -> Vec<u16> {
        let mut state = seed;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let spread = (state >> 33).trailing_zeros() * 3 / 2;
                32_768 + ((state >> 40) as u16 & ((1u32 << spread.min(14)) - 1) as u16)
            })
            .collect()
    }

    #[test]
    fn symbols_come_back() {
        for (count, seed) in [(1, 1), (2, 2), (3, 9), (100, 3), (5000, 4), (70_000, 5)] {
            let symbols = peaked(count, seed);
            let mut section = Vec::new();
            write_section(&symbols, Count::Stored, &mut section).unwrap();
            let mut cursor = Cursor::new(&section);
            let mut decoder = Decoder::parse(&mut cursor, count as u64, Count::Stored).unwrap();
            assert!(cursor.is_empty());
            let mut found = Vec::new();
            while found.len() < count {
                let group = (count - found.len()).min(16);
                found.extend(decoder.take(group).unwrap().iter().map(|code| *code as u16));
            }
            assert_eq!(found, symbols);
        }
    }

    #[test]
    fn one_symbol_needs_no_bits() {
        let mut section = Vec::new();
        write_section(&[32_768; 1000], Count::Stored, &mut section).unwrap();
        assert_eq!(section.len(), 13 + 7 + 16);
        let mut decoder = Decoder::parse(&mut Cursor::new(&section), 1000, Count::Stored).unwrap();
        assert!((0..500).all(|_| decoder.take(2).unwrap() == [32_768; 2]));
    }

    #[test]
    fn missing_bits_are_an_error() {
        let symbols = peaked(5000, 11);
        let mut section = Vec::new();
        write_section(&symbols, Count::Stored, &mut section).unwrap();
        // Shorten the coded bits by half, and say so in their length field.
        let bytes_len = CodeBook::new(&histogram(&symbols).unwrap()).bit_len().div_ceil(8) as usize;
        let at = section.len() - bytes_len;
        section[at - 8..at].copy_from_slice(&((bytes_len / 2) as u64).to_le_bytes());
        section.truncate(at + bytes_len / 2);
        let mut decoder = Decoder::parse(&mut Cursor::new(&section), 5000, Count::Stored).unwrap();
        let error = (0..5000).find_map(|_| decoder.take(1).err()).unwrap();
        assert_eq!(error.code, "values_exhausted");
    }
}
