//! `zstd`: one Zstandard frame (RFC 8878), no dictionary, no checksum.
//!
//! Specification: TG-C7. Writing is one shot with the content size in the header; from 32 MiB on the frame is
//! made of jobs that several threads can share, and is the same for any number of them. Reading accepts any run of
//! frames and skippable frames that adds up to the expected length exactly, with or without content sizes and checksums.
//!
//! - **Parameters**: `zstd_level`, 3 unless given; anything is accepted and clamped by the library, 0 means 3. Behind a shuffle
//!   filter level 3 has a search of its own (see [`Zstd::for_planes`]).
//! - **Compatibility**: windows above 128 MiB are refused, as the reference refuses them.

use crate::{Codec, CodecError, alloc};
use fw_bytes::interrupt;
use std::cell::RefCell;
use std::io::Cursor;
use zstd_safe::zstd_sys::ZSTD_EndDirective::ZSTD_e_end as END;
use zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, SafeResult, Strategy, WriteBuf};

/// The `zstd` compressor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zstd {
    level: i32,
    /// What is encoded are the byte planes of shuffled values.
    planes: bool,
}

impl Default for Zstd {
    fn default() -> Self {
        Self::new(DEFAULT_LEVEL)
    }
}

impl Zstd {
    /// A compressor at `zstd_level`.
    pub const fn new(zstd_level: i32) -> Self {
        Self { level: zstd_level, planes: false }
    }

    /// The same compressor for shuffled values: at level 3 it searches in another way, which on average takes no more bytes
    /// and is faster to write and to read (`docs/decisions/0105-zstd-behind-a-shuffle.md`). Decoding is not concerned.
    #[must_use]
    pub const fn for_planes(self) -> Self {
        Self { planes: true, ..self }
    }

    /// Encodes, with every parameter set by `set`.
    fn encode_with(
        &self,
        input: &[u8],
        threads: usize,
        out: &mut Vec<u8>,
        set: impl Fn(&mut CCtx<'static>, CParameter) -> SafeResult,
    ) -> Result<(), CodecError> {
        let mut context = CCtx::try_create().ok_or_else(no_memory)?;
        set(&mut context, CParameter::CompressionLevel(self.level)).map_err(failed)?;
        if self.planes && matches!(self.level, 0 | DEFAULT_LEVEL) && input.len() > PLANES_ABOVE {
            for parameter in PLANES {
                set(&mut context, parameter).map_err(failed)?;
            }
            // A hint only: a library that does not know it makes a frame that takes longer to read.
            let _ = set(&mut context, CParameter::MaxBlockSize(WHOLE_BLOCK));
        }
        let mut in_jobs = false;
        if input.len() >= JOBS_FROM {
            // The frame depends on where jobs begin, not on who does them.
            let workers = threads.clamp(1, 200) as u32;
            // A program may bring a library of its own that was built without threads, and refuses workers: then the frame
            // is made in one piece, as shorter ones are.
            if set(&mut context, CParameter::NbWorkers(workers)).is_ok() {
                set(&mut context, CParameter::JobSize(JOB_LEN)).map_err(failed)?;
                in_jobs = true;
            }
        }
        if in_jobs && interrupt::is_watched() {
            return in_steps(&mut context, input, out);
        }
        let start = out.len();
        alloc::reserve(out, zstd_safe::compress_bound(input.len()))?;
        let mut target = Cursor::new(std::mem::take(out));
        target.set_position(start as u64);
        let outcome = context.compress2(&mut target, input).map_err(failed);
        *out = target.into_inner();
        outcome.map(drop)
    }
}

impl Codec for Zstd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, input_len: usize) -> Option<usize> {
        Some(zstd_safe::compress_bound(input_len)).filter(|bound| *bound >= input_len)
    }

    fn encode(&self, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.encode_with(input, threads, out, CCtx::set_parameter)
    }

    fn decode_into(&self, encoded: &[u8], _threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        let len = out.len();
        decompress(encoded, len, out)
    }

    fn decode_to_vec(&self, encoded: &[u8], decoded_len: usize, _threads: usize) -> Result<Vec<u8>, CodecError> {
        // The library writes behind what a `Vec` holds, so nothing is cleared.
        let mut out = alloc::with_capacity(decoded_len)?;
        decompress(encoded, decoded_len, &mut out)?;
        Ok(out)
    }

    fn decodes_in_pieces(&self) -> bool {
        true
    }

    /// What was decoded is overwritten by what follows: the window of the frame is all that is held.
    fn check_decodes(&self, encoded: &[u8], decoded_len: u64, _threads: usize) -> Result<(), CodecError> {
        self.check_claim(encoded, decoded_len)?;
        let mut context = DCtx::try_create().ok_or_else(no_memory)?;
        let mut piece = alloc::with_capacity(STEP)?;
        let (mut found, mut input, mut is_complete) = (0u64, InBuffer::around(encoded), true);
        while input.pos() < encoded.len() || !is_complete {
            interrupt::check();
            piece.clear();
            let (at, mut out) = (input.pos(), OutBuffer::around(&mut piece));
            let left = match context.decompress_stream(&mut out, &mut input) {
                Ok(left) => left,
                // A frame whose window is its whole content is not read piece by piece.
                Err(code) if zstd_safe::get_error_name(code) == TOO_WIDE => {
                    let len = usize::try_from(decoded_len).map_err(|_| no_memory())?;
                    return self.decode_to_vec(encoded, len, 1).map(drop);
                }
                Err(code) => return Err(failed(code).at(at as u64)),
            };
            let made = out.pos();
            is_complete = left == 0;
            found = found.saturating_add(made as u64);
            if found > decoded_len {
                return Err(CodecError::length(NAME, decoded_len, found));
            }
            if made == 0 && input.pos() == at {
                return Err(CodecError::format(NAME, "bad_frame", "the last frame is cut short").at(at as u64));
            }
        }
        if found == decoded_len { Ok(()) } else { Err(CodecError::length(NAME, decoded_len, found)) }
    }

    /// Looks at frame headers only. A block of 128 KiB takes at least four bytes, which bounds what can come out.
    fn check_claim(&self, encoded: &[u8], decoded_len: u64) -> Result<(), CodecError> {
        if decoded_len / MAX_EXPANSION > encoded.len() as u64 {
            let message = format!("{} bytes cannot decode to {decoded_len}", encoded.len());
            return Err(CodecError::format(NAME, "decoded_length_mismatch", message));
        }
        let mut known = 0u64;
        let mut all_known = true;
        let mut rest = encoded;
        while !rest.is_empty() {
            let at = (encoded.len() - rest.len()) as u64;
            if let Some(window) = window_len(rest)
                && window > MAX_WINDOW
            {
                let message = format!("frame needs a window of {window} bytes, at most {MAX_WINDOW} are allowed");
                return Err(CodecError::format(NAME, "window_too_large", message).at(at));
            }
            match zstd_safe::get_frame_content_size(rest) {
                // A skippable frame has a content size of zero.
                Ok(Some(size)) => known = known.saturating_add(size),
                Ok(None) => all_known = false,
                Err(_) => return Err(CodecError::format(NAME, "bad_frame", "not a Zstandard frame").at(at)),
            }
            let len = zstd_safe::find_frame_compressed_size(rest).map_err(|code| failed(code).at(at))?;
            rest = rest.get(len..).unwrap_or_default();
        }
        if known > decoded_len || (all_known && known != decoded_len) {
            return Err(CodecError::length(NAME, decoded_len, known));
        }
        Ok(())
    }
}

/// Makes a frame step by step, so that watched work can be stopped; it has the bytes of a frame made at once.
fn in_steps(context: &mut CCtx<'_>, input: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
    let mut step = alloc::with_capacity(STEP)?;
    let mut input = InBuffer::around(input);
    loop {
        interrupt::check();
        step.clear();
        let left = context.compress_stream2(&mut OutBuffer::around(&mut step), &mut input, END).map_err(failed)?;
        out.try_reserve(step.len()).map_err(|_| no_memory())?;
        out.extend_from_slice(&step);
        if left == 0 {
            return Ok(());
        }
    }
}

/// Reads frames step by step into `out`, so that watched work can be stopped; nothing is copied twice. Returns the bytes written.
fn decompress_in_steps<W: WriteBuf + ?Sized>(encoded: &[u8], out: &mut W) -> SafeResult {
    // Not the context that is kept: stopping leaves this one in the middle of a frame.
    let mut context = DCtx::create();
    context.set_parameter(DParameter::StableOutBuffer(true))?;
    let mut out = OutBuffer::around(out);
    let mut rest = encoded;
    while !rest.is_empty() {
        interrupt::check();
        let mut input = InBuffer::around(rest.get(..STEP).unwrap_or(rest));
        context.decompress_stream(&mut out, &mut input)?;
        if input.pos() == 0 {
            // Frames that hold more than there is room for: the caller compares lengths.
            break;
        }
        rest = rest.get(input.pos()..).unwrap_or_default();
    }
    Ok(out.pos())
}

/// Fills `out`, which has room for `len` bytes or more, with exactly that many.
fn decompress<W: WriteBuf + ?Sized>(encoded: &[u8], len: usize, out: &mut W) -> Result<(), CodecError> {
    Zstd::default().check_claim(encoded, len as u64)?;
    if len >= STEPS_FROM && interrupt::is_watched() {
        return checked(decompress_in_steps(encoded, out), len);
    }
    let outcome = CONTEXT.with_borrow_mut(|kept| {
        let context = match kept {
            Some(context) => context,
            None => kept.insert(DCtx::try_create().ok_or_else(no_memory)?),
        };
        Ok::<_, CodecError>(context.decompress(out, encoded))
    })?;
    checked(outcome, len)
}

fn checked(outcome: SafeResult, len: usize) -> Result<(), CodecError> {
    match outcome {
        Ok(found) if found == len => Ok(()),
        Ok(found) => Err(CodecError::length(NAME, len as u64, found as u64)),
        Err(code) => Err(CodecError::format(
            NAME,
            "bad_frame",
            format!("{} (expecting {len} decoded bytes)", zstd_safe::get_error_name(code)),
        )),
    }
}

/// The window of the frame at the front of `bytes`, where its header states one.
fn window_len(bytes: &[u8]) -> Option<u64> {
    let (magic, rest) = bytes.split_first_chunk::<4>()?;
    let (descriptor, window) = (rest.first()?, rest.get(1)?);
    let single_segment = descriptor & 0x20 != 0;
    if *magic != MAGIC || single_segment {
        return None;
    }
    let base = 1u64 << (10 + (window >> 3));
    Some(base + base / 8 * u64::from(window & 7))
}

fn failed(code: usize) -> CodecError {
    CodecError::format(NAME, "bad_frame", zstd_safe::get_error_name(code))
}

fn no_memory() -> CodecError {
    CodecError::limit(NAME, "out_of_memory", "no memory for the compressor")
}

thread_local! {
    /// Some hundred KiB of tables that every frame fills anew.
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

const NAME: &str = "zstd";
/// What the library says of a window that is larger than it holds in a stream.
const TOO_WIDE: &str = "Frame requires too much memory for decoding";
/// Encoded bytes of one step of watched work.
const STEP: usize = 1 << 20;
/// Shorter results are there before anyone could stop them.
const STEPS_FROM: usize = 16 << 20;
const DEFAULT_LEVEL: i32 = 3;
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const MAX_WINDOW: u64 = 128 << 20;
const MAX_EXPANSION: u64 = 32 << 10;
/// The library's own parameters are other ones up to here, where tables are small anyway.
const PLANES_ABOVE: usize = 256 << 10;
/// Level 3, with matches of six bytes instead of five, and a table of short matches that is twice as large.
const PLANES: [CParameter; 4] = [
    CParameter::Strategy(Strategy::ZSTD_dfast),
    CParameter::MinMatch(6),
    CParameter::HashLog(17),
    CParameter::ChainLog(17),
];
/// Blocks of 128 KiB are looked through for places where to split them, and every split costs the reader three more tables.
/// Shorter ones stay whole.
const WHOLE_BLOCK: u32 = (128 << 10) - 1;
/// From this length on a frame is made of jobs. Setting up workers costs several milliseconds, on one thread as on many.
const JOBS_FROM: usize = 32 << 20;
/// Bytes per job.
const JOB_LEN: u32 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(encoded: &[u8], len: usize) -> Result<Vec<u8>, CodecError> {
        let mut out = vec![0xee; len];
        let outcome = Zstd::default().decode_into(encoded, 1, &mut out).map(|()| out);
        assert_eq!(Zstd::default().decode_to_vec(encoded, len, 1), outcome);
        assert_eq!(Zstd::default().check_decodes(encoded, len as u64, 1).is_ok(), outcome.is_ok(), "{outcome:?}");
        outcome
    }

    fn encode(input: &[u8], level: i32, threads: usize) -> Vec<u8> {
        encode_by(Zstd::new(level), input, threads)
    }

    fn encode_by(codec: Zstd, input: &[u8], threads: usize) -> Vec<u8> {
        let mut out = vec![1, 2];
        codec.encode(input, threads, &mut out).unwrap();
        assert_eq!(out[..2], [1, 2]);
        out.split_off(2)
    }

    #[test]
    fn frames_of_every_kind_are_read() {
        let input: Vec<u8> = (0..5000u32).map(|i| (i / 7) as u8).collect();
        for level in [-200_000, -5, 0, 1, 3, 19, 100] {
            assert_eq!(decode(&encode(&input, level, 1), 5000).unwrap(), input, "level {level}");
        }
        // The example of the specification: no content size, a window byte.
        let floats: Vec<u8> = [0f32, 1.0, 2.0, 3.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x81, 0x00, 0x00];
        frame.extend(&floats);
        assert_eq!(decode(&frame, 16).unwrap(), floats);
        assert_eq!(decode(&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x00, 0x01, 0x00, 0x00], 0).unwrap(), []);
        // Concatenated, with a skippable frame between.
        let skippable = [0x52, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
        let joined = [&frame[..], &skippable, &encode(&input, 3, 1)].concat();
        assert_eq!(decode(&joined, 5016).unwrap(), [&floats[..], &input].concat());
    }

    #[test]
    fn a_library_without_threads_makes_long_frames_in_one_piece() {
        let input: Vec<u8> = (0..JOBS_FROM as u32 + 5).map(|i| (i / 97) as u8).collect();
        let asked = RefCell::new(Vec::new());
        // Error 40 is the library's "unsupported parameter".
        let refuses = |context: &mut CCtx<'static>, parameter: CParameter| {
            asked.borrow_mut().push(format!("{parameter:?}"));
            match parameter {
                CParameter::NbWorkers(_) | CParameter::JobSize(_) => Err(40usize.wrapping_neg()),
                other => context.set_parameter(other),
            }
        };
        let mut out = Vec::new();
        Zstd::default().encode_with(&input, 4, &mut out, refuses).unwrap();
        assert_eq!(*asked.borrow(), ["CompressionLevel(3)", "NbWorkers(4)"]);
        assert!(decode(&out, input.len()).unwrap() == input);
        let mut alone = vec![0; zstd_safe::compress_bound(input.len())];
        let len = zstd_safe::compress(&mut alone[..], &input, DEFAULT_LEVEL).unwrap();
        assert!(out == alone[..len], "as on one thread");
    }

    /// Byte planes of a smooth field, as a shuffle makes them of `float32`.
    fn planes(count: u32) -> Vec<u8> {
        let value = |i: u32| (280.0 + 15.0 * (i as f32 / 900.0).sin() + (i as f32 / 37.0).cos()).to_le_bytes();
        (0..4).flat_map(|plane: usize| (0..count).map(move |i| value(i)[plane])).collect()
    }

    #[test]
    fn planes_have_a_search_of_their_own_at_level_3_alone() {
        let encode = |input: &[u8], codec: Zstd| {
            let frame = encode_by(codec, input, 1);
            assert!(decode(&frame, input.len()).unwrap() == input);
            frame
        };
        let input = planes(200_000);
        for level in [0, 3] {
            let (plain, own) = (encode(&input, Zstd::new(level)), encode(&input, Zstd::new(level).for_planes()));
            assert_ne!(plain, own, "level {level}");
            assert!(own.len() * 100 <= plain.len() * 103, "{} bytes instead of {}", own.len(), plain.len());
        }
        for level in [-3, 1, 2, 4, 9] {
            assert!(encode(&input, Zstd::new(level)) == encode(&input, Zstd::new(level).for_planes()), "level {level}");
        }
        let short = &input[..PLANES_ABOVE];
        assert!(encode(short, Zstd::default()) == encode(short, Zstd::default().for_planes()));
    }

    /// What decision 0105 promises, on planes of several kinds: a new library that breaks it is a reason to choose anew.
    #[test]
    fn planes_take_no_more_than_a_twentieth_more() {
        let shuffled = |value: &dyn Fn(u32) -> f32| -> Vec<u8> {
            let values: Vec<[u8; 4]> = (0..200_000).map(|i| value(i).to_le_bytes()).collect();
            (0..4).flat_map(|plane: usize| values.iter().map(move |value| value[plane])).collect()
        };
        let smooth = |i: u32| 280.0 + 15.0 * (i as f32 / 900.0).sin() + (i as f32 / 37.0).cos();
        let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 16) as f32 / 65_536.0;
        let kinds: [(&str, Vec<u8>); 5] = [
            ("smooth", shuffled(&smooth)),
            ("rounded to hundredths", shuffled(&|i| (smooth(i) * 100.0).round() / 100.0)),
            ("rounded to 10 bits", shuffled(&|i| f32::from_bits((smooth(i).to_bits() + 0x1000) & !0x1fff))),
            ("with noise", shuffled(&|i| smooth(i) + 0.01 * noise(i))),
            ("mostly zero", shuffled(&|i| (smooth(i) - 293.0).max(0.0))),
        ];
        for (kind, input) in kinds {
            let (plain, own) = (encode(&input, 3, 1).len(), encode_by(Zstd::default().for_planes(), &input, 1).len());
            assert!(own * 100 <= plain * 105, "{kind}: {own} bytes instead of {plain}");
        }
    }

    /// How many blocks a frame has whose header holds a content size of four bytes and no window.
    fn block_count(frame: &[u8]) -> usize {
        assert_eq!(frame[4], 0xa0, "single segment, four bytes of content size");
        let (mut at, mut count) = (9, 0);
        loop {
            let header = u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], 0]);
            let (last, kind, len) = (header & 1, header >> 1 & 3, (header >> 3) as usize);
            at += 3 + if kind == 1 { 1 } else { len };
            count += 1;
            if last == 1 {
                assert_eq!(at, frame.len());
                return count;
            }
        }
    }

    #[test]
    fn blocks_of_planes_stay_whole_where_the_library_can_keep_them() {
        let input = planes(200_000);
        let whole = encode_by(Zstd::default().for_planes(), &input, 1);
        assert_eq!(block_count(&whole), input.len().div_ceil(WHOLE_BLOCK as usize));
        let refuses = |context: &mut CCtx<'static>, parameter: CParameter| match parameter {
            CParameter::MaxBlockSize(_) => Err(40usize.wrapping_neg()),
            other => context.set_parameter(other),
        };
        let mut out = Vec::new();
        Zstd::default().for_planes().encode_with(&input, 1, &mut out, refuses).unwrap();
        assert!(block_count(&out) > block_count(&whole), "the library splits them");
        assert!(decode(&out, input.len()).unwrap() == input);
    }

    #[test]
    fn wrong_frames_are_refused() {
        let input = vec![7u8; 4000];
        let frame = encode(&input, 3, 1);
        for len in [0, 3999, 4001, 1 << 40] {
            // The last length is refused before anything is reserved.
            let error = Zstd::default().check_claim(&frame, len).unwrap_err();
            assert_eq!(error.code, "decoded_length_mismatch", "{len}");
        }
        assert!(decode(&frame[..frame.len() - 1], 4000).is_err());
        assert!(decode(&[&frame[..], &[0]].concat(), 4000).is_err());
        for (wrong, len) in [
            (&frame[..frame.len() - 1], 4000),
            (&frame[..], 3999),
            (&frame[..], 4001),
            (&[&frame[..], &[0]].concat()[..], 4000),
            (&frame[..3], 4000),
            (&b"nonsense"[..], 8),
            (&[][..], 1),
        ] {
            assert!(Zstd::default().check_decodes(wrong, len, 1).is_err(), "{len}");
        }
        assert!(decode(b"nonsense", 8).is_err());
        assert!(decode(&[], 1).is_err());
        // A window of 256 MiB, one raw block.
        let wide = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 18 << 3, 0x09, 0x00, 0x00, 5];
        assert_eq!(decode(&wide, 1).unwrap_err().code, "window_too_large");
        // No content size: too long and too short show only in decoding.
        let plain = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x11, 0x00, 0x00, 1, 2];
        assert_eq!(decode(&plain, 2).unwrap(), [1, 2]);
        assert_eq!(decode(&plain, 1).unwrap_err().code, "bad_frame");
        assert_eq!(decode(&plain, 3).unwrap_err().code, "decoded_length_mismatch");
    }

    /// Watched work is done step by step: the same frames, the same results, the same refusals.
    #[test]
    fn steps_give_the_same_bytes() {
        let watched = |work: &mut dyn FnMut()| fw_bytes::interrupt::stoppable(|| false, work).unwrap();
        for len in [JOBS_FROM + 12_345, STEPS_FROM] {
            let input: Vec<u8> = (0..len as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 27) as u8).collect();
            let frame = encode(&input, 1, 1);
            watched(&mut || assert!(encode(&input, 1, 2) == frame));
            watched(&mut || {
                let twice = [&frame[..], &frame].concat();
                assert!(decode(&frame, len).unwrap() == input);
                assert!(decode(&twice, 2 * len).unwrap() == [&input[..], &input].concat());
                assert!(decode(&frame[..frame.len() - 1], len).is_err());
                assert!(decode(&twice, len).is_err());
            });
        }
        let many = encode(&vec![3; STEPS_FROM], 3, 1);
        watched(&mut || assert!(decode(&many, STEPS_FROM).unwrap() == vec![3; STEPS_FROM]));
    }

    #[test]
    fn threads_give_the_same_frame() {
        let word = |i: u32| ((i.wrapping_mul(2_654_435_761) >> 27) ^ (i >> 12)).to_le_bytes();
        let input: Vec<u8> = (0..(JOBS_FROM / 4 + 1000) as u32).flat_map(word).collect();
        let one = encode(&input, -5, 0);
        assert!(one == encode(&input, -5, 1) && one == encode(&input, -5, 3));
        assert!(decode(&one, input.len()).unwrap() == input);
        let shuffled = |threads| encode_by(Zstd::default().for_planes(), &input, threads);
        let one = shuffled(1);
        assert!(one == shuffled(3) && decode(&one, input.len()).unwrap() == input);
    }
}
