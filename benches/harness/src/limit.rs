//! What the machine allows: the part of a row's work that nobody can leave out, done alone.

use crate::{Best, Effort, Fresh, alone};
use std::hint::black_box;

/// A limit that was measured.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// What was done.
    pub name: &'static str,
    /// The best call.
    pub best: Best,
}

impl Limit {
    /// How near our time is to it: its time divided by ours, 1 when we take no longer.
    pub fn reached(&self, ours: Best) -> f64 {
        self.best.time.as_nanos() as f64 / ours.time.as_nanos().max(1) as f64
    }

    /// Both measurements of one limit as one.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self { best: self.best.min(other.best), ..self }
    }
}

/// The least that must be done, to be measured a round at a time between the rounds of both sides.
pub struct Least<'a> {
    name: &'static str,
    work: Box<dyn FnMut() -> Option<Fresh> + 'a>,
}

impl<'a> Least<'a> {
    /// Work that writes to memory it has written to before.
    pub fn warm(name: &'static str, mut work: impl FnMut() + 'a) -> Self {
        let work = move || {
            work();
            None
        };
        Self { name, work: Box::new(work) }
    }

    /// Work that writes to memory which the system has just handed out. Giving it back is not timed.
    pub fn fresh(name: &'static str, mut work: impl FnMut() -> Fresh + 'a) -> Self {
        Self { name, work: Box::new(move || Some(work())) }
    }

    /// One round, as long as a side's turn.
    pub fn round(&mut self, effort: Effort) -> Limit {
        Limit { name: self.name, best: alone(Effort { rounds: 1, ..effort }, &mut self.work) }
    }
}

/// Measures a limit, in half the rounds that the sides of the row have, of half the length: there is one side only.
pub fn limit<A>(effort: Effort, name: &'static str, work: impl FnMut() -> A) -> Limit {
    Limit { name, best: alone(Effort { rounds: effort.rounds.div_ceil(2), turn: effort.turn / 2 }, work) }
}

/// Does work on equal parts of the input and of the output, on so many threads. One of `units` is so many bytes of each.
pub fn spread(
    threads: usize,
    units: (usize, usize),
    input: &[u8],
    output: &mut [u8],
    work: impl Fn(&[u8], &mut [u8]) + Sync,
) {
    let (input, output) = (black_box(input), black_box(output));
    if threads <= 1 {
        return work(input, output);
    }
    let each = (input.len() / units.0).div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let mut parts = input.chunks(each * units.0).zip(output.chunks_mut(each * units.1));
        let (first, work) = (parts.next(), &work);
        parts.for_each(|(input, output)| drop(scope.spawn(move || work(input, output))));
        first.into_iter().for_each(|(input, output)| work(input, output));
    });
}

/// Copies into memory that has been written before.
pub fn copy(threads: usize, data: &[u8], out: &mut [u8]) {
    spread(threads, (1, 1), data, &mut out[..data.len()], |data, out| out.copy_from_slice(data));
}

/// Copies into memory that the system has just handed out.
pub fn copy_fresh(threads: usize, data: &[u8]) -> Fresh {
    let mut fresh = Fresh::new(data.len());
    copy(threads, data, fresh.bytes());
    fresh
}

/// Reads every byte once and does as little as possible with it.
pub fn pass(data: &[u8]) -> u64 {
    let (words, rest) = black_box(data).as_chunks::<8>();
    let sum = words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word)));
    rest.iter().fold(sum, |sum, byte| sum.wrapping_add(u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_and_read() {
        let data: Vec<u8> = (0..1000).map(|at| at as u8).collect();
        for threads in [1, 2, 3] {
            let mut out = vec![0; 1001];
            copy(threads, &data, &mut out);
            assert_eq!((&out[..1000], out[1000]), (&data[..], 0), "{threads} threads");
            assert_eq!(copy_fresh(threads, &data).bytes(), data);
        }
        copy(2, &[], &mut []);
        assert_eq!(pass(&[1, 0, 0, 0, 0, 0, 0, 0, 5]), 6);
    }
}
