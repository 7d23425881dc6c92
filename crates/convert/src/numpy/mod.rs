//! NumPy's files: npy, one array; npz, a zip of them.

mod array; // an array's bytes as little-endian rows
mod formats; // both as formats of tensor files
mod header; // the npy header
mod npy; // an open npy
mod npz; // an open npz, and writing one
mod write; // new files

pub(crate) use formats::{Npy, Npz};
pub use header::npy_header;
pub(crate) use header::{NpyHeader, descr, encode as encode_header};
