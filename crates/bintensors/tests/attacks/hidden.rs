//! Bytes that only some readers see (BT-8).

use crate::{file, header, record};
use fw_bintensors::validate::{ValidateOptions, validate};
use fw_bintensors::{BinTensors, Profile, ReadOptions};

fn by_profile(bytes: &[u8]) -> Vec<&'static str> {
    let read = |profile| BinTensors::deserialize_with(bytes, &ReadOptions::new().with_profile(profile));
    Profile::ALL.into_iter().map(|profile| read(profile).map_or_else(|error| error.class(), |_| "ok")).collect()
}

/// BT-8.4: a payload between the last record and the data.
#[test]
fn payload_in_the_padding() {
    let mut head = header(&[record("a", 1, &[4], 0, 4)]);
    head.extend(b"#!/bin/sh\necho polyglot\n");
    let bytes = file(&head, &[0; 4]);
    assert_eq!(by_profile(&bytes), ["ok", "InvalidPadding", "InvalidPadding"]);
    let report = validate(&bytes[..], &ValidateOptions::new(Profile::Compat)).unwrap();
    assert!(report.is_ok());
    assert!(report.findings().iter().any(|finding| finding.code == "invalid_padding"));
}

/// BT-8.6: one key, two values.
#[test]
fn a_metadata_key_twice() {
    let bytes = file(&[1, 2, 1, b'k', 1, b'1', 1, b'k', 1, b'2', 0], &[]);
    assert_eq!(by_profile(&bytes), ["ok", "DuplicateMetadataKey", "DuplicateMetadataKey"]);
    let lenient = BinTensors::deserialize_with(&bytes, &ReadOptions::new().with_profile(Profile::Compat)).unwrap();
    assert_eq!(lenient.metadata().metadata().unwrap().get("k"), Some("2"), "the last value wins, as in the references");
}

/// BT-12: another format's file with this one's name.
#[test]
fn other_formats_are_not_mistaken_for_this_one() {
    let json = br#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}   "#;
    assert_eq!(by_profile(&file(json, &[0; 4])), ["UnexpectedVariant"; 3]);
    assert_eq!(by_profile(b"TENSOGRM________________"), ["HeaderTooLarge"; 3]);
    assert_eq!(by_profile(b"PK\x03\x04\0\0\0\0\0\0"), ["InvalidHeaderLength"; 3]);
    assert_eq!(by_profile(b""), ["HeaderTooSmall"; 3]);
}
