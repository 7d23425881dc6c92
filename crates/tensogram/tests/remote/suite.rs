//! What every store must do, with requests and bytes counted on the way to it.

use super::emulator::Objects;
use super::proxy::{Break, Proxy};
use super::{floats, message, ramp};
use fw_source::remote::{RemoteError, StoreOptions, StoreWriter, Stored};
use fw_tensogram::{
    DataObjectDescriptor, DecodeOptions, DecodedObject, EncodeOptions, GlobalMetadata, MessageIndex, StreamingEncoder,
    decode, open_source,
};
use fw_tensor::{DType, Selection};
use std::io::Write;
use std::sync::Arc;

/// A store with a proxy before it.
pub(crate) struct Served {
    pub(crate) proxy: Proxy,
    pub(crate) options: StoreOptions,
    /// What URLs begin with.
    pub(crate) base: String,
    pub(crate) objects: Arc<Objects>,
    /// Requests before the first part of an upload.
    pub(crate) requests_to_begin: u64,
}

impl Served {
    fn url(&self, name: &str) -> String {
        format!("{}/{name}", self.base)
    }

    fn put(&self, url: &str, options: &StoreOptions, bytes: &[u8]) -> std::io::Result<Stored> {
        let mut writer = StoreWriter::create(url, options)?;
        writer.write_all(bytes)?;
        writer.finish()
    }
}

pub(crate) fn small_objects(served: &Served) {
    // Names are what people make of them.
    for name in ["a.tgm", "deep/folder/b.tgm", "with%20space/c.tgm", "gr%C3%BC%C3%9Fe.tgm"] {
        let url = served.url(name);
        let bytes = message(7, &ramp(100, 1.0));
        let stored = served.put(&url, &served.options, &bytes).unwrap();
        assert_eq!((stored.len, stored.tag.is_some()), (bytes.len() as u64, true), "{url}");
        assert_eq!((stored.traffic.requests, stored.traffic.sent), (1, bytes.len() as u64), "{url}");
        assert_eq!(served.proxy.counted(), (1, 0), "{url}");

        let remote = open_source(&url, &served.options).unwrap();
        let data = remote.decode_object(0usize, 0, &DecodeOptions::default()).unwrap().bytes;
        assert_eq!(floats(&data), ramp(100, 1.0), "{url}");
        assert_eq!(remote.source().tag(), stored.tag.as_deref(), "{url}");
        assert_eq!(served.proxy.counted(), (1, bytes.len() as u64), "a small file comes with opening: {url}");
    }
}

pub(crate) fn costs(served: &Served) {
    let url = served.url("thirty.tgm");
    let thirty: Vec<u8> =
        (0..30).flat_map(|number| message(number, &ramp(30_000 + 700 * number as usize, number as f32))).collect();
    served.put(&url, &served.options, &thirty).unwrap();
    served.proxy.counted();

    for (wanted, number) in [(MessageIndex::FromStart(0), 0), (MessageIndex::FromEnd(0), 29)] {
        let remote = open_source(&url, &served.options).unwrap();
        let data = remote.decode_object(wanted, 0, &DecodeOptions::default()).unwrap().bytes;
        assert_eq!(floats(&data), ramp(30_000 + 700 * number as usize, number as f32));
        let (requests, bytes) = served.proxy.counted();
        assert!(requests <= 5 && bytes <= data.len() as u64 + (64 << 10), "{wanted:?}: {requests}, {bytes} bytes");
        let traffic = remote.traffic();
        assert_eq!((traffic.requests, traffic.received), (requests, bytes), "{wanted:?}");
    }

    let remote = open_source(&url, &served.options).unwrap();
    let layouts = remote.message_layouts().unwrap();
    assert_eq!(layouts.to_vec(), fw_tensogram::scan(&thirty));
    let surveys = remote.surveys(&(0..30).map(MessageIndex::from).collect::<Vec<_>>()).unwrap();
    for (number, survey) in surveys.iter().enumerate() {
        let metadata = survey.metadata.as_ref().unwrap();
        assert_eq!(metadata.extra["number"].as_integer(), Some((number as u64).into()));
        assert_eq!(survey.objects[0].descriptor.as_ref().unwrap().shape, [30_000 + 700 * number as u64]);
    }
    let (requests, bytes) = served.proxy.counted();
    assert!(requests <= 31 * 4, "{requests} requests for a listing of thirty messages");
    assert!(bytes < 30 * 12_000 + (64 << 10), "{bytes} of {} bytes for a listing", thirty.len());

    let part = remote.slice(17usize, 0, Selection::new().axis(20_000..20_004), &DecodeOptions::default()).unwrap();
    assert_eq!(part.view().to_vec::<f32>().unwrap(), [20_017.0, 20_018.0, 20_019.0, 20_020.0]);
    assert_eq!(served.proxy.counted(), (1, 16), "the layout is known: exactly the elements");
}

pub(crate) fn parts(served: &Served) {
    let url = served.url("streamed.tgm");
    let options = served.options.clone().with_part_len(1 << 20);
    let writer = StoreWriter::create(&url, &options).unwrap();
    let mut encoder = StreamingEncoder::new(writer, &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    let descriptor = DataObjectDescriptor::new(DType::Float32, &[400_000]).unwrap();
    for number in 0..3u8 {
        let bytes: Vec<u8> = ramp(400_000, number.into()).iter().flat_map(|value| value.to_le_bytes()).collect();
        encoder.write_object(&descriptor, &bytes).unwrap();
    }
    let stored = encoder.finish().unwrap().finish().unwrap();
    let parts = stored.len.div_ceil(1 << 20);
    assert!(parts >= 5 && stored.tag.is_some());
    let (requests, _) = served.proxy.counted();
    assert_eq!(requests, served.requests_to_begin + parts + 1, "begun, {parts} parts, completed");
    assert_eq!(stored.traffic.requests, requests);
    assert!(stored.traffic.sent >= stored.len && stored.traffic.sent < stored.len + 4096, "{:?}", stored.traffic);
    assert_eq!(served.objects.loose_parts(), 0);

    // A streamed message: its index is in its footer.
    let remote = open_source(&url, &options).unwrap();
    assert_eq!(remote.source().object_len(), stored.len);
    let runs = remote.decode_range(0usize, 2, &[(300_000, 4)], &DecodeOptions::default()).unwrap().parts;
    assert_eq!(floats(&runs[0]), [300_002.0, 300_003.0, 300_004.0, 300_005.0]);
    let (requests, bytes) = served.proxy.counted();
    assert!(requests <= 5 && bytes < 64 << 10, "{requests} requests, {bytes} bytes");
    assert!(served.proxy.log().iter().any(|request| request.to_ascii_lowercase().contains("if-match")));
    let objects = decode(&remote.read_message(0usize).unwrap(), &DecodeOptions::default()).unwrap().objects;
    assert_eq!(floats(&objects[1].bytes), ramp(400_000, 1.0));
}

pub(crate) fn versions(served: &Served) {
    let url = served.url("replaced.tgm");
    let put = |from: f32| served.put(&url, &served.options, &message(0, &ramp(50_000, from))).unwrap();
    put(0.0);
    let remote = open_source(&url, &served.options).unwrap();
    remote.message_span(0usize).unwrap();
    // As long as before, and of the same second: only the tag tells.
    put(7.0);
    let error = remote.decode_object(0usize, 0, &DecodeOptions::default()).unwrap_err();
    assert_eq!((error.class(), error.code()), ("Remote", "remote_changed"), "{error}");
    let again = open_source(&url, &served.options).unwrap();
    let data = again.decode_object(0usize, 0, &DecodeOptions::default()).unwrap().bytes;
    assert_eq!(floats(&data), ramp(50_000, 7.0));

    let error = open_source(&served.url("absent.tgm"), &served.options).unwrap_err();
    assert_eq!(error.code(), "remote_not_found", "{error}");
    assert!(error.to_string().contains("absent.tgm"), "{error}");
    served.put(&served.url("empty.tgm"), &served.options, b"").unwrap();
    assert_eq!(open_source(&served.url("empty.tgm"), &served.options).unwrap().message_count().unwrap(), 0);
}

pub(crate) fn trouble(served: &Served) {
    let options = served.options.clone().with_part_len(1 << 20);
    let bytes: Vec<u8> = (0..2).flat_map(|number| message(number, &ramp(300_000, number as f32))).collect();
    let read = |url: &str| open_source(url, &options)?.decode_object(1usize, 0, &DecodeOptions::default());
    served.put(&served.url("calm.tgm"), &options, &bytes).unwrap();
    let (writes, _) = served.proxy.counted();
    read(&served.url("calm.tgm")).unwrap();
    let (reads, _) = served.proxy.counted();
    assert!(writes >= 4 && reads >= 2, "{writes} and {reads} requests");
    let broken_at = |call: u64, breaks: &[Break]| {
        let mut all = vec![Break::Fine; call as usize];
        all.extend_from_slice(breaks);
        served.proxy.breaks(&all);
    };
    for broken in [Break::Status(503), Break::Status(429), Break::Drop] {
        for call in 0..writes {
            let url = served.url(&format!("passing-{call}.tgm"));
            broken_at(call, &[broken]);
            served.put(&url, &options, &bytes).unwrap_or_else(|error| panic!("{broken:?} at {call}: {error}"));
            assert!(open_source(&url, &options).unwrap().source().object_len() == bytes.len() as u64);
        }
    }
    for broken in [Break::Status(500), Break::Status(503), Break::Drop, Break::Half] {
        for call in 0..reads {
            broken_at(call, &[broken]);
            let DecodedObject { bytes: data, .. } =
                read(&served.url("calm.tgm")).unwrap_or_else(|error| panic!("{broken:?} at {call}: {error}"));
            assert_eq!(floats(&data), ramp(300_000, 1.0), "{broken:?} at {call}");
        }
    }
    for call in 0..writes {
        broken_at(call, &[Break::Status(503); 40]);
        let url = served.url("never.tgm");
        let error = served.put(&url, &options, &bytes).unwrap_err();
        served.proxy.breaks(&[]);
        let (code, text) = (RemoteError::of(&error).unwrap().code(), error.to_string());
        assert_eq!(code, "remote_failed", "{error}");
        assert!(text.contains(&url) && text.contains("after 3 tries"), "at call {call}: {text}");
        let error = open_source(&url, &options).unwrap_err();
        assert_eq!(error.code(), "remote_not_found", "{error}");
    }
    broken_at(reads - 1, &[Break::Status(503); 40]);
    let error = read(&served.url("calm.tgm")).unwrap_err();
    served.proxy.breaks(&[]);
    assert_eq!((error.class(), error.code()), ("Remote", "remote_failed"), "{error}");
    assert!(error.to_string().contains("503") && error.to_string().contains("after 3 tries"), "{error}");
}

pub(crate) fn abandoned(served: &Served) {
    let url = served.url("abandoned.tgm");
    let options = served.options.clone().with_part_len(1 << 20);
    let mut writer = StoreWriter::create(&url, &options).unwrap();
    writer.write_all(&vec![0; 5 << 20]).unwrap();
    drop(writer);
    let error = open_source(&url, &options).unwrap_err();
    assert_eq!(error.code(), "remote_not_found", "{error}");
}

/// Some objects are for everybody, and those under `private/` are not.
pub(crate) fn credentials(served: &Served, nobody: &StoreOptions) {
    for name in ["public.tgm", "private/secret.tgm"] {
        served.put(&served.url(name), &served.options, &message(0, &ramp(10, 0.0))).unwrap();
    }
    assert_eq!(open_source(&served.url("public.tgm"), nobody).unwrap().message_count().unwrap(), 1);
    served.proxy.counted();
    let error = open_source(&served.url("private/secret.tgm"), nobody).unwrap_err();
    assert_eq!((error.class(), error.code()), ("Remote", "remote_denied"), "{error}");
    assert_eq!(served.proxy.counted().0, 1, "asking again would not help");
}
