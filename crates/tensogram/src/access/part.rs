//! Runs and slices of one object: only the bytes its codec needs (TG-12.5).

use super::at_hand::{AtHand, inside};
use super::object::ObjectHead;
use super::{ReadMachine, missing};
use crate::error::Result;
use crate::frame::Lookup;
use crate::options::DecodeOptions;
use crate::pipeline::{self, PARTIAL_PAYLOAD};
use fw_bytes::{Span, Step};
use fw_codec::Pieces;
use fw_source::plan::union;
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
        let spans = pipeline::range_spans(&head.descriptor, head.payload().len(), ranges, options)
            .map_err(|error| head.located(error))?;
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

impl ReadMachine for ReadRanges {
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
        let spans = pipeline::slice_spans(&head.descriptor, head.payload().len(), &selection, options)
            .map_err(|error| head.located(error))?;
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

impl ReadMachine for ReadSlice {
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
        let of_payload: Vec<Span> = match spans {
            None => vec![payload],
            // A payload shorter than its descriptor claims has no such bytes; decoding will say so.
            Some(spans) => spans.iter().filter_map(|span| inside(payload, *span)).collect(),
        };
        // The masks stay apart, even the one that follows the payload without a gap: decoding looks at the payload alone.
        let mut needs = union(&of_payload);
        if masked && options.restore_non_finite {
            needs.extend(head.masks().map(|(_, span)| span).filter(|span| !span.is_empty()));
        }
        Self { needs, head, options: options.clone(), whole }
    }

    fn poll<T, L: Lookup + ?Sized>(
        &mut self,
        have: &L,
        decode: impl FnOnce(&AtHand<'_, L>, &DecodeOptions) -> Result<Step<T>>,
    ) -> Result<Step<T>> {
        let absent = missing(have, self.needs.iter().copied());
        if !absent.is_empty() {
            return Ok(Step::Need(absent));
        }
        let payload = self.head.payload();
        let at_hand = self.needs.iter().filter(|span| payload.contains(**span));
        // Everything needed is there: that was just made sure of.
        let pieces = at_hand.filter_map(|span| Some((span.start.saturating_sub(payload.start), have.lookup(*span)?)));
        let object = AtHand::with_pieces(&self.head, have, Pieces::new(pieces));
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
            Err(error) => Err(self.head.located(error)),
        }
    }
}
