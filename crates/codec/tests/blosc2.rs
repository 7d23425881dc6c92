//! Blosc2 frames: those of the reference, our own, and damaged ones.
#![cfg(feature = "blosc2")]

use fw_codec::blosc2::{Blosc2, Blosc2Params, Filter, InnerCodec};
use fw_codec::{Codec, CodecErrorKind, Window};
use proptest::prelude::*;
use serde_json::Value;
use std::path::PathBuf;

/// TG-C9: frames written by the reference decode to the bytes it was given.
#[test]
fn frames_of_the_reference_are_read() {
    for case in cases("valid") {
        for threads in [0, 1, 3] {
            let mut out = vec![0xaa; case.decoded_len];
            any_codec()
                .decode_into(&case.frame, threads, &mut out)
                .unwrap_or_else(|error| panic!("{}: {error}", case.name));
            assert_eq!(xxh3(&out), case.xxh3, "{}", case.name);
            if let Ok(raw) = std::fs::read(folder().join(format!("{}.raw", case.name))) {
                assert!(out == raw, "{}", case.name);
            }
        }
    }
}

/// TG-C9.3: every byte range of a frame is what the whole has there, also inside an incomplete last item.
#[test]
fn ranges_agree_with_the_whole() {
    for case in cases("valid") {
        let len = case.decoded_len;
        let mut whole = vec![0; len];
        any_codec().decode_into(&case.frame, 1, &mut whole).unwrap();
        for (start, count) in
            [(0, 1), (0, len), (len - 1, 1), (len / 3, len / 3), (len, 0), (len / 2, 0), (len - len.min(7), len.min(7))]
        {
            let mut out = vec![0; count];
            let window = Window::whole(&case.frame);
            any_codec().decode_range_into(window, len as u64, start as u64, 2, &mut out).unwrap();
            assert!(out == whole[start..start + count], "{} [{start}; {count}]", case.name);
        }
        let past = any_codec().decode_range_into(Window::whole(&case.frame), len as u64, len as u64, 1, &mut [0]);
        assert_eq!(past.unwrap_err().code, "range_out_of_bounds");
    }
}

/// The damaged frames of the vectors: an error, or the declared number of bytes where the damage cannot be seen.
#[test]
fn damaged_frames_of_the_vectors() {
    let mut seen = 0;
    for case in cases("corrupt") {
        let mut out = vec![0; case.decoded_len];
        let outcome = any_codec().decode_into(&case.frame, 1, &mut out);
        match case.outcome.as_str() {
            "error" => assert!(outcome.is_err(), "{} must be refused", case.name),
            "error_or_declared_size" => {}
            other => panic!("unknown outcome {other}"),
        }
        if let Err(error) = outcome {
            assert!(matches!(error.kind, CodecErrorKind::Format | CodecErrorKind::Unsupported), "{error}");
            assert!(error.at.is_some(), "{}: {error} says where", case.name);
        }
        seen += 1;
    }
    assert_eq!(seen, 22);
}

/// A frame is never decoded into anything but its own length.
#[test]
fn another_length_is_refused() {
    for case in cases("valid") {
        for len in [0, 1, case.decoded_len - 1, case.decoded_len + 1, 2 * case.decoded_len] {
            if len != case.decoded_len {
                let error = any_codec().decode_into(&case.frame, 1, &mut vec![0; len]).unwrap_err();
                assert_eq!(error.code, "decoded_length_mismatch", "{} as {len}", case.name);
            }
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    let params = Blosc2Params::default();
    for level in [-1, 10, i64::MAX] {
        assert_eq!(Blosc2::new(Blosc2Params { level, ..params }).unwrap_err().code, "blosc2_clevel_invalid");
    }
    for typesize in [0, 256, usize::MAX] {
        assert_eq!(Blosc2::new(Blosc2Params { typesize, ..params }).unwrap_err().code, "blosc2_typesize_invalid");
    }
    assert_eq!("snappy".parse::<InnerCodec>().unwrap_err().code, "blosc2_codec_unknown");
    assert_eq!("LZ4".parse::<InnerCodec>().unwrap_err().code, "blosc2_codec_unknown");
    for codec in InnerCodec::ALL {
        assert_eq!(codec.name().parse::<InnerCodec>().unwrap(), codec);
    }
}

#[test]
fn empty_input_is_refused() {
    let error = any_codec().encode(&[], 1, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.code), (CodecErrorKind::Misuse, "empty_input"));
}

/// All-zero data has no chunk at all: 172 bytes, whatever its size.
#[test]
fn zeros_take_no_room() {
    let mut frame = vec![7; 3];
    any_codec().encode(&[0; 20_000], 1, &mut frame).unwrap();
    assert_eq!(frame.len(), 3 + 172, "appended to what was there");
    let mut out = vec![1; 20_000];
    any_codec().decode_into(&frame[3..], 1, &mut out).unwrap();
    assert!(out.iter().all(|byte| *byte == 0));
}

/// The bytes never depend on the number of threads, nor does what they decode to.
#[test]
fn every_codec_gives_the_same_bytes_on_any_number_of_threads() {
    let input = wave(150_001);
    for codec in InnerCodec::ALL {
        for (level, typesize) in [(0, 8), (1, 8), (5, 4), (5, 16), (9, 1)] {
            let blosc2 = Blosc2::new(Blosc2Params { codec, level, typesize, ..Blosc2Params::default() }).unwrap();
            let frames = [1, 2, 5].map(|threads| {
                let mut frame = Vec::new();
                blosc2.encode(&input, threads, &mut frame).unwrap();
                frame
            });
            let [frame, ..] = &frames;
            assert!(frames.iter().all(|other| other == frame), "{codec:?} level {level}");
            assert!(frame.len() <= blosc2.max_encoded_len(input.len()).unwrap());
            for threads in [1, 4] {
                let mut out = vec![0; input.len()];
                any_codec().decode_into(frame, threads, &mut out).unwrap();
                assert!(out == input, "{codec:?} level {level} type size {typesize}");
            }
        }
    }
}

/// Chunks that only index entries or special headers describe.
#[test]
fn special_chunks_are_filled() {
    let zeros = case_named("blosc2-zeros");
    let with_entry = |kind: u8| {
        let mut frame = zeros.frame.clone();
        frame[97 + 32 + 7] = 0x80 | kind;
        let mut out = vec![1; zeros.decoded_len];
        any_codec().decode_into(&frame, 2, &mut out).map(|()| out)
    };
    assert!(with_entry(4).unwrap().iter().all(|byte| *byte == 0), "uninitialised memory reads as zeros");
    let nan = with_entry(2).unwrap();
    assert!(nan.chunks(4).all(|item| item == [0, 0, 0xc0, 0x7f]));
    assert_eq!(with_entry(7).unwrap_err().code, "special_chunk");
    assert_eq!(with_entry(3).unwrap_err().code, "special_chunk", "a repeated value needs a chunk");
}

/// A chunk whose header says that one value repeats.
#[test]
fn repeated_values_are_filled() {
    let case = case_named("blosc2-const");
    let mut frame = case.frame.clone();
    let chunk = 97;
    frame[chunk + 31] = 3 << 4;
    frame[chunk + 32..chunk + 36].copy_from_slice(&[1, 2, 3, 4]);
    let mut out = vec![0; case.decoded_len];
    any_codec().decode_into(&frame, 2, &mut out).unwrap();
    assert!(out.chunks(4).all(|item| item == [1, 2, 3, 4]));
    let mut part = [0; 6];
    let window = Window::whole(&frame);
    any_codec().decode_range_into(window, case.decoded_len as u64, 7, 1, &mut part).unwrap();
    assert_eq!(part, [4, 1, 2, 3, 4, 1]);
}

/// TG-C14: masks are written as the reference writes them.
#[test]
fn masks_have_the_layout_of_the_reference() {
    for name in ["mask-nan", "mask-inf"] {
        let case = case_named(name);
        let raw = std::fs::read(folder().join(format!("{name}.raw"))).unwrap();
        let mut frame = Vec::new();
        Blosc2::for_masks().encode(&raw, 1, &mut frame).unwrap();
        // Frame sizes differ with the compressor; the rest of both headers and the filters do not.
        assert_eq!(frame[24..38], case.frame[24..38], "{name}");
        assert_eq!(frame[47..97], case.frame[47..97], "{name}");
        assert_eq!(frame[97..109], case.frame[97..109], "{name}");
        assert_eq!(frame[113..133], case.frame[113..133], "{name}");
        assert!(frame.len() <= case.frame.len() * 21 / 20, "{} against {}", frame.len(), case.frame.len());
        let mut back = vec![0; raw.len()];
        any_codec().decode_into(&frame, 1, &mut back).unwrap();
        assert!(back == raw);
    }
}

/// Every single byte of the header, the index and the trailer set to several values, and every cut.
#[test]
fn single_edits_and_cuts() {
    let mut frame = Vec::new();
    let input = wave(600);
    any_codec().encode(&input, 1, &mut frame).unwrap();
    let mut out = vec![0; input.len()];
    for at in 0..frame.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff, frame[at] ^ 1, frame[at] ^ 0x10] {
            let mut damaged = frame.clone();
            damaged[at] = value;
            let _ = any_codec().decode_into(&damaged, 1, &mut out);
        }
        assert!(any_codec().decode_into(&frame[..at], 1, &mut out).is_err(), "cut at {at}");
    }
    frame.push(0);
    assert_eq!(any_codec().decode_into(&frame, 1, &mut out).unwrap_err().code, "frame_size");
}

/// Many blocks that all point at one long stream would multiply the work; a stream longer than its block is refused.
#[test]
fn a_stream_longer_than_its_block_is_refused() {
    let len = 1 << 20;
    let noise: Vec<u8> = (0..len).map(|i| (SplitMix(i as u64).next() & 15) as u8).collect();
    let params = Blosc2Params { codec: InnerCodec::Zstd, level: 6, typesize: 1, ..Blosc2Params::default() };
    let mut frame = Vec::new();
    Blosc2::new(params).unwrap().encode(&noise, 1, &mut frame).unwrap();
    let (chunk, block_len) = (97, 4096u32);
    let first_stream = 32 + 4 * (len as u32 / block_len);
    frame[chunk + 8..chunk + 12].copy_from_slice(&block_len.to_le_bytes());
    for entry in frame[chunk + 32..chunk + first_stream as usize].chunks_exact_mut(4) {
        entry.copy_from_slice(&first_stream.to_le_bytes());
    }
    let at = chunk + first_stream as usize;
    frame[at..at + 4].copy_from_slice(&100_000u32.to_le_bytes());
    let error = any_codec().decode_into(&frame, 1, &mut vec![0; len]).unwrap_err();
    assert_eq!((error.code, error.at), ("stream_size", Some(at as u64)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn anything_comes_back(
        input in prop_oneof![
            prop::collection::vec(any::<u8>(), 1..2000),
            prop::collection::vec(0u8..3, 1..9000),
            (1usize..90_000).prop_map(wave),
        ],
        codec in prop::sample::select(InnerCodec::ALL.to_vec()),
        level in 0i64..=6,
        typesize in prop_oneof![Just(1usize), Just(2), Just(4), Just(8), Just(16), 1usize..=255],
        filter in prop::sample::select(vec![Filter::None, Filter::Shuffle, Filter::BitShuffle]),
        cut in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let blosc2 = Blosc2::new(Blosc2Params { codec, level, typesize, filter }).unwrap();
        let mut frame = Vec::new();
        blosc2.encode(&input, 2, &mut frame).unwrap();
        prop_assert!(frame.len() <= blosc2.max_encoded_len(input.len()).unwrap());
        let mut out = vec![0; input.len()];
        blosc2.decode_into(&frame, 2, &mut out).unwrap();
        prop_assert!(out == input);
        let (a, b) = (cut.0.index(input.len() + 1), cut.1.index(input.len() + 1));
        let range = a.min(b)..a.max(b);
        let mut part = vec![0; range.len()];
        blosc2.decode_range_into(Window::whole(&frame), input.len() as u64, range.start as u64, 1, &mut part).unwrap();
        prop_assert!(part == input[range]);
    }
}

struct Case {
    name: String,
    frame: Vec<u8>,
    decoded_len: usize,
    xxh3: String,
    outcome: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/blosc2")
}

fn cases(kind: &str) -> Vec<Case> {
    let index: Value = serde_json::from_slice(&std::fs::read(folder().join("index.json")).unwrap()).unwrap();
    let text = |case: &Value, key: &str| case[key].as_str().unwrap_or_default().to_owned();
    let cases: Vec<Case> = index[kind]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| Case {
            name: text(case, "name"),
            frame: std::fs::read(folder().join(text(case, "name") + ".b2frame")).unwrap(),
            decoded_len: case["decoded_len"].as_u64().unwrap() as usize,
            xxh3: text(case, "xxh3"),
            outcome: text(case, "outcome"),
        })
        .collect();
    assert!(cases.len() > 20);
    cases
}

fn case_named(name: &str) -> Case {
    cases("valid").into_iter().find(|case| case.name == name).unwrap()
}

/// Reading needs no parameters: any value will do.
fn any_codec() -> Blosc2 {
    Blosc2::new(Blosc2Params { typesize: 8, ..Blosc2Params::default() }).unwrap()
}

fn xxh3(bytes: &[u8]) -> String {
    format!("{:016x}", fw_bytes::checksum::xxh3_64(bytes))
}

/// A smooth curve of doubles with a little noise, cut to `len` bytes.
fn wave(len: usize) -> Vec<u8> {
    let mut random = SplitMix(7);
    let values = (0..len.div_ceil(8)).flat_map(|i| {
        let noise = random.below(1000) as f64 * 1e-6;
        ((i as f64 / 300.0).sin() * 1000.0 + noise).to_le_bytes()
    });
    values.take(len).collect()
}

struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
