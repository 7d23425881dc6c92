//! Messages changed without decoding them: byte for byte what an encoder writes that was given the changed metadata.

use fw_bytes::{Limits, Span};
use fw_tensogram::{
    AggregateHash, DType, DataObjectDescriptor, DecodeOptions, DigestFrames, EncodeOptions, GlobalMetadata,
    MessagePlan, MessageView, MetadataMap, OpenObject, Pipe, Provenance, StoredMessage, StreamingEncoder,
    ValidateOptions, Value, decode, encode, validate_message,
};

fn options() -> EncodeOptions {
    let text = |text: &str| text.to_owned();
    let provenance = Provenance {
        encoder_name: text("other"),
        encoder_version: text("1.2"),
        time: text("2024-01-15T00:00:00Z"),
        uuid: text("00000000-0000-4000-8000-000000000000"),
    };
    EncodeOptions { provenance: Some(provenance), allow_nan: true, allow_inf: true, ..EncodeOptions::default() }
}

fn descriptor(dtype: DType, shape: &[u64]) -> DataObjectDescriptor {
    DataObjectDescriptor::new(dtype, shape).unwrap()
}

fn entry(param: &str) -> MetadataMap {
    MetadataMap::from([("param".to_owned(), Value::from(param)), ("step".to_owned(), Value::from(6))])
}

fn read(message: &[u8]) -> StoredMessage {
    StoredMessage::read(message, Span::new(0, message.len() as u64), &Limits::default()).unwrap()
}

fn written(plan: &MessagePlan, source: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    plan.write(source, &mut out).unwrap();
    assert_eq!(out.len() as u64, plan.len());
    let report = validate_message(&out, &ValidateOptions::default());
    // A message without digests is one that cannot be verified, and nothing else.
    let faults = report.report.findings().iter().filter(|finding| finding.code != "no_hash_available");
    assert_eq!(faults.count(), 0, "{:?}", report.report.findings());
    out
}

/// Objects of every element type, one of them with NaN and infinities in masks, one compressed.
fn objects() -> Vec<(DataObjectDescriptor, Vec<u8>)> {
    let types = DType::ALL.iter().filter(|dtype| fw_tensogram::describe::is_tensogram_dtype(**dtype));
    let mut objects: Vec<_> = types
        .map(|dtype| {
            let descriptor = descriptor(*dtype, &[3, 5]);
            let len = descriptor.decoded_len().unwrap() as usize;
            (descriptor, (0..len).map(|at| (at % 3) as u8).collect())
        })
        .collect();
    let holes: Vec<u8> = (0..4000u32)
        .flat_map(|at| {
            match at % 7 {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => f64::NEG_INFINITY,
                _ => 273.0 + f64::from(at % 90) / 8.0,
            }
            .to_ne_bytes()
        })
        .collect();
    objects.push((descriptor(DType::Float64, &[40, 100]).with_pipeline(Pipe::shuffle().zstd(3)).unwrap(), holes));
    objects
}

#[test]
fn changed_metadata_gives_the_bytes_of_an_encoder() {
    let objects = objects();
    let inputs: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data)).collect();
    let before = GlobalMetadata { base: vec![entry("2t"), entry("10u")], ..GlobalMetadata::default() };
    let mut after = before.clone();
    after.base[1].insert("param".to_owned(), Value::from("a much longer name than before, so that everything moves"));
    after.base.resize_with(5, MetadataMap::new);
    after.base[4].insert("new".to_owned(), Value::from(1.5));
    after.extra.insert("run".to_owned(), Value::from(20_240_115));
    for aggregate_hash in
        [AggregateHash::Auto, AggregateHash::None, AggregateHash::Footer, AggregateHash::Both, AggregateHash::Header]
    {
        for hashing in [true, false] {
            let options = EncodeOptions { aggregate_hash, hashing, ..options() };
            let old = encode(&before, &inputs, &options).unwrap();
            let mut stored = read(&old);
            assert_eq!(written(&stored.plan().unwrap(), &old), old, "nothing changed: the same bytes");
            for (number, entry) in after.base.iter().enumerate() {
                stored.metadata.base[number].extend(entry.clone());
            }
            stored.metadata.extra = after.extra.clone();
            let new = written(&stored.plan().unwrap(), &old);
            assert!(new == encode(&after, &inputs, &options).unwrap(), "{aggregate_hash:?} {hashing}");
        }
    }
}

/// A stream has its index, digests and complete metadata after the objects, and metadata of its own before each of them.
#[test]
fn a_stream_becomes_what_a_buffered_encoder_writes() {
    let objects = objects();
    let mut stream = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options()).unwrap();
    let mut metadata = GlobalMetadata::default();
    for (number, (descriptor, data)) in objects.iter().enumerate() {
        let entry = entry(&format!("p{number}"));
        stream.write_preceder(&entry).unwrap();
        stream.write_object(descriptor, data).unwrap();
        metadata.base.push(entry);
    }
    let streamed = stream.finish().unwrap();
    let stored = read(&streamed);
    assert!(!stored.is_header_indexed());
    assert_eq!(stored.digest_frames(), DigestFrames::Header);
    let new = written(&stored.plan().unwrap(), &streamed);
    let inputs: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data)).collect();
    assert!(new == encode(&metadata, &inputs, &options()).unwrap());
    assert!(read(&new).is_header_indexed());
}

#[test]
fn objects_of_several_messages_make_one() {
    let objects = objects();
    let inputs: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data)).collect();
    let (left, right) = inputs.split_at(3);
    let file = [left, right].map(|part| encode(&GlobalMetadata::default(), part, &options()).unwrap()).concat();
    let spans = fw_tensogram::scan(&file);
    let stored: Vec<_> =
        spans.iter().map(|span| StoredMessage::read(&file[..], *span, &Limits::default()).unwrap()).collect();
    let mut metadata = stored[0].metadata.clone();
    metadata.base.extend(stored[1].metadata.base.clone());
    let all = stored.iter().flat_map(|message| message.objects.clone()).collect();
    let joined = written(&MessagePlan::new(&metadata, all).unwrap(), &file);
    assert!(joined == encode(&GlobalMetadata::default(), &inputs, &options()).unwrap());

    // And one object of a message alone.
    let one = GlobalMetadata { base: vec![metadata.base[7].clone()], ..metadata };
    let alone = written(&MessagePlan::new(&one, vec![stored[1].objects[4].clone()]).unwrap(), &file);
    assert!(alone == encode(&GlobalMetadata::default(), &inputs[7..8], &options()).unwrap());
}

#[test]
fn a_descriptor_is_changed_around_its_payload() {
    let objects = objects();
    let inputs: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data)).collect();
    for hashing in [true, false] {
        let options = EncodeOptions { hashing, ..options() };
        let old = encode(&GlobalMetadata::default(), &inputs, &options).unwrap();
        let mut stored = read(&old);
        let last = objects.len() - 1;
        let head = stored.objects[last].head(&old[..], last, &Limits::default()).unwrap();
        let changed = head.descriptor.clone().with_param("note", "checked");
        stored.objects[last] = stored.objects[last].with_descriptor(&old[..], &head, &changed).unwrap();
        let new = written(&stored.plan().unwrap(), &old);
        let (descriptor, data) = &objects[last];
        let descriptor = descriptor.clone().with_param("note", "checked");
        let mut inputs = inputs.clone();
        inputs[last] = (&descriptor, data);
        assert!(new == encode(&GlobalMetadata::default(), &inputs, &options).unwrap());
    }
}

#[test]
fn damage_is_refused_and_named() {
    let objects = objects();
    let inputs: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data)).collect();
    let message = encode(&GlobalMetadata::default(), &inputs, &options()).unwrap();
    let stored = read(&message);
    let at = stored.objects[2].span().start as usize;
    let mut broken = message.clone();
    broken[at] = b'X';
    let error = StoredMessage::read(&broken[..], Span::new(0, broken.len() as u64), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "base_count_exceeds_objects", "{error}");
    let mut surplus = stored.metadata.clone();
    surplus.base.push(MetadataMap::new());
    assert_eq!(MessagePlan::new(&surplus, stored.objects.clone()).unwrap_err().code(), "base_count_exceeds_objects");
    let mut huge = stored.metadata;
    huge.extra.insert("n".to_owned(), Value::Integer(i128::MAX));
    assert_eq!(MessagePlan::new(&huge, stored.objects).unwrap_err().code(), "integer_out_of_range");
}

/// Masks move as they are; other codecs give the values back, exactly or within their bound.
#[test]
fn an_object_goes_through_other_codecs() {
    let objects = objects();
    let (descriptor, data) = objects.last().unwrap();
    let old = encode(&GlobalMetadata::default(), &[(descriptor, data)], &options()).unwrap();
    let stored = read(&old);
    let limits = Limits::default();
    let head = stored.objects[0].head(&old[..], 0, &limits).unwrap();
    let mut open = OpenObject::read(&old[..], &stored.objects[0], &head, &DecodeOptions::default()).unwrap();
    assert!(open.has_masks() && open.is_masked(0) && !open.is_masked(3));
    assert_eq!(open.restored(), *data);
    for (pipe, bound) in [
        (Pipe::raw(), 0.0),
        (Pipe::zstd(9), 0.0),
        (Pipe::zfp_accuracy(0.01), 0.01),
        (Pipe::pack(16).szip(), 300.0 / 65536.0),
    ] {
        let mut frame = Vec::new();
        let recoded = open.encode(&pipe, &EncodeOptions::default(), &mut frame, 0).unwrap();
        assert_eq!(frame.len() as u64, recoded.object.span().end.next_multiple_of(8));
        let plan = MessagePlan::new(&stored.metadata, vec![recoded.object.clone()]).unwrap();
        let new = written(&plan, &frame);
        let decoded = decode(&new, &DecodeOptions::default()).unwrap();
        let values = |bytes: &[u8]| -> Vec<f64> {
            bytes.chunks(8).map(|chunk| f64::from_ne_bytes(chunk.try_into().unwrap())).collect()
        };
        for (a, b) in values(data).into_iter().zip(values(&decoded.objects[0].bytes)) {
            assert!(a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= bound, "{pipe:?}: {a} {b}");
        }
        let masks = |descriptor: &DataObjectDescriptor| {
            descriptor.masks.clone().unwrap().iter().map(|(kind, mask)| (kind, mask.length)).collect::<Vec<_>>()
        };
        assert_eq!(masks(&recoded.descriptor), masks(&head.descriptor));
        let view = MessageView::open(&new).unwrap();
        assert_eq!(view.metadata().unwrap().reserved, stored.metadata.reserved, "its provenance is kept");
    }
    // Stand-ins may be any number: no reader sees them.
    open.elements_mut()[..8].copy_from_slice(&280.0f64.to_ne_bytes());
    assert_eq!(open.restored(), *data);
}
