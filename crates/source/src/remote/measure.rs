//! What requests to a store cost, learnt from its answers.

use crate::plan::Cost;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Round trips and rates of one store, smoothed.
#[derive(Debug)]
pub(super) struct Measured {
    /// Fixed by the caller.
    given: Option<Cost>,
    in_flight: usize,
    seen: Mutex<Seen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    latency: Option<Duration>,
    bytes_per_second: Option<u64>,
}

impl Measured {
    pub(super) fn new(given: Option<Cost>, concurrency: usize) -> Self {
        // Half of the requests that may be in flight: other reads of the same object go on beside a plan.
        Self { given, in_flight: concurrency.div_ceil(2), seen: Mutex::default() }
    }

    /// Learns from one answer: how long its first byte took, then how long `bytes` bytes, while `requests` were in flight.
    pub(super) fn learn(&self, latency: Duration, bytes: u64, transfer: Duration, requests: usize) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.latency = Some(match seen.latency {
            None => latency,
            Some(known) => (known.saturating_mul(3).saturating_add(latency)) / 4,
        });
        // A short answer may come with its headers, and says nothing about the rate.
        if bytes >= TELLING {
            let nanoseconds = transfer.as_nanos().max(1);
            let rate = u128::from(bytes).saturating_mul(1_000_000_000).saturating_mul(requests.max(1) as u128);
            let rate = u64::try_from(rate / nanoseconds).unwrap_or(u64::MAX).clamp(LEAST_RATE, MOST_RATE);
            seen.bytes_per_second = Some(match seen.bytes_per_second {
                None => rate,
                Some(known) => known / 4 * 3 + rate / 4,
            });
        }
    }

    pub(super) fn cost(&self) -> Cost {
        if let Some(given) = self.given {
            return given;
        }
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let latency = seen.latency.map_or(LEAST_LATENCY, |latency| latency.max(LEAST_LATENCY));
        Cost::new(latency, seen.bytes_per_second.unwrap_or(ASSUMED_RATE), self.in_flight)
    }
}

/// A round never counts as less, however near the store is: requests are billed, and servers limit them.
const LEAST_LATENCY: Duration = Duration::from_millis(50);
/// Until a longer answer was seen.
const ASSUMED_RATE: u64 = 32 << 20;
const LEAST_RATE: u64 = 64 << 10;
/// However fast a store is, bytes that were not asked for are not free.
const MOST_RATE: u64 = 256 << 20;
/// Bytes from which on an answer tells the rate.
const TELLING: u64 = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_decides_within_bounds() {
        let millis = Duration::from_millis;
        let measured = Measured::new(None, 32);
        assert_eq!(measured.cost(), Cost::new(LEAST_LATENCY, ASSUMED_RATE, 16));
        measured.learn(millis(1), 100, millis(50), 1);
        assert_eq!(measured.cost(), Cost::new(LEAST_LATENCY, ASSUMED_RATE, 16), "short and near");
        for _ in 0..50 {
            measured.learn(millis(200), 1 << 20, millis(500), 4);
        }
        let cost = measured.cost();
        assert!((millis(195)..=millis(200)).contains(&cost.latency), "{cost:?}");
        assert!((8_200_000..=8 << 20).contains(&cost.bytes_per_second), "{cost:?}");
        let given = Cost::new(millis(7), 1000, 3);
        let measured = Measured::new(Some(given), 32);
        measured.learn(millis(200), 1 << 20, millis(500), 4);
        assert_eq!(measured.cost(), given);
    }
}
