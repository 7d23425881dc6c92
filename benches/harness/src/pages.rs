//! Memory that has been handed out and memory that the system must make first.

use memmap2::MmapMut;

/// Page faults of this process so far that needed no disk. Reading the counter takes one call and no memory.
pub(crate) fn faults() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("every process may ask for its own");
    usage.minor_page_faults().try_into().unwrap_or_default()
}

/// Memory that the system has just mapped, in huge pages where it gives them on request: nothing faster can be had for a large
/// output that did not exist before.
pub struct Fresh {
    map: MmapMut,
    /// Where the first huge page begins.
    first: usize,
    len: usize,
}

const HUGE: usize = 2 << 20;

impl Fresh {
    /// So many bytes, none of which has been touched.
    pub fn new(len: usize) -> Self {
        let map = MmapMut::map_anon(len.next_multiple_of(HUGE) + HUGE).expect("memory");
        #[cfg(target_os = "linux")]
        map.advise(memmap2::Advice::HugePage).ok();
        let first = map.as_ptr().align_offset(HUGE);
        Self { map, first, len }
    }

    /// The bytes as they are.
    pub fn as_bytes(&self) -> &[u8] {
        &self.map[self.first..][..self.len]
    }

    /// The bytes; touching them is what costs.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.map[self.first..][..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_fresh_memory_faults_once() {
        let mut fresh = Fresh::new(HUGE);
        assert_eq!(fresh.bytes().as_ptr().align_offset(HUGE), 0);
        let before = faults();
        fresh.bytes().fill(1);
        let first = faults();
        fresh.bytes().fill(2);
        assert!(first > before, "the first touch faults");
        assert!(faults() - first < first - before + 8, "the second hardly does");
        assert_eq!((fresh.bytes().len(), fresh.bytes()[HUGE - 1]), (HUGE, 2));
    }
}
