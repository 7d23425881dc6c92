//! Work on many things by several threads, with the results in order.

use crate::interrupt::{self, Watch};
use core::num::NonZero;
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, mpsc};

/// The number of threads that `threads` asks for: 0 is one per processor.
pub fn thread_count(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        more => more,
    }
}

/// Works on `jobs` with up to `threads` threads (0: one per processor) and hands the results to `take` in the order of the jobs,
/// each as soon as those before it are done; later ones wait in memory, so results should be small. No further jobs are begun
/// after `take` breaks.
///
/// ```
/// use std::ops::ControlFlow::Continue;
///
/// let mut squares = Vec::new();
/// fw_bytes::parallel::in_order(1..=5, 3, |number| number * number, |square| {
///     squares.push(square);
///     Continue(())
/// });
/// assert_eq!(squares, [1, 4, 9, 16, 25]);
/// ```
pub fn in_order<J: Send, R: Send>(
    jobs: impl Iterator<Item = J> + Send,
    threads: usize,
    work: impl Fn(J) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) {
    let threads = thread_count(threads);
    if threads == 1 {
        for job in jobs {
            if take(work(job)).is_break() {
                return;
            }
        }
        return;
    }
    let (jobs, stopped) = (Mutex::new(jobs.enumerate()), AtomicBool::new(false));
    let watch = Watch::current();
    std::thread::scope(|scope| {
        let (results, done) = mpsc::sync_channel(threads);
        for _ in 0..threads {
            let (results, jobs, work, stopped) = (results.clone(), &jobs, &work, &stopped);
            let worker = move || {
                while !stopped.load(Ordering::Relaxed) {
                    let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((place, job)) = next else { return };
                    if results.send((place, work(job))).is_err() {
                        return;
                    }
                }
            };
            let watch = watch.clone();
            scope.spawn(|| Watch::enter(watch, worker));
        }
        drop(results);
        let (mut waiting, mut next) = (BTreeMap::new(), 0);
        while let Some((place, result)) = received(&done) {
            waiting.insert(place, result);
            while let Some(result) = waiting.remove(&next) {
                next += 1;
                if take(result).is_break() {
                    stopped.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    });
}

/// The next result, or `None` when there are no more; watched work can be stopped while it waits.
fn received<T>(done: &mpsc::Receiver<T>) -> Option<T> {
    if !interrupt::is_watched() {
        return done.recv().ok();
    }
    loop {
        interrupt::check();
        match done.recv_timeout(interrupt::PAUSE) {
            Ok(result) => return Some(result),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicUsize;
    use std::vec::Vec;

    #[test]
    fn results_come_in_order_whoever_is_faster() {
        let mut seen = Vec::new();
        let slow_first = |job: usize| {
            std::thread::sleep(std::time::Duration::from_millis(if job.is_multiple_of(5) { 3 } else { 0 }));
            job
        };
        in_order(0..200, 4, slow_first, |job| {
            seen.push(job);
            ControlFlow::Continue(())
        });
        assert!(seen.into_iter().eq(0..200));
    }

    #[test]
    fn nothing_is_begun_after_a_break() {
        let begun = AtomicUsize::new(0);
        in_order(0..1_000_000, 3, |_| begun.fetch_add(1, Ordering::Relaxed), |_| ControlFlow::Break(()));
        assert!(begun.load(Ordering::Relaxed) < 100);
    }
}
