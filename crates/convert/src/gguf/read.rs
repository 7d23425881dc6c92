//! An open GGUF file.

use super::blocks::Decode;
use super::header::{self, Header, Tensor};
use super::types::Form;
use crate::model::{Attributes, Entry, PIECE, Pieces, TensorFile, slice_range, stream_range};
use crate::{ConvertError, Feature, Format, Loss};
use fw_bytes::Span;
use fw_source::plan::union;
use fw_source::{Buffers, ReadAt};
use fw_tensor::{ByteOrder, DType, Selection, SlicePlan};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

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

    /// Hands on the elements of a tensor, little endian.
    fn elements(&self, tensor: &Tensor, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        let order = self.header.order;
        match tensor.kind.form {
            Form::Plain(dtype) if order == ByteOrder::Big => {
                let mut swapped = Vec::new();
                // Pieces are a multiple of every unit long.
                stream_range(&self.source, tensor.span, &mut |piece| {
                    swapped.clear();
                    swapped.extend_from_slice(piece);
                    fw_tensor::swap_in_place(&mut swapped, dtype.swap_unit());
                    take(&swapped)
                })
            }
            Form::Plain(_) | Form::Blocks => stream_range(&self.source, tensor.span, take),
            Form::Decoded(decode) => {
                let mut decoding = Decoding::new(tensor, decode, order);
                stream_range(&self.source, tensor.span, &mut |piece| decoding.push(piece, take))
            }
        }
    }

    /// Elements of a selection out of decoded blocks, in its order. Only blocks that hold some of them are read, by one plan.
    fn decoded_part(&self, tensor: &Tensor, plan: &SlicePlan, decode: Decode) -> Result<Vec<u8>, ConvertError> {
        let (count, len) = (tensor.kind.block_count, tensor.kind.block_len);
        let place = |block: u64| tensor.span.start.saturating_add(block.saturating_mul(len)).min(tensor.span.end);
        let blocks_of = |run: &Range<u64>| Span::new(place(run.start / count), place(run.end.div_ceil(count)));
        let mut wanted: Vec<Span> = Vec::new();
        for blocks in plan.runs().map(|run| blocks_of(&run)) {
            match wanted.last_mut() {
                // Runs may go either way.
                Some(last) if blocks.start <= last.end && last.start <= blocks.end => {
                    *last = Span::new(last.start.min(blocks.start), last.end.max(blocks.end));
                }
                _ => wanted.push(blocks),
            }
        }
        let mut buffers = Buffers::new();
        for (start, bytes) in self.source.read_many(&union(&wanted))? {
            buffers.insert(start, bytes);
        }
        let mut taken = Vec::new();
        // Neighbouring runs often lie in one block.
        let (mut block, mut decoded) = (Span::default(), Vec::new());
        for run in plan.runs() {
            let encoded = buffers.get(blocks_of(&run)).unwrap_or(&[]);
            for (number, bytes) in (run.start / count..).zip(encoded.chunks_exact(len as usize)) {
                let first = number.saturating_mul(count);
                let (from, to) = (run.start.max(first), run.end.min(first.saturating_add(count)));
                if to.saturating_sub(from) == count {
                    decode(bytes, self.header.order, &mut taken);
                    continue;
                }
                let at = Span::new(place(number), place(number.saturating_add(1)));
                if block != at {
                    decoded.clear();
                    decode(bytes, self.header.order, &mut decoded);
                    block = at;
                }
                let byte = |element: u64| (element.saturating_sub(first) as usize).saturating_mul(DECODED_WIDTH);
                taken.extend_from_slice(decoded.get(byte(from)..byte(to)).unwrap_or(&[]));
            }
        }
        Ok(taken)
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
        self.elements(tensor, take)
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let (entry, tensor) = self.held(index)?;
        match tensor.kind.form {
            Form::Plain(dtype) => {
                let (shape, mut data) = slice_range(&self.source, entry, tensor.span, selection)?;
                if self.header.order == ByteOrder::Big {
                    fw_tensor::swap_in_place(&mut data, dtype.swap_unit());
                }
                Ok((shape, data))
            }
            Form::Blocks => slice_range(&self.source, entry, tensor.span, selection),
            Form::Decoded(decode) => {
                let plan = selection.plan(&entry.shape)?;
                let data = self.decoded_part(tensor, &plan, decode)?;
                Ok((plan.shape().to_vec(), data))
            }
        }
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

/// Blocks on their way to elements. Pieces of a file end anywhere in a block.
struct Decoding {
    decode: Decode,
    order: ByteOrder,
    block_len: usize,
    /// The beginning of a block.
    begun: Vec<u8>,
    decoded: Vec<u8>,
}

impl Decoding {
    fn new(tensor: &Tensor, decode: Decode, order: ByteOrder) -> Self {
        let block_len = tensor.kind.block_len as usize;
        Self { decode, order, block_len, begun: Vec::new(), decoded: Vec::new() }
    }

    fn push(&mut self, mut piece: &[u8], take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        if !self.begun.is_empty() {
            let lacking = self.block_len.saturating_sub(self.begun.len()).min(piece.len());
            let (end, rest) = piece.split_at(lacking);
            self.begun.extend_from_slice(end);
            piece = rest;
            if self.begun.len() < self.block_len {
                return Ok(());
            }
            let block = std::mem::take(&mut self.begun);
            self.hand_on(&block, take)?;
        }
        let (whole, rest) = piece.split_at(piece.len().saturating_sub(piece.len() % self.block_len));
        for blocks in whole.chunks(self.block_len.saturating_mul(DECODED_TOGETHER)) {
            self.hand_on(blocks, take)?;
        }
        self.begun.extend_from_slice(rest);
        Ok(())
    }

    fn hand_on(&mut self, blocks: &[u8], take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        self.decoded.clear();
        blocks.chunks_exact(self.block_len).for_each(|block| (self.decode)(block, self.order, &mut self.decoded));
        take(&self.decoded)
    }
}

/// Bytes of a decoded element.
const DECODED_WIDTH: usize = 4;
/// Blocks that are decoded before their elements are handed on.
const DECODED_TOGETHER: usize = PIECE as usize / (super::blocks::COUNT * DECODED_WIDTH);
