//! Many parts of files in stores by few requests, through the command and through the library.

use super::emulator::{Objects, serve};
use super::fine;
use super::proxy::Proxy;
use framewright::bintensors::{ReadOptions, Reader};
use framewright::convert;
use framewright::source::remote::{StoreOptions, open_source};
use framewright::tensogram::MessageBuilder;
use framewright::tensor::Selection;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The files of a folder behind a counting proxy, whose answers come at once or late.
fn served(folder: &Path, names: &[&str]) -> [Proxy; 2] {
    let objects = Arc::new(Objects::default());
    for name in names {
        objects.put(&format!("/{name}"), std::fs::read(folder.join(name)).unwrap());
    }
    let address = serve(move |request| objects.read(&request));
    [0, 100].map(|millis| Proxy::new(address, Duration::from_millis(millis)))
}

#[test]
fn a_column_of_4096_rows_costs_at_most_20_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let values: Vec<f32> = (0..4096 * 4096u32).map(|i| i as f32).collect();
    let field = MessageBuilder::new().tensor(&[4096, 4096], &values).unwrap().base("name", "field");
    std::fs::write(path.join("f.tgm"), field.encode().unwrap()).unwrap();
    fine(path, "convert f.tgm f.bt");
    fine(path, "convert f.tgm f.safetensors");
    let expected: Vec<u8> = values.iter().skip(70).step_by(4096).flat_map(|value| value.to_le_bytes()).collect();
    let names = ["f.tgm", "f.bt", "f.safetensors"];
    let column = Selection::new().axis(..).axis(70..71);
    for proxy in served(path, &names) {
        for name in names {
            let url = proxy.url(name);
            let found = fine(path, &format!("cat {url} --tensor field --slice :,70"));
            assert_eq!(found.out, expected, "{name}");
            let (requests, _) = proxy.counted();
            assert!(requests <= 20, "{requests} requests for a column of {name}");
            let whole = fine(path, &format!("cat {url} --tensor field"));
            assert_eq!(whole.out.len(), 4 * values.len(), "{name}");
            let (requests, _) = proxy.counted();
            assert!(requests <= 24, "{requests} requests for all of {name}");
            if name == "f.tgm" {
                continue;
            }
            let store = open_source(&url, &StoreOptions::new()).unwrap();
            let file = convert::open_source(store, name).unwrap();
            let (shape, found) = file.slice(0, &column).unwrap();
            assert_eq!((shape, &found), (vec![4096, 1], &expected), "{name}");
            let (requests, _) = proxy.counted();
            assert!(requests <= 20, "{requests} requests for a column of {name} through the library");
        }
        let store = open_source(&proxy.url("f.bt"), &StoreOptions::new()).unwrap();
        let reader = Reader::new(store, &ReadOptions::default()).unwrap();
        let (_, found) = reader.slice("field", &column).unwrap();
        assert_eq!(found, expected);
        let (requests, _) = proxy.counted();
        assert!(requests <= 20, "{requests} requests for a column through the reader");
    }
}

#[test]
fn one_of_500_messages_costs_3_requests_and_a_listing_40() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let message = |number: usize| {
        let values: Vec<f32> = (0..17_500 + number * 7919 % 503).map(|i| (number + i) as f32).collect();
        MessageBuilder::new().tensor(&[values.len() as u64], &values).unwrap().encode().unwrap()
    };
    std::fs::write(path.join("many.tgm"), (0..500).flat_map(message).collect::<Vec<u8>>()).unwrap();
    let listed = fine(path, "ls many.tgm");
    for proxy in served(path, &["many.tgm"]) {
        let url = proxy.url("many.tgm");
        for words in ["-m 0", "-m 0 --text", "-m 0 --slice 5:9 --text", ""] {
            let found = fine(path, &format!("cat {url} {words}"));
            let (requests, bytes) = proxy.counted();
            assert!(requests <= 3 && bytes < 128 << 10, "cat {words}: {requests} requests, {bytes} bytes");
            assert_eq!(found.out, fine(path, &format!("cat many.tgm {words}")).out, "cat {words}");
        }
        assert_eq!(fine(path, &format!("ls {url}")).text(), listed.text());
        let (requests, _) = proxy.counted();
        assert!(requests <= 40, "{requests} requests for a listing");
        let outside = super::fw(path, &format!("cat {url} -m 500"));
        assert!(outside.code == 2 && outside.err.contains("has 500"), "{}", outside.err);
    }
}

#[test]
fn a_listing_of_10_000_objects_costs_at_most_8_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let values: Vec<[u32; 4]> = (0..10_000).map(|number| [number, 1, 2, 3]).collect();
    let mut builder = MessageBuilder::new();
    for (number, four) in values.iter().enumerate() {
        builder = builder.tensor(&[4], four).unwrap().base("name", format!("object {number}"));
    }
    std::fs::write(path.join("many.tgm"), builder.encode().unwrap()).unwrap();
    let listed = fine(path, "ls many.tgm");
    for proxy in served(path, &["many.tgm"]) {
        assert_eq!(fine(path, &format!("ls {}", proxy.url("many.tgm"))).text(), listed.text());
        let (requests, bytes) = proxy.counted();
        assert!(requests <= 8, "{requests} requests and {bytes} bytes");
    }
}
