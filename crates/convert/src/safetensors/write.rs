//! safetensors files, planned and written.

use super::SafeTensors;
use super::dtype::safetensors_name;
use super::layout::{Layout, layout};
use crate::contract::{MetadataPlace, Output, Planned, Storage, Takes, Writable};
use crate::loss::Item;
use crate::model::Entry;
use crate::{ConvertError, Loss};
use fw_bintensors::HeaderAlignment;
use fw_tensor::DType;
use std::collections::BTreeMap;

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
        Ok(Some(laid_out(tensors, None, HeaderAlignment::default())?.order))
    }

    fn takes(&self) -> Takes {
        Takes { alignment: true, digests: true, shards: true }
    }

    fn write(&self, output: &mut Output<'_, '_>) -> Result<Vec<Loss>, ConvertError> {
        let layout = laid_out(&output.tensors(), output.metadata().as_ref(), output.options().align)?;
        output.put_behind(&layout.head, &layout.order)?;
        Ok(Vec::new())
    }
}

fn laid_out(
    tensors: &[&Planned],
    metadata: Option<&BTreeMap<String, String>>,
    align: HeaderAlignment,
) -> Result<Layout, ConvertError> {
    let tensors: Vec<(&str, DType, &[u64])> =
        tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.dtype, &tensor.shape[..])).collect();
    layout(&tensors, metadata, align)
}
