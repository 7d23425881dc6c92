//! One message, borrowed.

use super::{full_metadata, object::ObjectView};
use crate::describe::GlobalMetadata;
use crate::error::{Fault, Result, TensogramError};
use crate::frame::{Directory, Locate, Outline, object_frame, on_slice};
use crate::wire::Preamble;
use fw_bytes::{Limits, Span};

/// A message in memory or in a map. Opening it costs as much as its index; nothing is copied, no payload is touched.
///
/// ```
/// use fw_tensogram::{MessageBuilder, MessageView};
///
/// let message = MessageBuilder::new().tensor(&[3], &[1.5f32, -2.25, 1024.0]).unwrap().encode().unwrap();
/// let view = MessageView::open(&message).unwrap();
/// assert_eq!(view.object(0).unwrap().values::<f32>(), Some(&[1.5f32, -2.25, 1024.0][..]));
/// ```
#[derive(Clone, Debug)]
pub struct MessageView<'a> {
    bytes: &'a [u8],
    directory: Directory,
    limits: Limits,
}

impl<'a> MessageView<'a> {
    /// Opens the message at the start of `bytes`; what follows a message of known length is ignored.
    ///
    /// # Errors
    /// Framing faults.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        Self::open_with(bytes, &Limits::default())
    }

    /// [`MessageView::open`] with limits.
    ///
    /// # Errors
    /// Framing faults and limits.
    pub fn open_with(bytes: &'a [u8], limits: &Limits) -> Result<Self> {
        let directory = on_slice(bytes, |have| Locate::new(bytes.len() as u64, *limits).poll(have))?;
        let bytes = bytes.get(..directory.length as usize).unwrap_or(bytes);
        Ok(Self { bytes, directory, limits: *limits })
    }

    /// The preamble.
    pub const fn preamble(&self) -> &Preamble {
        &self.directory.preamble
    }

    /// The bytes of the whole message.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Number of objects.
    pub fn object_count(&self) -> usize {
        self.directory.objects.len()
    }

    /// One object, found through the index.
    ///
    /// # Errors
    /// `Object` when there is none with this index; framing and metadata faults of its frame.
    pub fn object(&self, index: usize) -> Result<ObjectView<'a>> {
        let span = self.directory.object(index)?;
        match on_slice(self.bytes, |have| Ok(object_frame(have, span)))? {
            Some(frame) => ObjectView::read(self.bytes, frame, index, &self.limits)
                .map_err(|error| error.on(format!("object[{index}]"))),
            // The index lied: believe the frames.
            None if !self.directory.walked => {
                let mut walked = self.walked()?;
                match (self.object_count(), walked.object_count()) {
                    (listed, found) if listed != found => Err(ambiguous(index, span, listed, found)),
                    _ => {
                        // As many as the index lists: none was lost.
                        walked.directory.gap = None;
                        walked.object(index)
                    }
                }
            }
            None => Err(TensogramError::Framing(
                Fault::format("missing_end_marker", format!("no data object frame at {span}")).at(span.start),
            )),
        }
    }

    /// Every object, in order.
    pub fn objects(&self) -> impl Iterator<Item = Result<ObjectView<'a>>> + '_ {
        (0..self.object_count()).map(|index| self.object(index))
    }

    /// The metadata as a full decode gives it: the last metadata frame, one base entry per object, preceders merged.
    ///
    /// # Errors
    /// Framing and metadata faults anywhere in the message.
    pub fn metadata(&self) -> Result<GlobalMetadata> {
        full_metadata(self.bytes, &Outline::of(self.bytes, &self.limits)?, &self.limits)
    }

    fn walked(&self) -> Result<Self> {
        let len = self.bytes.len() as u64;
        let directory = on_slice(self.bytes, |have| Locate::by_walking(len, self.limits).poll(have))?;
        Ok(Self { bytes: self.bytes, directory, limits: self.limits })
    }
}

/// An index and the frames that disagree about how many objects there are: none of them can be told by its number.
pub(crate) fn ambiguous(index: usize, span: Span, listed: usize, found: usize) -> TensogramError {
    let text = format!(
        "no data object frame at {span}, where the index has object {index}; it lists {listed} objects, the message has \
         {found}, so that one may be lost"
    );
    TensogramError::Framing(Fault::format("index_count_mismatch", text).at(span.start).on(format!("object[{index}]")))
}
