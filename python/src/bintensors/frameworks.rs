//! What a tensor becomes, and on which device.

use super::errors::invalid;
use super::weights::Described;
use crate::array::{self, Layout, Pages};
use framewright::tensor::{ByteOrder, DType};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};
use std::ops::Range;

/// The library whose arrays are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framework {
    Numpy,
    Torch,
    Tensorflow,
    Flax,
    Mlx,
}

impl Framework {
    /// By any of its names.
    ///
    /// # Errors
    /// `BintensorError` for other names.
    pub(super) fn of(py: Python<'_>, name: &str) -> PyResult<Self> {
        Ok(match name {
            "np" | "numpy" => Self::Numpy,
            "pt" | "torch" | "pytorch" => Self::Torch,
            "tf" | "tensorflow" => Self::Tensorflow,
            "jax" | "flax" => Self::Flax,
            "mlx" => Self::Mlx,
            _ => {
                let words = "use np, pt, jax, mlx or tf";
                return Err(invalid(py, format!("framework {name} is invalid: {words}")));
            }
        })
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Numpy => "numpy",
            Self::Torch => "torch",
            Self::Tensorflow => "tensorflow",
            Self::Flax => "flax",
            Self::Mlx => "mlx",
        }
    }

    /// A tensor of this library, on an array of NumPy that nobody else holds.
    ///
    /// # Errors
    /// When the library is not installed or lacks the element type.
    pub(super) fn wrap<'py>(self, array: Bound<'py, PyAny>, dtype: &str) -> PyResult<Bound<'py, PyAny>> {
        if self == Self::Numpy {
            return Ok(array);
        }
        let py = array.py();
        let module = py.import(intern!(py, "fwright.bintensors._frameworks"))?;
        module.call_method1(intern!(py, "wrap"), (self.name(), array, dtype))
    }

    /// The elements in a privately mapped file as a tensor of this library.
    ///
    /// # Errors
    /// As [`wrap`](Self::wrap).
    pub(super) fn on_pages<'py>(
        self,
        described: &Described,
        pages: &Bound<'py, Pages>,
        part: Range<usize>,
        device: &Device,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = pages.py();
        if self == Self::Torch {
            let bytes = Layout { dtype: DType::UInt8, order: ByteOrder::Little, shape: &[part.len() as u64] };
            return torch(described, array::private(py, &bytes, pages, part)?, device);
        }
        let array = array::private(py, &described.layout(), pages, part)?;
        self.wrap(array, described.type_name())
    }

    /// Elements of their own as a tensor of this library.
    ///
    /// # Errors
    /// As [`wrap`](Self::wrap).
    pub(super) fn on_elements<'py>(
        self,
        py: Python<'py>,
        described: &Described,
        elements: Vec<u8>,
        device: &Device,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self == Self::Torch {
            let bytes = Layout { dtype: DType::UInt8, order: ByteOrder::Little, shape: &[elements.len() as u64] };
            return torch(described, array::owned(py, &bytes, elements)?, device);
        }
        self.wrap(array::owned(py, &described.layout(), elements)?, described.type_name())
    }
}

/// A tensor of PyTorch on an array of bytes: one storage for each tensor.
fn torch<'py>(described: &Described, bytes: Bound<'py, PyAny>, device: &Device) -> PyResult<Bound<'py, PyAny>> {
    let py = bytes.py();
    let module = py.import(intern!(py, "fwright.bintensors._frameworks"))?;
    let shape = PyTuple::new(py, described.shape.iter())?;
    module.call_method1(intern!(py, "torch_tensor"), (bytes, described.type_name(), shape, device.argument(py)?))
}

/// Where tensors go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Device {
    Cpu,
    /// A name that PyTorch understands, such as `cuda:1`.
    Named(String),
    /// A number: the accelerator that PyTorch uses by default.
    Number(u64),
}

impl Device {
    /// From an argument: a name, a number, a `torch.device`, or `None` for the CPU.
    ///
    /// # Errors
    /// `BintensorError` for anything else, `ValueError` for an index that is not a number.
    pub(super) fn of(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(argument) = argument.filter(|argument| !argument.is_none()) else { return Ok(Self::Cpu) };
        let py = argument.py();
        let wrong = || invalid(py, format!("device {argument} is invalid"));
        if argument.is_instance_of::<PyInt>() {
            return argument.extract().map(Self::Number).map_err(|_| wrong());
        }
        let is_torch = argument.get_type().fully_qualified_name()? == "torch.device";
        let name = match argument.cast::<PyString>() {
            Ok(name) => name.to_str()?.to_owned(),
            Err(_) if is_torch => argument.str()?.to_str()?.to_owned(),
            Err(_) => return Err(wrong()),
        };
        let (kind, index) = name.split_once(':').map_or((name.as_str(), None), |(kind, index)| (kind, Some(index)));
        match (kind, index) {
            ("cpu", None) => Ok(Self::Cpu),
            ("cpu", Some("0")) if is_torch => Ok(Self::Cpu),
            ("mps", None) => Ok(Self::Named(name)),
            ("cuda" | "npu" | "xpu" | "xla" | "mlu" | "hpu", index) => {
                let index: u64 = index.unwrap_or("0").parse().map_err(|_| {
                    PyValueError::new_err(format!("device {name:?}: the index after the colon must be a number"))
                })?;
                Ok(Self::Named(format!("{kind}:{index}")))
            }
            _ => Err(wrong()),
        }
    }

    /// Only PyTorch takes other devices than the CPU.
    ///
    /// # Errors
    /// `BintensorError` for others.
    pub(super) fn check(&self, py: Python<'_>, framework: Framework) -> PyResult<()> {
        if *self == Self::Cpu || framework == Framework::Torch {
            return Ok(());
        }
        let shown = match self {
            Self::Cpu => "cpu".to_owned(),
            Self::Named(name) => name.clone(),
            Self::Number(number) => number.to_string(),
        };
        Err(invalid(py, format!("device {shown} is not supported for framework {}", framework.name())))
    }

    pub(super) fn argument<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match self {
            Self::Cpu => None,
            Self::Named(name) => Some(PyString::new(py, name).into_any()),
            Self::Number(number) => Some(number.into_pyobject(py)?.into_any()),
        })
    }
}
