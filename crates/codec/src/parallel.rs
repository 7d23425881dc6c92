//! Splitting work over threads so that the result never depends on how many there are.

use crate::CodecError;
use fw_bytes::interrupt::{Watch, check};
use std::cell::Cell;
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

/// `threads` when it is above 0, else what [`with_threads`] says on this thread, else what the environment asks for.
///
/// # Errors
/// As [`threads_from_env`], when the environment is asked.
pub fn resolve(threads: usize) -> Result<usize, CodecError> {
    match (threads, DEFAULT.get()) {
        (0, 0) => threads_from_env(),
        (0, default) => Ok(default),
        (threads, _) => Ok(threads),
    }
}

/// Runs `work` with a number of threads for everything in it that does not say how many it wants: a program that was told once
/// does not have to tell every call. Threads that `work` starts itself are not told.
///
/// ```
/// use fw_codec::parallel::{resolve, with_threads};
///
/// with_threads(4, || {
///     assert_eq!(resolve(0).unwrap(), 4);
///     assert_eq!(resolve(2).unwrap(), 2);
/// });
/// ```
pub fn with_threads<R>(threads: usize, work: impl FnOnce() -> R) -> R {
    struct Restored(usize);
    impl Drop for Restored {
        fn drop(&mut self) {
            DEFAULT.set(self.0);
        }
    }
    let _before = Restored(DEFAULT.replace(threads));
    work()
}

thread_local! {
    static DEFAULT: Cell<usize> = const { Cell::new(0) };
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

    #[test]
    fn a_default_holds_for_its_work_and_no_longer() {
        let _ = std::panic::catch_unwind(|| with_threads(5, || panic!("broken off")));
        let outside = resolve(0);
        with_threads(3, || {
            assert_eq!((resolve(0), resolve(2)), (Ok(3), Ok(2)));
            assert_eq!(with_threads(0, || resolve(0)), outside);
            assert_eq!(resolve(0), Ok(3));
        });
        assert_eq!(resolve(0), outside);
    }
}
