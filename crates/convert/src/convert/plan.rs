//! What each tensor becomes in the target.

use crate::contract::{Carried, MetadataPlace, Planned, Storage, Target};
use crate::digests::Seal;
use crate::model::{Entry, TensorFile};
use crate::{ConvertError, ConvertOptions, Feature, Format, Loss, Missing, attributes};
use fw_tensor::DType;
use std::path::Path;

impl Target {
    /// An output without tensors.
    ///
    /// # Errors
    /// When the format is not written.
    pub(super) fn new(format: Format) -> Result<Self, ConvertError> {
        let writable = format.contract().writable()?;
        let (tensors, losses) = (Vec::new(), Vec::new());
        Ok(Self { format, writable, tensors, metadata: None, losses, seal: Seal::default() })
    }

    /// Plans the tensors and metadata of `source`.
    pub(super) fn plan(
        mut self,
        source: &dyn TensorFile,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Self, ConvertError> {
        self.metadata = source.metadata().cloned();
        for (index, entry) in source.entries().iter().enumerate() {
            // Sizes are written before data, so what cannot be read must be known before anything is written.
            if options.missing == Missing::Skip
                && let Err(error) = source.stream(index, &mut |_| Ok(()))
            {
                self.leave_out(&entry.name, error)?;
                continue;
            }
            self.add(index, entry, options.missing)?;
        }
        for array in source.unreadable() {
            if options.missing != Missing::Skip {
                return Err(array.error());
            }
            self.losses.push(Loss::new(Feature::Tensor, Some(array.name.clone()), array.what.clone()));
        }
        self.carry_metadata(source);
        self.note_order(source)?;
        let more = self.writable.check(&self, output)?;
        self.losses.extend(more);
        Ok(self)
    }

    /// Lists a tensor that cannot be read; a file that cannot be read is another matter.
    fn leave_out(&mut self, name: &str, error: ConvertError) -> Result<(), ConvertError> {
        if error.io().is_some_and(|error| error.kind() != std::io::ErrorKind::UnexpectedEof) {
            return Err(error);
        }
        self.losses.push(Loss::new(Feature::Tensor, Some(name.to_owned()), error.to_string()));
        Ok(())
    }

    fn add(&mut self, index: usize, entry: &Entry, missing: Missing) -> Result<(), ConvertError> {
        let len = entry.byte_len()?;
        let (name, shape) = (entry.name.clone(), entry.shape.clone());
        let mut planned = Planned { index, name, dtype: entry.dtype, shape, len, logical: None, is_raw: false };
        match self.writable.storage(entry)? {
            Storage::Native => {}
            Storage::Carried(Carried { dtype, shape, logical, metadata }) => {
                (planned.dtype, planned.shape, planned.logical) = (dtype, shape, logical);
                if !metadata.is_empty() {
                    self.metadata.get_or_insert_default().extend(metadata);
                }
            }
            Storage::Missing => {
                let what = format!("{} has no {}", self.format, entry.dtype);
                match missing {
                    Missing::Refuse => {
                        let message = format!("tensor {:?}: {what}", entry.name);
                        return Err(ConvertError::unsupported("no_counterpart", message));
                    }
                    Missing::Skip => {
                        self.losses.push(Loss::new(Feature::Tensor, Some(entry.name.clone()), what));
                        return Ok(());
                    }
                    Missing::Raw => {
                        (planned.dtype, planned.shape) = raw(entry)?;
                        planned.is_raw = true;
                        let what = format!("{what}; the bits are kept as {}", planned.dtype);
                        self.losses.push(Loss::new(Feature::Dtype, Some(entry.name.clone()), what));
                    }
                }
            }
        }
        self.tensors.push(planned);
        Ok(())
    }

    /// A source that a format has sorted says nothing by its order; any other order is lost where the target sorts.
    fn note_order(&mut self, source: &dyn TensorFile) -> Result<(), ConvertError> {
        if self.is_sorted()? || !source.has_order() {
            return Ok(());
        }
        // The order of a source that its own format made is that of its format.
        if let Ok(mut own) = Self::new(source.format()) {
            for (index, entry) in source.entries().iter().enumerate() {
                own.add(index, entry, Missing::Skip)?;
            }
            let tensors: Vec<&Planned> = own.tensors.iter().collect();
            if own.writable.order(&tensors)?.is_some_and(|order| order.is_sorted()) {
                return Ok(());
            }
        }
        let what = "tensors are sorted by type and name, as the format requires".to_owned();
        self.losses.push(Loss::new(Feature::Order, None, what));
        Ok(())
    }

    /// True when the target's format leaves the tensors in the order they have.
    fn is_sorted(&self) -> Result<bool, ConvertError> {
        let tensors: Vec<&Planned> = self.tensors.iter().collect();
        Ok(self.writable.order(&tensors)?.is_none_or(|order| order.is_sorted()))
    }

    /// What is said about the file and about single tensors: into the text map where there is one, into the values of a format
    /// that has them, or nowhere.
    fn carry_metadata(&mut self, source: &dyn TensorFile) {
        let place = self.writable.metadata_place();
        for tensor in &self.tensors {
            let Some(entry) = source.entries().get(tensor.index).filter(|entry| !entry.attributes.is_empty()) else {
                continue;
            };
            match place {
                MetadataPlace::TextMap => {
                    self.metadata.get_or_insert_default().extend(attributes::carried(entry));
                }
                MetadataPlace::Nowhere => {
                    let loss = |what| Loss::new(Feature::TensorMetadata, Some(entry.name.clone()), what);
                    self.losses.extend(attributes::lost(entry).map(loss));
                }
                MetadataPlace::Values => {}
            }
        }
        match place {
            MetadataPlace::TextMap => {
                if let Some((key, text)) = attributes::carried_keys(source.json_keys()) {
                    self.metadata.get_or_insert_default().insert(key, text);
                }
            }
            MetadataPlace::Nowhere => {
                if let Some(metadata) = self.metadata.take().filter(|metadata| !metadata.is_empty()) {
                    let keys: Vec<&str> = metadata.keys().map(String::as_str).collect();
                    self.losses.push(Loss::new(Feature::Metadata, None, keys.join(", ")));
                }
            }
            MetadataPlace::Values => {}
        }
    }
}

/// The bits of a tensor as unsigned integers.
fn raw(entry: &Entry) -> Result<(DType, Vec<u64>), ConvertError> {
    if entry.dtype == DType::BFloat16 {
        return Ok((DType::UInt16, entry.shape.clone()));
    }
    let bytes = fw_bintensors::carry(&entry.name, entry.dtype, &entry.shape)?;
    Ok((DType::UInt8, bytes.shape))
}
