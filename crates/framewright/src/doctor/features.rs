//! What the build has: one row per feature, named as the reference names them.

use fw_codec::spec::Compression;
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::fmt;

/// A feature of the build.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Feature {
    /// Its name, such as `szip`.
    pub name: &'static str,
    /// What it is for.
    pub kind: Kind,
    /// Whether the build has it.
    pub state: State,
}

/// What a feature is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// A codec.
    Compression,
    /// Work on several threads.
    Threading,
    /// Where bytes come from.
    Io,
}

/// Whether a build has a feature, and what it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Part of the build.
    On {
        /// The library that does the work.
        backend: &'static str,
        /// How it is part of the build.
        linkage: Linkage,
        /// Its version.
        version: &'static str,
    },
    /// Left out.
    Off,
}

/// How a library is part of the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Linkage {
    /// A C library.
    Ffi,
    /// Rust.
    PureRust,
}

/// The reference's rows, in its order.
pub(super) fn list() -> Vec<Feature> {
    let own = |is_built: bool| if is_built { on("fw-codec", Linkage::PureRust, OWN_VERSION) } else { State::Off };
    let library = |is_built: bool, (name, version)| {
        let linkage = if name == ZSTD.0 { Linkage::Ffi } else { Linkage::PureRust };
        if is_built { on(name, linkage, version) } else { State::Off }
    };
    let codec = |name, state| Feature { name, kind: Kind::Compression, state };
    let io = |name, state| Feature { name, kind: Kind::Io, state };
    vec![
        codec("szip", own(is_built("szip"))),
        // The only szip here is written in Rust, and the only zstd is libzstd.
        codec("szip-pure", own(is_built("szip"))),
        codec("zstd", library(is_built("zstd"), ZSTD)),
        codec("zstd-pure", State::Off),
        codec("lz4", library(is_built("lz4"), LZ4)),
        codec("blosc2", own(is_built("blosc2"))),
        codec("zfp", own(is_built("zfp"))),
        codec("sz3", own(is_built("sz3"))),
        Feature {
            name: "threads",
            kind: Kind::Threading,
            state: on("std", Linkage::PureRust, env!("FRAMEWRIGHT_RUST")),
        },
        io("remote", library(cfg!(feature = "remote"), OBJECT_STORE)),
        io("mmap", library(cfg!(feature = "mmap"), MEMMAP2)),
        io("async", library(cfg!(feature = "async"), TOKIO)),
    ]
}

fn is_built(name: &str) -> bool {
    Compression::CODECS.iter().any(|codec| codec.name == name && codec.is_built())
}

const fn on(backend: &'static str, linkage: Linkage, version: &'static str) -> State {
    State::On { backend, linkage, version }
}

// Libraries do not tell their versions at run time; a test compares these with the lock file.
const ZSTD: (&str, &str) = ("libzstd", "1.5.7");
const LZ4: (&str, &str) = ("lz4_flex", "0.14.0");
const OBJECT_STORE: (&str, &str) = ("object_store", "0.14.2");
const MEMMAP2: (&str, &str) = ("memmap2", "0.9.12");
const TOKIO: (&str, &str) = ("tokio", "1.54.1");

const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::On { backend, linkage: Linkage::Ffi, version } => write!(f, "on   ({backend} {version}, C)"),
            Self::On { backend, linkage: Linkage::PureRust, version } => write!(f, "on   ({backend} {version}, Rust)"),
            Self::Off => f.write_str("off"),
        }
    }
}

impl Serialize for Feature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name)?;
        map.serialize_entry("kind", &self.kind)?;
        match self.state {
            State::On { backend, linkage, version } => {
                map.serialize_entry("state", "on")?;
                map.serialize_entry("backend", backend)?;
                map.serialize_entry("linkage", &linkage)?;
                map.serialize_entry("version", version)?;
            }
            State::Off => map.serialize_entry("state", "off")?,
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let lock = std::fs::read_to_string("../../Cargo.lock").expect("the workspace has one");
        let version = |name: &str| {
            let found = lock.split("[[package]]").find(|package| package.contains(&format!("name = \"{name}\"\n")));
            let line = found.and_then(|package| package.lines().find_map(|line| line.strip_prefix("version = ")));
            line.unwrap_or_else(|| panic!("{name} is not locked")).trim_matches('"').to_owned()
        };
        for (name, stated) in [LZ4, OBJECT_STORE, MEMMAP2, TOKIO] {
            assert_eq!(version(name), stated, "{name}");
        }
        assert!(version("zstd-sys").ends_with(&format!("+zstd.{}", ZSTD.1)));
    }
}
