//! A struct-frame schema as protobuf descriptors, and values as protobuf messages.
//!
//! The mapping (decision 0331): a message is a proto3 message of the same name in a package of the same name, a field keeps its name
//! and number. Integers of up to 32 bits become `uint32` or `sint32`, arrays `repeated`, a oneof a `oneof` whose members are numbered
//! after the fields. Values of a protobuf enum share a scope with their neighbours, so every enum stands in a message of
//! its own: `Fix.Value`. A number that a protobuf enum must have and the schema lacks, zero, is called `UNNAMED_0`.

mod descriptor; // schema to descriptors
mod encode; // values to bytes

pub use encode::{Kept, Protobuf};
