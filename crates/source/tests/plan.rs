//! Plans against every other choice of gaps to read through.

use fw_bytes::Span;
use fw_source::plan::{Cost, plan, reads_whole, split, union};
use fw_source::{Buffers, ReadAt, read_runs, stream};
use proptest::prelude::*;
use std::cell::RefCell;
use std::io;
use std::time::Duration;

/// The least that any plan can cost: every subset of the gaps is tried.
fn least(spans: &[Span], cost: &Cost) -> Duration {
    let wanted = union(spans);
    let gaps: Vec<u64> = wanted.windows(2).map(|pair| pair[1].start - pair[0].end).collect();
    let bytes: u64 = wanted.iter().map(|span| span.len()).sum();
    let choices = (0..1u32 << gaps.len()).map(|read_through| {
        let through = |index: &usize| read_through & (1 << index) != 0;
        let read: u64 = (0..gaps.len()).filter(through).map(|index| gaps[index]).sum();
        let requests = wanted.len() - read_through.count_ones() as usize;
        cost.of(requests as u64, bytes + read)
    });
    choices.min().unwrap_or_default()
}

fn price(ranges: &[Span], cost: &Cost) -> Duration {
    cost.of(ranges.len() as u64, ranges.iter().map(|range| range.len()).sum())
}

fn any_cost() -> impl Strategy<Value = Cost> {
    let network = (0u64..400, 1u64..100_000_000, 1usize..9)
        .prop_map(|(millis, rate, in_flight)| Cost::new(Duration::from_millis(millis), rate, in_flight));
    prop_oneof![network, Just(Cost::FILE), Just(Cost::MEMORY), Just(Cost::QUEUED_FILE)]
}

fn any_spans() -> impl Strategy<Value = Vec<Span>> {
    let gap = prop_oneof![0u64..10, 0u64..5_000, 0u64..3_000_000];
    let span = (gap, prop_oneof![0u64..9, 0u64..100_000]);
    (proptest::collection::vec(span, 0..11), any::<u64>()).prop_map(|(parts, shuffle)| {
        let mut at = 0;
        let mut spans = Vec::new();
        for (gap, len) in parts {
            spans.push(Span::new(at + gap, at + gap + len));
            // Some overlap the one before.
            at = if (gap + len) % 7 == 0 { at + gap + len / 2 } else { at + gap + len };
        }
        if !spans.is_empty() {
            let turn = shuffle as usize % spans.len();
            spans.rotate_left(turn);
        }
        spans
    })
}

proptest! {
    /// No plan costs less than ours, and ours leaves nothing out.
    #[test]
    fn plans_cost_as_little_as_any(spans in any_spans(), cost in any_cost()) {
        let ranges = plan(&spans, &cost);
        for span in spans.iter().filter(|span| !span.is_empty()) {
            prop_assert!(ranges.iter().any(|range| range.contains(*span)), "{span} is not in {ranges:?}");
        }
        prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
        prop_assert_eq!(price(&ranges, &cost), least(&spans, &cost));
    }

    /// Pieces are the range, and what they cost beside it is their headers.
    #[test]
    fn pieces_are_the_range(start in 0u64..1 << 40, len in 1u64..1 << 32, cost in any_cost()) {
        let span = Span::new(start, start + len);
        let pieces: Vec<Span> = split(span, &cost).collect();
        prop_assert!(pieces.len() <= cost.in_flight);
        prop_assert_eq!((pieces[0].start, pieces[pieces.len() - 1].end), (span.start, span.end));
        prop_assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start && !pair[1].is_empty()));
        let (whole, parts) = (price(&[span], &cost), price(&pieces, &cost));
        prop_assert!(parts >= whole && parts <= whole.mul_f64(1.01), "{parts:?} for {whole:?}");
    }

    /// Runs are read from where they stand, whatever the source costs.
    #[test]
    fn runs_come_from_their_places(
        places in proptest::collection::vec(0u64..300_000, 0..40), run in 1usize..300, cost in any_cost()
    ) {
        let bytes: Vec<u8> = (0..300_300u32).map(|at| (at * 7 + at / 251) as u8).collect();
        let source = Priced { bytes: &bytes, cost, asked: RefCell::default() };
        let mut out = vec![0; places.len() * run];
        read_runs(&source, places.iter().copied(), run, &mut out).unwrap();
        let expected: Vec<u8> =
            places.iter().flat_map(|place| &bytes[*place as usize..*place as usize + run]).copied().collect();
        prop_assert_eq!(out, expected);
    }
}

/// A slice with a cost.
struct Priced<'a> {
    bytes: &'a [u8],
    cost: Cost,
    asked: RefCell<Vec<Span>>,
}

impl ReadAt for Priced<'_> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.asked.borrow_mut().push(Span::new(offset, offset + buffer.len() as u64));
        self.bytes.read_exact_at(offset, buffer)
    }

    fn cost(&self) -> Cost {
        self.cost
    }
}

fn far_away() -> Cost {
    Cost::new(Duration::from_millis(100), 16 << 20, 16)
}

#[test]
fn sparse_parts_of_huge_tensors_stay_sparse() {
    // A window of 16 by 16 elements of 1 GiB: no gap saves a round.
    let window: Vec<Span> = (0..16u64).map(|row| Span::new(row << 16, (row << 16) + 64)).collect();
    assert_eq!(plan(&window, &far_away()), window);
    // Single elements of messages of megabytes.
    let elements: Vec<Span> = (0..100u64).map(|at| Span::new(at << 24, (at << 24) + 4)).collect();
    assert_eq!(plan(&elements, &far_away()), elements);
    // A column whose gaps take longer to read than they save.
    let column: Vec<Span> = (0..4096u64).map(|row| Span::new(row << 20, (row << 20) + 4)).collect();
    assert_eq!(plan(&column, &far_away()), column);
}

#[test]
fn headers_are_read_through_and_neighbours_joined() {
    let spans = [Span::new(0, 24), Span::new(8, 16), Span::new(500, 600), Span::new(7, 7)];
    assert_eq!(plan(&spans, &far_away()), [Span::new(0, 600)]);
    assert_eq!(plan(&spans, &Cost::FILE), [Span::new(0, 600)]);
    assert_eq!(plan(&[], &Cost::FILE), []);
    let apart = [Span::new(0, 10), Span::new(2058, 2060), Span::new(4109, 4110)];
    assert_eq!(plan(&apart, &Cost::FILE), [Span::new(0, 2060), Span::new(4109, 4110)]);
}

#[test]
fn reading_everything_saves_many_rounds_or_is_not_done() {
    let megabyte = 1 << 20;
    assert!(reads_whole(35 * megabyte, 250, &far_away()));
    assert!(!reads_whole(megabyte, 10, &far_away()), "a few rounds");
    assert!(!reads_whole(65 * megabyte, 100_000, &far_away()), "nobody asked for so much");
    assert!(!reads_whole(60 * megabyte, 33, &far_away()), "slower");
    assert!(!reads_whole(megabyte, 1000, &Cost::FILE), "on this machine");
}

#[test]
fn a_column_of_a_store_is_a_handful_of_requests() {
    let (rows, width) = (512u64, 16 << 10);
    let bytes: Vec<u8> = (0..rows * width).map(|at| (at / width) as u8).collect();
    let source = Priced { bytes: &bytes, cost: far_away(), asked: RefCell::default() };
    let mut column = vec![0; 4 * rows as usize];
    read_runs(&source, (0..rows).map(|row| row * width + 40), 4, &mut column).unwrap();
    assert!(column.chunks(4).zip(0..rows).all(|(four, row)| four == [row as u8; 4]));
    let asked = source.asked.borrow();
    assert_eq!(asked.len(), 16);
    assert!(asked.iter().all(|span| span.len() < 34 * width), "as long as one another: {asked:?}");
    drop(asked);
    let mut short = vec![0; 7];
    let error = read_runs(&source, [0, 9].into_iter(), 4, &mut short).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn long_ranges_are_handed_on_in_order() {
    let bytes: Vec<u8> = (0..5_000_000u32).map(|at| (at % 251) as u8).collect();
    for cost in [Cost::FILE, far_away()] {
        let source = Priced { bytes: &bytes, cost, asked: RefCell::default() };
        let mut taken = Vec::new();
        stream::<io::Error>(&source, Span::new(3, 4_999_999), |piece| {
            taken.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, bytes[3..4_999_999]);
        assert_eq!(source.asked.borrow().len(), if cost == Cost::FILE { 5 } else { 1 });
    }
    let stop = stream::<io::Error>(&bytes[..], Span::new(0, 10), |_| Err(io::Error::other("enough")));
    assert_eq!(stop.unwrap_err().to_string(), "enough");
}

#[test]
fn ranges_that_were_fetched_are_found() {
    let source = Priced { bytes: &[7; 10_000], cost: far_away(), asked: RefCell::default() };
    let mut buffers = Buffers::new();
    for (start, bytes) in source.read_many(&[Span::new(5, 9), Span::new(9_000, 9_001)]).unwrap() {
        buffers.insert(start, bytes);
    }
    assert_eq!(buffers.len(), 5);
}
