//! npy and npz files, planned and written.

use super::npz::NpzWriter;
use super::{Npy, Npz, descr, encode_header};
use crate::contract::{MetadataPlace, Storage, Writable};
use crate::contract::{Output, Planned, Target, commit};
use crate::loss::Item;
use crate::model::Entry;
use crate::{ConvertError, Feature, Loss};
use std::io::Write;
use std::path::Path;

impl Writable for Npy {
    fn storage(&self, entry: &Entry) -> Result<Storage, ConvertError> {
        Ok(storage(entry))
    }

    fn metadata_place(&self) -> MetadataPlace {
        MetadataPlace::Nowhere
    }

    fn outcome(&self, item: Item) -> &'static str {
        match item {
            Item::Names => "lost",
            other => outcome(other),
        }
    }

    fn check(&self, target: &Target, output: &Path) -> Result<Vec<Loss>, ConvertError> {
        let [tensor] = &target.tensors[..] else {
            let message = format!("an npy file holds one array, the source has {}; write an npz", target.tensors.len());
            return Err(ConvertError::unsupported("one_array_only", message));
        };
        if output.file_stem().is_some_and(|stem| stem == tensor.name.as_str()) {
            return Ok(Vec::new());
        }
        let what = "an npy file stores no tensor name".to_owned();
        Ok(vec![Loss::new(Feature::Name, Some(tensor.name.clone()), what)])
    }

    fn write(&self, output: &mut Output<'_, '_>) -> Result<Vec<Loss>, ConvertError> {
        let mut out = output.create()?;
        for tensor in output.tensors() {
            out.write_all(&header(tensor)?)?;
            output.stream(tensor, |piece| Ok(out.write_all(piece)?))?;
        }
        commit(out)?;
        Ok(Vec::new())
    }
}

impl Writable for Npz {
    fn storage(&self, entry: &Entry) -> Result<Storage, ConvertError> {
        Ok(storage(entry))
    }

    fn metadata_place(&self) -> MetadataPlace {
        MetadataPlace::Nowhere
    }

    fn outcome(&self, item: Item) -> &'static str {
        outcome(item)
    }

    fn write(&self, output: &mut Output<'_, '_>) -> Result<Vec<Loss>, ConvertError> {
        let mut out = NpzWriter::create(output.path())?;
        for tensor in output.tensors() {
            out.begin(&tensor.name, &header(tensor)?, tensor.len)?;
            output.stream(tensor, |piece| out.put(piece))?;
        }
        out.finish()?;
        Ok(Vec::new())
    }
}

fn storage(entry: &Entry) -> Storage {
    if descr(entry.dtype).is_some() { Storage::Native } else { Storage::Missing }
}

fn outcome(item: Item) -> &'static str {
    match item {
        Item::Names | Item::Order | Item::NanBits | Item::HalfFinite => "kept",
        Item::EmptyMetadata => "dropped",
        Item::Metadata | Item::MetadataValues | Item::MetadataBeyondJson | Item::TensorMetadata => "lost",
    }
}

fn header(tensor: &Planned) -> Result<Vec<u8>, ConvertError> {
    let missing = || ConvertError::unsupported("no_counterpart", format!("NumPy has no {}", tensor.dtype));
    Ok(encode_header(descr(tensor.dtype).ok_or_else(missing)?, &tensor.shape))
}
