//! Bytes to columns.

use super::describe::meaning;
use super::errors::frame_error;
use super::events::counters;
use crate::array::{self, Layout};
use crate::interrupt::released;
use framewright::dynamic::columns::{Stray, Table};
use framewright::dynamic::{Codec, FrameCodec, Strictness, shown_name};
use framewright::schema::Schema;
use framewright::structframe::Framing;
use framewright::tensor::{ByteOrder, DType};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Tables by message, frames that are in none of them, and counters.
pub(super) type Columns<'py> = (Bound<'py, PyDict>, Vec<Bound<'py, PyDict>>, Bound<'py, PyDict>);

/// All frames as columns: `{message: {"arrival": …, "columns": [(path, meaning, enum, array)]}}`, the frames that are in no table, and
/// the counters.
///
/// # Errors
/// `FrameError` for messages with too many leaves for columns.
pub(super) fn columns<'py>(
    py: Python<'py>,
    schema: &Schema,
    framing: Framing,
    strictness: Strictness,
    bytes: &[u8],
) -> PyResult<Columns<'py>> {
    let codec = Codec::new(schema).with_strictness(strictness);
    let frames = FrameCodec::new(&codec, framing);
    let (capture, counted) = released(py, || frames.columns(bytes))?.map_err(|error| frame_error(py, &error))?;
    let tables = PyDict::new(py);
    for table in capture.tables {
        tables.set_item(shown_name(schema, table.message), one(py, schema, framing, table)?)?;
    }
    let strays = capture.strays.iter().map(|stray| stray_of(py, stray)).collect::<PyResult<_>>()?;
    Ok((tables, strays, counters(py, &counted)?))
}

fn one<'py>(py: Python<'py>, schema: &Schema, framing: Framing, table: Table<'_>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let rows = [table.rows as u64];
    let numbers = |dtype, data| array::owned(py, &Layout { dtype, order: ByteOrder::Little, shape: &rows }, data);
    let arrival = table.arrival.iter().flat_map(|place| place.to_le_bytes()).collect();
    dict.set_item("arrival", numbers(DType::UInt64, arrival)?)?;
    if framing.has_sequence() {
        dict.set_item("sequence", numbers(DType::UInt8, table.sequence)?)?;
    }
    if framing.has_system() {
        dict.set_item("system", numbers(DType::UInt8, table.system)?)?;
        dict.set_item("component", numbers(DType::UInt8, table.component)?)?;
    }
    let mut columns = Vec::with_capacity(table.columns.len());
    for column in table.columns {
        let shape = column.shape(table.rows);
        let (meant, of) = meaning(schema, table.message, &column.path).unwrap_or_default();
        let layout = Layout { dtype: column.dtype, order: ByteOrder::Little, shape: &shape };
        columns.push((column.path, meant, of, array::owned(py, &layout, column.data)?));
    }
    dict.set_item("columns", columns)?;
    Ok(dict)
}

fn stray_of<'py>(py: Python<'py>, stray: &Stray) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("arrival", stray.arrival)?;
    dict.set_item("id", stray.id)?;
    dict.set_item("payload", PyBytes::new(py, &stray.payload))?;
    let error = stray.fault.as_ref().map(|fault| frame_error(py, fault).into_value(py));
    dict.set_item("error", error)?;
    Ok(dict)
}
