//! What can be told about a message without decoding it, damaged or not: the view behind listings.

use super::structure::Structure;
use super::{ValidateOptions, metadata};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::Result;
use crate::frame::{FrameRef, ObjectParts};
use crate::message::{merged, metadata_of, preceder_entry};
use crate::wire::{FrameType, Preamble};
use fw_report::Report;

/// A message as far as it can be followed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Survey {
    /// The preamble, unless not even that can be read.
    pub preamble: Option<Preamble>,
    /// The metadata of a full decode, or why there is none.
    pub metadata: Result<GlobalMetadata>,
    /// The data objects, in order.
    pub objects: Vec<SurveyedObject>,
    /// What is wrong with the structure; unknown frames are listed here and stepped over.
    pub report: Report,
}

/// One data object of a [`Survey`].
#[derive(Debug)]
#[non_exhaustive]
pub struct SurveyedObject {
    /// Its frame.
    pub frame: FrameRef,
    /// Where descriptor and payload region stand in the message.
    pub parts: ObjectParts,
    /// Its descriptor, or why it cannot be read.
    pub descriptor: Result<DataObjectDescriptor>,
}

#[cfg(feature = "remote")]
impl Survey {
    /// What was read of a message part by part. An object whose head cannot be read has no place to show.
    pub(crate) fn of_parts(
        preamble: Option<Preamble>,
        metadata: Result<GlobalMetadata>,
        heads: Vec<Result<crate::read::access::ObjectHead>>,
    ) -> Self {
        use fw_report::{Finding, Severity};
        let mut report = Report::new();
        let mut objects = Vec::new();
        for head in heads {
            match head {
                Ok(head) => objects.push(SurveyedObject {
                    frame: head.frame,
                    parts: head.parts,
                    descriptor: Ok(head.descriptor),
                }),
                Err(error) => report.push(Finding::new(Severity::Error, error.code(), error.to_string())),
            }
        }
        Self { preamble, metadata, objects, report }
    }
}

/// Follows a message as far as it goes, and reads metadata and descriptors.
pub fn survey(message: &[u8]) -> Survey {
    let options = ValidateOptions::default();
    let mut report = Report::new();
    let Some(structure) = Structure::read(message, &mut report) else {
        let metadata = crate::read::decode_metadata(message);
        return Survey { preamble: Preamble::read(message, 0).ok(), metadata, objects: Vec::new(), report };
    };
    let objects = structure
        .objects
        .iter()
        .map(|object| SurveyedObject {
            frame: object.frame,
            parts: object.parts,
            descriptor: metadata::descriptor_of(&structure, object, &options),
        })
        .collect();
    let metadata = assembled(&structure, &options);
    Survey { preamble: Some(structure.preamble), metadata, objects, report }
}

/// The last metadata frame with the preceders merged in.
fn assembled(structure: &Structure<'_>, options: &ValidateOptions) -> Result<GlobalMetadata> {
    let frames = structure.others.iter();
    let is_metadata =
        |frame: &&FrameRef| matches!(frame.frame_type(), FrameType::HEADER_METADATA | FrameType::FOOTER_METADATA);
    let last = frames.clone().rfind(is_metadata);
    let mut last = last.map(|frame| metadata_of(structure.message, frame, &options.limits)).transpose()?;
    if let Some(metadata) = &mut last {
        // Objects may be missing; their entries are still worth showing.
        let count = metadata.base.len().max(structure.objects.len());
        metadata.base.resize_with(count, Default::default);
    }
    let count = last.as_ref().map_or(0, |metadata| metadata.base.len());
    let mut preceders = vec![Default::default(); count];
    for preceder in frames.filter(|frame| frame.frame_type() == FrameType::PRECEDER_METADATA) {
        let object = structure.objects.iter().position(|object| object.frame.start() > preceder.start());
        if let Some(slot) = object.and_then(|index| preceders.get_mut(index)) {
            *slot = preceder_entry(structure.message, preceder, &options.limits)?;
        }
    }
    merged(last, preceders)
}
