//! Several objects of a message at a time: whole objects are the cheapest tasks there are.

use crate::error::Result;
use fw_codec::parallel;

/// Applies `work` to every item and keeps the order; each call gets its share of the threads.
///
/// # Errors
/// The first error, in order; a thread setting in the environment that is no number.
pub(crate) fn map_objects<T: Send, R: Send>(
    threads: usize,
    items: Vec<T>,
    work: impl Fn(T, usize) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let threads = parallel::resolve(threads)?;
    if threads <= 1 || items.len() <= 1 {
        // One thread said in so many words: the environment is not asked again further in.
        return items.into_iter().map(|item| work(item, threads.max(1))).collect();
    }
    let share = (threads / items.len()).max(1);
    let mut results: Vec<Option<Result<R>>> = Vec::new();
    results.resize_with(items.len(), || None);
    parallel::for_each(threads, results.iter_mut().zip(items), |(slot, item)| {
        *slot = Some(work(item, share));
        Ok(())
    })?;
    // Every task ran and filled its slot.
    results.into_iter().flatten().collect()
}
