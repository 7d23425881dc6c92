//! PyTorch checkpoints: files that PyTorch wrote read equal, everything else is refused by name.

mod torch {
    pub(crate) mod maker;
}

use fw_bintensors::validate::ValidateOptions;
use fw_bintensors::{Profile, ReadOptions};
use fw_convert::{
    ConvertError, ConvertOptions, DiffOptions, Feature, Format, TensorFile, convert, detect, diff, open, validate,
};
use fw_tensor::select;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use torch::maker::{Pickle, archive, checkpoint, sample};

fn given(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch").join(name)
}

fn opened(bytes: Vec<u8>) -> Result<Box<dyn TensorFile>, ConvertError> {
    Format::Torch.open_source(bytes.into_boxed_slice(), "m.pt", &ReadOptions::default())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What PyTorch itself read of them when they were made: names in order, types, shapes, elements.
#[test]
fn files_of_pytorch_read_equal() {
    let expected: Value = serde_json::from_slice(&std::fs::read(given("expected.json")).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, tensors) in expected.as_object().unwrap() {
        assert_eq!(detect(given(name)).unwrap(), Format::Torch, "{name}");
        let file = open(given(name)).unwrap();
        let found: Vec<Value> = file
            .entries()
            .iter()
            .enumerate()
            .map(|(index, entry)| {
                let data = file.data(index).unwrap();
                if let Some(span) = entry.span {
                    let bytes = std::fs::read(given(name)).unwrap();
                    assert_eq!(bytes[span.start as usize..span.end as usize], data, "{name} {}", entry.name);
                }
                json!({ "name": entry.name, "dtype": entry.dtype.name(), "shape": entry.shape, "data": hex(&data) })
            })
            .collect();
        assert_eq!(&Value::from(found), tensors, "{name}");
        // And so does what they are converted to.
        for end in ["safetensors", "bt", "tgm", "npz"] {
            if name == "types.pt" && matches!(end, "npz" | "safetensors") {
                continue;
            }
            let to = folder.path().join(format!("{name}.{end}"));
            convert(given(name), &to, &ConvertOptions::new()).unwrap();
            let options = DiffOptions::new().with_metadata(fw_convert::Metadata::Ignore);
            assert!(diff(&*file, &*open(&to).unwrap(), &options).unwrap().is_equal(), "{name} {end}");
        }
        let full = ValidateOptions::new(Profile::Default).with_data();
        assert!(validate(given(name), &full).unwrap().is_ok(), "{name}");
    }
}

#[test]
fn what_is_not_a_tensor_becomes_metadata() {
    let file = open(given("checkpoint.pt")).unwrap();
    let text = |key: &str| file.metadata().unwrap().get(key).cloned().unwrap_or_else(|| panic!("{key}"));
    assert_eq!(text("epoch"), "3");
    assert_eq!(text("device"), "cpu");
    assert_eq!(text("size"), "[2,3]");
    assert_eq!(text("blob"), "\"00ff\"");
    assert_eq!(text("counts"), r#"{"a":2,"b":1}"#);
    let arguments: Value = serde_json::from_str(&text("arguments")).unwrap();
    let expected = json!({
        "name": "tiny", "rates": [0.1, 0.01], "best": null, "flags": [true, false], "seed": "1180591620717411303424"
    });
    assert_eq!(arguments, expected);
    assert!(text("model._metadata").contains("\"version\":1"));
    assert!(file.json_keys().contains("epoch") && !file.json_keys().contains("device"));
    let lossy: Vec<_> =
        file.remarks().into_iter().filter(|loss| !loss.feature.is_note()).map(|loss| loss.what).collect();
    let words = |key: &str| format!("{key:?} becomes text that does not give its value back");
    assert_eq!(lossy, [words("arguments"), words("seen"), words("blob")]);
    // Tied weights are one storage.
    let state = open(given("state.pt")).unwrap();
    let shared: Vec<_> = state.remarks().into_iter().filter(|loss| loss.feature == Feature::SharedStorage).collect();
    assert_eq!(
        shared[0].to_string(),
        "note, shared storage: shares its storage with \"embed.weight\": each is written with its own data (\"head.weight\")"
    );
    assert_eq!(state.metadata().unwrap().keys().collect::<Vec<_>>(), ["_metadata"]);
}

/// Each with the code, and the name of what is refused.
#[test]
fn what_pytorch_writes_beside_tensors_is_refused_by_name() {
    for (name, code, words) in [
        ("namespace.pt", "unsafe_pickle", "argparse.Namespace"),
        ("sparse.pt", "unsafe_pickle", "torch._utils._rebuild_sparse_tensor"),
        ("quantised.pt", "unsafe_pickle", "torch._utils._rebuild_qtensor"),
        ("script.pt", "torchscript", "torch.jit.load(FILE).state_dict()"),
        ("legacy.pt", "legacy_torch", "before version 1.6"),
    ] {
        let error = open(given(name)).err().unwrap_or_else(|| panic!("{name} is refused"));
        assert_eq!(error.code(), code, "{name}");
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
}

/// The classic: a pickle that runs a command. It is named, with its place in the file.
#[test]
fn no_code_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("proof");
    let command = format!("touch {}", proof.display());
    for (module, name) in
        [("os", "system"), ("posix", "system"), ("builtins", "eval"), ("__builtin__", "exec"), ("torch.hub", "load")]
    {
        let mut pickle = Pickle::new();
        let pickle = pickle.op(format!("c{module}\n{name}\n(").as_bytes()).text(&command).op(b"tR").end();
        let error = opened(checkpoint(&pickle, &[])).err().expect("refused");
        assert_eq!((error.code(), error.position()), ("unsafe_pickle", Some(30 + 10 + 2)), "{error}");
        assert!(error.to_string().contains(&format!("refers to {module}.{name}, which is refused")), "{error}");
    }
    // The same through the stack, through INST, and by calling what is no function.
    let mut stack = Pickle::new();
    let stack = stack.text("os").text("system").op(b"\x93").text(&command).op(b"\x85R").end();
    let inst = [b"(X\x02\0\0\0ls", &b"ios\nsystem\n."[..]].concat();
    let mut called = Pickle::new();
    let called = called.op(b"ctorch\nTensor\n)R").end();
    for pickle in [&stack[..], &inst, &called, b"(c__main__\nf\no.", b"Pid\n.", b"\x82\x01.", b"\x97.", b")}\x92."] {
        assert_eq!(opened(checkpoint(pickle, &[])).err().expect("refused").code(), "unsafe_pickle");
    }
    assert!(!proof.exists());
}

/// A matrix by columns, a part, values beside them; the same in a zip64, and big endian.
#[test]
fn checkpoints_made_by_hand() {
    let file = opened(sample()).unwrap();
    let names: Vec<&str> = file.entries().iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["w", "v"]);
    let floats =
        |bytes: &[u8]| -> Vec<f32> { bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect() };
    assert_eq!(floats(&file.data(0).unwrap())[..7], [0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 1.0]);
    assert_eq!(floats(&file.data(1).unwrap()), [2.0, 3.0, 4.0]);
    assert_eq!(floats(&file.slice(0, &select![1..3, 5]).unwrap().1), [21.0, 22.0]);
    assert_eq!(floats(&file.slice(1, &select![1..]).unwrap().1), [3.0, 4.0]);
    let metadata = file.metadata().unwrap();
    assert_eq!(metadata["n"], r#"{"epoch":7,"list":[1.5,null],"name":"tiny"}"#);

    let data: Vec<u8> = (0..6u16).flat_map(u16::to_be_bytes).collect();
    let mut pickle = Pickle::new();
    pickle.op(b"}(").text("rows").tensor(("ShortStorage", "0", 6), 0, &[2, 3], &[3, 1]);
    pickle.text("columns").tensor(("ShortStorage", "0", 6), 0, &[3, 2], &[1, 3]);
    let pickle = pickle.op(b"u").end();
    let entries = [("x/data.pkl", &pickle[..]), ("x/byteorder", b"big"), ("x/data/0", &data), ("x/version", b"3\n")];
    let file = opened(archive(&entries, true)).unwrap();
    let shorts =
        |bytes: &[u8]| -> Vec<i16> { bytes.as_chunks().0.iter().map(|two| i16::from_le_bytes(*two)).collect() };
    assert_eq!(shorts(&file.data(0).unwrap()), [0, 1, 2, 3, 4, 5]);
    assert_eq!(shorts(&file.slice(0, &select![.., 1]).unwrap().1), [1, 4]);
    assert_eq!(shorts(&file.data(1).unwrap()), [0, 3, 1, 4, 2, 5]);
    assert!(file.entries().iter().all(|entry| entry.span.is_none()));
    // As newer versions write types without a storage of their own: bytes, and the type beside them.
    let mut pickle = Pickle::new();
    pickle.op(b"}").text("f8").op(b"ctorch._utils\n_rebuild_tensor_v3\n((").text("storage");
    pickle.op(b"ctorch.storage\nUntypedStorage\n").text("0").text("cpu").int(12).op(b"tQK\x02(K\x02K\x05t(K\x05K\x01t");
    let pickle = pickle.op(b"\x89ccollections\nOrderedDict\n)Rctorch\nfloat8_e4m3fn\ntRs").end();
    let file = opened(checkpoint(&pickle, &[("0", &data)])).unwrap();
    assert_eq!((file.entries()[0].dtype.name(), file.data(0).unwrap()), ("float8_e4m3", data[2..].to_vec()));
}

#[test]
fn faults_have_codes() {
    let data = [0u8; 16];
    let one = |offset: u64, shape: &[u64], strides: &[u64]| {
        let mut pickle = Pickle::new();
        pickle.op(b"}").text("w").tensor(("FloatStorage", "0", 4), offset, shape, strides);
        checkpoint(&pickle.op(b"s").end(), &[("0", &data)])
    };
    assert!(opened(one(0, &[4], &[1])).is_ok() && opened(one(9, &[0], &[1])).is_ok());
    let plain = |bytes: &[u8]| checkpoint(bytes, &[]);
    let mut missing = Pickle::new();
    let missing = missing.tensor(("FloatStorage", "7", 4), 0, &[4], &[1]).end();
    let mut long = Pickle::new();
    let long = long.tensor(("FloatStorage", "0", 5), 0, &[4], &[1]).end();
    let mut twice = Pickle::new();
    twice.op(b"}(").text("a.b").tensor(("FloatStorage", "0", 4), 0, &[4], &[1]).text("a").op(b"}").text("b");
    let twice = twice.tensor(("FloatStorage", "0", 4), 0, &[4], &[1]).op(b"su").end();
    let mut lazy = Pickle::new();
    lazy.op(b"ctorch._utils\n_rebuild_tensor_v2\n(")
        .storage("ComplexFloatStorage", "0", 2)
        .int(0)
        .tuple(&[2])
        .tuple(&[1]);
    let lazy = lazy.op(b"\x89N}").text("conj").op(b"\x88stR").end();
    let deep = [vec![b']'; 100], vec![b'a'; 99], vec![b'.']].concat();
    let rank = [b"(".to_vec(), b"K\x01".repeat(65), b"t".to_vec()].concat();
    let mut axes = Pickle::new();
    let axes = axes
        .op(b"ctorch._utils\n_rebuild_tensor\n(")
        .storage("FloatStorage", "0", 4)
        .int(0)
        .op(&rank)
        .op(&rank)
        .op(b"tR")
        .end();
    // A list of two of the list before, thirty times.
    let bomb = [
        b"]q\x00K\x01a".to_vec(),
        (0..30u8).flat_map(|n| [b'(', b'h', n, b'h', n, b'l', b'q', n + 1]).collect(),
        b".".to_vec(),
    ]
    .concat();
    for (bytes, code) in [
        (one(1, &[4], &[1]), "invalid_offset"),
        (one(0, &[2, 2], &[3, 1]), "invalid_offset"),
        (one(u64::MAX, &[4], &[1]), "invalid_offset"),
        (one(0, &[u64::MAX, 2], &[1, 1]), "invalid_slice"),
        (one(0, &[1 << 40], &[0]), "expanded_tensor"),
        (one(0, &[2], &[u64::MAX]), "invalid_offset"),
        (checkpoint(&missing, &[("0", &data)]), "missing_storage"),
        (checkpoint(&long, &[("0", &data)]), "tensor_size_mismatch"),
        (checkpoint(&twice, &[("0", &data)]), "duplicate_tensor_name"),
        (checkpoint(&lazy, &[("0", &data)]), "lazy_tensor"),
        (checkpoint(&axes, &[("0", &data)]), "too_many_axes"),
        (archive(&[("x/data.pkl", b"N."), ("x/byteorder", b"middle")], false), "invalid_byte_order"),
        (plain(b""), "truncated"),
        (plain(b"N"), "truncated"),
        (plain(b"X\xff\xff\xff\xffabc"), "truncated"),
        (plain(b"."), "invalid_pickle"),
        (plain(b"\x80\x06N."), "unknown_version"),
        (plain(b"\xffN."), "invalid_pickle"),
        (plain(b"h\x05."), "invalid_pickle"),
        (plain(b"\x8a\x11aaaaaaaaaaaaaaaaa."), "number_too_large"),
        (plain(&deep), "nesting_too_deep"),
        (plain(b"]q\x00h\x00a."), "unsupported_checkpoint"),
        (plain(&bomb), "too_many_copies"),
        (archive(&[("x/other", b"")], false), "not_a_checkpoint"),
    ] {
        let error = opened(bytes).err().unwrap_or_else(|| panic!("{code}"));
        assert_eq!(error.code(), code, "{error}");
    }
    // Compressed data is refused, a compressed pickle is read.
    let mut pickle = Pickle::new();
    let pickle = pickle.tensor(("FloatStorage", "0", 4), 0, &[4], &[1]).end();
    let packed = archive(&[("x/data.pkl.deflated", &pickle), ("x/data/0.deflated", &data)], false);
    assert_eq!(opened(packed).err().unwrap().code(), "compressed_storage");
    assert!(opened(archive(&[("x/data.pkl.deflated", &pickle), ("x/data/0", &data)], false)).is_ok());
}

/// A checksum that does not fit is said, and does not keep anyone from the data: PyTorch can be told to write none.
#[test]
fn wrong_checksums_are_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.pt");
    let mut bytes = sample();
    let at = bytes.windows(8).position(|eight| eight == [0, 0, 0, 0, 0, 0, 0x80, 0x3f]).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(open(&path).unwrap().data(1).unwrap().len(), 12);
    let report = validate(&path, &ValidateOptions::new(Profile::Default).with_data()).unwrap();
    let found: Vec<_> = report.findings().iter().map(|finding| finding.code.to_string()).collect();
    assert_eq!(found, ["checksum_mismatch"]);
    assert!(report.is_ok());
}
