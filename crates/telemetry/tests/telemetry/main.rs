//! MCAP, Parquet, Arrow and Foxglove: against the readers that people use, and against hostile files.

mod attacks; // files that are wrong
mod common; // a schema, a capture, hand-made MCAP files
mod fuzz; // the fuzz target on its seeds
mod interop; // Python's mcap, pyarrow and a WebSocket client
mod recordings; // recordings have host times
mod properties; // random schemas and values
