//! The rules of order: phases only move forward, and a preceder stands right before its object (TG-4.6, TG-10).

use super::FrameRef;
use crate::error::{Fault, Result, TensogramError};
use crate::wire::{FrameType, Phase};
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
    /// Metadata, index or hash list.
    Other,
}

impl Order {
    /// Before the first frame.
    pub const fn new() -> Self {
        Self { phase: Phase::Header, preceder: None }
    }

    /// Admits the next frame.
    ///
    /// # Errors
    /// A frame of an earlier phase, or anything but an object behind a preceder.
    pub fn admit(&mut self, frame: &FrameRef) -> Result<Placed> {
        let frame_type = frame.frame_type();
        // The walk refuses types without a phase.
        let phase = frame_type.phase().unwrap_or(self.phase);
        if phase < self.phase {
            let message = format!("frame of {frame_type} stands behind the {:?} phase", self.phase);
            let fault = Fault::format("frame_order_violation", message).at(frame.start());
            return Err(TensogramError::Framing(fault));
        }
        self.phase = phase;
        match (self.preceder.take(), frame_type) {
            (preceder, FrameType::NTENSOR) => Ok(Placed::Object(preceder)),
            (Some(preceder), _) => Err(dangling(&preceder)),
            (None, FrameType::PRECEDER_METADATA) => {
                self.preceder = Some(*frame);
                Ok(Placed::Preceder)
            }
            (None, _) => Ok(Placed::Other),
        }
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
    let expected = Detail::Text("a data object right behind it");
    ParseError::value("preceder_not_followed_by_object", "preceder", expected, Detail::None, preceder.start()).into()
}
