//! `hf://` URLs and `--header` against servers on loopback: redirects are followed, and secrets stay with the server they are for.

use super::{fine, fw, fw_with};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What was asked of a server: the head of every request, in lower case.
type Log = Arc<Mutex<Vec<String>>>;

/// What a server does with the head of a request.
type Answer = dyn Fn(&str) -> Reply + Send + Sync;

enum Reply {
    /// The file, or the range of it that was asked for.
    File(Arc<Vec<u8>>),
    Redirect(String),
    Status(u16),
}

fn serve(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> (SocketAddr, Log) {
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

/// A file of two tensors, the second far behind the first.
fn file(folder: &Path) -> Arc<Vec<u8>> {
    let json = r#"{"a":{"dtype":"F32","shape":[100000],"data_offsets":[0,400000]},"b":{"dtype":"F32","shape":[2],"data_offsets":[400000,400008]}}"#;
    let mut bytes = [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &[0; 400_000]].concat();
    bytes.extend([1.5f32, -2.0].map(f32::to_le_bytes).concat());
    std::fs::write(folder.join("m.safetensors"), &bytes).expect("written");
    Arc::new(bytes)
}

#[test]
fn a_token_stays_with_its_hub() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = file(folder.path());
    let (store, stored) = serve(move |_| Reply::File(Arc::clone(&bytes)));
    let (hub, asked) = serve(move |head| match head.contains("\r\nauthorization: bearer hf_secret\r\n") {
        true => Reply::Redirect(format!("http://{store}/blob?signature=1")),
        false => Reply::Status(401),
    });
    let endpoint = format!("http://{hub}");
    let with = [("HF_ENDPOINT", endpoint.as_str()), ("HF_TOKEN", "hf_secret")];
    let url = "hf://org/repo@v1/m.safetensors";
    let local = fine(folder.path(), "ls m.safetensors");
    let listed = fw_with(folder.path(), &format!("ls {url}"), &with);
    assert_eq!((listed.code, listed.err.as_str(), listed.text()), (0, "", local.text()));
    let part = fw_with(folder.path(), &format!("cat {url} -t b --text"), &with);
    assert_eq!((part.code, part.err.as_str(), part.text()), (0, "", "1.5 -2.0\n"));
    let (asked, stored) = (asked.lock().expect("the log"), stored.lock().expect("the log"));
    assert!(
        asked.iter().all(|head| head.starts_with("get /org/repo/resolve/v1/m.safetensors http/1.1\r\n")),
        "{asked:?}"
    );
    // The store is asked directly once its address is known.
    assert!(asked.len() == 2 && stored.len() >= 3, "{asked:?} {stored:?}");
    for head in stored.iter() {
        assert!(!head.contains("hf_secret") && !head.contains("authorization"), "{head}");
    }
    drop((asked, stored));
    let refused =
        fw_with(folder.path(), &format!("ls {url} --json"), &[("HF_ENDPOINT", endpoint.as_str()), ("HF_TOKEN", "")]);
    let error = refused.json()["error"].clone();
    assert_eq!(error["code"], "remote_denied", "{error}");
    let wrong = fw(folder.path(), "ls hf://repo");
    assert!(wrong.code != 0 && wrong.err.contains("hf://ORG/REPO@REVISION/FILE"), "{}", wrong.err);
}

/// Addresses with a signature end: the hub is asked for another one.
#[test]
fn an_address_that_ended_is_asked_for_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = file(folder.path());
    let count = Arc::new(Mutex::new(0));
    let (store, stored) = serve(move |_| {
        let mut count = count.lock().expect("a count");
        *count += 1;
        if *count == 2 { Reply::Status(403) } else { Reply::File(Arc::clone(&bytes)) }
    });
    let (hub, asked) = serve(move |_| Reply::Redirect(format!("http://{store}/blob")));
    let line = format!("cat hf://org/repo/m.safetensors -t b --text --store-option endpoint=http://{hub}");
    let part = fw(folder.path(), &line);
    assert_eq!((part.code, part.text()), (0, "1.5 -2.0\n"), "{}", part.err);
    assert_eq!(asked.lock().expect("the log").len(), 2);
    assert!(stored.lock().expect("the log").len() >= 3);
}

#[test]
fn headers_stay_with_their_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = file(folder.path());
    let (store, stored) = serve(move |_| Reply::File(Arc::clone(&bytes)));
    let (server, asked) =
        serve(move |head| match head.contains("\r\nx-key: 7\r\n") && head.contains("\r\nx-other: y\r\n") {
            true => Reply::Redirect(format!("http://{store}/m.safetensors")),
            false => Reply::Status(403),
        });
    let url = format!("http://{server}/m.safetensors");
    let listed = fw(folder.path(), &format!("ls {url} --header X-Key:7 --header X-Other:y"));
    assert_eq!((listed.code, listed.err.as_str()), (0, ""));
    assert!(!asked.lock().expect("the log").is_empty());
    for head in stored.lock().expect("the log").iter() {
        assert!(!head.contains("x-key") && !head.contains("x-other"), "{head}");
    }
    let denied = fw(folder.path(), &format!("ls {url} --json")).json();
    assert_eq!(denied["error"]["code"], "remote_denied", "{denied}");
    for (words, what) in [
        (format!("ls {url} --header nonsense"), "NAME: VALUE"),
        ("ls s3://bucket/m.safetensors --header X-Key:7".to_owned(), "headers are for http, https and hf URLs"),
    ] {
        let run = fw(folder.path(), &words);
        assert!(run.code != 0 && run.err.contains(what), "{words}: {}", run.err);
    }
    // A circle ends.
    let (circle, _) = serve(|_| Reply::Redirect("/again".to_owned()));
    let run = fw(folder.path(), &format!("ls http://{circle}/m.safetensors --header X-Key:7"));
    assert!(run.code != 0 && run.err.contains("redirects more than 8 times"), "{}", run.err);
}
