//! Files of weights from dicts and arrays.

use super::errors::{Class, Doing, fault, invalid};
use super::weights::FilePath;
use crate::buffer::{self, Input};
use crate::elements::{as_array, row_major};
use crate::interrupt::{Progress, released, reported};
use crate::{dtype, value};
use bytes::Bytes;
use framewright::bintensors::{BinTensorError, Dtype, Prepared, View, WriteOptions};
use framewright::tensor::ByteOrder;
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A file of tensors as bytes: `{name: {"dtype": …, "shape": …, "data": …}}`.
///
/// `digest` (`sha1`, `sha256` or `sha3-256`) adds a digest of each tensor to the metadata, for `verify`.
#[pyfunction]
#[pyo3(signature = (tensor_dict, metadata=None, *, digest=None))]
pub(crate) fn serialize<'py>(
    py: Python<'py>,
    tensor_dict: &Bound<'py, PyDict>,
    metadata: Option<BTreeMap<String, String>>,
    digest: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    to_bytes(py, described(tensor_dict)?, &options(py, metadata, digest)?)
}

/// The same to a file, which is replaced as a whole: `serialize_file(filename, tensor_dict)`. `progress` hears `(done, total)` in
/// bytes.
#[pyfunction]
#[pyo3(signature = (filename, tensor_dict, metadata=None, *, digest=None, progress=None))]
pub(crate) fn serialize_file(
    py: Python<'_>,
    filename: FilePath,
    tensor_dict: &Bound<'_, PyDict>,
    metadata: Option<BTreeMap<String, String>>,
    digest: Option<&str>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    to_file(py, described(tensor_dict)?, &options(py, metadata, digest)?, &filename, progress)
}

/// A file of arrays as bytes: `[(name, array)]`.
#[pyfunction]
#[pyo3(signature = (arrays, metadata=None, digest=None))]
pub(crate) fn save<'py>(
    py: Python<'py>,
    arrays: Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>,
    metadata: Option<BTreeMap<String, String>>,
    digest: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    to_bytes(py, of_arrays(&arrays)?, &options(py, metadata, digest)?)
}

/// The same to a file, which is replaced as a whole.
#[pyfunction]
#[pyo3(signature = (filename, arrays, metadata=None, digest=None, progress=None))]
pub(crate) fn save_file<'py>(
    py: Python<'py>,
    filename: FilePath,
    arrays: Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>,
    metadata: Option<BTreeMap<String, String>>,
    digest: Option<&str>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<()> {
    to_file(py, of_arrays(&arrays)?, &options(py, metadata, digest)?, &filename, progress)
}

/// One tensor to write.
struct Item {
    dtype: Dtype,
    shape: Vec<u64>,
    data: Bytes,
}

impl View for Item {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.data)
    }

    fn data_len(&self) -> u64 {
        self.data.len() as u64
    }
}

fn described(tensors: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Item)>> {
    let py = tensors.py();
    let item = |(name, tensor): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let tensor = tensor.cast_into::<PyDict>().map_err(|error| {
            let found = value::type_name(&error.into_inner());
            PyTypeError::new_err(format!("tensor {name:?}: 'dict' is needed, not '{found}'"))
        })?;
        let part = |key: &str| {
            let missing = || Class::Fault.error(py, format!("Missing `{key}` in tensor {name:?}"), "missing_key", None);
            tensor.get_item(key)?.ok_or_else(missing)
        };
        let (shape, dtype, data) = (part("shape")?, part("dtype")?, part("data")?);
        let shape: Vec<u64> = shape.extract()?;
        let dtype: Cow<'_, str> = dtype.extract()?;
        let dtype = dtype.parse::<Dtype>().map_err(|error| invalid(py, error.to_string()))?;
        let Input(data) = data.extract()?;
        Ok((name, Item { dtype, shape, data }))
    };
    tensors.iter().map(item).collect()
}

fn of_arrays(arrays: &[(Bound<'_, PyString>, Bound<'_, PyAny>)]) -> PyResult<Vec<(String, Item)>> {
    let item = |(name, given): &(Bound<'_, PyString>, Bound<'_, PyAny>)| {
        let (py, name) = (given.py(), name.to_str()?.to_owned());
        let not_covered = |found: &str| invalid(py, format!("dtype {found} is not covered (tensor {name:?})"));
        let Some(array) = as_array(given)? else { return Err(not_covered(&value::type_name(given))) };
        let numpy_type = array.dtype();
        let element = dtype::element_type(&numpy_type);
        let Some((element, dtype)) = element.and_then(|element| Some((element, Dtype::from_common(element)?))) else {
            return Err(not_covered(&numpy_type.to_string()));
        };
        let shape = array.shape().iter().map(|axis| *axis as u64).collect();
        let data = match array.len() {
            0 => Bytes::new(),
            _ => row_major(&array, element, ByteOrder::Little)?,
        };
        Ok((name, Item { dtype, shape, data }))
    };
    arrays.iter().map(item).collect()
}

fn options(py: Python<'_>, metadata: Option<BTreeMap<String, String>>, digest: Option<&str>) -> PyResult<WriteOptions> {
    let mut options = WriteOptions::new();
    options.metadata = metadata;
    if let Some(name) = digest {
        let algorithm = name.parse().map_err(|error: BinTensorError| invalid(py, error.detail()))?;
        options = options.with_tensor_digests(algorithm);
    }
    Ok(options)
}

fn to_bytes<'py>(py: Python<'py>, items: Vec<(String, Item)>, options: &WriteOptions) -> PyResult<Bound<'py, PyBytes>> {
    let wrong = |error| fault(py, Doing::Serializing, error);
    let prepared = released(py, || Prepared::new(items, options))?.map_err(wrong)?;
    let len = prepared.file_len();
    let too_large = || Class::Fault.error(py, format!("{len} bytes do not fit in memory"), "encode_error", None);
    let len = usize::try_from(len).map_err(|_| too_large())?;
    // Written where the object keeps it: no second copy.
    PyBytes::new_with(py, len, |mut room| released(py, || prepared.write(&mut room))?.map_err(wrong))
}

fn to_file(
    py: Python<'_>,
    items: Vec<(String, Item)>,
    options: &WriteOptions,
    path: &FilePath,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let written = reported(py, progress, |progress| {
        Prepared::new(items, options)?.write_file(&path.0, &Progress::watch(progress))
    })?;
    written.map_err(|error| fault(py, Doing::Serializing, error))
}

/// The bytes of a buffer, or the path of a file.
pub(super) enum PathOrBytes {
    Path(FilePath),
    Bytes(Bytes),
}

impl<'a, 'py> FromPyObject<'a, 'py> for PathOrBytes {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match buffer::shared(&object) {
            Ok(bytes) => Ok(Self::Bytes(bytes)),
            Err(_) => object.extract().map(Self::Path),
        }
    }
}
