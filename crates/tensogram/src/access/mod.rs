//! Room 6, exact reads: machines that say which bytes they need and do no input or output of their own.
//!
//! Each machine is an [`ReadMachine`]: it is polled with the bytes at hand and answers with its result or with the ranges to
//! fetch. [`run`] drives one from any [`ReadAt`]; an asynchronous reader or an object store does the same with its own
//! fetches, in as few round trips as the machine asks for. Positions are those of the source: a message is given by its
//! [`Span`] in it. Bytes fetched for one machine serve the next when the same [`Buffers`] are used again.
//!
//! | question | machine |
//! |---|---|
//! | where are the messages? | [`Scanner`](crate::frame::scan::Scanner), [`FindMessage`] |
//! | what does a message say about itself? | [`ReadMetadata`], [`ReadFirstMetadata`] |
//! | where are its objects? | [`ReadDirectory`] |
//! | is its end right? | [`CheckEnding`] |
//! | what is object i? what are all of them? | [`ReadHead`], [`ReadHeads`] |
//! | its bytes | [`ReadFrame`], then [`ObjectFrame::decode`] |
//! | runs of its elements, an N-dimensional part of it | [`ReadRanges`], [`ReadSlice`] |
//!
//! ```
//! use fw_bytes::Span;
//! use fw_source::Buffers;
//! use fw_tensogram::access::{ReadHead, ReadSlice, run};
//! use fw_tensogram::{DecodeOptions, MessageBuilder};
//! use fw_tensor::Selection;
//!
//! let field: Vec<f32> = (0..1_000_000).map(|i| i as f32).collect();
//! let file = MessageBuilder::new().tensor(&[1000, 1000], &field)?.encode()?;
//! let (message, mut buffers) = (Span::new(0, file.len() as u64), Buffers::new());
//! let head = run(&file[..], &mut buffers, ReadHead::new(message, 0, Default::default()))?;
//! let corner = Selection::new().axis(998..1000).axis(998..1000);
//! let slice = run(&file[..], &mut buffers, ReadSlice::new(head, corner, &DecodeOptions::default())?)?;
//! assert_eq!(slice.view().to_vec::<f32>()?, [998_998.0, 998_999.0, 999_998.0, 999_999.0]);
//! assert!(buffers.len() < 16_000, "four million bytes stayed where they are");
//! # Ok::<(), fw_tensogram::TensogramError>(())
//! ```

mod assemble; // frames to one metadata
mod at_hand; // the encoded bytes of an object, as far as they were fetched
mod decoded; // what reads hand out
mod directory; // where the objects of a message are
mod ending; // whether the end of a message fits
mod glance; // values of chosen keys, without reading the metadata
mod heads; // all objects of a message at once
mod messages; // where the messages of a source are
mod metadata; // what a message says about itself
mod object; // one object: what it is, and its frame
mod part; // runs and slices of one object

pub use decoded::{DecodedMessage, DecodedObject, DecodedRanges, MaskedMessage, MaskedObject, MessageDescription};
pub use directory::ReadDirectory;
pub use ending::CheckEnding;
pub use glance::Glance;
pub use heads::ReadHeads;
pub use messages::{FindMessage, MessageIndex};
pub use metadata::{ReadFirstMetadata, ReadMetadata};
pub use object::{ObjectFrame, ObjectHead, ReadFrame, ReadHead};
pub use part::{ReadRanges, ReadSlice};

pub(crate) use assemble::{
    ambiguous, compare_frame_hash, frame_bytes, full_metadata, merged, metadata_of, preceder_entry, verify_frame_hash,
    verify_object,
};
pub(crate) use at_hand::AtHand;
pub(crate) use object::{SMALL_FRAME, TAIL_LOOK, check_masks, head_and_tail, object_path};

use crate::error::{Result, TensogramError};
use crate::frame::Lookup;
use fw_bytes::{Span, Step};
use fw_source::{Buffers, ReadAt, drive};

/// A machine that reads something, whoever fetches its bytes.
pub trait ReadMachine {
    /// What it reads.
    type Output;

    /// Goes on as far as the bytes at hand allow. The ranges of `Need` are to be fetched together.
    ///
    /// # Errors
    /// Faults of the bytes, and of the request.
    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Self::Output>>;
}

/// Runs a machine on a source that can be read at once. `buffers` keeps what was fetched, for the next machine.
///
/// # Errors
/// Those of the machine, and `Io` from the source.
pub fn run<M: ReadMachine>(
    source: &(impl ReadAt + ?Sized),
    buffers: &mut Buffers,
    mut machine: M,
) -> Result<M::Output> {
    drive::<_, TensogramError>(source, buffers, |have| machine.poll(have))
}

/// A step whose positions count from the start of `message`, told in positions of the source.
pub(crate) fn in_source<T>(message: Span, step: Result<Step<T>>) -> Result<Step<T>> {
    match step {
        Ok(Step::Need(spans)) => {
            // Positions inside a message that fits in 64 bits cannot overflow.
            Ok(Step::Need(spans.into_iter().map(|span| span.shifted(message.start).unwrap_or(span)).collect()))
        }
        Ok(done) => Ok(done),
        Err(error) => Err(error.shifted(message.start)),
    }
}

/// Those of `spans` that are not at hand.
pub(crate) fn missing(have: &(impl Lookup + ?Sized), spans: impl IntoIterator<Item = Span>) -> Vec<Span> {
    spans.into_iter().filter(|span| have.lookup(*span).is_none()).collect()
}
