//! Samples in bytes: one, two, three or four of them, either end first.

/// How one sample lies in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    U8,
    Le16,
    Be16,
    Le24,
    Be24,
    Le32,
    Be32,
}

impl Container {
    pub(super) const fn new(bits: u32, msb_first: bool) -> Self {
        match (bits, msb_first) {
            (..=8, _) => Self::U8,
            (..=16, false) => Self::Le16,
            (..=16, true) => Self::Be16,
            (..=24, false) => Self::Le24,
            (..=24, true) => Self::Be24,
            (_, false) => Self::Le32,
            (_, true) => Self::Be32,
        }
    }

    /// Bytes of one sample.
    pub(super) const fn width(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::Le16 | Self::Be16 => 2,
            Self::Le24 | Self::Be24 => 3,
            Self::Le32 | Self::Be32 => 4,
        }
    }

    /// Reads as many samples as both sides hold.
    #[inline(always)]
    pub(super) fn load(self, bytes: &[u8], samples: &mut [u32]) {
        match self {
            Self::U8 => load::<1>(bytes, samples, |b| u32::from(b[0])),
            Self::Le16 => load::<2>(bytes, samples, |b| u32::from(u16::from_le_bytes(b))),
            Self::Be16 => load::<2>(bytes, samples, |b| u32::from(u16::from_be_bytes(b))),
            Self::Le24 => load::<3>(bytes, samples, |b| u32::from_le_bytes([b[0], b[1], b[2], 0])),
            Self::Be24 => load::<3>(bytes, samples, |b| u32::from_be_bytes([0, b[0], b[1], b[2]])),
            Self::Le32 => load::<4>(bytes, samples, u32::from_le_bytes),
            Self::Be32 => load::<4>(bytes, samples, u32::from_be_bytes),
        }
    }

    /// Writes as many samples as both sides hold.
    #[inline(always)]
    pub(super) fn store(self, samples: &[u32], bytes: &mut [u8]) {
        match self {
            Self::U8 => store::<1>(samples, bytes, |v| [v as u8]),
            Self::Le16 => store::<2>(samples, bytes, |v| (v as u16).to_le_bytes()),
            Self::Be16 => store::<2>(samples, bytes, |v| (v as u16).to_be_bytes()),
            Self::Le24 => store::<3>(samples, bytes, |v| {
                let [a, b, c, _] = v.to_le_bytes();
                [a, b, c]
            }),
            Self::Be24 => store::<3>(samples, bytes, |v| {
                let [_, a, b, c] = v.to_be_bytes();
                [a, b, c]
            }),
            Self::Le32 => store::<4>(samples, bytes, u32::to_le_bytes),
            Self::Be32 => store::<4>(samples, bytes, u32::to_be_bytes),
        }
    }
}

#[inline(always)]
fn load<const N: usize>(bytes: &[u8], samples: &mut [u32], value: impl Fn([u8; N]) -> u32) {
    for (sample, chunk) in samples.iter_mut().zip(bytes.as_chunks::<N>().0) {
        *sample = value(*chunk);
    }
}

#[inline(always)]
fn store<const N: usize>(samples: &[u32], bytes: &mut [u8], value: impl Fn(u32) -> [u8; N]) {
    for (chunk, sample) in bytes.as_chunks_mut::<N>().0.iter_mut().zip(samples) {
        *chunk = value(*sample);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_container_stores_what_it_loads() {
        let bytes: Vec<u8> = (1..=24).collect();
        for (container, first) in [
            (Container::U8, 0x01),
            (Container::Le16, 0x0201),
            (Container::Be16, 0x0102),
            (Container::Le24, 0x03_0201),
            (Container::Be24, 0x01_0203),
            (Container::Le32, 0x0403_0201),
            (Container::Be32, 0x0102_0304),
        ] {
            let mut samples = vec![0; bytes.len() / container.width()];
            container.load(&bytes, &mut samples);
            assert_eq!(samples[0], first);
            let mut back = vec![0; bytes.len()];
            container.store(&samples, &mut back);
            assert_eq!(back, bytes);
        }
    }
}
