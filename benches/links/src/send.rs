//! Paced senders.

use crate::frames::Frames;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// What was sent.
pub(crate) struct Sent {
    pub(crate) bytes: u64,
    pub(crate) frames: u64,
    pub(crate) seconds: f64,
    /// How long the socket did not take bytes that were due.
    pub(crate) blocked: f64,
}

/// Sends frames at a rate of bits per second, a millisecond's worth at a time, and closes the connection.
pub(crate) fn tcp(mut stream: TcpStream, frames: &Frames, rate: f64, time: Duration) -> Sent {
    stream.set_nonblocking(true).expect("set");
    let begun = Instant::now();
    let (mut sent, mut blocked) = (0_u64, Duration::ZERO);
    let turn = frames.bytes.len();
    let mut waiting: Option<Instant> = None;
    while begun.elapsed() < time || !sent.is_multiple_of(frames.len as u64) {
        let over = begun.elapsed() >= time;
        let due = if over {
            sent.next_multiple_of(frames.len as u64)
        } else {
            (begun.elapsed().as_secs_f64() * rate / 8.0) as u64
        };
        if sent >= due {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        let at = (sent % turn as u64) as usize;
        let len = ((due - sent) as usize).min(turn - at);
        match stream.write(&frames.bytes[at..at + len]) {
            Ok(written) => {
                sent += written as u64;
                blocked += waiting.take().map_or(Duration::ZERO, |since| since.elapsed());
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                waiting.get_or_insert_with(Instant::now);
                std::thread::sleep(Duration::from_micros(50));
            }
            Err(error) => panic!("fw closed the connection: {error}"),
        }
    }
    Sent {
        bytes: sent,
        frames: sent / frames.len as u64,
        seconds: begun.elapsed().as_secs_f64(),
        blocked: blocked.as_secs_f64(),
    }
}

/// Sends datagrams of so many frames at a rate of bits per second of frames. The system takes several datagrams at once and sends them
/// one by one, so that the sender is not what is measured.
pub(crate) fn udp(port: u16, frames: &Frames, batch: usize, rate: f64, time: Duration) -> Sent {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.connect(("127.0.0.1", port)).expect("connected");
    let segment = i32::try_from(batch * frames.len).expect("a datagram");
    nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::UdpGsoSegment, &segment).expect("Linux 4.18");
    // Datagrams may begin with any frame of the turn.
    let twice: Vec<u8> = frames.bytes.iter().chain(&frames.bytes).copied().collect();
    let together = TOGETHER.next_multiple_of(batch);
    let len = together * frames.len;
    let begun = Instant::now();
    let (mut sent, mut next) = (0_u64, 0_usize);
    while begun.elapsed() < time {
        let due = (begun.elapsed().as_secs_f64() * rate / 8.0) as u64;
        if sent >= due {
            std::thread::sleep(Duration::from_micros(200));
            continue;
        }
        // After a pause not all at once: a sender on a network has a speed, too.
        for _ in 0..(due - sent).div_ceil(len as u64).min(20) {
            let at = next * frames.len;
            socket.send(&twice[at..at + len]).expect("sent");
            next = (next + together) % 256;
            sent += len as u64;
        }
    }
    Sent { bytes: sent, frames: sent / frames.len as u64, seconds: begun.elapsed().as_secs_f64(), blocked: 0.0 }
}

/// Frames that are handed to the system at once.
const TOGETHER: usize = 40;

/// Datagrams that the system dropped at a port, because nobody fetched them in time.
pub(crate) fn dropped_by_system(port: u16) -> u64 {
    let table = std::fs::read_to_string("/proc/net/udp").expect("the table of sockets");
    let suffix = format!(":{port:04X}");
    let row = table.lines().find(|line| line.split_whitespace().nth(1).is_some_and(|local| local.ends_with(&suffix)));
    row.and_then(|row| row.split_whitespace().last()?.parse().ok()).unwrap_or(0)
}

/// Sends a frame every millisecond and waits for its line; returns how long each took, in seconds.
pub(crate) fn one_by_one(mut stream: TcpStream, frames: &Frames, lines: impl Read, time: Duration) -> Vec<f64> {
    stream.set_nodelay(true).expect("set");
    let (mut lines, mut line, mut times) = (BufReader::new(lines), String::new(), Vec::new());
    let begun = Instant::now();
    for turn in 0.. {
        let due = begun + Duration::from_millis(turn);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if begun.elapsed() >= time {
            break;
        }
        let at = (turn as usize % 256) * frames.len;
        let sent = Instant::now();
        stream.write_all(&frames.bytes[at..at + frames.len]).expect("sent");
        line.clear();
        lines.read_line(&mut line).expect("a line");
        times.push(sent.elapsed().as_secs_f64());
    }
    times
}
