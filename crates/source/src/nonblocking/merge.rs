//! Which ranges share a request.

use fw_bytes::Span;

/// Sorts `spans` and joins neighbours, as long as at least half of every joined range is wanted.
///
/// Requests run side by side, so another one costs no time; bytes nobody asked for do. A gap that is no longer than what
/// a request and its answer say in their headers is read through in any case.
pub fn merge(spans: &[Span]) -> Vec<Span> {
    let mut sorted: Vec<Span> = spans.iter().copied().filter(|span| !span.is_empty()).collect();
    sorted.sort_unstable();
    let mut merged: Vec<(Span, u64)> = Vec::with_capacity(sorted.len());
    for span in sorted {
        if let Some((last, useful)) = merged.last_mut() {
            let gap = span.start.saturating_sub(last.end);
            let added = span.end.saturating_sub(span.start.max(last.end));
            let joined = Span::new(last.start, last.end.max(span.end));
            let wanted = useful.saturating_add(added);
            if gap <= HEADERS || joined.len() <= wanted.saturating_mul(2) {
                (*last, *useful) = (joined, wanted);
                continue;
            }
        }
        merged.push((span, span.len()));
    }
    merged.into_iter().map(|(span, _)| span).collect()
}

/// About what the headers of a request and of its answer take.
const HEADERS: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_read_when_it_is_smaller_than_what_is_wanted() {
        let (a, b) = (Span::new(0, 10_000), Span::new(25_000, 35_000));
        assert_eq!(merge(&[b, a]), [Span::new(0, 35_000)]);
        let far = Span::new(31_000, 41_000);
        assert_eq!(merge(&[a, far]), [a, far]);
        // Single elements far apart never pull in what lies between them.
        let elements: Vec<Span> = (0..100u64).map(|i| Span::new(i * 2_000_000, i * 2_000_000 + 4)).collect();
        assert_eq!(merge(&elements), elements);
    }

    #[test]
    fn overlaps_and_near_neighbours_become_one() {
        let spans = [Span::new(0, 24), Span::new(8, 16), Span::new(500, 600), Span::new(7, 7)];
        assert_eq!(merge(&spans), [Span::new(0, 600)]);
        assert!(merge(&[]).is_empty());
    }
}
