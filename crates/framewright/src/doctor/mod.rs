//! Is this build sound on this machine? Versions, features, processor, and a self-test that encodes and decodes.
//!
//! ```
//! let report = framewright::doctor::examine();
//! assert!(report.is_healthy(), "{report}");
//! assert!(report.self_test.iter().any(|test| test.label.contains("shuffle+zstd")));
//! ```

mod features; // what the build has
mod self_test; // what works

pub use features::{Feature, Kind, Linkage, State};
pub use self_test::{Outcome, SelfTest};

use fw_tensogram::wire::VERSION;
use serde::Serialize;
use std::fmt;

/// What [`examine`] found. Its JSON has the keys `build`, `features` and `self_test` of the reference's `doctor`, and `cpu`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Doctor {
    /// What was built.
    pub build: Build,
    /// What the processor offers.
    pub cpu: Cpu,
    /// What the build has.
    pub features: Vec<Feature>,
    /// What works.
    pub self_test: Vec<SelfTest>,
}

/// What was built.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Build {
    /// The version of this library.
    pub version: &'static str,
    /// The version of Tensogram messages that it writes.
    pub wire_version: u16,
    /// The target triple.
    pub target: &'static str,
    /// `debug` or `release`.
    pub profile: &'static str,
}

/// What the processor offers, and what the codecs make of it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Cpu {
    /// The architecture.
    pub arch: &'static str,
    /// Processors that the process may use.
    pub threads: usize,
    /// The vector code that the codecs run: `x86-64-v3`, or `baseline` for what every processor of the target has.
    pub vector_code: &'static str,
    /// Extensions of the instruction set that were detected, of those that make a difference here.
    pub extensions: Vec<&'static str>,
}

impl Doctor {
    /// Whether no self-test failed. A codec that is not part of the build is skipped and does not count.
    pub fn is_healthy(&self) -> bool {
        self.self_test.iter().all(|test| !matches!(test.outcome, Outcome::Failed { .. }))
    }
}

/// Examines this build on this machine. Takes some milliseconds.
pub fn examine() -> Doctor {
    let self_test = self_test::run();
    Doctor {
        build: Build {
            version: env!("CARGO_PKG_VERSION"),
            wire_version: VERSION,
            target: env!("FRAMEWRIGHT_TARGET"),
            profile: env!("FRAMEWRIGHT_PROFILE"),
        },
        cpu: Cpu {
            arch: std::env::consts::ARCH,
            threads: std::thread::available_parallelism().map_or(1, Into::into),
            vector_code: fw_codec::vector_code(),
            extensions: extensions(),
        },
        features: features::list(),
        self_test,
    }
}

impl fmt::Display for Doctor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Build { version, wire_version, target, profile } = self.build;
        writeln!(f, "Build\n  version       {version}\n  wire format   {wire_version}")?;
        writeln!(f, "  target        {target}\n  profile       {profile}\n")?;
        let Cpu { arch, threads, vector_code, ref extensions } = self.cpu;
        writeln!(f, "Processor\n  architecture  {arch}, {threads} available\n  vector code   {vector_code}")?;
        if !extensions.is_empty() {
            writeln!(f, "  extensions    {}", extensions.join(" "))?;
        }
        writeln!(f, "\nFeatures")?;
        for feature in &self.features {
            writeln!(f, "  {:<12}  {}", feature.name, feature.state)?;
        }
        writeln!(f, "\nSelf-test")?;
        let width = self.self_test.iter().map(|test| test.label.len()).max().unwrap_or_default();
        for test in &self.self_test {
            writeln!(f, "  {:<width$}  {}", test.label, test.outcome)?;
        }
        writeln!(f, "\nStatus: {}", if self.is_healthy() { "HEALTHY" } else { "UNHEALTHY" })
    }
}

#[cfg(target_arch = "x86_64")]
fn extensions() -> Vec<&'static str> {
    macro_rules! detected {
        ($($name:tt),+) => {
            [$(($name, std::arch::is_x86_feature_detected!($name))),+]
        };
    }
    let all = detected!["sse4.2", "popcnt", "avx", "avx2", "bmi1", "bmi2", "fma", "f16c", "lzcnt", "avx512f"];
    all.into_iter().filter_map(|(name, is_there)| is_there.then_some(name)).collect()
}

#[cfg(target_arch = "aarch64")]
fn extensions() -> Vec<&'static str> {
    if std::arch::is_aarch64_feature_detected!("neon") { vec!["neon"] } else { Vec::new() }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn extensions() -> Vec<&'static str> {
    Vec::new()
}
