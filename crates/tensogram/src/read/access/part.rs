//! Runs and slices of one object: only the bytes its codec needs (TG-12.5).

use super::object::ObjectHead;
use super::{Access, missing};
use crate::describe::{DataObjectDescriptor, MaskDescriptor};
use crate::error::Result;
use crate::frame::Lookup;
use crate::pipeline::{self, Encoded, PARTIAL_PAYLOAD, not_at_hand};
use crate::read::DecodeOptions;
use fw_bytes::{Span, Step};
use fw_codec::{Pieces, Window};
use fw_tensor::{Selection, TensorBuf};

/// Runs of elements, `(first, count)` over the flattened tensor; one buffer per run.
///
/// Elements that stand in the payload as they are cost exactly their bytes; codecs with blocks cost the blocks that cover
/// them; other codecs refuse (slice instead, which decodes the whole). Digests are not verified: that would read
/// everything.
#[derive(Clone, Debug)]
pub struct ReadRanges {
    part: Part,
    ranges: Vec<(u64, u64)>,
}

impl ReadRanges {
    /// For an object whose head is known.
    ///
    /// # Errors
    /// A run that reaches past the end; elements or codecs that cannot be cut; limits.
    pub fn new(head: ObjectHead, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<Self> {
        let located = |error: crate::TensogramError| error.on(format!("object[{}]", head.index));
        let spans = pipeline::range_spans(&head.descriptor, head.payload().len(), ranges, options).map_err(located)?;
        let part = Part::new(head, spans, !ranges.is_empty(), options);
        Ok(Self { part, ranges: ranges.to_vec() })
    }

    /// The ranges of the source that a poll needs. Once they are at hand, the next poll decodes, which may be long work,
    /// or asks for more: a codec whose payload holds its own map (blosc2) looks at that first, and others may find that
    /// they need the whole payload after all.
    pub fn needs(&self) -> &[Span] {
        &self.part.needs
    }

    /// What the object is.
    pub const fn head(&self) -> &ObjectHead {
        &self.part.head
    }
}

impl Access for ReadRanges {
    type Output = Vec<Vec<u8>>;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Self::Output>> {
        let ranges = &self.ranges;
        self.part.poll(have, |object, options| pipeline::decode_ranges(object, ranges, options))
    }
}

/// An N-dimensional part of an object, whatever its codec.
#[derive(Clone, Debug)]
pub struct ReadSlice {
    part: Part,
    selection: Selection,
}

impl ReadSlice {
    /// For an object whose head is known.
    ///
    /// # Errors
    /// A selection that does not fit the shape; elements that are no whole bytes; limits.
    pub fn new(head: ObjectHead, selection: Selection, options: &DecodeOptions) -> Result<Self> {
        let located = |error: crate::TensogramError| error.on(format!("object[{}]", head.index));
        let spans =
            pipeline::slice_spans(&head.descriptor, head.payload().len(), &selection, options).map_err(located)?;
        Ok(Self { part: Part::new(head, spans, true, options), selection })
    }

    /// As [`ReadRanges::needs`].
    pub fn needs(&self) -> &[Span] {
        &self.part.needs
    }

    /// What the object is.
    pub const fn head(&self) -> &ObjectHead {
        &self.part.head
    }
}

impl Access for ReadSlice {
    type Output = TensorBuf;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<TensorBuf>> {
        let selection = &self.selection;
        self.part.poll(have, |object, options| pipeline::slice(object, selection, options))
    }
}

/// What both have in common: the bytes to fetch, and what to do when they do not suffice.
#[derive(Clone, Debug)]
struct Part {
    head: ObjectHead,
    options: DecodeOptions,
    /// In the source.
    needs: Vec<Span>,
    /// The whole payload was asked for.
    whole: bool,
}

impl Part {
    fn new(head: ObjectHead, spans: Option<Vec<Span>>, masked: bool, options: &DecodeOptions) -> Self {
        let payload = head.payload();
        let whole = spans.is_none();
        let mut needs: Vec<Span> = match spans {
            None => vec![payload],
            // A payload shorter than its descriptor claims has no such bytes; decoding will say so.
            Some(spans) => spans.iter().filter_map(|span| inside(payload, *span)).collect(),
        };
        if masked && options.restore_non_finite {
            needs.extend(head.masks().map(|(_, span)| span));
        }
        Self { needs: fw_source::coalesce(&needs, 0), head, options: options.clone(), whole }
    }

    fn poll<T, L: Lookup + ?Sized>(
        &mut self,
        have: &L,
        decode: impl FnOnce(&Partial<'_, L>, &DecodeOptions) -> Result<Step<T>>,
    ) -> Result<Step<T>> {
        let absent = missing(have, self.needs.iter().copied());
        if !absent.is_empty() {
            return Ok(Step::Need(absent));
        }
        let payload = self.head.payload();
        let at_hand = self.needs.iter().filter(|span| payload.contains(**span));
        // Everything needed is there: that was just made sure of.
        let pieces = at_hand.filter_map(|span| Some((span.start.saturating_sub(payload.start), have.lookup(*span)?)));
        let object = Partial { head: &self.head, have, pieces: Pieces::new(pieces) };
        match decode(&object, &self.options) {
            Ok(Step::Done(value)) => Ok(Step::Done(value)),
            Ok(Step::Need(spans)) => {
                let more: Vec<Span> = spans.iter().filter_map(|span| inside(payload, *span)).collect();
                self.needs.extend(&more);
                Ok(Step::Need(more))
            }
            Err(error) if error.code() == PARTIAL_PAYLOAD && !self.whole => {
                self.whole = true;
                self.needs.push(payload);
                Ok(Step::need(payload))
            }
            Err(error) => Err(error.on(format!("object[{}]", self.head.index))),
        }
    }
}

/// An object of which some bytes are at hand.
struct Partial<'h, L: ?Sized> {
    head: &'h ObjectHead,
    have: &'h L,
    /// What was asked for of the payload, by position in it.
    pieces: Pieces<'h>,
}

impl<L: Lookup + ?Sized> Encoded for Partial<'_, L> {
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
fn inside(payload: Span, span: Span) -> Option<Span> {
    span.shifted(payload.start).filter(|place| payload.contains(*place))
}
