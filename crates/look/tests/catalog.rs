//! Records of every format: keys, precedence, objects, damage.

mod common;

use common::{field, folder, message};
use fw_bintensors::{Dtype, TensorView, serialize_to_file};
use fw_look::{Catalog, FileRecord, LookError};
use fw_query::{Item, OneObject, Path, Where, WholeRecord};
use fw_tensogram::{MessageBuilder, value};
use std::collections::HashMap;

fn text(item: &impl Item, key: &str) -> Option<String> {
    item.lookup(&Path::parse(key).unwrap()).map(|value| value.to_text())
}

fn whole(record: &FileRecord, key: &str) -> Option<String> {
    text(&WholeRecord(record), key)
}

fn one(record: &FileRecord, object: usize, key: &str) -> Option<String> {
    text(&OneObject(record, object), key)
}

#[test]
fn keys_of_a_message_are_found_in_order() {
    let (_folder, path) = folder("m.tgm");
    let built = MessageBuilder::new()
        .extra("run", "00Z")
        .extra("version", "mine")
        .extra("mars", value!({ "class": "od" }))
        .tensor(&[2, 3], &[0.0f32; 6])
        .unwrap()
        .base("mars", value!({ "param": "2t", "step": 6, "levels": [500, 850] }))
        .tensor(&[4], &[1u8; 4])
        .unwrap()
        .base("mars", value!({ "param": "10u", "level": 1000 }))
        .encode()
        .unwrap();
    std::fs::write(&path, &built).unwrap();
    let catalog = Catalog::open(&path).unwrap();
    let record = catalog.record(0).unwrap();
    for (key, expected) in [
        ("version", Some("3")),
        ("_extra_.version", Some("mine")),
        ("extra.run", Some("00Z")),
        ("run", Some("00Z")),
        ("mars.param", Some("2t")),
        ("mars.level", Some("1000")),
        ("mars.class", Some("od")),
        ("mars.levels[-1]", Some("850")),
        ("mars.levels", Some("[500,850]")),
        ("mars.nothing", None),
        ("_reserved_.tensor", None),
        ("shape", Some("[2,3]")),
        ("shape[1]", Some("3")),
        ("dtype", Some("float32")),
        ("compression", Some("none")),
        ("nbytes", Some("24")),
        ("stored_bytes", Some("24")),
        ("byte_order", Some("little")),
        ("ndim", Some("2")),
        ("objects[1].shape", Some("[4]")),
        ("objects[1].dtype", Some("uint8")),
        ("objects[-1].mars.param", Some("10u")),
        ("objects[2].shape", None),
        ("objects[1].name", Some("10u")),
        ("name", Some("2t")),
        ("format", Some("tensogram")),
        ("msg.index", Some("0")),
        ("msg.offset", Some("0")),
    ] {
        assert_eq!(whole(&record, key).as_deref(), expected, "{key}");
    }
    assert_eq!(whole(&record, "msg.length"), Some(built.len().to_string()));
    assert_eq!(whole(&record, "file"), Some(path.display().to_string()));
    // Each object answers for itself, and the message where it has nothing.
    assert_eq!(one(&record, 1, "mars.param").as_deref(), Some("10u"));
    assert_eq!(one(&record, 1, "mars.step"), None);
    assert_eq!(one(&record, 1, "mars.class").as_deref(), Some("od"));
    assert_eq!(one(&record, 1, "shape").as_deref(), Some("[4]"));
    let mut keys = record.keys();
    keys.sort();
    assert_eq!(keys, ["mars.class", "mars.level", "mars.levels", "mars.param", "mars.step", "run", "version"]);
}

#[test]
fn objects_are_selected_one_by_one() {
    let (_folder, path) = folder("m.tgm");
    let built = MessageBuilder::new()
        .tensor(&[2], &[0.0f32; 2])
        .unwrap()
        .base("param", "2t")
        .tensor(&[2], &[0.0f32; 2])
        .unwrap()
        .base("param", "10u")
        .encode()
        .unwrap();
    let empty = MessageBuilder::new().extra("run", "00Z").encode().unwrap();
    std::fs::write(&path, [built, empty].concat()).unwrap();
    let catalog = Catalog::open(&path).unwrap();
    let records: Vec<_> = catalog.records().map(Result::unwrap).collect();
    let filter = |text: &str| Where::parse(text).unwrap();
    assert_eq!(records[0].selected(&filter("param=10u")), [1]);
    assert_eq!(records[0].selected(&filter("param!=10u")), [0]);
    assert_eq!(records[0].selected(&filter("param=10?/2t")), [0, 1]);
    assert_eq!(records[0].selected(&Where::default()), [0, 1]);
    assert!(records[0].matches(&filter("param=10u")) && !records[0].matches(&filter("param=msl")));
    // A message without objects answers for itself.
    assert_eq!(records[1].selected(&filter("run=00Z")), [0; 0]);
    assert!(records[1].matches(&filter("run=00Z")) && !records[1].matches(&filter("run=12Z")));
}

#[test]
fn names_are_those_of_the_other_commands() {
    let (_folder, path) = folder("m.tgm");
    let mut builder = MessageBuilder::new();
    for name in ["t", "t", ""] {
        builder = builder.tensor(&[1], &[0u8]).unwrap();
        if !name.is_empty() {
            builder = builder.base("name", name);
        }
    }
    std::fs::write(&path, builder.encode().unwrap()).unwrap();
    let record = Catalog::open(&path).unwrap().record(0).unwrap();
    assert_eq!((0..3).map(|index| record.name(index).into_owned()).collect::<Vec<_>>(), ["t", "t#1", "object_2"]);
    assert_eq!(one(&record, 2, "name").as_deref(), Some("object_2"));
    // The file's own key comes before the name that was made unique.
    assert_eq!(one(&record, 1, "name").as_deref(), Some("t"));
}

#[test]
fn a_file_without_messages_is_one_record() {
    let (_folder, path) = folder("m.bt");
    let view = |data| TensorView::new(Dtype::F32, [2], data).unwrap();
    let (a, b) = ([0; 8], [1; 8]);
    let metadata = HashMap::from([("general.name".to_owned(), "tiny".to_owned())]);
    serialize_to_file([("w.a", view(&a)), ("w.b", view(&b))], &Some(metadata), &path).unwrap();
    let catalog = Catalog::open(&path).unwrap();
    assert_eq!((catalog.format().name(), catalog.record_count()), ("bintensors", 1));
    let record = catalog.record(0).unwrap();
    assert_eq!(record.selected(&Where::parse("name=w.b").unwrap()), [1]);
    assert_eq!(record.selected(&Where::parse("name=w.*").unwrap()), [0, 1]);
    for (key, expected) in [
        ("name", Some("w.b")),
        ("shape", Some("[2]")),
        ("dtype", Some("float32")),
        ("nbytes", Some("8")),
        ("stored_bytes", Some("8")),
        ("compression", Some("none")),
        ("general.name", Some("tiny")),
        ("version", None),
    ] {
        assert_eq!(one(&record, 1, key).as_deref(), expected, "{key}");
    }
    let error = catalog.record(1).unwrap_err();
    assert_eq!(error.code(), "message_index_out_of_range");
    assert_eq!(catalog.records().count(), 1);
}

#[test]
fn damage_is_part_of_the_record() {
    let (_folder, path) = folder("m.tgm");
    let first = message("2t", 0, &[1.0, 2.0]);
    let mut second = message("2t", 6, &[3.0, 4.0]);
    // The element type of the descriptor becomes unknown; the metadata names it before that.
    let at = second.windows(7).rposition(|bytes| bytes == b"float32").unwrap();
    second[at..at + 7].copy_from_slice(b"floaty2");
    std::fs::write(&path, [first.clone(), second].concat()).unwrap();
    let catalog = Catalog::open(&path).unwrap();
    let records: Vec<_> = catalog.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 2);
    let damaged = &records[1];
    assert_eq!(whole(damaged, "mars.step").as_deref(), Some("6"));
    assert_eq!(whole(damaged, "dtype"), None);
    let error = catalog.part(damaged, 0, &Default::default()).unwrap_err();
    assert!(matches!(error, LookError::File(_)), "{error}");
    let position = error.position().unwrap();
    assert!(position as usize > first.len(), "positions count from the beginning of the file, {position}");
    assert!(catalog.part(&records[0], 0, &Default::default()).is_ok());
}

#[test]
fn codec_parameters_are_fields() {
    let (_folder, path) = folder("m.tgm");
    field(&path, &[8, 8], |index| index as f64);
    let record = Catalog::open(&path).unwrap().record(0).unwrap();
    assert_eq!(whole(&record, "objects[0].sp_bits_per_value").as_deref(), Some("16"));
    assert_eq!(whole(&record, "encoding").as_deref(), Some("simple_packing"));
}

#[cfg(feature = "remote")]
#[test]
fn a_file_in_a_store_has_the_same_records() {
    use fw_source::remote::{StoreOptions, StoreWriter};
    use std::io::Write;

    let messages: Vec<u8> = (0..5).flat_map(|step| message("2t", step, &[step as f32; 4])).collect();
    let mut writer = StoreWriter::create("memory:///look/catalog.tgm", &StoreOptions::new()).unwrap();
    writer.write_all(&messages).unwrap();
    writer.finish().unwrap();
    let file = fw_tensogram::open_source("memory:///look/catalog.tgm", &StoreOptions::new()).unwrap();
    let catalog = Catalog::of_remote(file.clone()).unwrap();
    let filter = Where::parse("mars.step>=3").unwrap();
    let found: Vec<usize> =
        catalog.records().map(Result::unwrap).filter(|record| record.matches(&filter)).map(|r| r.index()).collect();
    assert_eq!(found, [3, 4]);
    let record = catalog.record(3).unwrap();
    assert_eq!(catalog.part(&record, 0, &Default::default()).unwrap().data, [3.0f32; 4].map(f32::to_ne_bytes).concat());
    assert_eq!(file.traffic().requests, 1, "a small file comes with the request that opens it");
}
