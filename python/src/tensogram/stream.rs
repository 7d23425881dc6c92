//! `StreamingEncoder`: messages written object by object.

use super::input::{self, ObjectData, Take};
use super::options::encode_options;
use crate::errors::OrRaise;
use crate::interrupt::released;
use crate::value::map_from_python;
use framewright::tensogram::{self as tgm, Lengths, MetadataMap, StreamingEncoder};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Writes a message object by object: in memory, or with `sink` straight to a path or a file object.
///
/// >>> import numpy as np, fwright.tensogram as tensogram
/// >>> encoder = tensogram.StreamingEncoder({"run": "00Z"})
/// >>> encoder.write_preceder({"param": "2t"})
/// >>> encoder.write_object({}, np.zeros(3))
/// >>> len(tensogram.decode(encoder.finish_backfilled()).objects)
/// 1
#[pyclass(frozen, module = "fwright.tensogram", name = "StreamingEncoder")]
pub(crate) struct PyStreamingEncoder {
    state: Arc<State>,
}

/// What one encoder and its calls share.
#[derive(Default)]
pub(super) struct State(Mutex<Option<Encoder>>);

enum Encoder {
    Memory(StreamingEncoder<Vec<u8>>),
    Sink(StreamingEncoder<Sink>),
}

/// Asks the encoder, whatever it writes to.
macro_rules! ask {
    ($encoder:expr, |$inner:ident| $work:expr) => {
        match $encoder {
            Encoder::Memory($inner) => $work,
            Encoder::Sink($inner) => $work,
        }
    };
}

/// What a call found: nothing where the message is finished.
type Found<T> = Option<tgm::Result<T>>;

impl State {
    /// Works on the encoder. The interpreter must be released: a sink written in Python needs it.
    fn with<T>(&self, work: impl FnOnce(&mut Option<Encoder>) -> Found<T>) -> Found<T> {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn write_preceder(&self, entry: &MetadataMap) -> Found<()> {
        self.with(|state| Some(ask!(state.as_mut()?, |encoder| encoder.write_preceder(entry))))
    }

    pub(super) fn write(&self, object: &ObjectData, take: Take) -> Found<()> {
        let (descriptor, data) = object.pair();
        self.with(|state| {
            Some(ask!(state.as_mut()?, |encoder| match take {
                Take::Elements => encoder.write_object(descriptor, data),
                Take::Payload => encoder.write_object_pre_encoded(descriptor, data),
            }))
        })
    }

    pub(super) fn finish(&self, lengths: Lengths, end: End) -> Found<Option<Vec<u8>>> {
        self.with(|state| {
            let encoder = state.take()?;
            Some(match encoder {
                Encoder::Memory(mut encoder) => {
                    let message = encoder.finish_and_reset(lengths);
                    if end == End::Reset {
                        *state = Some(Encoder::Memory(encoder));
                    }
                    message.map(Some)
                }
                Encoder::Sink(_) if end == End::Reset => {
                    *state = Some(encoder);
                    let words = "only an encoder in memory can be reset: make a new one for the next message";
                    Err(io::Error::new(io::ErrorKind::Unsupported, words).into())
                }
                Encoder::Sink(encoder) => {
                    let sink = match lengths {
                        Lengths::Unknown => encoder.finish(),
                        _ => encoder.finish_with_backfill(),
                    };
                    sink.and_then(|mut sink| Ok(sink.flush()?)).map(|()| None)
                }
            })
        })
    }

    pub(super) fn object_count(&self) -> Found<usize> {
        self.with(|state| Some(Ok(ask!(state.as_mut()?, |encoder| encoder.object_count()))))
    }

    pub(super) fn bytes_written(&self) -> Found<u64> {
        self.with(|state| Some(Ok(ask!(state.as_mut()?, |encoder| encoder.bytes_written()))))
    }
}

/// The result, or the exception of a finished message.
pub(super) fn raised<T>(py: Python<'_>, found: Found<T>) -> PyResult<T> {
    match found {
        Some(result) => result.or_raise(py),
        None => Err(PyRuntimeError::new_err("StreamingEncoder already finished")),
    }
}

impl PyStreamingEncoder {
    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state)
    }

    fn finished<'py>(&self, py: Python<'py>, lengths: Lengths, end: End) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let message = raised(py, released(py, || self.state.finish(lengths, end))?)?;
        Ok(message.map(|message| PyBytes::new(py, &message)))
    }
}

/// What becomes of an encoder whose message is finished.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Finish,
    Reset,
}

#[pymethods]
impl PyStreamingEncoder {
    #[new]
    #[pyo3(signature = (global_meta_dict, hash=Some("xxh3"), threads=0, allow_nan=false, allow_inf=false, nan_mask_method=None,
        pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None, aggregate_hash=None, *, sink=None),
        text_signature = "(global_meta_dict, hash='xxh3', threads=0, allow_nan=False, allow_inf=False, nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None, aggregate_hash=None, *, sink=None)")]
    #[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    pub(super) fn new(
        py: Python<'_>,
        global_meta_dict: &Bound<'_, PyDict>,
        hash: Option<&str>,
        threads: usize,
        allow_nan: bool,
        allow_inf: bool,
        nan_mask_method: Option<&str>,
        pos_inf_mask_method: Option<&str>,
        neg_inf_mask_method: Option<&str>,
        small_mask_threshold_bytes: Option<u64>,
        aggregate_hash: Option<&str>,
        sink: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let options = encode_options(
            [hash, aggregate_hash],
            [allow_nan, allow_inf],
            [nan_mask_method, pos_inf_mask_method, neg_inf_mask_method],
            small_mask_threshold_bytes,
            threads,
        )?;
        let metadata = input::metadata(global_meta_dict)?;
        let encoder = match sink {
            None => StreamingEncoder::new(Vec::new(), &metadata, &options).map(Encoder::Memory),
            Some(sink) => {
                let sink = Sink::of(sink)?;
                released(py, || StreamingEncoder::new(sink, &metadata, &options).map(Encoder::Sink))?
            }
        };
        Ok(Self { state: Arc::new(State(Mutex::new(Some(encoder.or_raise(py)?)))) })
    }

    /// Writes metadata of the next object, before the object itself is there.
    fn write_preceder(&self, py: Python<'_>, metadata: &Bound<'_, PyDict>) -> PyResult<()> {
        let entry = map_from_python(metadata)?;
        raised(py, released(py, || self.state.write_preceder(&entry))?)
    }

    /// Encodes an object and writes it.
    fn write_object(&self, py: Python<'_>, descriptor: &Bound<'_, PyDict>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let object = input::object(descriptor, data, Take::Elements)?;
        raised(py, released(py, || self.state.write(&object, Take::Elements))?)
    }

    /// Writes an object whose payload is encoded already.
    fn write_object_pre_encoded(
        &self,
        py: Python<'_>,
        descriptor: &Bound<'_, PyDict>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let object = input::object(descriptor, data, Take::Payload)?;
        raised(py, released(py, || self.state.write(&object, Take::Payload))?)
    }

    /// Ends the message, whose lengths stay zero as in a stream; in memory it is returned.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.finished(py, Lengths::Unknown, End::Finish)
    }

    /// Ends the message and fills its lengths in; in memory it is returned.
    fn finish_backfilled<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.finished(py, Lengths::BackFilled, End::Finish)
    }

    /// Ends the message, returns it, and starts the next one with the same metadata.
    fn finish_and_reset<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.finished(py, Lengths::Unknown, End::Reset)
    }

    /// The same with the lengths filled in.
    fn finish_and_reset_backfilled<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.finished(py, Lengths::BackFilled, End::Reset)
    }

    /// Number of objects written so far.
    #[getter]
    fn object_count(&self, py: Python<'_>) -> PyResult<usize> {
        raised(py, released(py, || self.state.object_count())?)
    }

    /// Number of bytes written so far.
    #[getter]
    fn bytes_written(&self, py: Python<'_>) -> PyResult<u64> {
        raised(py, released(py, || self.state.bytes_written())?)
    }
}

/// Where a stream is written to.
enum Sink {
    File(io::BufWriter<File>),
    /// Anything with `write`, and with `seek` for lengths that are filled in.
    Object(Py<PyAny>),
}

impl Sink {
    fn of(sink: &Bound<'_, PyAny>) -> PyResult<Self> {
        if sink.hasattr("write")? {
            return Ok(Self::Object(sink.clone().unbind()));
        }
        let path: PathBuf = sink.extract()?;
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        Ok(Self::File(io::BufWriter::new(File::create(&path).map_err(named)?)))
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Object(object) => Python::attach(|py| {
                let written = object.bind(py).call_method1("write", (PyBytes::new(py, bytes),))?;
                // Raw streams say how much they took; None means that they could take nothing now.
                if written.is_none() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(written.extract::<usize>()?) }
            }),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Object(object) => Python::attach(|py| {
                if object.bind(py).hasattr("flush")? {
                    object.bind(py).call_method0("flush")?;
                }
                Ok(())
            }),
        }
    }
}

impl Seek for Sink {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Object(object) => Python::attach(|py| {
                let (offset, whence) = match to {
                    SeekFrom::Start(offset) => (i128::from(offset), 0),
                    SeekFrom::Current(offset) => (i128::from(offset), 1),
                    SeekFrom::End(offset) => (i128::from(offset), 2),
                };
                Ok(object.bind(py).call_method1("seek", (offset, whence))?.extract::<u64>()?)
            }),
        }
    }
}
