//! Weights from anywhere: what lies in a file is said as it is, and what is dangerous in it is refused.

use fw_bintensors::validate::ValidateOptions;
use fw_bintensors::{Profile, ReadOptions};
use fw_convert::{
    AsFloat32, CatFormat, Comparison, ConvertOptions, DiffOptions, Format, MemoryTensors, TensorFile, Types, cat,
    convert, diff, non_finite, open, validate,
};
use fw_tensor::{DType, Selection, select};
use std::io::Write;
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn safetensors(path: &Path, json: &str, data: &[u8]) {
    let bytes = [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), data].concat();
    std::fs::write(path, bytes).unwrap();
}

fn codes(path: &Path) -> Vec<String> {
    let options = ValidateOptions::new(Profile::Default).with_data();
    validate(path, &options).unwrap().findings().iter().map(|finding| finding.code.to_string()).collect()
}

/// `"__metadata__": null` is none, as it is for safetensors itself; a key that appears twice has its last value, and a finding.
#[test]
fn metadata_that_is_null_or_has_a_key_twice() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let tensor = r#""a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#;
    safetensors(&at("null.safetensors"), &format!(r#"{{"__metadata__":null,{tensor}}}"#), &[0; 4]);
    assert_eq!(open(at("null.safetensors")).unwrap().metadata(), None);
    assert_eq!(codes(&at("null.safetensors")), Vec::<String>::new());
    convert(at("null.safetensors"), at("null.bt"), &ConvertOptions::new()).unwrap();
    safetensors(
        &at("twice.safetensors"),
        &format!(r#"{{"__metadata__":{{"k":"1","k":"2","o":""}},{tensor}}}"#),
        &[0; 4],
    );
    assert_eq!(open(at("twice.safetensors")).unwrap().metadata().unwrap()["k"], "2");
    assert_eq!(codes(&at("twice.safetensors")), ["duplicate_metadata_key"]);
    for wrong in [r#"{"k":1}"#, r#"{"k":null}"#, "[]", "1"] {
        safetensors(&at("wrong.safetensors"), &format!(r#"{{"__metadata__":{wrong},{tensor}}}"#), &[0; 4]);
        assert_eq!(open(at("wrong.safetensors")).err().unwrap().code(), "invalid_header", "{wrong}");
    }
}

/// What it is, and what to do, whatever the file is called.
#[test]
fn other_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    for (name, bytes, code, hint) in [
        ("lfs.safetensors", pointer.as_bytes(), "git_lfs_pointer", "git lfs pull"),
        ("lfs.npz", pointer.as_bytes(), "git_lfs_pointer", "git lfs pull"),
        ("page.safetensors", b"<!DOCTYPE html><html>", "html_page", "download the file again"),
        ("old.pt", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", "legacy_torch", "torch.save(torch.load("),
        ("data.pkl", b"\x80\x04\x95\x05\0\0\0\0\0\0\0]\x94.", "pickle", "if you trust it"),
        ("m.onnx", b"\x08\x07\x12\x07pytorch\x1a\x051.9.0", "onnx", "onnx.load"),
        ("m.tgm", b"\x1f\x8b\x08\0\0\0\0\0", "compressed_file", "unpack it"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = open(&path).err().unwrap_or_else(|| panic!("{name} is refused"));
        assert_eq!(error.code(), code, "{name}");
        let text = error.to_string();
        assert!(
            text.starts_with(&path.display().to_string()) && text.contains("\nhint: ") && text.contains(hint),
            "{text}"
        );
    }
    // A zip of neither arrays nor a checkpoint is not an empty npz.
    let mut zip = ZipWriter::new(std::fs::File::create(folder.path().join("a.zip")).unwrap());
    zip.start_file("readme.txt", SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap();
    assert_eq!(open(folder.path().join("a.zip")).err().unwrap().code(), "zip_archive");
}

/// An npz with one array of zeros, deflated.
fn zeros(path: &Path, count: u64) {
    let mut zip = ZipWriter::new(std::fs::File::create(path).unwrap());
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    zip.start_file("w.npy", options).unwrap();
    zip.write_all(&fw_convert::npy_header(DType::Float32, &[count / 1000, 1000]).unwrap()).unwrap();
    let piece = vec![0; 1 << 20];
    let mut left = count * 4;
    while left > 0 {
        let len = left.min(1 << 20);
        zip.write_all(&piece[..len as usize]).unwrap();
        left -= len;
    }
    zip.finish().unwrap();
}

/// A megabyte that unpacks to much more: parts are read without holding the rest, all of it at once is refused.
#[test]
fn deflate_bombs() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    zeros(&at("b.npz"), 100_000_000);
    assert!(std::fs::metadata(at("b.npz")).unwrap().len() < 1 << 20);
    let file = open(at("b.npz")).unwrap();
    assert_eq!(file.slice(0, &select![0, 0..3]).unwrap(), (vec![3], vec![0; 12]));
    assert_eq!(file.slice(0, &select![2..4, 5]).unwrap(), (vec![2], vec![0; 8]));
    assert_eq!(file.slice(0, &select![.., ..]).err().unwrap().code(), "deflate_bomb");
    assert_eq!(file.data(0).err().unwrap().code(), "deflate_bomb");
    assert_eq!(convert(at("b.npz"), at("b.tgm"), &ConvertOptions::new()).err().unwrap().code(), "deflate_bomb");
    assert!(!at("b.tgm").exists());
    let error = diff(&*file, &*file, &DiffOptions::new()).err().unwrap();
    assert_eq!(error.code(), "deflate_bomb");
}

/// Parts of deflated arrays are those of the stored ones, whichever way the slice goes.
#[test]
fn parts_of_deflated_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let values: Vec<u8> = (0..60u16).flat_map(u16::to_be_bytes).collect();
    let mut zip = ZipWriter::new(std::fs::File::create(&path).unwrap());
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, order) in [("rows", "False"), ("columns", "True")] {
        zip.start_file(format!("{name}.npy"), options).unwrap();
        let text = format!("{{'descr': '>u2', 'fortran_order': {order}, 'shape': (3, 4, 5), }}\n");
        zip.write_all(
            &[b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes(), &values].concat(),
        )
        .unwrap();
    }
    zip.finish().unwrap();
    let file = open(&path).unwrap();
    for index in 0..2 {
        let mut plain = MemoryTensors::new();
        plain.push("a", DType::UInt16, &[3, 4, 5], file.data(index).unwrap()).unwrap();
        for selection in [
            select![1..3, 2, ..],
            select![.., .., 4],
            select![-1, ..],
            Selection::new().stepped(.., -1),
            Selection::new().ellipsis().stepped(.., -2),
            select![0..0],
        ] {
            assert_eq!(
                file.slice(index, &selection).unwrap(),
                plain.slice(0, &selection).unwrap(),
                "{index} {selection:?}"
            );
        }
    }
}

/// Entries that lie on one another, that are there twice, or that cannot be as large as they say.
#[test]
fn zips_that_lie() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let header = fw_convert::npy_header(DType::UInt8, &[4]).unwrap();
    let write = |names: &[&str]| {
        let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for name in names {
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            zip.start_file(*name, options).unwrap();
            zip.write_all(&[&header[..], &[1, 2, 3, 4]].concat()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    let good = write(&["a.npy", "b.npy"]);
    let directories: Vec<usize> =
        good.windows(4).enumerate().filter(|(_, four)| *four == b"PK\x01\x02").map(|(at, _)| at).collect();
    let changed = |at: usize, with: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + with.len()].copy_from_slice(with);
        std::fs::write(&path, bytes).unwrap();
        open(&path).err().map(|error| error.code())
    };
    assert_eq!(changed(0, b"P"), None);
    // The second entry where the first one lies; then past the directory and past the end.
    assert_eq!(changed(directories[1] + 42, &0u32.to_le_bytes()), Some("overlapping_entries"));
    assert_eq!(changed(directories[1] + 42, &7u32.to_le_bytes()), Some("invalid_zip"));
    assert_eq!(changed(directories[1] + 42, &60_000u32.to_le_bytes()), Some("truncated"));
    assert_eq!(changed(directories[1] + 46, b"a.npy"), Some("duplicate_entry"));
    // Sizes: packed, unpacked.
    assert_eq!(changed(directories[1] + 20, &[200, 0, 0, 0, 200, 0, 0, 0]), Some("overlapping_entries"));
    assert_eq!(changed(directories[1] + 24, &1_000_000_000u32.to_le_bytes()), Some("tensor_size_mismatch"));
    let mut deflated = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    deflated.start_file("a.npy", SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)).unwrap();
    deflated.write_all(&header).unwrap();
    let mut bytes = deflated.finish().unwrap().into_inner();
    let directory = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    bytes[directory + 24..directory + 28].copy_from_slice(&4_000_000_000u32.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(open(&path).err().unwrap().code(), "impossible_size");
    // Twenty thousand entries that share one: a small file that would unpack to hundreds of gigabytes.
    let many = overlapping(&header, 20_000);
    std::fs::write(&path, many).unwrap();
    assert_eq!(open(&path).err().unwrap().code(), "overlapping_entries");
    assert_eq!(codes(&path), ["overlapping_entries"]);
}

/// A zip whose directory names one entry again and again.
fn overlapping(header: &[u8], count: u16) -> Vec<u8> {
    let body = [header, &[0; 4]].concat();
    let len = body.len() as u32;
    let mut bytes = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0".to_vec();
    let sizes = [[0; 4], len.to_le_bytes(), len.to_le_bytes()].concat();
    bytes.extend(&sizes);
    bytes.extend([9, 0, 0, 0]);
    bytes.extend(b"00000.npy");
    bytes.extend(&body);
    let start = bytes.len() as u32;
    for number in 0..count {
        bytes.extend(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0");
        bytes.extend(&sizes);
        bytes.extend([9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(0u32.to_le_bytes());
        bytes.extend(format!("{number:05}.npy").bytes());
    }
    let directory = bytes.len() as u32 - start;
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    bytes.extend([directory.to_le_bytes(), start.to_le_bytes()].concat());
    bytes.extend([0, 0]);
    bytes
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}

/// Four and six bits: sliced where a byte begins, decoded on request, printed as numbers.
#[test]
fn floats_below_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    let f4: Vec<u8> = (0..8u8).map(|pair| (pair * 2) | ((pair * 2 + 1) << 4)).collect();
    let f6: Vec<u8> = (0..3u8)
        .flat_map(|group| {
            let first = u32::from(group) * 4;
            ((first | (first + 1) << 6 | (first + 2) << 12 | (first + 3) << 18).to_le_bytes())[..3].to_vec()
        })
        .collect();
    let json = r#"{"f4":{"dtype":"F4","shape":[4,4],"data_offsets":[0,8]},"f6":{"dtype":"F6_E2M3","shape":[3,4],"data_offsets":[8,17]},"scale":{"dtype":"F8_E8M0","shape":[3],"data_offsets":[17,20]}}"#;
    safetensors(&path, json, &[&f4[..], &f6, &[126, 127, 129]].concat());
    let file = open(&path).unwrap();
    assert_eq!(file.slice(0, &select![1..3, ..]).unwrap(), (vec![2, 4], f4[2..6].to_vec()));
    assert_eq!(file.slice(0, &select![.., 2..4]).unwrap(), (vec![4, 2], vec![f4[1], f4[3], f4[5], f4[7]]));
    assert_eq!(file.slice(1, &select![2, ..]).unwrap(), (vec![4], f6[6..9].to_vec()));
    assert_eq!(file.slice(0, &select![.., 1..3]).err().unwrap().code(), "invalid_slice");
    assert_eq!(file.slice(0, &select![0, 0..3]).err().unwrap().code(), "invalid_slice");
    let wide = AsFloat32::new(&*file);
    let values = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let all: Vec<f32> = values.into_iter().chain(values.map(|value| -value)).collect();
    assert_eq!(floats(&wide.data(0).unwrap()), all);
    assert_eq!(floats(&wide.slice(0, &select![.., 1..3]).unwrap().1), [0.5, 1.0, 3.0, 4.0, -0.5, -1.0, -3.0, -4.0]);
    assert_eq!(
        floats(&wide.data(1).unwrap()),
        (0..12).map(|n| if n < 8 { n as f32 / 8.0 } else { 1.0 + (n - 8) as f32 / 8.0 }).collect::<Vec<_>>()
    );
    assert_eq!(floats(&wide.data(2).unwrap()), [0.5, 1.0, 4.0]);
    let mut text = Vec::new();
    cat(&*file, "scale", &Selection::new(), CatFormat::Text, &mut text).unwrap();
    cat(&*file, "f4", &select![0, ..], CatFormat::Text, &mut text).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "0.5 1.0 4.0\n0.0 0.5 1.0 1.5\n");
    // As an npy array, which has none of these types.
    let mut npy = Vec::new();
    cat(&wide, "f6", &Selection::new(), CatFormat::Npy, &mut npy).unwrap();
    assert!(npy.starts_with(b"\x93NUMPY") && npy.windows(3).any(|three| three == b"<f4"));
    let mut many = MemoryTensors::new();
    many.push("odd", DType::Float6E3M2, &[400_001], (0..300_001u32).map(|n| (n % 251) as u8).collect::<Vec<_>>())
        .unwrap();
    many.push("long", DType::Int64, &[1], vec![0; 8]).unwrap();
    let whole = many.data(0).unwrap();
    let wide = AsFloat32::new(&many);
    let mut pieces = Vec::new();
    let mut take = |piece: &[u8]| {
        pieces.extend_from_slice(piece);
        Ok(())
    };
    wide.stream(0, &mut take).unwrap();
    assert_eq!(pieces.len(), 4 * 400_001, "{}", whole.len());
    assert_eq!(wide.data(1).err().unwrap().code(), "inexact_type");
}

/// Through doubles 2⁵³ + 1 would be 2⁵³.
#[test]
fn long_integers_beside_floats() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let json = |kind: &str| format!(r#"{{"x":{{"dtype":"{kind}","shape":[1],"data_offsets":[0,8]}}}}"#);
    safetensors(&at("a.safetensors"), &json("I64"), &((1i64 << 53) + 1).to_le_bytes());
    safetensors(&at("b.safetensors"), &json("F64"), &((1u64 << 53) as f64).to_le_bytes());
    let (a, b) = (open(at("a.safetensors")).unwrap(), open(at("b.safetensors")).unwrap());
    let found = diff(&*a, &*b, &DiffOptions::new().with_types(Types::Values)).unwrap();
    let Comparison::Different(distance) = &found.rows[0].comparison else { panic!("{found:?}") };
    assert_eq!((distance.count, distance.max_absolute, &distance.first_index[..]), (1, 1.0, &[0][..]));
}

#[test]
fn nan_and_infinities_are_counted() {
    let mut tensors = MemoryTensors::new();
    let values = [1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 2.0, f32::NAN, 0.0];
    tensors.push("a", DType::Float32, &[8], values.map(f32::to_le_bytes).concat()).unwrap();
    tensors.push("fine", DType::Float32, &[1], 1f32.to_le_bytes().to_vec()).unwrap();
    tensors.push("f8", DType::Float8E4M3, &[2], vec![0x7f, 0x38]).unwrap();
    tensors.push("count", DType::Int64, &[1], vec![255; 8]).unwrap();
    let found: Vec<_> = non_finite(&tensors)
        .unwrap()
        .into_iter()
        .map(|one| (one.code.to_string(), one.object_index, one.message))
        .collect();
    assert_eq!(
        found,
        [
            ("nan_detected".to_owned(), Some(0), "\"a\": 3 of 8 elements are NaN".to_owned()),
            ("inf_detected".to_owned(), Some(0), "\"a\": 2 of 8 elements are infinite".to_owned()),
            ("nan_detected".to_owned(), Some(2), "\"f8\": 1 of 2 elements are NaN".to_owned()),
        ]
    );
}

/// What is called an npz and is a checkpoint is read as one.
#[test]
fn content_goes_before_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.npz");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch/lone.pt"), &path).unwrap();
    assert_eq!(open(&path).unwrap().format(), Format::Torch);
    let file = Format::Torch.open(&path, &ReadOptions::default()).unwrap();
    assert_eq!(file.entries()[0].name, "tensor");
}
