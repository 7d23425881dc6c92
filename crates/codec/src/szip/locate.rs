//! Where intervals start, given offsets that may be wrong.
//!
//! Writers in use store a wrong entry in a common case: when the last block of an interval is coded on its own right
//! behind a run of zero blocks, the next entry is the position *of* that last block instead of the one behind it. So an
//! interval starts at its entry or behind the single block there; the true one of the two ends where the next entry
//! says, by the same rule. When that does not single one out, the interval is reached by walking from an earlier one.

use super::decode::Decoder;
use super::fault::Fault;
use super::params::Layout;

/// The intervals of a payload, of which only some bytes may be at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream<'a> {
    pub(super) layout: &'a Layout,
    /// The bytes at hand.
    pub(super) bytes: &'a [u8],
    /// Position of their first bit in the payload.
    pub(super) start_bit: u64,
    /// Bits of the whole payload.
    pub(super) total_bits: u64,
    /// Samples in the whole payload.
    pub(super) samples: u64,
    /// One entry per interval, or none.
    pub(super) offsets: &'a [u64],
}

impl<'a> Stream<'a> {
    /// A decoder at a position of the payload that is at hand.
    pub(super) fn decoder_at(&self, position: u64) -> Option<Decoder<'a>> {
        let relative = position.checked_sub(self.start_bit)?;
        (relative <= self.bytes.len() as u64 * 8).then(|| Decoder::new(self.layout, self.bytes, relative))
    }

    /// Samples in interval `rsi`.
    pub(super) fn samples_in(&self, rsi: u64) -> usize {
        let full = self.layout.rsi_samples as u64;
        self.samples.saturating_sub(rsi.saturating_mul(full)).min(full) as usize
    }

    /// The start of interval `rsi`, certain as far as offsets written by this or the reference's rule can be.
    ///
    /// `Ok(None)`: it cannot be known from the bytes at hand.
    ///
    /// # Errors
    /// When the stream in front of it is malformed.
    pub(super) fn start_of(&self, rsi: u64) -> Result<Option<u64>, Fault> {
        if let Some(start) = self.confirmed(rsi) {
            return Ok(Some(start));
        }
        let mut distance = 1;
        loop {
            let from = rsi.saturating_sub(distance);
            if let Some(start) = self.confirmed(from) {
                return self.walk(from, start, rsi);
            }
            if from == 0 {
                return Ok(None);
            }
            distance = distance.saturating_mul(2);
        }
    }

    /// The start of interval `rsi` when its entry and the next one single it out. The first is always known.
    pub(super) fn confirmed(&self, rsi: u64) -> Option<u64> {
        if rsi == 0 {
            return (self.start_bit == 0).then_some(0);
        }
        let entry = self.entry(rsi)?;
        let stored = self.ends_as_stored(rsi, entry).then_some(entry);
        let behind = self.behind_lone_block(entry).filter(|start| self.ends_as_stored(rsi, *start));
        match (stored, behind) {
            (Some(start), None) | (None, Some(start)) => Some(start),
            _ => None,
        }
    }

    pub(super) fn entry(&self, rsi: u64) -> Option<u64> {
        self.offsets.get(usize::try_from(rsi).ok()?).copied()
    }

    /// True when interval `rsi`, read from `start`, ends where the offsets say.
    fn ends_as_stored(&self, rsi: u64, start: u64) -> bool {
        let Some(mut decoder) = self.decoder_at(start) else { return false };
        let Ok(extent) = decoder.skip_rsi(self.samples_in(rsi)) else { return false };
        let end = extent.end + self.start_bit;
        match self.entry(rsi + 1) {
            Some(next) => end == next || extent.lone_last.is_some_and(|last| last + self.start_bit == next),
            None => end <= self.total_bits && self.total_bits - end < 8,
        }
    }

    fn behind_lone_block(&self, entry: u64) -> Option<u64> {
        if self.layout.rsi_blocks < 2 {
            return None;
        }
        let end = self.decoder_at(entry)?.skip_last_block().ok()?;
        Some(end + self.start_bit)
    }

    fn walk(&self, from: u64, start: u64, to: u64) -> Result<Option<u64>, Fault> {
        let Some(mut decoder) = self.decoder_at(start) else { return Ok(None) };
        for rsi in from..to {
            decoder.skip_rsi(self.samples_in(rsi))?;
        }
        Ok(Some(decoder.position() + self.start_bit))
    }
}

#[cfg(test)]
mod tests {
    use super::super::join;
    use super::super::parts;
    use super::super::{SzipFlags, SzipParams};
    use super::*;

    /// Mostly constant samples with a few outliers, as bytes: many zero runs, and blocks alone behind them.
    fn sparse(count: usize, every: u64) -> Vec<u8> {
        let mut state = every;
        let sample = |_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if (state >> 33).is_multiple_of(every) { (state >> 50) as u16 } else { 500 }
        };
        (0..count).map(sample).flat_map(u16::to_le_bytes).collect()
    }

    /// The offsets that the reference writes for a stream with the given true ones.
    fn as_stored(stream: &Stream<'_>, offsets: &[u64]) -> Vec<u64> {
        let mut stored = vec![0];
        for (rsi, start) in offsets.iter().enumerate().take(offsets.len() - 1) {
            let extent = stream.decoder_at(*start).unwrap().skip_rsi(stream.samples_in(rsi as u64)).unwrap();
            assert_eq!(extent.end, offsets[rsi + 1], "offsets are true ends");
            stored.push(extent.lone_last.unwrap_or(extent.end));
        }
        stored
    }

    #[test]
    fn wrong_entries_of_the_known_kind_never_mislead() {
        let (mut wrong, mut settled) = (0, 0);
        for (rsi, every) in [(4, 60), (8, 90), (16, 40), (64, 200), (70, 300)] {
            let params = SzipParams { rsi, block_size: 8, flags: SzipFlags::PREPROCESS, bits_per_sample: 16 };
            let layout = Layout::new(&params).unwrap();
            let input = sparse(150_001, every);
            let mut payload = Vec::new();
            let offsets = join::encode(&layout, &input, 1, &mut payload).unwrap();
            let stream = Stream {
                layout: &layout,
                bytes: &payload,
                start_bit: 0,
                total_bits: payload.len() as u64 * 8,
                samples: 150_001,
                offsets: &[],
            };
            let stored = as_stored(&stream, &offsets);
            let hinted = Stream { offsets: &stored, ..stream };
            for (index, start) in offsets.iter().enumerate() {
                let found = hinted.confirmed(index as u64);
                assert!(found.is_none_or(|found| found == *start), "interval {index}");
                wrong += usize::from(stored[index] != *start);
                settled += usize::from(stored[index] != *start && found.is_some());
                if index % 50 == 0 {
                    assert_eq!(hinted.start_of(index as u64).unwrap(), Some(*start));
                    assert_eq!(stream.start_of(index as u64).unwrap(), Some(*start));
                }
            }
            let garbage: Vec<u64> = stored.iter().map(|entry| entry * 3 % stream.total_bits).collect();
            for offsets in [&[], offsets.as_slice(), &stored, &garbage] {
                let mut decoded = vec![0; input.len()];
                parts::decode(&Stream { offsets, ..stream }, 0, 0..input.len() as u64, 3, &mut decoded).unwrap();
                assert!(decoded == input);
            }
            let mut threaded = Vec::new();
            assert_eq!(join::encode(&layout, &input, 3, &mut threaded).unwrap(), offsets);
            assert!(threaded == payload);
        }
        assert!(wrong > 500 && settled * 10 > wrong * 9, "{settled} of {wrong} wrong entries settled on the spot");
    }
}
