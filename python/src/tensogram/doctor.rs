//! `doctor()`: what this build can do, as a dict.

use super::metadata::WIRE_VERSION;
use framewright::tensogram::{self as tgm, Outcome};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Lists the parts of this build and tries them: a dict of `build`, `features` and `self_test`.
#[pyfunction]
pub(crate) fn doctor(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let found = py.detach(tgm::doctor);
    let build = PyDict::new(py);
    build.set_item("version", env!("CARGO_PKG_VERSION"))?;
    build.set_item("wire_version", WIRE_VERSION)?;
    build.set_item("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS))?;
    build.set_item("profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    let features = PyList::empty(py);
    for feature in found.features {
        let row = PyDict::new(py);
        row.set_item("name", feature.name)?;
        row.set_item("kind", feature.kind)?;
        row.set_item("state", if feature.backend.is_some() { "on" } else { "off" })?;
        if let Some((backend, linkage)) = feature.backend {
            row.set_item("backend", backend)?;
            row.set_item("linkage", linkage)?;
        }
        features.append(row)?;
    }
    let self_test = PyList::empty(py);
    for test in found.self_test {
        let row = PyDict::new(py);
        row.set_item("label", test.label)?;
        match test.outcome {
            Outcome::Ok => row.set_item("outcome", "ok")?,
            Outcome::Failed(error) => {
                row.set_item("outcome", "failed")?;
                row.set_item("error", error)?;
            }
            Outcome::Skipped(features) => {
                row.set_item("outcome", "skipped")?;
                row.set_item("reason", format!("built without {features}"))?;
            }
        }
        self_test.append(row)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("build", build)?;
    dict.set_item("features", features)?;
    dict.set_item("self_test", self_test)?;
    Ok(dict)
}
