//! A source that counts what is read from it, and fails when it is told to.
#![allow(dead_code, reason = "each test file uses its own part")]

use fw_source::ReadAt;
use std::cell::Cell;
use std::io;

/// Bytes in memory, with a count of the reads.
pub(crate) struct Counting<'a> {
    bytes: &'a [u8],
    calls: Cell<u64>,
    read: Cell<u64>,
    /// The call that fails, counted from zero; asking for the length is a call too.
    fail_at: Option<u64>,
}

impl<'a> Counting<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, calls: Cell::new(0), read: Cell::new(0), fail_at: None }
    }

    pub(crate) fn failing_at(bytes: &'a [u8], call: u64) -> Self {
        Self { fail_at: Some(call), ..Self::new(bytes) }
    }

    /// Calls so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.get()
    }

    /// Bytes read so far.
    pub(crate) fn read(&self) -> u64 {
        self.read.get()
    }

    fn call(&self) -> io::Result<()> {
        let call = self.calls.replace(self.calls.get() + 1);
        match self.fail_at {
            Some(at) if at == call => Err(io::Error::other(format!("injected at call {call}"))),
            _ => Ok(()),
        }
    }
}

impl ReadAt for Counting<'_> {
    fn len(&self) -> io::Result<u64> {
        self.call()?;
        Ok(self.bytes.len() as u64)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.call()?;
        self.read.set(self.read.get() + buffer.len() as u64);
        self.bytes.read_exact_at(offset, buffer)
    }
}
