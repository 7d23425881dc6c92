//! Bytes over TCP.

use fw_structframe::Transport;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A connection that waits at most 20 ms for bytes.
pub struct Tcp(TcpStream);

impl Tcp {
    /// Takes over a connection.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(Duration::from_millis(20)))?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }
}

impl Transport for Tcp {
    type Error = io::Error;

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                Ok(0)
            }
            result => result,
        }
    }
}
