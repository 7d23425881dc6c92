//! Links over loopback sockets and pseudoterminals.

use fw_link::{Address, Batch, Event, Input, InputOptions, Output, OutputOptions, Retry, Wait};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

fn address(text: &str) -> Address {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn input(text: &str) -> Input {
    Input::open(&address(text), &InputOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Connection and bytes of everything that arrives, until there are so many bytes or the link ends; and all events.
fn collect(input: &mut Input, len: usize) -> (Vec<(u32, Vec<u8>)>, Vec<Event>) {
    let (mut batch, mut pieces, mut events, mut have) = (Batch::default(), Vec::new(), Vec::new(), 0);
    let deadline = Instant::now() + PATIENCE;
    while have < len {
        assert!(Instant::now() < deadline, "only {have} of {len} bytes arrived: {events:?}");
        match input.next(&mut batch, Some(Duration::from_millis(200))).unwrap() {
            Wait::End => break,
            Wait::Timeout => continue,
            _ => {}
        }
        events.extend_from_slice(batch.events());
        for chunk in batch.chunks() {
            have += chunk.bytes.len();
            pieces.push((chunk.connection, chunk.bytes.to_vec()));
        }
    }
    (pieces, events)
}

fn joined(pieces: &[(u32, Vec<u8>)]) -> Vec<u8> {
    pieces.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
}

/// Waits until the link ends, and returns what the end was.
fn end(input: &mut Input) -> Result<(), fw_link::LinkError> {
    let mut batch = Batch::default();
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if input.next(&mut batch, Some(Duration::from_millis(200)))? == Wait::End {
            return Ok(());
        }
    }
    panic!("the link does not end");
}

#[test]
fn tcp_there_and_back_with_times() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut input = input(&format!("tcp:{}?retry=never", listener.local_addr().unwrap()));
    let (mut peer, _) = listener.accept().unwrap();
    peer.write_all(b"hello").unwrap();
    let mut batch = Batch::default();
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    while batch.chunks().len() == 0 {
        assert_eq!(input.next(&mut batch, Some(PATIENCE)).unwrap(), Wait::Data);
    }
    let chunk = batch.chunks().next().unwrap();
    assert_eq!((chunk.bytes, chunk.connection), (&b"hello"[..], 0));
    assert!((chunk.time - before).abs() < 60_000_000_000, "{} {before}", chunk.time);
    assert_eq!(input.next(&mut batch, Some(Duration::from_millis(1))).unwrap(), Wait::Timeout);
    drop(peer);
    end(&mut input).unwrap();
    let statistics = input.statistics();
    assert_eq!((statistics.bytes, statistics.connections, statistics.dropped_bytes), (5, 1, 0));
}

/// A peer that leaves and comes back is another connection, and nothing of either is lost.
#[test]
fn tcp_reconnects() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut input = input(&format!("tcp:{}", listener.local_addr().unwrap()));
    for round in 0..3_u8 {
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(&[round; 100]).unwrap();
        drop(peer);
        let (pieces, _) = collect(&mut input, 100);
        assert_eq!(joined(&pieces), [round; 100]);
        assert!(pieces.iter().all(|(connection, _)| *connection == u32::from(round)));
    }
    assert_eq!(input.statistics().connections, 3);
}

/// The first attempt must succeed, unless the address says otherwise; then the link opens as soon as the peer is there.
#[test]
fn first_attempts() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = Input::open(&address(&format!("tcp:{free}")), &InputOptions::default()).unwrap_err();
    assert_eq!(refused.code(), "connection_refused", "{refused}");
    assert!(refused.to_string().starts_with(&format!("tcp:{free}: cannot open the link: ")), "{refused}");
    let mut late = input(&format!("tcp:{free}?retry=forever"));
    let mut batch = Batch::default();
    let mut retried = 0;
    while retried < 2 {
        late.next(&mut batch, Some(PATIENCE)).unwrap();
        retried += batch.events().iter().filter(|event| matches!(event, Event::Retrying(..))).count();
    }
    let listener = TcpListener::bind(free).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    peer.write_all(b"late").unwrap();
    assert_eq!(joined(&collect(&mut late, 4).0), b"late");
    drop((peer, listener));
    let mut hopeless = input(&format!("tcp:{free}?retry=200ms"));
    assert_eq!(end(&mut hopeless).unwrap_err().code(), "connection_refused");
    let unknown = Input::open(&address("serial:/dev/no-such-port"), &InputOptions::default()).unwrap_err();
    assert_eq!(unknown.code(), "not_found");
    let unknown = Input::open(&address("tcp:no-such-host.invalid:1"), &InputOptions::default()).unwrap_err();
    assert_eq!(unknown.code(), "link_unavailable", "{unknown}");
}

/// How long a link is tried again counts from when it broke, not from when it was opened.
#[test]
fn patience_begins_with_the_break() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut input = input(&format!("tcp:{}?retry=1s", listener.local_addr().unwrap()));
    let (peer, _) = listener.accept().unwrap();
    std::thread::sleep(Duration::from_millis(1300));
    drop(peer);
    listener.set_nonblocking(true).unwrap();
    let deadline = Instant::now() + PATIENCE;
    let mut peer = loop {
        match listener.accept() {
            Ok((peer, _)) => break peer,
            Err(_) => assert!(Instant::now() < deadline, "the link was given up"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    peer.write_all(b"again").unwrap();
    assert_eq!(collect(&mut input, 5).0, [(1, b"again".to_vec())]);
}

#[test]
fn tcp_listens_for_one_peer_after_the_other() {
    let mut input = input("tcp-listen:127.0.0.1:0");
    let local = input.local().unwrap();
    for round in 0..2_u8 {
        let mut output = Output::open(&address(&format!("tcp:{local}")), &OutputOptions::default()).unwrap();
        output.send(&[round; 10]).unwrap();
        output.send(&[round; 10]).unwrap();
        assert_eq!(output.finish().unwrap().bytes, 20);
        let (pieces, _) = collect(&mut input, 20);
        assert_eq!(joined(&pieces), [round; 20]);
        assert!(pieces.iter().all(|(connection, _)| *connection == u32::from(round)));
    }
    let busy = Input::open(&address(&format!("tcp-listen:{local}")), &InputOptions::default()).unwrap_err();
    assert_eq!(busy.code(), "address_in_use");
}

/// An output that waits for its peer sends everything from the first byte.
#[test]
fn listening_outputs() {
    let mut output = Output::open(&address("tcp-listen:127.0.0.1:0"), &OutputOptions::default()).unwrap();
    let local = output.local().unwrap();
    let reader = std::thread::spawn(move || {
        let mut read = Vec::new();
        TcpStream::connect(local).unwrap().read_to_end(&mut read).unwrap();
        read
    });
    output.send(b"one").unwrap();
    output.send(b"two").unwrap();
    output.finish().unwrap();
    assert_eq!(reader.join().unwrap(), b"onetwo");
}

/// After the peer left, an output that may retry connects again; one that may not says that the link is lost.
#[test]
fn outputs_reconnect() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = format!("tcp:{}", listener.local_addr().unwrap());
    for retry in [Retry::Never, Retry::Forever] {
        let mut output = Output::open(&address(&text), &OutputOptions::default().with_retry(retry)).unwrap();
        drop(listener.accept().unwrap());
        let deadline = Instant::now() + PATIENCE;
        let failure = loop {
            match output.send(&[7; 1000]) {
                Ok(()) if output.statistics().connections > 1 => break None,
                Ok(()) => assert!(Instant::now() < deadline),
                Err(error) => break Some(error.code()),
            }
        };
        assert_eq!(failure, (retry == Retry::Never).then_some("link_lost"));
    }
}

#[test]
fn udp_keeps_datagrams_apart() {
    let mut input = input("udp:127.0.0.1:0");
    let local = input.local().unwrap();
    let mut output = Output::open(&address(&format!("udp:{local}")), &OutputOptions::default()).unwrap();
    let sent: Vec<Vec<u8>> = (0..50_usize).map(|index| vec![index as u8; index * 20 + 1]).collect();
    for datagram in &sent {
        output.send(datagram).unwrap();
    }
    output.send(&vec![9; 60_000]).unwrap();
    let (pieces, _) = collect(&mut input, sent.iter().map(Vec::len).sum::<usize>() + 60_000);
    let pieces: Vec<Vec<u8>> = pieces.into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(pieces[..50], sent);
    assert_eq!(pieces[50], vec![9; 60_000]);
    // An empty datagram is a piece, too.
    UdpSocket::bind("127.0.0.1:0").unwrap().send_to(&[], local).unwrap();
    let mut batch = Batch::default();
    assert_eq!(input.next(&mut batch, Some(PATIENCE)).unwrap(), Wait::Data);
    assert_eq!(batch.chunks().map(|chunk| chunk.bytes.len()).collect::<Vec<_>>(), [0]);
}

/// A consumer that does not read keeps memory bounded: streams wait, datagrams are dropped and counted.
#[test]
fn queues_are_bounded() {
    let options = InputOptions::default().with_capacity(300_000);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = format!("tcp:{}?retry=never", listener.local_addr().unwrap());
    let mut input = Input::open(&address(&text), &options).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    const LEN: usize = 32 << 20;
    let writer = std::thread::spawn(move || peer.write_all(&vec![5; LEN]).unwrap());
    std::thread::sleep(Duration::from_millis(300));
    assert!(input.statistics().bytes < 1_000_000, "{:?}", input.statistics());
    let (pieces, _) = collect(&mut input, LEN);
    assert_eq!(joined(&pieces).len(), LEN);
    writer.join().unwrap();
    let statistics = input.statistics();
    assert!(statistics.peak_queued <= 600_000 && statistics.waited > Duration::from_millis(100), "{statistics:?}");

    let mut input = Input::open(&address("udp:127.0.0.1:0"), &options).unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..200 {
        sender.send_to(&[1; 10_000], input.local().unwrap()).unwrap();
        std::thread::sleep(Duration::from_micros(200));
    }
    let deadline = Instant::now() + PATIENCE;
    while input.statistics().dropped_chunks == 0 {
        assert!(Instant::now() < deadline, "{:?}", input.statistics());
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut batch = Batch::default();
    input.next(&mut batch, Some(PATIENCE)).unwrap();
    assert!(batch.dropped() > 0 && batch.bytes().len() <= 600_000);
}

#[test]
fn websockets_there_and_back() {
    let mut input = input("ws-listen:127.0.0.1:0");
    let local = input.local().unwrap();
    let mut output = Output::open(&address(&format!("ws:{local}/data")), &OutputOptions::default()).unwrap();
    for message in [&b"one"[..], b"two", &[3; 100_000]] {
        output.send(message).unwrap();
    }
    let (pieces, events) = collect(&mut input, 100_006);
    let lens: Vec<usize> = pieces.iter().map(|(_, bytes)| bytes.len()).collect();
    assert_eq!(lens, [3, 3, 100_000]);
    assert!(matches!(&events[0], Event::Connected(Some(_))), "{events:?}");
    output.finish().unwrap();
    // The next peer is another connection.
    let mut output = Output::open(&address(&format!("ws:{local}")), &OutputOptions::default()).unwrap();
    output.send(b"again").unwrap();
    assert_eq!(collect(&mut input, 5).0, [(1, b"again".to_vec())]);
}

/// Strangers at a WebSocket door: no handshake, nonsense, a message that is announced far too large.
#[test]
fn hostile_websocket_peers() {
    let mut input = input("ws-listen:127.0.0.1:0");
    let local = input.local().unwrap();
    TcpStream::connect(local).unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    TcpStream::connect(local).unwrap().write_all(&[0xff; 10_000]).unwrap();
    let mut large = TcpStream::connect(local).unwrap();
    let handshake = format!(
        "GET / HTTP/1.1\r\nHost: {local}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    large.write_all(handshake.as_bytes()).unwrap();
    // A binary frame of 2^62 bytes.
    large.write_all(&[0x82, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]).unwrap();
    let mut output = Output::open(&address(&format!("ws:{local}?retry=20s")), &OutputOptions::default()).unwrap();
    output.send(b"fine").unwrap();
    assert_eq!(joined(&collect(&mut input, 4).0), b"fine");
    assert!(input.statistics().peak_queued < 100);
}

/// A pseudoterminal stands for a serial port; when its other side is closed, the port is opened again.
#[cfg(unix)]
#[test]
fn serial_ports() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let mut port = std::fs::File::from(master);
    let mut input = input(&format!("serial:{name}?baud=921600&retry=never"));
    // Every byte value: the port is raw.
    let all: Vec<u8> = (0..=255).collect();
    port.write_all(&all).unwrap();
    assert_eq!(joined(&collect(&mut input, 256).0), all);
    let mut output = Output::open(&address(&format!("serial:{name}")), &OutputOptions::default()).unwrap();
    output.send(&all).unwrap();
    let mut read = vec![0; 256];
    port.read_exact(&mut read).unwrap();
    assert_eq!(read, all);
    drop((output, port));
    end(&mut input).unwrap();
}

#[test]
fn files_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    let text = format!("file:{}", path.display());
    let mut output = Output::open(&address(&text), &OutputOptions::default()).unwrap();
    output.send(&[1; 700_000]).unwrap();
    output.finish().unwrap();
    let mut input = input(&text);
    assert_eq!(joined(&collect(&mut input, usize::MAX).0), [1; 700_000]);
    assert_eq!(Output::open(&address(&text), &OutputOptions::default()).unwrap_err().code(), "link_unavailable");
}

/// An input that nobody wants any more lets go of its socket.
#[test]
fn dropped_inputs_close_their_link() {
    let input = input("tcp-listen:127.0.0.1:0");
    let local = input.local().unwrap();
    drop(input);
    let deadline = Instant::now() + PATIENCE;
    while TcpListener::bind(local).is_err() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    }
}
