//! The encoded bytes of an object: all of them, or the parts that matter.

use crate::describe::{DataObjectDescriptor, MaskDescriptor};
use crate::error::{Fault, Result, TensogramError};
use fw_bytes::{Span, Step};
use fw_codec::Window;

/// An object whose encoded bytes can be looked at.
pub(crate) trait Encoded {
    /// What the object is.
    fn descriptor(&self) -> &DataObjectDescriptor;

    /// Bytes of the encoded payload, masks excluded.
    fn payload_len(&self) -> u64;

    /// A window on the payload that holds `span` of it; for `None` the whole payload, or all that is at hand of it.
    fn window(&self, span: Option<Span>) -> Result<Window<'_>>;

    /// The whole payload, when all of it is at hand.
    fn whole_payload(&self) -> Option<&[u8]>;

    /// The blob of one mask.
    fn mask_blob(&self, mask: &MaskDescriptor) -> Result<&[u8]>;

    /// Whether the object has masks.
    fn is_masked(&self) -> bool {
        self.descriptor().masks.as_ref().is_some_and(|masks| !masks.is_empty())
    }
}

/// Bytes that were not fetched.
pub(crate) fn not_at_hand(span: Span) -> TensogramError {
    let message = format!("bytes {span} of the object are not available");
    TensogramError::Encoding(Fault::misuse(PARTIAL_PAYLOAD, message))
}

/// The whole payload of an object, for work that needs all of it.
pub(crate) fn whole(object: &impl Encoded) -> Result<&[u8]> {
    object.whole_payload().ok_or_else(|| not_at_hand(Span::new(0, object.payload_len())))
}

/// The result of work on an object that is all at hand, for which nothing more can be asked.
pub(crate) fn done<T>(step: Step<T>) -> Result<T> {
    match step {
        Step::Done(value) => Ok(value),
        Step::Need(spans) => Err(not_at_hand(spans.first().copied().unwrap_or_default())),
    }
}

/// The code of errors that more bytes of the payload would mend.
pub(crate) const PARTIAL_PAYLOAD: &str = "partial_payload";
