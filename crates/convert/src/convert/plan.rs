//! What each tensor becomes in the target.

use super::{ConvertOptions, Missing};
use crate::model::{Entry, TensorFile};
use crate::{ConvertError, Feature, Format, Loss, attributes, numpy, safetensors, tensogram};
use fw_bintensors::{Dtype, Plan, Shape, WriteOptions, carry};
use fw_tensor::DType;
use std::collections::BTreeMap;
use std::path::Path;

/// A planned output.
pub(super) struct Target {
    pub(super) format: Format,
    pub(super) tensors: Vec<Planned>,
    pub(super) metadata: Option<BTreeMap<String, String>>,
    pub(super) losses: Vec<Loss>,
}

/// One tensor of it.
pub(super) struct Planned {
    /// Place in the source.
    pub(super) index: usize,
    pub(super) name: String,
    /// As the target stores it.
    pub(super) dtype: DType,
    pub(super) shape: Vec<u64>,
    pub(super) len: u64,
    /// What a Tensogram object that carries bytes stands for.
    pub(super) logical: Option<(DType, Vec<u64>)>,
}

impl Target {
    pub(super) fn plan(
        source: &dyn TensorFile,
        format: Format,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Self, ConvertError> {
        let mut target = Self { format, tensors: Vec::new(), metadata: source.metadata().cloned(), losses: Vec::new() };
        for (index, entry) in source.entries().iter().enumerate() {
            target.add(index, entry, options.missing)?;
        }
        for array in source.unreadable() {
            if options.missing != Missing::Skip {
                let message = format!("array {:?}: {}; it can only be left out", array.name, array.what);
                return Err(ConvertError::unsupported("not_a_tensor", message));
            }
            target.losses.push(Loss::new(Feature::Tensor, Some(array.name.clone()), array.what.clone()));
        }
        target.carry_attributes(source);
        match format {
            Format::BinTensors | Format::SafeTensors => {
                if let Some((key, text)) = attributes::carried_keys(source.json_keys()) {
                    target.metadata.get_or_insert_default().insert(key, text);
                }
                target.note_order(source)?;
            }
            Format::Npy | Format::Npz => target.note_numpy(output)?,
            Format::Tensogram => {}
            Format::ShardIndex => {
                let message =
                    "an index is written beside split files: name the output .bt or .safetensors and give a shard size";
                return Err(ConvertError::unsupported("unknown_format", message));
            }
        }
        Ok(target)
    }

    fn add(&mut self, index: usize, entry: &Entry, missing: Missing) -> Result<(), ConvertError> {
        let len = entry.byte_len()?;
        let bits = u128::from(fw_tensor::element_count(&entry.shape)?) * u128::from(entry.dtype.bits());
        let native = match self.format {
            Format::BinTensors => Dtype::from_common(entry.dtype).is_some(),
            Format::Tensogram => tensogram::has(entry.dtype),
            Format::SafeTensors => safetensors::type_name(entry.dtype).is_some() && bits % 8 == 0,
            _ => numpy::descr(entry.dtype).is_some(),
        };
        let (name, shape) = (entry.name.clone(), entry.shape.clone());
        let mut planned = Planned { index, name, dtype: entry.dtype, shape, len, logical: None };
        if native {
            self.tensors.push(planned);
            return Ok(());
        }
        if self.format == Format::Tensogram {
            let stored = tensogram::stored_shape(entry.dtype, &entry.shape)?;
            planned.logical = Some((entry.dtype, std::mem::replace(&mut planned.shape, stored)));
            planned.dtype = DType::UInt8;
            self.tensors.push(planned);
            return Ok(());
        }
        let carried = carry(&entry.name, entry.dtype, &entry.shape)?;
        if self.format == Format::BinTensors {
            self.metadata.get_or_insert_default().extend(carried.entries);
            (planned.dtype, planned.shape) = (carried.dtype.common(), carried.shape);
            self.tensors.push(planned);
            return Ok(());
        }
        let what = format!("{} has no {}", self.format, entry.dtype);
        match missing {
            Missing::Refuse => {
                let message =
                    format!("tensor {:?}: {what}; its raw bits can be kept, or it can be left out", entry.name);
                return Err(ConvertError::unsupported("no_counterpart", message));
            }
            Missing::Skip => self.losses.push(Loss::new(Feature::Tensor, Some(entry.name.clone()), what)),
            Missing::Raw => {
                (planned.dtype, planned.shape) = match entry.dtype {
                    DType::BFloat16 => (DType::UInt16, entry.shape.clone()),
                    _ => (DType::UInt8, carried.shape),
                };
                let what = format!("{what}; the bits are kept as {}", planned.dtype);
                self.losses.push(Loss::new(Feature::Dtype, Some(entry.name.clone()), what));
                self.tensors.push(planned);
            }
        }
        Ok(())
    }

    /// A source that a format has sorted says nothing by its order; any other order is lost where the target sorts.
    fn note_order(&mut self, source: &dyn TensorFile) -> Result<(), ConvertError> {
        let sorts = |format| matches!(format, Format::BinTensors | Format::SafeTensors);
        if self.is_sorted()? || source.format() == Format::ShardIndex {
            return Ok(());
        }
        if sorts(source.format()) {
            let mut own = Self { format: source.format(), tensors: Vec::new(), metadata: None, losses: Vec::new() };
            for (index, entry) in source.entries().iter().enumerate() {
                own.add(index, entry, Missing::Skip)?;
            }
            if own.is_sorted()? {
                return Ok(());
            }
        }
        let what = "tensors are sorted by type and name, as the format wants it".to_owned();
        self.losses.push(Loss::new(Feature::Order, None, what));
        Ok(())
    }

    /// True when the target's format leaves the tensors in the order they have.
    fn is_sorted(&self) -> Result<bool, ConvertError> {
        if self.format == Format::BinTensors {
            let plan = self.bintensors(None, &WriteOptions::new())?;
            return Ok(plan.tensors().iter().map(|tensor| &tensor.name).eq(self.tensors.iter().map(|own| &own.name)));
        }
        Ok(self.safetensors(None)?.order.is_sorted())
    }

    /// What is said about single tensors: into the text map where there is one, into the objects of a message, or nowhere.
    fn carry_attributes(&mut self, source: &dyn TensorFile) {
        for tensor in &self.tensors {
            let Some(entry) = source.entries().get(tensor.index).filter(|entry| !entry.attributes.is_empty()) else {
                continue;
            };
            match self.format {
                Format::BinTensors | Format::SafeTensors => {
                    self.metadata.get_or_insert_default().extend(attributes::carried(entry));
                }
                Format::Npy | Format::Npz => {
                    let loss = |what| Loss::new(Feature::TensorMetadata, Some(entry.name.clone()), what);
                    self.losses.extend(attributes::lost(entry).map(loss));
                }
                _ => {}
            }
        }
    }

    fn note_numpy(&mut self, output: &Path) -> Result<(), ConvertError> {
        if let Some(metadata) = self.metadata.take().filter(|metadata| !metadata.is_empty()) {
            let keys: Vec<&str> = metadata.keys().map(String::as_str).collect();
            self.losses.push(Loss::new(Feature::Metadata, None, keys.join(", ")));
        }
        if self.format == Format::Npz {
            return Ok(());
        }
        let [tensor] = &self.tensors[..] else {
            let message = format!("an npy file holds one array, the source has {}; write an npz", self.tensors.len());
            return Err(ConvertError::unsupported("one_array_only", message));
        };
        if output.file_stem().is_none_or(|stem| stem != tensor.name.as_str()) {
            let what = "an npy file has no name but its own".to_owned();
            self.losses.push(Loss::new(Feature::Name, Some(tensor.name.clone()), what));
        }
        Ok(())
    }

    /// The tensors of one shard, or all of them.
    pub(super) fn group(&self, group: Option<&[usize]>) -> Vec<&Planned> {
        match group {
            Some(places) => places.iter().filter_map(|place| self.tensors.get(*place)).collect(),
            None => self.tensors.iter().collect(),
        }
    }

    pub(super) fn bintensors(&self, group: Option<&[usize]>, options: &WriteOptions) -> Result<Plan, ConvertError> {
        Ok(Plan::new(self.infos(group), options)?)
    }

    /// The tensors as a BinTensors plan takes them; every type was mapped before.
    pub(super) fn infos(&self, group: Option<&[usize]>) -> Vec<(String, Dtype, Shape)> {
        let info = |tensor: &Planned| {
            Some((tensor.name.clone(), Dtype::from_common(tensor.dtype)?, Shape::from(&tensor.shape[..])))
        };
        self.group(group).into_iter().filter_map(info).collect()
    }

    pub(super) fn safetensors(&self, group: Option<&[usize]>) -> Result<safetensors::Layout, ConvertError> {
        let tensors: Vec<(&str, DType, &[u64])> = self
            .group(group)
            .into_iter()
            .map(|tensor| (tensor.name.as_str(), tensor.dtype, &tensor.shape[..]))
            .collect();
        safetensors::layout(&tensors, self.metadata_of(group).as_ref())
    }

    /// The metadata of one shard: entries about carried types go with their tensors.
    pub(super) fn metadata_of(&self, group: Option<&[usize]>) -> Option<BTreeMap<String, String>> {
        let mut metadata = self.metadata.clone()?;
        if group.is_some() {
            let held: std::collections::HashSet<&str> =
                self.group(group).into_iter().map(|tensor| tensor.name.as_str()).collect();
            let all: std::collections::HashSet<&str> = self.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
            metadata.retain(|key, _| {
                let name = PER_TENSOR.iter().find_map(|prefix| key.strip_prefix(prefix));
                name.is_none_or(|name| held.contains(name) || !all.contains(name))
            });
        }
        Some(metadata)
    }
}

/// Entries of the text map that are about one tensor.
const PER_TENSOR: [&str; 4] = [
    fw_bintensors::DTYPE_KEY_PREFIX,
    fw_bintensors::SHAPE_KEY_PREFIX,
    fw_bintensors::HASH_KEY_PREFIX,
    attributes::PREFIX,
];
