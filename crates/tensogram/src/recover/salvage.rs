//! Frames out of damaged bytes.

use super::draft::Draft;
use super::find::{Finder, Marker};
use super::frames::{Trust, bytes, frame_at, stored_digest, trust};
use super::{LEVEL, RecoverOptions, Unverified};
use crate::access::check_masks;
use crate::describe::{DataObjectDescriptor, GlobalMetadata, HashList, Index, MetadataMap, RESERVED};
use crate::error::{Result, TensogramError};
use crate::frame::{FrameRef, object_parts};
use crate::pipeline;
use crate::wire::{FrameContent, FrameType, POSTAMBLE_LEN, PREAMBLE_LEN, Postamble, Preamble};
use fw_bytes::Span;
use fw_report::{Finding, Report};
use fw_source::{Buffers, ReadAt, drive};

/// Goes through damaged stretches of a source from front to back.
pub(super) struct Salvage<'s, S: ?Sized> {
    source: &'s S,
    len: u64,
    options: RecoverOptions,
    finder: Finder,
    position: u64,
    /// Bytes of frames that turned out to be damaged which may still be read; keeps hostile files from taking forever.
    budget: u64,
}

impl<'s, S: ReadAt + ?Sized> Salvage<'s, S> {
    pub(super) const fn new(source: &'s S, len: u64, options: RecoverOptions) -> Self {
        let budget = len.saturating_mul(16).saturating_add(1 << 30);
        Self { source, len, options, finder: Finder::new(), position: 0, budget }
    }

    /// One past the last byte that was used.
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// Every message of which something was found in `region`, in order; says what could not be used and belongs to none.
    /// `earlier` messages were found before it.
    ///
    /// A frame may reach into the intact messages behind the region, which are then part of its payload; the region then
    /// goes on to the next of `intact`, the places where those begin.
    pub(super) fn run(
        &mut self,
        mut region: Span,
        earlier: usize,
        intact: &[u64],
        report: &mut Report,
    ) -> Result<Vec<Draft>> {
        let mut drafts: Vec<Draft> = Vec::new();
        let mut open: Option<Draft> = None;
        // One past the last byte that belongs to some message.
        let mut used = region.start;
        self.position = region.start;
        loop {
            if self.position > region.end {
                region.end = intact.iter().copied().find(|start| *start >= self.position).unwrap_or(self.len);
            }
            let Some((at, marker)) = self.finder.find(self.source, self.position, region.end)? else { break };
            self.position = at + 1;
            if let Some(around) = open.as_ref().and_then(|draft| draft.indexed_around(at)) {
                self.position = around.end;
                continue;
            }
            match marker {
                Marker::Preamble => {
                    if let Some(preamble) = self.preamble_at(at)? {
                        close(&mut open, &mut drafts, &mut used, at);
                        lost(&mut used, at, earlier + drafts.len(), report);
                        open = Some(Draft::at(at, &preamble));
                        self.position = at + PREAMBLE_LEN;
                        used = self.position;
                    }
                }
                Marker::Frame => {
                    let Some(frame) = frame_at(self.source, at, self.len)? else { continue };
                    if open.as_ref().is_some_and(|draft| draft.excludes(&frame)) {
                        continue;
                    }
                    if !open.as_ref().is_some_and(|draft| draft.admits(&frame)) {
                        // Another message begins whose preamble is lost; unless the frame cannot be used at all.
                        let mut fresh = Draft::default();
                        if self.take(&frame, &mut fresh)? {
                            // Its preamble stands right before the metadata.
                            let start = if frame.frame_type() == FrameType::HEADER_METADATA {
                                at.saturating_sub(PREAMBLE_LEN).max(used)
                            } else {
                                at
                            };
                            close(&mut open, &mut drafts, &mut used, start);
                            lost(&mut used, start, earlier + drafts.len(), report);
                            fresh.begins_damaged(start);
                            open = Some(fresh);
                            used = self.position;
                        }
                    } else if let Some(draft) = &mut open
                        && self.take(&frame, draft)?
                    {
                        used = self.position;
                    }
                }
                Marker::End => {
                    let postamble = Span::new((at + 8).saturating_sub(POSTAMBLE_LEN), at + 8);
                    if let Some(draft) = &mut open
                        && self.ends(draft, postamble)?
                    {
                        draft.cover(postamble);
                        self.position = postamble.end;
                        used = postamble.end;
                        close(&mut open, &mut drafts, &mut used, postamble.end);
                    }
                }
            }
        }
        close(&mut open, &mut drafts, &mut used, region.end);
        lost(&mut used, region.end, earlier + drafts.len(), report);
        self.position = self.position.max(region.end);
        Ok(drafts)
    }

    fn preamble_at(&self, at: u64) -> Result<Option<Preamble>> {
        if self.len.saturating_sub(at) < PREAMBLE_LEN {
            return Ok(None);
        }
        let head = bytes(self.source, Span::new(at, at + PREAMBLE_LEN))?;
        Ok(Preamble::read(&head, at).ok())
    }

    /// Whether a postamble is the end of the message at hand: right behind its last frame, or where its length says. The
    /// end magic alone may stand in any payload.
    fn ends(&self, draft: &Draft, postamble: Span) -> Result<bool> {
        let Some(extent) = draft.extent.filter(|extent| postamble.start >= extent.end) else { return Ok(false) };
        if postamble.start - extent.end < 8 {
            return Ok(true);
        }
        let mirror = Postamble::read(&bytes(self.source, postamble)?, postamble.start)?.total_length;
        Ok(draft.start.zip(mirror).is_some_and(|(start, length)| start.checked_add(length) == Some(postamble.end)))
    }

    /// Adds a frame to a draft when it can be trusted and read.
    fn take(&mut self, frame: &FrameRef, draft: &mut Draft) -> Result<bool> {
        let frame_len = frame.span().len();
        if frame.has_hash() && frame_len > self.budget {
            return Ok(false);
        }
        let verified = match trust(self.source, frame)? {
            Trust::Verified => true,
            Trust::Unverifiable if self.options.unverified == Unverified::Keep => false,
            Trust::Unverifiable => {
                // Nothing tells a frame without digest from bytes that look like one, unless it stands where one should.
                let expected = draft.extent.is_some_and(|extent| frame.start().saturating_sub(extent.end) < 8);
                if expected {
                    draft.note(frame);
                    draft.unverified.push(*frame);
                    self.position = frame.end();
                }
                return Ok(expected);
            }
            Trust::Damaged => {
                self.budget -= frame_len;
                return Ok(false);
            }
        };
        match self.read(frame, draft, verified) {
            Ok(()) => {
                self.position = frame.end();
                Ok(true)
            }
            Err(error) if error.is_io() => Err(error),
            // Digests do not cover the frame header and the descriptor offset.
            Err(_) => Ok(false),
        }
    }

    fn read(&self, frame: &FrameRef, draft: &mut Draft, verified: bool) -> Result<()> {
        let limits = &self.options.limits;
        let body = frame.body();
        let content = || bytes(self.source, body);
        match frame.content() {
            Some(FrameContent::Metadata) => {
                let metadata = GlobalMetadata::from_cbor(&content()?, body.start, limits)?;
                draft.note(frame);
                // The type is not covered by the digest: a list is not taken for metadata.
                if !is_list(&metadata) {
                    draft.take_metadata(frame, metadata);
                }
            }
            Some(FrameContent::Index) => {
                let index = Index::from_cbor(&content()?, body.start, limits)?;
                draft.note(frame);
                draft.take_index(frame, &index);
            }
            Some(FrameContent::Hashes) => {
                let list = HashList::from_cbor(&content()?, body.start, limits)?;
                draft.note(frame);
                draft.take_hashes(list);
            }
            Some(FrameContent::Preceder) => {
                let mut metadata = GlobalMetadata::from_cbor(&content()?, body.start, limits)?;
                let mut entry: MetadataMap = metadata.base.pop().unwrap_or_default();
                entry.remove(RESERVED);
                draft.note(frame);
                draft.take_preceder(*frame, entry);
            }
            Some(FrameContent::Object) => {
                let descriptor = self.descriptor(frame)?;
                let digest = if verified { Some(stored_digest(self.source, frame)?) } else { None };
                draft.note(frame);
                draft.take_object(*frame, descriptor, digest);
            }
            // `frame_at` returns no frame of a type that version 3 does not have.
            None => {}
        }
        Ok(())
    }

    /// The descriptor of an object, once it and the payload could belong together.
    fn descriptor(&self, frame: &FrameRef) -> Result<DataObjectDescriptor> {
        let parts = drive::<_, TensogramError>(self.source, &mut Buffers::new(), |have| object_parts(frame, have))?;
        let cbor = bytes(self.source, parts.descriptor)?;
        let descriptor = DataObjectDescriptor::from_cbor(&cbor, parts.descriptor.start, &self.options.limits)?;
        check_masks(&descriptor, &parts)?;
        let first_mask = descriptor.masks.as_ref().and_then(|masks| masks.first_offset());
        pipeline::check_head(&descriptor, first_mask.unwrap_or(parts.region.len()))?;
        Ok(descriptor)
    }
}

/// Ends the message at hand before `at`; what follows its last frame and is in its reach was part of it.
fn close(open: &mut Option<Draft>, drafts: &mut Vec<Draft>, used: &mut u64, at: u64) {
    if let Some(mut draft) = open.take() {
        let end = at.min(draft.reach(*used));
        if *used < end {
            draft.holes.push(Span::new(*used, end));
            *used = end;
        }
        drafts.push(draft);
    }
}

/// Reports bytes before `at` that belong to no message; `earlier` ones were found before them.
fn lost(used: &mut u64, at: u64, earlier: usize, report: &mut Report) {
    if *used < at {
        let behind = earlier.checked_sub(1).map_or_else(String::new, |last| format!(" after message {last}"));
        let text = format!("{} bytes{behind} are not part of any readable message", at - *used);
        report.push(Finding::error("unreadable_bytes", text).at(*used..at).level(LEVEL));
    }
    *used = at;
}

/// Whether what parses as metadata is truly an index or a hash list.
fn is_list(metadata: &GlobalMetadata) -> bool {
    let keys: Vec<&str> = metadata.extra.keys().map(String::as_str).collect();
    let bare = metadata.base.is_empty() && metadata.reserved.is_empty();
    bare && (keys == ["algorithm", "hashes"] || keys == ["lengths", "offsets"])
}
