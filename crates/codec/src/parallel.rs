//! Splitting work over threads so that the result never depends on how many there are.

use crate::CodecError;
use fw_bytes::interrupt::{Watch, check};
use std::ffi::OsString;
use std::sync::Mutex;

/// Runs `work` on every task, on up to `threads` threads (0 and 1: the calling thread alone).
///
/// Work that is [watched](fw_bytes::interrupt) can be stopped between two tasks. Tasks are taken in order from one queue, so uneven
/// tasks balance. The error of the earliest failing task is
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
        return tasks.into_iter().try_for_each(|task| {
            check();
            work(task)
        });
    }
    let queue = Mutex::new(tasks.enumerate());
    let first_error: Mutex<Option<(usize, CodecError)>> = Mutex::new(None);
    let worker = || {
        loop {
            check();
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
    let watch = Watch::current();
    std::thread::scope(|scope| {
        for _ in 1..workers {
            let watch = watch.clone();
            scope.spawn(|| Watch::enter(watch, worker));
        }
        worker();
    });
    match first_error.into_inner() {
        Ok(Some((_, error))) => Err(error),
        _ => Ok(()),
    }
}

/// How many threads the environment asks for: `FW_THREADS`, else `TENSOGRAM_THREADS`, else 0. A blank variable says
/// nothing: the next one is asked.
///
/// # Errors
/// A value that is no number of threads.
pub fn threads_from_env() -> Result<usize, CodecError> {
    threads_from(|name| std::env::var_os(name))
}

/// `threads` when it is above 0, else what the environment asks for.
///
/// # Errors
/// As [`threads_from_env`], when the environment is asked.
pub fn resolve(threads: usize) -> Result<usize, CodecError> {
    if threads > 0 { Ok(threads) } else { threads_from_env() }
}

fn threads_from(variable: impl Fn(&str) -> Option<OsString>) -> Result<usize, CodecError> {
    for name in ["FW_THREADS", "TENSOGRAM_THREADS"] {
        let Some(value) = variable(name) else { continue };
        let text = value.to_string_lossy();
        let text = text.trim();
        if !text.is_empty() {
            return text.parse().map_err(|_| {
                let message = format!("{name} is {text:?}, expected a number of threads");
                CodecError::parameter("threads", "bad_thread_count", message)
            });
        }
    }
    Ok(0)
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

    #[test]
    fn the_environment_names_a_number() {
        let ask = |fw: Option<&str>, tensogram: Option<&str>| {
            threads_from(|name| if name == "FW_THREADS" { fw } else { tensogram }.map(OsString::from))
        };
        assert_eq!(ask(None, None), Ok(0));
        assert_eq!(ask(Some("4"), Some("2")), Ok(4));
        assert_eq!(ask(None, Some(" 2 ")), Ok(2));
        // A blank variable is as good as none.
        assert_eq!(ask(Some(""), Some("2")), Ok(2));
        assert_eq!(ask(Some("  "), Some("")), Ok(0));
        assert_eq!(ask(Some("0"), Some("2")), Ok(0));
        assert_eq!(ask(Some(""), Some("two")).unwrap_err().code, "bad_thread_count");
        for junk in ["two", "-1", "1.5", "99999999999999999999"] {
            assert_eq!(ask(Some(junk), None).unwrap_err().code, "bad_thread_count");
        }
        assert_eq!(resolve(3), Ok(3));
    }
}
