//! Every name that docs/migrating.md promises exists: this file uses each of them, and a test says which one it misses.

use framewright::bintensors::{
    BinTensorError, BinTensors, DigestBuffer, Dtype, Metadata, Sliced, TensorInfo, TensorView, View, serialize,
    serialize_to_file, serialize_with_checksum,
};
use framewright::report::Finding;
use framewright::source::LeftAlone;
use framewright::tensogram::{
    AggregateHash, ByteOrder, DType, DataObjectDescriptor, DecodeOptions, EncodeOptions, FileReport, GlobalMetadata,
    Lengths, MaskMethod, MessageBuilder, MessageReport, MessageView, MetadataCursor, ObjectView, Pipe,
    StreamingEncoder, TensogramError, TensogramFile, ValidateMode, ValidateOptions, Value, compute_common,
    compute_hash, data_object_inline_hashes, decode, decode_descriptors, decode_metadata, decode_object,
    decode_object_from_frame, decode_range, decode_range_from_frame, decode_with_masks, encode, encode_pre_encoded,
    messages, metadata, objects, scan, scan_file, validate_buffer, validate_file, validate_message, value,
};
#[cfg(feature = "async")]
use framewright::tensogram::{AsyncStreamingEncoder, AsyncTensogramFile};
#[cfg(feature = "remote")]
use framewright::tensogram::{is_remote_url, open_source};
use framewright::tensor::AxisSlice;

const PAGE: &str = include_str!("../../../docs/migrating.md");
const SELF: &str = include_str!("migrating.rs");

/// Each name in a right-hand column of the page stands in this file; what compiles exists.
#[test]
fn every_promised_name_is_used_here() {
    let words: Vec<&str> = SELF.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut promised = 0;
    for line in PAGE.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let here = line.split(" | ").nth(1).unwrap_or_else(|| panic!("no right-hand column: {line}"));
        for name in here.split('`').skip(1).step_by(2) {
            for part in name.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !part.is_empty()) {
                assert!(words.contains(&part), "docs/migrating.md promises {name:?}, which nothing here uses");
                promised += 1;
            }
        }
    }
    assert!(promised > 120, "only {promised} names were found in the tables");
}

fn message() -> Vec<u8> {
    let builder = MessageBuilder::new().tensor(&[4], &[1.0f64, 2.0, 3.0, 4.0]).unwrap().pipeline(Pipe::pack(16));
    builder.base("mars", value!({ "param": "2t" })).extra("run", Value::map([("step", 6)])).encode().unwrap()
}

#[test]
fn functions_on_messages() {
    let (bytes, options) = (message(), DecodeOptions::default());
    let metadata = decode(&bytes, &options).unwrap().metadata;
    decode_with_masks(&bytes, &options).unwrap();
    assert_eq!(decode_metadata(&bytes).unwrap(), metadata);
    assert_eq!(decode_descriptors(&bytes).unwrap().descriptors.len(), 1);
    decode_object(&bytes, 0, &options).unwrap();
    decode_range(&bytes, 0, &[(1, 2)], &options).unwrap();
    let view: MessageView<'_> = messages(&bytes).next().unwrap().unwrap();
    let object: ObjectView<'_> = objects(view.bytes()).unwrap().next().unwrap().unwrap();
    assert_eq!(object.slice((1..3,), &options).unwrap().shape(), [2]);
    let frame = object.frame().span();
    let frame = &bytes[frame.start as usize..frame.end as usize];
    decode_object_from_frame(frame, &options).unwrap();
    decode_range_from_frame(frame, &[(0, 1)], &options).unwrap();
    assert_eq!((scan(&bytes).len(), data_object_inline_hashes(&bytes).unwrap().len()), (1, 1));
    assert_eq!(compute_hash(b"hello world"), "d447b1ea40e6988b");
    assert_eq!(compute_common(&[metadata! { "a": 1 }, metadata! { "a": 1 }]), metadata! { "a": 1 });
    let cursor: MetadataCursor<'_> = metadata.get("mars.param");
    assert!(cursor.exists() && metadata.get_at(0, "mars").exists());
    assert_eq!(metadata.get("run.step").as_i64(), Some(6));
}

#[test]
fn writing_and_validating() {
    let mut descriptor = DataObjectDescriptor::new(DType::UInt8, &[2]).unwrap();
    descriptor.byte_order = ByteOrder::NATIVE;
    let options = EncodeOptions {
        aggregate_hash: AggregateHash::Footer,
        nan_mask_method: MaskMethod::Rle,
        ..EncodeOptions::default()
    };
    let metadata = GlobalMetadata { base: vec![], extra: metadata! {}, reserved: metadata! {} };
    encode(&metadata, &[(&descriptor, &[1u8, 2][..])], &options).unwrap();
    let bytes = encode_pre_encoded(&metadata, &[(&descriptor, &[1u8, 2][..])], &options).unwrap();
    for mode in
        [ValidateMode::Quick, ValidateMode::Metadata, ValidateMode::Default, ValidateMode::Checksum, ValidateMode::Full]
    {
        let options = ValidateOptions { mode, canonical: true, ..ValidateOptions::default() };
        let report: MessageReport = validate_message(&bytes, &options);
        assert_eq!((report.object_count, report.report.findings()), (1, &[] as &[Finding]));
        let report: FileReport = validate_buffer(&bytes, &options);
        assert!(report.is_ok());
    }
    let mut stream = StreamingEncoder::new(Vec::new(), &metadata, &options).unwrap();
    stream.write_preceder(&metadata! { "a": 1 }).unwrap();
    stream.write_object(&descriptor, &[1, 2]).unwrap();
    stream.write_object_pre_encoded(&descriptor, &[1, 2]).unwrap();
    stream.finish_and_reset(Lengths::BackFilled).unwrap();
    stream.finish().unwrap();
    let cursor = std::io::Cursor::new(Vec::<u8>::new());
    let mut stream = StreamingEncoder::new(cursor, &metadata, &options).unwrap();
    stream.finish_and_reset(Lengths::Unknown).unwrap();
    stream.finish_with_backfill().unwrap();
}

#[test]
fn files_of_messages() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tgm");
    let file = TensogramFile::create(&path).unwrap();
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &[2]).unwrap();
    file.append(&GlobalMetadata::default(), &[(&descriptor, &[1u8, 2][..])], &EncodeOptions::default()).unwrap();
    drop(file.appender(&Default::default()).unwrap());
    let (file, options) = (TensogramFile::open(&path).unwrap(), DecodeOptions::default());
    assert_eq!((file.message_count().unwrap(), file.message_layouts().unwrap().len()), (1, 1));
    file.invalidate_offsets();
    assert_eq!((file.read_messages().unwrap().count(), file.messages().unwrap().len()), (1, 1));
    file.read_message(0).unwrap();
    file.decode_message(0, &options).unwrap();
    file.decode_object(0, 0, &options).unwrap();
    file.decode_range(0, 0, &[(0, 1)], &options).unwrap();
    file.slice(0, 0, framewright::tensor::select![1], &options).unwrap();
    assert_eq!(file.path(), path);
    assert_eq!(scan_file(&path).unwrap().len(), 1);
    assert!(validate_file(&path, &ValidateOptions::default()).unwrap().is_ok());
    let _ = |promise: LeftAlone| TensogramFile::open_mmap(&path, promise);
}

/// The classes of errors, by name.
#[test]
fn errors() {
    let error = decode(b"", &DecodeOptions::default()).unwrap_err();
    assert!(matches!(error, TensogramError::Framing(_)));
    let _ = |error: &TensogramError| match error {
        TensogramError::Metadata(_) | TensogramError::Encoding(_) | TensogramError::Compression(_) => 1,
        TensogramError::Object(_) | TensogramError::Selection(_) | TensogramError::Io(_) => 2,
        TensogramError::HashMismatch { .. } | TensogramError::MissingHash { .. } | TensogramError::Remote(_) => 3,
        _ => 4,
    };
}

/// Features `async`, `remote` and `serde`.
#[test]
fn features() {
    #[cfg(feature = "async")]
    {
        assert!(size_of::<AsyncTensogramFile>() > 0);
        assert!(size_of::<AsyncStreamingEncoder<Vec<u8>>>() > 0);
    }
    #[cfg(feature = "remote")]
    assert!(is_remote_url("s3://bucket/a.tgm") && open_source("gopher://a", &Default::default()).is_err());
    let json = serde_json::to_string(&decode_metadata(&message()).unwrap()).unwrap();
    assert!(serde_json::from_str::<GlobalMetadata>(&json).is_ok());
}

fn lengths(view: impl View) -> (u64, u64) {
    (view.data_len(), view.dtype().size())
}

/// The names of the other crate.
#[test]
fn tensors() {
    let (data, none) = ([1u8, 2, 3, 4, 5, 6], None);
    let view = || TensorView::new(Dtype::U8, [2, 3], &data).unwrap();
    assert_eq!(lengths(view()), (6, 1));
    let bytes = serialize([("a", view())], &none).unwrap();
    let file = BinTensors::deserialize(&bytes).unwrap();
    assert_eq!((file.len(), file.is_empty(), file.iter().len(), file.tensors().len()), (1, false, 1, 1));
    assert_eq!(file.names().collect::<Vec<_>>(), ["a"]);
    let (_, metadata): (u64, Metadata<'_>) = BinTensors::read_metadata(&bytes).unwrap();
    let info: TensorInfo<'_> = metadata.info("a").unwrap();
    assert_eq!((info.data_offsets, metadata.infos().len(), metadata.offset_keys()), ((0, 6), 1, vec!["a".to_owned()]));
    assert!(file.metadata().metadata().is_none());
    let tensor = file.tensor("a").unwrap();
    assert_eq!((tensor.dtype(), tensor.shape(), tensor.data()), (Dtype::U8, &[2, 3][..], &data[..]));
    let sliced: Sliced<'_> = tensor.slice((.., 1)).unwrap();
    assert_eq!((sliced.shape(), sliced.byte_len(), sliced.chunks().count()), (&[2][..], 2, 2));
    let same = [AxisSlice::FULL, AxisSlice::Index(1)];
    assert_eq!(tensor.slice(&same[..]).unwrap().to_vec(), sliced.to_vec());
    let range = AxisSlice::Range { start: Some(0), end: Some(9), step: 1 };
    assert_eq!(tensor.slice(range).unwrap().shape(), [2, 3], "ranges clamp");
    assert!(matches!(tensor.slice(2).unwrap_err(), BinTensorError::InvalidSlice(_)));
    let directory = tempfile::tempdir().unwrap();
    serialize_to_file([("a", view())], &none, directory.path().join("a.bt")).unwrap();
    let hashed: DigestBuffer = serialize_with_checksum([("a", view())], &none, sha1::Sha1::default()).unwrap();
    assert_eq!((hashed.buffer, hashed.checksum.len()), (bytes, 20));
}
