//! Caps on what a decoder may hold or follow, as a value.

#[cfg(target_has_atomic = "64")]
use core::sync::atomic::{AtomicU64, Ordering};

/// How much work and memory input may ask for.
///
/// The default never refuses a file that a well-behaved writer makes; [`Limits::untrusted`] is for untrusted files.
/// Independently of these, no decoder reserves memory for a claimed size before checking it against the bytes at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest message or file header taken into memory, in bytes.
    pub message_len: u64,
    /// Objects or tensors in one message or file.
    pub object_count: u64,
    /// Bytes of one metadata or descriptor block.
    pub metadata_len: u64,
    /// Nesting of metadata containers, the outermost included.
    pub depth: u32,
    /// Decoded bytes of one object.
    pub object_len: u64,
    /// An object whose decoded size is above [`Limits::expansion_floor`] may be at most this many times its payload.
    pub expansion_ratio: u64,
    /// Decoded sizes up to this are never refused for their ratio.
    pub expansion_floor: u64,
}

impl Limits {
    /// Tight caps for input from strangers: 64 MiB objects, 4 096 of them, 1 MiB of metadata each, 32 deep.
    pub const fn untrusted() -> Self {
        Self {
            message_len: 256 << 20,
            object_count: 4096,
            metadata_len: 1 << 20,
            depth: 32,
            object_len: 64 << 20,
            expansion_ratio: 64,
            expansion_floor: 1 << 20,
        }
    }
}

impl Limits {
    /// Caps that files of well-behaved writers never meet.
    pub const fn ordinary() -> Self {
        Self {
            message_len: u64::MAX,
            object_count: u64::MAX,
            metadata_len: u64::MAX,
            depth: 256,
            object_len: u64::MAX,
            expansion_ratio: 256,
            expansion_floor: 4 << 30,
        }
    }
}

/// [`Limits::ordinary`], unless the program holds [other ones](DefaultFloor).
impl Default for Limits {
    fn default() -> Self {
        Self { expansion_floor: DefaultFloor::current(), ..Self::ordinary() }
    }
}

/// Another [`Limits::expansion_floor`] for the default limits of this process, as long as the value lives.
///
/// For programs that read untrusted files with whatever reads files: the command line sets it by the memory of the machine and by
/// what the user says. A library must not: its caller may rely on the default. Where values overlap, the one made last holds.
///
/// ```
/// use fw_bytes::{DefaultFloor, Limits};
///
/// let before = Limits::default();
/// let held = DefaultFloor::of(256 << 20);
/// assert_eq!(Limits::default().expansion_floor, 256 << 20);
/// drop(held);
/// assert_eq!(Limits::default(), before);
/// ```
#[cfg(target_has_atomic = "64")]
#[derive(Debug)]
pub struct DefaultFloor {
    before: u64,
}

#[cfg(target_has_atomic = "64")]
impl DefaultFloor {
    /// Decoded sizes up to `bytes` are not refused for their ratio.
    pub fn of(bytes: u64) -> Self {
        Self { before: FLOOR.swap(bytes, Ordering::Relaxed) }
    }

    fn current() -> u64 {
        FLOOR.load(Ordering::Relaxed)
    }
}

#[cfg(target_has_atomic = "64")]
impl Drop for DefaultFloor {
    fn drop(&mut self) {
        FLOOR.store(self.before, Ordering::Relaxed);
    }
}

#[cfg(target_has_atomic = "64")]
static FLOOR: AtomicU64 = AtomicU64::new(Limits::ordinary().expansion_floor);

/// Without 64-bit atomics the floor cannot be changed: it stays the ordinary one.
#[cfg(not(target_has_atomic = "64"))]
struct DefaultFloor;

#[cfg(not(target_has_atomic = "64"))]
impl DefaultFloor {
    const fn current() -> u64 {
        Limits::ordinary().expansion_floor
    }
}
