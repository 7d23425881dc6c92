//! Timing: every side in turn, several rounds; the best time of each, and the median of the ratios.

use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// How long one side stays on in one round.
    pub(crate) turn: Duration,
}

/// Seconds of the best call of each side, and how many times longer than the first the others took (median over rounds).
pub(crate) struct Measured {
    pub(crate) best: Vec<f64>,
    pub(crate) ratios: Vec<f64>,
}

pub(crate) fn measure(effort: Effort, sides: &mut [&mut dyn FnMut()]) -> Measured {
    let mut times = vec![Vec::new(); sides.len()];
    for round in 0..effort.rounds {
        for place in 0..sides.len() {
            let side = (place + round) % sides.len();
            times[side].push(turn(effort.turn, &mut *sides[side]));
        }
    }
    let best = times.iter().map(|times| times.iter().copied().fold(f64::MAX, f64::min)).collect();
    let ratios = times[1..].iter().map(|peer| median(peer.iter().zip(&times[0]).map(|(peer, ours)| peer / ours)));
    Measured { best, ratios: ratios.collect() }
}

/// The best call within one turn; at least two calls, for the first may find cold caches.
fn turn(limit: Duration, work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = Duration::MAX;
    for call in 0.. {
        if call >= 2 && start.elapsed() >= limit {
            break;
        }
        let begin = Instant::now();
        work();
        best = best.min(begin.elapsed());
    }
    best.as_secs_f64()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
