//! Messages changed without decoding them: metadata is written anew, object frames move as they are.
//!
//! A [`StoredMessage`] is what a message says and where its object frames stand; payloads are not read. A [`MessagePlan`] is a
//! new message: bytes that are made anew (preamble, metadata, index, digests, postamble) and spans of object frames to copy
//! from wherever they stand. Copying them is the caller's work, so that the system can do it where it is able to.
//!
//! ```
//! use fw_bytes::Span;
//! use fw_tensogram::{MessageBuilder, MessagePlan, MessageView, StoredMessage};
//!
//! let message = MessageBuilder::new().tensor(&[2], &[1.5f32, 2.5])?.base("param", "2t").encode()?;
//! let mut stored = StoredMessage::read(&message[..], Span::new(0, message.len() as u64), &Default::default())?;
//! stored.metadata.base[0].insert("param".to_owned(), "10u".into());
//! let plan = stored.plan()?;
//! let mut edited = Vec::new();
//! plan.write(&message[..], &mut edited)?;
//!
//! let view = MessageView::open(&edited)?;
//! assert_eq!(view.metadata()?.get("param").as_text(), Some("10u"));
//! assert_eq!(view.object(0)?.values::<f32>(), Some(&[1.5, 2.5][..]));
//! # Ok::<(), fw_tensogram::TensogramError>(())
//! ```

mod descriptor; // parameters of an object, changed
mod plan; // a new message: what is made, what is copied
mod recode; // one object through other codecs
mod stored; // what stands where in a message

pub use plan::{DigestFrames, MessagePlan, Piece};
pub use recode::{OpenObject, RecodedFrame};
pub use stored::{StoredMessage, StoredObject};
