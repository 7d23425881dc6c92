//! How to read.

use fw_bytes::Limits;

/// Options of every reading function; the default suits trusted files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Hand out elements in the byte order of this machine (default), or as the descriptor says.
    pub native_byte_order: bool,
    /// Put NaN and infinities back where the masks say (default), or leave the zeros that stand in for them.
    pub restore_non_finite: bool,
    /// Compare the digests of objects and metadata before anything of them is parsed (off by default). An object without a
    /// digest is an error then; metadata without one is read.
    pub verify_hash: bool,
    /// Threads to decode with; 1 means the calling thread alone. With 0 the environment variable `FW_THREADS` says how
    /// many, or `TENSOGRAM_THREADS` where that is unset or blank; without either it is the calling thread alone.
    pub threads: usize,
    /// Caps on what the input may ask for.
    pub limits: Limits,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            native_byte_order: true,
            restore_non_finite: true,
            verify_hash: false,
            threads: 0,
            limits: Limits::default(),
        }
    }
}

impl DecodeOptions {
    /// Tight limits and verified digests, for untrusted input.
    pub fn untrusted() -> Self {
        Self { verify_hash: true, limits: Limits::untrusted(), ..Self::default() }
    }

    /// Returns these options with digests verified.
    #[must_use]
    pub const fn with_verify_hash(mut self) -> Self {
        self.verify_hash = true;
        self
    }

    /// Returns these options with other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns these options with another number of threads.
    #[must_use]
    pub const fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}
