//! A message object by object, onto a sink that is awaited (feature `async`).

use super::{EncodeOptions, StreamingEncoder};
use crate::describe::{DataObjectDescriptor, GlobalMetadata, MetadataMap};
use crate::error::{Fault, Result, TensogramError};
use bytes::Bytes;
use fw_codec::chain::Pipe;
use fw_source::nonblocking::off_runtime;
use fw_tensor::Element;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// [`StreamingEncoder`] for a socket, a pipe or anything else that is awaited. Objects are encoded off the runtime; one of
/// them, encoded, is held at a time.
///
/// Dropping it without [`AsyncStreamingEncoder::finish`], or dropping one of its futures half way, leaves a message without an
/// end, which readers report as such.
///
/// ```
/// use fw_tensogram::*;
///
/// # fw_source::nonblocking::wait_for(async {
/// let options = EncodeOptions::default();
/// let mut stream = AsyncStreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options).await?;
/// stream.write_tensor(&[3, 4], vec![273.15f32; 12], Pipe::shuffle().zstd(3)).await?;
/// stream.write_tensor(&[4], vec![1u8, 2, 3, 4], Pipe::raw()).await?;
/// let message = stream.finish().await?;
/// let view = MessageView::open(&message)?;
/// assert_eq!(view.object(1)?.values::<u8>(), Some(&[1u8, 2, 3, 4][..]));
/// # Ok::<(), TensogramError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct AsyncStreamingEncoder<W> {
    sink: W,
    /// Writes to memory, which is passed on; not there while it works, nor after an error of the sink.
    inner: Option<StreamingEncoder<Vec<u8>>>,
}

impl<W: AsyncWrite + Unpin> AsyncStreamingEncoder<W> {
    /// Begins a message: writes the preamble and the metadata as given.
    ///
    /// # Errors
    /// As [`StreamingEncoder::new`].
    pub async fn new(sink: W, metadata: &GlobalMetadata, options: &EncodeOptions) -> Result<Self> {
        let inner = StreamingEncoder::new(Vec::new(), metadata, options)?;
        let mut stream = Self { sink, inner: None };
        stream.pass_on(inner).await?;
        Ok(stream)
    }

    /// Writes metadata for the object that comes next.
    ///
    /// # Errors
    /// As [`StreamingEncoder::write_preceder`].
    pub async fn write_preceder(&mut self, entry: &MetadataMap) -> Result<()> {
        let mut inner = self.take()?;
        let done = inner.write_preceder(entry);
        self.pass_on(inner).await?;
        done
    }

    /// Encodes and writes a tensor, row-major and in the byte order of this machine, coded as `pipe` states.
    ///
    /// # Errors
    /// As [`StreamingEncoder::write_tensor`].
    pub async fn write_tensor<T: Element>(
        &mut self,
        shape: &[u64],
        values: Vec<T>,
        pipe: impl Into<Pipe>,
    ) -> Result<()> {
        let (shape, pipe) = (shape.to_vec(), pipe.into());
        self.work(move |inner| inner.write_tensor(&shape, &values, pipe)).await
    }

    /// Encodes and writes one object.
    ///
    /// # Errors
    /// As [`StreamingEncoder::write_object`].
    pub async fn write_object(&mut self, descriptor: &DataObjectDescriptor, data: impl Into<Bytes>) -> Result<()> {
        let (descriptor, data) = (descriptor.clone(), data.into());
        self.work(move |inner| inner.write_object(&descriptor, &data)).await
    }

    /// Writes one object whose payload already went through the codecs its descriptor names.
    ///
    /// # Errors
    /// As [`StreamingEncoder::write_object_pre_encoded`].
    pub async fn write_object_pre_encoded(
        &mut self,
        descriptor: &DataObjectDescriptor,
        payload: impl Into<Bytes>,
    ) -> Result<()> {
        let (descriptor, payload) = (descriptor.clone(), payload.into());
        self.work(move |inner| inner.write_object_pre_encoded(&descriptor, &payload)).await
    }

    /// Ends the message and gives the sink back, flushed. The lengths stay unknown.
    ///
    /// # Errors
    /// As [`StreamingEncoder::finish`].
    pub async fn finish(mut self) -> Result<W> {
        let rest = self.take()?.finish()?;
        self.sink.write_all(&rest).await?;
        self.sink.flush().await?;
        Ok(self.sink)
    }

    /// Number of objects written so far.
    pub fn object_count(&self) -> usize {
        self.inner.as_ref().map_or(0, StreamingEncoder::object_count)
    }

    /// Bytes of this message written so far.
    pub fn bytes_written(&self) -> u64 {
        self.inner.as_ref().map_or(0, StreamingEncoder::bytes_written)
    }

    /// Work on the encoder that may be long; nothing is written when it is refused.
    async fn work(
        &mut self,
        work: impl FnOnce(&mut StreamingEncoder<Vec<u8>>) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let mut inner = self.take()?;
        let (inner, done) = off_runtime(move || {
            let done = work(&mut inner);
            Ok::<_, TensogramError>((inner, done))
        })
        .await?;
        self.pass_on(inner).await?;
        done
    }

    fn take(&mut self) -> Result<StreamingEncoder<Vec<u8>>> {
        self.inner.take().ok_or_else(|| {
            let message = "an earlier write to the sink failed or was given up; the message cannot be continued";
            TensogramError::Framing(Fault::misuse("stream_broken", message))
        })
    }

    /// Hands what the encoder wrote to the sink; the encoder is back only when that worked.
    async fn pass_on(&mut self, mut inner: StreamingEncoder<Vec<u8>>) -> Result<()> {
        self.sink.write_all(inner.sink_mut()).await?;
        inner.sink_mut().clear();
        self.inner = Some(inner);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::{Provenance, Value};
    use fw_source::nonblocking::wait_for;
    use fw_tensor::DType;
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// Takes a few bytes at a time, and fails after so many.
    struct Narrow {
        taken: Vec<u8>,
        most: usize,
    }

    impl AsyncWrite for Narrow {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let len = bytes.len().min(7).min(self.most - self.taken.len());
            if len == 0 {
                return Poll::Ready(Err(io::Error::other("the line is cut")));
            }
            self.taken.extend_from_slice(&bytes[..len]);
            Poll::Ready(Ok(len))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn options() -> EncodeOptions {
        let text = String::new;
        let provenance = Provenance { encoder_name: text(), encoder_version: text(), time: text(), uuid: text() };
        EncodeOptions { provenance: Some(provenance), ..EncodeOptions::default() }
    }

    async fn written(most: usize) -> (Result<Narrow>, u64) {
        let sink = Narrow { taken: Vec::new(), most };
        let mut stream = match AsyncStreamingEncoder::new(sink, &GlobalMetadata::default(), &options()).await {
            Ok(stream) => stream,
            Err(error) => return (Err(error), 0),
        };
        let descriptor = DataObjectDescriptor::new(DType::UInt16, &[50]).unwrap();
        let refused = stream.write_object(&descriptor, vec![1; 3]).await.unwrap_err();
        assert!(refused.code() != "stream_broken", "{refused}");
        let entry = MetadataMap::from([("name".to_owned(), Value::from("first"))]);
        let mut done = stream.write_preceder(&entry).await;
        for _ in 0..2 {
            if done.is_ok() {
                done = stream.write_object(&descriptor, vec![5; 100]).await;
            }
        }
        if let Err(error) = done {
            let again = stream.write_object(&descriptor, vec![5; 100]).await.unwrap_err();
            assert_eq!(again.code(), "stream_broken");
            return (Err(error), 0);
        }
        assert_eq!(stream.object_count(), 2);
        let before = stream.bytes_written();
        (stream.finish().await, before)
    }

    #[test]
    fn it_writes_what_the_other_one_writes_and_fails_where_the_sink_does() {
        let mut plain = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options()).unwrap();
        let descriptor = DataObjectDescriptor::new(DType::UInt16, &[50]).unwrap();
        plain.write_preceder(&MetadataMap::from([("name".to_owned(), Value::from("first"))])).unwrap();
        plain.write_object(&descriptor, &[5; 100]).unwrap();
        plain.write_object(&descriptor, &[5; 100]).unwrap();
        let expected = plain.finish().unwrap();
        let (sink, before) = wait_for(written(usize::MAX));
        assert!(sink.unwrap().taken == expected && before < expected.len() as u64);
        for most in (0..expected.len()).step_by(11) {
            let (cut, _) = wait_for(written(most));
            let error = cut.err().unwrap();
            assert_eq!(error.class(), "Io", "{error}");
        }
    }
}
