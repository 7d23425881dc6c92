//! Which bytes of a frame a range needs, told step by step from those at hand: header and trailer, then the tables of the
//! chunks it touches, then the blocks.
//!
//! Nothing states where a block ends, and blocks may stand in any order. The next later start is believed first; streams
//! that turn out to run past it say so themselves, and no block is longer than what it stands for.

use super::chunk::{Blocks, Body, Chunk};
use super::frame::{self, Frame};
use super::view::{Stop, View};
use crate::{CodecError, Window};
use fw_bytes::Span;
use std::ops::Range;

/// What is missing to decode `ranges` of a frame of `decoded_len` bytes, and to know how long its blocks are.
///
/// # Errors
/// When what is at hand is malformed.
pub(super) fn still_needed(
    window: Window<'_>,
    decoded_len: u64,
    ranges: &[Range<u64>],
) -> Result<Vec<Span>, CodecError> {
    let (view, total) = (View::new(window), window.total_len);
    if window.is_whole() || view.holds(Span::new(0, total)) {
        return Ok(Vec::new());
    }
    let wanted = ranges.iter().map(|range| range.end.saturating_sub(range.start)).fold(0, u64::saturating_add);
    if total <= SMALL_FRAME || wanted > decoded_len / 2 {
        return Ok(vec![Span::new(0, total)]);
    }
    let ends = [Span::new(0, HEAD_LOOK), Span::new(total - TAIL_LOOK, total)];
    if !view.holds(Span::new(0, frame::HEADER_LEN as u64)) {
        return Ok(ends.to_vec());
    }
    match absent(view, decoded_len, ranges) {
        Ok(spans) | Err(Stop::Absent(spans)) => Ok(joined(spans)),
        Err(Stop::Fault(error)) => Err(error),
    }
}

/// What is missing to decode all of a chunk.
pub(super) fn whole_chunk(chunk: &Chunk<'_>) -> Result<Vec<Span>, Stop> {
    let mut map = ChunkMap::new(*chunk);
    let mut spans = Vec::new();
    map.absent(0..chunk.len, &mut spans)?;
    Ok(joined(spans))
}

fn absent(view: View<'_>, decoded_len: u64, ranges: &[Range<u64>]) -> Result<Vec<Span>, Stop> {
    let frame = Frame::read(view, decoded_len)?;
    let mut spans = Vec::new();
    // The first chunk says how long blocks are. Its faults matter to those who touch it.
    let mut current = match open(&frame, 0, &mut spans) {
        Ok(map) => (0, map),
        Err(_) => (u64::MAX, None),
    };
    let mut sorted: Vec<&Range<u64>> = ranges.iter().filter(|range| !range.is_empty()).collect();
    sorted.sort_unstable_by_key(|range| range.start);
    let mut done = 0;
    for range in sorted {
        let mut at = range.start.max(done);
        while at < range.end {
            let (number, skip) = (at / frame.chunk_len(), at % frame.chunk_len());
            if number != current.0 {
                current = (number, open(&frame, number, &mut spans)?);
            }
            let len = (range.end - at).min(frame.chunk_len() - skip);
            if let Some(map) = &mut current.1 {
                // Chunks are shorter than 2 GiB.
                map.absent(skip as usize..(skip + len) as usize, &mut spans)?;
            }
            at += len;
        }
        done = done.max(range.end);
    }
    Ok(spans)
}

/// A chunk, when its header is at hand; otherwise where that is.
fn open<'a>(frame: &Frame<'a>, number: u64, spans: &mut Vec<Span>) -> Result<Option<ChunkMap<'a>>, Stop> {
    match frame.chunk(number) {
        Ok(chunk) => Ok(Some(ChunkMap::new(chunk))),
        Err(Stop::Absent(head)) => {
            // The table of blocks comes after the header.
            let wider = head.into_iter().map(|span| {
                Span::new(span.start, span.start.saturating_add(frame.chunk_head_len()).min(frame.chunks_end()))
            });
            spans.extend(wider);
            Ok(None)
        }
        Err(fault) => Err(fault),
    }
}

/// A chunk, and where its blocks are.
struct ChunkMap<'a> {
    chunk: Chunk<'a>,
    /// Where blocks begin, sorted; filled when the first block is looked for.
    starts: Option<Vec<u64>>,
    /// Blocks before this one were looked for: ranges come sorted, and may share a block.
    done: usize,
}

impl<'a> ChunkMap<'a> {
    const fn new(chunk: Chunk<'a>) -> Self {
        Self { chunk, starts: None, done: 0 }
    }

    /// Adds what is missing to decode `range` of the chunk. Ranges come sorted.
    fn absent(&mut self, range: Range<usize>, spans: &mut Vec<Span>) -> Result<(), Stop> {
        let blocks = match self.chunk.body {
            Body::Pattern(_) => return Ok(()),
            Body::Raw(raw) => {
                let span = raw.span(range.start, range.len());
                if raw.bytes(range.start, range.len()).is_err() {
                    spans.push(span);
                }
                return Ok(());
            }
            Body::Blocks(blocks) => blocks,
        };
        if self.starts.is_none() {
            match blocks.sorted_starts() {
                Ok(starts) => self.starts = Some(starts),
                Err(Stop::Absent(_)) => {
                    if self.done == 0 {
                        spans.push(blocks.table());
                        // Once is enough.
                        self.done = usize::MAX;
                    }
                    return Ok(());
                }
                Err(fault) => return Err(fault),
            }
        }
        let block_len = self.chunk.block_len.max(1);
        let (first, end) = (range.start / block_len, range.end.div_ceil(block_len));
        for index in first.max(self.done)..end {
            spans.extend(self.absent_block(&blocks, index)?);
        }
        self.done = self.done.max(end);
        Ok(())
    }

    /// What is missing of a block.
    fn absent_block(&self, blocks: &Blocks<'_>, index: usize) -> Result<Option<Span>, Stop> {
        let (len, count) = self.chunk.block(blocks, index);
        let stream_len = len / count;
        let mut streams = blocks.open(index)?;
        for _ in 0..count {
            match streams.next(stream_len) {
                Ok(_) => {}
                Err(Stop::Absent(_)) => return self.place(blocks, index, len, count).map(Some),
                Err(fault) => return Err(fault),
            }
        }
        Ok(None)
    }

    /// Where to look for a block that is not at hand, or not all of it.
    fn place(&self, blocks: &Blocks<'_>, index: usize, len: usize, streams: usize) -> Result<Span, Stop> {
        let start = blocks.start(index)?;
        // Each stream has its size in front, and is no longer than what it stands for.
        let longest = (len as u64).saturating_add(4 * streams as u64);
        let most = start.saturating_add(longest).min(blocks.end());
        let starts = self.starts.as_deref().unwrap_or_default();
        let next = starts.get(starts.partition_point(|other| *other <= start)).copied().unwrap_or(most);
        let likely = Span::new(start, next.min(most));
        Ok(if blocks.view().holds(likely) { Span::new(start, most) } else { likely })
    }
}

/// Sorted, with those that touch made one: a block must not end up in two pieces.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

/// Frames up to this size are fetched whole: another round costs more than the bytes.
const SMALL_FRAME: u64 = 64 << 10;
/// Fetched first: the header, and the table of blocks of a first chunk of some hundred blocks.
const HEAD_LOOK: u64 = 2048;
/// Fetched with it: the trailer, and an index of some dozen chunks.
const TAIL_LOOK: u64 = 512;

#[cfg(test)]
mod tests {
    use super::super::encode::frame_of_chunks;
    use super::super::{Blosc2, Blosc2Params, InnerCodec};
    use super::*;
    use crate::{Codec, Pieces};
    use std::slice;

    /// What a reader of a store does: fetches what is asked for until nothing is, then decodes.
    struct Fetched<'f> {
        frame: &'f [u8],
        spans: Vec<Span>,
        rounds: usize,
    }

    impl<'f> Fetched<'f> {
        fn new(frame: &'f [u8], len: usize, ranges: &[Range<u64>]) -> Result<Self, CodecError> {
            let mut fetched = Self { frame, spans: Vec::new(), rounds: 0 };
            loop {
                let pieces = fetched.pieces();
                let window = Window::scattered(&pieces, frame.len() as u64);
                let more = still_needed(window, len as u64, ranges)?;
                if more.is_empty() {
                    return Ok(fetched);
                }
                assert!(more.iter().all(|span| !span.is_empty() && window.get(*span).is_none()), "{more:?}");
                fetched.rounds += 1;
                assert!(fetched.rounds <= 6, "it must end");
                fetched.spans.extend(more);
            }
        }

        fn pieces(&self) -> Pieces<'f> {
            Pieces::new(self.spans.iter().map(|span| (span.start, span.slice_of(self.frame, 0).unwrap())))
        }

        fn bytes(&self) -> u64 {
            self.spans.iter().map(|span| span.len()).sum()
        }

        fn decode(&self, len: usize, range: &Range<u64>) -> Result<Vec<u8>, CodecError> {
            let mut out = vec![0xee; (range.end - range.start) as usize];
            let pieces = self.pieces();
            let window = match self.spans.iter().any(|span| span.len() == self.frame.len() as u64) {
                true => Window::whole(self.frame),
                false => Window::scattered(&pieces, self.frame.len() as u64),
            };
            any().decode_range_into(window, len as u64, range.start, 2, &mut out)?;
            Ok(out)
        }
    }

    fn any() -> Blosc2 {
        Blosc2::new(Blosc2Params::default()).unwrap()
    }

    /// A curve with noise, so that frames are worth cutting; every third stretch is zero.
    fn input(len: usize) -> Vec<u8> {
        let mut state = 9u64;
        let values = (0..len.div_ceil(8)).flat_map(|i| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = (state >> 40) as f64 * 1e-9;
            let value = if i / 5000 % 3 == 1 { 0.0 } else { (i as f64 / 700.0).sin() + noise };
            value.to_le_bytes()
        });
        values.take(len).collect()
    }

    fn frames(input: &[u8]) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        for (number, codec) in InnerCodec::ALL.into_iter().enumerate() {
            for chunk_len in [usize::MAX, 96_000, 80_000] {
                let level = [1, 3, 5, 1, 9][(number + frames.len()) % 5];
                let params = Blosc2Params { codec, level, typesize: 8, ..Blosc2Params::default() };
                let mut frame = Vec::new();
                frame_of_chunks(&params, chunk_len, input, 1, &mut frame).unwrap();
                frames.push(frame);
            }
        }
        frames
    }

    #[test]
    fn ranges_out_of_pieces_agree_with_the_whole() {
        let input = input(1_600_003);
        let len = input.len();
        for frame in frames(&input) {
            for ranges in [
                slice::from_ref(&(0..1)),
                slice::from_ref(&(1_599_999..1_600_003)),
                &[80_000..80_001, 160_000..160_001],
                slice::from_ref(&(79_000..161_000)),
                &[500_000..500_100, 12..13, 500_050..500_200, 40..40],
                slice::from_ref(&(0..900_000)),
            ] {
                let fetched = Fetched::new(&frame, len, ranges).unwrap();
                for range in ranges {
                    let found = fetched.decode(len, range).unwrap();
                    assert!(found == input[range.start as usize..range.end as usize], "{range:?}");
                }
                let touched: u64 = ranges.iter().map(|range| range.end - range.start).sum();
                if touched < 1000 {
                    // Each range lies in one block, or in two.
                    let block = any().block_len(Some(Window::whole(&frame)), len as u64).unwrap() + 128;
                    let most = HEAD_LOOK + TAIL_LOOK + 1024 + 2 * block;
                    assert!(fetched.bytes() <= most, "{ranges:?}: {} bytes, blocks of {block}", fetched.bytes());
                    assert!(fetched.rounds <= 3, "{ranges:?}: {} rounds", fetched.rounds);
                }
            }
        }
    }

    #[test]
    fn a_small_frame_or_most_of_a_large_one_is_one_request() {
        let input = input(1_000_000);
        let mut small = Vec::new();
        any().encode(&input[..40_000], 1, &mut small).unwrap();
        assert!(small.len() as u64 <= SMALL_FRAME);
        let fetched = Fetched::new(&small, 40_000, slice::from_ref(&(7..8))).unwrap();
        assert_eq!((fetched.rounds, fetched.bytes()), (1, small.len() as u64));
        let large = &frames(&input)[0];
        let fetched = Fetched::new(large, input.len(), &[0..300_000, 600_000..900_000]).unwrap();
        assert_eq!((fetched.rounds, fetched.bytes()), (1, large.len() as u64));
    }

    /// Damage anywhere: pieces give what the whole gives, or an error where the whole does, and never much more than the
    /// frame is fetched.
    #[test]
    fn damaged_frames_are_told_from_pieces_as_from_the_whole() {
        let input = input(300_000);
        let mut state = 77u64;
        let mut random = |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % end
        };
        let frames: Vec<_> = frames(&input).into_iter().filter(|frame| frame.len() as u64 > SMALL_FRAME).collect();
        let (mut read, mut refused) = (0, 0);
        for round in 0..6000 {
            let mut frame = frames[round % frames.len()].clone();
            for _ in 0..1 + random(2) {
                let at = match random(5) {
                    0 => random(97),
                    1 => 97 + random(300),
                    2 => frame.len() - 1 - random(120),
                    // Where a table of blocks may be.
                    3 => 129 + 4 * random(12),
                    _ => random(frame.len()),
                };
                let at = at.min(frame.len() - 4);
                let number = [0, 0xff, 0x7f, 0x80, random(256) as u8][random(5)];
                match random(3) {
                    0 => frame[at] = number,
                    1 => frame[at] ^= 1 << random(8),
                    _ => frame[at..at + 4].fill(number),
                }
            }
            let start = random(input.len() - 2000) as u64;
            let range = start..start + 1 + random(2000) as u64;
            let mut whole = vec![0; (range.end - range.start) as usize];
            let expected = any().decode_range_into(Window::whole(&frame), 300_000, start, 1, &mut whole);
            let found = Fetched::new(&frame, 300_000, std::slice::from_ref(&range)).and_then(|fetched| {
                assert!(fetched.bytes() <= 2 * frame.len() as u64, "{} bytes", fetched.bytes());
                fetched.decode(300_000, &range)
            });
            match (expected, found) {
                (Ok(()), Ok(found)) => {
                    assert!(found == whole, "round {round}");
                    read += 1;
                }
                (Err(expected), Err(found)) => {
                    // Of several faults in a block another one may be met first.
                    assert_ne!(found.code, "partial_payload", "round {round}: {expected}; {found}");
                    assert!(found.at.is_some(), "round {round}: {found}");
                    refused += 1;
                }
                (expected, found) => panic!("round {round}: {expected:?} but {:?}", found.err()),
            }
        }
        assert!(read > 1000 && refused > 1000, "{read} read, {refused} refused");
    }

    /// Blocks whose starts do not increase: the next later start is that of another block, and tells where this one ends.
    #[test]
    fn blocks_in_any_order_and_blocks_that_overlap_are_found() {
        let input = input(400_000);
        let params = Blosc2Params { level: 1, typesize: 1, ..Blosc2Params::default() };
        let mut frame = Vec::new();
        frame_of_chunks(&params, usize::MAX, &input, 1, &mut frame).unwrap();
        let at = |index: usize| frame::HEADER_LEN + super::super::chunk::HEADER_LEN + 4 * index;
        // A start inside the first block makes the believed end of that block wrong; the bytes say so.
        let first = u32::from_le_bytes(frame[at(0)..][..4].try_into().unwrap());
        let mut lied = frame.clone();
        lied[at(3)..at(4)].copy_from_slice(&(first + 5000).to_le_bytes());
        let fetched = Fetched::new(&lied, input.len(), std::slice::from_ref(&(0..100))).unwrap();
        assert_eq!(fetched.decode(input.len(), &(0..100)).unwrap(), input[..100]);
        assert_eq!(fetched.rounds, 3, "ends, what the starts promise, what the streams say");
    }
}
