//! Which levels there are, and the parameters stored with them.

use super::super::{NAME, fault};
use super::Kind;
use crate::CodecError;
use fw_bytes::{Cursor, Detail};

/// The choices an encoder makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Tuning {
    pub(in super::super) kind: Kind,
    /// Coarser levels are quantised more finely: by this factor per level, up to `beta`.
    pub(in super::super) alpha: f64,
    pub(in super::super) beta: f64,
}

/// The levels of a stream of `len` values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Layout {
    pub(in super::super) tuning: Tuning,
    /// Every so many values one is stored as it is; 0 for none.
    anchor: u64,
    len: usize,
}

impl Layout {
    /// The layout we write for `len` values.
    pub(in super::super) fn new(tuning: Tuning, len: usize) -> Self {
        let anchor = if len as u64 > ANCHOR { ANCHOR } else { 0 };
        Self { tuning, anchor, len }
    }

    pub(in super::super) fn parse(cursor: &mut Cursor<'_>, len: usize) -> Result<Self, CodecError> {
        let at = cursor.position();
        let found = cursor.u64_le("dimension").map_err(fault::inner)?;
        if found != len as u64 {
            let (expected, found) = (Detail::Number(len as u64), Detail::Number(found));
            return Err(fault::wrong_inside("element_count_mismatch", "dimension", expected, found, at));
        }
        let at = cursor.position();
        let block = cursor.u32_le("interpolation block").map_err(fault::inner)?;
        if block != BLOCK {
            let message = format!(
                "interpolation in blocks of {block} strides at byte {at} of the unpacked part, expected {BLOCK}"
            );
            return Err(CodecError::unsupported(NAME, "unsupported_block", message));
        }
        let at = cursor.position();
        let kind = match cursor.i32_le("interpolator").map_err(fault::inner)? {
            0 => Kind::Linear,
            1 => Kind::Cubic,
            other => {
                let (expected, found) = (Detail::Text("0 (linear) or 1 (cubic)"), Detail::Hex(other as u32 as u64));
                return Err(fault::wrong_inside("bad_interpolation", "interpolator", expected, found, at));
            }
        };
        // One dimension has one direction; whatever stands here changes nothing.
        cursor.take(4, "direction").map_err(fault::inner)?;
        let at = cursor.position();
        let anchor = cursor.u64_le("anchor stride").map_err(fault::inner)?;
        if anchor != 0 && !anchor.is_power_of_two() {
            let (expected, found) = (Detail::Text("a power of two or 0"), Detail::Number(anchor));
            return Err(fault::wrong_inside("bad_interpolation", "anchor stride", expected, found, at));
        }
        let alpha = cursor.f64_le("alpha").map_err(fault::inner)?;
        let beta = cursor.f64_le("beta").map_err(fault::inner)?;
        if !(alpha >= 1.0 && beta > 0.0) {
            let message = format!("level factors alpha {alpha}, beta {beta}: expected alpha >= 1 and beta > 0");
            return Err(CodecError::unsupported(NAME, "unsupported_level_factors", message));
        }
        Ok(Self { tuning: Tuning { kind, alpha, beta }, anchor, len })
    }

    pub(in super::super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.len as u64).to_le_bytes());
        out.extend_from_slice(&BLOCK.to_le_bytes());
        out.extend_from_slice(&(self.tuning.kind as i32).to_le_bytes());
        out.extend_from_slice(&0i32.to_le_bytes());
        out.extend_from_slice(&self.anchor.to_le_bytes());
        out.extend_from_slice(&self.tuning.alpha.to_le_bytes());
        out.extend_from_slice(&self.tuning.beta.to_le_bytes());
    }

    /// True when the coarsest values are stored as they are; otherwise the first is coded with prediction 0.
    pub(super) fn is_anchored(&self) -> bool {
        self.anchor != 0 && self.len as u64 > self.anchor
    }

    /// The coarsest level; the values known before it lie `2^top` apart.
    pub(super) fn top(&self) -> u32 {
        let whole = self.len.next_power_of_two().trailing_zeros();
        if self.is_anchored() { whole.min(self.anchor.trailing_zeros() + 1).saturating_sub(1) } else { whole }
    }

    /// How many values lie on the grid of this level: multiples of `2^(level-1)`.
    pub(super) fn known_at(&self, level: u32) -> usize {
        match self.len.checked_sub(1) {
            Some(last) => last.checked_shr(level - 1).unwrap_or(0) + 1,
            None => 0,
        }
    }

    /// The bound that the codes of this level count in.
    pub(super) fn level_bound(&self, error_bound: f64, level: u32) -> f64 {
        error_bound / self.tuning.alpha.powf(f64::from(level - 1)).min(self.tuning.beta)
    }
}

/// Strides per block, the only number ever written.
const BLOCK: u32 = 32;
const ANCHOR: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(len: usize) -> Layout {
        Layout::new(Tuning { kind: Kind::Cubic, alpha: 1.25, beta: 2.0 }, len)
    }

    #[test]
    fn levels_follow_the_length() {
        assert_eq!([1, 2, 3, 4, 5, 4096].map(|len| layout(len).top()), [0, 1, 2, 2, 3, 12]);
        assert_eq!([4097, 1 << 20].map(|len| layout(len).top()), [12, 12]);
        assert_eq!((layout(4097).known_at(13), layout(4097).known_at(1)), (2, 4097));
        assert_eq!(layout(5).known_at(4), 1);
    }

    #[test]
    fn coarser_levels_are_finer_up_to_beta() {
        let layout = layout(100);
        assert_eq!([1, 2, 3, 9].map(|level| layout.level_bound(1.0, level)), [1.0, 0.8, 0.64, 0.5]);
    }

    #[test]
    fn the_section_is_read_back() {
        let mut out = Vec::new();
        layout(5000).write(&mut out);
        assert_eq!(out.len(), 44);
        assert_eq!(Layout::parse(&mut Cursor::new(&out), 5000).unwrap(), layout(5000));
        for (at, value) in [(0, 1), (8, 33), (12, 2), (20, 3), (34, 0)] {
            let mut wrong = out.clone();
            wrong[at] = value;
            if at == 34 {
                wrong[35] = 0xBF;
            }
            Layout::parse(&mut Cursor::new(&wrong), 5000).unwrap_err();
        }
    }
}
