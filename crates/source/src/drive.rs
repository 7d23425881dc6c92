//! Runs a decoder that does no input or output on any source.

use crate::{Buffers, ReadAt};
use fw_bytes::{Step, interrupt};
use std::io;

/// Asks `decoder` again and again, fetching what it needs from `source`, until it is done.
///
/// # Errors
/// The decoder's own errors, and the source's wrapped into them. A decoder that asks for bytes past the end of the
/// source gets `UnexpectedEof`; one that asks only for bytes it already
/// has would never finish and gets an internal error.
pub fn drive<T, E: From<io::Error>>(
    source: &(impl ReadAt + ?Sized),
    buffers: &mut Buffers,
    mut decoder: impl FnMut(&Buffers) -> Result<Step<T>, E>,
) -> Result<T, E> {
    loop {
        interrupt::check();
        let needed = match decoder(buffers)? {
            Step::Done(value) => return Ok(value),
            Step::Need(spans) => spans,
        };
        let missing = buffers.missing(needed)?;
        for (start, bytes) in source.read_many(&missing)? {
            buffers.insert(start, bytes);
        }
    }
}

/// Runs `count` decoders side by side: what all of them need next is fetched together, so that many small ones take as few
/// requests as one. `decoder` is asked with the number of a decoder; results come in their order.
///
/// ```
/// use fw_bytes::{Span, Step};
/// use fw_source::{Buffers, drive_all};
///
/// let source: Vec<u8> = (0..100).collect();
/// let ends = drive_all::<_, std::io::Error>(&source[..], &mut Buffers::new(), 3, |number, have| {
///     let span = Span::new(number as u64 * 40, number as u64 * 40 + 1);
///     Ok(have.get(span).map_or(Step::need(span), |bytes| Step::Done(bytes[0])))
/// })?;
/// assert_eq!(ends, [0, 40, 80]);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// As [`drive`]: the first error ends all of them.
pub fn drive_all<T, E: From<io::Error>>(
    source: &(impl ReadAt + ?Sized),
    buffers: &mut Buffers,
    count: usize,
    mut decoder: impl FnMut(usize, &Buffers) -> Result<Step<T>, E>,
) -> Result<Vec<T>, E> {
    let mut done: Vec<Option<T>> = (0..count).map(|_| None).collect();
    drive::<(), E>(source, buffers, |have| {
        let mut needed = Vec::new();
        for (number, result) in done.iter_mut().enumerate().filter(|(_, result)| result.is_none()) {
            match decoder(number, have)? {
                Step::Done(value) => *result = Some(value),
                Step::Need(spans) => needed.extend(spans),
            }
        }
        Ok(if needed.is_empty() { Step::Done(()) } else { Step::Need(needed) })
    })?;
    Ok(done.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fw_bytes::Span;

    #[test]
    fn a_decoder_gets_what_it_asks_for() {
        let bytes: Vec<u8> = (0..100).collect();
        let mut buffers = Buffers::new();
        let sum = drive::<u32, io::Error>(bytes.as_slice(), &mut buffers, |have| {
            let (a, b) = (Span::new(10, 12), Span::new(90, 91));
            match (have.get(a), have.get(b)) {
                (Some(a), Some(b)) => Ok(Step::Done(a.iter().chain(b).map(|byte| u32::from(*byte)).sum())),
                _ => Ok(Step::Need(vec![a, b])),
            }
        });
        assert_eq!(sum.unwrap(), 10 + 11 + 90);
    }

    #[test]
    fn absurd_requests_fail_before_memory_is_reserved() {
        let source: &[u8] = &[0; 10];
        let result = drive::<(), io::Error>(source, &mut Buffers::new(), |_| Ok(Step::need(Span::new(0, 1 << 60))));
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
