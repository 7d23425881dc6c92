//! Frames with their values, one by one.

use super::{CaptureInput, Clock, FrameFilter, Losses, Signal};
use crate::{ConvertError, Loss};
use fw_dynamic::{Codec, FrameCodec, Value, shown_name};
use fw_schema::Schema;
use fw_schema::layout::Message;
use fw_structframe::{Event, Frame, Framing, Header};
use std::collections::BTreeMap;

/// Which frames are read, and how.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CaptureOptions {
    /// The framing; without it, the one that the content shows.
    pub framing: Option<Framing>,
    /// Ids of the messages to read; none is all of them.
    pub messages: Vec<u16>,
    /// Conditions on fields.
    pub filter: Option<FrameFilter>,
    /// A field that holds the time; without it, the time at which the host received the frame.
    pub clock: Option<Clock>,
}

impl CaptureOptions {
    /// Every frame, in the framing that the content shows.
    pub const fn new() -> Self {
        Self { framing: None, messages: Vec::new(), filter: None, clock: None }
    }

    /// Sets the framing.
    #[must_use]
    pub fn with_framing(mut self, framing: impl Into<Option<Framing>>) -> Self {
        self.framing = framing.into();
        self
    }

    /// Reads only messages with these ids; none is all of them.
    #[must_use]
    pub fn with_messages(mut self, ids: impl IntoIterator<Item = u16>) -> Self {
        self.messages = ids.into_iter().collect();
        self
    }

    /// Reads only frames that match.
    #[must_use]
    pub fn with_filter(mut self, filter: impl Into<Option<FrameFilter>>) -> Self {
        self.filter = filter.into();
        self
    }

    /// Takes times from a field.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Into<Option<Clock>>) -> Self {
        self.clock = clock.into();
        self
    }

    /// True when some frames are left out on purpose.
    pub(crate) fn selects(&self) -> bool {
        !self.messages.is_empty() || self.filter.as_ref().is_some_and(|filter| !filter.is_empty())
    }
}

/// A good frame of a known message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameRow<'r, 's> {
    /// Place among all good frames of the capture, from 0.
    pub arrival: u64,
    /// The frame's first byte.
    pub at: u64,
    /// When it arrived or was sent, in nanoseconds since 1970, as far as that is known.
    pub time: Option<u64>,
    /// Effective id.
    pub id: u16,
    /// The message.
    pub message: &'s Message,
    /// Its name, qualified where the bare one would find another.
    pub name: &'r str,
    /// Sequence number, system and component; zeros where the framing does not have them.
    pub header: Header,
    /// The framing.
    pub framing: Framing,
    /// The message's fields.
    pub values: Value<'s>,
}

/// What a capture came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowTotals {
    /// The framing of the capture.
    pub framing: Framing,
    /// Good frames.
    pub frames: u64,
    /// Frames that were handed on.
    pub selected: u64,
    /// Bytes of frames that were handed on.
    pub bytes: u64,
    /// Bytes that are no good frame, frames of unknown ids and payloads that cannot be read. What a filter leaves out is
    /// not lost.
    pub losses: Vec<Loss>,
}

/// Reads a capture from front to back and hands every selected frame of a known message to `take`, in order of arrival. Memory
/// holds a chunk and one frame.
///
/// # Errors
/// When reading fails, no framing fits, and those of `take`, which end the reading.
pub fn each_row(
    mut input: CaptureInput<'_>,
    schema: &Schema,
    options: &CaptureOptions,
    take: &mut dyn FnMut(&FrameRow<'_, '_>) -> Result<(), ConvertError>,
) -> Result<RowTotals, ConvertError> {
    let framing = input.framing(options.framing, schema)?;
    let codec = Codec::new(schema);
    let frames = FrameCodec::new(&codec, framing);
    let mut reader = RowReader::new(&frames, options);
    input.run(&frames, &mut |signal| {
        match signal {
            Signal::Arrived { time, .. } => reader.arrived(time),
            Signal::Event(event) => return reader.event(event, take),
            Signal::Damage(what) => reader.losses.note(what),
        }
        Ok(())
    })?;
    Ok(reader.finish())
}

/// Turns events of a stream into rows: [`each_row`] for inputs that are read by somebody else, such as a live link.
#[derive(Debug)]
pub struct RowReader<'c, 's> {
    frames: &'c FrameCodec<'c, 's>,
    options: &'c CaptureOptions,
    names: BTreeMap<u16, String>,
    /// When the current chunk arrived.
    time: Option<u64>,
    /// The latest time that a field gave: messages without that field take it.
    ticked: Option<u64>,
    count: u64,
    selected: u64,
    bytes: u64,
    losses: Losses,
}

impl<'c, 's> RowReader<'c, 's> {
    /// A reader of such frames.
    pub fn new(frames: &'c FrameCodec<'c, 's>, options: &'c CaptureOptions) -> Self {
        let schema = frames.schema();
        Self {
            frames,
            options,
            names: schema.ids().map(|(id, message)| (id, shown_name(schema, message))).collect(),
            time: None,
            ticked: None,
            count: 0,
            selected: 0,
            bytes: 0,
            losses: Losses::default(),
        }
    }

    /// Says when the bytes arrived from which the next events come, in nanoseconds since 1970.
    pub fn arrived(&mut self, time: Option<u64>) {
        self.time = time;
    }

    /// Takes an event, and hands it to `take` when it is a frame that is selected.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn event(
        &mut self,
        event: &Event<'_>,
        take: &mut dyn FnMut(&FrameRow<'_, '_>) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        match event {
            Event::Frame(frame) => self.frame(frame, take),
            other => {
                self.losses.add(other);
                Ok(())
            }
        }
    }

    /// What it came to.
    pub fn finish(self) -> RowTotals {
        RowTotals {
            framing: self.frames.framing(),
            frames: self.count,
            selected: self.selected,
            bytes: self.bytes,
            losses: self.losses.finish(),
        }
    }

    fn frame(
        &mut self,
        frame: &Frame<'_>,
        take: &mut dyn FnMut(&FrameRow<'_, '_>) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        let arrival = self.count;
        self.count = self.count.saturating_add(1);
        if !self.options.messages.is_empty() && !self.options.messages.contains(&frame.id) {
            // Its clock counts for the others all the same.
            if self.options.clock.is_some()
                && let Ok(values) = self.frames.decode(frame)
            {
                self.tick(&values);
            }
            return Ok(());
        }
        let (Some(message), Some(name)) = (self.frames.schema().by_id(frame.id), self.names.get(&frame.id)) else {
            if !self.options.selects() {
                self.losses.leave_out(&format!("a frame of the unknown id {}", frame.id));
            }
            return Ok(());
        };
        let values = match self.frames.decode(frame) {
            Ok(values) => values,
            Err(error) => {
                self.losses.leave_out(&format!("a payload of {name} that cannot be read: {}", error.code));
                return Ok(());
            }
        };
        if let Some(clock) = &self.options.clock {
            self.ticked = clock.nanoseconds(&values).or(self.ticked);
        }
        let row = FrameRow {
            arrival,
            at: frame.span.start,
            time: if self.options.clock.is_some() { self.ticked } else { self.time },
            id: frame.id,
            message,
            name,
            header: frame.header,
            framing: self.frames.framing(),
            values,
        };
        if self.options.filter.as_ref().is_some_and(|filter| !filter.matches(&row)) {
            return Ok(());
        }
        take(&row)?;
        self.selected = self.selected.saturating_add(1);
        self.bytes = self.bytes.saturating_add(frame.span.len());
        Ok(())
    }

    fn tick(&mut self, values: &Value<'_>) {
        if let Some(clock) = &self.options.clock {
            self.ticked = clock.nanoseconds(values).or(self.ticked);
        }
    }
}
