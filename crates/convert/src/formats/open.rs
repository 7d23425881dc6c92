//! Files opened by what they are.

use crate::model::TensorFile;
use crate::{ConvertError, Format};
use fw_bintensors::ReadOptions;
use fw_source::ReadAt;
use std::path::Path;

/// Opens a file by what it is, or by its name where its bytes do not tell.
///
/// # Errors
/// When it cannot be read, is of no known format, or is wrong.
pub fn open(path: impl AsRef<Path>) -> Result<Box<dyn TensorFile>, ConvertError> {
    open_with(path, &ReadOptions::default())
}

/// Opens a file, a BinTensors file by the profile and limits of `options`. A file whose format is known is opened by
/// [`Format::open`].
///
/// # Errors
/// When it cannot be read, is of no known format, or is wrong.
pub fn open_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError> {
    let path = path.as_ref();
    super::detect(path)?.open(path, options)
}

/// Opens a file behind any source, a store for example; `name` is for its format where its bytes do not tell.
///
/// Only the header is read; later reads touch only what is asked for.
///
/// # Errors
/// When the source cannot be read, the file is wrong or of no known format, or its format is opened by path only:
/// [`Format::opens_sources`] tells. A source whose format is known is opened by
/// [`Format::open_source`].
pub fn open_source(
    source: impl ReadAt + Send + Sync + 'static,
    name: &str,
) -> Result<Box<dyn TensorFile>, ConvertError> {
    let path = Path::new(name);
    let format = Format::of_source(&source, path)?.ok_or_else(|| Format::unknown(path))?;
    format.open_source(source, name, &ReadOptions::default())
}
