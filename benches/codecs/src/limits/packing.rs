//! The loops of 16-bit packing with everything known beforehand: no scan for the range, no check, no message.

use bench_harness::spread;
use pulp::Arch;

/// How values become numbers of 16 bits.
pub(crate) struct Packing {
    /// The least value.
    reference: f64,
    /// From one number to the next.
    step: f64,
}

impl Packing {
    /// What fits these values, all of them finite.
    pub(crate) fn of(data: &[u8]) -> Self {
        let values = || data.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        Self { reference: least, step: ((most - least) / 65_535.0).log2().ceil().exp2() }
    }

    pub(crate) fn encode(&self, threads: usize, data: &[u8], out: &mut [u8]) {
        // Added to 2⁵², a value lies in the lowest bits.
        const SHIFT: f64 = 4_503_599_627_370_496.0;
        let (reference, scale) = (self.reference, 1.0 / self.step);
        spread(threads, (8, 2), data, out, |data, out| {
            let (values, numbers) = (data.as_chunks::<8>().0, out.as_chunks_mut::<2>().0);
            Arch::new().dispatch(|| {
                for (value, number) in values.iter().zip(numbers) {
                    let scaled = (f64::from_le_bytes(*value) - reference) * scale;
                    *number = ((scaled + SHIFT).to_bits() as u16).to_be_bytes();
                }
            });
        });
    }

    pub(crate) fn decode(&self, threads: usize, packed: &[u8], out: &mut [u8]) {
        let (reference, step) = (self.reference, self.step);
        spread(threads, (2, 8), packed, out, |packed, out| {
            let (numbers, values) = (packed.as_chunks::<2>().0, out.as_chunks_mut::<8>().0);
            Arch::new().dispatch(|| {
                for (number, value) in numbers.iter().zip(values) {
                    let number = f64::from(i32::from(u16::from_be_bytes(*number)));
                    *value = (reference + step * number).to_le_bytes();
                }
            });
        });
    }
}
