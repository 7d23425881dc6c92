//! What breaks, and what is said then.

use super::proxy::{Break, Proxy};
use super::servers::Server;
use super::{message, quick, ramp};
use fw_tensogram::{
    DecodeOptions, ScanOptions, TensogramError, ValidateOptions, open_source, scan_source, survey_source,
    validate_source,
};
use std::path::Path;
use std::time::Duration;

fn served(folder: &Path) -> Option<(Server, Proxy)> {
    let three: Vec<u8> = (0..3).flat_map(|number| message(number, &ramp(30_000, number as f32))).collect();
    std::fs::write(folder.join("three.tgm"), three).unwrap();
    let server = Server::files(folder)?;
    let proxy = Proxy::new(server.address, Duration::ZERO);
    Some((server, proxy))
}

#[track_caller]
fn fault(error: &TensogramError, code: &str, words: &[&str]) {
    assert_eq!((error.class(), error.code()), ("Remote", code), "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{word:?} is not in: {error}");
    }
}

#[test]
fn passing_trouble_is_tried_through_at_every_call() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_server, proxy)) = served(folder.path()) else { return };
    let url = proxy.url("three.tgm");
    let expected = std::fs::read(folder.path().join("three.tgm")).unwrap();
    let span = open_source(&url, &quick()).unwrap().message_span(2usize).unwrap();
    // How many requests the read takes when nothing breaks; then each of them breaks, in each way.
    proxy.counted();
    let read = || open_source(&url, &quick())?.read_message(2usize);
    read().unwrap();
    let (calls, _) = proxy.counted();
    for call in 0..calls {
        for broken in [Break::Status(500), Break::Status(503), Break::Status(429), Break::Drop, Break::Half] {
            let mut breaks = vec![Break::Fine; call as usize];
            breaks.push(broken);
            proxy.breaks(&breaks);
            let bytes = read().unwrap_or_else(|error| panic!("{broken:?} at call {call}: {error}"));
            assert_eq!(bytes, expected[span.start as usize..span.end as usize], "{broken:?} at call {call}");
        }
    }
}

#[test]
fn lasting_trouble_names_url_status_and_tries() {
    let folder = tempfile::tempdir().unwrap();
    let Some((mut server, proxy)) = served(folder.path()) else { return };
    let url = proxy.url("three.tgm");
    proxy.breaks(&[Break::Status(503); 9]);
    proxy.counted();
    let error = open_source(&url, &quick()).unwrap_err();
    fault(&error, "remote_failed", &[&url, "503", "after 3 tries"]);
    assert_eq!(proxy.counted().0, 3, "two retries and no more");
    proxy.breaks(&[Break::Drop; 9]);
    fault(&open_source(&url, &quick()).unwrap_err(), "remote_failed", &[&url, "after 3 tries"]);
    proxy.breaks(&[Break::Half; 9]);
    fault(&open_source(&url, &quick()).unwrap_err(), "remote_failed", &[&url, "after 3 tries"]);
    proxy.breaks(&[]);

    let error = open_source(&proxy.url("absent.tgm"), &quick()).unwrap_err();
    fault(&error, "remote_not_found", &["absent.tgm", "no such object"]);
    assert!(!error.to_string().contains("tries"), "what is not there is asked for once: {error}");

    let direct = format!("http://{}/three.tgm", server.address);
    let remote = open_source(&direct, &quick()).unwrap();
    server.stop();
    let error = remote.decode_object(2usize, 0, &DecodeOptions::default()).unwrap_err();
    fault(&error, "remote_failed", &[&direct, "after 3 tries"]);
}

#[test]
fn an_object_that_is_replaced_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_server, proxy)) = served(folder.path()) else { return };
    let (url, path) = (proxy.url("three.tgm"), folder.path().join("three.tgm"));
    let remote = open_source(&url, &quick()).unwrap();
    remote.message_span(1usize).unwrap();
    let old = std::fs::read(&path).unwrap();
    // Longer than before.
    std::fs::write(&path, [&old[..], &old[..]].concat()).unwrap();
    let error = remote.read_message(2usize).unwrap_err();
    fault(&error, "remote_changed", &[&url, "changed while it was read", "bytes when it was opened"]);

    // As long as before, but another file: this server has no tags, only times.
    std::fs::write(&path, &old).unwrap();
    let remote = open_source(&url, &quick()).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::now() + Duration::from_secs(60)).unwrap();
    fault(&remote.read_message(2usize).unwrap_err(), "remote_changed", &["modified since"]);
    open_source(&url, &quick()).unwrap().read_message(2usize).unwrap();
}

#[test]
fn servers_without_ranges_and_empty_objects_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let Some((server, _proxy)) = served(folder.path()) else { return };
    std::fs::write(folder.path().join("empty.tgm"), b"").unwrap();
    let empty = format!("http://{}/empty.tgm", server.address);
    assert_eq!(open_source(&empty, &quick()).unwrap().message_count().unwrap(), 0);
    let error = open_source("ftp://host/x.tgm", &quick()).unwrap_err();
    fault(&error, "remote_request", &["ftp"]);
}

/// A reader that takes any source says what the awaited one says.
#[test]
fn readers_of_any_source_keep_the_code_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_server, proxy)) = served(folder.path()) else { return };
    let url = proxy.url("three.tgm");
    let store = fw_source::remote::open_source(&url, &quick()).unwrap();
    let span = scan_source(&store, &ScanOptions::default()).unwrap()[1];
    let store = fw_source::remote::open_source(&url, &quick()).unwrap();
    proxy.breaks(&[Break::Status(503); 30]);
    fault(&scan_source(&store, &ScanOptions::default()).unwrap_err(), "remote_failed", &[&url, "503"]);
    fault(&survey_source(&store, span).unwrap_err(), "remote_failed", &[&url, "503"]);
    fault(&validate_source(&store, &ValidateOptions::default()).unwrap_err(), "remote_failed", &[&url, "503"]);
}
