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

/// Headers need no leave; what needs the data takes it, and is read where it is: nothing is copied.
#[test]
fn headers_by_url_need_no_leave() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let values: Vec<f32> = (0..1 << 20).map(|i| i as f32).collect();
    let field = |name: &str| MessageBuilder::new().tensor(&[1024, 1024], &values).unwrap().base("name", name).encode();
    std::fs::write(path.join("f.tgm"), [field("a").unwrap(), field("b").unwrap()].concat()).unwrap();
    for line in ["f.bt --digests sha256", "f.safetensors --digests sha256", "f.npz"] {
        fine(path, &format!("convert f.tgm {line} -q"));
    }
    fine(path, "convert f.bt s.bt --max-shard-size 4MiB --digests sha256 -q");
    let names =
        ["f.tgm", "f.bt", "f.safetensors", "f.npz", "s.bt.index.json", "s-00001-of-00002.bt", "s-00002-of-00002.bt"];
    let [proxy, _] = served(path, &names);
    for name in &names[..5] {
        let url = proxy.url(name);
        for command in ["info", "ls", "dump", "validate --mode quick", "validate --mode quick --json", "dump --json"] {
            let (far, near) = (fine(path, &format!("{command} {url}")), fine(path, &format!("{command} {name}")));
            // The shards of an index in a store are not measured.
            if (command, *name) != ("info", "s.bt.index.json") {
                assert_eq!(far.text().replace(&url, name), near.text(), "{command} {name}");
            }
            let (requests, bytes) = proxy.counted();
            assert!(requests <= 24 && bytes < 320 << 10, "{command} {name}: {requests} requests, {bytes} bytes");
        }
        if *name == "f.tgm" {
            continue;
        }
        for command in ["validate URL", "convert URL out.bt -f -q", "diff URL f.bt", "diff f.bt URL --ignore-metadata"]
        {
            let line = command.replace("URL", &url);
            let run = super::fw(path, &line);
            assert!(run.code == 2 && run.err.contains("hint: add --allow-full-read"), "{line}: {}", run.err);
            proxy.counted();
            let run = super::fw(path, &format!("{line} --allow-full-read"));
            assert!(
                matches!(run.code, 0 | 3) || command.starts_with("diff") && run.code == 1,
                "{line}: {}{}",
                run.text(),
                run.err
            );
            // Digests are compared before anything is written: everything is read twice, and headers a few times.
            let (_, bytes) = proxy.counted();
            assert!(bytes < 20 << 20, "{line}: {bytes} bytes");
        }
        fine(path, "diff out.bt f.bt --ignore-metadata");
    }
    // A shard that is wrong is named, and what needs it fails.
    let index = proxy.url("s.bt.index.json");
    let text = fine(path, &format!("validate {index} --allow-full-read")).text().to_owned();
    assert!(text.ends_with("2 of 2 tensors compared with a digest: valid\n"), "{text}");
    std::fs::remove_file(path.join("s-00002-of-00002.bt")).unwrap();
    let [proxy, _] = served(path, &names[..6]);
    let run = super::fw(path, &format!("validate {} --mode quick", proxy.url("s.bt.index.json")));
    assert!(run.code == 1 && run.text().contains("s-00002-of-00002.bt"), "{}{}", run.text(), run.err);
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
