//! How to write.

use crate::describe::Provenance;

/// Where the digests of all objects are gathered in one frame (TG-9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AggregateHash {
    /// Before the objects when the whole message is at hand, after them when streaming.
    #[default]
    Auto,
    /// Nowhere.
    None,
    /// Before the objects; not possible when streaming.
    Header,
    /// After the objects.
    Footer,
    /// On both sides; not possible when streaming.
    Both,
}

/// Options of every writing function.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodeOptions {
    /// Write a digest into every frame (default).
    pub hashing: bool,
    /// Where to gather the digests of the objects.
    pub aggregate_hash: AggregateHash,
    /// Threads to encode with; 0 and 1 mean the calling thread alone. `FW_THREADS` overrides 0. The bytes written
    /// do not depend on it.
    pub threads: usize,
    /// Fixed provenance, for reproducible output; otherwise this library, this second, a fresh UUID.
    pub provenance: Option<Provenance>,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self { hashing: true, aggregate_hash: AggregateHash::default(), threads: 0, provenance: None }
    }
}

impl EncodeOptions {
    pub(super) fn provenance(&self) -> Provenance {
        self.provenance.clone().unwrap_or_else(Provenance::now)
    }
}
