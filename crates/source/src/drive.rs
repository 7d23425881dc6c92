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
