//! A message object by object, onto any sink (TG-11.3).

mod reset; // message after message in memory

use super::EncodeOptions;
use super::frames::{SENT, write_frame, write_object};
use super::input::describe_values;
use super::message::{check_base_count, tensor_information};
use crate::describe::{
    DataObjectDescriptor, GlobalMetadata, HashList, Index, MetadataMap, RESERVED, check_client_entry,
};
use crate::error::{Fault, Result, TensogramError};
use crate::pipeline::{self, FiniteCheck, Prepared};
use crate::wire::{FrameType, MessageFlags, Postamble, Preamble};
use fw_codec::chain::Pipe;
use fw_tensor::Element;
use std::io::{Seek, SeekFrom, Write};
use zerocopy::IntoBytes;

/// Writes a message while its objects are made: nothing is held back, and the sink need not be seekable.
///
/// Dropping it without [`StreamingEncoder::finish`] leaves a message without an end, which readers report as such.
///
/// ```
/// use fw_tensogram::*;
///
/// let mut stream = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default())?;
/// let field = vec![273.15f32; 12];
/// stream.write_tensor(&[3, 4], &field, Pipe::shuffle().zstd(3))?;
/// stream.write_tensor(&[4], &[1u8, 2, 3, 4], Pipe::raw())?;
/// let message = stream.finish()?;
/// let view = MessageView::open(&message)?;
/// assert_eq!(view.object(1)?.values::<u8>(), Some(&[1u8, 2, 3, 4][..]));
/// # Ok::<(), TensogramError>(())
/// ```
#[derive(Debug)]
pub struct StreamingEncoder<W: Write> {
    sink: W,
    metadata: GlobalMetadata,
    options: EncodeOptions,
    /// Bytes of this message written so far.
    written: u64,
    index: Index,
    digests: Vec<u64>,
    /// Per object: its preceder and its tensor information, for the footer.
    entries: Vec<MetadataMap>,
    preceder: Option<MetadataMap>,
    /// A failed write leaves the sink in an unknown state; nothing may follow.
    broken: bool,
}

/// Whether the lengths of a finished stream are filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// They stay zero: unknown.
    Unknown,
    /// They are written back into preamble and postamble.
    BackFilled,
}

impl<W: Write> StreamingEncoder<W> {
    /// Begins a message: writes the preamble and the metadata as given.
    ///
    /// # Errors
    /// `Metadata` for reserved keys, `Encoding` for digests gathered in the header, `Io` from the sink.
    pub fn new(sink: W, metadata: &GlobalMetadata, options: &EncodeOptions) -> Result<Self> {
        metadata.check_client()?;
        if options.aggregate_hash.in_stream().is_none() {
            let message = "digests cannot be gathered in the header of a stream: they are not known yet";
            return Err(TensogramError::Encoding(Fault::misuse("aggregate_hash_in_stream_header", message)));
        }
        let mut stream = Self {
            sink,
            metadata: metadata.clone(),
            options: options.clone(),
            written: 0,
            index: Index::default(),
            digests: Vec::new(),
            entries: Vec::new(),
            preceder: None,
            broken: false,
        };
        stream.begin()?;
        Ok(stream)
    }

    /// Writes metadata for the object that comes next.
    ///
    /// # Errors
    /// `Framing` when one is already waiting for its object, `Metadata` for reserved keys, `Io` from the sink.
    pub fn write_preceder(&mut self, entry: &MetadataMap) -> Result<()> {
        check_client_entry(entry)?;
        if self.preceder.is_some() {
            let message = "a preceder was already written; write its object first";
            return Err(TensogramError::Framing(Fault::misuse("preceder_not_followed_by_object", message)));
        }
        let body = GlobalMetadata { base: vec![entry.clone()], ..GlobalMetadata::default() }.to_cbor();
        self.put_frame(FrameType::PRECEDER_METADATA, &body)?;
        self.preceder = Some(entry.clone());
        Ok(())
    }

    /// Encodes and writes a tensor, row-major and in the byte order of this machine, coded as `pipe` states.
    ///
    /// # Errors
    /// When the number of values does not match the shape; as [`StreamingEncoder::write_object`].
    pub fn write_tensor<T: Element>(&mut self, shape: &[u64], values: &[T], pipe: impl Into<Pipe>) -> Result<()> {
        let descriptor = describe_values(shape, values)
            .and_then(|descriptor| descriptor.with_pipeline(pipe))
            .map_err(|error| error.on(format!("object[{}]", self.entries.len())))?;
        self.write_object(&descriptor, values.as_bytes())
    }

    /// Encodes and writes one object.
    ///
    /// # Errors
    /// As [`super::encode`]; nothing is written when the object is refused. `Io` from the sink.
    pub fn write_object(&mut self, descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<()> {
        let prepared = pipeline::prepare(descriptor, data, &self.options, FiniteCheck::First)
            .map_err(|error| error.on(format!("object[{}]", self.entries.len())))?;
        self.put_object(&prepared)
    }

    /// Writes one object whose payload already went through the codecs its descriptor names.
    ///
    /// # Errors
    /// As [`super::encode_pre_encoded`]; `Io` from the sink.
    pub fn write_object_pre_encoded(&mut self, descriptor: &DataObjectDescriptor, payload: &[u8]) -> Result<()> {
        let prepared = pipeline::prepare_pre_encoded(descriptor, payload)
            .map_err(|error| error.on(format!("object[{}]", self.entries.len())))?;
        self.put_object(&prepared)
    }

    /// Number of objects written so far.
    pub fn object_count(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of this message written so far.
    pub const fn bytes_written(&self) -> u64 {
        self.written
    }

    /// Ends the message and gives the sink back. The lengths stay unknown.
    ///
    /// # Errors
    /// `Framing` when a preceder waits for its object, `Metadata` for surplus base entries, `Io` from the sink.
    pub fn finish(mut self) -> Result<W> {
        self.end()?;
        Ok(self.sink)
    }

    /// Where the bytes go.
    #[cfg(feature = "async")]
    pub(super) const fn sink_mut(&mut self) -> &mut W {
        &mut self.sink
    }

    fn begin(&mut self) -> Result<()> {
        let hashing = self.options.hashing;
        let flags = MessageFlags::HEADER_METADATA
            | MessageFlags::FOOTER_METADATA
            | MessageFlags::FOOTER_INDEX
            | MessageFlags::FOOTER_HASHES.when(self.gathers())
            | MessageFlags::PRECEDER_METADATA
            | MessageFlags::HASHES_PRESENT.when(hashing);
        self.written = 0;
        self.put(&Preamble { flags, reserved: 0, total_length: None }.to_bytes())?;
        let header = self.metadata.to_cbor();
        self.put_frame(FrameType::HEADER_METADATA, &header)
    }

    fn end(&mut self) -> Result<()> {
        if self.preceder.is_some() {
            let message = "a preceder was written without an object after it";
            return Err(TensogramError::Framing(Fault::misuse("dangling_preceder", message)));
        }
        check_base_count(self.metadata.base.len(), self.entries.len())?;
        let mut complete = self.metadata.clone();
        complete.base.resize_with(self.entries.len(), Default::default);
        for (entry, own) in complete.base.iter_mut().zip(std::mem::take(&mut self.entries)) {
            entry.extend(own);
        }
        complete.reserved = self.options.provenance().to_map();
        let first_footer_offset = self.written;
        self.put_frame(FrameType::FOOTER_METADATA, &complete.to_cbor())?;
        if self.gathers() && !self.digests.is_empty() {
            let list = HashList::new(std::mem::take(&mut self.digests)).to_cbor();
            self.put_frame(FrameType::FOOTER_HASH, &list)?;
        }
        let index = std::mem::take(&mut self.index).to_cbor();
        self.put_frame(FrameType::FOOTER_INDEX, &index)?;
        self.put(&Postamble { first_footer_offset, total_length: None }.to_bytes())?;
        self.sink.flush()?;
        Ok(())
    }

    fn gathers(&self) -> bool {
        self.options.hashing && self.options.aggregate_hash.in_stream() == Some(true)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.attempt(|sink, _| Ok(sink.write_all(bytes)?))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn put_frame(&mut self, frame_type: FrameType, body: &[u8]) -> Result<()> {
        let bytes = self.attempt(|sink, hashing| Ok(write_frame(sink, frame_type, body, hashing)?))?;
        self.written += bytes;
        Ok(())
    }

    fn put_object(&mut self, object: &Prepared<'_>) -> Result<()> {
        let threads = fw_codec::parallel::resolve(self.options.threads)?;
        let written = self.attempt(|sink, hashing| write_object(sink, object, hashing, threads, SENT))?;
        self.index.offsets.push(self.written);
        self.index.lengths.push(written.length);
        self.digests.push(written.digest);
        self.written += super::frames::padded(written.length);
        let mut entry = self.preceder.take().unwrap_or_default();
        entry.insert(RESERVED.to_owned(), tensor_information(&object.descriptor));
        self.entries.push(entry);
        Ok(())
    }

    fn attempt<T>(&mut self, write: impl FnOnce(&mut W, bool) -> Result<T>) -> Result<T> {
        if self.broken {
            let message = "an earlier write to the sink failed; the message cannot be continued";
            return Err(TensogramError::Framing(Fault::misuse("stream_broken", message)));
        }
        let result = write(&mut self.sink, self.options.hashing);
        self.broken = result.is_err();
        result
    }
}

impl<W: Write + Seek> StreamingEncoder<W> {
    /// Ends the message and writes its real length into preamble and postamble; the sink is left at its end.
    ///
    /// The message may begin anywhere in the sink, behind earlier messages for example.
    ///
    /// # Errors
    /// As [`StreamingEncoder::finish`]; `Io` when the sink cannot seek back or writes elsewhere than it was told (a
    /// file opened for appending does).
    pub fn finish_with_backfill(mut self) -> Result<W> {
        self.end()?;
        back_fill(&mut self.sink, self.written)?;
        Ok(self.sink)
    }
}

/// Writes `length` into the preamble and postamble of the message that ends where the sink stands.
fn back_fill<W: Write + Seek>(sink: &mut W, length: u64) -> Result<()> {
    let end = sink.stream_position()?;
    let start = end.checked_sub(length).ok_or_else(|| std::io::Error::other("the sink moved while writing"))?;
    for position in [start + 16, end - 16] {
        sink.seek(SeekFrom::Start(position))?;
        sink.write_all(&length.to_be_bytes())?;
        let after = sink.stream_position()?;
        if after != position + 8 {
            let text = format!("wrote at byte {} instead of {position}: is the sink open for appending?", after - 8);
            return Err(std::io::Error::other(text).into());
        }
    }
    sink.seek(SeekFrom::Start(end))?;
    sink.flush()?;
    Ok(())
}
