//! The portable format, straight to packed bits.

use super::{CONTAINER_LEN, NAME};
use crate::CodecError;
use crate::bits::{any_from, byte_len, set_range};
use fw_bytes::{Cursor, ParseError};

/// Fills `out` with `count` bits; padding bits become zero. Bytes behind the bitmap are ignored.
///
/// # Errors
/// When the bitmap is malformed or names a bit at or behind `count`.
///
/// # Panics
/// When `out` is not as long as `count` bits need.
pub fn decode_bitmap(bitmap: &[u8], count: u64, out: &mut [u8]) -> Result<(), CodecError> {
    assert_eq!(out.len() as u64, byte_len(count), "a bitmap decodes into exactly the bytes of its bits");
    out.fill(0);
    let mut cursor = Cursor::new(bitmap);
    let (containers, run_flags) = read_cookie(&mut cursor)?;
    let headers = cursor.take(containers * 4, "container headers").map_err(parse)?;
    if run_flags.is_none() || containers >= OFFSETS_FROM {
        // Containers follow one another in order, so their offsets say nothing new.
        cursor.take(containers * 4, "container offsets").map_err(parse)?;
    }
    let mut next_key = 0u32;
    for (index, header) in headers.as_chunks::<4>().0.iter().enumerate() {
        let [key_low, key_high, len_low, len_high] = *header;
        let key = u16::from_le_bytes([key_low, key_high]);
        let cardinality = u32::from(u16::from_le_bytes([len_low, len_high])) + 1;
        let at = cursor.position();
        if u32::from(key) < next_key {
            return Err(fault("bad_container", format!("container key {key} is not above the one before it"), at));
        }
        next_key = u32::from(key) + 1;
        let is_run = run_flags.is_some_and(|flags| flags.get(index / 8).is_some_and(|f| f >> (index % 8) & 1 == 1));
        let mut container = Container { base: u64::from(key) << 16, count, at, out };
        let found = match cardinality {
            _ if is_run => container.runs(&mut cursor)?,
            ..=MAX_ARRAY => container.array(&mut cursor, cardinality)?,
            _ => container.bits(&mut cursor)?,
        };
        if found != cardinality {
            let message = format!("container of key {key} holds {found} bits, its header says {cardinality}");
            return Err(fault("bad_container", message, at));
        }
    }
    Ok(())
}

/// The number of containers, and the flags that mark run containers where there are any.
fn read_cookie<'a>(cursor: &mut Cursor<'a>) -> Result<(usize, Option<&'a [u8]>), CodecError> {
    let cookie = cursor.u32_le("bitmap cookie").map_err(parse)?;
    if cookie & 0xffff == COOKIE_RUNS {
        let containers = (cookie >> 16) as usize + 1;
        let flags = cursor.take(containers.div_ceil(8), "run flags").map_err(parse)?;
        return Ok((containers, Some(flags)));
    }
    if cookie != COOKIE_PLAIN {
        return Err(fault("bad_cookie", format!("bitmap begins with {cookie:#010x}"), 0));
    }
    let containers = cursor.u32_le("container count").map_err(parse)?;
    if containers > 1 << 16 {
        return Err(fault("bad_container_count", format!("{containers} containers, at most 65536 exist"), 4));
    }
    Ok((containers as usize, None))
}

/// 65 536 bits from `base` on; each reader returns how many it set.
struct Container<'a> {
    base: u64,
    count: u64,
    at: u64,
    out: &'a mut [u8],
}

impl Container<'_> {
    fn array(&mut self, cursor: &mut Cursor<'_>, cardinality: u32) -> Result<u32, CodecError> {
        let bytes = cursor.take(cardinality as usize * 2, "array container").map_err(parse)?;
        let mut least = 0;
        for low in bytes.as_chunks::<2>().0 {
            let low = u32::from(u16::from_le_bytes(*low));
            if low < least {
                return Err(fault("bad_container", "array container is not in order", self.at));
            }
            least = low + 1;
            self.check_end(u64::from(least))?;
            let place = self.base + u64::from(low);
            self.out[(place / 8) as usize] |= 0x80 >> (place % 8);
        }
        Ok(cardinality)
    }

    fn runs(&mut self, cursor: &mut Cursor<'_>) -> Result<u32, CodecError> {
        let runs = cursor.u16_le("run count").map_err(parse)?;
        let bytes = cursor.take(usize::from(runs) * 4, "run container").map_err(parse)?;
        let (mut least, mut found) = (0u32, 0u32);
        for run in bytes.as_chunks::<4>().0 {
            let [start_low, start_high, len_low, len_high] = *run;
            let start = u32::from(u16::from_le_bytes([start_low, start_high]));
            let len = u32::from(u16::from_le_bytes([len_low, len_high])) + 1;
            if start < least || start + len > 1 << 16 {
                return Err(fault("bad_container", "runs overlap, or reach out of their container", self.at));
            }
            least = start + len;
            found += len;
            self.check_end(u64::from(least))?;
            set_range(self.out, self.base + u64::from(start), self.base + u64::from(least));
        }
        Ok(found)
    }

    fn bits(&mut self, cursor: &mut Cursor<'_>) -> Result<u32, CodecError> {
        let bytes = cursor.take(CONTAINER_LEN, "bitset container").map_err(parse)?;
        let start = usize::try_from(self.base / 8).unwrap_or(usize::MAX).min(self.out.len());
        let target = &mut self.out[start..];
        let mut found = 0;
        for (to, from) in target.iter_mut().zip(bytes) {
            *to = from.reverse_bits();
            found += from.count_ones();
        }
        if bytes.get(target.len()..).is_some_and(|rest| rest.iter().any(|byte| *byte != 0))
            || any_from(self.out, self.count)
        {
            return Err(self.past_the_end());
        }
        Ok(found)
    }

    /// Checks that the bits up to `end` of the container exist.
    fn check_end(&self, end: u64) -> Result<(), CodecError> {
        if self.base + end <= self.count { Ok(()) } else { Err(self.past_the_end()) }
    }

    fn past_the_end(&self) -> CodecError {
        fault(
            "too_many_bits",
            format!("container from bit {} reaches past the {} expected", self.base, self.count),
            self.at,
        )
    }
}

fn parse(error: ParseError) -> CodecError {
    CodecError::format(NAME, "truncated", error.to_string())
}

fn fault(code: &'static str, message: impl Into<String>, at: u64) -> CodecError {
    CodecError::format(NAME, code, message).at(at)
}

const COOKIE_PLAIN: u32 = 12346;
const COOKIE_RUNS: u32 = 12347;
/// Bitmaps with run containers have offsets from this many containers on.
const OFFSETS_FROM: usize = 4;
/// Containers of up to this many bits are arrays.
const MAX_ARRAY: u32 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_bitmaps_are_refused() {
        let code = |bitmap: &[u8], count: u64| {
            decode_bitmap(bitmap, count, &mut vec![0; byte_len(count) as usize]).unwrap_err().code
        };
        let array = |key: u16, values: &[u16]| {
            let mut bytes = [12346u32.to_le_bytes(), 1u32.to_le_bytes()].concat();
            bytes.extend(key.to_le_bytes());
            bytes.extend((values.len() as u16 - 1).to_le_bytes());
            bytes.extend([16, 0, 0, 0]);
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            bytes
        };
        let runs = |pairs: &[(u16, u16)], cardinality: u16| {
            let mut bytes = [0x3b, 0x30, 0, 0, 1, 0, 0].to_vec();
            bytes.extend((cardinality - 1).to_le_bytes());
            bytes.extend((pairs.len() as u16).to_le_bytes());
            bytes.extend(pairs.iter().flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()].concat()));
            bytes
        };
        assert_eq!(code(&[], 8), "truncated");
        assert_eq!(code(&[1, 2, 3, 4], 8), "bad_cookie");
        assert_eq!(code(&[0x3a, 0x30, 0, 0, 1, 0, 1, 0], 8), "bad_container_count");
        assert_eq!(code(&[0x3a, 0x30, 0, 0, 1, 0, 0, 0], 8), "truncated");
        assert_eq!(code(&array(0, &[3, 3]), 8), "bad_container");
        assert_eq!(code(&array(0, &[3, 8]), 8), "too_many_bits");
        assert_eq!(code(&array(1, &[3]), 65_536), "too_many_bits");
        assert_eq!(code(&runs(&[(2, 3), (5, 0)], 5), 8), "bad_container");
        assert_eq!(code(&runs(&[(2, 3)], 5), 8), "bad_container");
        assert_eq!(code(&runs(&[(0xffff, 1)], 2), 1 << 20), "bad_container");
        assert_eq!(code(&runs(&[(2, 9)], 10), 8), "too_many_bits");
        let mut out = [0xff; 1];
        decode_bitmap(&[0x3a, 0x30, 0, 0, 0, 0, 0, 0], 8, &mut out).unwrap();
        assert_eq!(out, [0]);
    }
}
