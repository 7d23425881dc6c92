//! Which object is which when frames were lost.
//!
//! An index says where every object stands. Without one, objects are counted from the start, and each that was lost shifts
//! those behind it; then the number of entries in the metadata, one per object, says how many were lost.

use super::held::Held;
use super::structure::{ObjectEntry, Structure};
use super::{STRUCTURE, ValidateOptions};
use crate::describe::{GlobalMetadata, Index};
use crate::frame::FrameRef;
use crate::wire::FrameContent;
use fw_bytes::Span;
use fw_report::Finding;
use std::collections::BTreeMap;

/// Gives objects their own numbers as far as these can be known, so that none goes by the name of another; says so where
/// they cannot.
pub(super) fn settle<L: Held + ?Sized>(structure: &mut Structure<'_, L>, options: &ValidateOptions) -> Option<Finding> {
    let Some(listed) = index(structure, options) else {
        let behind = counted_from_the_end(structure, options);
        if let Some((start, shift)) = behind {
            for object in structure.objects.iter_mut().filter(|object| object.frame.start() > start) {
                object.index = object.index.saturating_add(shift);
            }
        }
        return in_doubt(structure, options);
    };
    if listed.len() > structure.object_count {
        let listed: BTreeMap<u64, usize> = listed.iter().enumerate().map(|(place, span)| (span.start, place)).collect();
        let place = |object: &ObjectEntry| listed.get(&object.frame.start()).copied();
        if let Some(places) = structure.objects.iter().map(place).collect::<Option<Vec<_>>>() {
            for (object, place) in structure.objects.iter_mut().zip(places) {
                object.index = place;
            }
        }
    }
    None
}

/// A warning where numbers may be others than those that are shown.
pub(super) fn in_doubt<L: Held + ?Sized>(structure: &Structure<'_, L>, options: &ValidateOptions) -> Option<Finding> {
    let first = structure.gaps.first()?;
    let behind = structure.objects.iter().any(|object| object.frame.start() > first.span.start);
    let known = index(structure, options).is_some()
        || entries(structure, options) == Some(structure.object_count)
        || (structure.gaps.len() == 1 && counted_from_the_end(structure, options).is_some());
    if known || !behind {
        return None;
    }
    let text = format!(
        "a frame may be lost here and there is no index: objects from number {} on may have higher numbers than those shown",
        first.objects_before
    );
    Some(Finding::warning("object_numbers_in_doubt", text).at(first.span).level(STRUCTURE))
}

/// Where the objects are, by the last index that can be read.
fn index<L: Held + ?Sized>(structure: &Structure<'_, L>, options: &ValidateOptions) -> Option<Vec<Span>> {
    let is_index = |frame: &&FrameRef| frame.content() == Some(FrameContent::Index);
    let body = structure.others.iter().rfind(is_index).map(FrameRef::body)?;
    Index::spans(&structure.message.part(body), body.start, &options.limits).ok()
}

/// Objects behind which position have higher numbers, and by how much: all were found from there to the end.
fn counted_from_the_end<L: Held + ?Sized>(
    structure: &Structure<'_, L>,
    options: &ValidateOptions,
) -> Option<(u64, usize)> {
    let last = structure.gaps.last().filter(|_| !structure.is_cut)?;
    let lost = entries(structure, options)?.checked_sub(structure.object_count)?;
    Some((last.span.start, lost)).filter(|_| lost > 0)
}

/// Base entries of the metadata that counts.
fn entries<L: Held + ?Sized>(structure: &Structure<'_, L>, options: &ValidateOptions) -> Option<usize> {
    let is_metadata = |frame: &&FrameRef| frame.content() == Some(FrameContent::Metadata);
    let last = structure.others.iter().rfind(is_metadata)?;
    let body = last.body();
    Some(GlobalMetadata::from_cbor(&structure.message.part(body), body.start, &options.limits).ok()?.base.len())
}
