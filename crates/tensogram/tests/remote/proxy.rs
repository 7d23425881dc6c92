//! Stands before a real server: counts requests and bytes, delays answers, breaks some on order.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happens to one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Break {
    /// Nothing.
    Fine,
    /// The server says this instead.
    Status(u16),
    /// The connection ends without an answer.
    Drop,
    /// The connection ends in the middle of the body.
    Half,
}

#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    requests: AtomicU64,
    bytes: AtomicU64,
    breaks: Mutex<VecDeque<Break>>,
    log: Mutex<Vec<String>>,
}

impl Proxy {
    pub(crate) fn new(upstream: SocketAddr, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            breaks: Mutex::default(),
            log: Mutex::default(),
        });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                std::thread::spawn(move || drop(serve(client, upstream, delay, &shared)));
            }
        });
        Self { address, shared }
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    pub(crate) fn breaks(&self, breaks: &[Break]) {
        *self.shared.breaks.lock().unwrap() = breaks.iter().copied().collect();
    }

    /// Requests and bytes of bodies since the last call.
    pub(crate) fn counted(&self) -> (u64, u64) {
        (self.shared.requests.swap(0, Ordering::SeqCst), self.shared.bytes.swap(0, Ordering::SeqCst))
    }

    /// Headers of the requests so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.shared.log.lock().unwrap().clone()
    }
}

/// One request per connection: ours says so to both sides.
fn serve(mut client: TcpStream, upstream: SocketAddr, delay: Duration, shared: &Shared) -> std::io::Result<()> {
    let (mut head, mut body) = (Vec::new(), Vec::new());
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut byte)? == 0 {
            return Ok(());
        }
        head.push(byte[0]);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<u64>().ok())?
    });
    (&mut client).take(length.unwrap_or(0)).read_to_end(&mut body)?;
    shared.requests.fetch_add(1, Ordering::SeqCst);
    shared.log.lock().unwrap().push(text.clone());
    let fate = shared.breaks.lock().unwrap().pop_front().unwrap_or(Break::Fine);
    std::thread::sleep(delay);
    match fate {
        Break::Status(status) => {
            let answer = format!("HTTP/1.1 {status} broken\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            client.write_all(answer.as_bytes())?;
            return client.shutdown(Shutdown::Both);
        }
        Break::Drop => return client.shutdown(Shutdown::Both),
        Break::Fine | Break::Half => {}
    }
    let mut server = TcpStream::connect(upstream)?;
    let lines = text.trim_end().lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let request = lines.map(|line| format!("{line}\r\n")).collect::<String>() + "Connection: close\r\n\r\n";
    server.write_all(request.as_bytes())?;
    server.write_all(&body)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    let split = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
    let sent = match fate {
        Break::Half => split + (answer.len() - split) / 2,
        _ => answer.len(),
    };
    shared.bytes.fetch_add((sent - split) as u64, Ordering::SeqCst);
    client.write_all(&answer[..sent])?;
    client.shutdown(Shutdown::Both)
}
