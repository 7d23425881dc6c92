//! Compressors as they are, in C and C++: no messages, no digests, no checks, and into memory that has been written before.
//!
//! They are the libraries that the peer builds.

mod bytes; // zstd, lz4 and blosc2, which take bytes
mod numbers; // szip, zfp and sz3, which take numbers

use crate::rows::Row;
use bytes::{Blosc, Lz4, Zstd};
use numbers::{Sz3, Szip, Zfp};
use std::ffi::c_int;

/// A codec with an object, and with memory for what it decodes.
pub(crate) trait Bare {
    fn name(&self) -> &'static str;

    /// Encodes the object, and says how many bytes that took.
    fn encode(&mut self, out: &mut [u8]) -> usize;

    /// Decodes into the codec's own memory.
    fn decode(&mut self, coded: &[u8]);

    /// Decodes only some elements of an object, where the library can.
    fn decode_some(&mut self, _coded: &[u8], _first: u64, _count: u64) -> Option<()> {
        None
    }

    /// What was decoded last.
    fn decoded(&self) -> Vec<u8>;

    /// The codec's own bytes within a payload.
    fn within<'p>(&self, payload: &'p [u8]) -> &'p [u8] {
        payload
    }
}

/// The codec that a row compresses with.
pub(crate) fn codec<'a>(row: &Row, threads: usize, object: &'a [u8]) -> Box<dyn Bare + 'a> {
    match row.compression {
        "zstd" => Box::new(Zstd::new(object)),
        "lz4" => Box::new(Lz4::new(object)),
        "blosc2" => Box::new(Blosc::new(row, threads, object)),
        "szip" => Box::new(Szip::new(row, object)),
        "zfp" => Box::new(Zfp::new(row, object)),
        "sz3" => Box::new(Sz3::new(row, object)),
        other => panic!("{other}: no bare codec for it"),
    }
}

fn int(len: usize) -> c_int {
    c_int::try_from(len).expect("objects of the bench are small")
}
