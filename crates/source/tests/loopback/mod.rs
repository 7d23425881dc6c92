//! An HTTP server on loopback that logs what it is asked and redirects, refuses or serves ranges as a test says.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What was asked of a server: the head of every request, in lower case.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

/// What a server does with the head of a request.
type Answer = dyn Fn(&str) -> Reply + Send + Sync;

pub(crate) enum Reply {
    /// The file, or the range of it that was asked for.
    File(Arc<Vec<u8>>),
    Redirect(String),
    Status(u16),
    /// Bytes as they are.
    #[allow(dead_code, reason = "not every test has such a server")]
    Raw(&'static str),
    /// A range that never ends to come, one byte per pause.
    #[allow(dead_code, reason = "not every test has such a server")]
    Drip(std::time::Duration),
}

pub(crate) fn serve(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> (SocketAddr, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (log, answer): (Log, Arc<Answer>) = (Log::default(), Arc::new(answer));
    let kept = Arc::clone(&log);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (log, answer) = (Arc::clone(&kept), Arc::clone(&answer));
            std::thread::spawn(move || drop(one(&stream, &log, &*answer)));
        }
    });
    (address, log)
}

fn one(mut stream: &TcpStream, log: &Log, answer: &Answer) -> std::io::Result<()> {
    let mut head = String::new();
    let mut lines = BufReader::new(stream);
    while !head.ends_with("\r\n\r\n") {
        if lines.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let lower = head.to_ascii_lowercase();
    log.lock().expect("the log").push(lower.clone());
    match answer(&lower) {
        Reply::Redirect(to) => {
            write!(stream, "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        Reply::Status(status) => {
            write!(stream, "HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        Reply::Raw(answer) => stream.write_all(answer.as_bytes()),
        Reply::Drip(pause) => {
            let range = lower.lines().find_map(|line| line.strip_prefix("range: bytes=0-"));
            let last = range.and_then(|last| last.parse().ok()).map_or(199_999, |last: usize| last.min(199_999));
            write!(
                stream,
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-{last}/200000\r\nContent-Length: {}\r\nLast-Modified: Wed, 01 Jan 2025 00:00:00 GMT\r\n\r\n",
                last + 1
            )?;
            loop {
                stream.write_all(b"x")?;
                std::thread::sleep(pause);
            }
        }
        Reply::File(bytes) => {
            let range = lower.lines().find_map(|line| line.strip_prefix("range: bytes="));
            let (first, last) = range.and_then(|range| range.split_once('-')).unwrap_or(("0", ""));
            let first: usize = first.parse().expect("a number");
            let end = last.parse().map_or(bytes.len(), |last: usize| last + 1).min(bytes.len());
            let part = &bytes[first..end];
            write!(
                stream,
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{}/{}\r\nContent-Length: {}\r\nETag: \"one\"\r\nLast-Modified: Wed, 01 Jan 2025 00:00:00 GMT\r\nConnection: close\r\n\r\n",
                end - 1,
                bytes.len(),
                part.len()
            )?;
            stream.write_all(part)
        }
    }
}
