//! Files that the tests of this crate make.
#![allow(dead_code)]

use fw_tensogram::{DataObjectDescriptor, EncodeOptions, GlobalMetadata, MessageBuilder, encode, value};
use fw_tensor::DType;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that goes when it is dropped, and a path in it.
pub(crate) fn folder(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

/// A message of one object with `mars.param` and `mars.step`.
pub(crate) fn message(param: &str, step: i64, values: &[f32]) -> Vec<u8> {
    let mars = value!({ "param": param, "step": step });
    let builder = MessageBuilder::new().tensor(&[values.len() as u64], values).unwrap();
    builder.base("mars", mars).encode().unwrap()
}

/// A file of one object of doubles, packed to 16 bits.
pub(crate) fn field(path: &Path, shape: &[u64], value: impl Fn(usize) -> f64) {
    std::fs::write(path, packed(shape, value)).unwrap();
}

/// A message of one object of doubles, packed to 16 bits.
pub(crate) fn packed(shape: &[u64], value: impl Fn(usize) -> f64) -> Vec<u8> {
    let count = shape.iter().product::<u64>() as usize;
    let data: Vec<u8> = (0..count).flat_map(|index| value(index).to_ne_bytes()).collect();
    let descriptor = DataObjectDescriptor::new(DType::Float64, shape)
        .unwrap()
        .with_encoding("simple_packing")
        .with_param("sp_bits_per_value", 16)
        .with_compression("szip");
    let descriptor =
        descriptor.with_param("szip_rsi", 128).with_param("szip_block_size", 16).with_param("szip_flags", 8);
    encode(&GlobalMetadata::default(), &[(&descriptor, &data[..])], &EncodeOptions::default()).unwrap()
}
