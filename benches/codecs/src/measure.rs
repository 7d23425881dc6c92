//! Timing: one call at a time, both sides in turn, the best call of all rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The best call of one side.
#[derive(Clone, Copy)]
pub(crate) struct Best {
    pub(crate) time: Duration,
    /// Page faults of the call with the fewest: 0 means that all memory it wrote was warm.
    pub(crate) faults: u64,
}

impl Best {
    const NONE: Self = Self { time: Duration::MAX, faults: u64::MAX };

    /// 10⁹ bytes in a second.
    pub(crate) fn rate(self, bytes: usize) -> f64 {
        bytes as f64 / self.time.as_nanos().max(1) as f64
    }

    pub(crate) fn pages(self) -> String {
        if self.faults == 0 { "warm".to_owned() } else { format!("fresh ({})", self.faults) }
    }
}

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// How long one side stays on in one round.
    pub(crate) turn: Duration,
}

/// Both sides in turn; the one that begins changes from round to round.
pub(crate) fn duel<A, B>(effort: Effort, mut ours: impl FnMut() -> A, mut peer: impl FnMut() -> B) -> (Best, Best) {
    let (mut left, mut right) = (Best::NONE, Best::NONE);
    for round in 0..effort.rounds {
        if round % 2 == 0 {
            turn(effort, &mut left, &mut ours);
            turn(effort, &mut right, &mut peer);
        } else {
            turn(effort, &mut right, &mut peer);
            turn(effort, &mut left, &mut ours);
        }
    }
    (left, right)
}

/// One side alone.
pub(crate) fn alone<A>(effort: Effort, mut work: impl FnMut() -> A) -> Best {
    let mut best = Best::NONE;
    for _ in 0..effort.rounds {
        turn(effort, &mut best, &mut work);
    }
    best
}

/// At least two calls: the first one after the other side may find cold caches. Freeing the result is not timed.
fn turn<A>(effort: Effort, best: &mut Best, work: &mut impl FnMut() -> A) {
    let begin = Instant::now();
    let mut calls = 0;
    while calls < 2 || (begin.elapsed() < effort.turn && calls < 1000) {
        let before = minor_faults();
        let start = Instant::now();
        let result = black_box(work());
        let time = start.elapsed();
        best.faults = best.faults.min(minor_faults().saturating_sub(before));
        best.time = best.time.min(time);
        drop(result);
        calls += 1;
    }
}

/// Page faults of this process so far that needed no disk; 0 where the system does not say.
fn minor_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    fields.split_whitespace().nth(7).and_then(|field| field.parse().ok()).unwrap_or(0)
}
