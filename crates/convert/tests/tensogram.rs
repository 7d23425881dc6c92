//! Tensogram files to and from the others: names, types, text maps, every bit of every number.

use fw_bintensors::validate::ValidateOptions;
use fw_bintensors::{Profile, Shape, TensorView, WriteOptions, carry, serialize_to_file_with};
use fw_convert::{
    ConvertOptions, DiffOptions, Feature, Format, Loss, Missing, NanBits, convert, detect, diff, dump, info, ls, open,
    validate,
};
use fw_tensogram::{MessageBuilder, TensogramFile, ValidateMode, validate_file};
use fw_tensor::DType;
use std::collections::BTreeMap;
use std::path::Path;

fn make(path: &Path, tensors: &[(&str, DType, &[u64], Vec<u8>)], metadata: Option<BTreeMap<String, String>>) {
    let mut options = WriteOptions::new();
    options.metadata = metadata;
    let mut views = Vec::new();
    for (name, dtype, shape, data) in tensors {
        let carried = carry(name, *dtype, shape).unwrap();
        if !carried.entries.is_empty() {
            options.metadata.get_or_insert_default().extend(carried.entries);
        }
        views.push((name, TensorView::new(carried.dtype, Shape::from(carried.shape), data).unwrap()));
    }
    serialize_to_file_with(views, &options, path).unwrap();
}

fn filled(dtype: DType, shape: &[u64]) -> Vec<u8> {
    let len = fw_tensor::byte_len(dtype, shape).unwrap();
    (0..len).map(|byte| if dtype == DType::Bool { (byte % 2) as u8 } else { (byte * 41 + 3) as u8 & 0x3f }).collect()
}

#[test]
fn every_type_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let names: Vec<String> = DType::ALL.iter().map(|dtype| format!("t.{dtype}")).collect();
    let mut tensors: Vec<(&str, DType, &[u64], Vec<u8>)> = DType::ALL
        .iter()
        .zip(&names)
        .map(|(dtype, name)| (name.as_str(), *dtype, &[3, 8][..], filled(*dtype, &[3, 8])))
        .collect();
    tensors.push(("scalar", DType::Bool, &[], vec![1]));
    tensors.push(("odd", DType::Float4, &[3, 3], filled(DType::Float4, &[3, 3])));
    tensors.push(("empty", DType::Int32, &[0, 4], Vec::new()));
    let texts = BTreeMap::from([("made by".to_owned(), "a test".to_owned()), ("é".to_owned(), String::new())]);
    make(&at("a.bt"), &tensors, Some(texts.clone()));
    let there = convert(at("a.bt"), at("b.tgm"), &ConvertOptions::new()).unwrap();
    assert_eq!(there.losses, []);
    assert_eq!((there.tensors, there.files), (tensors.len(), vec![at("b.tgm")]));
    assert_eq!(detect(at("b.tgm")).unwrap(), Format::Tensogram);
    let report = validate_file(at("b.tgm"), &fw_tensogram::ValidateOptions::mode(ValidateMode::Full)).unwrap();
    assert!(report.is_ok(), "{report:?}");
    let tgm = open(at("b.tgm")).unwrap();
    assert_eq!(tgm.metadata(), Some(&texts));
    assert!(tgm.remarks().is_empty());
    for (name, dtype, shape, data) in &tensors {
        let entry = &tgm.entries()[tgm.find(name).unwrap()];
        assert_eq!((entry.dtype, &entry.shape[..]), (*dtype, *shape), "{name}");
        assert_eq!(&tgm.data(tgm.find(name).unwrap()).unwrap(), data, "{name}");
    }
    let back = convert(at("b.tgm"), at("c.bt"), &ConvertOptions::new()).unwrap();
    assert_eq!(back.losses, []);
    assert_eq!(std::fs::read(at("a.bt")).unwrap(), std::fs::read(at("c.bt")).unwrap());
    assert!(diff(&*tgm, &*open(at("c.bt")).unwrap(), &DiffOptions::new()).unwrap().is_equal());
}

#[test]
fn every_bit_of_every_float_survives() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let single = |bits: &[u32]| bits.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<u8>>();
    let halves: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let tensors: [(&str, DType, &[u64], Vec<u8>); 5] = [
        ("plain", DType::Float32, &[4], single(&[0x3f80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000])),
        ("signalling", DType::Float32, &[2], single(&[0x7f80_0001, 0xffc0_1234])),
        ("half complex", DType::Complex64, &[2], single(&[0x7f80_0000, 0, 0x7fc0_0000, 0x7fc0_0000])),
        ("every half", DType::Float16, &[1 << 16], halves.clone()),
        ("every bfloat16", DType::BFloat16, &[1 << 16], halves),
    ];
    make(&at("a.bt"), &tensors, None);
    // Asked to, a message keeps bits that its masks would not give back.
    let keep = ConvertOptions::new().with_nan_bits(NanBits::Keep);
    assert_eq!(convert(at("a.bt"), at("b.tgm"), &keep).unwrap().losses, []);
    let tgm = open(at("b.tgm")).unwrap();
    for (name, _, _, data) in &tensors {
        assert_eq!(&tgm.data(tgm.find(name).unwrap()).unwrap(), data, "{name}");
    }
    let file = TensogramFile::open(at("b.tgm")).unwrap();
    let message = file.read_message(0).unwrap();
    let view = fw_tensogram::MessageView::open(&message).unwrap();
    let masked = |name: &str| {
        let index = tgm.find(name).unwrap();
        view.object(index).unwrap().descriptor().masks.is_some()
    };
    assert!(masked("plain") && !masked("signalling") && !masked("half complex"));

    // Otherwise they are listed as lost, the file passes every validation, and nothing but NaN differs.
    let done = convert(at("a.bt"), at("c.tgm"), &ConvertOptions::new()).unwrap();
    let lost: Vec<_> = done.losses.iter().map(|loss| (loss.feature, loss.tensor.as_deref().unwrap())).collect();
    let names = ["signalling", "half complex", "every half", "every bfloat16"];
    assert_eq!(lost.len(), names.len(), "{lost:?}");
    assert!(names.iter().all(|name| lost.contains(&(Feature::NanBits, name))), "{lost:?}");
    let report = validate(at("c.tgm"), &ValidateOptions::new(Profile::default()).with_data()).unwrap();
    assert!(report.is_ok(), "{report:?}");
    let found = diff(&*open(at("a.bt")).unwrap(), &*open(at("c.tgm")).unwrap(), &DiffOptions::new()).unwrap();
    let equal = |name: &str| found.rows.iter().find(|row| row.name == name).unwrap().comparison.is_equal();
    assert!(equal("plain") && equal("signalling") && equal("every half") && equal("every bfloat16"));
    assert!(!equal("half complex"));
}

#[test]
fn foreign_files_are_named_and_their_losses_listed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let file = TensogramFile::create(at("f.tgm")).unwrap();
    let (a, b) = ([1.0f32, 2.0, 3.0, 4.0], [1i16, -2]);
    for step in 0..2 {
        let message = MessageBuilder::new()
            .extra("centre", "x")
            .extra("step", step)
            .tensor(&[2, 2], &a)
            .unwrap()
            .describe(|descriptor| descriptor.with_compression("zstd"))
            .base("param", "2t")
            .base("units", "K")
            .tensor(&[2], &b)
            .unwrap()
            .encode()
            .unwrap();
        file.append_message(&message).unwrap();
    }
    let open_file = open(at("f.tgm")).unwrap();
    let names: Vec<&str> = open_file.entries().iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["0/2t", "0/object_1", "1/2t", "1/object_1"]);
    let done = convert(at("f.tgm"), at("f.npz"), &ConvertOptions::new()).unwrap();
    let losses: Vec<(Feature, Option<&str>)> =
        done.losses.iter().map(|loss| (loss.feature, loss.tensor.as_deref())).collect();
    let lost = |feature, tensor| losses.contains(&(feature, tensor));
    assert!(lost(Feature::TensorMetadata, Some("1/2t")) && lost(Feature::Metadata, None), "{losses:?}");
    assert_eq!(losses.len(), 3, "{losses:?}");
    let notes: Vec<Feature> = done.notes.iter().map(|note| note.feature).collect();
    assert_eq!(notes, [Feature::Messages, Feature::Encoding, Feature::Encoding]);
    let notes: Vec<String> = Loss::grouped(&done.notes).iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "note, messages: 2 messages become one list; names start with the number of their message",
            "note, encoding: zstd is not kept: elements are written decoded (2 tensors: \"0/2t\", \"1/2t\")",
        ]
    );
    let metadata = open_file.metadata().unwrap();
    let expected = [("0/step", "0"), ("1/step", "1"), ("centre", "x")];
    assert!(metadata.iter().map(|(key, text)| (key.as_str(), text.as_str())).eq(expected), "{metadata:?}");
    let npz = open(at("f.npz")).unwrap();
    let expected: Vec<u8> = a.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(npz.data(npz.find("1/2t").unwrap()).unwrap(), expected);
    assert_eq!(info(at("f.tgm")).unwrap().tensor_count, 4);
    let rows = ls(at("f.tgm")).unwrap();
    assert!(rows[0].span.is_none() && rows[1].span.is_some(), "compressed data lies nowhere as it is");
    assert_eq!(dump(at("f.tgm")).unwrap().children.len(), 2);
    assert!(validate(at("f.tgm"), &ValidateOptions::new(Profile::default())).unwrap().is_ok());
    let [start, end] = rows[3].span.unwrap();
    let bytes = std::fs::read(at("f.tgm")).unwrap();
    assert_eq!(bytes[start as usize..end as usize], [1, 0, 0xfe, 0xff]);
}

/// What a message says about its objects goes through the text maps of other formats and comes back.
#[test]
fn attributes_travel_through_text_maps() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mars = fw_tensogram::Value::Map(vec![("step".into(), 6.into()), ("param".into(), "2t".into())]);
    let message = MessageBuilder::new()
        .extra("run", "00Z")
        .tensor(&[2], &[1.0f32, 2.0])
        .unwrap()
        .base("mars", mars)
        .base("units", "K")
        .base("scale", 0.5)
        .tensor(&[1], &[3u8])
        .unwrap()
        .base("name", "plain")
        .encode()
        .unwrap();
    std::fs::write(at("a.tgm"), message).unwrap();
    let original = open(at("a.tgm")).unwrap();
    assert_eq!(original.entries()[0].attributes["mars"]["step"], 6);
    assert!(original.entries()[1].attributes.is_empty(), "its name is all that is said");
    for extension in ["bt", "safetensors", "tgm"] {
        let (there, back) = (at(&format!("b.{extension}")), at(&format!("c-{extension}.tgm")));
        let done = convert(at("a.tgm"), &there, &ConvertOptions::new()).unwrap();
        assert_eq!(done.losses, [], "{extension}");
        let held = open(&there).unwrap();
        assert_eq!(held.metadata(), original.metadata(), "{extension}");
        assert_eq!(convert(&there, &back, &ConvertOptions::new()).unwrap().losses, []);
        let back = open(&back).unwrap();
        for entry in original.entries() {
            let other = &back.entries()[back.find(&entry.name).unwrap()];
            assert_eq!(other.attributes, entry.attributes, "{extension}: {}", entry.name);
        }
    }
    let lost = convert(at("a.tgm"), at("b.npz"), &ConvertOptions::new()).unwrap().losses;
    assert_eq!(lost[0].what, "mars, scale, units");
    assert_eq!(Loss::grouped(&lost).len(), 2);
}

/// Values of the metadata that are no text go through text maps and come back as what they were.
#[test]
fn values_travel_through_text_maps() {
    use fw_tensogram::Value;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let extra = |path: &Path| {
        let message = std::fs::read(path).unwrap();
        fw_tensogram::MessageView::open(&message).unwrap().metadata().unwrap().extra.clone()
    };
    let list = Value::Array(vec![Value::from(1), Value::from(2.5), Value::Null, Value::from("x")]);
    let build = |odd: Option<Value>| {
        let mut builder =
            MessageBuilder::new().extra("step", 6).extra("looks like it", "6").extra("list", list.clone());
        if let Some(odd) = odd {
            builder = builder.extra("odd", odd);
        }
        builder.tensor(&[1], &[3u8]).unwrap().base("name", "w").encode().unwrap()
    };
    std::fs::write(at("a.tgm"), build(None)).unwrap();
    for extension in ["bt", "safetensors", "tgm"] {
        let (there, back) = (at(&format!("b.{extension}")), at(&format!("c-{extension}.tgm")));
        let done = convert(at("a.tgm"), &there, &ConvertOptions::new()).unwrap();
        assert_eq!(done.losses, []);
        assert_eq!(done.notes.len(), if extension == "tgm" { 0 } else { 2 }, "{:?}", done.notes);
        let held = open(&there).unwrap();
        assert_eq!(held.metadata(), open(at("a.tgm")).unwrap().metadata(), "the list of keys stays out of sight");
        assert_eq!(held.json_keys().iter().collect::<Vec<_>>(), ["list", "step"]);
        assert_eq!(convert(&there, &back, &ConvertOptions::new()).unwrap().losses, []);
        assert_eq!(extra(&back), extra(&at("a.tgm")), "{extension}");
    }
    // Bytes have no form in JSON: what becomes of them is a loss.
    std::fs::write(at("d.tgm"), build(Some(Value::Bytes(vec![1, 2])))).unwrap();
    let done = convert(at("d.tgm"), at("d.bt"), &ConvertOptions::new()).unwrap();
    assert_eq!(done.losses.iter().map(|loss| loss.feature).collect::<Vec<_>>(), [Feature::Metadata]);
}

#[test]
fn damaged_messages_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tgm");
    std::fs::write(&path, b"nothing here").unwrap();
    assert_eq!(open(&path).err().unwrap().code(), "no_message");
    let message = MessageBuilder::new().tensor(&[2], &[1.0f32, 2.0]).unwrap().base("name", "a").encode().unwrap();
    for at in 24..message.len() {
        let mut bad = message.clone();
        bad[at] ^= 0x41;
        std::fs::write(&path, &bad).unwrap();
        if let Ok(file) = open(&path) {
            (0..file.entries().len()).for_each(|index| drop(file.data(index)));
        }
    }
    let options = ConvertOptions::new().with_max_shard_size(4).with_missing(Missing::Skip);
    std::fs::write(
        &path,
        MessageBuilder::new().tensor(&[2], &[1.0f32, 2.0]).unwrap().tensor(&[1], &[1u8]).unwrap().encode().unwrap(),
    )
    .unwrap();
    let refused = convert(&path, folder.path().join("y.tgm"), &options).unwrap_err();
    assert_eq!(refused.code(), "unsplittable_format");
    assert!(!folder.path().join("y.tgm").exists());
}

/// Damage that a digest shows is not converted, nor shown as if it were sound; and nothing is converted onto itself.
#[test]
fn damaged_objects_and_the_input_itself_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("a.tgm");
    let message = MessageBuilder::new().tensor(&[64], &[7u8; 64]).unwrap().base("name", "x").encode().unwrap();
    let payload = message.windows(64).position(|window| window == [7u8; 64]).unwrap();
    let mut damaged = message.clone();
    damaged[payload + 3] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    let error = convert(&path, scratch.path().join("b.bt"), &ConvertOptions::default()).unwrap_err();
    assert_eq!(error.code(), "hash_mismatch");
    assert!(!scratch.path().join("b.bt").exists(), "nothing is left behind");
    std::fs::write(&path, &message).unwrap();
    assert_eq!(convert(&path, &path, &ConvertOptions::default()).unwrap_err().code(), "same_file");
    assert_eq!(std::fs::read(&path).unwrap(), message);
    std::fs::write(&path, [&message[..], &message[..100]].concat()).unwrap();
    let done = convert(&path, scratch.path().join("c.bt"), &ConvertOptions::default()).unwrap();
    assert!(done.losses.iter().any(|loss| loss.to_string().contains("100 bytes")), "{:?}", done.losses);
}
