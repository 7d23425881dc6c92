//! `safe_open`: one tensor after the other.

use super::errors::{Class, Doing, any_fault, invalid, not_found};
use super::frameworks::{Device, Framework};
use super::load::{Mapping, one};
use super::slice::PySafeSlice;
use super::verify::verify_stored;
use super::weights::{Described, FilePath, Shared, Sharing, Weights};
use crate::html::{PICTURES, Row, SHOWN, page, thumbnail};
use crate::interrupt::released;
use framewright::tensor::{Selection, byte_len};
use pyo3::exceptions::PyIsADirectoryError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An open file of weights: BinTensors, safetensors, or an index of several of them.
///
/// `framework` says whose tensors are handed out: `np`, `pt`, `jax`, `mlx` or `tf`. With `mmap` they are views of a private map of
/// the file; the file must not be cut short while they live.
///
/// With `verify` a tensor that is handed out whole is compared with the digest that the file has of it first; one without a digest is
/// refused. Slices are never compared.
#[pyclass(frozen, mapping, module = "fwright.bintensors", name = "safe_open")]
pub(crate) struct SafeOpen {
    weights: Mutex<Option<Shared>>,
    path: PathBuf,
    framework: Framework,
    device: Device,
    mapping: Mapping,
    /// Whether whole tensors are compared with their digests.
    verify: bool,
}

impl SafeOpen {
    fn weights(&self, py: Python<'_>) -> PyResult<Shared> {
        let weights = self.weights.lock().unwrap_or_else(PoisonError::into_inner);
        weights.clone().ok_or_else(|| Class::Fault.error(py, "File is closed", "file_closed", None))
    }
}

#[pymethods]
impl SafeOpen {
    #[new]
    #[pyo3(
        signature = (filename, framework, device=None, *, mmap=true, verify=false),
        text_signature = "(filename, framework, device='cpu', *, mmap=True, verify=False)"
    )]
    fn new(
        py: Python<'_>,
        filename: FilePath,
        framework: &str,
        device: Option<&Bound<'_, PyAny>>,
        mmap: bool,
        verify: bool,
    ) -> PyResult<Self> {
        let (framework, device) = (Framework::of(py, framework)?, Device::of(device)?);
        device.check(py, framework)?;
        let weights = opened(py, &filename.0)?;
        if verify {
            weights.check_manifest().map_err(|error| any_fault(py, Doing::Verifying, error))?;
        }
        let mapping = if mmap { Mapping::Private } else { Mapping::None };
        Ok(Self { weights: Mutex::new(Some(Arc::new(weights))), path: filename.0, framework, device, mapping, verify })
    }

    /// The names of the tensors, sorted.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let weights = self.weights(py)?;
        let mut names = weights.names();
        names.sort_unstable();
        PyList::new(py, names)
    }

    /// The names of the tensors, in file order.
    fn offset_keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.weights(py)?.names())
    }

    /// The text map of the file; `None` when it has none.
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(metadata) = self.weights(py)?.metadata() else { return Ok(None) };
        metadata.into_pyobject(py).map(Some)
    }

    /// The whole tensor of a name.
    fn get_tensor<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let weights = self.weights(py)?;
        let described = weights.find(name).ok_or_else(|| not_found(py, name))?;
        if self.verify {
            let compared = released(py, || weights.compare(name, &described))?;
            compared.map_err(|error| any_fault(py, Doing::Verifying, error))?;
        }
        let sharing = if self.framework == Framework::Torch { Sharing::Together } else { Sharing::Apart };
        one(py, &weights, &described, self.framework, &self.device, self.mapping, sharing)
    }

    /// The tensor of a name, to be read in parts: `get_slice(name)[0:10, ::2]` reads only these elements.
    fn get_slice(&self, py: Python<'_>, name: &str) -> PyResult<PySafeSlice> {
        let weights = self.weights(py)?;
        let described = weights.find(name).ok_or_else(|| not_found(py, name))?;
        Ok(PySafeSlice::new(weights, described, self.framework, self.device.clone(), self.mapping))
    }

    /// Compares the digests that the file has of its tensors with their bytes, and returns how many there are. `progress` hears
    /// `(done, total)` in bytes.
    #[pyo3(signature = (*, progress=None))]
    fn verify(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
        verify_stored(py, &*self.weights(py)?, progress)
    }

    /// The name of the format: `bintensors`, `safetensors` or `shard index`.
    #[getter]
    fn format(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.weights(py)?.format())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.get_tensor(py, name)
    }

    fn __contains__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let weights = self.weights(py)?;
        Ok(name.extract::<std::borrow::Cow<'_, str>>().is_ok_and(|name| weights.contains(&name)))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.weights(py)?.len())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys(py)?.try_iter()
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        _exc_type: Option<Bound<'_, PyAny>>,
        _exc_value: Option<Bound<'_, PyAny>>,
        _traceback: Option<Bound<'_, PyAny>>,
    ) {
        *self.weights.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn __repr__(&self) -> String {
        let weights = self.weights.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = weights.map_or_else(|| "closed".to_owned(), |weights| format!("tensors={}", weights.len()));
        format!("safe_open({:?}, framework='{}', {state})", self.path, self.framework.name())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let weights = self.weights(py)?;
        let metadata = weights.metadata().unwrap_or_default();
        let said = metadata.iter().map(|(key, text)| (key.as_str(), text.clone()));
        let names = weights.names();
        let described: Vec<_> =
            names.iter().take(SHOWN).filter_map(|name| Some((*name, weights.find(name)?))).collect();
        let picture = |index: usize, name: &str, tensor: &Described| {
            let read = |selection: &Selection| weights.part(tensor, selection).ok();
            if index < PICTURES { thumbnail(name, tensor.dtype, &tensor.shape, read) } else { None }
        };
        let rows = described.iter().enumerate().map(|(index, (name, tensor))| Row {
            name,
            kind: tensor.type_name(),
            shape: &tensor.shape,
            bytes: byte_len(tensor.dtype, &tensor.shape).ok(),
            picture: picture(index, name, tensor).unwrap_or_default(),
        });
        released(py, || page(&self.path.display().to_string(), weights.format(), names.len(), said, rows))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, handle) = (slf.py(), slf.get());
        handle.weights(py)?;
        if handle.device != Device::Cpu {
            return Err(invalid(py, "only handles on the CPU can be pickled".to_owned()));
        }
        let mmap = handle.mapping == Mapping::Private;
        let arguments = (handle.path.as_os_str(), handle.framework.name(), "cpu", mmap, handle.verify);
        let open = py.import("fwright.bintensors._frameworks")?.getattr("reopen")?;
        Ok((open, arguments.into_pyobject(py)?))
    }
}

/// Opens a file of weights.
///
/// # Errors
/// `OSError` when it cannot be read, `BintensorError` when it is wrong.
pub(super) fn opened(py: Python<'_>, path: &Path) -> PyResult<Weights> {
    released(py, || Weights::open(path))?.map_err(|error| {
        if path.is_dir() {
            return PyIsADirectoryError::new_err(format!("{}: is a directory, not a file", path.display()));
        }
        any_fault(py, Doing::Opening, error)
    })
}
