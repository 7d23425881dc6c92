//! A new message around object frames that exist: what is made, and what is copied.

use super::stored::StoredObject;
use crate::describe::{GlobalMetadata, check_map};
use crate::error::{Fault, Result, TensogramError};
use crate::write::{Envelope, Framed, HashFrames, padded};
use fw_bytes::Span;
use fw_source::{ReadAt, stream};
use std::io::Write;

/// Where the digests of all objects are gathered in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DigestFrames {
    /// Before the objects, as an encoder does it that has the whole message at hand.
    #[default]
    Header,
    /// After the objects.
    Footer,
    /// On both sides.
    Both,
    /// Nowhere; each object keeps its own.
    None,
}

/// A message to write: its index before its objects, whose frames are copied as they are.
#[derive(Clone, Debug)]
pub struct MessagePlan {
    envelope: Envelope,
    objects: Vec<StoredObject>,
}

/// A stretch of a planned message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// Bytes of the source that holds object `object`.
    Copied {
        /// Place among the objects of the plan.
        object: usize,
        /// Where they stand in its source.
        span: Span,
    },
}

impl MessagePlan {
    /// A message of this metadata, provenance included, and of these objects in this order. Digests are gathered before the
    /// objects when all of them carry one, and then the other frames carry one too.
    ///
    /// # Errors
    /// Metadata that cannot be written: integers out of range, more base entries than objects.
    pub fn new(metadata: &GlobalMetadata, objects: Vec<StoredObject>) -> Result<Self> {
        Self::with_digests(metadata, objects, DigestFrames::Header, true)
    }

    /// The same with digests gathered elsewhere, or (`hashed`) without digests in the other frames.
    pub(super) fn with_digests(
        metadata: &GlobalMetadata,
        objects: Vec<StoredObject>,
        gather: DigestFrames,
        hashed: bool,
    ) -> Result<Self> {
        check_writable(metadata, objects.len())?;
        let framed: Vec<Framed> =
            objects.iter().map(|object| Framed { len: object.len(), digest: object.digest() }).collect();
        let hashed = hashed && framed.iter().all(|object| object.digest.is_some());
        let gather = match gather {
            DigestFrames::Header => HashFrames { header: true, footer: false },
            DigestFrames::Footer => HashFrames { header: false, footer: true },
            DigestFrames::Both => HashFrames { header: true, footer: true },
            DigestFrames::None => HashFrames::default(),
        };
        let envelope = Envelope::around(&metadata.to_cbor(), &framed, hashed, gather)?;
        Ok(Self { envelope, objects })
    }

    /// Bytes of the whole message.
    #[expect(clippy::len_without_is_empty, reason = "a message is never empty")]
    pub const fn len(&self) -> u64 {
        self.envelope.total
    }

    /// The objects, in order.
    pub fn objects(&self) -> &[StoredObject] {
        &self.objects
    }

    /// Hands out the message stretch by stretch, in order.
    ///
    /// # Errors
    /// Those of `put`.
    pub fn pieces<E>(&self, mut put: impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        put(Piece::Bytes(&self.envelope.head))?;
        for (number, object) in self.objects.iter().enumerate() {
            object.pieces(number, &mut put)?;
            let len = object.len();
            let padding = padded(len) - len;
            if padding > 0 {
                put(Piece::Bytes(PADDING.get(..padding as usize).unwrap_or(PADDING)))?;
            }
        }
        put(Piece::Bytes(&self.envelope.tail))
    }

    /// Writes the message; all of its objects stand in `source`.
    ///
    /// # Errors
    /// `Io` from source and sink.
    pub fn write(&self, source: &(impl ReadAt + ?Sized), sink: &mut impl Write) -> Result<()> {
        self.pieces(|piece| match piece {
            Piece::Bytes(bytes) => sink.write_all(bytes).map_err(TensogramError::from),
            Piece::Copied { span, .. } => {
                stream(source, span, |bytes| sink.write_all(bytes).map_err(TensogramError::from))
            }
        })
    }
}

/// Refuses what CBOR cannot hold, and entries without an object. Unlike an encoder this keeps what encoders wrote.
fn check_writable(metadata: &GlobalMetadata, objects: usize) -> Result<()> {
    if metadata.base.len() > objects {
        let message = format!("{} base entries for {objects} objects", metadata.base.len());
        return Err(TensogramError::Metadata(Fault::misuse("base_count_exceeds_objects", message)));
    }
    for (index, entry) in metadata.base.iter().enumerate() {
        check_map(entry).map_err(|error| error.on(format!("base[{index}]")))?;
    }
    check_map(&metadata.extra)
}

const PADDING: &[u8] = &[0; 8];
