//! The runs of a selection, and long ranges in order, read by a plan.

use crate::plan::{Cost, READ_WHOLE, plan};
use crate::read_at::zeroed;
use crate::{Buffers, ReadAt};
use fw_bytes::{Span, interrupt};
use std::io;
use std::ops::Range;

/// Fills `out` with runs of `run` bytes each, which begin at `places` of the source.
///
/// Runs that lie close together are read together; how close, the [cost](ReadAt::cost) of the source says. From a local
/// file nothing is allocated per run.
///
/// ```
/// use fw_source::read_runs;
///
/// let source: Vec<u8> = (0..100).collect();
/// let mut column = [0; 6];
/// read_runs(&source[..], [12, 32, 52].into_iter(), 2, &mut column)?;
/// assert_eq!(column, [12, 13, 32, 33, 52, 53]);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// As [`ReadAt::read_exact_at`]; `InvalidInput` when the length of `out` is not that of all runs.
pub fn read_runs(
    source: &(impl ReadAt + ?Sized),
    places: impl Iterator<Item = u64>,
    run: usize,
    out: &mut [u8],
) -> io::Result<()> {
    if run == 0 {
        return if out.is_empty() { Ok(()) } else { Err(wrong_length()) };
    }
    let cost = source.cost();
    if cost.in_flight > 1 {
        return in_batches(source, &cost, places, run, out);
    }
    let gap = cost.break_even();
    let mut reader = Reader { source, run, scratch: Vec::new() };
    reader.read(places, gap, out)
}

/// Hands the bytes of `span` to `take`, in order, piece by piece; from a store several pieces travel at a time.
///
/// # Errors
/// As [`ReadAt::read_exact_at`], and those of `take`.
pub fn stream<E: From<io::Error>>(
    source: &(impl ReadAt + ?Sized),
    span: Span,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let most = source.cost().stream_len();
    let mut piece = zeroed(usize::try_from(span.len().min(most)).map_err(io::Error::other)?)?;
    let mut position = span.start;
    while position < span.end {
        // No longer than the buffer, which has a length of this machine.
        interrupt::check();
        let len = span.end.saturating_sub(position).min(most) as usize;
        let part = piece.get_mut(..len).unwrap_or(&mut []);
        source.read_exact_at(position, part)?;
        take(part)?;
        position = position.saturating_add(len as u64);
    }
    Ok(())
}

struct Reader<'s, S: ?Sized> {
    source: &'s S,
    /// Bytes of each run.
    run: usize,
    scratch: Vec<u8>,
}

impl<S: ReadAt + ?Sized> Reader<'_, S> {
    fn read(&mut self, places: impl Iterator<Item = u64>, gap: u64, mut out: &mut [u8]) -> io::Result<()> {
        let run = self.run as u64;
        // The stretch to read next: where it begins and ends, and where its runs begin.
        let mut stretch = 0..0;
        let mut held: Vec<u64> = Vec::new();
        for place in places {
            let end = place.checked_add(run).ok_or_else(wrong_length)?;
            // Runs may go either way: an axis may be reversed.
            let joined = stretch.start.min(place)..stretch.end.max(end);
            let between = place.saturating_sub(stretch.end).max(stretch.start.saturating_sub(end));
            if !held.is_empty() && between <= gap && joined.end - joined.start <= STRETCH {
                stretch = joined;
            } else {
                out = self.fetch(&stretch, &held, out)?;
                held.clear();
                stretch = place..end;
            }
            held.push(place);
        }
        let rest = self.fetch(&stretch, &held, out)?;
        if rest.is_empty() { Ok(()) } else { Err(wrong_length()) }
    }

    /// Fills the beginning of `out` with the runs of one stretch; returns the rest.
    fn fetch<'o>(&mut self, stretch: &Range<u64>, held: &[u64], out: &'o mut [u8]) -> io::Result<&'o mut [u8]> {
        interrupt::check();
        let (part, rest) = out.split_at_mut_checked(self.run.saturating_mul(held.len())).ok_or_else(wrong_length)?;
        match held {
            [] => {}
            [only] => self.source.read_exact_at(*only, part)?,
            several => {
                self.scratch.resize((stretch.end - stretch.start) as usize, 0);
                self.source.read_exact_at(stretch.start, &mut self.scratch)?;
                for (place, out) in several.iter().zip(part.chunks_exact_mut(self.run)) {
                    // Every run of a stretch lies inside it.
                    let at = (place - stretch.start) as usize;
                    out.copy_from_slice(&self.scratch[at..at + self.run]);
                }
            }
        }
        Ok(rest)
    }
}

/// Reads runs from a source that answers several requests at a time, many runs to a plan.
fn in_batches(
    source: &(impl ReadAt + ?Sized),
    cost: &Cost,
    places: impl Iterator<Item = u64>,
    run: usize,
    mut out: &mut [u8],
) -> io::Result<()> {
    // A longer gap is never read through.
    let longest_gap = cost.break_even();
    let mut batch: Vec<Span> = Vec::new();
    let mut most = 0u64;
    for place in places {
        let span = Span::sized(place, run as u64).ok_or_else(wrong_length)?;
        let distance = |last: &Span| span.start.saturating_sub(last.end).max(last.start.saturating_sub(span.end));
        let gap = batch.last().map_or(0, distance);
        let added = span.len().saturating_add(if gap <= longest_gap { gap } else { 0 });
        if !batch.is_empty() && (most.saturating_add(added) > MOST_HELD || batch.len() >= MOST_RUNS) {
            out = fetch_batch(source, cost, &batch, out)?;
            batch.clear();
            most = 0;
        }
        most = most.saturating_add(added);
        batch.push(span);
    }
    let rest = fetch_batch(source, cost, &batch, out)?;
    if rest.is_empty() { Ok(()) } else { Err(wrong_length()) }
}

/// Fills the beginning of `out` with the runs of one batch; returns the rest.
fn fetch_batch<'o>(
    source: &(impl ReadAt + ?Sized),
    cost: &Cost,
    batch: &[Span],
    mut out: &'o mut [u8],
) -> io::Result<&'o mut [u8]> {
    let mut fetched = Buffers::new();
    for (start, bytes) in source.read_many(&plan(batch, cost))? {
        fetched.insert(start, bytes);
    }
    for span in batch {
        let (part, rest) = usize::try_from(span.len())
            .ok()
            .and_then(|len| std::mem::take(&mut out).split_at_mut_checked(len))
            .ok_or_else(wrong_length)?;
        let bytes = fetched.get(*span).ok_or_else(|| crate::internal("a planned read does not cover its runs"))?;
        part.copy_from_slice(bytes);
        out = rest;
    }
    Ok(out)
}

fn wrong_length() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the length of the buffer is not the length of the runs to read")
}

/// The longest stretch of a local file that is read at once: it stays in a cache until its runs are taken out.
const STRETCH: u64 = 256 << 10;
/// Bytes held while the runs of a store are read.
const MOST_HELD: u64 = READ_WHOLE;
/// Runs of one plan.
const MOST_RUNS: usize = 1 << 16;
