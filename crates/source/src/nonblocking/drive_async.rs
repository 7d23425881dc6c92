//! Runs a decoder that does no input or output on an awaited source.

use super::AsyncReadAt;
use crate::Buffers;
use crate::plan::plan;
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
        fetch(source, buffers, needed).await?;
    }
}

/// Fetches those of `spans` that are not in `buffers`, side by side.
///
/// # Errors
/// The first error of the source; `UnexpectedEof`, before anything is requested, for a range past its end; an internal
/// error when there are spans and all of them could have been looked up.
pub async fn fetch(source: &(impl AsyncReadAt + ?Sized), buffers: &mut Buffers, spans: Vec<Span>) -> io::Result<()> {
    if spans.is_empty() {
        return Ok(());
    }
    let missing = buffers.missing(spans)?;
    if missing.is_empty() {
        return Ok(());
    }
    let len = source.total_len().await?;
    if let Some(beyond) = missing.iter().find(|span| span.end > len) {
        return Err(short_read(beyond.start, usize::try_from(beyond.len()).unwrap_or(usize::MAX), len));
    }
    for (start, bytes) in read_planned(source, &plan(&missing, &source.cost())).await? {
        buffers.insert(start, bytes);
    }
    Ok(())
}

/// The bytes of every range, fetched side by side.
pub(crate) async fn read_planned(
    source: &(impl AsyncReadAt + ?Sized),
    ranges: &[Span],
) -> io::Result<Vec<(u64, Vec<u8>)>> {
    let requests =
        ranges.iter().map(|span| async move { io::Result::Ok((span.start, source.read(*span).await?.into())) });
    try_join_all(requests).await
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
