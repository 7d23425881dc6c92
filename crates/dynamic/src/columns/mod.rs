//! Many payloads to typed columns, and back (per message type: one array per scalar leaf).
//!
//! Payloads are brought into the fixed layout, in which every leaf has constant offsets, and collected in blocks; a block is
//! then taken apart column by column. No value is ever built.
//!
//! Column names are field paths (`crew.age`). Nested messages are flattened into their parent; arrays add a dimension,
//! bounded ones are padded to their bound (with zeros, unless the sender left something else there) and have a column
//! `path@count`; text and blobs are `uint8` with their size as last
//! dimension and a column `path@len`; a union has a column `path@tag`, and each member a column `path.member@valid`. Where a
//! member is not set its columns hold zeros. A union without a tag is one `uint8` column.
//!
//! ```
//! use fw_dynamic::{Codec, Layout, columns::{Decoder, Header}};
//!
//! let schema = fw_schema::check_text("a.sf", "package a; message P { option msgid = 1; uint8 n = 1; repeated int16 v = 2 [size=2]; }")
//!     .into_result()
//!     .unwrap();
//! let codec = Codec::new(&schema);
//! let mut decoder = Decoder::new(&codec, Layout::Wire);
//! decoder.push(1, Header::default(), &[7, 1, 0, 2, 0]).unwrap();
//! decoder.push(1, Header::default(), &[8, 3, 0, 4, 0]).unwrap();
//! let capture = decoder.finish();
//! let v = capture.tables[0].column("v").unwrap();
//! assert_eq!((v.shape(2), v.data.as_slice()), (vec![2, 2], [1, 0, 2, 0, 3, 0, 4, 0].as_slice()));
//! ```

mod decode; // payloads to columns
mod gather; // blocks of images to columns
mod plan; // where each column stands in the fixed layout
mod restore; // columns to payloads

pub use decode::{Capture, Decoder, Stray, Table};
pub use fw_structframe::Header;
pub use plan::Role;
pub use restore::Parts;

use fw_tensor::DType;

/// One column: the values of one leaf, row after row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// Path of the leaf.
    pub path: String,
    /// What it holds.
    pub role: Role,
    /// Type of one element; bytes are little-endian.
    pub dtype: DType,
    /// Dimensions after the row.
    pub dims: Vec<usize>,
    /// The elements.
    pub data: Vec<u8>,
}

impl Column {
    /// The shape for a number of rows.
    pub fn shape(&self, rows: usize) -> Vec<u64> {
        std::iter::once(rows).chain(self.dims.iter().copied()).map(|len| len as u64).collect()
    }
}
