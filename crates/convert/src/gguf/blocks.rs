//! Blocks of 32 quantised elements as `float32`: the product of a half and a small integer, which is exact.

use fw_tensor::ByteOrder;
use half::f16;

/// Elements in a block.
pub(super) const COUNT: usize = 32;

/// Appends the elements of one block, little endian. A block is of the length that its type has.
pub(super) type Decode = fn(&[u8], ByteOrder, &mut Vec<u8>);

/// A scale, then 32 signed bytes.
pub(super) fn q8_0(block: &[u8], order: ByteOrder, out: &mut Vec<u8>) {
    let Some((scale, bytes)) = block.split_first_chunk() else { return };
    let scale = scale_of(*scale, order);
    out.extend(bytes.iter().flat_map(|byte| (scale * f32::from(byte.cast_signed())).to_le_bytes()));
}

/// A scale, then 16 bytes: the lower halves are the first 16 elements, the upper halves the others, each 8 too large.
pub(super) fn q4_0(block: &[u8], order: ByteOrder, out: &mut Vec<u8>) {
    let Some((scale, bytes)) = block.split_first_chunk() else { return };
    let scale = scale_of(*scale, order);
    let lower = bytes.iter().map(|byte| byte & 0x0f);
    let upper = bytes.iter().map(|byte| byte >> 4);
    out.extend(lower.chain(upper).flat_map(|half| (scale * (f32::from(half) - 8.0)).to_le_bytes()));
}

fn scale_of(bytes: [u8; 2], order: ByteOrder) -> f32 {
    match order {
        ByteOrder::Little => f16::from_le_bytes(bytes).to_f32(),
        ByteOrder::Big => f16::from_be_bytes(bytes).to_f32(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(decode: Decode, block: &[u8], order: ByteOrder) -> Vec<f32> {
        let mut out = Vec::new();
        decode(block, order, &mut out);
        out.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    #[test]
    fn blocks_have_their_known_values() {
        let scale = f16::from_f32(0.5);
        let bytes: Vec<u8> = (0..32).map(|number| number * 8).collect();
        for (order, scale) in [(ByteOrder::Little, scale.to_le_bytes()), (ByteOrder::Big, scale.to_be_bytes())] {
            let values = floats(q8_0, &[&scale[..], &bytes].concat(), order);
            assert_eq!((values.len(), values[1], values[15], values[16]), (COUNT, 4.0, 60.0, -64.0));
            let values = floats(q4_0, &[&scale[..], &bytes[..16]].concat(), order);
            // Bytes 0, 8, 16, …, 120: the lower halves 0 or 8, the upper ones 0 to 7.
            assert_eq!((values.len(), values[0], values[1], values[16], values[31]), (COUNT, -4.0, 0.0, -4.0, -0.5));
        }
    }
}
