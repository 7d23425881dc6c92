//! UDP.

use super::{PATIENCE, SEND_TIMEOUT, at_least_one, is_timeout};
use crate::client::Transport;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::Duration;
use std::vec::Vec;

/// A UDP socket: a frame per datagram. One `receive` waits 20 ms when nothing else was set.
#[derive(Debug)]
pub struct UdpTransport {
    socket: UdpSocket,
    connected: bool,
    last: Option<SocketAddr>,
    datagram: Vec<u8>,
    taken: usize,
    filled: usize,
}

impl UdpTransport {
    /// Talks to one peer: only its datagrams are read.
    ///
    /// # Errors
    /// When the local address is taken or the peer's is unknown.
    pub fn connect(local: impl ToSocketAddrs, peer: impl ToSocketAddrs) -> io::Result<Self> {
        let socket = UdpSocket::bind(local)?;
        socket.connect(peer)?;
        Self::new(socket)
    }

    /// Answers: frames go to the sender of the last datagram.
    ///
    /// # Errors
    /// When the address is taken.
    pub fn listen(local: impl ToSocketAddrs) -> io::Result<Self> {
        Self::new(UdpSocket::bind(local)?)
    }

    /// Takes over a socket, connected to its peer or not.
    ///
    /// # Errors
    /// When its options cannot be set.
    pub fn new(socket: UdpSocket) -> io::Result<Self> {
        socket.set_write_timeout(Some(SEND_TIMEOUT))?;
        let connected = socket.peer_addr().is_ok();
        let datagram = std::vec![0; 1 << 16];
        Self { socket, connected, last: None, datagram, taken: 0, filled: 0 }.with_patience(PATIENCE)
    }

    /// Sets how long one `receive` waits; 1 ms is the shortest.
    ///
    /// # Errors
    /// When the option cannot be set.
    pub fn with_patience(self, patience: Duration) -> io::Result<Self> {
        self.socket.set_read_timeout(at_least_one(patience))?;
        Ok(self)
    }

    /// The local address.
    ///
    /// # Errors
    /// When the system does not know it.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn put(&self, bytes: &[u8]) -> io::Result<()> {
        let sent = match (self.connected, self.last) {
            (true, _) => self.socket.send(bytes),
            (false, Some(peer)) => self.socket.send_to(bytes, peer),
            (false, None) => Err(io::Error::new(io::ErrorKind::NotConnected, "no peer yet: receive a datagram first")),
        };
        sent.map(drop)
    }
}

/// The news that an earlier datagram was not delivered: it says nothing about the one at hand.
fn is_news(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset)
}

impl Transport for UdpTransport {
    type Error = io::Error;

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.put(bytes) {
            Err(error) if is_news(&error) => match self.put(bytes) {
                // As lost as any other datagram that nobody receives.
                Err(error) if is_news(&error) => Ok(()),
                outcome => outcome,
            },
            outcome => outcome,
        }
    }

    /// A datagram longer than `buffer` is handed out in pieces.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.filled {
            match self.socket.recv_from(&mut self.datagram) {
                Ok((len, from)) => {
                    (self.taken, self.filled, self.last) = (0, len, Some(from));
                }
                Err(error) if is_timeout(&error) || is_news(&error) => return Ok(0),
                Err(error) => return Err(error),
            }
        }
        let rest = &self.datagram[self.taken..self.filled];
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        self.taken += len;
        Ok(len)
    }
}
