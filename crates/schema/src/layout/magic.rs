//! The two seed bytes of a message's checksum (SF-11).

use super::model::{Element, Scalar};

/// Seed bytes from the codes of the base fields and base union members, in wire order.
pub(crate) fn magic(codes: impl IntoIterator<Item = u8>) -> [u8; 2] {
    let (mut first, mut second) = (0_u8, 0_u8);
    for (position, code) in codes.into_iter().enumerate() {
        first = first.wrapping_add(code).wrapping_add(position as u8).wrapping_add(1);
        second = second.wrapping_add(first);
    }
    [if first == 0 { 0x5a } else { first }, if second == 0 { 0xa5 } else { second }]
}

/// The code of a type (SF-11.1). `message_name` is asked only for messages.
pub(crate) fn code<'a>(element: Element, message_name: impl FnOnce() -> &'a str) -> u8 {
    match element {
        Element::Scalar(scalar) => match scalar {
            Scalar::Uint8 => 1,
            Scalar::Int8 => 2,
            Scalar::Uint16 => 3,
            Scalar::Int16 => 4,
            Scalar::Uint32 => 5,
            Scalar::Int32 => 6,
            Scalar::Bool => 7,
            Scalar::Float => 8,
            Scalar::Double => 9,
            Scalar::Int64 => 10,
            Scalar::Uint64 => 11,
        },
        Element::String(_) => 12,
        Element::Enum(_) => 13,
        Element::Bytes(_) => 14,
        Element::Message(_) => message_name().bytes().fold(0, u8::wrapping_add),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SF-11.2: the worked derivations.
    #[test]
    fn derivations() {
        let sum = |name: &str| name.bytes().fold(0, u8::wrapping_add);
        assert_eq!(magic([1]), [2, 2]);
        assert_eq!(magic([3, 7, 13]), [0x1d, 0x2e]);
        assert_eq!(magic([sum("Inner")]), [253, 253]);
        assert_eq!(magic([1, sum("Go"), sum("Halt")]), [0x46, 0x02]);
        assert_eq!(magic([sum("Zerokzz")]), [0x5a, 0xa5]);
        assert_eq!(magic([]), [0x5a, 0xa5]);
    }
}
