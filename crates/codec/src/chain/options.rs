//! How to decode.

use fw_bytes::Limits;
use fw_tensor::ByteOrder;

/// How to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Threads to use; 0 and 1 mean the calling thread alone. See [`crate::parallel::threads_from_env`].
    pub threads: usize,
    /// Byte order of the result; that of the machine unless set.
    pub order: ByteOrder,
    /// What a payload may ask for.
    pub limits: Limits,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self { threads: 1, order: ByteOrder::NATIVE, limits: Limits::default() }
    }
}

impl DecodeOptions {
    /// The same with this many threads.
    #[must_use]
    pub const fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The same with results in this byte order.
    #[must_use]
    pub const fn with_order(self, order: ByteOrder) -> Self {
        Self { order, ..self }
    }

    /// The same with these limits.
    #[must_use]
    pub const fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}
