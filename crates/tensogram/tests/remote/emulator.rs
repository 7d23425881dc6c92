//! Small stores on loopback: objects with versions, and as much HTTP as reading and writing them takes. The dialects of
//! Google's and Azure's stores are in `gcs` and `azure`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a client asks for.
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without percent signs.
    pub(crate) path: String,
    pub(crate) query: BTreeMap<String, String>,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) framing: Framing,
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By its length, said before.
    Length,
    /// In chunks, the last of them empty.
    Chunks,
    /// By the end of the connection, which may have other reasons.
    Close,
}

impl Answer {
    pub(crate) const fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), framing: Framing::Length }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

/// Serves one request per connection, for as long as the tests run.
pub(crate) fn serve(handle: impl Fn(Request) -> Answer + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let handle = Arc::new(handle);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let handle = Arc::clone(&handle);
            std::thread::spawn(move || drop(one(client, &*handle)));
        }
    });
    address
}

fn one(client: TcpStream, handle: &(impl Fn(Request) -> Answer + ?Sized)) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_ascii_whitespace();
    let (Some(method), Some(target)) = (words.next().map(str::to_owned), words.next().map(str::to_owned)) else {
        return Ok(());
    };
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => drop(headers.insert(name.to_ascii_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let query = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (plain(name), plain(value))
    });
    let request = Request { method, path: plain(path), query: query.collect(), headers, body };
    let is_head = request.method == "HEAD";
    let answer = handle(request);
    let mut client = client;
    let mut head = format!("HTTP/1.1 {} said\r\nConnection: close\r\n", answer.status);
    match answer.framing {
        Framing::Length if !answer.headers.iter().any(|(name, _)| *name == "Content-Length") => {
            head += &format!("Content-Length: {}\r\n", answer.body.len());
        }
        Framing::Chunks => head += "Transfer-Encoding: chunked\r\n",
        _ => {}
    }
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    client.write_all((head + "\r\n").as_bytes())?;
    match answer.framing {
        _ if is_head => {}
        Framing::Length | Framing::Close => client.write_all(&answer.body)?,
        Framing::Chunks => {
            for chunk in answer.body.chunks(10_000) {
                write!(client, "{:x}\r\n", chunk.len())?;
                client.write_all(chunk)?;
                client.write_all(b"\r\n")?;
            }
            client.write_all(b"0\r\n\r\n")?;
        }
    }
    client.shutdown(Shutdown::Both)
}

fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let code = more.get(..2).and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = more;
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// What a store holds.
#[derive(Default)]
pub(crate) struct Objects {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, (Vec<u8>, u64)>,
    /// Parts of uploads that are not finished, by upload and part.
    parts: BTreeMap<(String, String), Vec<u8>>,
    count: u64,
}

impl Objects {
    /// Stores an object; its tag.
    pub(crate) fn put(&self, path: &str, bytes: Vec<u8>) -> String {
        let mut state = self.state.lock().unwrap();
        state.count += 1;
        let count = state.count;
        state.objects.insert(path.to_owned(), (bytes, count));
        tag(count)
    }

    /// Keeps a part; its tag.
    pub(crate) fn put_part(&self, upload: &str, part: &str, bytes: Vec<u8>) -> String {
        let mut state = self.state.lock().unwrap();
        let digest = bytes.iter().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        state.parts.insert((upload.to_owned(), part.to_owned()), bytes);
        format!("\"part-{digest:x}\"")
    }

    /// Makes an object of parts; `None` when one is not there.
    pub(crate) fn complete(&self, path: &str, upload: &str, parts: &[String]) -> Option<String> {
        let mut bytes = Vec::new();
        {
            let state = self.state.lock().unwrap();
            for part in parts {
                bytes.extend_from_slice(state.parts.get(&(upload.to_owned(), part.clone()))?);
            }
        }
        self.forget(upload);
        Some(self.put(path, bytes))
    }

    pub(crate) fn forget(&self, upload: &str) {
        self.state.lock().unwrap().parts.retain(|(of, _), _| of != upload);
    }

    /// Parts that belong to no object.
    pub(crate) fn loose_parts(&self) -> usize {
        self.state.lock().unwrap().parts.len()
    }

    pub(crate) fn new_name(&self) -> String {
        let mut state = self.state.lock().unwrap();
        state.count += 1;
        format!("upload {}", state.count)
    }

    /// Answers GET and HEAD, with ranges and conditions as RFC 9110 has them.
    pub(crate) fn read(&self, request: &Request) -> Answer {
        let state = self.state.lock().unwrap();
        let Some((bytes, count)) = state.objects.get(&request.path) else { return Answer::new(404) };
        let condition = request.header("if-match");
        if !condition.is_empty() && condition != tag(*count) {
            return Answer::new(412);
        }
        let answer = |status| {
            Answer::new(status)
                .with("ETag", tag(*count))
                .with("Last-Modified", "Tue, 03 Mar 2026 10:00:00 GMT")
                .with("x-goog-generation", count.to_string())
        };
        if request.method == "HEAD" {
            return answer(200).with("Content-Length", bytes.len().to_string());
        }
        let Some(range) = request.header("range").strip_prefix("bytes=") else {
            return answer(200).body(bytes.clone());
        };
        let (start, last) = range.split_once('-').unwrap();
        let start: usize = start.parse().unwrap();
        if start >= bytes.len() {
            return Answer::new(416).with("Content-Range", format!("bytes */{}", bytes.len()));
        }
        let end = last.parse::<usize>().map_or(bytes.len(), |last| bytes.len().min(last + 1));
        let answer = answer(206).with("Content-Range", format!("bytes {start}-{}/{}", end - 1, bytes.len()));
        answer.body(&bytes[start..end])
    }
}

fn tag(count: u64) -> String {
    format!("\"version-{count}\"")
}

/// The texts of all elements with this name.
pub(crate) fn elements(xml: &str, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let parts = xml.split(&open).skip(1);
    parts.map(|part| part.split(&close).next().unwrap().replace("&quot;", "\"")).collect()
}
