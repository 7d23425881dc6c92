//! The ways in. Files, maps, awaited files and stores have the same methods: one macro serves them all.

use fw_bytes::Span;
use fw_source::remote::{StoreOptions, StoreWriter};
use fw_tensogram::access::ObjectHead;
use fw_tensogram::*;
use fw_tensor::{Selection, TensorBuf};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Something that messages can be read through.
pub(crate) trait Door {
    fn name(&self) -> &'static str;
    fn layouts(&self) -> Result<Vec<Span>>;
    fn metadata(&self, message: MessageIndex, options: &DecodeOptions) -> Result<GlobalMetadata>;
    fn first_metadata(&self, message: MessageIndex, options: &DecodeOptions) -> Result<GlobalMetadata>;
    fn descriptors(&self, message: MessageIndex, options: &DecodeOptions) -> Result<MessageDescription>;
    fn object_count(&self, message: MessageIndex, options: &DecodeOptions) -> Result<usize>;
    fn survey(&self, message: MessageIndex, options: &DecodeOptions) -> Result<Survey>;
    fn decode(&self, message: MessageIndex, options: &DecodeOptions) -> Result<DecodedMessage>;
    /// Positions count from the start of the file.
    fn object_head(&self, message: MessageIndex, object: usize, options: &DecodeOptions) -> Result<ObjectHead>;
    fn object(&self, message: MessageIndex, object: usize, options: &DecodeOptions) -> Result<DecodedObject>;
    fn object_into(
        &self,
        message: MessageIndex,
        object: usize,
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<DataObjectDescriptor>;
    fn floats(&self, message: MessageIndex, object: usize, options: &DecodeOptions) -> Result<Vec<f32>>;
    fn bytes(&self, message: MessageIndex, object: usize, options: &DecodeOptions) -> Result<Vec<u8>>;
    fn ranges(
        &self,
        message: MessageIndex,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<DecodedRanges>;
    fn slice(
        &self,
        message: MessageIndex,
        object: usize,
        selection: &Selection,
        options: &DecodeOptions,
    ) -> Result<TensorBuf>;
}

/// Every door to one file but the slice.
pub(crate) struct Doors {
    owned: Owned,
    file: File,
    map: Map,
    awaited: Awaited,
    store: Store,
}

impl Doors {
    pub(crate) fn open(path: &Path, bytes: &[u8]) -> Self {
        // SAFETY: nothing writes to the vectors while tests run.
        #[allow(unsafe_code)]
        let map = || TensogramFile::open_mmap(path, unsafe { fw_source::LeftAlone::promised() }).unwrap();
        let url = format!("memory:///doors/{}", path.file_name().unwrap().to_str().unwrap());
        let store = StoreOptions::new();
        let mut writer = StoreWriter::create(&url, &store).unwrap();
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap();
        let local = Arc::new(TensogramFile::open(path).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self {
            owned: Owned(map()),
            file: File(TensogramFile::open(path).unwrap()),
            map: Map(map()),
            awaited: Awaited(AsyncTensogramFile::following(local), runtime),
            store: Store(open_source(&url, &store).unwrap()),
        }
    }

    pub(crate) fn all(&self) -> [&dyn Door; 5] {
        [&self.owned, &self.file, &self.map, &self.awaited, &self.store]
    }

    pub(crate) fn files(&self) -> [&dyn Door; 4] {
        [&self.file, &self.map, &self.awaited, &self.store]
    }
}

struct File(TensogramFile);
struct Map(TensogramFile);
struct Awaited(AsyncTensogramFile, Runtime);
struct Store(RemoteFile);

/// `$done` makes a result of what a method returns: waits for it, or does nothing.
macro_rules! door {
    ($type:ident, $name:literal, |$self:ident, $work:ident| $done:expr) => {
        impl Door for $type {
            fn name(&self) -> &'static str {
                $name
            }

            fn layouts(&$self) -> Result<Vec<Span>> {
                let $work = $self.0.message_layouts();
                $done
            }

            fn metadata(&$self, message: MessageIndex, options: &DecodeOptions) -> Result<GlobalMetadata> {
                let $work = $self.0.metadata_with(message, options);
                $done
            }

            fn first_metadata(&$self, message: MessageIndex, options: &DecodeOptions) -> Result<GlobalMetadata> {
                let $work = $self.0.decode_metadata_with(message, options);
                $done
            }

            fn descriptors(&$self, message: MessageIndex, options: &DecodeOptions) -> Result<MessageDescription> {
                let $work = $self.0.decode_descriptors_with(message, options);
                $done
            }

            fn object_count(&$self, message: MessageIndex, options: &DecodeOptions) -> Result<usize> {
                let $work = $self.0.object_count_with(message, options);
                $done
            }

            fn survey(&$self, message: MessageIndex, options: &DecodeOptions) -> Result<Survey> {
                let one = [message];
                let $work = $self.0.surveys_with(&one, options);
                let surveys = $done?;
                let $work = $self.0.survey_with(message, options);
                let alone = $done?;
                assert_eq!(format!("{surveys:?}"), format!("[{alone:?}]"), "a batch of one");
                Ok(alone)
            }

            fn decode(&$self, message: MessageIndex, options: &DecodeOptions) -> Result<DecodedMessage> {
                let $work = $self.0.decode_message(message, options);
                $done
            }

            fn object_head(&$self, message: MessageIndex, object: usize, options: &DecodeOptions) -> Result<ObjectHead> {
                let $work = $self.0.object_head_with(message, object, options);
                $done
            }

            fn object(&$self, message: MessageIndex, object: usize, options: &DecodeOptions) -> Result<DecodedObject> {
                let one = [message];
                let $work = $self.0.decode_object_batch(&one, object, options);
                let objects = $done?;
                let $work = $self.0.decode_object(message, object, options);
                let alone = $done?;
                assert_eq!(format!("{objects:?}"), format!("[{alone:?}]"), "a batch of one");
                Ok(alone)
            }

            fn object_into(
                &$self,
                message: MessageIndex,
                object: usize,
                options: &DecodeOptions,
                out: &mut [u8],
            ) -> Result<DataObjectDescriptor> {
                let $work = $self.0.decode_object_into(message, object, options, out);
                $done
            }

            fn floats(&$self, message: MessageIndex, object: usize, options: &DecodeOptions) -> Result<Vec<f32>> {
                let $work = $self.0.to_vec(message, object, options);
                $done
            }

            fn bytes(&$self, message: MessageIndex, object: usize, options: &DecodeOptions) -> Result<Vec<u8>> {
                let $work = $self.0.to_vec(message, object, options);
                $done
            }

            fn ranges(
                &$self,
                message: MessageIndex,
                object: usize,
                ranges: &[(u64, u64)],
                options: &DecodeOptions,
            ) -> Result<DecodedRanges> {
                let one = [message];
                let $work = $self.0.decode_range_batch(&one, object, ranges, options);
                let batch = $done?;
                let $work = $self.0.decode_range(message, object, ranges, options);
                let alone = $done?;
                assert_eq!(format!("{batch:?}"), format!("[{alone:?}]"), "a batch of one");
                Ok(alone)
            }

            fn slice(
                &$self,
                message: MessageIndex,
                object: usize,
                selection: &Selection,
                options: &DecodeOptions,
            ) -> Result<TensorBuf> {
                let $work = $self.0.slice(message, object, selection, options);
                $done
            }
        }
    };
}

door!(File, "file", |self, result| result);
door!(Map, "map", |self, result| result);
door!(Awaited, "awaited file", |self, future| self.1.block_on(future));
door!(Store, "store", |self, result| result);

/// A message in memory, borrowed: what all other doors are held to. Errors are placed where its file has it.
pub(crate) struct Slice<'a> {
    pub(crate) message: &'a [u8],
    pub(crate) start: u64,
}

/// An owned message of a mapped file.
struct Owned(TensogramFile);

/// `$open` gives the message; options without digests for parts, of which none is verified.
macro_rules! message_door {
    ($type:ty, $name:literal, |$self:ident, $index:ident, $options:ident| $open:expr, $place:expr, $start:expr) => {
        impl Door for $type {
            fn name(&self) -> &'static str {
                $name
            }

            fn layouts(&self) -> Result<Vec<Span>> {
                Ok(Vec::new())
            }

            fn metadata(&$self, $index: MessageIndex, $options: &DecodeOptions) -> Result<GlobalMetadata> {
                $open.and_then(|message| message.metadata()).map_err($place)
            }

            fn first_metadata(&$self, $index: MessageIndex, $options: &DecodeOptions) -> Result<GlobalMetadata> {
                $self.first($index, $options).map_err($place)
            }

            fn descriptors(&$self, $index: MessageIndex, $options: &DecodeOptions) -> Result<MessageDescription> {
                $open.and_then(|message| message.decode_descriptors()).map_err($place)
            }

            fn object_count(&$self, $index: MessageIndex, $options: &DecodeOptions) -> Result<usize> {
                $open.map(|message| message.object_count()).map_err($place)
            }

            fn survey(&$self, $index: MessageIndex, $options: &DecodeOptions) -> Result<Survey> {
                $self.surveyed($index, $options).map_err($place)
            }

            fn decode(&$self, $index: MessageIndex, $options: &DecodeOptions) -> Result<DecodedMessage> {
                $self.whole($index, $options).map_err($place)
            }

            fn object_head(&$self, $index: MessageIndex, object: usize, $options: &DecodeOptions) -> Result<ObjectHead> {
                let head = $open.and_then(|message| Ok(message.object(object)?.head().clone())).map_err($place)?;
                let start = $start;
                let shift = |span: Span| span.shifted(start).unwrap();
                let parts = fw_tensogram::frame::ObjectParts {
                    descriptor: shift(head.parts.descriptor),
                    region: shift(head.parts.region),
                };
                Ok(ObjectHead { frame: head.frame.shifted(start), parts, ..head })
            }

            fn object(&$self, $index: MessageIndex, object: usize, $options: &DecodeOptions) -> Result<DecodedObject> {
                let read = $open.and_then(|message| {
                    let object = message.object(object)?;
                    let bytes = object.decode($options)?;
                    Ok(DecodedObject { descriptor: object.into_descriptor(), bytes })
                });
                read.map_err($place)
            }

            fn object_into(
                &$self,
                $index: MessageIndex,
                object: usize,
                $options: &DecodeOptions,
                out: &mut [u8],
            ) -> Result<DataObjectDescriptor> {
                let read = $open.and_then(|message| {
                    let object = message.object(object)?;
                    object.decode_into($options, out)?;
                    Ok(object.into_descriptor())
                });
                read.map_err($place)
            }

            fn floats(&$self, $index: MessageIndex, object: usize, $options: &DecodeOptions) -> Result<Vec<f32>> {
                $open.and_then(|message| message.object(object)?.to_vec($options)).map_err($place)
            }

            fn bytes(&$self, $index: MessageIndex, object: usize, $options: &DecodeOptions) -> Result<Vec<u8>> {
                $open.and_then(|message| message.object(object)?.to_vec($options)).map_err($place)
            }

            fn ranges(
                &$self,
                $index: MessageIndex,
                object: usize,
                ranges: &[(u64, u64)],
                options: &DecodeOptions,
            ) -> Result<DecodedRanges> {
                let $options = &DecodeOptions { verify_hash: false, ..options.clone() };
                let read = $open.and_then(|message| {
                    let object = message.object(object)?;
                    let parts = object.decode_range(ranges, $options)?;
                    Ok(DecodedRanges { descriptor: object.into_descriptor(), parts })
                });
                read.map_err($place)
            }

            fn slice(
                &$self,
                $index: MessageIndex,
                object: usize,
                selection: &Selection,
                options: &DecodeOptions,
            ) -> Result<TensorBuf> {
                let $options = &DecodeOptions { verify_hash: false, ..options.clone() };
                $open.and_then(|message| message.object(object)?.slice(selection, $options)).map_err($place)
            }
        }
    };
}

message_door!(
    Slice<'_>,
    "slice",
    |self, index, options| MessageView::open_with(self.message, options),
    |error| self.placed(index, error),
    self.start
);
message_door!(
    Owned,
    "owned message",
    |self, index, options| self.0.message_with(index, options),
    |error| error,
    self.0.message_span(index)?.start
);

impl Slice<'_> {
    fn first(&self, _: MessageIndex, options: &DecodeOptions) -> Result<GlobalMetadata> {
        decode_metadata_with(self.message, options)
    }

    fn whole(&self, _: MessageIndex, options: &DecodeOptions) -> Result<DecodedMessage> {
        decode(self.message, options)
    }

    fn surveyed(&self, _: MessageIndex, options: &DecodeOptions) -> Result<Survey> {
        Ok(survey_with(self.message, options))
    }

    fn placed(&self, index: MessageIndex, error: TensogramError) -> TensogramError {
        let path = match index {
            MessageIndex::FromStart(index) => format!("message[{index}]"),
            MessageIndex::FromEnd(index) => format!("message[-{}]", index + 1),
        };
        error.shifted(self.start).on(path)
    }
}

impl Owned {
    fn first(&self, index: MessageIndex, options: &DecodeOptions) -> Result<GlobalMetadata> {
        self.0.message_with(index, options)?.decode_metadata()
    }

    fn whole(&self, index: MessageIndex, options: &DecodeOptions) -> Result<DecodedMessage> {
        self.0.message_with(index, options)?.decode(options)
    }

    /// A message that cannot be opened is surveyed by its bytes.
    fn surveyed(&self, index: MessageIndex, options: &DecodeOptions) -> Result<Survey> {
        match self.0.message_with(index, options) {
            Ok(message) => Ok(survey_with(&message.bytes(), options)),
            Err(_) => Ok(survey_with(&self.0.read_message(index)?, options)),
        }
    }
}
