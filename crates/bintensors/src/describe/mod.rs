//! Numbers and text to descriptions: what the header says about tensors (BT-3, BT-4).

mod budget; // what the reference readers would refuse
mod canonical; // is this the writer's own form?
mod carry; // element types the format does not have
mod index; // names to records
mod info; // one tensor, described
mod metadata; // the header as users hold it
mod options; // profiles and limits
mod shape; // dimensions without a heap
mod table; // the header, parsed and checked in one pass
mod user; // the user's own text map

pub use budget::{budget_exceeded_at, readable_by_reference};
pub(crate) use canonical::check as check_canonical;
pub use carry::{Carried, DTYPE_KEY_PREFIX, SHAPE_KEY_PREFIX, carry, logical};
pub(crate) use carry::{carried, type_name};
pub(crate) use index::first_duplicate;
pub use info::TensorInfo;
pub use metadata::{Metadata, OwnedMetadata};
pub use options::{HeaderLimits, Profile, ReadOptions};
pub use shape::Shape;
pub(crate) use table::Table;
pub use user::UserMetadata;
