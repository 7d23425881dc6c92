//! Payloads written by the reference implementation: read, written again, and read in part.
//!
//! `vectors` are the szip cases of the codec vectors, `random` was recorded by `interop_szip.py`; the directory named by
//! `FW_SZIP_CORPUS` is checked as well.
#![cfg(feature = "szip")]

mod corpus;

use corpus::{Case, Random, corpora, data, read};
use fw_bytes::checksum::xxh3_64;
use fw_codec::{Codec, CodecError, Window};
use serde_json::Value;

#[test]
fn payloads_decode_on_any_number_of_threads() {
    for case in corpora() {
        let plain = case.codec().unwrap();
        let hinted = plain.clone().with_offsets(case.offsets.clone());
        let wrong = plain.clone().with_offsets(case.offsets.iter().map(|offset| offset ^ 9).collect());
        for (codec, threads) in [(&plain, 1), (&plain, 3), (&hinted, 1), (&hinted, 2), (&hinted, 5), (&wrong, 2)] {
            let mut decoded = vec![0xaa; case.decoded_len as usize];
            codec
                .decode_into(&case.payload, threads, &mut decoded)
                .unwrap_or_else(|error| panic!("{}: {error}", case.id));
            assert_eq!(xxh3_64(&decoded), case.digest, "{}", case.id);
        }
    }
}

#[test]
fn the_same_bytes_are_written_on_any_number_of_threads() {
    for case in corpora() {
        let codec = case.codec().unwrap();
        let decoded = case.decoded();
        for threads in [1, 3] {
            let mut payload = Vec::new();
            codec.encode(&decoded, threads, &mut payload).unwrap();
            assert!(payload == case.payload, "{} on {threads} threads", case.id);
            assert!(payload.len() <= codec.max_encoded_len(decoded.len()).unwrap(), "{}", case.id);
            assert!(decoded.len() as u64 <= codec.max_decoded_len(payload.len() as u64), "{}", case.id);
        }
    }
}

#[test]
fn offsets_are_true_and_the_stored_ones_wrong_only_as_known() {
    let mut wrong = 0;
    for case in corpora() {
        let codec = case.codec().unwrap();
        let decoded = case.decoded();
        let offsets = codec.encode_with_offsets(&decoded, 2, &mut Vec::new()).unwrap();
        assert_eq!(offsets.len(), case.offsets.len(), "{}", case.id);
        // An interval coded from its offset on is the tail of the stream: each offset is a true start.
        let rsi_len = case.rsi_len();
        for (index, offset) in offsets.iter().enumerate().skip(1) {
            let head = &decoded[..index * rsi_len];
            let mut bytes = Vec::new();
            let before = codec.encode_with_offsets(head, 1, &mut bytes).unwrap();
            assert_eq!(before, offsets[..index], "{}", case.id);
            assert_eq!(bytes.len() as u64, offset.div_ceil(8), "{}", case.id);
            wrong += usize::from(case.offsets[index] < *offset);
            assert!(case.offsets[index] <= *offset, "{}: entry {index}", case.id);
            if index > 40 {
                break;
            }
        }
    }
    assert!(wrong > 20, "the corpus should have entries of the wrong kind, found {wrong}");
}

#[test]
fn any_range_equals_the_slice() {
    let mut random = Random(7);
    let (mut windows, mut undecided) = (0u32, 0u32);
    for case in corpora().filter(|case| case.decoded_len > 0) {
        let plain = case.codec().unwrap();
        let decoded = case.decoded();
        let true_offsets = plain.encode_with_offsets(&decoded, 1, &mut Vec::new()).unwrap();
        let codecs =
            [plain.clone(), plain.clone().with_offsets(case.offsets.clone()), plain.with_offsets(true_offsets)];
        for round in 0..12 {
            let start = random.below(case.decoded_len);
            let len = 1 + random.below((case.decoded_len - start).min(if round % 2 == 0 { 40 } else { u64::MAX }));
            let expected = &decoded[start as usize..(start + len) as usize];
            for codec in &codecs {
                let mut part = vec![0; len as usize];
                let whole = Window::whole(&case.payload);
                codec.decode_range_into(whole, case.decoded_len, start, 2, &mut part).unwrap();
                assert!(part == expected, "{}: {len} bytes from {start}", case.id);
                let Some(span) = codec.encoded_span(whole.total_len, case.decoded_len, start..start + len) else {
                    assert_eq!(codec.reach(), fw_codec::Reach::FromStart);
                    continue;
                };
                let bytes = &case.payload[span.start as usize..span.end as usize];
                let window = Window::part(bytes, span.start, whole.total_len);
                part.fill(0);
                windows += 1;
                match codec.decode_range_into(window, case.decoded_len, start, 1, &mut part) {
                    Ok(()) => assert!(part == expected, "{}: {len} bytes from {start} in {span:?}", case.id),
                    Err(error) => {
                        assert_eq!(error.code, "partial_payload", "{}", case.id);
                        undecided += 1;
                    }
                }
            }
        }
        let mut past = [0; 2];
        let error = codecs[0].decode_range_into(
            Window::whole(&case.payload),
            case.decoded_len,
            case.decoded_len - 1,
            1,
            &mut past,
        );
        assert_eq!(error.unwrap_err().code, "range_out_of_bounds");
    }
    assert!(undecided * 100 <= windows, "{undecided} of {windows} windows did not suffice");
}

#[test]
fn damaged_vectors_behave_as_stated() {
    let directory = data().join("vectors");
    let (cases, stated): (Vec<Case>, Vec<Value>) = read(&directory, "corrupt.json").unzip();
    let original = cases.iter().find(|case| case.id == "corrupt-szip_noflag_offsets").unwrap().decoded();
    for (case, stated) in cases.iter().zip(&stated) {
        let full = case.codec().and_then(|codec| {
            // What a caller must do before reserving memory for a claimed size.
            if codec.max_decoded_len(case.payload.len() as u64) < case.decoded_len {
                return Err(CodecError::limit("szip", "implausible", "claimed size"));
            }
            let mut decoded = vec![0; case.decoded_len as usize];
            codec.with_offsets(case.offsets.clone()).decode_into(&case.payload, 2, &mut decoded).map(|()| decoded)
        });
        judge(case, &stated["full"], full, &original);
        let range = case.codec().and_then(|codec| {
            let mut part = vec![0; 80];
            let codec = codec.with_offsets(case.offsets.clone());
            codec.decode_range_into(Window::whole(&case.payload), case.decoded_len, 20, 1, &mut part).map(|()| part)
        });
        judge(case, &stated["range"], range, &original[20..100]);
    }
}

fn judge(case: &Case, stated: &Value, result: Result<Vec<u8>, CodecError>, original: &[u8]) {
    match (stated.as_str().unwrap(), result) {
        ("error", result) => assert!(result.is_err(), "{}", case.id),
        ("ok_same", result) => assert!(result.unwrap() == original, "{}", case.id),
        ("error_or_same", Ok(decoded)) => assert!(decoded == original, "{}", case.id),
        ("error_or_same", Err(_)) | ("error_or_declared_size" | "any", _) => {}
        (other, _) => panic!("{}: unknown expectation {other}", case.id),
    }
}
