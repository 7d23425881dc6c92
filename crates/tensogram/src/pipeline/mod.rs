//! Room 5, descriptors to codecs: which codecs an object went through, and running them.

mod decode; // payloads to elements
mod encode; // elements to payloads
mod encoded; // where encoded bytes are found
mod masks; // mask blobs to masks and back
mod objects; // several objects at a time
mod plan; // which codecs, with which parameters
mod range; // parts of payloads to parts of elements

pub use range::SliceCost;

pub(crate) use decode::{
    check_decodes, check_head, check_room, checked_pipeline, decode_into, decode_to_vec, decode_values, in_place,
    is_plain, limited_pipeline, values_for,
};
pub(crate) use encode::{FiniteCheck, Prepared, prepare, prepare_pre_encoded};
pub(crate) use encoded::{Encoded, PARTIAL_PAYLOAD, done, not_at_hand, whole};
pub(crate) use masks::{read_masks, write_masks};
pub(crate) use objects::map_objects;
pub(crate) use plan::pipeline_of;
pub(crate) use range::{decode_ranges, range_spans, slice, slice_cost, slice_spans};
