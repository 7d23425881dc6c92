//! How often each symbol occurs.

use super::super::NAME;
use crate::CodecError;

/// The symbols that occur, in ascending order, with how often they do.
///
/// # Errors
/// When there are more symbols than a 32-bit count can hold.
pub(in super::super) fn histogram(symbols: &[u16]) -> Result<Vec<(u16, u32)>, CodecError> {
    if u32::try_from(symbols.len()).is_err() {
        let message = format!("{} values are more than one stream can take (2^32 - 1)", symbols.len());
        return Err(CodecError::limit(NAME, "too_many_values", message));
    }
    // Symbol 0 stands far from the others, which lie around the radius. Only the part of the table between the
    // smallest of those and the largest is ever touched, so that short inputs stay cheap.
    let largest = symbols.iter().copied().max().unwrap_or(0);
    let smallest = symbols.iter().copied().map(|symbol| symbol.wrapping_sub(1)).min().unwrap_or(0).wrapping_add(1);
    // Four counters each, since equal neighbours would wait for each other's increment in one.
    let mut counters = vec![[0u32; 4]; usize::from(largest) + 1];
    let mut groups = symbols.chunks_exact(4);
    for group in &mut groups {
        for (slot, symbol) in group.iter().enumerate() {
            counters[usize::from(*symbol)][slot] += 1;
        }
    }
    for symbol in groups.remainder() {
        counters[usize::from(*symbol)][0] += 1;
    }
    let range = if smallest == 0 { 1..1 } else { usize::from(smallest)..usize::from(largest) + 1 };
    let occurring = |symbol: usize| {
        let count: u32 = counters.get(symbol)?.iter().sum();
        (count > 0).then_some((symbol as u16, count))
    };
    Ok(std::iter::once(0).chain(range).filter_map(occurring).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_is_counted() {
        assert_eq!(histogram(&[]).unwrap(), []);
        assert_eq!(histogram(&[0, 0, 0]).unwrap(), [(0, 3)]);
        assert_eq!(histogram(&[7, 65_535, 7, 0, 9, 7]).unwrap(), [(0, 1), (7, 3), (9, 1), (65_535, 1)]);
        assert_eq!(histogram(&[1, 1, 2, 1, 1]).unwrap(), [(1, 4), (2, 1)]);
    }
}
