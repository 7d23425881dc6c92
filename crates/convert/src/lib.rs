//! Tensor files into one another: BinTensors, safetensors, npy, npz and Tensogram; GGUF and PyTorch into all of them.
//!
//! Every format is opened as a [`TensorFile`]: names, element types and shapes at once, data when it is asked for, one
//! tensor in memory at a time. [`convert`] writes any of them as any other and lists what was [lost](Loss); [`diff`]
//! compares across formats; [`frames_to_columns`] and [`columns_to_frames`] join struct-frame captures with tensors;
//! [`info`], [`ls`], [`dump`], [`validate`] and [`cat`] are what the tools show.
//!
//! ```
//! use fw_convert::{ConvertOptions, convert, diff, DiffOptions, open};
//! use fw_bintensors::{Dtype, TensorView, serialize_to_file};
//!
//! let folder = tempfile::tempdir()?;
//! let (bt, st) = (folder.path().join("m.bt"), folder.path().join("m.safetensors"));
//! serialize_to_file([("w", TensorView::new(Dtype::F32, [2], &[0; 8])?)], &None, &bt)?;
//! let done = convert(&bt, &st, &ConvertOptions::new())?;
//! assert!(done.losses.is_empty());
//! assert!(diff(&*open(&bt)?, &*open(&st)?, &DiffOptions::new())?.is_equal());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

// Rooms in the order data flows.
mod error; // what can go wrong
mod value; // elements as numbers
mod format; // the table of formats
mod loss; // what a conversion could not keep
mod model; // a file of named tensors, whatever its format
mod attributes; // metadata of one tensor, carried in a text map
mod sign; // signatures of manifests
mod options; // how to convert, and what came of it
mod digests; // digests of tensors, compared and computed
mod report; // faults of a file, trees of its byte ranges
mod contract; // what every format answers, and what it is given to write
mod archive; // zip archives: npz, PyTorch
mod numpy; // npy and npz
mod nested; // elements as nested lists
mod cat; // one tensor to a stream
mod tensogram; // Tensogram messages as a tensor file
mod bintensors; // BinTensors as a tensor file
mod safetensors; // safetensors: header, reading, writing
mod gguf; // GGUF: header, blocks, reading
mod torch; // PyTorch checkpoints: pickle, storages, reading
mod shards; // checkpoints in several files with an index
mod formats; // from a format to its room: detection, opening
mod table; // what each target keeps
mod memory; // tensors of a program as a tensor file
mod widen; // tensors as float32
mod convert; // any format to any other
mod signed; // checkpoints that are signed, and verified
mod capture; // struct-frame captures as rows: filters, statistics, tables
mod columns; // struct-frame captures as Tensogram files of columns
mod diff; // two files, tensor by tensor
mod show; // info, ls, dump, validate

pub use attributes::belongs_to;
pub use capture::{
    Arrival, CaptureInput, CaptureOptions, Chunks, Clock, Csv, FieldKind, FieldStats, FieldSummary, FrameFilter,
    FrameKeys, FrameRow, Losses, MessageFields, RowReader, RowTotals, Signal, TableFormat, TableLayout, TableWriter,
    TablesConverted, each_row, frames_to_tables, table_files,
};
pub use cat::{CatFormat, cat, write_elements};
pub use columns::{
    CaptureConverted, ColumnSpool, capture_to_columns, columns_to_frames, frames_to_columns, holds_capture, is_capture,
};
pub use convert::{convert, convert_open, write_tensors};
pub use diff::{Comparison, Diff, DiffOptions, DiffRow, Distance, Metadata, MetadataDifference, Types, diff};
pub use digests::{
    Checked, check_manifest, check_spelling, digest_algorithm, expect_manifest, is_digest_key, is_seal_key, manifest,
    stored_digests, stored_manifest, verify_digests,
};
pub use error::{ConvertError, Side};
pub use format::Format;
pub use formats::{detect, open, open_source, open_with};
pub use loss::{Feature, Loss, LossGroup};
pub use memory::MemoryTensors;
pub use model::{Attributes, Entry, Located, Pieces, TensorFile, Unreadable};
pub use numpy::npy_header;
pub use options::{
    Codecs, ConvertOptions, Converted, DigestsDone, Existing, MessageBounds, Missing, NanBits, Progress, ProgressFn,
    StoredUse, Transport,
};
pub use report::shortened;
pub use safetensors::safetensors_name;
pub use shards::{Beside, MAX_INDEX, ShardOpener, checkpoint_in, index_files, index_text, open_index, validate_index};
pub use show::{Info, Row, dump, info, info_of, ls, non_finite, rows, validate};
pub use sign::{PublicKey, SigningKey};
pub use signed::{sign, verify_signature};
pub use table::{LossRow, loss_table};
pub use tensogram::{Named, cat_object, named_objects, objects_named};
pub use widen::{AsFloat32, to_float32};
