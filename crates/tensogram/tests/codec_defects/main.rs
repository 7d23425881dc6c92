//! Where the reference implementation is known to be wrong, lax or to crash, and what is done here instead. The clauses are
//! those of the codec specification.

mod combinations;
mod ranges;
mod sizes;

use fw_tensogram::*;
use fw_tensor::{ByteOrder, DType, select};
use peak_alloc::PeakAlloc;
use std::path::PathBuf;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/tensogram-codecs")
}

fn ramp(count: u64) -> Vec<f64> {
    (0..count).map(|at| (at as f64 * 0.01).sin() * 30.0 + (at % 7) as f64 * 0.001).collect()
}

fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn doubles(count: u64) -> DataObjectDescriptor {
    DataObjectDescriptor {
        byte_order: ByteOrder::Little,
        ..DataObjectDescriptor::new(DType::Float64, &[count]).unwrap()
    }
}

fn szip(descriptor: DataObjectDescriptor, flags: u64) -> DataObjectDescriptor {
    descriptor
        .with_compression("szip")
        .with_param("szip_rsi", 128u64)
        .with_param("szip_block_size", 16u64)
        .with_param("szip_flags", flags)
}

fn zfp_rate(descriptor: DataObjectDescriptor, rate: f64) -> DataObjectDescriptor {
    descriptor.with_compression("zfp").with_param("zfp_mode", "fixed_rate").with_param("zfp_rate", rate)
}

fn sz3(descriptor: DataObjectDescriptor, bound: f64) -> DataObjectDescriptor {
    descriptor.with_compression("sz3").with_param("sz3_error_bound_mode", "abs").with_param("sz3_error_bound", bound)
}

fn message(descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<Vec<u8>> {
    encode(&GlobalMetadata::default(), &[(descriptor, data)], &EncodeOptions::default())
}

/// A message whose payload is stored as given, and need not be that of its descriptor.
fn pre_encoded(descriptor: &DataObjectDescriptor, payload: &[u8]) -> Result<Vec<u8>> {
    encode_pre_encoded(&GlobalMetadata::default(), &[(descriptor, payload)], &EncodeOptions::default())
}

/// An object's frame as no encoder writes it: with a mask of NaN of anybody's choice behind the payload.
fn masked(mut descriptor: DataObjectDescriptor, payload: &[u8], method: &str, blob: &[u8]) -> Vec<u8> {
    let mut masks = MasksMetadata::default();
    let (offset, length) = (payload.len() as u64, blob.len() as u64);
    masks.set(MaskKind::Nan, MaskDescriptor { method: method.to_owned(), offset, length, params: MetadataMap::new() });
    descriptor.masks = Some(masks);
    let cbor = descriptor.to_cbor();
    let cbor_offset = 16 + (payload.len() + blob.len()) as u64;
    let length = cbor_offset + cbor.len() as u64 + 20;
    // Type 9, version 1, descriptor behind the payload, no digest.
    let header = [&b"FR\0\x09\0\x01\0\x01"[..], &length.to_be_bytes()].concat();
    [&header, payload, blob, &cbor, &cbor_offset.to_be_bytes(), &[0; 8], b"ENDF"].concat()
}

fn descriptor_of(message: &[u8]) -> DataObjectDescriptor {
    MessageView::open(message).unwrap().object(0).unwrap().descriptor().clone()
}

fn payload(message: &[u8]) -> Vec<u8> {
    MessageView::open(message).unwrap().object(0).unwrap().payload().to_vec()
}

/// The same message with another compression in its descriptor: what a writer that checks nothing would leave.
fn renamed(message: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let key = [b"compression", &[0x60 + from.len() as u8][..], from.as_bytes()].concat();
    let at = message.windows(key.len()).position(|window| window == key).expect("the descriptor names it");
    let mut renamed = message.to_vec();
    renamed[at + key.len() - to.len()..at + key.len()].copy_from_slice(to.as_bytes());
    renamed
}

fn read(message: &[u8]) -> Result<Vec<u8>> {
    MessageView::open(message)?.object(0)?.decode(&DecodeOptions::default())
}

/// All tests of this file together, side by side, never hold what one bomb would unpack to.
fn assert_small_heap() {
    let peak = HEAP.peak_usage();
    assert!(peak < 128 << 20, "{peak} bytes were held at once");
}
