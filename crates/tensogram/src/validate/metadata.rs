//! Level 2: can metadata, index, hash lists and descriptors be read, and do they fit the objects?

use super::structure::{ObjectEntry, Structure};
use super::{METADATA, ValidateOptions, from_error, object_path};
use crate::access::frame_bytes;
use crate::describe::{DataObjectDescriptor, GlobalMetadata, HashList, Index, RESERVED, Value, verify_canonical_cbor};
use crate::frame::{FrameRef, Lookup};
use crate::wire::FrameContent;
use fw_bytes::Span;
use fw_codec::chain::{Compression, Encoding, Filter};
use fw_report::{Finding, Report};

pub(super) fn check<L: Lookup + ?Sized>(structure: &Structure<'_, L>, options: &ValidateOptions, report: &mut Report) {
    let mut checker = Checker { structure, options, report };
    if options.canonical {
        checker.canonical_forms();
    }
    // Without readable metadata nothing else at this level has a frame of reference.
    if !checker.metadata_frames() {
        return;
    }
    for frame in &structure.others {
        match frame.content() {
            Some(FrameContent::Index) => checker.index(frame),
            Some(FrameContent::Hashes) => checker.hash_list(frame),
            Some(FrameContent::Preceder) => checker.preceder(frame),
            // Metadata was checked above and objects are checked below; level 1 reported unknown types.
            Some(FrameContent::Metadata | FrameContent::Object) | None => {}
        }
    }
    for (index, object) in structure.objects.iter().enumerate() {
        checker.descriptor(index, object);
    }
}

/// The descriptor of an object, when it can be read.
pub(super) fn descriptor_of<L: Lookup + ?Sized>(
    structure: &Structure<'_, L>,
    object: &ObjectEntry,
    options: &ValidateOptions,
) -> crate::Result<DataObjectDescriptor> {
    let span = object.parts.descriptor;
    DataObjectDescriptor::from_cbor(frame_bytes(structure.message, span)?, span.start, &options.limits)
}

struct Checker<'s, 'm, L: ?Sized> {
    structure: &'s Structure<'m, L>,
    options: &'s ValidateOptions,
    report: &'s mut Report,
}

impl<L: Lookup + ?Sized> Checker<'_, '_, L> {
    fn push(&mut self, finding: Finding) {
        self.report.push(finding.level(METADATA));
    }

    fn body(&self, span: Span) -> &[u8] {
        self.structure.message.lookup(span).unwrap_or(&[])
    }

    fn metadata_frames(&mut self) -> bool {
        let mut readable = true;
        for frame in &self.structure.others {
            if frame.content() != Some(FrameContent::Metadata) {
                continue;
            }
            match GlobalMetadata::from_cbor(self.body(frame.body()), frame.body().start, &self.options.limits) {
                Ok(metadata) => self.base(&metadata, frame),
                Err(error) => {
                    self.push(from_error(FrameContent::Metadata.unreadable_code(), &error, METADATA).at(frame.span()));
                    readable = false;
                }
            }
        }
        readable
    }

    fn base(&mut self, metadata: &GlobalMetadata, frame: &FrameRef) {
        let (entries, objects) = (metadata.base.len(), self.structure.objects.len());
        // The header copy of a stream is written before its objects are known; the footer copy counts.
        if entries > objects && !self.has_later_metadata(frame) {
            let text = format!("{entries} base entries for {objects} objects");
            self.push(Finding::error("base_count_exceeds_objects", text).at(frame.span()));
        }
        for (index, entry) in metadata.base.iter().enumerate() {
            let path = format!("base[{index}].{RESERVED}");
            match entry.get(RESERVED) {
                None => {}
                Some(reserved @ Value::Map(_)) if reserved.member("tensor").is_some() => {}
                Some(Value::Map(_)) => {
                    let text = "provenance of the object lacks its tensor information";
                    self.push(Finding::warning("reserved_missing_tensor", text).at(frame.span()).on(path));
                }
                Some(other) => {
                    let text = format!("expected a map, found {}", other.kind());
                    self.push(Finding::error("reserved_not_a_map", text).at(frame.span()).on(path));
                }
            }
        }
    }

    fn has_later_metadata(&self, frame: &FrameRef) -> bool {
        self.structure
            .others
            .iter()
            .any(|other| other.start() > frame.start() && other.content() == Some(FrameContent::Metadata))
    }

    fn index(&mut self, frame: &FrameRef) {
        let body = frame.body();
        let index = match Index::from_cbor(self.body(body), body.start, &self.options.limits) {
            Ok(index) => index,
            Err(error) => {
                return self.push(from_error(FrameContent::Index.unreadable_code(), &error, METADATA).at(frame.span()));
            }
        };
        let objects = &self.structure.objects;
        if index.offsets.len() != objects.len() {
            let text = format!("index lists {} objects, the message has {}", index.offsets.len(), objects.len());
            self.push(Finding::error("index_count_mismatch", text).at(frame.span()));
        }
        for (i, ((offset, length), object)) in index.offsets.iter().zip(&index.lengths).zip(objects).enumerate() {
            let span = object.frame.span();
            if *offset != span.start {
                let text = format!("the index has byte {offset}, the frame starts at byte {}", span.start);
                let finding = Finding::error("index_offset_mismatch", text).at(frame.span());
                self.push(finding.on(object_path(i)).object(i as u64));
            } else if *length != span.len() {
                let text = format!("the index has {length} bytes, the frame has {}", span.len());
                let finding = Finding::error("index_length_mismatch", text).at(frame.span());
                self.push(finding.on(object_path(i)).object(i as u64));
            }
        }
    }

    fn hash_list(&mut self, frame: &FrameRef) {
        let body = frame.body();
        match HashList::from_cbor(self.body(body), body.start, &self.options.limits) {
            Err(error) => {
                self.push(from_error(FrameContent::Hashes.unreadable_code(), &error, METADATA).at(frame.span()));
            }
            Ok(list) if list.hashes.len() != self.structure.objects.len() => {
                let (entries, objects) = (list.hashes.len(), self.structure.objects.len());
                let text = format!("hash list has {entries} entries, the message has {objects} objects");
                self.push(Finding::error("hash_frame_count_mismatch", text).at(frame.span()));
            }
            Ok(_) => {}
        }
    }

    fn preceder(&mut self, frame: &FrameRef) {
        match GlobalMetadata::from_cbor(self.body(frame.body()), frame.body().start, &self.options.limits) {
            Err(error) => {
                self.push(from_error(FrameContent::Preceder.unreadable_code(), &error, METADATA).at(frame.span()));
            }
            Ok(metadata) if metadata.base.len() != 1 => {
                let text = format!("preceder has {} base entries, expected exactly one", metadata.base.len());
                self.push(Finding::error("preceder_base_count_wrong", text).at(frame.span()));
            }
            Ok(_) => {}
        }
    }

    fn descriptor(&mut self, index: usize, object: &ObjectEntry) {
        let fault = |finding: Finding| finding.at(object.frame.span()).object(index as u64);
        let descriptor = match descriptor_of(self.structure, object, self.options) {
            Ok(descriptor) => descriptor,
            Err(error) => {
                let finding = from_error(FrameContent::Object.unreadable_code(), &error, METADATA);
                let path = match finding.path.as_str() {
                    "" => format!("{}.descriptor", object_path(index)),
                    path => format!("{}.{path}", object_path(index)),
                };
                return self.push(fault(finding).on(path));
            }
        };
        let mut say = |code: &'static str, field: &str, text: String| {
            let path = format!("{}.descriptor.{field}", object_path(index));
            self.report.push(fault(Finding::error(code, text)).on(path).level(METADATA));
        };
        let region_len = object.parts.region.len();
        if descriptor.masks.as_ref().and_then(|masks| masks.first_offset()).is_some_and(|first| first > region_len) {
            let text = format!("a mask begins past the payload region of {region_len} bytes");
            say(FrameContent::Object.unreadable_code(), "masks", text);
        }
        let rank = descriptor.shape.len();
        if descriptor.obj_type.is_empty() {
            say("empty_obj_type", "type", "type of the object is empty".to_owned());
        }
        if descriptor.ndim != rank as u64 {
            say("ndim_shape_mismatch", "ndim", format!("ndim is {}, the shape has {rank} dimensions", descriptor.ndim));
        }
        if descriptor.strides.len() != rank {
            let text = format!("{} strides for {rank} dimensions", descriptor.strides.len());
            say("strides_shape_mismatch", "strides", text);
        }
        if let Err(error) = descriptor.decoded_len() {
            say("shape_overflow", "shape", error.to_string());
        }
        for (code, field, name, known) in [
            ("unknown_encoding", "encoding", &descriptor.encoding, Encoding::NAMES),
            ("unknown_filter", "filter", &descriptor.filter, Filter::NAMES),
            ("unknown_compression", "compression", &descriptor.compression, Compression::NAMES),
        ] {
            if !known.contains(&name.as_str()) {
                say(code, field, format!("unknown name {name:?}, expected one of {}", known.join(", ")));
            }
        }
    }

    fn canonical_forms(&mut self) {
        for frame in &self.structure.others {
            let Some(content) = frame.content() else { continue };
            if let Err(error) = verify_canonical_cbor(self.body(frame.body())) {
                self.push(Finding::warning(content.non_canonical_code(), error.to_string()).at(frame.span()));
            }
        }
        for (index, object) in self.structure.objects.iter().enumerate() {
            if let Err(error) = verify_canonical_cbor(self.body(object.parts.descriptor)) {
                let finding = Finding::warning(FrameContent::Object.non_canonical_code(), error.to_string());
                self.push(finding.at(object.frame.span()).on(object_path(index)).object(index as u64));
            }
        }
    }
}
