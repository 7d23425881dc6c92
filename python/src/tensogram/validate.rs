//! Findings about messages and files, as dicts.

use super::options::validate_options;
use crate::buffer::Input;
use crate::errors::OrRaise;
use crate::interrupt::released;
use framewright::report::Finding;
use framewright::tensogram::{self as tgm, MessageReport};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// Checks a message: a dict of `issues`, `object_count` and `hash_verified`.
#[pyfunction]
#[pyo3(signature = (buf, level="default", check_canonical=false))]
pub(crate) fn validate<'py>(
    py: Python<'py>,
    buf: Input,
    level: &str,
    check_canonical: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let options = validate_options(level, check_canonical)?;
    let report = released(py, || tgm::validate_message(&buf.0, &options))?;
    message(py, &report)
}

/// Checks a file: a dict of `file_issues` and `messages`.
#[pyfunction]
#[pyo3(signature = (path, level="default", check_canonical=false))]
pub(crate) fn validate_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    level: &str,
    check_canonical: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let options = validate_options(level, check_canonical)?;
    let report = released(py, || tgm::validate_file(&path, &options))?.or_raise(py)?;
    let dict = PyDict::new(py);
    let issues = PyList::empty(py);
    for finding in report.report.findings() {
        let issue = PyDict::new(py);
        issue.set_item("byte_offset", finding.span.map_or(0, |span| span.start))?;
        issue.set_item("length", finding.span.map_or(0, |span| span.len()))?;
        issue.set_item("description", &finding.message)?;
        issue.set_item("code", finding.code.as_ref())?;
        issues.append(issue)?;
    }
    dict.set_item("file_issues", issues)?;
    let messages = report.messages.iter().map(|(_, report)| message(py, report)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("messages", messages)?;
    Ok(dict)
}

fn message<'py>(py: Python<'py>, report: &MessageReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("hash_verified", report.hash_verified)?;
    let issues = report.report.findings().iter().map(|finding| issue(py, finding)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("issues", issues)?;
    dict.set_item("object_count", report.object_count)?;
    Ok(dict)
}

fn issue<'py>(py: Python<'py>, finding: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    if let Some(span) = finding.span {
        dict.set_item("byte_offset", span.start)?;
    }
    dict.set_item("code", finding.code.as_ref())?;
    dict.set_item("description", &finding.message)?;
    if let Some(level) = &finding.level {
        dict.set_item("level", level.as_ref())?;
    }
    if let Some(index) = finding.object_index {
        dict.set_item("object_index", index)?;
    }
    dict.set_item("severity", finding.severity.to_string())?;
    Ok(dict)
}
