//! Timing: one call at a time, both sides in turn, the best call of all rounds.

use crate::pages::faults;
use crate::reaches;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The best call of one side.
#[derive(Clone, Copy, Debug)]
pub struct Best {
    /// How long it took.
    pub time: Duration,
    /// Page faults it caused: 0 means that all memory it wrote was warm.
    pub faults: u64,
}

impl Best {
    const NONE: Self = Self { time: Duration::MAX, faults: u64::MAX };

    /// 10⁹ bytes in a second.
    pub fn rate(self, bytes: usize) -> f64 {
        bytes as f64 / self.time.as_nanos().max(1) as f64
    }

    /// The faster of two; of two that are equally fast, the one with fewer page faults.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if (other.time, other.faults) < (self.time, self.faults) { other } else { self }
    }

    /// Millionths of a second, of which the work was done `calls` times over.
    pub fn micros(self, calls: u32) -> f64 {
        self.time.as_nanos() as f64 / 1e3 / f64::from(calls)
    }

    /// Whether its output pages were warm.
    pub fn pages(self) -> String {
        if self.faults == 0 { "warm".to_owned() } else { format!("fresh ({})", self.faults) }
    }
}

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Turns of each side.
    pub rounds: usize,
    /// How long one side stays on in one round.
    pub turn: Duration,
}

/// What came of two sides taking turns.
#[derive(Clone, Debug)]
pub struct Duel {
    /// Our best call.
    pub ours: Best,
    /// The peer's.
    pub peer: Best,
    /// The peer's best time divided by ours, round by round.
    pub ratios: Vec<f64>,
}

impl Duel {
    /// The peer's best time divided by ours: above 1 we are faster.
    pub fn times(&self) -> f64 {
        ratio(self.ours, self.peer)
    }

    /// The median over the rounds, which one disturbed round does not move.
    pub fn median(&self) -> f64 {
        let mut ratios = self.ratios.clone();
        ratios.sort_by(f64::total_cmp);
        let at = |place: usize| ratios.get(place).copied().unwrap_or(f64::NAN);
        let (half, odd) = (ratios.len() / 2, !ratios.len().is_multiple_of(2));
        if odd { at(half) } else { (at(half.wrapping_sub(1)) + at(half)) / 2.0 }
    }

    /// What is held against a target: the better of the best calls' ratio and of the median over the rounds. That is
    /// generous: noise on either side moves both, and a target counts as reached when one of them shows it.
    pub fn speed(&self) -> f64 {
        self.times().max(self.median())
    }

    /// Both duels as one.
    #[must_use]
    pub fn join(mut self, other: &Self) -> Self {
        self.ours = self.ours.min(other.ours);
        self.peer = self.peer.min(other.peer);
        self.ratios.extend(&other.ratios);
        self
    }
}

/// Both sides in turn; the one that begins changes from round to round.
pub fn duel<A, B>(effort: Effort, mut ours: impl FnMut() -> A, mut peer: impl FnMut() -> B) -> Duel {
    rounds(effort.rounds, || turn(effort, &mut ours), || turn(effort, &mut peer))
}

/// The same for work in other processes, which say themselves how long one call took.
pub fn duel_of_processes(
    rounds_wanted: usize,
    mut ours: impl FnMut() -> Duration,
    mut peer: impl FnMut() -> Duration,
) -> Duel {
    let best = |time| Best { time, faults: 0 };
    rounds(rounds_wanted, || best(ours()), || best(peer()))
}

fn rounds(count: usize, mut ours: impl FnMut() -> Best, mut peer: impl FnMut() -> Best) -> Duel {
    let mut duel = Duel { ours: Best::NONE, peer: Best::NONE, ratios: Vec::new() };
    for round in 0..count {
        let (left, right);
        if round % 2 == 0 {
            left = ours();
            right = peer();
        } else {
            right = peer();
            left = ours();
        }
        duel.ratios.push(ratio(left, right));
        duel.ours = duel.ours.min(left);
        duel.peer = duel.peer.min(right);
    }
    duel
}

fn ratio(ours: Best, peer: Best) -> f64 {
    peer.time.as_nanos() as f64 / ours.time.as_nanos().max(1) as f64
}

/// Measures until the target is reached, at most `again` times more, with a pause before each: a disturbed machine mostly
/// comes to rest within seconds. Everything measured counts.
pub fn settled(again: usize, target: Option<f64>, mut measure: impl FnMut() -> Duel) -> Duel {
    let mut found = measure();
    for _ in 0..again {
        if reaches(found.speed(), target) {
            break;
        }
        rest();
        found = found.join(&measure());
    }
    found
}

/// Waits before a row is measured again.
pub fn rest() {
    std::thread::sleep(Duration::from_secs(2));
}

/// One side alone.
pub fn alone<A>(effort: Effort, mut work: impl FnMut() -> A) -> Best {
    (0..effort.rounds).fold(Best::NONE, |best, _| best.min(turn(effort, &mut work)))
}

/// At least two calls: the first one after the other side may find cold caches. Freeing the result is not timed.
fn turn<A>(effort: Effort, work: &mut impl FnMut() -> A) -> Best {
    let (begin, mut best) = (Instant::now(), Best::NONE);
    let mut calls = 0;
    while calls < 2 || (begin.elapsed() < effort.turn && calls < 1000) {
        let before = faults();
        let start = Instant::now();
        let result = black_box(work());
        let time = start.elapsed();
        best = best.min(Best { time, faults: faults().saturating_sub(before) });
        drop(result);
        calls += 1;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ours: u64, peer: u64, ratios: &[f64]) -> Duel {
        let best = |nanos| Best { time: Duration::from_nanos(nanos), faults: 0 };
        Duel { ours: best(ours), peer: best(peer), ratios: ratios.to_vec() }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        for (ratios, median) in [(&[2.0][..], 2.0), (&[9.0, 1.0, 2.0], 2.0), (&[4.0, 1.0, 9.0, 2.0], 3.0)] {
            assert_eq!(found(1, 1, ratios).median(), median, "{ratios:?}");
        }
        assert!(found(1, 1, &[]).median().is_nan());
    }

    #[test]
    fn the_better_of_both_counts() {
        assert_eq!(found(10, 30, &[2.0, 2.5, 9.0]).speed(), 3.0);
        assert_eq!(found(10, 20, &[2.0, 2.5, 9.0]).speed(), 2.5);
    }

    #[test]
    fn everything_measured_counts() {
        let joined = found(10, 30, &[3.0]).join(&found(20, 25, &[1.25]));
        assert_eq!((joined.times(), joined.median(), joined.ratios.len()), (2.5, 2.125, 2));
    }

    #[test]
    fn a_row_is_measured_again_until_it_reaches_its_target() {
        let mut calls = 0;
        let measure = || {
            calls += 1;
            found(10, if calls < 2 { 10 } else { 40 }, &[if calls < 2 { 1.0 } else { 4.0 }])
        };
        // The peer's best stays 1, the median of both is above the target.
        assert_eq!(settled(3, Some(2.0), measure).ratios, [1.0, 4.0]);
        assert_eq!(calls, 2);
        assert_eq!(settled(0, Some(2.0), || found(10, 10, &[1.0])).ratios.len(), 1);
    }

    #[test]
    fn both_sides_have_their_turns() {
        let (mut ours, mut peer) = (0, 0);
        let effort = Effort { rounds: 3, turn: Duration::ZERO };
        let duel = duel(effort, || ours += 1, || peer += 1);
        assert_eq!((ours, peer, duel.ratios.len()), (6, 6, 3));
    }

    #[test]
    fn processes_say_how_long_they_took() {
        let millis = Duration::from_millis;
        let (mut ours, mut peer) = ([4, 2, 3].into_iter().map(millis), [8, 8, 9].into_iter().map(millis));
        let duel = duel_of_processes(3, || ours.next().unwrap(), || peer.next().unwrap());
        assert_eq!((duel.times(), duel.ratios), (4.0, vec![2.0, 4.0, 3.0]));
    }
}
