//! Room 5, the types callers hold: a message that borrows its bytes, and its objects.

mod assemble; // frames to one metadata
mod object; // one object, borrowed
mod view; // one message, borrowed

pub use object::ObjectView;
pub use view::MessageView;

pub(crate) use assemble::{frame_bytes, full_metadata, merged, metadata_of, preceder_entry, verify_frame_hash};
pub(crate) use object::{check_masks, too_large};
pub(crate) use view::ambiguous;
