//! Positions of the objects of a message (TG-9.1).

use super::cbor::{Plain, Value, read_value, write_array_head, write_map_head, write_text, write_unsigned};
use super::metadata::check_len;
use crate::error::{Fault, Result, TensogramError};
use fw_bytes::{Limits, Span};

/// Where each data object frame begins, and how long it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Starts, from the first byte of the message.
    pub offsets: Vec<u64>,
    /// Frame lengths, padding excluded.
    pub lengths: Vec<u64>,
}

impl Index {
    /// Reads the body of an index frame, which stands at absolute position `at`.
    ///
    /// # Errors
    /// Metadata errors: not a map with text keys, lists of different lengths, entries that are no unsigned integers.
    pub fn from_cbor(bytes: &[u8], at: u64, limits: &Limits) -> Result<Self> {
        check_len(bytes.len(), at, limits)?;
        if let Some(spans) = plain(bytes) {
            let (offsets, lengths) = spans.iter().map(|span| (span.start, span.len())).unzip();
            return Ok(Self { offsets, lengths });
        }
        let Value::Map(entries) = read_value(bytes, at, limits.depth)? else { return Err(wrong("a map", at)) };
        let mut index = Self::default();
        for (key, value) in &entries {
            match key.as_text() {
                Some("offsets") => index.offsets = numbers(value, at)?,
                Some("lengths") => index.lengths = numbers(value, at)?,
                Some(_) => {}
                None => return Err(wrong("text keys", at)),
            }
        }
        if index.offsets.len() != index.lengths.len() {
            let message = format!("{} offsets and {} lengths", index.offsets.len(), index.lengths.len());
            return Err(TensogramError::Metadata(Fault::format("index_cbor_parse_failed", message).at(at)));
        }
        Ok(index)
    }

    /// The same as one list: the span of each frame, in the order of the index.
    ///
    /// # Errors
    /// As [`Index::from_cbor`], and for frames that end beyond 64 bits.
    pub(crate) fn spans(bytes: &[u8], at: u64, limits: &Limits) -> Result<Vec<Span>> {
        check_len(bytes.len(), at, limits)?;
        if let Some(spans) = plain(bytes) {
            return Ok(spans);
        }
        let index = Self::from_cbor(bytes, at, limits)?;
        let span = |(offset, length): (&u64, &u64)| Span::sized(*offset, *length);
        let spans = index.offsets.iter().zip(&index.lengths).map(span).collect::<Option<_>>();
        spans.ok_or_else(|| wrong("frames that end within 64 bits", at))
    }

    /// The canonical CBOR.
    pub fn to_cbor(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32 + self.offsets.len() * 10);
        write_map_head(&mut out, 2);
        for (key, numbers) in [("lengths", &self.lengths), ("offsets", &self.offsets)] {
            write_text(&mut out, key);
            write_array_head(&mut out, numbers.len());
            numbers.iter().for_each(|number| write_unsigned(&mut out, *number));
        }
        out
    }
}

/// The usual form, two arrays of definite length, without a tree of values in between: a message may have a million
/// objects. Whatever else there is goes the general way, which also has the words for what is wrong.
fn plain(bytes: &[u8]) -> Option<Vec<Span>> {
    let mut cbor = Plain::new(bytes);
    if cbor.map()? != 2 {
        return None;
    }
    let (first, count) = (cbor.text()?, cbor.array()?);
    let mut spans = Vec::with_capacity(count);
    cbor.unsigned_blocks(count, |numbers| {
        spans.extend(numbers.iter().map(|number| Span::new(0, *number)));
        Some(())
    })?;
    let (second, again) = (cbor.text()?, cbor.array()?);
    let offsets_last = match (first, second) {
        ("lengths", "offsets") => true,
        ("offsets", "lengths") => false,
        _ => return None,
    };
    if again != count {
        return None;
    }
    let mut places = spans.as_mut_slice();
    cbor.unsigned_blocks(again, |numbers| {
        let (block, rest) = std::mem::take(&mut places).split_at_mut_checked(numbers.len())?;
        places = rest;
        for (place, number) in block.iter_mut().zip(numbers) {
            *place = if offsets_last { Span::sized(*number, place.end) } else { Span::sized(place.end, *number) }?;
        }
        Some(())
    })?;
    cbor.is_empty().then_some(spans)
}

/// Tagged integers are refused here, unlike in descriptors.
fn numbers(value: &Value, at: u64) -> Result<Vec<u64>> {
    let Value::Array(items) = value else { return Err(wrong("an array", at)) };
    items
        .iter()
        .map(|item| match item {
            Value::Integer(number) => u64::try_from(*number).map_err(|_| wrong("unsigned 64-bit integers", at)),
            _ => Err(wrong("unsigned 64-bit integers", at)),
        })
        .collect()
}

fn wrong(expected: &str, at: u64) -> TensogramError {
    let message = format!("index: expected {expected}");
    TensogramError::Metadata(Fault::format("index_cbor_parse_failed", message).at(at)).on("index")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every width of a number, written canonically, is read by the plain way; it says nothing else than the general one.
    #[test]
    fn the_plain_way_and_the_general_one_agree() {
        let offsets = vec![0, 23, 24, 255, 256, 65_535, 65_536, u64::from(u32::MAX), 1 << 32, u64::MAX];
        let index = Index { lengths: vec![1; offsets.len()], offsets };
        let bytes = index.to_cbor();
        // The greatest number ends nothing within 64 bits; the plain way leaves that to the general one.
        assert_eq!(plain(&bytes), None);
        assert_eq!(Index::from_cbor(&bytes, 0, &Limits::default()).unwrap(), index);
        let offsets = vec![0, 23, 24, 255, 256, 257, 65_535, 65_536, 65_537, u64::from(u32::MAX), 1 << 32, 1 << 62];
        let index = Index { lengths: offsets.iter().rev().copied().collect(), offsets };
        let bytes = index.to_cbor();
        assert!(plain(&bytes).is_some());
        assert_eq!(Index::from_cbor(&bytes, 0, &Limits::default()).unwrap(), index);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let general = read_value(&damaged, 0, Limits::default().depth);
                match (plain(&damaged), general) {
                    (Some(spans), Ok(Value::Map(entries))) => {
                        let list = |name: &str| {
                            let (_, value) = entries.iter().find(|(key, _)| key.as_text() == Some(name)).unwrap();
                            numbers(value, 0).unwrap()
                        };
                        let (offsets, lengths) = spans.iter().map(|span| (span.start, span.len())).unzip();
                        assert_eq!((list("offsets"), list("lengths")), (offsets, lengths), "{at} {bit}");
                    }
                    (Some(_), other) => panic!("byte {at}, bit {bit}: the general way gives {other:?}"),
                    (None, _) => {}
                }
            }
            assert_eq!(plain(&bytes[..at]), None);
        }
    }

    #[test]
    fn a_claim_of_many_numbers_takes_no_memory() {
        let claim =
            [0xa2, 0x67, b'o', b'f', b'f', b's', b'e', b't', b's', 0x9b, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(plain(&claim), None);
    }
}
