//! Coded sets: what stands between two positions of a stream, as residuals or unseen.

use super::bit_reader::BitReader;
use super::fault::{Fault, FaultKind};
use super::params::{Layout, SEGMENT_BLOCKS};

/// A position in front of a coded set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sets<'a> {
    pub(super) layout: Layout,
    pub(super) reader: BitReader<'a>,
}

/// What stands at one place of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// So many blocks of zeros.
    Zeros(usize),
    /// One block.
    Block(Method),
}

/// How one block is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Split(u32),
    SecondExtension,
    Raw,
}

impl Sets<'_> {
    /// The option in front of block `block` of the interval, which has no reference sample.
    #[inline(always)]
    pub(super) fn read_head(&mut self, block: usize) -> Result<Set, Fault> {
        let id = self.reader.bits(self.layout.id_len);
        if id == 0 {
            return self.read_low_entropy_head(block, None);
        }
        Ok(Set::Block(self.method(id)))
    }

    /// The option in front of the first block of an interval, and its reference sample.
    pub(super) fn read_first_head(&mut self) -> Result<(Set, u32), Fault> {
        let id = self.reader.bits(self.layout.id_len);
        let mut sample = 0;
        if id == 0 {
            let set = self.read_low_entropy_head(0, Some(&mut sample))?;
            return Ok((set, sample));
        }
        sample = self.reader.bits(self.layout.bits);
        Ok((Set::Block(self.method(id)), sample))
    }

    #[inline(always)]
    fn method(&self, id: u32) -> Method {
        if id > self.layout.split_count { Method::Raw } else { Method::Split(id - 1) }
    }

    /// What follows an id of zero; the reference sample stands in the middle of it.
    #[inline(never)]
    fn read_low_entropy_head(&mut self, block: usize, reference: Option<&mut u32>) -> Result<Set, Fault> {
        let start = self.reader.position();
        let second = self.reader.bits(1) == 1;
        if let Some(sample) = reference {
            *sample = self.reader.bits(self.layout.bits);
        }
        if second {
            return Ok(Set::Block(Method::SecondExtension));
        }
        let left = self.layout.rsi_blocks - block;
        let run = match self.reader.unary()? {
            code @ 0..=3 => code as usize + 1,
            4 => left.min(SEGMENT_BLOCKS - block % SEGMENT_BLOCKS),
            code => usize::try_from(code).unwrap_or(usize::MAX),
        };
        if run > left {
            return Err(Fault { kind: FaultKind::RunTooLong, position: start });
        }
        Ok(Set::Zeros(run))
    }

    /// The residuals of one block without a reference sample.
    #[inline(always)]
    pub(super) fn read_block(&mut self, method: Method, slots: &mut [u32]) -> Result<(), Fault> {
        match method {
            Method::Split(k) => self.read_split(k, slots),
            other => self.read_other(other, slots),
        }
    }

    /// The residuals of a block behind its reference sample, whose own is zero.
    #[inline(never)]
    pub(super) fn read_first_block(&mut self, method: Method, slots: &mut [u32]) -> Result<(), Fault> {
        let start = self.reader.position();
        if method == Method::SecondExtension {
            self.read_other(method, slots)?;
            // The reference sample stands in the first pair.
            return if slots.first() == Some(&0) { Ok(()) } else { Err(too_large(start)) };
        }
        let Some((first, coded)) = slots.split_first_mut() else { return Ok(()) };
        *first = 0;
        self.read_block(method, coded)
    }

    #[inline(always)]
    fn read_split(&mut self, k: u32, slots: &mut [u32]) -> Result<(), Fault> {
        let start = self.reader.position();
        let highs = self.reader.unary_into(slots)?;
        self.reader.append_bits(k, slots);
        self.reader.check()?;
        // Some widths have splits wider than a sample, which no sensible writer uses.
        let max = self.layout.max;
        if highs > u64::from(max) >> k || (k > self.layout.bits && union(slots) > max) {
            return Err(too_large(start));
        }
        Ok(())
    }

    #[inline(never)]
    fn read_other(&mut self, method: Method, slots: &mut [u32]) -> Result<(), Fault> {
        let start = self.reader.position();
        if method == Method::SecondExtension {
            let mut union = 0;
            for pair in slots.as_chunks_mut::<2>().0 {
                let values = pair_of(self.reader.unary()?);
                union |= values[0] | values[1];
                *pair = values.map(|value| value as u32);
            }
            if union > u64::from(self.layout.max) {
                return Err(too_large(start));
            }
        } else {
            slots.fill(0);
            self.reader.append_bits(self.layout.bits, slots);
        }
        self.reader.check()
    }

    /// Passes over a block of which `coded` samples are coded.
    #[inline(always)]
    pub(super) fn skip_block(&mut self, method: Method, coded: u32) -> Result<(), Fault> {
        match method {
            Method::Split(k) => {
                self.reader.skip_unary(coded)?;
                self.reader.skip(u64::from(coded) * u64::from(k));
            }
            Method::SecondExtension => self.reader.skip_unary(self.layout.block as u32 / 2)?,
            Method::Raw => self.reader.skip(u64::from(coded) * u64::from(self.layout.bits)),
        }
        self.reader.check()
    }
}

#[cold]
const fn too_large(position: u64) -> Fault {
    Fault { kind: FaultKind::ResidualTooLarge, position }
}

fn union(values: &[u32]) -> u32 {
    values.iter().fold(0, |all, value| all | value)
}

/// The pair of residuals that a number of the second extension stands for.
#[inline(always)]
fn pair_of(code: u64) -> [u64; 2] {
    match usize::try_from(code).ok().and_then(|code| PAIRS.get(code)) {
        Some(pair) => pair.map(u64::from),
        None => long_pair_of(code),
    }
}

/// Pairs by number, along the diagonals of equal sum; the first 13 diagonals.
const PAIRS: [[u8; 2]; 91] = {
    let mut pairs = [[0; 2]; 91];
    let (mut code, mut sum) = (0, 0);
    while code < pairs.len() {
        let mut second = 0;
        while second <= sum {
            pairs[code] = [sum - second, second];
            (code, second) = (code + 1, second + 1);
        }
        sum += 1;
    }
    pairs
};

#[cold]
fn long_pair_of(code: u64) -> [u64; 2] {
    // The largest sum whose diagonal starts at or before the code: a root that may be off by one.
    let mut sum = ((8.0 * code as f64 + 1.0).sqrt() as u64).saturating_sub(1) / 2;
    while sum * (sum + 1) / 2 > code {
        sum -= 1;
    }
    while (sum + 1) * (sum + 2) / 2 <= code {
        sum += 1;
    }
    let second = code - sum * (sum + 1) / 2;
    [sum - second, second]
}

#[cfg(test)]
mod tests {
    use super::super::choose::pair_code;
    use super::*;

    #[test]
    fn pairs_are_numbered_along_diagonals() {
        for code in (0..3000).chain([1 << 20, (1 << 31) - 1, 1 << 40]) {
            let pair = pair_of(code);
            assert_eq!(pair_code(pair.map(|value| value as u32)), code);
        }
        assert_eq!([pair_of(0), pair_of(1), pair_of(2), pair_of(3)], [[0, 0], [1, 0], [0, 1], [2, 0]]);
    }
}
