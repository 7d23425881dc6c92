//! Bytes to events, as they come.

use super::events::{counters, event};
use super::schema::PySchema;
use crate::buffer::Input;
use framewright::dynamic::{Codec, EnumStyle, FrameCodec, Strictness};
use framewright::schema::Schema;
use framewright::structframe::{Event, Framing, Lookup, MessageInfo, Stream, frame_len};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyList};
use std::cell::OnceCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Takes bytes in pieces of any size, and gives the frames and the damage in them.
#[pyclass(frozen, module = "fwright.structframe", name = "Decoder")]
pub(crate) struct PyDecoder {
    schema: Arc<Schema>,
    framing: Framing,
    enums: EnumStyle,
    strictness: Strictness,
    stream: Mutex<Stream<Infos, Vec<u8>>>,
}

/// What frame readers look up, shared.
struct Infos(Arc<[MessageInfo]>);

impl Lookup for Infos {
    fn message_info(&self, id: u16) -> Option<MessageInfo> {
        self.0.message_info(id)
    }
}

impl PyDecoder {
    pub(super) fn new(schema: &PySchema, framing: Framing, enums: EnumStyle, strictness: Strictness) -> Self {
        // As `FrameCodec::stream`: two of the longest frames.
        let room = 2 * frame_len(framing, framing.max_payload_len());
        let stream = Stream::new(framing, Infos(Arc::clone(&schema.infos)), vec![0; room]);
        Self { schema: Arc::clone(&schema.schema), framing, enums, strictness, stream: Mutex::new(stream) }
    }

    /// The stream, waited for without the interpreter: making objects can hand that to another thread, which may ask for the
    /// stream, too.
    fn stream(&self, py: Python<'_>) -> MutexGuard<'_, Stream<Infos, Vec<u8>>> {
        self.stream.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// The events that `read` tells of.
    fn events<'py>(
        &self,
        py: Python<'py>,
        read: impl FnOnce(&mut Stream<Infos, Vec<u8>>, &mut dyn FnMut(Event<'_>)),
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let codec = Codec::new(&self.schema).with_strictness(self.strictness);
        // Most pieces of a slow line complete nothing.
        let frames = OnceCell::new();
        let mut failure = None;
        read(&mut self.stream(py), &mut |found| {
            let frames = frames.get_or_init(|| FrameCodec::new(&codec, self.framing));
            let made = event(py, frames, &found, self.enums).and_then(|event| list.append(event));
            if let Err(error) = made {
                failure.get_or_insert(error);
            }
        });
        failure.map_or(Ok(list), Err)
    }
}

#[pymethods]
impl PyDecoder {
    /// Takes bytes, and returns what they complete: frames and damage, in order.
    fn feed<'py>(&self, py: Python<'py>, data: Input) -> PyResult<Bound<'py, PyList>> {
        self.events(py, |stream, tell| stream.read(&data.0, tell))
    }

    /// Ends the stream, and returns what is left over. The decoder can be used for another stream afterwards; positions go on.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.events(py, |stream, tell| stream.finish(tell))
    }

    /// Forgets an incomplete frame.
    fn reset(&self, py: Python<'_>) {
        self.stream(py).reset();
    }

    /// What was counted so far: frames, failed checksums, bytes that are not frames.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counters(py, &self.stream(py).counters())
    }

    /// The profile.
    #[getter]
    fn profile(&self) -> String {
        self.framing.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Decoder(profile='{}', frames={})", self.framing, self.stream(py).counters().frames)
    }
}
