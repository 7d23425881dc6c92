//! Runs a decoder that does no input or output on an awaited source.

use super::{AsyncReadAt, merge};
use crate::Buffers;
use crate::read_at::short_read;
use futures_util::future::try_join_all;
use fw_bytes::{Span, Step};
use std::io;

/// Asks `decoder` again and again, fetching what it needs from `source`, until it is done. All ranges of one step are in
/// flight together.
///
/// # Errors
/// As [`crate::drive`].
pub async fn drive_async<T, E: From<io::Error>>(
    source: &(impl AsyncReadAt + ?Sized),
    buffers: &mut Buffers,
    mut decoder: impl FnMut(&Buffers) -> Result<Step<T>, E>,
) -> Result<T, E> {
    loop {
        let needed = match decoder(buffers)? {
            Step::Done(value) => return Ok(value),
            Step::Need(spans) => spans,
        };
        let missing = buffers.missing(needed)?;
        fetch(source, buffers, &missing).await?;
    }
}

/// Fetches `spans` into `buffers`, side by side.
///
/// # Errors
/// The first error of the source; `UnexpectedEof`, before anything is requested, for a range past its end.
pub async fn fetch(source: &(impl AsyncReadAt + ?Sized), buffers: &mut Buffers, spans: &[Span]) -> io::Result<()> {
    let len = source.total_len().await?;
    if let Some(beyond) = spans.iter().find(|span| span.end > len) {
        return Err(short_read(beyond.start, usize::try_from(beyond.len()).unwrap_or(usize::MAX), len));
    }
    let requests = merge(spans).into_iter().map(|span| async move { Ok((span, source.read(span).await?)) });
    for (span, bytes) in try_join_all(requests).await.map_err(|error: io::Error| error)? {
        buffers.insert(span.start, bytes.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn a_decoder_gets_what_it_asks_for_and_no_more() {
        let source = Bytes::from((0..100u8).collect::<Vec<_>>());
        let (a, b) = (Span::new(10, 12), Span::new(90, 91));
        let mut asked = 0;
        let sum = crate::nonblocking::wait_for(async move {
            drive_async::<u32, io::Error>(&source, &mut Buffers::new(), |have| match (have.get(a), have.get(b)) {
                (Some(a), Some(b)) => Ok(Step::Done(a.iter().chain(b).map(|byte| u32::from(*byte)).sum())),
                _ => {
                    asked += 1;
                    assert_eq!(asked, 1, "both ranges come in one round");
                    Ok(Step::Need(vec![a, b]))
                }
            })
            .await
        });
        assert_eq!(sum.unwrap(), 10 + 11 + 90);
    }

    #[test]
    fn absurd_requests_fail_before_memory_is_reserved() {
        let source = Bytes::from_static(&[0; 10]);
        let result = crate::nonblocking::wait_for(async move {
            let want = |_: &Buffers| Ok(Step::need(Span::new(0, 1 << 60)));
            drive_async::<(), io::Error>(&source, &mut Buffers::new(), want).await
        });
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
