//! GGUF files: types, shapes, metadata and blocks, in both versions and byte orders; what is wrong has a code and a place.

mod gguf {
    pub(crate) mod maker;
}

use fw_bintensors::ReadOptions;
use fw_bintensors::validate::ValidateOptions;
use fw_convert::{ConvertOptions, DiffOptions, Feature, Format, Missing, TensorFile, convert, detect, diff, open};
use fw_tensor::{DType, Selection};
use gguf::maker::{Maker, sample};
use std::path::Path;
use std::process::Command;

fn opened(bytes: Vec<u8>) -> Result<Box<dyn TensorFile>, fw_convert::ConvertError> {
    Format::Gguf.open_source(bytes.into_boxed_slice(), "", &ReadOptions::default())
}

fn floats(data: &[u8]) -> Vec<f32> {
    data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[test]
fn every_version_byte_order_and_alignment_reads_alike() {
    let mut first: Option<Box<dyn TensorFile>> = None;
    for (big, version, alignment) in [(false, 3, 32), (true, 3, 32), (false, 2, 64), (true, 2, 8), (false, 3, 1)] {
        let file = opened(sample(big, version, alignment).build()).unwrap();
        let shown: Vec<String> =
            file.entries().iter().map(|e| format!("{} {} {} {:?}", e.name, e.dtype, e.type_name(), e.shape)).collect();
        let expected = "f32 float32 float32 [2, 3], f16 float16 float16 [2, 3], i8 int8 int8 [2, 3], \
            i16 int16 int16 [2, 3], i32 int32 int32 [2, 3], i64 int64 int64 [2, 3], f64 float64 float64 [2, 3], \
            bf16 bfloat16 bfloat16 [2, 3], scalar int8 int8 [], none float32 float32 [4, 0], q8_0 float32 Q8_0 [2, 64], \
            q4_0 float32 Q4_0 [2, 32], q4_k uint8 Q4_K [2, 1, 144]";
        assert_eq!(shown.join(", "), expected);
        let metadata = file.metadata().unwrap();
        let value = |key: &str| metadata[key].as_str();
        assert_eq!((value("general.architecture"), value("tokens")), ("llama", "[\"a\\\"\\n\",\"ü\",\"\"]"));
        assert_eq!((value("nested"), value("empty"), value("n.bool")), ("[[1,2],[false]]", "[]", "true"));
        assert_eq!((value("n.u8"), value("n.i8"), value("n.u16"), value("n.i16")), ("200", "-56", "60000", "-3"));
        assert_eq!((value("n.u32"), value("n.i32")), ("4294967295", "-2147483648"));
        assert_eq!((value("n.u64"), value("n.i64")), ("18446744073709551615", "-9223372036854775808"));
        assert_eq!((value("n.f32"), value("n.f64")), ("0.10000000149011612", "1e+300"));
        assert!(!file.json_keys().contains("general.architecture") && file.json_keys().contains("nested"));
        assert_eq!(
            file.find("f32").map(|at| floats(&file.data(at).unwrap())).unwrap(),
            [1.5, -2.0, 0.0, 4.25, 5.0, -6.5]
        );
        let q8_0 = floats(&file.data(file.find("q8_0").unwrap()).unwrap());
        assert_eq!((q8_0.len(), q8_0[0], q8_0[1], q8_0[31], q8_0[33]), (128, 0.0, 3.5, -19.5, 3.5));
        let q4_0 = floats(&file.data(file.find("q4_0").unwrap()).unwrap());
        // 0, 7, 14, …: the lower half of 14 is 14, which stands for 6.
        assert_eq!((q4_0.len(), q4_0[0], q4_0[2], q4_0[16]), (64, -4.0, 3.0, -4.0));
        for (index, entry) in file.entries().iter().enumerate() {
            // Where data lies as it is, the place says so.
            let plain = entry.block_type != Some("Q8_0") && entry.block_type != Some("Q4_0");
            let bytes = matches!(entry.dtype, DType::Int8 | DType::UInt8);
            assert_eq!(entry.span.is_some(), plain && (!big || bytes), "{}", entry.name);
            if let Some(first) = &first
                && entry.dtype != DType::UInt8
            {
                assert_eq!(file.data(index).unwrap(), first.data(index).unwrap(), "{}", entry.name);
            }
        }
        first = first.or(Some(file));
    }
}

#[test]
fn parts_are_parts_of_the_whole() {
    for big in [false, true] {
        let file = opened(sample(big, 3, 32).build()).unwrap();
        for (name, selection, shape) in [
            ("q8_0", Selection::new().axis(1).axis(30..35), vec![5]),
            ("q8_0", Selection::new().axis(..).axis(63), vec![2]),
            ("q4_0", Selection::new().axis(0..1).axis(1..2), vec![1, 1]),
            ("q4_0", Selection::new().axis(..).stepped(.., 5), vec![2, 7]),
            ("q4_0", Selection::new().axis(0..0), vec![0, 32]),
            ("i32", Selection::new().axis(1).axis(0..2), vec![2]),
            ("none", Selection::new().axis(1..3), vec![2, 0]),
        ] {
            let index = file.find(name).unwrap();
            let entry = &file.entries()[index];
            let (found, part) = file.slice(index, &selection).unwrap();
            let (whole, width) = (file.data(index).unwrap(), entry.dtype.byte_width().unwrap());
            let runs = selection.plan(&entry.shape).unwrap();
            let expected: Vec<u8> = runs
                .runs()
                .flat_map(|run| whole[run.start as usize * width..run.end as usize * width].to_vec())
                .collect();
            assert_eq!((found, part), (shape, expected), "{name} {selection:?}");
        }
    }
}

#[test]
fn conversions_keep_values_and_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (big, input) in [(false, "little.gguf"), (true, "big.gguf")] {
        std::fs::write(at(input), sample(big, 3, 32).build()).unwrap();
        assert_eq!(detect(at(input)).unwrap(), Format::Gguf);
        for to in ["tgm", "bt", "safetensors"] {
            let output = at(&format!("{input}.{to}"));
            let done = convert(at(input), &output, &ConvertOptions::new()).unwrap();
            let notes: Vec<(Feature, Option<&str>)> =
                done.notes.iter().map(|note| (note.feature, note.tensor.as_deref())).collect();
            let decoded = [(Feature::Encoding, Some("q8_0")), (Feature::Encoding, Some("q4_0"))];
            assert_eq!(&notes[notes.len() - 2..], decoded, "{to}");
            assert_eq!(notes.len() == 3, to != "tgm", "values of a message need no JSON text");
            let lost: Vec<Feature> = done.losses.iter().map(|loss| loss.feature).collect();
            assert_eq!(lost, if to == "tgm" { vec![] } else { vec![Feature::Order] }, "{to}");
            let (source, target) = (open(at(input)).unwrap(), open(&output).unwrap());
            let found = diff(&*source, &*target, &DiffOptions::new()).unwrap();
            assert!(found.is_equal(), "{to}: {found:?}");
            assert_eq!(source.metadata(), target.metadata(), "{to}");
            assert_eq!(source.json_keys(), target.json_keys(), "{to}");
            let raw = &target.entries()[target.find("q4_k").unwrap()].attributes;
            assert_eq!((&raw["gguf.type"], &raw["gguf.shape"]), (&"Q4_K".into(), &vec![2, 1, 256].into()), "{to}");
            assert_eq!(raw.get("gguf.byte_order").is_some(), big, "{to}");
        }
        // NumPy has neither bfloat16 nor metadata.
        let refused = convert(at(input), at("x.npz"), &ConvertOptions::new()).unwrap_err();
        assert_eq!(refused.code(), "no_counterpart");
        let done = convert(at(input), at("x.npz"), &ConvertOptions::new().with_missing(Missing::Skip)).unwrap();
        let lost: Vec<Feature> = done.losses.iter().map(|loss| loss.feature).collect();
        assert_eq!(lost, [Feature::Tensor, Feature::TensorMetadata, Feature::Metadata]);
    }
    let refused = convert(at("little.gguf.bt"), at("new.gguf"), &ConvertOptions::new()).unwrap_err();
    let words = "GGUF files can be read but not written; choose Tensogram, BinTensors, safetensors, npy or npz";
    assert_eq!((refused.code(), refused.to_string().as_str()), ("not_writable", words));
    assert!(!at("new.gguf").exists());
}

/// 123 tensors: the byte that a safetensors header begins with stands where one would look for it.
#[test]
fn the_mark_goes_before_a_likeness() {
    let mut maker = Maker::new(false, 3, 32);
    (0..123).for_each(|number| maker.tensor(&format!("t{number}"), &[1], 24, &[1]));
    let bytes = maker.build();
    assert_eq!((bytes[8], Format::of_bytes(&bytes)), (b'{', Some(Format::Gguf)));
    assert_eq!(opened(bytes).unwrap().entries().len(), 123);
}

#[test]
fn what_is_wrong_has_a_code_and_a_place() {
    let maker = Maker::new(false, 3, 32);
    let with = |tensors: u64, entries: u64, parts: &[Vec<u8>]| [maker.head(tensors, entries), parts.concat()].concat();
    let entry = |key: &str, code: u32, value: Vec<u8>| [maker.string(key.as_bytes()), maker.u32(code), value].concat();
    let data = vec![0u8; 256];
    let padded = |mut bytes: Vec<u8>| {
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        [bytes, data.clone()].concat()
    };
    let one = |info: Vec<u8>| padded(with(1, 0, &[info]));
    let two = |a: Vec<u8>, b: Vec<u8>| padded(with(2, 0, &[a, b]));
    let version = |number: u32| [b"GGUF".to_vec(), number.to_le_bytes().to_vec(), vec![0; 16]].concat();
    let deep = (0..20).fold(maker.array(0, &[vec![1]]), |inner, _| maker.array(9, &[inner]));
    let cases: Vec<(&str, u64, Vec<u8>)> = vec![
        ("bad_magic", 0, b"GGUX\x03\0\0\0".to_vec()),
        ("truncated", 0, b"GG".to_vec()),
        ("truncated", 4, b"GGUF\x03".to_vec()),
        ("unknown_version", 4, version(1)),
        ("unknown_version", 4, version(1u32.swap_bytes())),
        ("unknown_version", 4, version(4)),
        ("unknown_version", 4, version(0)),
        ("count_too_large", 8, maker.head(u64::MAX, 0)),
        ("count_too_large", 8, with(2, 0, &[vec![0; 39]])),
        ("count_too_large", 16, maker.head(0, 1 << 60)),
        ("truncated", 32, with(0, 1, &[maker.u64(1000), vec![b'k'; 20]])),
        ("name_too_long", 24, with(0, 1, &[maker.u64(1 << 40), vec![b'k'; 20]])),
        ("invalid_utf8", 24, with(0, 1, &[maker.string(b"\xff"), maker.u32(0), vec![1]])),
        ("unknown_value_type", 37, with(0, 1, &[entry("k", 13, vec![0; 8])])),
        ("invalid_bool", 37, with(0, 1, &[entry("k", 7, vec![2])])),
        ("truncated", 45, with(0, 1, &[entry("k", 8, maker.u64(u64::MAX))])),
        ("count_too_large", 41, with(0, 1, &[entry("k", 9, [maker.u32(8), maker.u64(1 << 61)].concat())])),
        ("count_too_large", 41, with(0, 1, &[entry("k", 9, [maker.u32(0), maker.u64(2), vec![1]].concat())])),
        ("nesting_too_deep", 229, with(0, 1, &[entry("k", 9, deep)])),
        ("duplicate_key", 38, with(0, 2, &[entry("k", 0, vec![1]), entry("k", 0, vec![1])])),
        ("invalid_alignment", 24, with(0, 1, &[entry("general.alignment", 4, maker.u32(0))])),
        ("invalid_alignment", 24, with(0, 1, &[entry("general.alignment", 4, maker.u32(24))])),
        ("invalid_alignment", 24, with(0, 1, &[entry("general.alignment", 10, maker.u64(32))])),
        ("too_many_dimensions", 24, one(maker.info("t", &[1; 5], 0, 0))),
        ("too_many_dimensions", 24, with(1, 0, &[maker.string(b"t"), maker.u32(u32::MAX), vec![0; 64]])),
        ("unknown_dtype", 24, one(maker.info("t", &[1], 99, 0))),
        // Once known, and gone.
        ("unknown_dtype", 24, one(maker.info("t", &[32], 4, 0))),
        ("invalid_shape", 24, one(maker.info("t", &[33], 8, 0))),
        ("invalid_shape", 24, one(maker.info("t", &[], 8, 0))),
        ("shape_overflow", 24, one(maker.info("t", &[1 << 32, 1 << 32], 0, 0))),
        ("shape_overflow", 24, one(maker.info("t", &[1 << 62], 26, 0))),
        ("misaligned_offset", 24, one(maker.info("t", &[1], 0, 4))),
        ("invalid_offset", 24, one(maker.info("t", &[65], 0, 0))),
        ("invalid_offset", 24, one(maker.info("t", &[1], 0, 256))),
        ("invalid_offset", 24, one(maker.info("t", &[1], 0, u64::MAX - 31))),
        ("duplicate_tensor_name", 57, two(maker.info("t", &[8], 0, 0), maker.info("t", &[8], 0, 32))),
        ("overlapping_tensors", 128, two(maker.info("a", &[9], 0, 0), maker.info("b", &[8], 0, 32))),
        ("overlapping_tensors", 96, two(maker.info("a", &[8], 0, 0), maker.info("b", &[8], 0, 0))),
    ];
    for (number, (code, place, bytes)) in cases.into_iter().enumerate() {
        let error = opened(bytes).map(drop).unwrap_err();
        assert_eq!((error.code(), error.position()), (code, Some(place)), "case {number}: {error}");
    }
    assert_eq!(
        opened(version(1)).map(drop).unwrap_err().to_string(),
        "unsupported GGUF version 1, expected 2 or 3 at byte 4 (0x4)"
    );
}

/// Values that JSON has no form for are told, and keep nobody from the file.
#[test]
fn odd_values_become_text() {
    let mut maker = Maker::new(false, 3, 32);
    let nan = maker.array(6, &[1f32.to_le_bytes().to_vec(), f32::NAN.to_le_bytes().to_vec()]);
    maker.entry("nan", 9, &nan);
    let bytes = maker.string(b"a\xffb");
    maker.entry("bytes", 8, &bytes);
    let file = opened(maker.build()).unwrap();
    let metadata = file.metadata().unwrap();
    assert_eq!((metadata["nan"].as_str(), metadata["bytes"].as_str()), ("[1.0,\"NaN\"]", "a\u{fffd}b"));
    assert!(file.json_keys().is_empty());
    assert_eq!(file.remarks().iter().filter(|loss| loss.feature == Feature::Metadata).count(), 2);
}

#[test]
fn validation_finds_faults_and_unused_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gguf");
    let report = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Format::Gguf.validate(&path, &ValidateOptions::default().with_data()).unwrap()
    };
    let bytes = sample(false, 3, 32).build();
    assert!(report(&bytes).findings().is_empty());
    let padded = [&bytes[..], &vec![0; bytes.len().next_multiple_of(32) - bytes.len()]].concat();
    assert!(report(&padded).findings().is_empty(), "padding at the end is no fault");
    let longer = report(&[&padded[..], b"hidden"].concat());
    assert_eq!((longer.is_ok(), longer.findings()[0].code.to_string()), (true, "unused_bytes".to_owned()));
    let shorter = report(&bytes[..bytes.len() - 1]);
    assert_eq!((shorter.is_ok(), shorter.findings()[0].code.to_string()), (false, "invalid_offset".to_owned()));
    let tree = Format::Gguf.dump(&path).unwrap();
    assert_eq!(tree.children[0].label, "unreadable");
    std::fs::write(&path, &bytes).unwrap();
    let labels: Vec<String> = Format::Gguf.dump(&path).unwrap().children.into_iter().map(|node| node.label).collect();
    let known = ["magic", "version", "tensor count", "metadata count", "metadata", "tensor infos"];
    assert_eq!((&labels[..6], labels.last().unwrap().as_str()), (&known.map(str::to_owned)[..], "data"));
}

/// The `gguf` package writes files, and tells what is in them.
#[test]
fn files_of_the_reference_read_alike() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    run(&python, &["make", folder.path().to_str().unwrap()]);
    // Our own file is one to them, too.
    std::fs::write(folder.path().join("ours.gguf"), sample(false, 3, 64).build()).unwrap();
    let mut seen = 0;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let reference: serde_json::Value =
            serde_json::from_str(&run(&python, &["tell", path.to_str().unwrap()])).unwrap();
        compare(&path, &reference);
        seen += 1;
    }
    assert_eq!(seen, 4);
}

fn compare(path: &Path, reference: &serde_json::Value) {
    let file = open(path).unwrap();
    assert_eq!(file.entries().len(), reference["tensors"].as_array().unwrap().len());
    for (index, (entry, theirs)) in file.entries().iter().zip(reference["tensors"].as_array().unwrap()).enumerate() {
        assert_eq!(entry.name, theirs["name"].as_str().unwrap());
        assert_eq!(serde_json::json!(entry.shape), theirs["shape"], "{}", entry.name);
        let named = entry.block_type.unwrap_or(theirs["type"].as_str().unwrap());
        assert_eq!(named, theirs["type"].as_str().unwrap(), "{}", entry.name);
        let hex: String = file.data(index).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, theirs["data"].as_str().unwrap(), "{path:?} {}", entry.name);
    }
    let ours = file.metadata().unwrap();
    let theirs = reference["fields"].as_object().unwrap();
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (key, text) in ours {
        let value = match file.json_keys().contains(key) {
            true => serde_json::from_str(text).unwrap(),
            false => serde_json::Value::from(text.as_str()),
        };
        assert_eq!(&flat(value), &theirs[key], "{key}");
    }
}

/// The package shows arrays of arrays as one list.
fn flat(value: serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Array(items) if items.iter().any(serde_json::Value::is_array) => {
            items.into_iter().flat_map(|item| item.as_array().cloned().unwrap_or_default()).collect()
        }
        value => value,
    }
}

fn python() -> Option<std::path::PathBuf> {
    let wanted = "an interpreter with numpy and gguf";
    let Some(found) = std::env::var_os("FW_PYTHON").map(std::path::PathBuf::from) else {
        return skip(&format!("FW_PYTHON does not name {wanted}"));
    };
    let imports = Command::new(&found).args(["-c", "import numpy, gguf"]).output();
    if imports.is_ok_and(|output| output.status.success()) {
        return Some(found);
    }
    skip(&format!("{} is not {wanted}", found.display()))
}

/// Says so on the terminal, and in the file that the project's test command gathers skips from.
fn skip(why: &str) -> Option<std::path::PathBuf> {
    let line = format!("SKIPPED: {}: {why}", module_path!());
    eprintln!("{line}");
    if let Some(log) = std::env::var_os("FW_SKIPPED") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
        std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).unwrap();
    }
    None
}

fn run(python: &Path, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gguf/reference.py");
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
