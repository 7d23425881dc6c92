//! Byte order, and changing it in place.

use std::fmt;

/// Which end of a scalar comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The order of the machine this runs on.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// `little` or `big`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Little => "little",
            Self::Big => "big",
        }
    }

    /// The order with this exact name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "little" => Some(Self::Little),
            "big" => Some(Self::Big),
            _ => None,
        }
    }
}

impl Default for ByteOrder {
    fn default() -> Self {
        Self::NATIVE
    }
}

impl fmt::Display for ByteOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Reverses every group of `unit` bytes. Bytes after the last whole group stay as they are.
///
/// Inlined, so that a caller that is compiled for a wider vector unit gets wider shuffles.
#[inline(always)]
pub fn swap_in_place(bytes: &mut [u8], unit: usize) {
    // Fixed widths compile to vector shuffles.
    match unit {
        0 | 1 => {}
        2 => swap_groups::<2>(bytes),
        4 => swap_groups::<4>(bytes),
        8 => swap_groups::<8>(bytes),
        _ => bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse),
    }
}

#[inline(always)]
fn swap_groups<const N: usize>(bytes: &mut [u8]) {
    let (groups, _rest) = bytes.as_chunks_mut::<N>();
    groups.iter_mut().for_each(|group| group.reverse());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapping_twice_is_the_identity_and_leftovers_stay() {
        for unit in [1usize, 2, 3, 4, 8] {
            let original: Vec<u8> = (0..23).collect();
            let mut bytes = original.clone();
            swap_in_place(&mut bytes, unit);
            assert_eq!(bytes[0], (unit - 1) as u8);
            assert_eq!(&bytes[23 - 23 % unit..], &original[23 - 23 % unit..]);
            swap_in_place(&mut bytes, unit);
            assert_eq!(bytes, original);
        }
    }
}
