//! Messages from typed slices, without writing strides by hand.

use super::input::describe_values;
use super::{EncodeOptions, ObjectInput, encode};
use crate::describe::{DataObjectDescriptor, GlobalMetadata, Value};
use crate::error::{Fault, Result, TensogramError};
use fw_codec::chain::Pipe;
use fw_tensor::Element;
use zerocopy::IntoBytes;

/// Collects tensors and metadata, and encodes them as one message.
///
/// ```
/// use fw_tensogram::{MessageBuilder, MessageView, Pipe};
///
/// let temperature: Vec<f64> = (0..10_000).map(|i| 273.15 + f64::from(i % 100) / 8.0).collect();
/// let mask = [1u8, 0, 1, 1];
/// let message = MessageBuilder::new()
///     .extra("run", 20240115)
///     .tensor(&[100, 100], &temperature)?
///     .pipeline(Pipe::pack(16).szip()) // 16-bit integers, entropy-coded
///     .base("units", "K")
///     .tensor(&[2, 2], &mask)? // without a pipeline the bytes are stored as they are
///     .encode()?;
/// assert!(message.len() < 20_000);
/// let view = MessageView::open(&message)?;
/// assert_eq!(view.metadata()?.get("units").as_text(), Some("K"));
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MessageBuilder<'a> {
    metadata: GlobalMetadata,
    objects: Vec<BuiltObject<'a>>,
    options: EncodeOptions,
    /// The first call that could not be done; encoding reports it.
    refusal: Option<Refusal>,
}

#[derive(Clone, Debug)]
struct BuiltObject<'a> {
    descriptor: DataObjectDescriptor,
    data: &'a [u8],
}

#[derive(Clone, Debug)]
struct Refusal {
    class: fn(Fault) -> TensogramError,
    fault: Fault,
}

impl<'a> MessageBuilder<'a> {
    /// Starts an empty message.
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
        Ok(self.object(describe_values(shape, values)?, values.as_bytes()))
    }

    /// Adds an object with the given descriptor.
    #[must_use]
    pub fn object(mut self, descriptor: DataObjectDescriptor, data: &'a [u8]) -> Self {
        self.objects.push(BuiltObject { descriptor, data });
        self.metadata.base.push(Default::default());
        self
    }

    /// Sets a metadata key of the last object added. If there is none yet, encoding fails with `no_object_yet`.
    #[must_use]
    pub fn base(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let key = key.into();
        match self.metadata.base.last_mut() {
            Some(entry) => drop(entry.insert(key, value.into())),
            None => self.refuse_without_object(&format!("base key {key:?}")),
        }
        self
    }

    /// Sets how the last object added is encoded; see [`Pipe`]. If there is none yet, encoding fails with `no_object_yet`.
    #[must_use]
    pub fn pipeline(mut self, pipe: impl Into<Pipe>) -> Self {
        let Some(object) = self.objects.last_mut() else {
            self.refuse_without_object("pipeline");
            return self;
        };
        match std::mem::take(&mut object.descriptor).with_pipeline(pipe) {
            Ok(descriptor) => object.descriptor = descriptor,
            Err(error) => {
                let fault = error.fault().cloned().unwrap_or_else(|| Fault::misuse("pipeline", error.to_string()));
                let fault = fault.on(format!("object[{}]", self.objects.len() - 1));
                self.refuse(TensogramError::Encoding, fault);
            }
        }
        self
    }

    /// Changes the descriptor of the last object added. If there is none yet, encoding fails with `no_object_yet`.
    #[must_use]
    pub fn describe(mut self, change: impl FnOnce(DataObjectDescriptor) -> DataObjectDescriptor) -> Self {
        match self.objects.last_mut() {
            Some(object) => object.descriptor = change(std::mem::take(&mut object.descriptor)),
            None => self.refuse_without_object("descriptor"),
        }
        self
    }

    /// Sets the options.
    #[must_use]
    pub fn options(mut self, options: EncodeOptions) -> Self {
        self.options = options;
        self
    }

    /// Encodes the message.
    ///
    /// # Errors
    /// As [`encode`]; `Metadata` with the code `no_object_yet` if something was set before any object was added.
    pub fn encode(&self) -> Result<Vec<u8>> {
        if let Some(Refusal { class, fault }) = &self.refusal {
            return Err(class(fault.clone()));
        }
        let objects: Vec<ObjectInput<'_>> =
            self.objects.iter().map(|BuiltObject { descriptor, data }| ObjectInput { descriptor, data }).collect();
        encode(&self.metadata, &objects, &self.options)
    }

    fn refuse_without_object(&mut self, what: &str) {
        let message = format!("{what} set before any tensor or object was added");
        self.refuse(TensogramError::Metadata, Fault::misuse("no_object_yet", message));
    }

    fn refuse(&mut self, class: fn(Fault) -> TensogramError, fault: Fault) {
        self.refusal.get_or_insert(Refusal { class, fault });
    }
}
