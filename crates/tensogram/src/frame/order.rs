//! The rules of order: phases only move forward, and a preceder stands right before its object (TG-4.6, TG-10).

use super::FrameRef;
use super::walk::unknown_type;
use crate::error::{Fault, Result, TensogramError};
use crate::wire::{FrameContent, Phase};
use fw_bytes::{Detail, ParseError};

/// Keeps the rules while frames are met one after the other.
#[derive(Clone, Debug)]
pub struct Order {
    phase: Phase,
    preceder: Option<FrameRef>,
}

/// What a frame is, once it is known to be in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// A data object, with the preceder right before it.
    Object(Option<FrameRef>),
    /// A preceder, waiting for its object.
    Preceder,
    /// Metadata of the message.
    Metadata,
    /// Positions of the objects.
    Index,
    /// Digests of the objects.
    Hashes,
}

impl Order {
    /// Before the first frame.
    pub const fn new() -> Self {
        Self { phase: Phase::Header, preceder: None }
    }

    /// Admits the next frame.
    ///
    /// # Errors
    /// A type that version 3 does not have, a frame of an earlier phase, or anything but an object after a preceder.
    pub fn admit(&mut self, frame: &FrameRef) -> Result<Placed> {
        let frame_type = frame.frame_type();
        let Some(known) = frame_type.known() else { return Err(unknown_type(frame_type, frame.start())) };
        let phase = known.phase();
        if phase < self.phase {
            let message = format!("frame of {frame_type} after the {:?} phase", self.phase);
            let fault = Fault::format("frame_order_violation", message).at(frame.start());
            return Err(TensogramError::Framing(fault));
        }
        self.phase = phase;
        let content = known.content();
        let preceder = self.preceder.take();
        if let Some(preceder) = &preceder
            && content != FrameContent::Object
        {
            return Err(dangling(preceder));
        }
        Ok(match content {
            FrameContent::Object => Placed::Object(preceder),
            FrameContent::Preceder => {
                self.preceder = Some(*frame);
                Placed::Preceder
            }
            FrameContent::Metadata => Placed::Metadata,
            FrameContent::Index => Placed::Index,
            FrameContent::Hashes => Placed::Hashes,
        })
    }

    /// After the last frame.
    ///
    /// # Errors
    /// A preceder whose object never came.
    pub fn finish(&self) -> Result<()> {
        self.preceder.as_ref().map_or(Ok(()), |preceder| Err(dangling(preceder)))
    }
}

impl Default for Order {
    fn default() -> Self {
        Self::new()
    }
}

fn dangling(preceder: &FrameRef) -> TensogramError {
    let expected = Detail::Text("a data object directly after it");
    ParseError::value("preceder_not_followed_by_object", "preceder", expected, Detail::None, preceder.start()).into()
}
