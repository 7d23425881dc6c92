//! `fwright.save`: named arrays to a file, written once and whole or not at all.

use crate::errors::OrRaise;
use crate::interrupt::{Progress, reported};
use crate::tensogram::input::{self, ObjectData, Take};
use crate::value::{map_from_python, text_key, type_name};
use bytes::Bytes;
use framewright::convert::{ConvertError, ConvertOptions, Converted, Format, MemoryTensors, write_tensors};
use framewright::source::AtomicFile;
use framewright::tensogram::{self as tgm, EncodeOptions, GlobalMetadata, MetadataMap, StreamingEncoder, Value};
use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Write named arrays to a file in the format that its name asks for.
///
/// `metadata` is written beside them. `pipeline` says how they are coded in a Tensogram file: keys of a descriptor such as
/// `{"compression": "zstd"}`, or a function of name and array that returns them. `max_shard_size` splits weights into files of at
/// most so many bytes with an index beside them. `progress` is called with the bytes done and the bytes in all.
///
/// A file that exists is replaced when the new one is complete. Metadata that the format cannot hold is left out with a warning.
///
/// >>> import numpy as np, fwright as fw
/// >>> fw.save("field.tgm", {"t": np.zeros((4, 4))}, metadata={"run": "00Z"}, pipeline={"compression": "zstd"})
/// >>> fw.open("field.tgm")["t"].shape
/// (4, 4)
#[pyfunction]
#[pyo3(signature = (path, tensors, *, metadata=None, pipeline=None, max_shard_size=None, progress=None))]
pub(crate) fn save(
    py: Python<'_>,
    path: PathBuf,
    tensors: &Bound<'_, PyAny>,
    metadata: Option<&Bound<'_, PyDict>>,
    pipeline: Option<&Bound<'_, PyAny>>,
    max_shard_size: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let format = Format::of_name(&path).ok_or_else(|| {
        let known = Format::ALL.iter().filter(|format| format.is_writable()).map(|format| format.extension());
        let known = known.map(|end| format!(".{end}")).collect::<Vec<_>>().join(", ");
        PyValueError::new_err(format!("{}: the name must end in one of {known}", path.display()))
    })?;
    let tensors = named(tensors)?;
    let metadata = metadata.map_or_else(|| Ok(MetadataMap::new()), map_from_python)?;
    if format == Format::Tensogram {
        if max_shard_size.is_some() {
            return Err(PyValueError::new_err("max_shard_size: Tensogram files are not split"));
        }
        let objects = described(&tensors, pipeline)?;
        return reported(py, progress, |progress| write_message(&path, &objects, metadata, progress))?.or_raise(py);
    }
    if pipeline.is_some_and(|pipeline| !pipeline.is_none()) {
        let words = format!("pipeline: {format} files hold elements as they are; name the file .tgm to encode them");
        return Err(PyValueError::new_err(words));
    }
    let mut held: MemoryTensors<Bytes> = MemoryTensors::new();
    for (name, array) in &tensors {
        let (dtype, shape, data) = input::plain_elements(array)?;
        held.push(name, dtype, &shape, data).or_raise(py)?;
    }
    for (key, value) in metadata {
        match value {
            Value::Text(text) => held.set_metadata(key, text),
            // Other values are JSON there, and come back as values in a Tensogram file.
            other => held.set_metadata_json(key, serde_json::to_string(&other).unwrap_or_default()),
        }
    }
    let done = reported(py, progress, |progress| write_file(&path, &held, format, max_shard_size, progress))?;
    for loss in done.or_raise(py)?.losses {
        let text = format!("{}: {loss}", path.display());
        let text = std::ffi::CString::new(text.replace('\0', "\\0"))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    Ok(())
}

/// Names and arrays of a mapping, in its order.
fn named<'py>(tensors: &Bound<'py, PyAny>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let wrong =
        || PyTypeError::new_err(format!("tensors must be a mapping of names to arrays, not {}", type_name(tensors)));
    let items = tensors.cast::<PyMapping>().map_err(|_| wrong())?.items()?;
    items.iter().map(|item| Ok((text_key(&item.get_item(0)?)?, item.get_item(1)?))).collect()
}

/// What each array becomes in a message: its name, and the object.
fn described(
    tensors: &[(String, Bound<'_, PyAny>)],
    pipeline: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(String, ObjectData)>> {
    let object = |(name, array): &(String, Bound<'_, PyAny>)| {
        let chosen = match pipeline.filter(|pipeline| !pipeline.is_none()) {
            None => PyDict::new(array.py()).into_any(),
            Some(function) if function.is_callable() => function.call1((name, array))?,
            Some(keys) => keys.clone(),
        };
        let wrong =
            |_| PyTypeError::new_err(format!("pipeline must give a dict for {name:?}, not {}", type_name(&chosen)));
        let keys = chosen.cast::<PyDict>().map_err(wrong)?;
        Ok((name.clone(), input::object(keys, array, Take::Elements)?))
    };
    tensors.iter().map(object).collect()
}

/// One message, object by object.
fn write_message(
    path: &Path,
    objects: &[(String, ObjectData)],
    extra: MetadataMap,
    progress: Option<Progress>,
) -> tgm::Result<()> {
    let entry = |name: &str| -> MetadataMap { [("name".to_owned(), Value::from(name))].into_iter().collect() };
    let base = objects.iter().map(|(name, _)| entry(name)).collect();
    let metadata = GlobalMetadata { base, extra, ..GlobalMetadata::default() };
    let options = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
    let sink = BufWriter::with_capacity(1 << 20, AtomicFile::create(path)?);
    let mut stream = StreamingEncoder::new(sink, &metadata, &options)?;
    let total = objects.iter().map(|(_, object)| object.data.len() as u64).sum();
    let mut done = 0;
    for (name, object) in objects {
        stream.write_preceder(&entry(name))?;
        stream.write_object(&object.descriptor, &object.data)?;
        done += object.data.len() as u64;
        if let Some(progress) = &progress {
            progress.tell(done, total);
        }
    }
    let sink = stream.finish_with_backfill()?;
    sink.into_inner().map_err(|error| error.into_error())?.commit()?;
    Ok(())
}

fn write_file(
    path: &Path,
    tensors: &MemoryTensors<Bytes>,
    format: Format,
    max_shard_size: Option<u64>,
    progress: Option<Progress>,
) -> Result<Converted, ConvertError> {
    let mut options = ConvertOptions::new();
    options.format = Some(format);
    options.max_shard_size = max_shard_size;
    if let Some(progress) = progress {
        options = options.with_progress(move |state| progress.tell(state.bytes_done, state.bytes_total));
    }
    write_tensors(tensors, "memory", path, &options)
}
