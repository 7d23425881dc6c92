//! NumPy's files: npy, one array; npz, a zip of them.

mod array; // an array's bytes as little-endian rows
mod header; // the npy header
mod npy; // an open npy
mod npz; // an open npz, and writing one

pub use header::npy_header;
pub(crate) use header::{NpyHeader, descr, encode as encode_header};
pub(crate) use npy::{NpyFile, open as open_npy};
pub(crate) use npz::{NpzFile, NpzWriter, open as open_npz};
