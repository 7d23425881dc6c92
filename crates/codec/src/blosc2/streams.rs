//! The streams of a block: each says how long it is, and what it is if not compressed bytes.

use super::fault;
use super::view::{Stop, View};

/// The streams of a block, one after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams<'a> {
    view: View<'a>,
    at: u64,
    end: u64,
}

/// A part of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream<'a> {
    /// One byte over and over.
    Run(u8),
    /// The bytes themselves.
    Stored(&'a [u8]),
    /// Bytes for the inner codec, and where they stand.
    Compressed(&'a [u8], u64),
}

impl<'a> Streams<'a> {
    /// The streams from `at` on, all of which end before `end`.
    pub(super) const fn new(view: View<'a>, at: u64, end: u64) -> Self {
        Self { view, at, end }
    }

    /// The next stream, which stands for `len` bytes.
    pub(super) fn next(&mut self, len: usize) -> Result<Stream<'a>, Stop> {
        let size_at = self.at;
        let size = i32::from_le_bytes(self.view.array(size_at, self.end, "stream size")?);
        let body_at = size_at.saturating_add(4);
        let (stream, body_len) = match usize::try_from(size) {
            Ok(0) => (Stream::Run(0), 0),
            Ok(size) if size == len => {
                (Stream::Stored(self.view.take(body_at, size, self.end, "stored stream")?), size)
            }
            // No encoder writes a stream longer than what it stands for. Refusing them keeps the work proportional
            // to the output even when many blocks point at the same bytes.
            Ok(size) if size > len => {
                let message = format!("stream of {size} bytes for {len} decoded bytes");
                return Err(fault("stream_size", size_at, message).into());
            }
            Ok(size) => {
                let bytes = self.view.take(body_at, size, self.end, "compressed stream")?;
                (Stream::Compressed(bytes, body_at), size)
            }
            Err(_) => {
                let [token] = self.view.array(body_at, self.end, "run token")?;
                match (token, u8::try_from(size.unsigned_abs())) {
                    (RUN_TOKEN, Ok(byte)) => (Stream::Run(byte), 1),
                    _ => {
                        let message = format!("stream size {size} with token {token:#04x} is not a run of one byte");
                        return Err(fault("stream_run", size_at, message).into());
                    }
                }
            }
        };
        self.at = body_at.saturating_add(body_len as u64);
        Ok(stream)
    }
}

/// Stands behind the size of a stream that repeats one byte.
pub(super) const RUN_TOKEN: u8 = 1;
