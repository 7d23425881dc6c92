//! The encoded bytes of an object, as far as they were fetched.

use super::object::ObjectHead;
use crate::describe::{DataObjectDescriptor, MaskDescriptor};
use crate::error::Result;
use crate::frame::Lookup;
use crate::pipeline::{Encoded, not_at_hand};
use fw_bytes::Span;
use fw_codec::{Pieces, Window};

/// An object of which some bytes are at hand.
pub(crate) struct AtHand<'h, L: ?Sized> {
    head: &'h ObjectHead,
    have: &'h L,
    /// What was asked for of the payload, by position in it.
    pieces: Pieces<'h>,
}

impl<'h, L: Lookup + ?Sized> AtHand<'h, L> {
    /// An object whose whole frame is at hand.
    pub(crate) fn new(head: &'h ObjectHead, have: &'h L) -> Self {
        Self::with_pieces(head, have, Pieces::new([]))
    }

    /// An object of which these pieces of the payload are at hand, by position in it.
    pub(crate) const fn with_pieces(head: &'h ObjectHead, have: &'h L, pieces: Pieces<'h>) -> Self {
        Self { head, have, pieces }
    }
}

impl<L: Lookup + ?Sized> Encoded for AtHand<'_, L> {
    fn descriptor(&self) -> &DataObjectDescriptor {
        &self.head.descriptor
    }

    fn payload_len(&self) -> u64 {
        self.head.payload().len()
    }

    fn window(&self, span: Option<Span>) -> Result<Window<'_>> {
        let payload = self.head.payload();
        let total_len = payload.len();
        if let Some(bytes) = self.whole_payload() {
            return Ok(Window::part(bytes, 0, total_len));
        }
        let Some(span) = span else { return Ok(Window::scattered(&self.pieces, total_len)) };
        if span.is_empty() {
            return Ok(Window::part(&[], span.start, total_len));
        }
        let Some(place) = inside(payload, span) else { return Ok(Window::part(&[], 0, total_len)) };
        let bytes = self.have.lookup(place).ok_or_else(|| not_at_hand(span))?;
        Ok(Window::part(bytes, span.start, total_len))
    }

    fn whole_payload(&self) -> Option<&[u8]> {
        let payload = self.head.payload();
        if payload.is_empty() { Some(&[]) } else { self.have.lookup(payload) }
    }

    fn mask_blob(&self, mask: &MaskDescriptor) -> Result<&[u8]> {
        let span = self.head.mask(mask);
        if span.is_empty() {
            return Ok(&[]);
        }
        self.have.lookup(span).ok_or_else(|| not_at_hand(span))
    }
}

/// A span of the payload as a place in the source, when the payload has it.
pub(super) fn inside(payload: Span, span: Span) -> Option<Span> {
    span.shifted(payload.start).filter(|place| payload.contains(*place))
}
