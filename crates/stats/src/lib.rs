//! Statistics of tensors in constant memory: summaries, histograms and differences, of any element type, fed in chunks
//! of any size. Results depend neither on the chunks nor on the number of threads.
//!
//! ```
//! use fw_stats::{Scalar, Stats};
//! use fw_tensor::DType;
//!
//! let mut stats = Stats::new(DType::Float32)?;
//! stats.update_values(&[1.0f32, 2.0, f32::NAN])?;
//! stats.update_values(&[6.0f32])?;
//! let summary = stats.finish()?;
//! assert_eq!((summary.count, summary.nan, summary.mean), (4, 1, Some(3.0)));
//! assert_eq!((summary.max, summary.max_at), (Some(Scalar::Float(6.0)), Some(3)));
//! # Ok::<(), fw_stats::StatsError>(())
//! ```
//!
//! # Threads
//!
//! A thread takes a run of whole blocks ([`BLOCK`] elements each) and says where it starts; the parts are merged in
//! order. Sums inside are formed along a fixed tree over the blocks, so the result is the same to the last bit.
//!
//! ```
//! use fw_stats::{BLOCK, Stats, summarize};
//! use fw_tensor::{DType, TensorView};
//!
//! let values: Vec<f64> = (0..BLOCK * 3 + 7).map(|i| (i as f64).sin()).collect();
//! let (left, right) = values.split_at(BLOCK);
//! let part = |start: usize, values: &[f64]| {
//!     let mut stats = Stats::starting_at(DType::Float64, start as u64)?;
//!     stats.update_values(values)?;
//!     Ok::<_, fw_stats::StatsError>(stats)
//! };
//! let (left, right) = std::thread::scope(|scope| {
//!     let left = scope.spawn(|| part(0, left));
//!     (left.join().unwrap(), part(BLOCK, right))
//! });
//! let mut all = left?;
//! all.merge(right?)?;
//! let shape = [values.len() as u64];
//! assert_eq!(all.finish()?, summarize(&TensorView::from_values(&shape, &values).unwrap())?);
//! # Ok::<(), fw_stats::StatsError>(())
//! ```
#![forbid(unsafe_code)]

// Rooms in the order data flows.
mod sizes; // elements of a block, bins of a histogram
mod error; // misuse
mod scalar; // an exact integer or a float

mod small_float; // 8-bit floats
mod lanes; // loops that compile to vector instructions
mod block; // bytes of one block as values
mod feed; // chunks of any size into blocks
mod tree; // sums along a fixed tree over the blocks

mod moments; // count, mean and squared deviations of a block
mod summary; // the statistics of a tensor

mod compare; // how two tensors differ
mod histogram; // how values are distributed
mod position; // positions as coordinates, bits as elements

pub use block::to_f64;
pub use compare::{Compare, Difference, Tolerance};
pub use error::StatsError;
pub use histogram::Histogram;
pub use position::{coordinates, unpack_bits};
pub use scalar::Scalar;
pub use sizes::BLOCK;
pub use summary::{Stats, Summary, summarize};
