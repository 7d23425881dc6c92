//! The one layout engine: drafts in, offsets, sizes, ids, tags and seeds out.

mod draft; // what the engine is given
mod engine; // sizes and offsets, in dependency order
mod magic; // checksum seeds
mod model; // what consumers read
mod schema; // the whole: lookups and default images

pub use model::{
    DefaultValue, Discriminator, Element, Enum, EnumIndex, EnumValue, Extent, Field, Member, Message, MessageIndex,
    Package, PackageIndex, Scalar, Sizes, Type, Union, UnionWire, Variable,
};
pub use schema::Schema;

pub(crate) use draft::{Draft, DraftField, DraftMember, DraftUnion, WantedTag};
pub use engine::MAX_NESTING;
pub(crate) use engine::lay_out;
