//! Digests that files keep of their tensors (BT-10): what they cover, and that others can compute them.

use fw_bintensors::validate::{DIGESTS_CHECKED, TENSORS, ValidateOptions, validate, verify_tensors};
use fw_bintensors::{
    Algorithm, BinTensors, Dtype, PlannedWriter, Profile, ReadOptions, Reader, Shape, TensorView, WriteOptions,
    serialize_with,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

fn digested(tensors: &[(&str, Dtype, &[u64], &[u8])]) -> Vec<u8> {
    let views = tensors
        .iter()
        .map(|(name, dtype, shape, data)| (*name, TensorView::new(*dtype, Shape::from(*shape), data).unwrap()));
    serialize_with(views, &WriteOptions::new().with_tensor_digests(Algorithm::Sha256)).unwrap()
}

fn user(bytes: &[u8]) -> BTreeMap<String, String> {
    BinTensors::deserialize(bytes).unwrap().metadata().metadata().unwrap().to_map()
}

fn codes(bytes: &[u8]) -> Vec<String> {
    let report = validate(bytes, &ValidateOptions::new(Profile::Default).with_data()).unwrap();
    report
        .findings()
        .iter()
        .filter(|one| one.severity == fw_report::Severity::Error)
        .map(|one| one.code.to_string())
        .collect()
}

fn verified(bytes: &[u8]) -> Result<usize, String> {
    let reader = Reader::new(bytes, &ReadOptions::default()).unwrap();
    verify_tensors(bytes, reader.metadata()).map_err(|error| error.class().to_owned())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// BT-10.4, BT-10.5, BT-10.6: by the words of the page and nothing else.
#[test]
fn others_can_compute_the_same() {
    let data: Vec<u8> = (0..12).collect();
    let bytes = digested(&[("b %\n", Dtype::BF16, &[2, 3], &data), ("a", Dtype::U8, &[], &[7])]);
    let mut described = b"bt.digest\0".to_vec();
    for (len, part) in [(4u64, &b"b %\n"[..]), (4, b"BF16")] {
        described.extend(len.to_le_bytes());
        described.extend(part);
    }
    for number in [2u64, 2, 3] {
        described.extend(number.to_le_bytes());
    }
    described.extend(&data);
    let b = format!("sha256:{}", hex(&Sha256::digest(&described)));
    let described = b"bt.digest\0\x01\0\0\0\0\0\0\0a\x02\0\0\0\0\0\0\0U8\0\0\0\0\0\0\0\0\x07";
    let a = format!("sha256:{}", hex(&Sha256::digest(described)));
    let text = format!("bt.manifest 1\n{a} U8 [] a\n{b} BF16 [2,3] b%20%25%0A\n");
    let kept = user(&bytes);
    assert_eq!(kept["bt.digest/b %\n"], b);
    assert_eq!(kept["bt.digest/a"], a);
    assert_eq!(kept["bt.manifest"], format!("sha256:{}", hex(&Sha256::digest(text.as_bytes()))));
    assert_eq!(kept.len(), 3);
}

/// BT-10.4: of a carried type, the true type and shape count.
#[test]
fn carried_types_are_what_users_see() {
    let stored = fw_bintensors::carry("s", fw_tensor::DType::Float8E8M0, &[4]).unwrap();
    let options =
        WriteOptions::new().with_metadata(stored.entries.into_iter().collect()).with_tensor_digests(Algorithm::Sha256);
    let view = || TensorView::new(stored.dtype, Shape::from(&stored.shape[..]), &[1, 2, 3, 4]).unwrap();
    let bytes = serialize_with([("s", view())], &options).unwrap();
    let expected =
        fw_bintensors::tensor_digest(Algorithm::Sha256, "s", fw_tensor::DType::Float8E8M0, &[4], &[1, 2, 3, 4]);
    assert_eq!(user(&bytes)["bt.digest/s"], expected);
    assert_eq!(verified(&bytes), Ok(1));
    // The planned writer makes the same file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.bt");
    let writer = PlannedWriter::create(&path, [("s", stored.dtype, stored.shape.clone())], &options).unwrap();
    writer.write("s", &[1, 2, 3, 4]).unwrap();
    writer.finish().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    // Whoever changes the entry that says the type is noticed.
    let at = bytes.windows(7).position(|window| window == b"F8_E8M0").unwrap();
    let mut other = bytes.clone();
    other[at..at + 7].copy_from_slice(b"BITMASK");
    assert_ne!(codes(&other), Vec::<String>::new());
}

/// BT-10.7: the element type, the shape, the name, a removed digest, a removed manifest entry.
#[test]
fn every_change_of_the_header_is_noticed() {
    let data = vec![0u8; 1200];
    let bytes = digested(&[("aaaa", Dtype::BF16, &[2, 300], &data), ("bbbb", Dtype::BF16, &[2], &[0; 4])]);
    assert_eq!((codes(&bytes), verified(&bytes)), (Vec::new(), Ok(2)));
    let report = validate(&bytes[..], &ValidateOptions::new(Profile::Default).with_data()).unwrap();
    assert_eq!((report.tallies()[TENSORS], report.tallies()[DIGESTS_CHECKED]), (2, 2));
    let changed = |from: &[u8], to: &[u8]| {
        let at = bytes.windows(from.len()).rposition(|window| window == from).expect("it is there");
        let mut changed = bytes.clone();
        changed[at..at + to.len()].copy_from_slice(to);
        changed
    };
    let dtype = changed(b"\x04aaaa\x08", b"\x04aaaa\x07");
    let shape = changed(b"\x04aaaa\x08\x02\x02\xfb\x2c\x01", b"\x04aaaa\x08\x02\xfb\x2c\x01\x02");
    let name = changed(b"\x04aaaa\x08", b"\x04aaab\x08");
    let stripped = changed(b"bt.digest/aaaa", b"xx.digest/aaaa");
    let value = changed(&bytes[bytes.len() - 1..], &[1]);
    for (what, file) in [("dtype", dtype), ("shape", shape), ("name", name), ("stripped", stripped), ("value", value)] {
        assert_ne!(file, bytes, "{what}");
        let found = codes(&file);
        assert!(!found.is_empty(), "{what}: found valid");
        assert!(
            found.iter().all(|code| code == "manifest_mismatch" || code == "checksum_mismatch"),
            "{what}: {found:?}"
        );
        assert!(verified(&file).is_err(), "{what}");
    }
}

/// BT-10.3: what writers before BT-10.4 left.
#[test]
fn digests_of_earlier_files_are_still_compared() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/legacy/0.1.0/bintensors/hashes.bt");
    let bytes = std::fs::read(path).unwrap();
    assert_eq!((codes(&bytes), verified(&bytes)), (Vec::new(), Ok(2)));
    for (at, tensor) in [(bytes.len() - 1, "mask"), (bytes.len() - 4, "scale")] {
        let mut broken = bytes.clone();
        broken[at] ^= 1;
        assert_eq!(
            (codes(&broken), verified(&broken)),
            (vec!["checksum_mismatch".to_owned()], Err("ChecksumMismatch".to_owned())),
            "{tensor}"
        );
    }
}

/// A digest that is not spelt as BT-10.3 says is a fault and no panic, whatever it is.
#[test]
fn spellings_are_checked() {
    for text in ["", ":", "sha256:", "sha256:xyz", "md5:00", &format!("sha256:{}", "0".repeat(63))] {
        let map = BTreeMap::from([("bt.digest/a".to_owned(), text.to_owned())]);
        let view = TensorView::new(Dtype::U8, [1], &[7]).unwrap();
        let bytes = serialize_with([("a", view)], &WriteOptions::new().with_metadata(map)).unwrap();
        assert_eq!(verified(&bytes), Err("EncodeError".to_owned()), "{text}");
        assert_eq!(codes(&bytes).len(), 1, "{text}");
    }
}
