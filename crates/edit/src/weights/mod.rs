//! Checkpoints: tensors of BinTensors and safetensors files renamed, chosen, replaced and cast.
//!
//! Tensors that do not change are copied by the system. Digests that files keep are compared before anything is written; tensors that change
//! get new ones where they had some, and the manifest of all is made anew.

mod choice; // which tensors
mod rule; // new names
mod narrow; // floats as other floats
mod digests; // what becomes of digests
mod draft; // a changed checkpoint before it is written

mod cast; // elements of another type
mod rename; // other names
mod replace; // a tensor from another file
mod subset; // some of the tensors

pub use cast::{CastOptions, CastReport, CastTensor, cast};
pub use choice::{Choice, Layers};
pub use draft::{DigestsKept, WeightsOptions};
pub use narrow::{CastError, CastType};
pub use rename::{RenameReport, Renamed, rename};
pub use replace::{Misfit, ReplaceOptions, ReplaceReport, Replaced, replace};
pub use rule::RenameRule;
pub use subset::{SubsetReport, subset};
