//! Damage done through a writer: mapped readers cut off, half files, lying tensors.

use fw_bintensors::{
    Algorithm, BinTensorError, BinTensors, Dtype, HeaderAlignment, Plan, PlannedWriter, Profile, ReadOptions, Reader,
    TensorView, View, WriteOptions, serialize, serialize_to_file, serialize_with, validate,
};
use std::borrow::Cow;
use std::io::Read;

fn view(data: &[u8]) -> TensorView<'_> {
    TensorView::new(Dtype::U8, [data.len() as u64], data).unwrap()
}

/// Whoever holds the old file keeps its bytes when a new one takes its place.
#[test]
fn overwriting_leaves_old_readers_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.bt");
    serialize_to_file([("a", view(&[1; 5000]))], &None, &path).unwrap();
    let old = Reader::open(&path).unwrap();
    let mut held = std::fs::File::open(&path).unwrap();
    serialize_to_file([("a", view(&[2; 3]))], &None, &path).unwrap();
    assert_eq!(old.tensor("a").unwrap(), [1; 5000]);
    let mut bytes = Vec::new();
    held.read_to_end(&mut bytes).unwrap();
    assert_eq!(BinTensors::deserialize(&bytes).unwrap().tensor("a").unwrap().data(), [1; 5000]);
    assert_eq!(Reader::open(&path).unwrap().tensor("a").unwrap(), [2; 3]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Whoever has mapped the old file keeps its view, whichever writer puts a new one in its place.
#[allow(unsafe_code, reason = "mapping a file takes a promise about it")]
#[test]
fn overwriting_leaves_maps_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.bt");
    serialize_to_file([("a", view(&[1; 50_000]))], &None, &path).unwrap();
    // SAFETY: the file lies in this test's own folder, and the writers below are the ones whose promise is tested.
    let map = unsafe { fw_source::MappedFile::open(&path) }.unwrap();
    let mapped = BinTensors::deserialize(&map).unwrap();
    serialize_to_file([("a", view(&[2; 3]))], &None, &path).unwrap();
    assert_eq!(mapped.tensor("a").unwrap().data(), [1; 50_000]);
    // SAFETY: as above.
    let second = unsafe { fw_source::MappedFile::open(&path) }.unwrap();
    let writer = PlannedWriter::create(&path, [("b", Dtype::U8, vec![9u64])], &WriteOptions::new()).unwrap();
    writer.write("b", &[3; 9]).unwrap();
    assert_eq!(Reader::open(&path).unwrap().tensor("a").unwrap(), [2; 3], "nothing changes before the end");
    writer.finish().unwrap();
    assert_eq!(mapped.tensor("a").unwrap().data(), [1; 50_000]);
    assert_eq!(BinTensors::deserialize(&second).unwrap().tensor("a").unwrap().data(), [2; 3]);
    assert_eq!(Reader::open(&path).unwrap().tensor("b").unwrap(), [3; 9]);
}

/// A tensor whose data is not as long as it said.
struct Liar;

impl View for Liar {
    fn dtype(&self) -> Dtype {
        Dtype::U8
    }
    fn shape(&self) -> &[u64] {
        &[4]
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&[0; 3])
    }
    fn data_len(&self) -> u64 {
        4
    }
}

#[test]
fn a_lying_tensor_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.bt");
    assert_eq!(serialize_to_file([("a", Liar)], &None, &path).unwrap_err().class(), "TensorInvalidInfo");
    assert_eq!(serialize([("a", Liar)], &None).unwrap_err().class(), "TensorInvalidInfo");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// BT-6.7: what cannot be read is not written.
#[test]
fn unreadable_files_are_not_written() {
    let data = [0u8; 2];
    let twice = serialize([("a", view(&data)), ("a", view(&data))], &None);
    assert_eq!(twice.unwrap_err().class(), "ValidationMismatch");
    let signed = TensorView::new(Dtype::I8, [2], &data).unwrap();
    assert_eq!(serialize([("a", view(&data)), ("a", signed)], &None).unwrap_err().class(), "ValidationMismatch");
    let options = WriteOptions::new();
    let huge = Plan::new([("a", Dtype::F64, vec![1u64 << 61])], &options);
    assert_eq!(huge.unwrap_err().class(), "ValidationOverflow");
    let sum = Plan::new([("a", Dtype::U8, vec![u64::MAX]), ("b", Dtype::U8, vec![1])], &options);
    assert_eq!(sum.unwrap_err().class(), "ValidationOverflow");
    let long = WriteOptions::new().with_metadata([("k".to_owned(), "v".repeat(100_000_000))].into());
    assert_eq!(serialize_with([("a", view(&data))], &long).unwrap_err().class(), "HeaderTooLarge");
}

#[test]
fn a_plan_must_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.bt");
    std::fs::write(&path, b"old").unwrap();
    let start = || {
        let infos = [("a", Dtype::U8, vec![4u64]), ("b", Dtype::U8, vec![2])];
        PlannedWriter::create(&path, infos, &WriteOptions::new()).unwrap()
    };
    let writer = start();
    assert_eq!(writer.write("c", &[]).unwrap_err().class(), "TensorNotFound");
    assert_eq!(writer.write("a", &[0; 5]).unwrap_err().class(), "IncompleteWrite");
    writer.write("b", &[1, 2]).unwrap();
    assert_eq!(writer.write("b", &[1, 2]).unwrap_err().class(), "IncompleteWrite");
    let error = writer.finish().unwrap_err();
    assert!(matches!(error, BinTensorError::IncompleteWrite { ref name, .. } if name == "a"), "{error}");
    drop(start());
    assert_eq!(std::fs::read(&path).unwrap(), b"old", "the target is untouched");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}

/// Tensors in any order, from several threads, in pieces; digests of tensors and file; progress to the end.
#[test]
fn a_planned_file_equals_the_serialised_one() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.bt");
    let names: Vec<String> = (0..40).map(|number| format!("layer.{number}")).collect();
    let data: Vec<Vec<u8>> = (0..40u8).map(|number| vec![number; 1000 + usize::from(number)]).collect();
    for digests in [None, Some(Algorithm::Sha256)] {
        let mut options = WriteOptions::new().with_align(HeaderAlignment::PAGE);
        options.tensor_digests = digests;
        let infos = names.iter().zip(&data).map(|(name, data)| (name.clone(), Dtype::U8, vec![data.len() as u64]));
        let seen = Arc::new(AtomicU64::new(0));
        let most = Arc::clone(&seen);
        let writer = PlannedWriter::create(&path, infos, &options)
            .unwrap()
            .with_file_digest(Algorithm::Sha1)
            .with_progress(move |progress| {
                assert!(progress.bytes_done <= progress.bytes_total);
                most.fetch_max(progress.bytes_done, Ordering::Relaxed);
            });
        std::thread::scope(|scope| {
            for part in 0..3 {
                let (writer, names, data) = (&writer, &names, &data);
                scope.spawn(move || {
                    for number in (0..40).rev().filter(|number| number % 3 == part) {
                        let mut tensor = writer.tensor(&names[number]).unwrap();
                        data[number].chunks(300).for_each(|piece| tensor.put(piece).unwrap());
                        tensor.finish().unwrap();
                    }
                });
            }
        });
        let total = writer.plan().data_len();
        let written = writer.finish().unwrap();
        assert_eq!(seen.load(Ordering::Relaxed), total);
        let bytes = std::fs::read(&path).unwrap();
        let tensors = names.iter().zip(&data).map(|(name, data)| (name, view(data)));
        assert!(serialize_with(tensors, &options).unwrap() == bytes);
        assert_eq!(Algorithm::Sha1.digest(&bytes), written.digest.unwrap());
        assert_eq!(written.file_len, bytes.len() as u64);
        let opened = BinTensors::deserialize(&bytes).unwrap();
        assert_eq!(opened.metadata().data_start() % 4096, 0);
        let reader = Reader::open(&path).unwrap();
        let compared = validate::verify_tensors(&bytes[..], reader.metadata()).unwrap();
        assert_eq!(compared, if digests.is_some() { 40 } else { 0 });
        if digests.is_some() {
            let mut damaged = bytes.clone();
            *damaged.last_mut().unwrap() ^= 1;
            let error = validate::verify_tensors(&damaged[..], reader.metadata()).unwrap_err();
            assert_eq!(error.class(), "ChecksumMismatch");
            let options = validate::ValidateOptions::new(Profile::Default).with_data();
            assert!(validate::validate(&bytes[..], &options).unwrap().is_ok());
            let report = validate::validate(&damaged[..], &options).unwrap();
            assert_eq!(report.findings().iter().filter(|finding| finding.code == "checksum_mismatch").count(), 1);
        }
    }
}

/// BT-5.9: alignment is spaces that every reader takes, and the canonical 8 stays canonical.
#[test]
fn alignment_is_padding() {
    let data = [7u8; 16];
    for bytes in [8, 16, 64, 4096, 1 << 20] {
        let options = WriteOptions::new().with_align(HeaderAlignment::new(bytes).unwrap());
        let file = serialize_with([("x", view(&data))], &options).unwrap();
        let opened = BinTensors::deserialize(&file).unwrap();
        assert_eq!(opened.metadata().data_start() % bytes, 0);
        assert_eq!(opened.tensor("x").unwrap().data(), data);
        let canonical = BinTensors::deserialize_with(&file, &ReadOptions::new().with_profile(Profile::Canonical));
        assert_eq!(canonical.is_ok(), bytes == 8);
    }
    assert!([0, 1, 4, 12, 1 << 21].into_iter().all(|bytes| HeaderAlignment::new(bytes).is_none()));
}
