//! How much a command may take because a file says so, and not because of what stands in it.
//!
//! Objects whose decoded size is out of proportion to their payload are refused above a budget that depends on the memory of the
//! machine; standard input and pipes are kept up to another one. `--limit` sets both, `--trust` lifts them.

use crate::args::Look;
use framewright::primitives::DefaultFloor;
use std::sync::atomic::{AtomicU64, Ordering};

/// What holds while a command runs.
#[derive(Debug)]
pub(crate) struct Budget {
    _decoded: DefaultFloor,
    kept_before: u64,
}

impl Budget {
    /// What the options ask for.
    pub(crate) fn of(look: &Look) -> Self {
        let (decoded, kept) = match (look.trust, look.most) {
            (true, _) => (u64::MAX, u64::MAX),
            (false, Some(most)) => (most, most),
            (false, None) => (decoded(memory()), MOST_KEPT),
        };
        Self { _decoded: DefaultFloor::of(decoded), kept_before: KEPT.swap(kept, Ordering::Relaxed) }
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        KEPT.store(self.kept_before, Ordering::Relaxed);
    }
}

/// Bytes of standard input or of a pipe that are kept in a temporary file.
pub(crate) fn most_kept() -> u64 {
    KEPT.load(Ordering::Relaxed)
}

/// Whether files are trusted, whatever they claim.
pub(crate) fn is_trusted() -> bool {
    most_kept() == u64::MAX
}

/// Decoded bytes of an object that are not refused, whatever its payload.
fn decoded(memory: Option<u64>) -> u64 {
    memory.map_or(LEAST_DECODED, |memory| (memory / 8).clamp(LEAST_DECODED, MOST_DECODED))
}

/// Bytes of memory that this process may have.
fn memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let total = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits = limits.into_iter().filter_map(|path| read(path)?.trim().parse::<u64>().ok());
    total.into_iter().chain(limits).min()
}

static KEPT: AtomicU64 = AtomicU64::new(MOST_KEPT);
const MOST_KEPT: u64 = 16 << 30;
const LEAST_DECODED: u64 = 256 << 20;
const MOST_DECODED: u64 = 2 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_an_eighth_of_the_memory_within_bounds() {
        for (memory, expected) in
            [(None, 256 << 20), (Some(1 << 30), 256 << 20), (Some(8 << 30), 1 << 30), (Some(64 << 30), 2 << 30)]
        {
            assert_eq!(decoded(memory), expected, "{memory:?}");
        }
    }
}
