//! Messages from typed slices, without writing strides by hand.

use super::{EncodeOptions, encode};
use crate::describe::{DataObjectDescriptor, GlobalMetadata, Value};
use crate::error::Result;
use fw_tensor::{Element, TensorError, byte_len};
use zerocopy::IntoBytes;

/// Gathers tensors and metadata, and encodes them as one message.
///
/// ```
/// use fw_tensogram::{MessageBuilder, MessageView};
///
/// let temperature = [273.15f64, 274.0, 275.5, 276.25];
/// let message = MessageBuilder::new()
///     .extra("run", 20240115)
///     .tensor(&[2, 2], &temperature).unwrap()
///     .base("units", "K")
///     .encode().unwrap();
/// let view = MessageView::open(&message).unwrap();
/// assert_eq!(view.metadata().unwrap().lookup("units").unwrap().as_text(), Some("K"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct MessageBuilder<'a> {
    metadata: GlobalMetadata,
    objects: Vec<(DataObjectDescriptor, &'a [u8])>,
    options: EncodeOptions,
}

impl<'a> MessageBuilder<'a> {
    /// An empty message.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a message-level key.
    #[must_use]
    pub fn extra(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.extra.insert(key.into(), value.into());
        self
    }

    /// Adds a tensor, row-major, in the byte order of this machine.
    ///
    /// # Errors
    /// When the number of values does not match the shape.
    pub fn tensor<T: Element>(self, shape: &[u64], values: &'a [T]) -> Result<Self> {
        let descriptor = DataObjectDescriptor::new(T::DTYPE, shape)?;
        let (expected, found) = (byte_len(T::DTYPE, shape)?, size_of_val(values) as u64);
        if expected != found {
            return Err(TensorError::LengthMismatch { dtype: T::DTYPE, shape: shape.to_vec(), expected, found }.into());
        }
        Ok(self.object(descriptor, values.as_bytes()))
    }

    /// Adds an object with a descriptor of the caller's.
    #[must_use]
    pub fn object(mut self, descriptor: DataObjectDescriptor, data: &'a [u8]) -> Self {
        self.objects.push((descriptor, data));
        self.metadata.base.push(Default::default());
        self
    }

    /// Sets a key of the last object added.
    #[must_use]
    pub fn base(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        if let Some(entry) = self.metadata.base.last_mut() {
            entry.insert(key.into(), value.into());
        }
        self
    }

    /// Changes the descriptor of the last object added, to name codecs and their parameters.
    #[must_use]
    pub fn describe(mut self, change: impl FnOnce(DataObjectDescriptor) -> DataObjectDescriptor) -> Self {
        if let Some((descriptor, _)) = self.objects.last_mut() {
            *descriptor = change(std::mem::take(descriptor));
        }
        self
    }

    /// Sets the options.
    #[must_use]
    pub fn options(mut self, options: EncodeOptions) -> Self {
        self.options = options;
        self
    }

    /// The message.
    ///
    /// # Errors
    /// As [`encode`].
    pub fn encode(&self) -> Result<Vec<u8>> {
        let objects: Vec<_> = self.objects.iter().map(|(descriptor, data)| (descriptor, *data)).collect();
        encode(&self.metadata, &objects, &self.options)
    }
}
