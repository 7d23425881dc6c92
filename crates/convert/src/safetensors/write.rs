//! safetensors files, planned and written.

use super::SafeTensors;
use super::dtype::safetensors_name;
use super::layout::{Layout, layout};
use crate::contract::{Head, MetadataPlace, Storage, Takes, Writable};
use crate::contract::{Output, Planned, Target, commit};
use crate::loss::Item;
use crate::model::Entry;
use crate::{ConvertError, ConvertOptions, Loss};
use fw_tensor::DType;
use std::collections::BTreeMap;
use std::io::Write;

impl Writable for SafeTensors {
    fn storage(&self, entry: &Entry) -> Result<Storage, ConvertError> {
        let bits = u128::from(fw_tensor::element_count(&entry.shape)?) * u128::from(entry.dtype.bits());
        let held = safetensors_name(entry.dtype).is_some() && bits.is_multiple_of(8);
        Ok(if held { Storage::Native } else { Storage::Missing })
    }

    fn metadata_place(&self) -> MetadataPlace {
        MetadataPlace::TextMap
    }

    fn outcome(&self, item: Item) -> &'static str {
        match item {
            Item::Names | Item::Metadata | Item::EmptyMetadata | Item::NanBits | Item::HalfFinite => "kept",
            Item::MetadataValues | Item::TensorMetadata => "carried",
            Item::MetadataBeyondJson => "as text, type lost",
            Item::Order => "lost",
        }
    }

    fn order(&self, tensors: &[&Planned]) -> Result<Option<Vec<usize>>, ConvertError> {
        Ok(Some(laid_out(tensors, None)?.order))
    }

    fn takes(&self) -> Takes {
        Takes { shards: true, digests: true, ..Takes::default() }
    }

    fn head(&self, target: &Target, _options: &ConvertOptions) -> Result<Option<Head>, ConvertError> {
        let layout = laid_out(&target.group(None), target.metadata_of(None).as_ref())?;
        Ok(Some(Head { bytes: layout.head, order: layout.order, data_len: layout.data_len }))
    }

    fn write(&self, output: &mut Output<'_, '_>) -> Result<Vec<Loss>, ConvertError> {
        let tensors = output.tensors();
        let layout = laid_out(&tensors, output.metadata().as_ref())?;
        let mut out = output.create()?;
        out.write_all(&layout.head)?;
        for tensor in layout.order.iter().filter_map(|place| tensors.get(*place)) {
            output.stream(tensor, |piece| Ok(out.write_all(piece)?))?;
        }
        commit(out)?;
        Ok(Vec::new())
    }
}

fn laid_out(tensors: &[&Planned], metadata: Option<&BTreeMap<String, String>>) -> Result<Layout, ConvertError> {
    let tensors: Vec<(&str, DType, &[u64])> =
        tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.dtype, &tensor.shape[..])).collect();
    layout(&tensors, metadata)
}
