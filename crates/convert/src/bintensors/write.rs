//! BinTensors files, planned and written.

use super::BinTensors;
use crate::contract::{Carried, MetadataPlace, Output, Planned, Storage, Takes, Writable};
use crate::loss::Item;
use crate::model::Entry;
use crate::{ConvertError, Loss};
use fw_bintensors::{Dtype, Plan, Shape, WriteOptions, carry};
use std::collections::HashMap;

impl Writable for BinTensors {
    fn storage(&self, entry: &Entry) -> Result<Storage, ConvertError> {
        if Dtype::from_common(entry.dtype).is_some() {
            return Ok(Storage::Native);
        }
        let carried = carry(&entry.name, entry.dtype, &entry.shape)?;
        Ok(Storage::Carried(Carried {
            dtype: carried.dtype.common(),
            shape: carried.shape,
            logical: None,
            metadata: carried.entries,
        }))
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
        let plan = Plan::new(infos(tensors), &WriteOptions::new())?;
        Ok(Some(places(&plan, tensors)))
    }

    fn takes(&self) -> Takes {
        Takes { alignment: true, digests: true, shards: true }
    }

    fn write(&self, output: &mut Output<'_, '_>) -> Result<Vec<Loss>, ConvertError> {
        let mut options = WriteOptions::new().with_align(output.options().align);
        options.metadata = output.metadata();
        let tensors = output.tensors();
        let plan = Plan::new(infos(&tensors), &options)?;
        output.put_behind(plan.head(), &places(&plan, &tensors))?;
        Ok(Vec::new())
    }
}

/// The tensors as a plan takes them; every type was mapped before.
fn infos(tensors: &[&Planned]) -> Vec<(String, Dtype, Shape)> {
    let info = |tensor: &&Planned| {
        Some((tensor.name.clone(), Dtype::from_common(tensor.dtype)?, Shape::from(&tensor.shape[..])))
    };
    tensors.iter().filter_map(info).collect()
}

/// Where the tensors of a plan stand among those it was made from.
fn places(plan: &Plan, tensors: &[&Planned]) -> Vec<usize> {
    let known: HashMap<&str, usize> =
        tensors.iter().enumerate().map(|(place, tensor)| (tensor.name.as_str(), place)).collect();
    plan.tensors().iter().filter_map(|tensor| known.get(tensor.name.as_str()).copied()).collect()
}
