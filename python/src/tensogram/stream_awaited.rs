//! `AsyncStreamingEncoder`: messages written object by object, awaited.

use super::input::{self, Take};
use super::stream::{End, PyStreamingEncoder, State, raised};
use crate::awaitable::awaitable;
use crate::value::map_from_python;
use framewright::source::nonblocking::off_runtime;
use framewright::tensogram::{self as tgm, Lengths};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::sync::Arc;

/// A `StreamingEncoder` whose methods are awaited: encoding and writing run off the event loop.
///
/// Arguments are those of `StreamingEncoder`. Arguments of a call are read when it is made; await one call before the next,
/// because objects of a message have an order.
///
/// >>> import asyncio, numpy as np, fwright.tensogram as tensogram
/// >>> async def write():
/// ...     encoder = tensogram.AsyncStreamingEncoder({"run": "00Z"})
/// ...     await encoder.write_preceder({"param": "2t"})
/// ...     await encoder.write_object({}, np.zeros(3))
/// ...     return await encoder.finish_backfilled()
/// >>> len(tensogram.scan(asyncio.run(write())))
/// 1
#[pyclass(frozen, module = "fwright.tensogram", name = "AsyncStreamingEncoder")]
pub(crate) struct PyAsyncStreamingEncoder {
    state: Arc<State>,
}

impl PyAsyncStreamingEncoder {
    /// An awaitable of `work`, done on a thread that may wait.
    fn later<'py, T: Send + 'static, R: for<'a> IntoPyObject<'a> + Send + 'static>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&State) -> Option<tgm::Result<T>> + Send + 'static,
        show: impl for<'a> FnOnce(Python<'a>, T) -> R + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        let state = Arc::clone(&self.state);
        awaitable(py, async move {
            let found = off_runtime(move || std::io::Result::Ok(work(&state))).await?;
            Python::attach(|py| raised(py, found).map(|found| show(py, found)))
        })
    }

    fn finished<'py>(&self, py: Python<'py>, lengths: Lengths) -> PyResult<Bound<'py, PyAny>> {
        let show =
            |py: Python<'_>, message: Option<Vec<u8>>| message.map(|message| PyBytes::new(py, &message).unbind());
        self.later(py, move |state| state.finish(lengths, End::Finish), show)
    }
}

#[pymethods]
impl PyAsyncStreamingEncoder {
    #[new]
    #[pyo3(signature = (global_meta_dict, *args, **keywords))]
    fn new(
        global_meta_dict: &Bound<'_, PyDict>,
        args: &Bound<'_, PyTuple>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let py = global_meta_dict.py();
        let all = PyTuple::new(py, [global_meta_dict.as_any()])?.add(args)?.cast_into::<PyTuple>()?;
        let made = py.get_type::<PyStreamingEncoder>().call(all, keywords)?;
        Ok(Self { state: made.cast_into::<PyStreamingEncoder>()?.get().state() })
    }

    /// Writes metadata of the next object, before the object itself is there.
    fn write_preceder<'py>(&self, py: Python<'py>, metadata: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        let entry = map_from_python(metadata)?;
        self.later(py, move |state| state.write_preceder(&entry), |py, ()| py.None())
    }

    /// Encodes an object and writes it.
    fn write_object<'py>(
        &self,
        py: Python<'py>,
        descriptor: &Bound<'py, PyDict>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = input::object(descriptor, data, Take::Elements)?;
        self.later(py, move |state| state.write(&object, Take::Elements), |py, ()| py.None())
    }

    /// Writes an object whose payload is encoded already.
    fn write_object_pre_encoded<'py>(
        &self,
        py: Python<'py>,
        descriptor: &Bound<'py, PyDict>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = input::object(descriptor, data, Take::Payload)?;
        self.later(py, move |state| state.write(&object, Take::Payload), |py, ()| py.None())
    }

    /// Ends the message, whose lengths stay zero as in a stream; in memory it is returned.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.finished(py, Lengths::Unknown)
    }

    /// Ends the message and fills its lengths in; in memory it is returned.
    fn finish_backfilled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.finished(py, Lengths::BackFilled)
    }

    /// Number of objects written so far.
    #[getter]
    fn object_count(&self, py: Python<'_>) -> PyResult<usize> {
        let found = py.detach(|| self.state.object_count());
        raised(py, found)
    }

    /// Number of bytes written so far.
    #[getter]
    fn bytes_written(&self, py: Python<'_>) -> PyResult<u64> {
        let found = py.detach(|| self.state.bytes_written());
        raised(py, found)
    }
}
