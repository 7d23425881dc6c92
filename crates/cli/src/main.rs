//! One tool for Tensogram, BinTensors and struct-frame data.
fn main() {}
