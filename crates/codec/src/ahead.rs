//! Reading ahead in four places at a time.
//!
//! Memory answers one stream of reads with a few lines underway, and begins anew at every page. Several streams
//! overlap: a scan of memory that no cache holds runs a third faster when four pages are read side by side. So a block
//! is touched that way first, and then found in the first-level cache. What a cache holds gains nothing by it.

/// Touches every cache line of a block of some KiB.
#[inline]
pub(crate) fn read_ahead(block: &[u8]) {
    let (pages, rest) = block.as_chunks::<PAGE>();
    let (groups, others) = pages.as_chunks::<4>();
    let mut seen = 0;
    for [a, b, c, d] in groups {
        for line in (0..PAGE).step_by(LINE) {
            seen |= a[line] | b[line] | c[line] | d[line];
        }
    }
    for page in others {
        seen |= page.iter().step_by(LINE).fold(0, |seen, byte| seen | byte);
    }
    seen |= rest.iter().step_by(LINE).fold(0, |seen, byte| seen | byte);
    std::hint::black_box(seen);
}

const LINE: usize = 64;
const PAGE: usize = 4 << 10;
