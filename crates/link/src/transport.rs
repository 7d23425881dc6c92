//! Sockets, ports and files: opened by address, read into batches, written to.

use crate::address::{Address, Endpoint, Parity, Serial};
use crate::batch::Batch;
use crate::queue::{Closed, Excess, Queue};
use futures_util::{FutureExt, SinkExt, StreamExt};
use serial2_tokio::{CharSize, FlowControl, SerialPort, Settings, StopBits};
use socket2::{SockRef, TcpKeepalive};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{self, Message, protocol::WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config, client_async_with_config};

/// An open link.
pub(crate) enum Transport {
    Tcp(TcpStream),
    /// The socket, and where datagrams are sent to.
    Udp(UdpSocket, Option<SocketAddr>),
    Ws(Box<WebSocketStream<TcpStream>>),
    Serial(SerialPort),
    File(std::fs::File),
    Standard,
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    Out,
}

/// How reading ended.
pub(crate) enum Ended {
    /// The other side closed the link.
    Closed,
    /// The link broke.
    Broken(io::Error),
    /// The consumer is gone.
    Unwanted,
}

/// Opens an address, again and again; listening sockets stay open between peers.
pub(crate) struct Opener {
    address: Address,
    way: Way,
    listener: Option<TcpListener>,
}

impl Opener {
    /// Binds what waits for peers.
    pub(crate) async fn new(address: &Address, way: Way) -> io::Result<Self> {
        let listener = match &address.endpoint {
            Endpoint::TcpListen(host, port) | Endpoint::WsListen(host, port) => {
                Some(TcpListener::bind((any(host), *port)).await?)
            }
            _ => None,
        };
        Ok(Self { address: address.clone(), way, listener })
    }

    /// Where peers connect to.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        self.listener.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// The open link, and who is on the other side.
    pub(crate) async fn open(&self) -> io::Result<(Transport, Option<String>)> {
        match &self.address.endpoint {
            Endpoint::Serial(port) => Ok((Transport::Serial(serial(port)?), None)),
            Endpoint::Tcp(host, port) => {
                let stream = connect(host, *port).await?;
                let peer = stream.peer_addr().ok().map(|peer| peer.to_string());
                Ok((Transport::Tcp(stream), peer))
            }
            Endpoint::Ws(host, port, path) => {
                let stream = connect(host, *port).await?;
                let peer = stream.peer_addr().ok().map(|peer| peer.to_string());
                let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
                let request = format!("ws://{host}:{port}{path}");
                let handshake = client_async_with_config(request, stream, Some(limits()));
                let (socket, _) = patiently(handshake).await?.map_err(ws_error)?;
                Ok((Transport::Ws(Box::new(socket)), peer))
            }
            Endpoint::TcpListen(..) => {
                let (stream, peer) = self.accept().await?;
                Ok((Transport::Tcp(stream), Some(peer)))
            }
            Endpoint::WsListen(..) => {
                let (stream, peer) = self.accept().await?;
                let socket = patiently(accept_async_with_config(stream, Some(limits()))).await?.map_err(ws_error)?;
                Ok((Transport::Ws(Box::new(socket)), Some(peer)))
            }
            Endpoint::Udp(host, port) => udp(host, *port, self.way).await.map(|transport| (transport, None)),
            Endpoint::File(path) => {
                let file = match self.way {
                    Way::In => std::fs::File::open(path)?,
                    Way::Out => std::fs::File::create_new(path)?,
                };
                Ok((Transport::File(file), None))
            }
            Endpoint::Standard => Ok((Transport::Standard, None)),
        }
    }

    async fn accept(&self) -> io::Result<(TcpStream, String)> {
        let listener = self.listener.as_ref().ok_or_else(|| io::Error::other("the address does not listen"))?;
        let (stream, peer) = listener.accept().await?;
        prepare(&stream);
        Ok((stream, peer.to_string()))
    }
}

impl Transport {
    /// Where it receives.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        match self {
            Self::Udp(socket, _) => socket.local_addr().ok(),
            _ => None,
        }
    }

    /// Reads until the link ends.
    pub(crate) async fn read(self, connection: u32, queue: &Queue) -> Ended {
        let ended = match self {
            Self::Tcp(stream) => read_tcp(&stream, connection, queue).await,
            Self::Udp(socket, _) => read_udp(&socket, connection, queue).await,
            Self::Ws(socket) => read_ws(*socket, connection, queue).await,
            Self::Serial(port) => read_serial(&port, connection, queue).await,
            Self::File(file) => read_blocking(file, connection, queue).await,
            Self::Standard => read_blocking(io::stdin(), connection, queue).await,
        };
        match ended {
            Ok(()) => Ended::Closed,
            Err(Stop::Broken(error)) => Ended::Broken(error),
            Err(Stop::Closed) => Ended::Unwanted,
        }
    }

    /// Writes a piece: a datagram or a message where the link has them.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.write_all(bytes).await,
            Self::Udp(socket, Some(peer)) => {
                let sent = socket.send_to(bytes, *peer).await?;
                if sent == bytes.len() { Ok(()) } else { Err(io::Error::other("the datagram was truncated")) }
            }
            Self::Udp(socket, None) => socket.send(bytes).await.map(drop),
            Self::Ws(socket) => socket.send(Message::Binary(bytes.to_vec().into())).await.map_err(ws_error),
            Self::Serial(port) => port.write_all(bytes).await,
            Self::File(file) => file.write_all(bytes),
            Self::Standard => io::stdout().write_all(bytes),
        }
    }

    /// Hands everything to the other side and says goodbye.
    pub(crate) async fn finish(mut self) -> io::Result<()> {
        match &mut self {
            Self::Tcp(stream) => stream.shutdown().await,
            Self::Ws(socket) => match (**socket).close(None).await {
                Ok(()) | Err(tungstenite::Error::ConnectionClosed) => Ok(()),
                Err(error) => Err(ws_error(error)),
            },
            Self::Serial(port) => port.flush().await,
            Self::Standard => io::stdout().flush(),
            Self::Udp(..) | Self::File(_) => Ok(()),
        }
    }
}

enum Stop {
    Broken(io::Error),
    Closed,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

impl From<Closed> for Stop {
    fn from(Closed: Closed) -> Self {
        Self::Closed
    }
}

async fn read_tcp(stream: &TcpStream, connection: u32, queue: &Queue) -> Result<(), Stop> {
    let mut local = Batch::default();
    loop {
        stream.readable().await?;
        match stream.try_read_buf(local.room(STREAM_READ)) {
            Ok(0) => return Ok(()),
            Ok(_) => {
                local.mark(connection);
                queue.push(&mut local, Excess::Wait).await?;
            }
            Err(error) if passes(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

async fn read_udp(socket: &UdpSocket, connection: u32, queue: &Queue) -> Result<(), Stop> {
    let mut local = Batch::default();
    loop {
        socket.readable().await?;
        // All datagrams that are waiting, in one batch.
        loop {
            match socket.try_recv_buf(local.room(MAX_DATAGRAM)) {
                Ok(_) => local.mark(connection),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // What a peer answered to something that this socket never sent is of no interest.
                Err(error) if passes(&error) || error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => {
                    queue.push(&mut local, Excess::Drop).await?;
                    return Err(error.into());
                }
            }
            if local.weight() >= DATAGRAM_BATCH {
                break;
            }
        }
        queue.push(&mut local, Excess::Drop).await?;
    }
}

async fn read_ws(
    mut socket: WebSocketStream<impl AsyncRead + AsyncWrite + Unpin>,
    connection: u32,
    queue: &Queue,
) -> Result<(), Stop> {
    let mut local = Batch::default();
    loop {
        let mut next = socket.next().await;
        loop {
            match next {
                None | Some(Ok(Message::Close(_)) | Err(tungstenite::Error::ConnectionClosed)) => {
                    queue.push(&mut local, Excess::Wait).await?;
                    return Ok(());
                }
                Some(Ok(message)) => {
                    if matches!(message, Message::Binary(_) | Message::Text(_)) {
                        local.push(connection, &message.into_data());
                    }
                }
                Some(Err(error)) => {
                    queue.push(&mut local, Excess::Wait).await?;
                    return Err(ws_error(error).into());
                }
            }
            if local.weight() >= DATAGRAM_BATCH {
                break;
            }
            // Further messages that are complete already.
            match socket.next().now_or_never() {
                Some(message) => next = message,
                None => break,
            }
        }
        queue.push(&mut local, Excess::Wait).await?;
    }
}

async fn read_serial(port: &SerialPort, connection: u32, queue: &Queue) -> Result<(), Stop> {
    let (mut scratch, mut local) = (vec![0; SERIAL_READ], Batch::default());
    loop {
        match port.read(&mut scratch).await {
            Ok(0) => return Ok(()),
            Ok(len) => {
                local.push(connection, scratch.get(..len).unwrap_or_default());
                queue.push(&mut local, Excess::Wait).await?;
            }
            Err(error) if passes(&error) => {}
            // The other side of a pseudoterminal was closed, or an adapter was unplugged.
            Err(error) if error.raw_os_error() == Some(EIO) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The thread has nothing else to do: it may wait in the call.
async fn read_blocking(mut file: impl Read, connection: u32, queue: &Queue) -> Result<(), Stop> {
    let (mut scratch, mut local) = (vec![0; STREAM_READ], Batch::default());
    loop {
        match file.read(&mut scratch) {
            Ok(0) => return Ok(()),
            Ok(len) => {
                local.push(connection, scratch.get(..len).unwrap_or_default());
                queue.push(&mut local, Excess::Wait).await?;
            }
            Err(error) if passes(&error) => {}
            Err(error) if error.raw_os_error() == Some(EIO) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn passes(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = patiently(TcpStream::connect((host, port))).await??;
    prepare(&stream);
    Ok(stream)
}

/// Settings that help where they can be made, and hurt nobody where they cannot.
fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    // A peer that vanished without a word is noticed.
    let _ = SockRef::from(stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
}

async fn udp(host: &str, port: u16, way: Way) -> io::Result<Transport> {
    let resolved = tokio::net::lookup_host((any(host), port)).await?.next();
    let place = resolved.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host has no address"))?;
    let unspecified: IpAddr =
        if place.is_ipv4() { std::net::Ipv4Addr::UNSPECIFIED.into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    if way == Way::Out {
        let socket = UdpSocket::bind((unspecified, 0)).await?;
        socket.set_broadcast(true)?;
        return Ok(Transport::Udp(socket, Some(place)));
    }
    let group = place.ip().is_multicast();
    let socket = UdpSocket::bind(if group { SocketAddr::new(unspecified, port) } else { place }).await?;
    match place.ip() {
        IpAddr::V4(group) if group.is_multicast() => {
            socket.join_multicast_v4(group, std::net::Ipv4Addr::UNSPECIFIED)?;
        }
        IpAddr::V6(group) if group.is_multicast() => socket.join_multicast_v6(&group, 0)?,
        _ => {}
    }
    // The system grants as much of it as it allows.
    let _ = SockRef::from(&socket).set_recv_buffer_size(DATAGRAM_BUFFER);
    Ok(Transport::Udp(socket, None))
}

fn serial(port: &Serial) -> io::Result<SerialPort> {
    SerialPort::open(&port.path, |mut settings: Settings| {
        settings.set_raw();
        if let Some(baud) = port.baud {
            settings.set_baud_rate(baud)?;
        }
        settings.set_char_size(match port.data {
            5 => CharSize::Bits5,
            6 => CharSize::Bits6,
            7 => CharSize::Bits7,
            _ => CharSize::Bits8,
        });
        settings.set_parity(match port.parity {
            Parity::None => serial2_tokio::Parity::None,
            Parity::Odd => serial2_tokio::Parity::Odd,
            Parity::Even => serial2_tokio::Parity::Even,
        });
        settings.set_stop_bits(if port.stop == 2 { StopBits::Two } else { StopBits::One });
        settings.set_flow_control(if port.hardware_flow { FlowControl::RtsCts } else { FlowControl::None });
        Ok(settings)
    })
}

/// Nobody waits for ever for a peer that does not answer.
async fn patiently<T>(work: impl Future<Output = T>) -> io::Result<T> {
    timeout(PATIENCE, work).await.map_err(|_| {
        io::Error::new(
            io::ErrorKind::TimedOut,
            format!("the other side did not answer within {} s", PATIENCE.as_secs()),
        )
    })
}

/// Reads what a WebSocket peer would send, without a socket: with `greet` its handshake first. For tests.
#[cfg(feature = "testing")]
pub(crate) fn read_peer(role: tungstenite::protocol::Role, greet: bool, bytes: &[u8], queue: &Queue) {
    use tungstenite::protocol::Role;
    // A peer waits for the answer to its handshake before it goes on.
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    let (head, rest) = bytes.split_at(if greet { end } else { 0 });
    let stream = tokio::io::join(tokio::io::AsyncReadExt::chain(head, rest), tokio::io::sink());
    let work = async {
        let socket = match (role, greet) {
            (Role::Server, true) => accept_async_with_config(stream, Some(limits())).await,
            (Role::Client, true) => {
                client_async_with_config("ws://robot:80/", stream, Some(limits())).await.map(|(socket, _)| socket)
            }
            (role, false) => Ok(WebSocketStream::from_raw_socket(stream, role, Some(limits())).await),
        };
        if let Ok(socket) = socket {
            let _ = read_ws(socket, 0, queue).await;
        }
    };
    // All bytes are there, so that nothing is ever waited for.
    assert!(work.now_or_never().is_some(), "a peer that has sent everything is waited for");
}

fn ws_error(error: tungstenite::Error) -> io::Error {
    match error {
        tungstenite::Error::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}

/// Strangers cannot make us take more memory than this.
fn limits() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE))
}

fn any(host: &str) -> &str {
    if host.is_empty() { "0.0.0.0" } else { host }
}

/// Bytes of a stream that are read at a time.
const STREAM_READ: usize = 256 << 10;
const SERIAL_READ: usize = 16 << 10;
/// What a datagram can hold at most.
const MAX_DATAGRAM: usize = 64 << 10;
/// Datagrams that are handed over together.
const DATAGRAM_BATCH: usize = 256 << 10;
/// What the system is asked to hold for us.
const DATAGRAM_BUFFER: usize = 16 << 20;
const MAX_MESSAGE: usize = 16 << 20;
const PATIENCE: Duration = Duration::from_secs(10);
const KEEPALIVE: Duration = Duration::from_secs(15);
/// What Linux answers when nobody holds the other side of a pseudoterminal.
const EIO: i32 = 5;
