//! An open GGUF file.

use super::header::{self, Header, Tensor};
use super::types::Form;
use crate::model::{Attributes, Entry, PIECE, Pieces, TensorFile, slice_range, stream_range};
use crate::{ConvertError, Feature, Format, Loss};
use fw_bytes::Span;
use fw_source::ReadAt;
use fw_tensor::{ByteOrder, DType, Selection};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct GgufFile<S> {
    source: S,
    pub(super) header: Header,
    entries: Vec<Entry>,
}

/// A file behind any source; opening reads its header only.
pub(super) fn open<S: ReadAt>(source: S) -> Result<GgufFile<S>, ConvertError> {
    let header = header::read(&source)?;
    let entries = header.tensors.iter().map(|tensor| entry(tensor, header.order)).collect();
    Ok(GgufFile { source, header, entries })
}

fn entry(tensor: &Tensor, order: ByteOrder) -> Entry {
    let (name, shape) = (tensor.name.clone(), tensor.shape.clone());
    match tensor.kind.form {
        Form::Plain(dtype) => {
            let direct = order == ByteOrder::Little || dtype.swap_unit() == 1;
            Entry::new(name, dtype, shape, direct.then_some(tensor.span))
        }
        Form::Decoded(_) => {
            let entry = Entry::new(name, DType::Float32, shape, None);
            Entry { block_type: Some(tensor.kind.name), ..entry }
        }
        Form::Blocks => {
            let mut attributes = Attributes::new();
            attributes.insert("gguf.type".to_owned(), tensor.kind.name.into());
            attributes.insert("gguf.shape".to_owned(), shape.into());
            if order == ByteOrder::Big {
                attributes.insert("gguf.byte_order".to_owned(), order.name().into());
            }
            let entry = Entry::new(name, DType::UInt8, tensor.byte_shape(), Some(tensor.span));
            Entry { attributes, block_type: Some(tensor.kind.name), ..entry }
        }
    }
}

impl<S: ReadAt + Send + Sync> GgufFile<S> {
    fn held(&self, index: usize) -> Result<(&Entry, &Tensor), ConvertError> {
        let held = self.entries.get(index).zip(self.header.tensors.get(index));
        held.ok_or_else(|| ConvertError::NotFound(format!("#{index}")))
    }

    /// Hands on what lies in a part of a tensor that begins and ends with a block: elements, little endian.
    fn elements(&self, tensor: &Tensor, part: Span, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        let order = self.header.order;
        match tensor.kind.form {
            Form::Plain(dtype) if order == ByteOrder::Big => {
                let mut swapped = Vec::new();
                // Pieces are a multiple of every unit long.
                stream_range(&self.source, part, &mut |piece| {
                    swapped.clear();
                    swapped.extend_from_slice(piece);
                    fw_tensor::swap_in_place(&mut swapped, dtype.swap_unit());
                    take(&swapped)
                })
            }
            Form::Plain(_) | Form::Blocks => stream_range(&self.source, part, take),
            Form::Decoded(decode) => {
                let block_len = tensor.kind.block_len;
                let step = (PIECE / DECODED_LEN).saturating_mul(block_len);
                let (mut start, mut decoded) = (part.start, Vec::new());
                let mut blocks = Vec::new();
                while start < part.end {
                    let end = start.saturating_add(step).min(part.end);
                    blocks.resize(usize::try_from(end.saturating_sub(start)).map_err(std::io::Error::other)?, 0);
                    self.source.read_exact_at(start, &mut blocks)?;
                    decoded.clear();
                    blocks.chunks_exact(block_len as usize).for_each(|block| decode(block, order, &mut decoded));
                    take(&decoded)?;
                    start = end;
                }
                Ok(())
            }
        }
    }
}

impl<S: ReadAt + Send + Sync> TensorFile for GgufFile<S> {
    fn format(&self) -> Format {
        Format::Gguf
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        Some(&self.header.metadata)
    }

    fn json_keys(&self) -> &BTreeSet<String> {
        &self.header.json_keys
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        let (_, tensor) = self.held(index)?;
        self.elements(tensor, tensor.span, take)
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let (entry, tensor) = self.held(index)?;
        if let Some(span) = entry.span {
            return slice_range(&self.source, entry, span, selection);
        }
        let plan = selection.plan(&entry.shape)?;
        let bounds = plan.bounds();
        // The blocks between the first and the last element that was asked for.
        let (count, len) = (tensor.kind.block_count, tensor.kind.block_len);
        let (first, last) = (bounds.start / count, bounds.end.div_ceil(count));
        let at = |block: u64| tensor.span.start.saturating_add(block.saturating_mul(len)).min(tensor.span.end);
        let mut data = Vec::new();
        self.elements(tensor, Span::new(at(first), at(last)), &mut |piece| {
            data.extend_from_slice(piece);
            Ok(())
        })?;
        let width = entry.dtype.byte_width().unwrap_or(1);
        let byte = |element: u64| (element.saturating_sub(first.saturating_mul(count)) as usize).saturating_mul(width);
        let mut taken = Vec::new();
        for run in plan.runs() {
            taken.extend_from_slice(data.get(byte(run.start)..byte(run.end)).unwrap_or(&[]));
        }
        Ok((plan.shape().to_vec(), taken))
    }

    fn remarks(&self) -> Vec<Loss> {
        let mut remarks = Vec::new();
        if !self.header.json_keys.is_empty() {
            let what = match self.header.json_keys.len() {
                1 => "1 value that is not text becomes JSON text".to_owned(),
                count => format!("{count} values that are not text become JSON text"),
            };
            remarks.push(Loss::new(Feature::MetadataForm, None, what));
        }
        for key in &self.header.lossy_keys {
            let what = format!("{key:?} becomes text: it has bytes that are not UTF-8, or numbers that are not finite");
            remarks.push(Loss::new(Feature::Metadata, None, what));
        }
        for tensor in &self.header.tensors {
            if let Form::Decoded(_) = tensor.kind.form {
                remarks.push(Loss::decoded(tensor.kind.name, &tensor.name));
            }
        }
        remarks
    }
}

/// Bytes of a decoded block.
const DECODED_LEN: u64 = super::blocks::COUNT as u64 * 4;
