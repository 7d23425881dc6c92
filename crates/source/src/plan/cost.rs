//! What requests cost.

use std::time::Duration;

/// What it costs to ask a source for ranges of bytes: `latency × rounds + bytes ÷ bandwidth`.
///
/// A round is as many requests as the source answers side by side. The constants are for sources on this machine; a store
/// measures its own cost while it is read, see [`crate::ReadAt::cost`].
///
/// ```
/// use fw_source::plan::Cost;
/// use std::time::Duration;
///
/// let cost = Cost::new(Duration::from_millis(100), 16 << 20, 32);
/// // A thousand small ranges take 32 rounds; the megabyte that holds them takes one.
/// assert!(cost.of(1000, 4000) > Duration::from_secs(3));
/// assert!(cost.of(1, 1 << 20) < Duration::from_millis(200));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Time from sending a request to the first byte of its answer.
    pub latency: Duration,
    /// Bytes that arrive in a second, all requests together.
    pub bytes_per_second: u64,
    /// Requests that the source answers side by side.
    pub in_flight: usize,
    /// Bytes that a request takes beside those asked for: the headers of the request and of its answer.
    pub request_len: u64,
}

impl Cost {
    /// Bytes in memory, or in a mapped file: a request is a call.
    pub const MEMORY: Self = Self::local(64);
    /// A local file: a request is a system call, which takes as long as copying two kilobytes.
    pub const FILE: Self = Self::local(512);
    /// A local file that is read on other threads: each request waits for one of them.
    pub const QUEUED_FILE: Self = Self::local(8192);

    /// For a source that answers `in_flight` requests side by side, over a network.
    pub const fn new(latency: Duration, bytes_per_second: u64, in_flight: usize) -> Self {
        let in_flight = if in_flight == 0 { 1 } else { in_flight };
        let bytes_per_second = if bytes_per_second == 0 { 1 } else { bytes_per_second };
        Self { latency, bytes_per_second, in_flight, request_len: HEADERS }
    }

    const fn local(nanoseconds: u64) -> Self {
        let latency = Duration::from_nanos(nanoseconds);
        Self { latency, bytes_per_second: LOCAL_RATE, in_flight: 1, request_len: 0 }
    }

    /// Time for `requests` requests that bring `bytes` bytes.
    pub fn of(&self, requests: u64, bytes: u64) -> Duration {
        let nanoseconds = self.weight(requests, bytes) / u128::from(self.bytes_per_second);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    /// The same in parts of a nanosecond, for comparisons without rounding.
    pub(super) fn weight(&self, requests: u64, bytes: u64) -> u128 {
        let rounds = requests.div_ceil(self.in_flight as u64);
        let waiting = self.latency.as_nanos().saturating_mul(u128::from(rounds));
        let bytes = u128::from(bytes).saturating_add(u128::from(requests).saturating_mul(u128::from(self.request_len)));
        waiting.saturating_mul(u128::from(self.bytes_per_second)).saturating_add(bytes.saturating_mul(NANOSECONDS))
    }

    /// Bytes that take as long to arrive as one more round takes.
    pub fn break_even(&self) -> u64 {
        let bytes = self.latency.as_nanos().saturating_mul(u128::from(self.bytes_per_second)) / NANOSECONDS;
        u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(self.request_len)
    }

    /// The shortest piece that a long range is cut into. What a piece takes to arrive is then several times what it takes
    /// to ask for it.
    pub fn piece_len(&self) -> u64 {
        self.break_even().saturating_mul(4).max(SHORTEST_PIECE)
    }

    /// Bytes to read at a time when a long range is handed on in order: enough to keep several requests in flight, and a
    /// multiple of a mebibyte, so that no element is cut.
    pub fn stream_len(&self) -> u64 {
        match self.in_flight {
            1 => STREAMED,
            several => {
                let len = self.piece_len().saturating_mul(several.min(4) as u64).min(MOST_STREAMED);
                len / STREAMED * STREAMED
            }
        }
    }
}

const NANOSECONDS: u128 = 1_000_000_000;
/// About what the headers of a request and of its answer take.
const HEADERS: u64 = 1024;
/// Bytes that a core copies in a second out of memory or the page cache.
const LOCAL_RATE: u64 = 4_000_000_000;
/// Stores serve ranges of several megabytes at their full rate.
const SHORTEST_PIECE: u64 = 4 << 20;
/// Large enough to make calls cheap, small enough to stay in a cache.
const STREAMED: u64 = 1 << 20;
/// Memory for a range that is handed on in order.
const MOST_STREAMED: u64 = 32 << 20;
