//! TCP.

use super::{PATIENCE, SEND_TIMEOUT, at_least_one, closed, is_timeout};
use crate::client::Transport;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// A TCP connection. One `receive` waits 20 ms when nothing else was set.
#[derive(Debug)]
pub struct TcpTransport {
    stream: TcpStream,
}

impl TcpTransport {
    /// Connects to a server.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub fn connect(address: impl ToSocketAddrs) -> io::Result<Self> {
        Self::new(TcpStream::connect(address)?)
    }

    /// Takes over a connection.
    ///
    /// # Errors
    /// When its options cannot be set.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(SEND_TIMEOUT))?;
        Self { stream }.with_patience(PATIENCE)
    }

    /// Sets how long one `receive` waits; 1 ms is the shortest.
    ///
    /// # Errors
    /// When the option cannot be set.
    pub fn with_patience(self, patience: Duration) -> io::Result<Self> {
        self.stream.set_read_timeout(at_least_one(patience))?;
        Ok(self)
    }
}

impl Transport for TcpTransport {
    type Error = io::Error;

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stream.read(buffer) {
            Ok(0) if !buffer.is_empty() => Err(closed()),
            Err(error) if is_timeout(&error) => Ok(0),
            outcome => outcome,
        }
    }
}
