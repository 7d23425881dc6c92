//! Runs every vector manifest found below a folder against our readers and writers.
//!
//! Each vector is one row; a row lists what deviated from the manifest. A deviation that `known-failures.txt` does not
//! list is a failure, and so is a listed row that passes: the file only shrinks. A manifest field that no adapter
//! understands is a deviation too, so that nothing is skipped in silence.
//!
//! - [`discover`] finds manifests and hands each to the adapter of its format
//! - [`known`] the list of known failures
//! - [`row`] one row per vector: panics caught, time and memory measured, verdict printed
//! - [`digest`] hex and SHA-256, as manifests write them
//! - [`golden`] what our own encoders write, compared byte by byte
//! - [`matrix`] generated code of every language against the vectors and each other
//! - [`tensogram`], [`codecs`], [`bintensors`], [`structframe`] one adapter per manifest format

#![forbid(unsafe_code)]

pub mod bintensors;
pub mod codecs;
pub mod digest;
pub mod discover;
pub mod golden;
pub mod known;
pub mod matrix;
pub mod row;
pub mod structframe;
pub mod tensogram;
