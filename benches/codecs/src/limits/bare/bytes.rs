//! Codecs of bytes. LZ4 is the copy inside c-blosc2.

use super::{Bare, int};
use crate::rows::{Param, Row};
use blosc2_rs_sys as blosc;
use std::ffi::{c_char, c_int, c_void};
use zstd_safe::{CCtx, DCtx};

pub(super) struct Zstd<'a> {
    object: &'a [u8],
    out: Vec<u8>,
    write: CCtx<'static>,
    read: DCtx<'static>,
}

impl<'a> Zstd<'a> {
    pub(super) fn new(object: &'a [u8]) -> Self {
        Self { object, out: vec![1; object.len()], write: CCtx::create(), read: DCtx::create() }
    }
}

impl Bare for Zstd<'_> {
    fn name(&self) -> &'static str {
        "libzstd"
    }

    fn encode(&mut self, out: &mut [u8]) -> usize {
        self.write.compress(out, self.object, 3).expect("libzstd encodes")
    }

    fn decode(&mut self, coded: &[u8]) {
        let len = self.read.decompress(&mut self.out[..], coded).expect("libzstd decodes");
        assert_eq!(len, self.object.len());
    }

    fn decoded(&self) -> Vec<u8> {
        self.out.clone()
    }
}

unsafe extern "C" {
    fn LZ4_compress_default(from: *const c_char, to: *mut c_char, len: c_int, room: c_int) -> c_int;
    fn LZ4_decompress_safe(from: *const c_char, to: *mut c_char, len: c_int, room: c_int) -> c_int;
}

pub(super) struct Lz4<'a> {
    object: &'a [u8],
    out: Vec<u8>,
}

impl<'a> Lz4<'a> {
    pub(super) fn new(object: &'a [u8]) -> Self {
        Self { object, out: vec![1; object.len()] }
    }
}

impl Bare for Lz4<'_> {
    fn name(&self) -> &'static str {
        "LZ4 in C"
    }

    fn encode(&mut self, out: &mut [u8]) -> usize {
        let (from, to) = (self.object.as_ptr().cast(), out.as_mut_ptr().cast());
        // SAFETY: both ranges are given with their lengths.
        let len = unsafe { LZ4_compress_default(from, to, int(self.object.len()), int(out.len())) };
        usize::try_from(len).ok().filter(|len| *len > 0).expect("LZ4 encodes")
    }

    fn decode(&mut self, coded: &[u8]) {
        let (from, to) = (coded.as_ptr().cast(), self.out.as_mut_ptr().cast());
        // SAFETY: both ranges are given with their lengths.
        let len = unsafe { LZ4_decompress_safe(from, to, int(coded.len()), int(self.out.len())) };
        assert_eq!(len, int(self.object.len()), "LZ4 decodes");
    }

    fn decoded(&self) -> Vec<u8> {
        self.out.clone()
    }

    /// The length of the object stands before it.
    fn within<'p>(&self, payload: &'p [u8]) -> &'p [u8] {
        &payload[4..]
    }
}

/// c-blosc2, which is given as many threads as the row has.
pub(super) struct Blosc<'a> {
    object: &'a [u8],
    out: Vec<u8>,
    write: *mut blosc::blosc2_context,
    read: *mut blosc::blosc2_context,
}

impl<'a> Blosc<'a> {
    pub(super) fn new(row: &Row, threads: usize, object: &'a [u8]) -> Self {
        let Some(Param::Text(name)) = row.param("blosc2_codec") else { panic!("{}: which codec?", row.name) };
        let code = match name {
            "blosclz" => blosc::BLOSC_BLOSCLZ,
            "lz4" => blosc::BLOSC_LZ4,
            "lz4hc" => blosc::BLOSC_LZ4HC,
            "zlib" => blosc::BLOSC_ZLIB,
            "zstd" => blosc::BLOSC_ZSTD,
            _ => panic!("{name}: not a codec of c-blosc2"),
        };
        let threads = i16::try_from(threads).expect("a few threads");
        // SAFETY: these calls take plain values. The defaults shuffle bytes, at level 5.
        let (write, read) = unsafe {
            blosc::blosc2_init();
            let mut write = blosc::blosc2_get_blosc2_cparams_defaults();
            (write.compcode, write.typesize, write.nthreads) = (code as u8, 8, threads);
            let mut read = blosc::blosc2_get_blosc2_dparams_defaults();
            read.nthreads = threads;
            (blosc::blosc2_create_cctx(write), blosc::blosc2_create_dctx(read))
        };
        assert!(!write.is_null() && !read.is_null(), "c-blosc2 begins");
        Self { object, out: vec![1; object.len()], write, read }
    }
}

impl Drop for Blosc<'_> {
    fn drop(&mut self) {
        // SAFETY: both were made by this library, and nobody else has them.
        unsafe {
            blosc::blosc2_free_ctx(self.write);
            blosc::blosc2_free_ctx(self.read);
        }
    }
}

impl Bare for Blosc<'_> {
    fn name(&self) -> &'static str {
        "c-blosc2"
    }

    fn encode(&mut self, out: &mut [u8]) -> usize {
        let (from, to) = (self.object.as_ptr().cast::<c_void>(), out.as_mut_ptr().cast::<c_void>());
        // SAFETY: both ranges are given with their lengths, and the context is ours.
        let len = unsafe { blosc::blosc2_compress_ctx(self.write, from, int(self.object.len()), to, int(out.len())) };
        usize::try_from(len).ok().filter(|len| *len > 0).expect("c-blosc2 encodes")
    }

    fn decode(&mut self, coded: &[u8]) {
        let (from, to) = (coded.as_ptr().cast::<c_void>(), self.out.as_mut_ptr().cast::<c_void>());
        // SAFETY: both ranges are given with their lengths, and the context is ours.
        let len = unsafe { blosc::blosc2_decompress_ctx(self.read, from, int(coded.len()), to, int(self.out.len())) };
        assert_eq!(len, int(self.object.len()), "c-blosc2 decodes");
    }

    fn decode_some(&mut self, coded: &[u8], first: u64, count: u64) -> Option<()> {
        let (from, to) = (coded.as_ptr().cast::<c_void>(), self.out.as_mut_ptr().cast::<c_void>());
        let (len, room, first, count) =
            (int(coded.len()), int(self.out.len()), int(first as usize), int(count as usize));
        // SAFETY: both ranges are given with their lengths, and the context is ours.
        let len = unsafe { blosc::blosc2_getitem_ctx(self.read, from, len, first, count, to, room) };
        assert_eq!(len, count * 8, "c-blosc2 decodes some");
        Some(())
    }

    fn decoded(&self) -> Vec<u8> {
        self.out.clone()
    }

    /// The only chunk, after the header of the frame, which says how long it is.
    fn within<'p>(&self, payload: &'p [u8]) -> &'p [u8] {
        let header = u32::from_be_bytes(payload[11..15].try_into().expect("four bytes")) as usize;
        let len = u32::from_le_bytes(payload[header + 12..header + 16].try_into().expect("four bytes")) as usize;
        &payload[header..header + len]
    }
}
