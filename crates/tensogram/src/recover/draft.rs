//! What is known of a damaged message while its frames are found one after the other.

use crate::describe::{DataObjectDescriptor, GlobalMetadata, HashList, Index, MetadataMap, digest_text};
use crate::frame::FrameRef;
use crate::wire::{FrameContent, FrameType, KnownFrame, MessageFlags, POSTAMBLE_LEN, PREAMBLE_LEN, Phase, Preamble};
use fw_bytes::Span;

/// Frames that belong together, as far as one can tell.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// Where its preamble stands, when that was found.
    pub(super) start: Option<u64>,
    /// Everything from the first to the last byte that was recognised.
    pub(super) extent: Option<Span>,
    /// The metadata that counts.
    pub(super) metadata: Option<GlobalMetadata>,
    /// Whether that metadata is the one written last, with everything merged.
    pub(super) from_footer: bool,
    /// Whether its metadata was written once more behind the objects.
    pub(super) streamed: bool,
    /// Where its preamble stood.
    pub(super) damaged_preamble: Option<Span>,
    /// Where its objects stand, as its index has it.
    pub(super) index: Option<Vec<Span>>,
    /// The digests of its objects.
    pub(super) hashes: Option<Vec<String>>,
    /// The objects that were found.
    pub(super) objects: Vec<DraftObject>,
    /// Bytes between recognised frames that could not be used.
    pub(super) holes: Vec<Span>,
    /// Frames with nothing to verify them by, which the options leave out.
    pub(super) unverified: Vec<FrameRef>,
    /// Where it ends by its preamble.
    claimed_end: Option<u64>,
    /// Where the first frame stands.
    first_frame: Option<u64>,
    /// Whether that is the header metadata.
    from_header: bool,
    /// Whether an index or a hash list stands before the objects.
    lists_first: bool,
    /// How many objects the index lists.
    index_count: Option<usize>,
    phase: Option<Phase>,
    preceder: Option<(FrameRef, MetadataMap)>,
}

/// One object that was found.
#[derive(Debug)]
pub(super) struct DraftObject {
    pub(super) frame: FrameRef,
    pub(super) descriptor: DataObjectDescriptor,
    pub(super) digest: Option<u64>,
    pub(super) preceder: MetadataMap,
    /// How many objects were found before it, when nothing was lost up to it.
    in_order: Option<usize>,
}

impl Draft {
    /// A message whose preamble stands at `start`.
    pub(super) fn at(start: u64, preamble: &Preamble) -> Self {
        let extent = Some(Span::new(start, start.saturating_add(PREAMBLE_LEN)));
        let streamed = preamble.flags.contains(MessageFlags::FOOTER_METADATA);
        let claimed_end = preamble.total_length.and_then(|length| start.checked_add(length));
        Self { start: Some(start), extent, streamed, claimed_end, ..Self::default() }
    }

    /// A message whose preamble, from `start` to the first frame, is damaged.
    pub(super) fn begins_damaged(&mut self, start: u64) {
        if let Some(extent) = &mut self.extent
            && start < extent.start
        {
            self.damaged_preamble = Some(Span::new(start, extent.start));
            extent.start = start;
        }
    }

    /// Whether a frame can belong to this message: phases only move forward, and what the preamble and a verified index
    /// say about the end of the message holds.
    pub(super) fn admits(&self, frame: &FrameRef) -> bool {
        let frame_type = frame.frame_type();
        let Some(known) = frame_type.known() else { return false };
        let again = match known {
            KnownFrame::HeaderMetadata => self.first_frame.is_some(),
            // A message has its lists before its objects or after them.
            KnownFrame::FooterIndex | KnownFrame::FooterMetadata => self.lists_first,
            KnownFrame::HeaderIndex
            | KnownFrame::HeaderHash
            | KnownFrame::FooterHash
            | KnownFrame::PrecederMetadata
            | KnownFrame::DataObject => false,
        };
        let last = self.index.as_ref().filter(|_| self.start.is_some()).and_then(|index| index.last());
        let in_body = known.phase() == Phase::Body;
        let behind = self.claimed_end.is_some_and(|end| frame.start() >= end)
            || in_body && last.is_some_and(|last| frame.start() >= last.end);
        Some(known.phase()) >= self.phase && !again && !behind
    }

    /// Notes where a frame stands, and what was passed over to reach it.
    pub(super) fn note(&mut self, frame: &FrameRef) {
        if self.first_frame.is_none() {
            self.first_frame = Some(frame.start());
            self.from_header = frame.frame_type() == FrameType::HEADER_METADATA;
        }
        self.phase = self.phase.max(frame.frame_type().phase());
        self.lists_first |= matches!(frame.frame_type(), FrameType::HEADER_INDEX | FrameType::HEADER_HASH);
        self.cover(frame.span());
    }

    /// Notes recognised bytes; a gap of padding before them is none.
    pub(super) fn cover(&mut self, span: Span) {
        let extent = self.extent.get_or_insert(span);
        if span.start.saturating_sub(extent.end) >= 8 {
            self.holes.push(Span::new(extent.end, span.start));
        }
        extent.end = extent.end.max(span.end);
    }

    pub(super) fn take_preceder(&mut self, frame: FrameRef, entry: MetadataMap) {
        self.preceder = Some((frame, entry));
    }

    pub(super) fn take_metadata(&mut self, frame: &FrameRef, metadata: GlobalMetadata) {
        let in_footer = frame.frame_type() == FrameType::FOOTER_METADATA;
        if in_footer || !self.from_footer {
            self.metadata = Some(metadata);
            self.from_footer = in_footer;
        }
    }

    pub(super) fn take_index(&mut self, frame: &FrameRef, index: &Index) {
        self.streamed |= frame.frame_type() == FrameType::FOOTER_INDEX;
        self.index_count = Some(index.offsets.len());
        // Without a preamble: header metadata is the first frame, and stands right behind it.
        let guess = || self.first_frame.filter(|_| self.from_header).and_then(|first| first.checked_sub(PREAMBLE_LEN));
        let Some(start) = self.start.or_else(guess) else { return };
        let spans = index.offsets.iter().zip(&index.lengths);
        self.index = spans.map(|(offset, length)| Span::sized(start.checked_add(*offset)?, *length)).collect();
    }

    pub(super) fn take_hashes(&mut self, list: HashList) {
        self.hashes.get_or_insert(list.hashes);
    }

    pub(super) fn take_object(&mut self, frame: FrameRef, descriptor: DataObjectDescriptor, digest: Option<u64>) {
        let preceder = match self.preceder.take() {
            // Only right behind it: anything in between may have been its object.
            Some((preceder, entry))
                if preceder.next_start() == Some(frame.start()) || preceder.end() == frame.start() =>
            {
                entry
            }
            _ => MetadataMap::new(),
        };
        let from_the_start = self.start.is_some() || self.from_header;
        let whole = from_the_start && self.holes.is_empty() && self.unverified.is_empty();
        let in_order = whole.then_some(self.objects.len());
        self.objects.push(DraftObject { frame, descriptor, digest, preceder, in_order });
    }

    /// A span of the index that holds `at` in its inside: what looks like a record there is payload.
    pub(super) fn indexed_around(&self, at: u64) -> Option<Span> {
        // Only an index that counts from a preamble that was found is sure enough to hide bytes.
        self.start?;
        self.index.as_ref()?.iter().copied().find(|span| span.start < at && at < span.end)
    }

    /// An index before the objects names others than this frame: it is part of a payload.
    pub(super) fn excludes(&self, frame: &FrameRef) -> bool {
        let Some(index) = self.index.as_ref().filter(|_| self.start.is_some()) else { return false };
        let within = index.last().is_some_and(|last| frame.start() < last.end);
        frame.content() == Some(FrameContent::Object) && within && !index.contains(&frame.span())
    }

    /// How many objects the message had, where something tells.
    pub(super) fn expected_count(&self) -> Option<usize> {
        // An index that does not know what was found is not this message's, or the message is two.
        let found = |index: &&Vec<Span>| self.objects.iter().all(|object| index.contains(&object.frame.span()));
        if self.index.as_ref().is_some_and(|index| !found(&index)) {
            return None;
        }
        let hashes = self.hashes.as_ref().map(Vec::len);
        // Encoders write an entry per object; the header copy of a streamed message may have fewer.
        let base = self.metadata.as_ref().map(|metadata| metadata.base.len()).filter(|count| *count > 0);
        self.index_count.or(hashes).or(base).filter(|count| self.objects.len() <= *count)
    }

    /// Which object of the original message this one was, when that is beyond doubt.
    ///
    /// A hole may hide the end of this message and the beginning of the next, whose lists then stand behind our objects:
    /// such lists are believed only where the digest of the object agrees.
    pub(super) fn number_of(&self, object: &DraftObject) -> Option<usize> {
        let by_index = || self.index.as_ref()?.iter().position(|span| *span == object.frame.span());
        let whole = self.holes.is_empty() && self.unverified.is_empty();
        match (&self.hashes, object.digest.map(digest_text)) {
            (Some(hashes), Some(digest)) => {
                let mut places = hashes.iter().enumerate().filter(|(_, hash)| **hash == digest).map(|(place, _)| place);
                let only = places.next().filter(|_| places.next().is_none());
                // Equal objects are told apart by their places.
                only.or_else(|| by_index().filter(|place| hashes.get(*place) == Some(&digest)))
            }
            _ if self.index.is_some() && (self.lists_first || whole) => by_index(),
            _ if self.index_count.is_none() && self.hashes.is_none() && (!self.from_footer || whole) => object.in_order,
            _ => None,
        }
    }

    /// How far bytes behind its last frame, which ends at `end`, can still be its own: by its preamble, or a postamble.
    pub(super) fn reach(&self, end: u64) -> u64 {
        self.claimed_end.filter(|claimed| *claimed >= end).unwrap_or(end.saturating_add(POSTAMBLE_LEN + 7))
    }

    /// Whether there is anything to write.
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.metadata.is_none()
    }
}
