//! An S3-compatible server: ranges, conditions, uploads in parts.

use super::proxy::{Break, Proxy};
use super::servers::Server;
use super::{quick, ramp};
use fw_source::remote::{RemoteError, StoreOptions, StoreWriter, Stored};
use fw_tensogram::MessageIndex;
use fw_tensogram::{
    DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, StreamingEncoder, decode, open_source,
};
use fw_tensor::DType;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

fn started() -> Option<(Server, Proxy, StoreOptions)> {
    let server = Server::s3()?;
    // A bucket is made by a bare PUT; this server checks no signatures.
    let mut stream = TcpStream::connect(server.address).unwrap();
    let host = server.address;
    write!(stream, "PUT /bucket HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let proxy = Proxy::new(server.address, Duration::ZERO);
    let options = quick()
        .with_setting("endpoint", format!("http://{}", proxy.address))
        .with_setting("aws_access_key_id", "test")
        .with_setting("aws_secret_access_key", "test")
        .with_setting("region", "us-east-1");
    Some((server, proxy, options))
}

#[test]
fn messages_are_streamed_to_a_store_in_parts_and_read_back_in_ranges() {
    let Some((_server, proxy, options)) = started() else { return };
    let options = options.with_part_len(5 << 20);
    let url = "s3://bucket/deep/forecast.tgm";
    let writer = StoreWriter::create(url, &options).unwrap();
    let mut encoder = StreamingEncoder::new(writer, &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    let descriptor = DataObjectDescriptor::new(DType::Float32, &[1_500_000]).unwrap();
    let values: Vec<Vec<f32>> = (0..3).map(|i| ramp(1_500_000, i as f32)).collect();
    for field in &values {
        let bytes: Vec<u8> = field.iter().flat_map(|value| value.to_le_bytes()).collect();
        encoder.write_object(&descriptor, &bytes).unwrap();
    }
    let stored = encoder.finish().unwrap().finish().unwrap();
    assert!(stored.len > 18_000_000 && stored.tag.is_some());
    let sent = proxy.log();
    assert!(sent.iter().filter(|request| request.contains("partNumber=")).count() >= 4, "parts were sent");
    proxy.counted();

    // A streamed message: its index is in its footer.
    let remote = open_source(url, &options).unwrap();
    let options_of_reading = DecodeOptions::default();
    let runs = remote.decode_range(0usize, 2, &[(1_000_000, 4)], &options_of_reading).unwrap().parts;
    assert_eq!(super::floats(&runs[0]), [1_000_002.0, 1_000_003.0, 1_000_004.0, 1_000_005.0]);
    let (requests, bytes) = proxy.counted();
    assert!(bytes < 64 << 10, "{bytes} bytes in {requests} requests");
    let objects = decode(&remote.read_message(0usize).unwrap(), &options_of_reading).unwrap().objects;
    assert_eq!(objects.len(), 3);
    assert!(proxy.log().iter().any(|request| request.to_ascii_lowercase().contains("if-match")));
}

#[test]
fn a_replaced_object_fails_the_condition_and_an_abandoned_upload_is_not_there() {
    let Some((_server, _proxy, options)) = started() else { return };
    let url = "s3://bucket/small.tgm";
    let put = |values: &[f32]| {
        let mut writer = StoreWriter::create(url, &options).unwrap();
        writer.write_all(&super::message(0, values)).unwrap();
        writer.finish().unwrap()
    };
    put(&ramp(50_000, 0.0));
    let remote = open_source(url, &options).unwrap();
    remote.message_span(MessageIndex::FromStart(0)).unwrap();
    put(&ramp(50_000, 7.0));
    let error = remote.decode_object(0usize, 0, &DecodeOptions::default()).unwrap_err();
    assert_eq!((error.class(), error.code()), ("Remote", "remote_changed"), "{error}");
    let again = open_source(url, &options).unwrap();
    assert_eq!(again.decode_object(0usize, 0, &DecodeOptions::default()).unwrap().bytes.len(), 200_000);

    let options = options.with_part_len(5 << 20);
    let mut abandoned = StoreWriter::create("s3://bucket/abandoned.tgm", &options).unwrap();
    abandoned.write_all(&vec![0; 11 << 20]).unwrap();
    drop(abandoned);
    let error = open_source("s3://bucket/abandoned.tgm", &options).unwrap_err();
    assert_eq!(error.code(), "remote_not_found", "{error}");
}

#[test]
fn uploads_go_through_passing_trouble_and_tell_lasting_trouble() {
    let Some((_server, proxy, options)) = started() else { return };
    let options = options.with_part_len(5 << 20);
    let bytes = super::message(1, &ramp(1_500_000, 0.0));
    let put = |url: &str| -> std::io::Result<Stored> {
        let mut writer = StoreWriter::create(url, &options)?;
        writer.write_all(&bytes)?;
        writer.finish()
    };
    proxy.counted();
    put("s3://bucket/calm.tgm").unwrap();
    let (calls, _) = proxy.counted();
    assert_eq!(calls, 4, "begun, two parts, completed");
    for call in 0..calls {
        for broken in [Break::Status(503), Break::Drop] {
            let url = format!("s3://bucket/{call}-{broken:?}.tgm").replace(['(', ')'], "");
            let mut breaks = vec![Break::Fine; call as usize];
            breaks.push(broken);
            proxy.breaks(&breaks);
            put(&url).unwrap_or_else(|error| panic!("{broken:?} at call {call}: {error}"));
            assert!(
                open_source(&url, &options).unwrap().read_message(0usize).unwrap() == bytes,
                "{broken:?} at {call}"
            );
        }
    }
    for call in [0, 1, 3usize] {
        let mut breaks = vec![Break::Fine; call];
        breaks.extend([Break::Status(503); 20]);
        proxy.breaks(&breaks);
        let error = put("s3://bucket/never.tgm").unwrap_err();
        proxy.breaks(&[]);
        assert_eq!(RemoteError::of(&error).unwrap().code(), "remote_failed", "{error}");
        let text = error.to_string();
        assert!(text.contains("s3://bucket/never.tgm") && text.contains("after 3 tries"), "at call {call}: {text}");
        let error = open_source("s3://bucket/never.tgm", &options).unwrap_err();
        assert_eq!(error.code(), "remote_not_found", "{error}");
    }
}
