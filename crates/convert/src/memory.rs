//! Tensors of a program as a tensor file, so that they are written by the code that writes conversions.

use crate::model::{Entry, PIECE, Pieces, TensorFile, cut};
use crate::{ConvertError, Format};
use fw_tensor::{DType, Selection};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Named tensors in memory: little endian, row-major.
///
/// ```
/// use fw_convert::{ConvertOptions, Format, MemoryTensors, open, write_tensors};
/// use fw_tensor::DType;
///
/// let mut tensors = MemoryTensors::new();
/// tensors.push("w", DType::Float32, &[2], 1.5f32.to_le_bytes().repeat(2))?;
/// tensors.set_metadata("step", "7");
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("m.safetensors");
/// let mut options = ConvertOptions::new();
/// options.format = Some(Format::SafeTensors);
/// write_tensors(&tensors, "memory", &path, &options)?;
/// assert_eq!(open(&path)?.entries()[0].name, "w");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct MemoryTensors<B = Vec<u8>> {
    entries: Vec<Entry>,
    names: HashSet<String>,
    data: Vec<B>,
    metadata: BTreeMap<String, String>,
    json_keys: BTreeSet<String>,
}

impl<B: AsRef<[u8]>> MemoryTensors<B> {
    /// None yet.
    pub fn new() -> Self {
        Self {
            entries: Vec::new(),
            names: HashSet::new(),
            data: Vec::new(),
            metadata: BTreeMap::new(),
            json_keys: BTreeSet::new(),
        }
    }

    /// Adds a tensor; its data is checked against its shape.
    ///
    /// # Errors
    /// `tensor_size_mismatch`, `duplicate_tensor_name`.
    pub fn push(&mut self, name: impl Into<String>, dtype: DType, shape: &[u64], data: B) -> Result<(), ConvertError> {
        let name = name.into();
        let (need, have) = (fw_tensor::byte_len(dtype, shape)?, data.as_ref().len());
        if need != have as u64 {
            let message = format!("tensor {name:?}: {dtype} of shape {shape:?} takes {need} bytes, have {have}");
            return Err(ConvertError::format("tensor_size_mismatch", message, None));
        }
        if !self.names.insert(name.clone()) {
            return Err(ConvertError::format("duplicate_tensor_name", format!("tensor {name:?} appears twice"), None));
        }
        self.entries.push(Entry::new(name, dtype, shape.to_vec(), None));
        self.data.push(data);
        Ok(())
    }

    /// Adds a text to the metadata of the file.
    pub fn set_metadata(&mut self, key: impl Into<String>, text: impl Into<String>) {
        self.metadata.insert(key.into(), text.into());
    }

    /// Adds a value to the metadata of the file, as the text of its JSON.
    pub fn set_metadata_json(&mut self, key: impl Into<String>, json: impl Into<String>) {
        let key = key.into();
        self.json_keys.insert(key.clone());
        self.metadata.insert(key, json.into());
    }

    fn held(&self, index: usize) -> Result<&[u8], ConvertError> {
        self.data.get(index).map(AsRef::as_ref).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))
    }
}

impl<B: AsRef<[u8]> + Send + Sync> TensorFile for MemoryTensors<B> {
    /// The format that holds every element type.
    fn format(&self) -> Format {
        Format::Tensogram
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        Some(&self.metadata).filter(|metadata| !metadata.is_empty())
    }

    fn json_keys(&self) -> &BTreeSet<String> {
        &self.json_keys
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        self.held(index)?.chunks(PIECE as usize).try_for_each(take)
    }

    fn data(&self, index: usize) -> Result<Vec<u8>, ConvertError> {
        Ok(self.held(index)?.to_vec())
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let data = self.held(index)?;
        cut(&self.entries[index], data, selection)
    }

    /// A program that names its tensors does not care which is written first.
    fn has_order(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_checked_and_read_back() {
        let mut tensors = MemoryTensors::new();
        let data: Vec<u8> = (0..12).collect();
        tensors.push("a", DType::UInt8, &[3, 4], data.clone()).unwrap();
        assert_eq!(tensors.push("b", DType::Float64, &[3], vec![0; 23]).unwrap_err().code(), "tensor_size_mismatch");
        assert_eq!(tensors.push("a", DType::UInt8, &[0], vec![]).unwrap_err().code(), "duplicate_tensor_name");
        assert_eq!(tensors.data(0).unwrap(), data);
        let column = fw_tensor::select![.., 1];
        assert_eq!(tensors.slice(0, &column).unwrap(), (vec![3], vec![1, 5, 9]));
        assert!(tensors.stream(1, &mut |_| Ok(())).is_err());
        assert_eq!(tensors.metadata(), None);
    }
}
