//! What each side holds on the heap. The allocator counts only while it is asked to, so that rows of time pay one load for it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

/// The system's allocator, counted.
pub(crate) struct Counted;

static COUNTING: AtomicBool = AtomicBool::new(false);
static HELD: AtomicI64 = AtomicI64::new(0);
static CALLS: AtomicI64 = AtomicI64::new(0);

/// What a value holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Bytes.
    pub(crate) bytes: i64,
    /// Allocations made on the way.
    pub(crate) allocations: i64,
}

/// Makes a value, and says what it holds. Nothing else may run meanwhile.
pub(crate) fn held<T>(make: impl FnOnce() -> T) -> (T, Held) {
    HELD.store(0, Relaxed);
    CALLS.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    let value = make();
    COUNTING.store(false, Relaxed);
    (value, Held { bytes: HELD.load(Relaxed), allocations: CALLS.load(Relaxed) })
}

fn count(calls: i64, bytes: i64) {
    if COUNTING.load(Relaxed) {
        CALLS.fetch_add(calls, Relaxed);
        HELD.fetch_add(bytes, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator with the arguments it came with; counting touches no memory of the caller.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller keeps the promises of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        // SAFETY: the caller keeps the promises of `dealloc`.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as i64 - layout.size() as i64);
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { System.realloc(place, layout, size) }
    }
}
