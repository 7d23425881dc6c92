//! Room 7, the types that callers hold: a message and its objects, borrowed ([`MessageView`], [`ObjectView`]) or owned
//! ([`Message`], [`Object`]).

mod held; // bytes that are borrowed, or shared
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod message; // one message
mod object; // one object
mod origin; // where a message came from
mod whole; // a message in one call

pub use held::MessageBytes;
pub use message::{Message, MessageView};
pub use object::{Object, ObjectView};

pub(crate) use origin::Origin;
pub(crate) use whole::{decode, decode_with_masks, open};
