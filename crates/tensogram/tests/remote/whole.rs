//! Servers without ranges: refused by default, read whole with permission.

use super::emulator::{Framing, Objects, serve};
use super::proxy::{Break, Proxy};
use super::servers::Server;
use super::{floats, message, quick, ramp};
use fw_source::ReadAt;
use fw_source::remote::{FullRead, RemoteErrorKind, StoreOptions};
use fw_tensogram::MessageIndex;
use fw_tensogram::{DecodeOptions, open_source};
use fw_tensor::Selection;
use std::time::Duration;

/// A server that answers every GET with all there is.
fn plain(framing: Framing, bytes: &[u8]) -> Proxy {
    let objects = Objects::default();
    objects.put("/file.tgm", bytes.to_vec());
    let address = serve(move |mut request| {
        request.headers.remove("range");
        let mut answer = objects.read(&request);
        answer.framing = framing;
        answer
    });
    Proxy::new(address, Duration::ZERO)
}

fn five() -> Vec<u8> {
    (0..5).flat_map(|number| message(number, &ramp(100_000, number as f32))).collect()
}

fn allowed() -> StoreOptions {
    quick().with_full_read(FullRead::Allow)
}

#[test]
fn a_server_without_ranges_is_refused_and_the_option_is_named() {
    let proxy = plain(Framing::Length, &five());
    let url = proxy.url("file.tgm");
    let error = open_source(&url, &quick()).unwrap_err();
    assert_eq!((error.class(), error.code()), ("Remote", "remote_no_ranges"), "{error}");
    for words in [url.as_str(), "does not serve ranges", "full_read"] {
        assert!(error.to_string().contains(words), "{words:?} is not in: {error}");
    }
    assert_eq!(proxy.counted().0, 1, "nothing more was asked for");
}

#[test]
fn with_permission_everything_is_read_once_and_served_from_there() {
    let five = five();
    // In memory; on the disk; with the end told in two ways.
    for (framing, memory) in [(Framing::Length, 64 << 20), (Framing::Length, 100_000), (Framing::Chunks, 0)] {
        let proxy = plain(framing, &five);
        let options = allowed().with_full_read_memory(memory);
        let remote = open_source(&proxy.url("file.tgm"), &options).unwrap();
        assert!(remote.source().is_read_whole());
        assert_eq!(remote.source().object_len(), five.len() as u64, "{framing:?}");
        assert_eq!(remote.message_count().unwrap(), 5);
        for number in 0..5usize {
            let data =
                remote.decode_object(MessageIndex::FromStart(number), 0, &DecodeOptions::default()).unwrap().bytes;
            assert_eq!(floats(&data), ramp(100_000, number as f32), "{framing:?}");
        }
        let part = remote.slice(3usize, 0, Selection::new().axis(70_000..70_002), &DecodeOptions::default()).unwrap();
        assert_eq!(part.view().to_vec::<f32>().unwrap(), [70_003.0, 70_004.0]);
        let mut all = vec![0; five.len()];
        remote.source().read_exact_at(0, &mut all).unwrap();
        assert!(all == five, "{framing:?}");
        let error = remote.source().read_exact_at(1, &mut all).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof, "{error}");
        let traffic = remote.traffic();
        assert_eq!((traffic.requests, traffic.received), (2, five.len() as u64), "{framing:?}");
    }
}

#[test]
fn the_permission_has_a_limit_where_one_is_given() {
    let five = five();
    let len = five.len() as u64;
    for framing in [Framing::Length, Framing::Chunks] {
        let proxy = plain(framing, &five);
        let url = proxy.url("file.tgm");
        assert!(open_source(&url, &quick().with_full_read(FullRead::UpTo(len))).is_ok());
        let error = open_source(&url, &quick().with_full_read(FullRead::UpTo(len - 1))).unwrap_err();
        assert_eq!(error.code(), "remote_no_ranges", "{error}");
        assert!(error.to_string().contains(&format!("up to {} bytes", len - 1)), "{error}");
    }
}

#[test]
fn a_body_that_breaks_off_is_fetched_again_or_told() {
    let five = five();
    for framing in [Framing::Length, Framing::Chunks] {
        let proxy = plain(framing, &five);
        let url = proxy.url("file.tgm");
        for broken in [Break::Half, Break::Drop, Break::Status(503)] {
            proxy.breaks(&[Break::Fine, broken]);
            let remote =
                open_source(&url, &allowed()).unwrap_or_else(|error| panic!("{framing:?} {broken:?}: {error}"));
            assert_eq!((remote.message_count().unwrap(), remote.source().object_len()), (5, five.len() as u64));
        }
        proxy.breaks(&[Break::Fine, Break::Half, Break::Half, Break::Half, Break::Half]);
        let error = open_source(&url, &allowed()).unwrap_err();
        assert_eq!(error.code(), "remote_failed", "{framing:?}: {error}");
        assert!(error.to_string().contains("after 3 tries"), "{framing:?}: {error}");
    }
}

#[test]
fn an_answer_whose_end_cannot_be_told_from_a_lost_connection_is_refused() {
    let proxy = plain(Framing::Close, &five());
    let error = open_source(&proxy.url("file.tgm"), &allowed()).unwrap_err();
    assert_eq!(error.class(), "Remote", "{error}");
    assert!(error.to_string().contains("Content-Length"), "{error}");
}

#[test]
fn servers_with_ranges_are_read_in_ranges_all_the_same() {
    let objects = Objects::default();
    objects.put("/file.tgm", five());
    let proxy = Proxy::new(serve(move |request| objects.read(&request)), Duration::ZERO);
    let remote = open_source(&proxy.url("file.tgm"), &allowed()).unwrap();
    assert!(!remote.source().is_read_whole());
    remote.metadata(0usize).unwrap();
    assert!(proxy.counted().1 < 64 << 10);
}

#[test]
fn a_plain_file_server_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("five.tgm"), five()).unwrap();
    std::fs::write(folder.path().join("empty.tgm"), b"").unwrap();
    let Some(server) = Server::plain(folder.path()) else { return };
    let url = |name: &str| format!("http://{}/{name}", server.address);
    let error = fw_source::remote::open_source(&url("five.tgm"), &quick()).unwrap_err();
    let kind = fw_source::remote::RemoteError::of(&error).unwrap().kind;
    assert_eq!(kind, RemoteErrorKind::NoRanges, "{error}");
    let remote = open_source(&url("five.tgm"), &allowed()).unwrap();
    let data = remote.decode_object(MessageIndex::FromEnd(0), 0, &DecodeOptions::default()).unwrap().bytes;
    assert_eq!(floats(&data), ramp(100_000, 4.0));
    assert_eq!(open_source(&url("empty.tgm"), &allowed()).unwrap().message_count().unwrap(), 0);
    assert_eq!(open_source(&url("absent.tgm"), &allowed()).unwrap_err().code(), "remote_not_found");
}
