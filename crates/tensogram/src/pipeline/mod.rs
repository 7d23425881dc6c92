//! Room 4, descriptors to codecs: which codecs an object went through, and running them.

mod decode; // payloads to elements
mod encode; // elements to payloads
mod plan; // which codecs
mod range; // parts of payloads to parts of elements

pub(crate) use decode::{check_claim, decode_into, decode_to_vec};
pub(crate) use encode::{Prepared, prepare, prepare_pre_encoded};
pub(crate) use plan::{check_config, first_non_finite};
pub(crate) use range::{decode_ranges, slice};
