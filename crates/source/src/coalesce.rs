//! Neighbouring ranges become one read.

use fw_bytes::Span;

/// Sorts `spans` and joins those that touch, overlap, or lie at most `gap` bytes apart.
///
/// A gap is worth reading through when another request would cost more than its bytes: a few kilobytes on a disk,
/// tens of kilobytes over a network.
pub fn coalesce(spans: &[Span], gap: u64) -> Vec<Span> {
    let mut joined: Vec<Span> = spans.iter().copied().filter(|span| !span.is_empty()).collect();
    joined.sort_unstable();
    joined.dedup_by(|span, last| {
        let near = span.start <= last.end.saturating_add(gap);
        if near {
            last.end = last.end.max(span.end);
        }
        near
    });
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_spans_join_and_far_ones_do_not() {
        let spans = [Span::new(100, 110), Span::new(0, 10), Span::new(12, 20), Span::new(5, 8), Span::new(50, 50)];
        assert_eq!(coalesce(&spans, 2), [Span::new(0, 20), Span::new(100, 110)]);
        assert_eq!(coalesce(&spans, 0), [Span::new(0, 10), Span::new(12, 20), Span::new(100, 110)]);
        assert_eq!(coalesce(&spans, 1000), [Span::new(0, 110)]);
    }
}
