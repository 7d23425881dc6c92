//! A compiled schema.

use super::columns::{Columns, columns};
use super::decoder::PyDecoder;
use super::describe::{enums, messages};
use super::errors::{frame_error, request_error, schema_error};
use super::value::from_python;
use crate::buffer::Input;
use framewright::dynamic::{Codec, EnumStyle, FrameCodec, Strictness, detect, message_infos};
use framewright::schema::layout::Message;
use framewright::schema::{Compilation, Disk, Memory, Options, Schema, Variable, check_with};
use framewright::structframe::{Framing, Header, MessageInfo};
use pyo3::exceptions::{PyFileNotFoundError, PyIsADirectoryError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A compiled schema: the native half of `fwright.structframe.Schema`.
#[pyclass(frozen, module = "fwright.structframe", name = "Schema")]
pub(crate) struct PySchema {
    pub(super) schema: Arc<Schema>,
    pub(super) infos: Arc<[MessageInfo]>,
}

impl PySchema {
    fn new(py: Python<'_>, compiled: Compilation) -> PyResult<Self> {
        let schema = compiled.into_result().map_err(|faults| schema_error(py, &faults))?;
        Ok(Self { infos: message_infos(&schema).into(), schema: Arc::new(schema) })
    }

    fn message(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<&Message> {
        let found = match key.cast::<PyString>() {
            Ok(name) => self.schema.find(name.to_str()?),
            Err(_) if key.is_instance_of::<PyInt>() => key.extract().ok().and_then(|id| self.schema.by_id(id)),
            Err(_) => None,
        };
        found.ok_or_else(|| request_error(py, format!("the schema has no message {}", quoted(key)), "unknown_message"))
    }
}

fn quoted(key: &Bound<'_, PyAny>) -> String {
    key.repr().map_or_else(|_| "of that name".to_owned(), |text| text.to_string())
}

fn options(packed: bool) -> Options {
    Options::default().with_variable(if packed { Variable::AsDeclared } else { Variable::All })
}

/// The framing of a name.
///
/// # Errors
/// `FrameError` with the code `unknown_profile`.
pub(super) fn framing(py: Python<'_>, name: &str) -> PyResult<Framing> {
    name.parse().map_err(|error| request_error(py, format!("profile {name:?}: {error}"), "unknown_profile"))
}

/// How enums are shown: `names` or `numbers`.
///
/// # Errors
/// `FrameError` for other words.
pub(super) fn enum_style(py: Python<'_>, word: &str) -> PyResult<EnumStyle> {
    match word {
        "names" => Ok(EnumStyle::Names),
        "numbers" => Ok(EnumStyle::Numbers),
        _ => Err(request_error(py, format!("enums={word:?}: use 'names' or 'numbers'"), "invalid_argument")),
    }
}

/// What to do with unusual payloads.
pub(super) fn strictness(strict: bool) -> Strictness {
    if strict { Strictness::Strict } else { Strictness::Lenient }
}

/// Name or id, values or payload, sequence, system and component.
type Outgoing<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, u8, u8, u8);

#[pymethods]
impl PySchema {
    /// Compiles the schema in a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, packed: bool, include: Vec<PathBuf>) -> PyResult<Self> {
        // A schema that is not there is not a fault of a schema.
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(PyFileNotFoundError::new_err(format!("{}: {error}", path.display())));
            }
            Err(error) => return Err(error.into()),
            Ok(found) if found.is_dir() => {
                return Err(PyIsADirectoryError::new_err(format!("{}: is a directory, not a file", path.display())));
            }
            Ok(_) => {}
        }
        let compiled = py.detach(|| check_with(&Disk, &path, &options(packed).with_include(include)));
        Self::new(py, compiled)
    }

    /// Compiles the text of a schema, which imports nothing.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, name: &str, packed: bool) -> PyResult<Self> {
        let loader = Memory::new().with(name, text);
        Self::new(py, check_with(&loader, Path::new(name), &options(packed)))
    }

    /// The messages by name.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        messages(py, &self.schema)
    }

    /// Numbers of the values of each enum, by name.
    #[getter]
    fn enums<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        enums(py, &self.schema)
    }

    /// The profile that bytes seem to have, and whether more bytes could change that.
    fn detect(&self, py: Python<'_>, data: Input) -> Option<(String, bool)> {
        let found = py.detach(|| detect(&self.infos, &data.0))?;
        Some((found.framing.to_string(), found.is_clear()))
    }

    /// A decoder for frames of a profile.
    #[pyo3(signature = (profile, enums="names", strict=false))]
    fn decoder(slf: &Bound<'_, Self>, profile: &str, enums: &str, strict: bool) -> PyResult<PyDecoder> {
        let py = slf.py();
        Ok(PyDecoder::new(slf.get(), framing(py, profile)?, enum_style(py, enums)?, strictness(strict)))
    }

    /// Messages as frames, one after the other: `[(name or id, values or payload, sequence, system, component)]`.
    fn encode<'py>(&self, py: Python<'py>, frames: Vec<Outgoing<'py>>, profile: &str) -> PyResult<Bound<'py, PyBytes>> {
        let codec = Codec::new(&self.schema);
        let writer = FrameCodec::new(&codec, framing(py, profile)?);
        let mut out = Vec::new();
        for (key, values, sequence, system, component) in frames {
            let header = Header { sequence, system, component };
            let written = match values.cast::<PyBytes>() {
                // A payload may be of a message that the schema does not have.
                Ok(payload) => {
                    let id = match key.extract::<u16>() {
                        Ok(id) => Some(id),
                        Err(_) => self.message(py, &key)?.id,
                    };
                    let words = || request_error(py, format!("message {} has no id", quoted(&key)), "no_message_id");
                    writer.write_payload(id.ok_or_else(words)?, header, payload.as_bytes(), &mut out)
                }
                Err(_) => writer.write_json(self.message(py, &key)?, header, &from_python(&values)?, &mut out),
            };
            written.map_err(|error| frame_error(py, &error))?;
        }
        Ok(PyBytes::new(py, &out))
    }

    /// All frames in bytes as columns: the tables by message, what is in none of them, and the counters.
    #[pyo3(signature = (data, profile, strict=false))]
    fn columns<'py>(&self, py: Python<'py>, data: Input, profile: &str, strict: bool) -> PyResult<Columns<'py>> {
        columns(py, &self.schema, framing(py, profile)?, strictness(strict), &data.0)
    }
}
