//! Codecs of numbers.

use super::Bare;
use crate::rows::{Param, Row};
use libaec_sys as aec;
use std::ptr;
use tensogram_sz3::{DimensionedData, ErrorBound};
use zfp_sys_cc as zfp;

pub(super) struct Szip<'a> {
    object: &'a [u8],
    out: Vec<u8>,
    /// Samples of 16 bits, the most significant byte first; otherwise of 32 bits as they are.
    is_packed: bool,
}

impl<'a> Szip<'a> {
    pub(super) fn new(row: &Row, object: &'a [u8]) -> Self {
        Self { object, out: vec![1; object.len()], is_packed: row.is_packed_to(16) }
    }

    fn stream(&self, from: &[u8], to: *mut u8, room: usize) -> aec::aec_stream {
        let (bits, order) = if self.is_packed { (16, aec::AEC_DATA_MSB) } else { (32, 0) };
        aec::aec_stream {
            next_in: from.as_ptr(),
            avail_in: from.len(),
            total_in: 0,
            next_out: to,
            avail_out: room,
            total_out: 0,
            bits_per_sample: bits,
            block_size: 16,
            rsi: 128,
            flags: aec::AEC_DATA_PREPROCESS | order,
            state: ptr::null_mut(),
        }
    }
}

impl Bare for Szip<'_> {
    fn name(&self) -> &'static str {
        "libaec"
    }

    fn encode(&mut self, out: &mut [u8]) -> usize {
        let mut stream = self.stream(self.object, out.as_mut_ptr(), out.len());
        // SAFETY: both ranges are given with their lengths.
        assert_eq!(unsafe { aec::aec_buffer_encode(&raw mut stream) }, 0, "libaec encodes");
        stream.total_out
    }

    fn decode(&mut self, coded: &[u8]) {
        let (to, room) = (self.out.as_mut_ptr(), self.out.len());
        let mut stream = self.stream(coded, to, room);
        // SAFETY: both ranges are given with their lengths.
        assert_eq!(unsafe { aec::aec_buffer_decode(&raw mut stream) }, 0, "libaec decodes");
        assert_eq!(stream.total_out, room);
    }

    fn decoded(&self) -> Vec<u8> {
        self.out.clone()
    }
}

/// zfp on doubles in one dimension, which is what the format has.
pub(super) struct Zfp {
    object: Vec<f64>,
    out: Vec<f64>,
    mode: (&'static str, f64),
}

impl Zfp {
    pub(super) fn new(row: &Row, object: &[u8]) -> Self {
        let number = |key| match row.param(key) {
            Some(Param::Integer(value)) => Some((key, value as f64)),
            Some(Param::Real(value)) => Some((key, value)),
            _ => None,
        };
        let mode = ["zfp_rate", "zfp_precision", "zfp_tolerance"].into_iter().find_map(number);
        let object: Vec<f64> = bytemuck::pod_collect_to_vec(object);
        Self { out: vec![1.0; object.len()], object, mode: mode.expect("every row has a mode") }
    }

    /// Runs the library over values and a bit stream, and says how many bytes of the latter were used.
    fn run(&self, values: *const f64, bits: *mut u8, room: usize, call: ZfpCall) -> usize {
        let kind = zfp::zfp_type_zfp_type_double;
        // SAFETY: both ranges are given with their lengths, `call` writes only to the one that the caller may write to, and
        // everything opened is closed.
        unsafe {
            let field = zfp::zfp_field_1d(values.cast_mut().cast(), kind, self.object.len());
            let stream = zfp::stream_open(bits.cast(), room);
            let state = zfp::zfp_stream_open(stream);
            match self.mode {
                ("zfp_rate", rate) => {
                    zfp::zfp_stream_set_rate(state, rate, kind, 1, 0);
                }
                ("zfp_precision", bits) => {
                    zfp::zfp_stream_set_precision(state, bits as u32);
                }
                (_, tolerance) => {
                    zfp::zfp_stream_set_accuracy(state, tolerance);
                }
            }
            zfp::zfp_stream_rewind(state);
            let len = match call {
                ZfpCall::Encode => zfp::zfp_compress(state, field),
                ZfpCall::Decode => zfp::zfp_decompress(state, field),
            };
            zfp::zfp_stream_close(state);
            zfp::stream_close(stream);
            zfp::zfp_field_free(field);
            len
        }
    }
}

enum ZfpCall {
    Encode,
    Decode,
}

impl Bare for Zfp {
    fn name(&self) -> &'static str {
        "zfp"
    }

    fn encode(&mut self, out: &mut [u8]) -> usize {
        let len = self.run(self.object.as_ptr(), out.as_mut_ptr(), out.len(), ZfpCall::Encode);
        assert!(len > 0, "zfp encodes");
        len
    }

    fn decode(&mut self, coded: &[u8]) {
        let values = self.out.as_mut_ptr();
        let len = self.run(values, coded.as_ptr().cast_mut(), coded.len(), ZfpCall::Decode);
        assert!(len > 0, "zfp decodes");
    }

    fn decoded(&self) -> Vec<u8> {
        bytemuck::cast_slice(&self.out).to_vec()
    }
}

/// SZ3 on doubles in one dimension, through the crate that the peer has for it, which is as close as its C++ can be called.
pub(super) struct Sz3 {
    object: Vec<f64>,
    out: Vec<f64>,
    coded: Vec<u8>,
    mode: &'static str,
    bound: f64,
}

impl Sz3 {
    pub(super) fn new(row: &Row, object: &[u8]) -> Self {
        let (Some(Param::Text(mode)), Some(Param::Real(bound))) =
            (row.param("sz3_error_bound_mode"), row.param("sz3_error_bound"))
        else {
            panic!("{}: which bound?", row.name)
        };
        let object: Vec<f64> = bytemuck::pod_collect_to_vec(object);
        Self { out: vec![1.0; object.len()], coded: Vec::with_capacity(object.len() * 8), object, mode, bound }
    }
}

impl Bare for Sz3 {
    fn name(&self) -> &'static str {
        "SZ3"
    }

    fn encode(&mut self, out: &mut [u8]) -> usize {
        let bound = match self.mode {
            "abs" => ErrorBound::Absolute(self.bound),
            "rel" => ErrorBound::Relative(self.bound),
            _ => ErrorBound::PSNR(self.bound),
        };
        let object = DimensionedData::build(&self.object).remainder_dim().expect("one dimension");
        self.coded.clear();
        tensogram_sz3::compress_into(&object, bound, &mut self.coded).expect("SZ3 encodes");
        out[..self.coded.len()].copy_from_slice(&self.coded);
        self.coded.len()
    }

    fn decode(&mut self, coded: &[u8]) {
        let mut out = DimensionedData::build_mut(&mut self.out).remainder_dim().expect("one dimension");
        tensogram_sz3::decompress_into_dimensioned(coded, &mut out).expect("SZ3 decodes");
    }

    fn decoded(&self) -> Vec<u8> {
        bytemuck::cast_slice(&self.out).to_vec()
    }
}
