//! Canonical patterns put back.

use super::Masks;
use crate::bits::for_each_run;
use crate::finite::{Kind, Layout};
use fw_tensor::{ByteOrder, DType};

impl Masks {
    /// Overwrites the marked elements of `elements`, which are in `order` and begin with element `first` of the object,
    /// with the canonical NaN or infinity of `dtype`. An element in two masks gets the later kind. Types without NaN
    /// stay as they are.
    pub fn restore(&self, elements: &mut [u8], dtype: DType, order: ByteOrder, first: u64) {
        let Some(layout) = Layout::of(dtype) else { return };
        match layout.element_len() {
            2 => self.restore_width::<2>(elements, layout, order, first),
            4 => self.restore_width::<4>(elements, layout, order, first),
            8 => self.restore_width::<8>(elements, layout, order, first),
            _ => self.restore_width::<16>(elements, layout, order, first),
        }
    }

    fn restore_width<const N: usize>(&self, elements: &mut [u8], layout: Layout, order: ByteOrder, first: u64) {
        let (elements, _) = elements.as_chunks_mut::<N>();
        for kind in Kind::ALL {
            if let Some(mask) = self.get(kind) {
                let pattern = pattern::<N>(layout, order, kind);
                let end = first.saturating_add(elements.len() as u64).min(mask.count());
                for_each_run(mask.bytes(), first, end, |run| {
                    elements[(run.start - first) as usize..(run.end - first) as usize].fill(pattern);
                });
            }
        }
    }
}

/// The bytes of an element whose parts are all of `kind`.
fn pattern<const N: usize>(layout: Layout, order: ByteOrder, kind: Kind) -> [u8; N] {
    let bits = match kind {
        Kind::Nan => layout.nan,
        Kind::PosInf => layout.exponent,
        Kind::NegInf => layout.exponent | layout.sign,
    };
    let mut scalar = bits.to_le_bytes();
    let scalar = &mut scalar[..layout.width];
    if order == ByteOrder::Big {
        scalar.reverse();
    }
    std::array::from_fn(|i| scalar[i % layout.width])
}
