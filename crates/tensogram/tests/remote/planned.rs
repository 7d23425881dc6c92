//! Many parts by few requests: what a plan saves, near and far.

use super::emulator::{Objects, serve};
use super::proxy::Proxy;
use super::{floats, message, quick, ramp};
use fw_tensogram::{DecodeOptions, MessageBuilder, MessageIndex, open_source};
use fw_tensor::Selection;
use std::sync::Arc;
use std::time::Duration;

/// An object behind a counting proxy, whose answers come at once or late.
fn served(bytes: &[u8]) -> [Proxy; 2] {
    let objects = Arc::new(Objects::default());
    objects.put("/file.tgm", bytes.to_vec());
    let address = serve(move |request| objects.read(&request));
    [0, 100].map(|millis| Proxy::new(address, Duration::from_millis(millis)))
}

#[test]
fn a_column_of_4096_rows_costs_at_most_20_requests() {
    let values: Vec<f32> = (0..4096 * 4096u32).map(|i| i as f32).collect();
    let bytes = MessageBuilder::new().tensor(&[4096, 4096], &values).unwrap().encode().unwrap();
    for proxy in served(&bytes) {
        let remote = open_source(&proxy.url("file.tgm"), &quick()).unwrap();
        let column =
            remote.slice(0usize, 0, Selection::new().axis(..).axis(70..71), &DecodeOptions::default()).unwrap();
        let expected: Vec<f32> = values.iter().skip(70).step_by(4096).copied().collect();
        assert_eq!(column.view().to_vec::<f32>().unwrap(), expected);
        let (requests, _) = proxy.counted();
        assert!(requests <= 20, "{requests} requests for a column");

        // A window costs its own bytes, and a row one request.
        let remote = open_source(&proxy.url("file.tgm"), &quick()).unwrap();
        let window = Selection::new().axis(1000..1016).axis(2000..2016);
        let window = remote.slice(0usize, 0, &window, &DecodeOptions::default()).unwrap();
        assert_eq!(window.view().to_vec::<f32>().unwrap()[17], (1001 * 4096 + 2001) as f32);
        let (requests, fetched) = proxy.counted();
        assert!(requests <= 20 && fetched < 32 << 10, "{requests} requests and {fetched} bytes for a window");
        let row = remote.slice(0usize, 0, Selection::new().axis(9..10), &DecodeOptions::default()).unwrap();
        assert_eq!(row.view().to_vec::<f32>().unwrap(), values[9 * 4096..10 * 4096]);
        assert_eq!(proxy.counted(), (1, 4 * 4096));
        // All of it comes in several ranges side by side.
        let all = remote.decode_object(0, 0, &DecodeOptions::default()).unwrap().bytes;
        assert_eq!(all.len(), 4 * values.len());
        let (requests, fetched) = proxy.counted();
        assert!((2..=16).contains(&requests) && fetched <= bytes.len() as u64, "{requests} requests, {fetched} bytes");
    }
}

#[test]
fn one_of_500_messages_costs_3_requests_and_a_listing_40() {
    for irregular in [0, 1] {
        let len = |number: usize| 17_500 + irregular * (number * 7919 % 503);
        let file: Vec<u8> =
            (0..500).flat_map(|number| message(number as u64, &ramp(len(number), number as f32))).collect();
        assert!(file.len() > 35_000_000 && file.len() < 64 << 20);
        for proxy in served(&file) {
            let remote = open_source(&proxy.url("file.tgm"), &quick()).unwrap();
            let data = remote.decode_object(0, 0, &DecodeOptions::default()).unwrap().bytes;
            assert_eq!(floats(&data), ramp(len(0), 0.0));
            let (requests, fetched) = proxy.counted();
            assert!(requests <= 3 && fetched < 128 << 10, "{requests} requests, {fetched} bytes for message 0");

            let remote = open_source(&proxy.url("file.tgm"), &quick()).unwrap();
            let surveys = remote.surveys(&(0..500).map(MessageIndex::FromStart).collect::<Vec<_>>()).unwrap();
            for (number, survey) in surveys.iter().enumerate() {
                let metadata = survey.metadata.as_ref().unwrap();
                assert_eq!(metadata.extra["number"].as_integer(), Some((number as u64).into()));
                assert_eq!(survey.objects[0].descriptor.as_ref().unwrap().shape, [len(number) as u64]);
            }
            assert_eq!(remote.message_layouts().unwrap().to_vec(), fw_tensogram::scan(&file));
            let (requests, fetched) = proxy.counted();
            assert!(requests <= 40, "{requests} requests for a listing");
            assert!(fetched <= file.len() as u64 + (64 << 10), "{fetched} bytes of {}", file.len());
        }
    }
}

#[test]
fn a_listing_of_10_000_objects_costs_at_most_8_requests() {
    let values: Vec<[u32; 4]> = (0..10_000).map(|number| [number, 1, 2, 3]).collect();
    let mut builder = MessageBuilder::new();
    for (number, four) in values.iter().enumerate() {
        builder = builder.tensor(&[4], four).unwrap().base("name", format!("object {number}"));
    }
    let bytes = builder.encode().unwrap();
    assert!(bytes.len() > 2_000_000 && bytes.len() < 6_000_000, "{} bytes", bytes.len());
    for proxy in served(&bytes) {
        let remote = open_source(&proxy.url("file.tgm"), &quick()).unwrap();
        assert_eq!(remote.message_count().unwrap(), 1);
        let surveys = remote.surveys(&[MessageIndex::FromStart(0)]).unwrap();
        assert_eq!(surveys[0].objects.len(), 10_000);
        let expected = fw_tensogram::survey(&bytes);
        assert_eq!(surveys[0].metadata.as_ref().unwrap(), expected.metadata.as_ref().unwrap());
        for (found, same) in surveys[0].objects.iter().zip(&expected.objects) {
            assert_eq!((found.frame, found.parts), (same.frame, same.parts));
            assert_eq!(found.descriptor.as_ref().unwrap(), same.descriptor.as_ref().unwrap());
        }
        let (requests, fetched) = proxy.counted();
        assert!(requests <= 8, "{requests} requests and {fetched} bytes");
    }
}

#[test]
fn a_message_above_the_limit_is_refused_before_it_is_fetched() {
    let values: Vec<f32> = (0..1_000_000).map(|number| number as f32).collect();
    let bytes = MessageBuilder::new().tensor(&[1_000_000], &values).unwrap().encode().unwrap();
    let mut limits = fw_bytes::Limits::default();
    limits.message_len = 1 << 20;
    let options = DecodeOptions::default().with_limits(limits);
    for proxy in served(&bytes) {
        let remote = open_source(&proxy.url("file.tgm"), &quick()).unwrap();
        let errors = [
            remote.decode_message(0, &options).unwrap_err(),
            remote.message_with(0, &options).unwrap_err(),
            remote.decode_object(0, 0, &options).unwrap_err(),
        ];
        for error in errors {
            assert_eq!((error.code(), error.path()), ("limit_message_len", "message[0]"), "{error}");
        }
        let (requests, fetched) = proxy.counted();
        assert!(requests <= 3 && fetched < 128 << 10, "{requests} requests, {fetched} bytes");
        remote.decode_message(0, &DecodeOptions::default()).unwrap();
    }
}
