//! Every cap refuses what is one above it, under its own code, and lets pass what just fits.

mod common;

use common::*;
use fw_bytes::Limits;
use fw_tensogram::*;
use fw_tensor::DType;

type Call<'a> = (&'a str, &'a dyn Fn(&Limits) -> Result<()>);

/// `set` puts a number into the limits; the calls must pass with `fits` and fail with one less.
#[track_caller]
fn refused(code: &str, fits: u64, set: impl Fn(&mut Limits, u64), calls: &[Call<'_>]) {
    for (name, call) in calls {
        let with = |number| {
            let mut limits = Limits::default();
            set(&mut limits, number);
            call(&limits)
        };
        with(fits).unwrap_or_else(|error| panic!("{name} with {code} of {fits}: {error}"));
        let error = with(fits - 1).expect_err(name);
        assert_eq!((error.code(), error.kind()), (code, ErrorKind::Limit), "{name}: {error}");
        assert!(error.to_string().contains(&(fits - 1).to_string()), "{name} does not name the limit: {error}");
    }
}

fn options(limits: &Limits) -> DecodeOptions {
    DecodeOptions::default().with_limits(*limits)
}

fn decoded(bytes: &[u8], limits: &Limits) -> Result<()> {
    decode(bytes, &options(limits)).map(drop)
}

fn viewed(bytes: &[u8], limits: &Limits) -> Result<()> {
    let view = MessageView::open_with(bytes, &options(limits))?;
    view.metadata()?;
    (0..view.object_count()).try_for_each(|index| view.object(index)?.decode(&options(limits)).map(drop))
}

fn streamed_in(bytes: &[u8], limits: &Limits) -> Result<()> {
    StreamReader::new(bytes, options(limits)).try_for_each(|event| event.map(drop))
}

/// All ways in.
#[track_caller]
fn refused_everywhere(code: &str, bytes: &[u8], fits: u64, set: impl Fn(&mut Limits, u64)) {
    let calls: [Call<'_>; 3] = [
        ("decode", &|limits| decoded(bytes, limits)),
        ("view", &|limits| viewed(bytes, limits)),
        ("stream", &|limits| streamed_in(bytes, limits)),
    ];
    refused(code, fits, set, &calls);
}

/// Three objects; the first has the longest metadata of all.
fn message() -> Vec<u8> {
    let objects = [object(DType::Float32, &[3], 1), object(DType::UInt8, &[40], 2), object(DType::Int16, &[2], 3)];
    let objects: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data.as_slice())).collect();
    encode(&GlobalMetadata::default(), &objects, &common::options()).unwrap()
}

#[test]
fn message_len() {
    let bytes = message();
    refused_everywhere("limit_message_len", &bytes, bytes.len() as u64, |limits, n| limits.message_len = n);
    let opened: [Call<'_>; 1] = [("open", &|limits| MessageView::open_with(&bytes, &options(limits)).map(drop))];
    refused("limit_message_len", bytes.len() as u64, |limits, n| limits.message_len = n, &opened);
}

/// A message that does not say its length is refused as soon as it outgrows the limit.
#[test]
fn message_len_of_a_stream() {
    let float = object(DType::Float32, &[3], 1);
    let bytes = streamed(&[&float, &float], &GlobalMetadata::default(), false);
    assert_eq!(bytes[16..24], [0; 8]);
    refused_everywhere("limit_message_len", &bytes, bytes.len() as u64, |limits, n| limits.message_len = n);
    for len in 48..bytes.len() as u64 {
        let mut limits = Limits::default();
        limits.message_len = len;
        let error = streamed_in(&bytes, &limits).unwrap_err();
        assert_eq!((error.code(), error.kind()), ("limit_message_len", ErrorKind::Limit), "{len}: {error}");
    }
}

#[test]
fn object_count() {
    refused_everywhere("limit_object_count", &message(), 3, |limits, n| limits.object_count = n);
}

#[test]
fn metadata_len() {
    let bytes = message();
    let outline = frame::Outline::of(&bytes, &Limits::default()).unwrap();
    let longest = outline.others.iter().map(|frame| frame.body().len()).max().unwrap();
    refused_everywhere("limit_metadata_len", &bytes, longest, |limits, n| limits.metadata_len = n);
    // Descriptors count too, where they are the longest.
    let (descriptor, data) = object(DType::UInt8, &[4], 0);
    let descriptor = descriptor.with_param("note", "x".repeat(4000));
    let bytes = encode(&GlobalMetadata::default(), &[(&descriptor, &data[..])], &common::options()).unwrap();
    let longest = descriptor.to_cbor().len() as u64;
    refused_everywhere("limit_metadata_len", &bytes, longest, |limits, n| limits.metadata_len = n);
}

#[test]
fn depth() {
    // The map of the message, the map of extra, and ten arrays.
    let nested = (0..10).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let metadata =
        GlobalMetadata { extra: MetadataMap::from([("nested".to_owned(), nested)]), ..GlobalMetadata::default() };
    let bytes = encode::<ObjectInput<'_>>(&metadata, &[], &common::options()).unwrap();
    refused_everywhere("limit_depth", &bytes, 12, |limits, n| limits.depth = n as u32);
}

/// The first metadata frame by itself, from memory and from a file: the same caps, whole messages or only their beginning.
#[test]
fn metadata_alone() {
    let nested = (0..10).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let metadata =
        GlobalMetadata { extra: MetadataMap::from([("nested".to_owned(), nested)]), ..GlobalMetadata::default() };
    let (descriptor, data) = object(DType::Float32, &[3], 1);
    let bytes = encode(&metadata, &[(&descriptor, &data[..])], &common::options()).unwrap();
    let outline = frame::Outline::of(&bytes, &Limits::default()).unwrap();
    let first = outline.others.iter().find(|frame| frame.frame_type() == wire::FrameType::HEADER_METADATA).unwrap();
    let beginning = &bytes[..first.end() as usize];
    let span = |bytes: &[u8]| fw_bytes::Span::new(0, bytes.len() as u64);
    for bytes in [&bytes[..], beginning] {
        let calls: [Call<'_>; 2] = [
            ("decode_metadata_with", &|limits| decode_metadata_with(bytes, &options(limits)).map(drop)),
            ("ReadFirstMetadata", &|limits| {
                let machine = access::ReadFirstMetadata::new(span(bytes), *limits);
                access::run(bytes, &mut fw_source::Buffers::new(), machine).map(drop)
            }),
        ];
        refused("limit_metadata_len", first.body().len(), |limits, n| limits.metadata_len = n, &calls);
        refused("limit_depth", 12, |limits, n| limits.depth = n as u32, &calls);
    }
}

#[test]
fn object_len() {
    refused_everywhere("limit_object_len", &message(), 40, |limits, n| limits.object_len = n);
}

/// Ten thousand zeros compress well: too well for an untrusted file, once they are above the floor.
#[test]
#[cfg(feature = "zstd")]
fn expansion() {
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &[10_000]).unwrap().with_compression("zstd");
    let bytes = encode(&GlobalMetadata::default(), &[(&descriptor, &[0; 10_000])], &common::options()).unwrap();
    let payload = MessageView::open(&bytes).unwrap().object(0).unwrap().payload().len() as u64;
    let ratio = 10_000_u64.div_ceil(payload);
    assert!(ratio > 64, "{payload}");
    refused_everywhere("limit_expansion_ratio", &bytes, ratio, |limits, n| {
        (limits.expansion_floor, limits.expansion_ratio) = (0, n);
    });
    refused_everywhere("limit_expansion_ratio", &bytes, 10_000, |limits, n| {
        (limits.expansion_floor, limits.expansion_ratio) = (n, 1);
    });
    // Above a mebibyte the limits for untrusted files refuse it.
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &[2 << 20]).unwrap().with_compression("zstd");
    let bytes = encode(&GlobalMetadata::default(), &[(&descriptor, &vec![0; 2 << 20])], &common::options()).unwrap();
    let error = decode(&bytes, &DecodeOptions::untrusted()).unwrap_err();
    assert_eq!((error.code(), error.kind()), ("limit_expansion_ratio", ErrorKind::Limit));
    decode(&bytes, &DecodeOptions::default()).unwrap();
}
