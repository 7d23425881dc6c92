//! Which bytes to request: one answer for every format and every source.
//!
//! A decoder or a selection says which spans it wants, a source says what requests [cost](Cost). [`plan`] decides which
//! spans share a request, [`split`] cuts long ranges into pieces that travel side by side, and [`reads_whole`] tells when
//! reading everything beats asking again and again. [`crate::read_runs`] and [`crate::stream`] read by such a plan.

mod cost; // latency, bandwidth, requests in flight

pub use cost::Cost;

use fw_bytes::Span;
use std::cmp::Reverse;

/// The requests to send for `spans`: ranges in order that cover all of them, each span inside one range.
///
/// No other choice of gaps to read through costs less by [`Cost::of`]; of two that cost the same, the one with fewer
/// requests is taken.
///
/// ```
/// use fw_bytes::Span;
/// use fw_source::plan::{Cost, plan};
/// use std::time::Duration;
///
/// let column: Vec<Span> = (0..4096).map(|row| Span::new(row * 16384, row * 16384 + 4)).collect();
/// let store = Cost::new(Duration::from_millis(100), 32 << 20, 16);
/// assert_eq!(plan(&column, &store).len(), 16);
/// assert_eq!(plan(&column, &Cost::FILE).len(), 4096);
/// ```
pub fn plan(spans: &[Span], cost: &Cost) -> Vec<Span> {
    let mut ranges = union(spans);
    if ranges.len() <= 1 {
        return ranges;
    }
    if cost.in_flight <= 1 {
        // Every request is a round of its own, so every gap is decided on its own.
        let most = cost.break_even();
        join(&mut ranges, |gap| gap <= most);
        return ranges;
    }
    // With a given number of requests the fewest bytes are read when the longest gaps are left out. So the best number
    // decides everything.
    let mut gaps: Vec<u64> = ranges.windows(2).map(gap_between).collect();
    gaps.sort_unstable_by_key(|gap| Reverse(*gap));
    let mut bytes = ranges.first().zip(ranges.last()).map_or(0, |(first, last)| last.end.saturating_sub(first.start));
    let (mut left_out, mut least) = (0, cost.weight(1, bytes));
    for (index, gap) in gaps.iter().enumerate() {
        bytes = bytes.saturating_sub(*gap);
        let weight = cost.weight(index as u64 + 2, bytes);
        if weight < least {
            (left_out, least) = (index + 1, weight);
        }
    }
    let Some(shortest) = left_out.checked_sub(1).and_then(|last| gaps.get(last)).copied() else {
        join(&mut ranges, |_| true);
        return ranges;
    };
    // Of several gaps of that length only some may be left out: evenly spread, so that the ranges are about as long.
    let longer = gaps.partition_point(|gap| *gap > shortest);
    let alike = gaps.partition_point(|gap| *gap >= shortest).saturating_sub(longer);
    // Leaving out `chosen` of `alike` gaps cuts into `chosen + 1` ranges: one more share than gaps, on both sides.
    let shares = left_out.saturating_sub(longer).saturating_add(1);
    let whole = alike.saturating_add(1);
    let mut share = 0usize;
    join(&mut ranges, |gap| {
        if gap == shortest {
            share = share.saturating_add(shares);
            if share < whole {
                return true;
            }
            share -= whole;
            return false;
        }
        gap < shortest
    });
    ranges
}

/// The pieces of a long range that are requested side by side; together they are `span`, in order.
///
/// [`Cost::of`] is the same for them as for the whole: they need no further round. In practice each connection has its
/// own rate, and only a piece that fails is requested again.
pub fn split(span: Span, cost: &Cost) -> impl Iterator<Item = Span> + use<> {
    let most = if cost.in_flight > 1 { cost.in_flight as u64 } else { 1 };
    let count = (span.len() / cost.piece_len()).clamp(1, most);
    let len = span.len().div_ceil(count);
    (0..count).map(move |index| {
        let start = span.start.saturating_add(len.saturating_mul(index)).min(span.end);
        Span::new(start, start.saturating_add(len).min(span.end))
    })
}

/// Whether to read all `len` bytes of a source rather than look for parts of it in `rounds` rounds, each of which depends
/// on the one before.
///
/// Only where that is faster and saves many rounds, twice as many as requests may be in flight, and never above
/// [`READ_WHOLE`]: saving a few rounds does not justify reading bytes that were not asked for.
pub fn reads_whole(len: u64, rounds: u64, cost: &Cost) -> bool {
    cost.in_flight > 1
        && len <= READ_WHOLE
        && rounds >= (cost.in_flight as u64).saturating_mul(2)
        && cost.of(1, len) < cost.latency.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX))
}

/// The longest source that is read whole without being asked for.
pub const READ_WHOLE: u64 = 64 << 20;

/// The same bytes as ranges in order that neither overlap nor touch.
pub fn union(spans: &[Span]) -> Vec<Span> {
    let mut ranges: Vec<Span> = spans.iter().copied().filter(|span| !span.is_empty()).collect();
    ranges.sort_unstable();
    join(&mut ranges, |gap| gap == 0);
    ranges
}

/// Joins neighbours across the gaps that `reads_through` accepts; the gap of spans that overlap is zero.
fn join(ranges: &mut Vec<Span>, mut reads_through: impl FnMut(u64) -> bool) {
    ranges.dedup_by(|span, last| {
        let joined = reads_through(span.start.saturating_sub(last.end));
        if joined {
            last.end = last.end.max(span.end);
        }
        joined
    });
}

fn gap_between(pair: &[Span]) -> u64 {
    match pair {
        [first, second] => second.start.saturating_sub(first.end),
        _ => 0,
    }
}
