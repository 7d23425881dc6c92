//! Decoding a stretch of intervals, on several threads where offsets allow it.
//!
//! Threads start at the offsets, but the result never rests on them: a part counts only when the part before it ended
//! exactly where it started, and is decoded again from there otherwise.

use super::fault::Fault;
use super::locate::Stream;
use crate::parallel;
use fw_bytes::interrupt;
use std::ops::Range;

/// Samples below which a part is not worth a thread.
const MIN_PART_SAMPLES: u64 = 1 << 14;

/// Parts per thread, so that uneven ones balance.
const PARTS_PER_THREAD: u64 = 4;

/// Decodes the bytes `wanted` of the whole into `out`, which is as long as that.
///
/// `start` is the true position of the interval in which `wanted` begins.
///
/// # Errors
/// When the stream is malformed or ends early.
pub(super) fn decode(
    stream: &Stream<'_>,
    start: u64,
    wanted: Range<u64>,
    threads: usize,
    out: &mut [u8],
) -> Result<(), Fault> {
    if wanted.is_empty() {
        return Ok(());
    }
    let rsi_len = (stream.layout.rsi_samples * stream.layout.container.width()) as u64;
    let rsis = wanted.start / rsi_len..wanted.end.div_ceil(rsi_len);
    let part_rsis = part_rsis(stream, &rsis, threads);
    let mut parts = Vec::new();
    let mut rest = out;
    let mut first = rsis.start;
    while first < rsis.end {
        let last = first.saturating_add(part_rsis).min(rsis.end);
        let bytes = wanted.start.max(first * rsi_len)..wanted.end.min(last.saturating_mul(rsi_len));
        let Some((mine, others)) = rest.split_at_mut_checked((bytes.end - bytes.start) as usize) else { break };
        rest = others;
        parts.push(Part { rsis: first..last, bytes, out: mine, started: None, outcome: Ok(0) });
        first = last;
    }
    if parts.len() > 1 {
        // Faults are kept with their part: one that started at a wrong place proves nothing.
        let _ = parallel::for_each(threads, parts.iter_mut(), |part| {
            let entry = stream.entry(part.rsis.start);
            let guess =
                if part.rsis.start == rsis.start { Some(start) } else { stream.confirmed(part.rsis.start).or(entry) };
            if let Some(guess) = guess {
                part.run(stream, guess);
            }
            Ok(())
        });
    }
    let mut position = start;
    for part in &mut parts {
        if part.started != Some(position) {
            part.run(stream, position);
        }
        position = part.outcome?;
    }
    Ok(())
}

/// Some intervals and the memory they go to.
struct Part<'a> {
    rsis: Range<u64>,
    bytes: Range<u64>,
    out: &'a mut [u8],
    /// Where it was decoded from.
    started: Option<u64>,
    /// Where it ended.
    outcome: Result<u64, Fault>,
}

impl Part<'_> {
    fn run(&mut self, stream: &Stream<'_>, start: u64) {
        self.started = None;
        if let Some(outcome) = self.decode(stream, start) {
            self.outcome = outcome;
            self.started = Some(start);
        }
    }

    /// `None` when `start` is not among the bytes at hand.
    fn decode(&mut self, stream: &Stream<'_>, start: u64) -> Option<Result<u64, Fault>> {
        let mut decoder = stream.decoder_at(start)?;
        let rsi_len = (stream.layout.rsi_samples * stream.layout.container.width()) as u64;
        let mut rest = &mut *self.out;
        for rsi in self.rsis.clone() {
            interrupt::check();
            let base = rsi * rsi_len;
            let from = self.bytes.start.max(base) - base;
            let to = self.bytes.end.min(base + rsi_len) - base;
            let (here, others) = std::mem::take(&mut rest).split_at_mut_checked((to - from) as usize)?;
            rest = others;
            if let Err(fault) = decoder.decode_rsi(stream.samples_in(rsi), from as usize..to as usize, here) {
                return Some(Err(fault));
            }
        }
        Some(Ok(decoder.position() + stream.start_bit))
    }
}

fn part_rsis(stream: &Stream<'_>, rsis: &Range<u64>, threads: usize) -> u64 {
    let count = rsis.end - rsis.start;
    if threads < 2 || stream.offsets.is_empty() {
        return count;
    }
    let least = MIN_PART_SAMPLES.div_ceil(stream.layout.rsi_samples as u64);
    count.div_ceil((threads as u64).saturating_mul(PARTS_PER_THREAD)).max(least).max(1)
}
