//! Splitting work over threads so that the result never depends on how many there are.

use crate::CodecError;
use std::sync::Mutex;

/// Runs `work` on every task, on up to `threads` threads (0 and 1: the calling thread alone).
///
/// Tasks are taken in order from one queue, so uneven tasks balance. The error of the earliest failing task is
/// returned, whatever finished first.
///
/// # Errors
/// The first error, in task order, that `work` returned.
pub fn for_each<T: Send>(
    threads: usize,
    tasks: impl ExactSizeIterator<Item = T> + Send,
    work: impl Fn(T) -> Result<(), CodecError> + Sync,
) -> Result<(), CodecError> {
    let workers = threads.min(tasks.len());
    if workers <= 1 {
        return tasks.into_iter().try_for_each(work);
    }
    let queue = Mutex::new(tasks.enumerate());
    let first_error: Mutex<Option<(usize, CodecError)>> = Mutex::new(None);
    let worker = || {
        loop {
            // A worker that panicked poisons the lock; the panic itself is reported when the scope joins it.
            let Ok(Some((index, task))) = queue.lock().map(|mut tasks| tasks.next()) else { return };
            if let Err(error) = work(task) {
                if let Ok(mut slot) = first_error.lock()
                    && slot.as_ref().is_none_or(|(earlier, _)| index < *earlier)
                {
                    *slot = Some((index, error));
                }
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(worker);
        }
        worker();
    });
    match first_error.into_inner() {
        Ok(Some((_, error))) => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once_for_any_thread_count() {
        for threads in [0, 1, 2, 5] {
            let mut slots = [0u32; 37];
            for_each(threads, slots.iter_mut().enumerate(), |(index, slot)| {
                *slot += index as u32;
                Ok(())
            })
            .unwrap();
            assert!(slots.iter().enumerate().all(|(index, slot)| *slot == index as u32));
        }
    }

    #[test]
    fn the_earliest_error_wins_on_one_thread() {
        let error = for_each(1, [1u8, 2, 3].into_iter(), |task| match task {
            1 => Ok(()),
            n => Err(CodecError::format("test", "failed", format!("task {n}"))),
        })
        .unwrap_err();
        assert_eq!(error.message, "task 2");
    }
}
