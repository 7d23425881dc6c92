//! Local files from asynchronous code: the blocking calls, run off the runtime.

use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::Result;
use crate::read::{DecodeOptions, DecodedObject, TensogramFile};
use fw_source::nonblocking::off_runtime;
use std::path::Path;
use std::sync::Arc;

/// Every call runs on the runtime's blocking threads; for a file in a store, or many reads at once, see
/// [`super::AsyncTensogramFile`].
impl TensogramFile {
    /// [`TensogramFile::open`], awaited.
    ///
    /// # Errors
    /// As [`TensogramFile::open`].
    pub async fn open_async(path: impl AsRef<Path>) -> Result<Arc<Self>> {
        let path = path.as_ref().to_owned();
        off_runtime(move || Ok(Arc::new(Self::open(path)?))).await
    }

    /// [`TensogramFile::read_message`], awaited.
    ///
    /// # Errors
    /// As [`TensogramFile::read_message`].
    pub async fn read_message_async(self: &Arc<Self>, index: usize) -> Result<Vec<u8>> {
        let file = Arc::clone(self);
        off_runtime(move || file.read_message(index)).await
    }

    /// [`TensogramFile::decode_message`], awaited.
    ///
    /// # Errors
    /// As [`TensogramFile::decode_message`].
    pub async fn decode_message_async(
        self: &Arc<Self>,
        index: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
        let (file, options) = (Arc::clone(self), options.clone());
        off_runtime(move || file.decode_message(index, &options)).await
    }

    /// [`TensogramFile::decode_range`], awaited.
    ///
    /// # Errors
    /// As [`TensogramFile::decode_range`].
    pub async fn decode_range_async(
        self: &Arc<Self>,
        message: usize,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
        let (file, ranges, options) = (Arc::clone(self), ranges.to_vec(), options.clone());
        off_runtime(move || file.decode_range(message, object, &ranges, &options)).await
    }
}
