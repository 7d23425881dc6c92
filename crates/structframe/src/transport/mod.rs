//! Transports of the standard library: TCP, UDP, and anything that reads and writes. Needs the feature `std`.
//!
//! ```
//! use fw_structframe::transport::{TcpTransport, within};
//! # use fw_structframe::{Client, ClientError, Framing, Layout, Message, MessageError, MessageInfo, Profile, field};
//! # use std::time::Duration;
//! # #[derive(Debug, PartialEq)]
//! # struct Ping(u32);
//! # impl Message for Ping {
//! #     const INFO: MessageInfo = MessageInfo { id: 1, max_size: 4, base_size: 4, min_size: 4, magic: [1, 2] };
//! #     fn encode(&self, _: Layout, out: &mut [u8]) -> Result<usize, MessageError> { field::write_fixed(&self.0, out) }
//! #     fn decode(_: Layout, payload: &[u8]) -> Result<Self, MessageError> {
//! #         Ok(Self(field::read_fixed::<u32, 4>(payload)))
//! #     }
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let echo = std::net::TcpListener::bind("127.0.0.1:0")?;
//! # let address = echo.local_addr()?;
//! # std::thread::spawn(move || {
//! #     let (mut stream, _) = echo.accept().unwrap();
//! #     std::io::copy(&mut stream.try_clone().unwrap(), &mut stream)
//! # });
//! let transport = TcpTransport::connect(address)?;
//! let mut client = Client::new(transport, Profile::Standard.framing(), [Ping::INFO], [[0; 64]; 3]);
//! let answer: Ping = client.request(&Ping(7), |_| true, |_| {}, within(Duration::from_secs(5)))?;
//! assert_eq!(answer, Ping(7));
//! # Ok(())
//! # }
//! ```

mod stream; // anything that reads and writes
mod tcp;
mod udp;

pub use stream::StreamTransport;
pub use tcp::TcpTransport;
pub use udp::UdpTransport;

use std::io;
use std::time::{Duration, Instant};

/// How long one `receive` waits when nothing else was set.
const PATIENCE: Duration = Duration::from_millis(20);

/// How long `send` waits for a peer that does not read.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// True until this time has passed: when [`Client::request`](crate::Client::request) gives up.
pub fn within(time: Duration) -> impl FnMut() -> bool {
    let start = Instant::now();
    move || start.elapsed() < time
}

/// A read that ran into its timeout.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// The end of a connection is an error for a client.
fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the other side closed the connection")
}

/// Sockets take zero for "without end".
fn at_least_one(patience: Duration) -> Option<Duration> {
    Some(patience.max(Duration::from_millis(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Transport;
    use std::net::{TcpListener, UdpSocket};
    use std::vec::Vec;

    /// Receives until `len` bytes are there.
    fn receive_all(transport: &mut impl Transport<Error = io::Error>, len: usize) -> Vec<u8> {
        let (mut all, mut buffer, mut patient) = (Vec::new(), [0; 7], within(Duration::from_secs(5)));
        while all.len() < len {
            assert!(patient(), "{} of {len} bytes came", all.len());
            let count = transport.receive(&mut buffer).unwrap();
            all.extend_from_slice(&buffer[..count]);
        }
        all
    }

    /// The error that comes when no more bytes do.
    fn end_of(transport: &mut impl Transport<Error = io::Error>) -> io::ErrorKind {
        let mut patient = within(Duration::from_secs(5));
        loop {
            match transport.receive(&mut [0; 8]) {
                Ok(0) if patient() => {}
                outcome => return outcome.unwrap_err().kind(),
            }
        }
    }

    #[test]
    fn a_datagram_longer_than_the_buffer_comes_in_pieces() {
        let mut robot = UdpTransport::listen("127.0.0.1:0").unwrap();
        assert_eq!(robot.send(&[1]).unwrap_err().kind(), io::ErrorKind::NotConnected, "nobody has sent anything yet");
        let mut operator = UdpTransport::connect("127.0.0.1:0", robot.local_addr().unwrap()).unwrap();
        let long: Vec<u8> = (0..=255).cycle().take(1500).collect();
        operator.send(&long).unwrap();
        assert_eq!(receive_all(&mut robot, long.len()), long);
        robot.send(b"heard").unwrap();
        assert_eq!(receive_all(&mut operator, 5), b"heard");
    }

    #[test]
    fn a_peer_that_is_not_there_yet_does_not_end_a_udp_link() {
        let place = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut operator = UdpTransport::connect("127.0.0.1:0", place).unwrap();
        for _ in 0..5 {
            operator.send(b"is somebody there?").unwrap();
            assert_eq!(operator.receive(&mut [0; 8]).unwrap(), 0);
        }
        let mut robot = UdpTransport::listen(place).unwrap();
        operator.send(b"now").unwrap();
        assert_eq!(receive_all(&mut robot, 3), b"now");
    }

    #[test]
    fn the_end_of_a_connection_is_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let transport = TcpTransport::connect(listener.local_addr().unwrap()).unwrap();
        let mut transport = transport.with_patience(Duration::ZERO).unwrap();
        let (other, _) = listener.accept().unwrap();
        assert_eq!(transport.receive(&mut [0; 8]).unwrap(), 0, "nothing came");
        drop(other);
        assert_eq!(end_of(&mut transport), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_stream_is_read_ahead_and_ends() {
        let bytes: Vec<u8> = (0..=255).cycle().take(9000).collect();
        let mut out = Vec::new();
        let mut transport = StreamTransport::new(io::Cursor::new(bytes.clone()), &mut out);
        assert_eq!(receive_all(&mut transport, bytes.len()), bytes);
        assert_eq!(end_of(&mut transport), io::ErrorKind::UnexpectedEof);
        transport.send(b"bye").unwrap();
        assert_eq!(out, b"bye");
    }
}
