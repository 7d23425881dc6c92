//! What users of the reference crate look for: iterators, digests, buffers validated whole, serde.

use fw_tensogram::{
    DType, DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MaskDescriptor, MasksMetadata,
    MessageBuilder, TensogramFile, ValidateMode, ValidateOptions, compute_hash, data_object_inline_hashes, messages,
    metadata, objects, validate_buffer, validate_message, validate_source, value,
};

fn message(step: i32) -> Vec<u8> {
    let mars = value!({ "param": "2t", "step": step });
    let builder = MessageBuilder::new().tensor(&[2, 2], &[1.0f32, 2.0, 3.0, 4.0]).unwrap().base("mars", mars);
    builder.tensor(&[3], &[1u8, 2, 3]).unwrap().encode().unwrap()
}

/// TG-14: messages are slices of the buffer, found by one scan; damage between them is skipped.
#[test]
fn messages_of_a_buffer() {
    let buffer = [&message(0)[..], b"junk between", &message(6), &message(12), b"tail"].concat();
    let steps = |view: fw_tensogram::MessageView<'_>| view.metadata().unwrap().get("mars.step").as_i64().unwrap();
    assert_eq!(messages(&buffer).map(|view| steps(view.unwrap())).collect::<Vec<_>>(), [0, 6, 12]);
    assert_eq!(messages(&buffer).rev().map(|view| steps(view.unwrap())).collect::<Vec<_>>(), [12, 6, 0]);
    let mut left = messages(&buffer);
    assert_eq!(left.len(), 3);
    let first = left.next().unwrap().unwrap();
    assert!(std::ptr::eq(first.bytes(), &raw const buffer[..message(0).len()]));
    assert_eq!(left.len(), 2);
    assert_eq!(messages(b"").count() + messages(b"nothing in here").count(), 0);
}

/// TG-14: after a message that cannot be opened, iteration goes on with the next.
#[test]
fn a_broken_message_is_an_item() {
    let (first, mut second, third) = (message(0), message(6), message(12));
    // The index frame's own type becomes one that does not exist; both ends of the message stay.
    second[24 + 2] = 0xee;
    let start = first.len() as u64;
    let buffer = [first, second, third].concat();
    let found: Vec<_> = messages(&buffer).collect();
    assert_eq!(found.len(), 3);
    let error = found[1].as_ref().map(|view| view.object_count()).unwrap_err();
    assert_eq!(error.class(), "Framing");
    assert!(error.offset().unwrap() >= start && error.to_string().contains("message[1]"), "{error}");
    assert!(found[0].is_ok() && found[2].is_ok());
}

#[test]
fn objects_of_a_message() {
    let bytes = message(0);
    let mut left = objects(&bytes).unwrap();
    assert_eq!(left.len(), 2);
    let last = left.next_back().unwrap().unwrap();
    assert_eq!((last.index(), last.bytes()), (1, Some(&[1u8, 2, 3][..])));
    assert_eq!(left.next().unwrap().unwrap().descriptor().dtype, DType::Float32);
    assert!(left.next().is_none());
    for end in 0..bytes.len() {
        assert!(objects(&bytes[..end]).is_err(), "cut at {end}");
    }
    assert_eq!(objects(&MessageBuilder::new().encode().unwrap()).unwrap().len(), 0);

    // A fault of one object is its own: the next one is still there.
    let descriptor = objects(&bytes).unwrap().next().unwrap().unwrap().parts().descriptor;
    let mut damaged = bytes.clone();
    damaged[descriptor.start as usize] = 0xff;
    let found: Vec<_> = objects(&damaged).unwrap().collect();
    let error = found[0].as_ref().map(|object| object.index()).unwrap_err();
    assert_eq!(error.class(), "Metadata");
    assert!(error.to_string().contains("object[0]") && found[1].is_ok());
}

/// The heads of a file's objects cost no payload: a file whose payloads are gone still lists.
#[test]
fn messages_and_objects_of_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = TensogramFile::create(directory.path().join("two.tgm")).unwrap();
    assert_eq!(file.messages().unwrap().len(), 0);
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &[3]).unwrap();
    for step in [0, 6] {
        let metadata = GlobalMetadata { extra: metadata! { "step": step }, ..GlobalMetadata::default() };
        file.append(&metadata, &[(&descriptor, &[1, 2, 3]), (&descriptor, &[4, 5, 6])], &EncodeOptions::default())
            .unwrap();
    }
    let all: Vec<_> = file.messages().unwrap().collect();
    assert_eq!(all.iter().map(|message| message.index()).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(all[0].span().end, all[1].span().start);
    assert_eq!(all[1].metadata().unwrap().get("step").as_i64(), Some(6));
    let heads: Vec<_> = all[1].objects().unwrap().map(Result::unwrap).collect();
    assert_eq!(heads.len(), 2);
    assert_eq!(heads[0].descriptor.shape, [3]);
    assert!(all[1].span().contains(heads[1].parts.region));
    let bytes = file.decode_object(1, 1, &DecodeOptions::default()).unwrap().bytes;
    assert_eq!(bytes, [4, 5, 6]);
    assert_eq!(file.messages().unwrap().next_back().unwrap().index(), 1);
}

/// TG-4.3: the digest in the frame is that of the frame's body, and is read without decoding.
#[test]
fn inline_hashes() {
    let bytes = message(0);
    let hashes = data_object_inline_hashes(&bytes).unwrap();
    assert_eq!(hashes.len(), 2);
    for (object, hash) in objects(&bytes).unwrap().map(Result::unwrap).zip(hashes) {
        let body = object.frame().body();
        assert_eq!(hash, Some(compute_hash(&bytes[body.start as usize..body.end as usize])));
    }
    let plain = EncodeOptions { hashing: false, ..EncodeOptions::default() };
    let plain = MessageBuilder::new().tensor(&[1], &[1u8]).unwrap().options(plain).encode().unwrap();
    assert_eq!(data_object_inline_hashes(&plain).unwrap(), [None]);
    assert!(data_object_inline_hashes(&MessageBuilder::new().encode().unwrap()).unwrap().is_empty());
    assert_eq!(data_object_inline_hashes(&bytes[..bytes.len() - 1]).unwrap_err().class(), "Framing");
    assert_eq!(data_object_inline_hashes(b"").unwrap_err().class(), "Framing");
    assert_eq!(compute_hash(b""), "2d06800538d394c2");
}

/// TG-17: a buffer is validated like a file of the same bytes.
#[test]
fn buffers_are_validated_like_files() {
    let mut damaged = message(6);
    let payload = objects(&damaged).unwrap().next().unwrap().unwrap().parts().region.start as usize;
    damaged[payload] ^= 1;
    let streamed = [&message(0)[..20], &message(6)].concat();
    for buffer in [
        vec![],
        b"nothing".to_vec(),
        message(0),
        [message(0), damaged, b"tail".to_vec(), message(1)].concat(),
        streamed,
    ] {
        for mode in [ValidateMode::Quick, ValidateMode::Metadata, ValidateMode::Default, ValidateMode::Full] {
            let options = ValidateOptions::mode(mode);
            let found = validate_buffer(&buffer, &options);
            assert_eq!(found, validate_source(&buffer[..], &options).unwrap());
        }
    }
    assert!(validate_buffer(&message(0), &ValidateOptions::default()).is_ok());
    assert_eq!(validate_buffer(b"", &ValidateOptions::default()).report.findings()[0].code, "empty_file");
}

/// TG-17: structure and metadata, and neither digests nor payloads.
#[test]
fn the_metadata_mode_reads_descriptions_only() {
    let run = |bytes: &[u8], mode| validate_message(bytes, &ValidateOptions::mode(mode));
    let codes = |report: fw_tensogram::MessageReport| {
        report.report.findings().iter().map(|finding| finding.code.to_string()).collect::<Vec<_>>()
    };
    let bytes = message(0);
    let parts = *objects(&bytes).unwrap().next().unwrap().unwrap().parts();
    assert!(run(&bytes, ValidateMode::Metadata).is_ok());
    assert!(!run(&bytes, ValidateMode::Metadata).hash_verified, "digests are not compared");
    let mut payload = bytes.clone();
    payload[parts.region.start as usize] ^= 1;
    assert!(run(&payload, ValidateMode::Metadata).is_ok());
    assert!(!run(&payload, ValidateMode::Default).is_ok());
    let mut descriptor = bytes.clone();
    descriptor[parts.descriptor.start as usize] = 0xff;
    assert!(run(&descriptor, ValidateMode::Quick).is_ok());
    assert_eq!(codes(run(&descriptor, ValidateMode::Metadata)), ["descriptor_cbor_parse_failed"]);
    assert!(!run(&bytes[..bytes.len() - 1], ValidateMode::Metadata).is_ok());
}

#[cfg(feature = "serde")]
mod json {
    use super::*;
    use fw_tensogram::{ByteOrder, FileReport, MessageReport, Value};
    use serde_json::{Value as Json, from_value, json, to_value};

    fn descriptor() -> DataObjectDescriptor {
        let mut descriptor = DataObjectDescriptor::new(DType::Float64, &[721, 1440]).unwrap();
        descriptor =
            descriptor.with_encoding("simple_packing").with_compression("szip").with_param("sp_bits_per_value", 16);
        descriptor = descriptor.with_param("odd", Value::Bytes(vec![1, 2])).with_param("far", f64::INFINITY);
        let mask =
            MaskDescriptor { method: "rle".to_owned(), offset: 8, length: 300, params: metadata! { "level": 3 } };
        descriptor.masks = Some(MasksMetadata { nan: Some(mask), ..MasksMetadata::default() });
        descriptor.byte_order = ByteOrder::Big;
        descriptor
    }

    #[test]
    fn descriptors_come_back() {
        for descriptor in [DataObjectDescriptor::default(), descriptor()] {
            let json = to_value(&descriptor).unwrap();
            assert_eq!(json["type"], "ntensor");
            assert_eq!(json["dtype"], descriptor.dtype.name());
            assert_eq!(json["byte_order"], descriptor.byte_order.name());
            assert_eq!(from_value::<DataObjectDescriptor>(json).unwrap(), descriptor);
        }
        let json = to_value(descriptor()).unwrap();
        assert_eq!(json["sp_bits_per_value"], 16);
        assert_eq!(json["odd"], json!({"$bytes": "0102"}));
        assert_eq!(json["masks"]["nan"]["length"], 300);
        let masks = descriptor().masks.unwrap();
        assert_eq!(from_value::<MasksMetadata>(to_value(&masks).unwrap()).unwrap(), masks);
    }

    #[test]
    fn what_is_not_a_descriptor_is_an_error() {
        let whole = to_value(descriptor()).unwrap();
        let refused = |key: &str, value: Option<Json>, words: &str| {
            let mut json = whole.clone();
            match value {
                Some(value) => json[key] = value,
                None => drop(json.as_object_mut().unwrap().remove(key)),
            }
            let error = from_value::<DataObjectDescriptor>(json).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains("at byte"), "{key}: {error}");
        };
        for key in ["type", "ndim", "shape", "strides", "dtype", "encoding", "filter", "compression"] {
            refused(key, None, key);
            refused(key, Some(json!(null)), key);
        }
        refused("dtype", Some(json!("float8_e4m3")), "dtype");
        refused("byte_order", Some(json!("middle")), "byte_order");
        refused("shape", Some(json!([1, -1])), "shape");
        refused("shape", Some(json!([1.5])), "shape");
        refused("masks", Some(json!({"nan": {"method": "rle"}})), "masks.nan");
        refused("odd", Some(json!({"$bytes": "0"})), "hex");
        assert!(from_value::<DataObjectDescriptor>(json!([])).is_err());
    }

    #[test]
    fn metadata_comes_back() {
        let metadata = GlobalMetadata {
            base: vec![
                metadata! { "mars": { "param": "2t", "levels": [500, null] } },
                metadata! {},
                metadata! { "$int": "7" },
            ],
            extra: metadata! { "run": 1.5, "far": (-1 - i128::from(u64::MAX)) },
            reserved: metadata! { "uuid": "x" },
        };
        for metadata in [GlobalMetadata::default(), metadata] {
            let json = to_value(&metadata).unwrap();
            assert_eq!(from_value::<GlobalMetadata>(json).unwrap(), metadata);
        }
        assert_eq!(to_value(GlobalMetadata::default()).unwrap(), json!({}));
        for wrong in [
            json!(1),
            json!({"base": {}}),
            json!({"base": [1]}),
            json!({"_extra_": []}),
            json!({"a": 1, "_extra_": {"a": 2}}),
        ] {
            assert!(from_value::<GlobalMetadata>(wrong.clone()).is_err(), "{wrong}");
        }
        // What was read from a message survives too.
        let read = objects(&message(6)).map(|_| fw_tensogram::decode_metadata(&message(6)).unwrap()).unwrap();
        assert_eq!(from_value::<GlobalMetadata>(to_value(&read).unwrap()).unwrap(), read);
    }

    #[test]
    fn reports_come_back() {
        let buffer = [&message(0)[..], b"TENSOGRM and no more", &message(6), b"tail"].concat();
        let report = validate_buffer(&buffer, &ValidateOptions::mode(ValidateMode::Full));
        assert_eq!((report.messages.len(), report.unreadable.len()), (2, 1));
        let json = to_value(&report).unwrap();
        assert_eq!(json["ok"], false);
        assert_eq!(json["messages"][1]["offset"], report.messages[1].0.start);
        assert_eq!(from_value::<FileReport>(json.clone()).unwrap(), report);
        let one = &report.unreadable[0].1;
        assert_eq!(&from_value::<MessageReport>(to_value(one).unwrap()).unwrap(), one);
        let mut wrong = json.clone();
        wrong["messages"][0]["offset"] = json!(u64::MAX);
        assert!(from_value::<FileReport>(wrong).unwrap_err().to_string().contains("64 bits"));
        let mut wrong = json;
        wrong.as_object_mut().unwrap().remove("unreadable");
        assert!(from_value::<FileReport>(wrong).is_err());
        assert!(from_value::<MessageReport>(json!({"ok": true})).is_err());
    }
}
