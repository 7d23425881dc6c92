//! Anything that reads and writes: serial ports, pipes, terminals.

use super::{PATIENCE, closed, is_timeout};
use crate::client::Transport;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use std::vec::Vec;

/// How many chunks the reading thread is ahead at most; then it stops reading, and the sender has to wait.
const AHEAD: usize = 16;

/// Anything that reads and writes, also what knows no timeouts: a thread of its own reads.
///
/// For a serial port, open it with a crate of your choice (or as a file, after `stty raw`) and pass two handles of it:
///
/// ```no_run
/// # fn main() -> std::io::Result<()> {
/// use fw_structframe::transport::StreamTransport;
/// use std::fs::File;
///
/// let port = File::options().read(true).write(true).open("/dev/ttyUSB0")?;
/// let transport = StreamTransport::new(port.try_clone()?, port);
/// # Ok(())
/// # }
/// ```
///
/// The thread ends when reading fails or ends, or with the first bytes that arrive after the transport is dropped.
#[derive(Debug)]
pub struct StreamTransport<W> {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    taken: usize,
    output: W,
    patience: Duration,
}

impl<W: Write> StreamTransport<W> {
    /// Starts to read.
    pub fn new(input: impl Read + Send + 'static, output: W) -> Self {
        let (sender, chunks) = sync_channel(AHEAD);
        thread::spawn(move || read_all(input, &sender));
        Self { chunks, chunk: Vec::new(), taken: 0, output, patience: PATIENCE }
    }

    /// Sets how long one `receive` waits.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

fn read_all(mut input: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    let mut buffer = [0; 4096];
    loop {
        let chunk = match input.read(&mut buffer) {
            Ok(0) => return,
            Ok(len) => Ok(buffer[..len].to_vec()),
            Err(error) if is_timeout(&error) => continue,
            Err(error) => Err(error),
        };
        let ended = chunk.is_err();
        if sender.send(chunk).is_err() || ended {
            return;
        }
    }
}

impl<W: Write> Transport for StreamTransport<W> {
    type Error = io::Error;

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.output.flush()
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.chunk.len() {
            match self.chunks.recv_timeout(self.patience) {
                Ok(chunk) => (self.chunk, self.taken) = (chunk?, 0),
                Err(RecvTimeoutError::Timeout) => return Ok(0),
                Err(RecvTimeoutError::Disconnected) => return Err(closed()),
            }
        }
        let rest = &self.chunk[self.taken..];
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        self.taken += len;
        Ok(len)
    }
}
