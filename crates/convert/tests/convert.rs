//! Every format to every other, through real files.

use fw_bintensors::validate::ValidateOptions;
use fw_bintensors::{BinTensors, Dtype, Profile, Shape, TensorView, WriteOptions, carry, serialize_to_file_with};
use fw_convert::{
    CatFormat, Comparison, ConvertOptions, DiffOptions, Distance, Existing, Feature, Format, Loss, Metadata, Missing,
    Transport, Types, cat, convert, detect, diff, dump, info, ls, open, validate,
};
use fw_tensor::{DType, Selection};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Tensors = Vec<(String, DType, Vec<u64>, Vec<u8>)>;

/// A BinTensors file of any element types.
fn make(path: &Path, tensors: &Tensors, metadata: Option<BTreeMap<String, String>>) {
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

fn tensor(name: &str, dtype: DType, shape: &[u64]) -> (String, DType, Vec<u64>, Vec<u8>) {
    let len = fw_tensor::byte_len(dtype, shape).unwrap();
    let data =
        (0..len).map(|byte| if dtype == DType::Bool { (byte % 2) as u8 } else { (byte * 37 + 11) as u8 }).collect();
    (name.to_owned(), dtype, shape.to_vec(), data)
}

fn all_types() -> Tensors {
    DType::ALL.iter().map(|dtype| tensor(&format!("t.{dtype}"), *dtype, &[3, 8])).collect()
}

fn numpy_types() -> Tensors {
    let mut tensors: Tensors = all_types();
    let refused = ["bfloat16", "bitmask", "float8", "float6", "float4"];
    tensors.retain(|(_, dtype, ..)| !refused.iter().any(|name| dtype.name().starts_with(name)));
    tensors.push(tensor("scalar", DType::Float64, &[]));
    tensors.push(tensor("empty", DType::Int32, &[0, 4]));
    tensors
}

fn check(path: &Path, tensors: &Tensors) {
    let file = open(path).unwrap();
    assert_eq!(file.entries().len(), tensors.len(), "{}", path.display());
    for (name, dtype, shape, data) in tensors {
        let index = file.find(name).unwrap();
        let entry = &file.entries()[index];
        assert_eq!((entry.dtype, &entry.shape), (*dtype, shape), "{name} in {}", path.display());
        assert_eq!(&file.data(index).unwrap(), data, "{name} in {}", path.display());
    }
}

#[test]
fn every_format_to_every_other() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let tensors = numpy_types();
    make(&at("start.bt"), &tensors, None);
    let formats = ["bt", "safetensors", "npz", "tgm"];
    for from in formats {
        // complex128 has no place in safetensors.
        let held: Tensors = match from {
            "safetensors" => tensors.iter().filter(|tensor| tensor.1 != DType::Complex128).cloned().collect(),
            _ => tensors.clone(),
        };
        let input = at(&format!("from.{from}"));
        convert(at("start.bt"), &input, &ConvertOptions::new().with_missing(Missing::Skip)).unwrap();
        check(&input, &held);
        for to in formats {
            let output = at(&format!("{from}-to.{to}"));
            let done = convert(&input, &output, &ConvertOptions::new().with_missing(Missing::Skip)).unwrap();
            let kept: Tensors =
                held.iter().filter(|tensor| to != "safetensors" || tensor.1 != DType::Complex128).cloned().collect();
            check(&output, &kept);
            assert_eq!(done.tensors, kept.len());
            assert_eq!(detect(&output).unwrap(), Format::of_name(&output).unwrap());
            assert!(validate(&output, &ValidateOptions::new(Profile::Canonical).with_data()).unwrap().is_ok());
            let found = diff(&*open(&input).unwrap(), &*open(&output).unwrap(), &DiffOptions::new()).unwrap();
            assert_eq!(found.is_equal(), kept.len() == held.len(), "{from} to {to}");
        }
    }
}

/// Newer types travel through BinTensors as bytes and come out as themselves.
#[test]
fn carried_types_survive() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let user: BTreeMap<String, String> = [("format".to_owned(), "pt".to_owned())].into();
    let mut tensors = all_types();
    tensors.retain(|(_, dtype, ..)| !matches!(dtype, DType::Complex128 | DType::Bitmask));
    make(&at("a.bt"), &tensors, Some(user.clone()));
    check(&at("a.bt"), &tensors);
    let there = convert(at("a.bt"), at("b.safetensors"), &ConvertOptions::new()).unwrap();
    check(&at("b.safetensors"), &tensors);
    assert_eq!(open(at("b.safetensors")).unwrap().metadata(), Some(&user), "carriage entries stay behind");
    assert_eq!(there.losses, [], "sorted by its own format: the order told nothing");
    let back = convert(at("b.safetensors"), at("c.bt"), &ConvertOptions::new()).unwrap();
    check(&at("c.bt"), &tensors);
    assert_eq!(back.losses, []);
    assert_eq!(std::fs::read(at("a.bt")).unwrap(), std::fs::read(at("c.bt")).unwrap());
    // Whoever does not know about carriage sees bytes.
    let bytes = std::fs::read(at("c.bt")).unwrap();
    let plain = BinTensors::deserialize(&bytes).unwrap();
    assert_eq!(plain.tensor("t.float4").unwrap().dtype(), Dtype::U8);
    assert_eq!(plain.tensor("t.float4").unwrap().shape(), [3, 4]);
}

/// Sorted alike: only the header is new, and both ways give the file that was there before.
#[test]
fn safetensors_and_bintensors_swap_headers() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let tensors = vec![
        tensor("w", DType::Float32, &[300, 7]),
        tensor("b", DType::BFloat16, &[7]),
        tensor("ids", DType::Int64, &[3]),
        tensor("mask", DType::Bool, &[5]),
    ];
    make(&at("a.bt"), &tensors, Some(BTreeMap::new()));
    let done = convert(at("a.bt"), at("b.safetensors"), &ConvertOptions::new()).unwrap();
    assert_eq!((done.transport, done.losses), (Transport::Copied, vec![]));
    let done = convert(at("b.safetensors"), at("c.bt"), &ConvertOptions::new()).unwrap();
    assert_eq!((done.transport, done.losses), (Transport::Copied, vec![]));
    assert_eq!(std::fs::read(at("a.bt")).unwrap(), std::fs::read(at("c.bt")).unwrap());
    check(&at("b.safetensors"), &tensors);
    // Digests are made before the header is written, so the data is still copied as a block.
    let mut options = ConvertOptions::new();
    options.tensor_digests = Some(fw_bintensors::Algorithm::Sha256);
    let done = convert(at("b.safetensors"), at("d.bt"), &options).unwrap();
    assert_eq!(done.transport, Transport::Copied);
    check(&at("d.bt"), &tensors);
    assert_eq!(open(at("d.bt")).unwrap().metadata().unwrap().len(), 5);
}

#[test]
fn losses_are_listed_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let user = Some([("k".to_owned(), "v".to_owned())].into());
    make(&at("a.bt"), &vec![tensor("w", DType::BFloat16, &[4]), tensor("x", DType::Float4, &[2, 6])], user);
    let refused = convert(at("a.bt"), at("b.npz"), &ConvertOptions::new()).unwrap_err();
    assert_eq!(refused.code(), "no_counterpart");
    assert!(!at("b.npz").exists());
    let raw = convert(at("a.bt"), at("b.npz"), &ConvertOptions::new().with_missing(Missing::Raw)).unwrap();
    let features: Vec<Feature> = raw.losses.iter().map(|loss| loss.feature).collect();
    assert_eq!(features, [Feature::Dtype, Feature::Dtype, Feature::Metadata]);
    let file = open(at("b.npz")).unwrap();
    assert_eq!(file.entries()[0].dtype, DType::UInt16);
    assert_eq!((file.entries()[1].dtype, &file.entries()[1].shape[..]), (DType::UInt8, &[2, 3][..]));
    let skipped = convert(at("a.bt"), at("c.npz"), &ConvertOptions::new().with_missing(Missing::Skip)).unwrap();
    assert_eq!((skipped.tensors, skipped.losses[0].feature), (0, Feature::Tensor));

    make(&at("one.bt"), &vec![tensor("w", DType::Float32, &[4])], None);
    assert_eq!(convert(at("one.bt"), at("w.npy"), &ConvertOptions::new()).unwrap().losses, []);
    let renamed = convert(at("one.bt"), at("other.npy"), &ConvertOptions::new()).unwrap();
    assert_eq!(renamed.losses[0].feature, Feature::Name);
    assert_eq!(
        convert(at("a.bt"), at("x.npy"), &ConvertOptions::new().with_missing(Missing::Raw)).unwrap_err().code(),
        "one_array_only"
    );
    assert_eq!(convert(at("a.bt"), at("x.zip"), &ConvertOptions::new()).unwrap_err().code(), "unknown_format");
    // An npz in another order than the format's cannot be had back; one in that order can.
    npz(&at("z.npz"), &[("a", "|u1", &[1]), ("b", "<u2", &[2, 0])]);
    for name in ["sorted.bt", "sorted.safetensors"] {
        let done = convert(at("z.npz"), at(name), &ConvertOptions::new()).unwrap();
        assert_eq!((done.losses.len(), done.losses[0].feature, done.notes), (1, Feature::Order, vec![]), "{name}");
        let done = convert(at(name), at("again.npz"), &ConvertOptions::new()).unwrap();
        assert_eq!((done.losses, done.notes), (vec![], vec![]), "{name}");
        let done = convert(at("again.npz"), at(name), &ConvertOptions::new()).unwrap();
        assert_eq!((done.losses, done.notes), (vec![], vec![]), "{name}");
    }
    // What many tensors lose alike is one line.
    let many: Tensors = (0..5).map(|number| tensor(&format!("w{number}"), DType::BFloat16, &[4])).collect();
    make(&at("many.bt"), &many, None);
    let raw = convert(at("many.bt"), at("many.npz"), &ConvertOptions::new().with_missing(Missing::Raw)).unwrap();
    let groups = Loss::grouped(&raw.losses);
    assert_eq!((raw.losses.len(), groups.len(), groups[0].tensors.len()), (5, 1, 5));
    assert_eq!(
        groups[0].to_string(),
        "lost type: npz has no bfloat16; the bits are kept as uint16 (5 tensors: \"w0\", \"w1\", \"w2\", …)"
    );
}

/// A stored npz of one-element arrays of any NumPy type.
fn npz(path: &Path, arrays: &[(&str, &str, &[u8])]) {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, descr, data) in arrays {
        let text = format!("{{'descr': {descr:?}, 'fortran_order': False, 'shape': (1,), }}").replace('"', "'");
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(b"\x93NUMPY\x01\0").unwrap();
        zip.write_all(&(text.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
        zip.write_all(data).unwrap();
    }
    zip.finish().unwrap();
}

/// Deflated archives are read, stored ones are written.
#[test]
fn npz_in_and_out() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let tensors = vec![tensor("w", DType::Float32, &[300, 7]), tensor("e", DType::UInt8, &[0])];
    make(&at("a.bt"), &tensors, None);
    convert(at("a.bt"), at("stored.npz"), &ConvertOptions::new()).unwrap();
    let mut stored = zip::ZipArchive::new(std::fs::File::open(at("stored.npz")).unwrap()).unwrap();
    let mut deflated = zip::ZipWriter::new(std::fs::File::create(at("deflated.npz")).unwrap());
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for place in 0..stored.len() {
        let mut member = stored.by_index(place).unwrap();
        assert_eq!(member.compression(), zip::CompressionMethod::Stored);
        deflated.start_file(member.name().unwrap(), options).unwrap();
        std::io::copy(&mut member, &mut deflated).unwrap();
    }
    deflated.finish().unwrap().flush().unwrap();
    assert!(std::fs::metadata(at("deflated.npz")).unwrap().len() < std::fs::metadata(at("stored.npz")).unwrap().len());
    check(&at("deflated.npz"), &tensors);
    // The same arrays make the same bytes, whatever they came from.
    let done = convert(at("deflated.npz"), at("again.npz"), &ConvertOptions::new()).unwrap();
    assert!(
        !done.notes.is_empty() && done.notes.iter().all(|note| note.feature == Feature::Encoding),
        "{:?}",
        done.notes
    );
    assert!(
        done.losses.is_empty()
            && fw_convert::validate(at("deflated.npz"), &Default::default()).unwrap().findings().is_empty()
    );
    assert!(std::fs::read(at("stored.npz")).unwrap() == std::fs::read(at("again.npz")).unwrap());
    convert(at("deflated.npz"), at("again.bt"), &ConvertOptions::new()).unwrap();
    assert!(std::fs::read(at("a.bt")).unwrap() == std::fs::read(at("again.bt")).unwrap());
}

/// A safetensors file whose writer did not sort: its order is gone afterwards.
#[test]
fn an_order_of_its_own_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let one = |name: &str, start: u8| {
        format!(r#""{name}":{{"dtype":"U8","shape":[1],"data_offsets":[{start},{}]}}"#, start + 1)
    };
    for (first, second, lost) in [("a", "b", 0), ("b", "a", 1)] {
        let json = format!("{{{},{}}}", one(first, 0), one(second, 1));
        let bytes = [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &[1, 2]].concat();
        std::fs::write(at("x.safetensors"), bytes).unwrap();
        let done = convert(at("x.safetensors"), at("x.bt"), &ConvertOptions::new()).unwrap();
        assert_eq!(done.losses.iter().filter(|loss| loss.feature == Feature::Order).count(), lost);
        assert_eq!(done.transport, Transport::Copied, "in pieces, where the order changes");
        assert!(
            diff(&*open(at("x.safetensors")).unwrap(), &*open(at("x.bt")).unwrap(), &DiffOptions::new())
                .unwrap()
                .is_equal()
        );
        assert_eq!(convert(at("x.safetensors"), at("x.npz"), &ConvertOptions::new()).unwrap().losses, []);
    }
}

/// One array of text does not keep anyone from the others.
#[test]
fn arrays_that_are_no_tensors() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    npz(
        &at("a.npz"),
        &[("a", "<u2", &[7, 0]), ("s", "<U1", &[65, 0, 0, 0]), ("o", "|O", &[0; 9]), ("d", "<M8[D]", &[0; 8])],
    );
    let file = open(at("a.npz")).unwrap();
    assert_eq!(file.entries().len(), 1);
    let names: Vec<&str> = file.unreadable().iter().map(|array| array.name.as_str()).collect();
    assert_eq!(names, ["s", "o", "d"]);
    for missing in [Missing::Refuse, Missing::Raw] {
        let refused = convert(at("a.npz"), at("a.bt"), &ConvertOptions::new().with_missing(missing)).unwrap_err();
        assert_eq!(refused.code(), "not_a_tensor");
        let words = "array \"s\": texts (NumPy type <U1) are not a tensor";
        assert_eq!(refused.to_string(), format!("{}: {words}", at("a.npz").display()));
    }
    let done = convert(at("a.npz"), at("a.bt"), &ConvertOptions::new().with_missing(Missing::Skip)).unwrap();
    let lost: Vec<_> = done.losses.iter().map(|loss| (loss.feature, loss.tensor.as_deref().unwrap())).collect();
    assert_eq!(lost, [(Feature::Tensor, "s"), (Feature::Tensor, "o"), (Feature::Tensor, "d")]);
    assert_eq!(open(at("a.bt")).unwrap().data(0).unwrap(), [7, 0]);
    let report = validate(at("a.npz"), &ValidateOptions::new(Profile::Default)).unwrap();
    assert_eq!((report.is_ok(), report.findings().len()), (true, 3));
}

/// What is there stays there until it may go; what would do nothing is refused; faults name the file they are in.
#[test]
fn outputs_options_and_blame() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    make(&at("a.bt"), &vec![tensor("w", DType::Float32, &[4]), tensor("v", DType::Float32, &[4])], None);
    std::fs::write(at("b.npz"), b"precious").unwrap();
    let careful = ConvertOptions::new().with_existing(Existing::Refuse);
    let refused = convert(at("a.bt"), at("b.npz"), &careful).unwrap_err();
    assert_eq!((refused.code(), refused.path()), ("output_exists", Some(&*at("b.npz"))));
    assert_eq!(std::fs::read(at("b.npz")).unwrap(), b"precious");
    convert(at("a.bt"), at("b.npz"), &ConvertOptions::new()).unwrap();
    // A shard or index that is there counts too, and nothing is written before it is found.
    std::fs::write(at("c.bt.index.json"), b"precious").unwrap();
    let refused = convert(at("a.bt"), at("c.bt"), &careful.clone().with_max_shard_size(16)).unwrap_err();
    assert_eq!((refused.code(), refused.path()), ("output_exists", Some(&*at("c.bt.index.json"))));
    assert!(!at("c-00001-of-00002.bt").exists());
    std::fs::create_dir(at("d.bt")).unwrap();
    assert_eq!(convert(at("a.bt"), at("d.bt"), &ConvertOptions::new()).unwrap_err().code(), "not_a_file");

    let mut aligned = ConvertOptions::new();
    aligned.align = fw_bintensors::HeaderAlignment::PAGE;
    assert_eq!(convert(at("a.bt"), at("e.npz"), &aligned).unwrap_err().code(), "option_not_applicable");
    let mut digests = ConvertOptions::new();
    digests.tensor_digests = Some(fw_bintensors::Algorithm::Sha1);
    assert_eq!(convert(at("a.bt"), at("e.tgm"), &digests).unwrap_err().code(), "option_not_applicable");

    for name in ["x.bt", "x.safetensors", "x.npz", "x.tgm"] {
        let output = at("absent").join(name);
        let failed = convert(at("a.bt"), &output, &ConvertOptions::new()).unwrap_err();
        assert_eq!(failed.code(), "not_found");
        let words = failed.to_string();
        assert_eq!(words.matches(&*output.display().to_string()).count(), 1, "{words}");
        assert!(!words.contains("a.bt") && !words.contains(".fw-"), "{words}");
    }
    let bytes = std::fs::read(at("a.bt")).unwrap();
    std::fs::write(at("cut.bt"), &bytes[..bytes.len() - 1]).unwrap();
    let failed = convert(at("cut.bt"), at("y.npz"), &ConvertOptions::new()).unwrap_err();
    assert_eq!(failed.path(), Some(&*at("cut.bt")));
    assert!(!failed.to_string().contains("Metadata"), "class names are for programs: {failed}");
}

/// Two files of one tensor each are compared whatever the tensor is called.
#[test]
fn single_tensors_are_a_pair() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    make(&at("a.bt"), &vec![tensor("layer.weight", DType::Float32, &[4])], None);
    convert(at("a.bt"), at("w.npy"), &ConvertOptions::new()).unwrap();
    let found = diff(&*open(at("a.bt")).unwrap(), &*open(at("w.npy")).unwrap(), &DiffOptions::new()).unwrap();
    assert!(found.is_equal());
    assert_eq!((found.rows[0].name.as_str(), found.rows[0].right_name.as_deref()), ("layer.weight", Some("w")));
}

#[test]
fn shards_out_and_in() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let tensors: Tensors = (0..10)
        .map(|number| tensor(&format!("layer.{number}"), DType::Float32, &[100]))
        .chain([tensor("q", DType::Float4, &[8])])
        .collect();
    make(&at("m.bt"), &tensors, Some([("format".to_owned(), "pt".to_owned())].into()));
    for extension in ["bt", "safetensors"] {
        let output = at(&format!("out.{extension}"));
        let seen = Arc::new(AtomicU64::new(0));
        let most = Arc::clone(&seen);
        let options = ConvertOptions::new().with_max_shard_size(1000).with_progress(move |progress| {
            most.fetch_max(progress.bytes_done, Ordering::Relaxed);
            assert!(progress.bytes_done <= progress.bytes_total);
        });
        let done = convert(at("m.bt"), &output, &options).unwrap();
        assert_eq!(done.files.len(), 6, "{:?}", done.files);
        // Everything is read once for the digests in the index, and once to be written.
        assert_eq!(seen.load(Ordering::Relaxed), 2 * done.bytes);
        let index = done.files.last().unwrap().clone();
        assert_eq!(index, at(&format!("out.{extension}.index.json")));
        check(&index, &tensors);
        assert!(done.files.iter().all(|file| validate(file, &ValidateOptions::new(Profile::Default)).unwrap().is_ok()));
        let joined = at(&format!("joined-{extension}.bt"));
        convert(&index, &joined, &ConvertOptions::new()).unwrap();
        assert_eq!(std::fs::read(at("m.bt")).unwrap(), std::fs::read(&joined).unwrap());
        // The map is an allow-list.
        let text = std::fs::read_to_string(&index).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["weight_map"].as_object_mut().unwrap().remove("layer.3");
        std::fs::write(&index, json.to_string()).unwrap();
        assert_eq!(open(&index).unwrap().entries().len(), 10);
        json["weight_map"]["layer.9999"] = json["weight_map"]["layer.1"].clone();
        std::fs::write(&index, json.to_string()).unwrap();
        assert_eq!(open(&index).err().unwrap().code(), "missing_tensor");
    }
    let single =
        convert(at("m.bt"), at("one.safetensors"), &ConvertOptions::new().with_max_shard_size(1 << 30)).unwrap();
    assert_eq!(single.files, [at("one.safetensors")]);
    let npz = convert(
        at("one.safetensors"),
        at("x.npz"),
        &ConvertOptions::new().with_max_shard_size(900).with_missing(Missing::Raw),
    );
    assert_eq!(npz.unwrap_err().code(), "unsplittable_format");
}

#[test]
fn listing_dumping_and_printing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let values: Vec<u8> = [1.5f32, -2.0, 3.25, 4.0, 5.0, 6.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut tensors: Tensors =
        vec![("w".to_owned(), DType::Float32, vec![2, 3], values), tensor("z", DType::UInt8, &[4])];
    make(&at("m.bt"), &tensors, None);
    for name in ["m.bt", "m.safetensors", "m.npz"] {
        if name != "m.bt" {
            convert(at("m.bt"), at(name), &ConvertOptions::new()).unwrap();
        }
        let summary = info(at(name)).unwrap();
        assert_eq!((summary.tensor_count, summary.data_len, summary.element_count), (2, 28, 10), "{name}");
        assert_eq!(summary.types["float32"], (1, 24));
        let rows = ls(at(name)).unwrap();
        let bytes = std::fs::read(at(name)).unwrap();
        for (row, (_, _, shape, data)) in rows.iter().zip(&tensors) {
            let [start, end] = row.span.unwrap();
            assert_eq!((&row.shape, &bytes[start as usize..end as usize]), (shape, &data[..]), "{name}");
        }
        let tree = dump(at(name)).unwrap();
        let mut reached = 0;
        for (_, leaf) in tree.leaves() {
            assert_eq!(leaf.span.start, reached, "{name}: {}", leaf.label);
            reached = leaf.span.end;
        }
        assert_eq!(reached, bytes.len() as u64, "{name}");
        let mut text = Vec::new();
        let file = open(at(name)).unwrap();
        cat(&*file, "w", &Selection::new(), CatFormat::Text, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "1.5 -2.0 3.25\n4.0 5.0 6.0\n", "{name}");
        let mut text = Vec::new();
        cat(&*file, "w", &Selection::new().axis(1).axis(-2..), CatFormat::Text, &mut text).unwrap();
        assert_eq!(text, b"5.0 6.0\n");
        let mut npy = Vec::new();
        cat(&*file, "z", &Selection::new(), CatFormat::Npy, &mut npy).unwrap();
        std::fs::write(at("z.npy"), npy).unwrap();
        check(&at("z.npy"), &vec![tensors[1].clone()]);
        let mut raw = Vec::new();
        cat(&*file, "z", &Selection::new().stepped(.., -1), CatFormat::Raw, &mut raw).unwrap();
        raw.reverse();
        assert_eq!(raw, tensors[1].3);
        assert_eq!(
            cat(&*file, "absent", &Selection::new(), CatFormat::Raw, &mut raw).unwrap_err().code(),
            "tensor_not_found"
        );
    }
    // One changed value.
    tensors[0].3[0..4].copy_from_slice(&1.501f32.to_le_bytes());
    tensors.remove(1);
    make(&at("n.bt"), &tensors, Some([("k".to_owned(), "v".to_owned())].into()));
    let compare =
        |options: DiffOptions| diff(&*open(at("m.npz")).unwrap(), &*open(at("n.bt")).unwrap(), &options).unwrap();
    let exact = compare(DiffOptions::new());
    assert!(
        matches!(exact.rows[0].comparison, Comparison::Different(Distance { count: 1, first: 0, .. })),
        "{exact:?}"
    );
    assert_eq!(exact.rows[1].comparison, Comparison::OnlyLeft);
    assert!(exact.metadata.is_empty(), "npz has no place for metadata, so there is nothing to compare");
    let close = compare(DiffOptions::new().with_tolerance(0.01, 0.0));
    assert!(matches!(close.rows[0].comparison, Comparison::Close(_)));
    assert!(!close.is_equal(), "a tensor is missing");
    // Values across types.
    let doubles: Vec<u8> = tensors[0]
        .3
        .chunks(4)
        .flat_map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())).to_le_bytes())
        .collect();
    make(&at("d.bt"), &vec![("w".to_owned(), DType::Float64, vec![2, 3], doubles)], None);
    let types = |types, metadata| {
        let options = DiffOptions::new().with_types(types).with_metadata(metadata);
        diff(&*open(at("n.bt")).unwrap(), &*open(at("d.bt")).unwrap(), &options).unwrap()
    };
    assert!(!types(Types::Strict, Metadata::Ignore).is_equal());
    assert!(types(Types::Values, Metadata::Ignore).is_equal());
    let found = types(Types::Values, Metadata::Compare);
    assert!(!found.is_equal() && found.metadata_count() == 1);
    assert_eq!((found.metadata[0].key.as_str(), &found.metadata[0].right), ("k", &None));
}

fn fault(folder: &Path, name: &str, bytes: &[u8]) -> &'static str {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    let report = validate(&path, &ValidateOptions::new(Profile::Default).with_data()).unwrap();
    let code = open(&path).err().map_or("ok", |error| error.code());
    assert_eq!(report.is_ok(), code == "ok", "{name}: {:?}", report.findings());
    let _ = dump(&path);
    code
}

/// safetensors files that are wrong, one fault each.
#[test]
fn broken_safetensors() {
    let folder = tempfile::tempdir().unwrap();
    let file =
        |json: &str, data: usize| [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &vec![0; data]].concat();
    let rows: &[(&str, usize, &str)] = &[
        (r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#, 4, "ok"),
        (
            r#"{"b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]},"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#,
            4,
            "ok",
        ),
        (r#"{"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}}"#, 2, "ok"),
        (r#"{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}}"#, 2, "tensor_size_mismatch"),
        (r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}}"#, 5, "invalid_offset"),
        (r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#, 5, "data_length_mismatch"),
        (r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#, 3, "data_length_mismatch"),
        (r#"{"a":{"dtype":"U8","shape":[5],"data_offsets":[0,4]}}"#, 4, "tensor_size_mismatch"),
        (r#"{"a":{"dtype":"X8","shape":[4],"data_offsets":[0,4]}}"#, 4, "unknown_dtype"),
        (r#"{"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,4]}}"#, 4, "shape_overflow"),
        (
            r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[0],"data_offsets":[4,4]}}"#,
            4,
            "invalid_header",
        ),
        (r#"{"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}}"#, 4, "invalid_header"),
        (r#"{"a":"#, 0, "invalid_header"),
        (r#"{"__metadata__":{"k":1}}"#, 0, "invalid_header"),
    ];
    for (json, data, code) in rows {
        assert_eq!(fault(folder.path(), "x.safetensors", &file(json, *data)), *code, "{json}");
    }
    assert_eq!(fault(folder.path(), "x.safetensors", b"abc"), "header_too_small");
    assert_eq!(
        fault(folder.path(), "x.safetensors", &[&u64::MAX.to_le_bytes()[..], b"{}"].concat()),
        "header_too_large"
    );
    assert_eq!(
        fault(folder.path(), "x.safetensors", &[&99u64.to_le_bytes()[..], b"{}"].concat()),
        "invalid_header_length"
    );
}

/// npy and npz files that are wrong, or cut anywhere.
#[test]
fn broken_numpy() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    make(&at("w.bt"), &vec![tensor("w", DType::Float32, &[4, 3])], None);
    convert(at("w.bt"), at("w.npy"), &ConvertOptions::new()).unwrap();
    convert(at("w.bt"), at("w.npz"), &ConvertOptions::new()).unwrap();
    let npy = std::fs::read(at("w.npy")).unwrap();
    for len in 0..npy.len() {
        assert_ne!(fault(folder.path(), "cut.npy", &npy[..len]), "ok", "cut at {len}");
    }
    assert_eq!(fault(folder.path(), "w.npy", &npy), "ok");
    let npz = std::fs::read(at("w.npz")).unwrap();
    for len in (0..npz.len()).step_by(7) {
        std::fs::write(at("cut.npz"), &npz[..len]).unwrap();
        assert!(open(at("cut.npz")).is_err(), "cut at {len}");
    }
    // A flipped data byte: opening does not look, validation compares the checksum.
    let mut damaged = npz.clone();
    let [start, _] = ls(at("w.npz")).unwrap()[0].span.unwrap();
    damaged[start as usize] ^= 1;
    std::fs::write(at("damaged.npz"), &damaged).unwrap();
    let header = ValidateOptions::new(Profile::Default);
    assert!(validate(at("damaged.npz"), &header).unwrap().is_ok());
    assert!(!validate(at("damaged.npz"), &header.with_data()).unwrap().is_ok());
    assert!(convert(at("damaged.npz"), at("out.bt"), &ConvertOptions::new()).is_err());
    assert!(!at("out.bt").exists());
}

/// Changed bytes anywhere: an error or other content, never a panic, and never more data than announced.
#[test]
fn mutated_files_are_refused_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let tensors = vec![tensor("w", DType::Float32, &[4, 3]), tensor("v", DType::UInt8, &[5])];
    make(&at("m.bt"), &tensors, Some([("k".to_owned(), "v".to_owned())].into()));
    make(&at("w.bt"), &vec![tensors[0].clone()], None);
    let mut state = 7u64;
    let mut random = |bound: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % bound
    };
    for name in ["m.bt", "m.safetensors", "m.npz", "w.npy"] {
        if name != "m.bt" {
            convert(at(if name == "w.npy" { "w.bt" } else { "m.bt" }), at(name), &ConvertOptions::new()).unwrap();
        }
        let whole = std::fs::read(at(name)).unwrap();
        let (mut read, mut refused) = (0, 0);
        for _ in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..1 + random(3) {
                let place = random(bytes.len());
                bytes[place] = [0, 1, 0xff, b'9', b'(', bytes[place] ^ 0x10][random(6)];
            }
            let path = at(&format!("mutated-{name}"));
            std::fs::write(&path, &bytes).unwrap();
            let _ = dump(&path);
            let Ok(file) = open(&path) else {
                refused += 1;
                continue;
            };
            read += 1;
            for (index, entry) in file.entries().iter().enumerate() {
                if let Ok(data) = file.data(index) {
                    assert_eq!(data.len() as u64, entry.byte_len().unwrap());
                }
            }
        }
        assert!(read > 0 && refused > 0, "{name}: {read} read, {refused} refused");
    }
}

/// A file that only the lenient profile takes.
#[test]
fn profiles_reach_through() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/bintensors/noncanonical/pad_garbage_7.bt");
    assert_eq!(open(&path).err().unwrap().code(), "invalid_padding");
    let compat = fw_bintensors::ReadOptions::new().with_profile(Profile::Compat);
    assert!(fw_convert::open_with(&path, &compat).is_ok());
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("clean.bt");
    assert_eq!(convert(&path, &output, &ConvertOptions::new()).unwrap_err().code(), "invalid_padding");
    convert(&path, &output, &ConvertOptions::new().with_profile(Profile::Compat)).unwrap();
    let canonical = fw_bintensors::ReadOptions::new().with_profile(Profile::Canonical);
    assert!(fw_convert::open_with(&output, &canonical).is_ok(), "rewritten as it should be");
    let strict = ConvertOptions::new().with_profile(Profile::Canonical);
    assert_eq!(convert(&output, folder.path().join("x.npz"), &strict).unwrap().losses, []);
}

/// A format that the caller knows is not looked for again.
#[test]
fn a_known_format_is_not_detected() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let view = fw_bintensors::TensorView::new(fw_bintensors::Dtype::F32, [2], &[0; 8]).unwrap();
    fw_bintensors::serialize_to_file([("w", view)], &None, at("a.bt")).unwrap();
    let mut options = ConvertOptions::new();
    options.from = Some(fw_convert::Format::Npy);
    let refused = convert(at("a.bt"), at("b.npz"), &options).unwrap_err();
    assert_eq!((refused.code(), refused.path()), ("bad_magic", Some(&*at("a.bt"))));
    options.from = Some(fw_convert::Format::BinTensors);
    assert_eq!(convert(at("a.bt"), at("b.npz"), &options).unwrap().tensors, 1);
}
