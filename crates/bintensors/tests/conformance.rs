//! Every vector of the manifests, read every way and written again. Clause numbers are those of
//! `docs/spec/bintensors.md`.

mod common;

use common::{load_json, vectors};
use digest::Digest;
use fw_bintensors::validate::{ValidateOptions, validate};
use fw_bintensors::{
    Algorithm, BinTensors, Dtype, Metadata, Plan, PlannedWriter, Profile, ReadOptions, Reader, Shape, TensorView, View,
    WriteOptions, serialize_to_writer, serialize_with, serialize_with_checksum, verify,
};
use fw_tensor::{AxisSlice, Selection};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn verdict<T>(result: Result<T, fw_bintensors::BinTensorError>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.class().to_owned(),
    }
}

/// BT-7, BT-8: the verdict of each profile, from a buffer and from a source, with and without the file's length, and
/// the validator's agreement with it.
#[test]
fn verdicts_of_every_profile() {
    let manifest = load_json("manifest.json");
    let cases = manifest["cases"].as_array().unwrap();
    assert!(cases.len() >= 267, "the manifest lost cases");
    for case in cases {
        let file = case["file"].as_str().unwrap();
        let bytes = std::fs::read(vectors().join(file)).unwrap();
        assert_eq!(bytes.len() as u64, case["size"].as_u64().unwrap(), "{file}");
        assert_eq!(hex(&sha2::Sha256::digest(&bytes)), case["sha256"].as_str().unwrap(), "{file}");
        for profile in Profile::ALL {
            let options = ReadOptions::new().with_profile(profile);
            let expected = case["outcome"][profile.name()].as_str().unwrap();
            let found = verdict(BinTensors::deserialize_with(&bytes, &options));
            let allowed = |class: &str| {
                class == expected
                    || (class != "ok"
                        && case["error_any_of"].as_array().is_some_and(|any| any.iter().any(|any| any == class)))
            };
            assert!(allowed(&found), "{file} in {}: expected {expected}, found {found}", profile.name());
            let source = verdict(Reader::new(&bytes[..], &options));
            assert_eq!(source, found, "{file}: a source and a buffer give one verdict");
            let report = validate(&bytes[..], &ValidateOptions::new(profile).with_data()).unwrap();
            assert_eq!(report.is_ok(), found == "ok", "{file} in {}: {:?}", profile.name(), report.findings());
            // Without the file's length every check but the last one runs.
            if found != "ok" && found != "MetadataIncompleteBuffer" && found != "InvalidHeaderLength" {
                assert_eq!(verdict(Metadata::parse(&bytes, None, &options)), found, "{file}");
            }
        }
    }
}

/// BT-3 to BT-5, BT-10: what readable files say, tensor by tensor.
#[test]
fn contents_of_every_readable_file() {
    let manifest = load_json("manifest.json");
    let compat = ReadOptions::new().with_profile(Profile::Compat);
    let mut tensors = 0;
    for case in manifest["cases"].as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        if case["outcome"]["compat"] != "ok" {
            continue;
        }
        let bytes = std::fs::read(vectors().join(file)).unwrap();
        let parsed = BinTensors::deserialize_with(&bytes, &compat).unwrap();
        let metadata = parsed.metadata();
        assert_eq!(metadata.header_len(), case["header_size"].as_u64().unwrap(), "{file}");
        assert_eq!(metadata.data_start(), case["data_start"].as_u64().unwrap(), "{file}");
        let padding = metadata.header_len() - metadata.body_len();
        assert_eq!(padding, case["padding_len"].as_u64().unwrap(), "{file}");
        match (&case["metadata"], metadata.metadata()) {
            (Value::Null, None) => {}
            (Value::Object(expected), Some(user)) => {
                let expected: BTreeMap<_, _> =
                    expected.iter().map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned())).collect();
                assert_eq!(user.to_map(), expected, "{file}");
                for (key, value) in &expected {
                    assert_eq!(user.get(key), Some(value.as_str()), "{file}");
                }
            }
            (expected, found) => panic!("{file}: expected metadata {expected}, found {found:?}"),
        }
        let keys: Vec<&str> = case["offset_keys"].as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect();
        assert_eq!(parsed.names().collect::<Vec<_>>(), keys, "{file}");
        let described = case["tensors"].as_array().unwrap();
        assert_eq!(described.len(), parsed.len(), "{file}");
        for (expected, (name, view)) in described.iter().zip(parsed.iter()) {
            tensors += 1;
            assert_eq!(name, expected["name"].as_str().unwrap(), "{file}");
            assert_eq!(view.dtype().name(), expected["dtype"].as_str().unwrap(), "{file}: {name}");
            let shape: Vec<u64> =
                expected["shape"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).collect();
            assert_eq!(view.shape(), shape, "{file}: {name}");
            let info = metadata.info(name).unwrap();
            assert_eq!(info.data_offsets.0, expected["data_offsets"][0].as_u64().unwrap(), "{file}: {name}");
            assert_eq!(info.data_offsets.1, expected["data_offsets"][1].as_u64().unwrap(), "{file}: {name}");
            assert_eq!(hex(&sha2::Sha256::digest(view.data())), expected["sha256"].as_str().unwrap(), "{file}: {name}");
            if let Some(data) = expected["data_hex"].as_str() {
                assert_eq!(hex(view.data()), data, "{file}: {name}");
            }
            assert_eq!(parsed.tensor(name).unwrap(), view, "{file}: found by name as by order");
            if let Some(values) = expected["values"].as_array() {
                check_values(&view, values, &format!("{file}: {name}"));
            }
        }
        assert_eq!(parsed.tensor("no such tensor").unwrap_err().class(), "TensorNotFound");
        for (name, algorithm) in
            [("sha1", Algorithm::Sha1), ("sha256", Algorithm::Sha256), ("sha3_256", Algorithm::Sha3_256)]
        {
            assert_eq!(hex(&algorithm.digest(&bytes)), case["checksums"][name].as_str().unwrap(), "{file}");
        }
    }
    assert_eq!(tensors, 2107);
}

/// Values as the manifest spells them; types of eight bits and bfloat16 are compared by their bytes above.
fn check_values(view: &TensorView<'_>, values: &[Value], place: &str) {
    let number = |value: &Value| match value {
        Value::String(text) => match text.as_str() {
            "nan" => f64::NAN,
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            "-0.0" => -0.0,
            other => panic!("{place}: {other}"),
        },
        value => value.as_f64().unwrap(),
    };
    // The JSON parser may be one unit off in the last place of a double; exact bytes are compared by the caller.
    let same = |found: f64, value: &Value| {
        let expected = number(value);
        let close = (found - expected).abs() <= expected.abs() * 1e-15
            && found.is_sign_negative() == expected.is_sign_negative();
        assert!(
            close || found == expected && found.is_infinite() || found.is_nan() && expected.is_nan(),
            "{place}: {value}, {found}"
        );
    };
    match view.dtype() {
        Dtype::F32 => view.to_vec::<f32>().unwrap().into_iter().zip(values).for_each(|(v, e)| same(f64::from(v), e)),
        Dtype::F64 => view.to_vec::<f64>().unwrap().into_iter().zip(values).for_each(|(v, e)| same(v, e)),
        Dtype::I64 => {
            let found: Vec<Value> = view.to_vec::<i64>().unwrap().into_iter().map(Value::from).collect();
            assert_eq!(found, values, "{place}");
        }
        Dtype::U64 => {
            let found: Vec<Value> = view.to_vec::<u64>().unwrap().into_iter().map(Value::from).collect();
            assert_eq!(found, values, "{place}");
        }
        Dtype::I16 => {
            let found: Vec<Value> = view.to_vec::<i16>().unwrap().into_iter().map(Value::from).collect();
            assert_eq!(found, values, "{place}");
        }
        _ => {}
    }
}

/// BT-6: the default writer reproduces every canonical file from its tensors given backwards, in memory, by plan and
/// with a checksum.
#[test]
fn canonical_files_are_written_again_byte_for_byte() {
    let manifest = load_json("manifest.json");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("planned.bt");
    let mut written = 0;
    for case in manifest["cases"].as_array().unwrap() {
        if case["outcome"]["canonical"] != "ok" {
            continue;
        }
        let file = case["file"].as_str().unwrap();
        let bytes = std::fs::read(vectors().join(file)).unwrap();
        let parsed = BinTensors::deserialize(&bytes).unwrap();
        let mut tensors = parsed.tensors();
        tensors.reverse();
        let mut options = WriteOptions::new();
        options.metadata = parsed.metadata().metadata().map(|user| user.to_map());
        assert!(serialize_with(tensors.clone(), &options).unwrap() == bytes, "{file}");

        let map: Option<HashMap<String, String>> = options.metadata.clone().map(|map| map.into_iter().collect());
        let summed = serialize_with_checksum(tensors.clone(), &map, sha1::Sha1::new()).unwrap();
        assert!(summed.buffer == bytes, "{file}");
        assert_eq!(hex(&summed.checksum), case["checksums"]["sha1"].as_str().unwrap());
        verify(&bytes[..], &summed.checksum, Algorithm::Sha1).unwrap();

        let infos = tensors.iter().map(|(name, view)| (*name, view.dtype(), Shape::from(view.shape())));
        let writer = PlannedWriter::create(&target, infos, &options).unwrap().with_file_digest(Algorithm::Sha256);
        for (name, view) in &tensors {
            writer.write(name, view.data()).unwrap();
        }
        let digest = writer.finish().unwrap().digest.unwrap();
        assert_eq!(hex(&digest), case["sha256"].as_str().unwrap(), "{file}");
        assert!(std::fs::read(&target).unwrap() == bytes, "{file}");
        written += 1;
    }
    assert!(written >= 79, "only {written} canonical files");
}

/// BT-11: slices follow NumPy, in place and by ranges of a source.
#[test]
fn slices_follow_numpy() {
    let cases = load_json("slices.json");
    let bytes = std::fs::read(vectors().join("slices.bt")).unwrap();
    let file = BinTensors::deserialize(&bytes).unwrap();
    let reader = Reader::open(vectors().join("slices.bt")).unwrap();
    for case in cases["cases"].as_array().unwrap() {
        let name = case["tensor"].as_str().unwrap();
        let selection: Selection = case["index"].as_array().unwrap().iter().map(axis).collect();
        let found = file.tensor(name).unwrap().slice(&selection);
        if case["expect"]["error"].is_string() {
            assert_eq!(found.unwrap_err().class(), "InvalidSlice", "{case}");
            assert_eq!(reader.slice(name, &selection).unwrap_err().class(), "InvalidSlice", "{case}");
            continue;
        }
        let found = found.unwrap();
        let shape: Vec<u64> =
            case["expect"]["shape"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).collect();
        assert_eq!(found.shape(), shape, "{case}");
        assert_eq!(hex(&found.to_vec()), case["expect"]["data_hex"].as_str().unwrap(), "{case}");
        assert_eq!(reader.slice(name, &selection).unwrap(), (shape, found.to_vec()), "{case}");
        if let Some(whole) = found.as_contiguous() {
            assert_eq!(whole, found.to_vec());
        }
    }
}

fn axis(value: &Value) -> AxisSlice {
    if let Some(index) = value["index"].as_i64() {
        return AxisSlice::Index(index);
    }
    if value["ellipsis"] == true {
        return AxisSlice::Ellipsis;
    }
    let bound = |place: usize| value["slice"][place].as_i64();
    AxisSlice::Range { start: bound(0), end: bound(1), step: bound(2).unwrap_or(1) }
}

/// BT-6: files too large to ship, by their headers and digests; the last one streams 320 MB of zeros.
#[test]
fn recipes() {
    let recipes = load_json("recipes.json");
    let mut seen = 0;
    for recipe in recipes["recipes"].as_array().unwrap() {
        let name = recipe["name"].as_str().unwrap();
        let tensors = match name {
            "gpt2_5_blocks_zero" => gpt2_blocks(),
            _ => recipe["tensors"].as_array().unwrap().iter().map(recipe_tensor).collect(),
        };
        let plan = Plan::new(tensors.clone(), &WriteOptions::new()).unwrap();
        if let Some(header) = recipe["header_hex"].as_str() {
            assert_eq!(hex(plan.head()), header, "{name}");
            // The header alone can be read, without the gigabytes that follow it.
            let parsed = Metadata::parse(
                plan.head(),
                Some(plan.file_len()),
                &ReadOptions::new().with_profile(Profile::Canonical),
            )
            .unwrap();
            assert_eq!(parsed.len(), tensors.len());
            assert_eq!(parsed.data_len(), plan.data_len());
        }
        if let Some(len) = recipe["file_size"].as_u64() {
            assert_eq!(plan.file_len(), len, "{name}");
            let filled = plan.tensors().iter().enumerate().map(|(order, tensor)| {
                let len = tensor.data_offsets.1 - tensor.data_offsets.0;
                let zero = name == "gpt2_5_blocks_zero";
                (tensor.name.clone(), Filled { dtype: tensor.dtype, shape: tensor.shape.clone(), len, order, zero })
            });
            let mut digests = Digests::default();
            serialize_to_writer(filled, &WriteOptions::new(), &mut digests).unwrap();
            assert_eq!(hex(&digests.sha1.finalize()), recipe["sha1"].as_str().unwrap(), "{name}");
            assert_eq!(hex(&digests.sha256.finalize()), recipe["sha256"].as_str().unwrap(), "{name}");
        }
        seen += 1;
    }
    assert!(seen >= 4);
}

fn recipe_tensor(tensor: &Value) -> (String, Dtype, Shape) {
    let shape: Vec<u64> = tensor["shape"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).collect();
    let dtype = tensor["dtype"].as_str().unwrap().parse().unwrap();
    (tensor["name"].as_str().unwrap().to_owned(), dtype, shape.into())
}

fn gpt2_blocks() -> Vec<(String, Dtype, Shape)> {
    let mut tensors: Vec<(String, &[u64])> = vec![
        ("wte".into(), &[50257, 768]),
        ("wpe".into(), &[1024, 768]),
        ("ln_f.weight".into(), &[768]),
        ("ln_f.bias".into(), &[768]),
    ];
    let block: [(&str, &[u64]); 13] = [
        ("ln_1.weight", &[768]),
        ("ln_1.bias", &[768]),
        ("attn.bias", &[1, 1, 1024, 1024]),
        ("attn.c_attn.weight", &[768, 2304]),
        ("attn.c_attn.bias", &[2304]),
        ("attn.c_proj.weight", &[768, 768]),
        ("attn.c_proj.bias", &[768]),
        ("ln_2.weight", &[768]),
        ("ln_2.bias", &[768]),
        ("mlp.c_fc.weight", &[768, 3072]),
        ("mlp.c_fc.bias", &[3072]),
        ("mlp.c_proj.weight", &[3072, 768]),
        ("mlp.c_proj.bias", &[768]),
    ];
    for number in 0..5 {
        tensors.extend(block.iter().map(|(name, shape)| (format!("h.{number}.{name}"), *shape)));
    }
    tensors.into_iter().map(|(name, shape)| (name, Dtype::F32, shape.into())).collect()
}

/// A tensor made when its turn comes.
struct Filled {
    dtype: Dtype,
    shape: Shape,
    len: u64,
    order: usize,
    zero: bool,
}

impl View for Filled {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        if self.zero {
            return Cow::Owned(vec![0; self.len as usize]);
        }
        Cow::Owned((0..self.len).map(|i| (7 * i + 13 * self.order as u64 + 3) as u8).collect())
    }

    fn data_len(&self) -> u64 {
        self.len
    }
}

#[derive(Default)]
struct Digests {
    sha1: sha1::Sha1,
    sha256: sha2::Sha256,
}

impl std::io::Write for Digests {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.sha1.update(bytes);
        self.sha256.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
