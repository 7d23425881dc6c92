//! Memory for results whose size is known before the work begins.
//!
//! No result is cleared in a pass of its own, and no code ever sees uninitialised memory:
//!
//! - [`zeroed`]: for large blocks the allocator hands out untouched pages of the kernel, cleared on first use.
//! - [`with_capacity`], [`reserve`]: for results that are appended, which need no first contents.
//! - [`in_pieces`]: for results that are filled in some KiB at a time, each cleared right before it is filled.
//! - [`overwritable`], [`recycle`]: buffers between two stages, kept by the thread for the next call; what they hold is
//!   left over from the last one. At most [`KEPT`] of them, of up to [`LARGEST_KEPT`] bytes each, per thread.
//!
//! Blocks of several MiB ask for huge pages, since thousands of page faults cost more than most codecs. A huge page in
//! which the block only begins or ends is one of small pages after all (the allocator has written its own words there);
//! of fresh blocks these are asked for at once instead of one by one.
//!
//! The unsafe blocks below are all there is: one turns a block of the global allocator into a `Vec<u8>`, one gives the
//! kernel advice that cannot change what memory holds.
#![allow(unsafe_code)]

use crate::CodecError;
use std::cell::RefCell;

/// `len` zero bytes, or an error when the memory is not to be had.
///
/// # Errors
/// When the allocator refuses; the process goes on.
pub fn zeroed(len: usize) -> Result<Vec<u8>, CodecError> {
    let Ok(layout) = std::alloc::Layout::array::<u8>(len) else { return Err(out_of_memory(len)) };
    if len == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout has a size above zero (checked above), which is all `alloc_zeroed` asks for.
    let block = unsafe { std::alloc::alloc_zeroed(layout) };
    if block.is_null() {
        return Err(out_of_memory(len));
    }
    advise_huge_pages(block, len);
    // SAFETY: `block` is not null and was allocated just now by the global allocator with the layout of an array of
    // `len` bytes, so size and alignment (1) are those of a `Vec<u8>` of capacity `len`; nobody else holds it; all `len`
    // bytes are initialised (zero); `Layout::array` proved that `len` is at most `isize::MAX`.
    Ok(unsafe { Vec::from_raw_parts(block, len, len) })
}

/// An empty `Vec` with room for `len` bytes.
///
/// # Errors
/// When the memory is not to be had.
pub fn with_capacity(len: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::new();
    reserve(&mut out, len)?;
    Ok(out)
}

/// Room for `len` more bytes behind what `out` holds.
///
/// # Errors
/// When the memory is not to be had; `out` is then as before.
pub fn reserve(out: &mut Vec<u8>, len: usize) -> Result<(), CodecError> {
    if out.capacity() - out.len() < len {
        out.try_reserve_exact(len).map_err(|_| out_of_memory(len))?;
        let spare = out.spare_capacity_mut();
        advise_huge_pages(spare.as_mut_ptr().cast(), spare.len());
    }
    Ok(())
}

/// `len` bytes that will all be overwritten, whatever they hold now: a buffer that this thread gave to [`recycle`] where
/// one fits, else zeros.
///
/// # Errors
/// When the memory is not to be had.
pub fn overwritable(len: usize) -> Result<Vec<u8>, CodecError> {
    let fits = |kept: &Vec<u8>| kept.len() >= len / 2 && (len..=len.saturating_mul(2)).contains(&kept.capacity());
    let found = SPARE.with_borrow_mut(|spare| {
        let place = spare.iter().position(fits)?;
        Some(spare.swap_remove(place))
    });
    match found {
        Some(mut bytes) => {
            // Shorter, or longer by what was never written: the capacity is there.
            bytes.resize(len, 0);
            Ok(bytes)
        }
        None => zeroed(len),
    }
}

/// Takes back a buffer that is no longer needed, for [`overwritable`].
pub fn recycle(bytes: Vec<u8>) {
    if (SMALLEST_KEPT..=LARGEST_KEPT).contains(&bytes.capacity()) {
        SPARE.with_borrow_mut(|spare| {
            spare.truncate(KEPT - 1);
            spare.insert(0, bytes);
        });
    }
}

/// Makes `out` longer by `len` bytes and returns them, for the caller to overwrite.
///
/// # Errors
/// When the memory is not to be had; `out` is then as before.
pub fn extend(out: &mut Vec<u8>, len: usize) -> Result<&mut [u8], CodecError> {
    let start = out.len();
    if start == 0 && out.capacity() < len {
        *out = overwritable(len)?;
    } else {
        reserve(out, len)?;
        out.resize(start + len, 0);
    }
    Ok(&mut out[start..])
}

/// A result of `len` bytes made in pieces of at most `piece` bytes, in order: `fill` gets the position of a piece and the
/// memory for it. Memory is cleared a piece at a time, right before it is filled: a short piece is in the first cache then,
/// where clearing it costs next to nothing.
///
/// # Errors
/// When the memory is not to be had, and whatever `fill` returns.
pub fn in_pieces(
    len: usize,
    piece: usize,
    mut fill: impl FnMut(usize, &mut [u8]) -> Result<(), CodecError>,
) -> Result<Vec<u8>, CodecError> {
    let mut out = with_capacity(len)?;
    while out.len() < len {
        let start = out.len();
        fill(start, extend(&mut out, piece.min(len - start))?)?;
    }
    Ok(out)
}

thread_local! {
    /// Buffers between two stages, the last used first.
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

fn out_of_memory(len: usize) -> CodecError {
    CodecError::limit("memory", "out_of_memory", format!("no memory for {len} bytes"))
}

/// Asks for huge pages under a block, and for its small pages at both ends.
#[cfg(target_os = "linux")]
fn advise_huge_pages(block: *mut u8, len: usize) {
    if len < HUGE_FROM {
        return;
    }
    // Whole pages inside the block only; a page is at most 64 KiB, and this much is cut at either end.
    let skip = block.align_offset(PAGE);
    let Some(inside) = len.checked_sub(skip).map(|rest| rest / PAGE * PAGE) else { return };
    // SAFETY: both callers own the `len` bytes at `block`, and `skip < len` (checked above): the pointer is inside.
    let first = unsafe { block.add(skip) };
    advise(first, inside, libc::MADV_HUGEPAGE);
    let head = first.align_offset(HUGE_PAGE);
    if len >= FRESH_FROM && head < inside {
        let tail = (first.addr() + inside) % HUGE_PAGE;
        advise(first, head, libc::MADV_POPULATE_WRITE);
        advise(first.wrapping_add(inside - tail), tail, libc::MADV_POPULATE_WRITE);
    }
}

/// Advice about `len` bytes from a page boundary on, inside a block that the caller owns. A refusal is no error for us.
#[cfg(target_os = "linux")]
fn advise(block: *mut u8, len: usize, advice: libc::c_int) {
    // SAFETY: the callers above own these bytes. Neither MADV_HUGEPAGE nor MADV_POPULATE_WRITE, which makes pages present
    // as a write would, ever changes the contents of memory, initialised or not.
    unsafe {
        libc::madvise(block.cast(), len, advice);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_block: *mut u8, _len: usize) {}

/// Below two huge pages there is nothing to gain.
#[cfg(target_os = "linux")]
const HUGE_FROM: usize = 4 << 20;
/// The huge pages of most machines.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;
/// The largest page size in use on Linux; smaller ones divide it.
#[cfg(target_os = "linux")]
const PAGE: usize = 64 << 10;

/// Buffers that a thread keeps.
pub const KEPT: usize = 2;
/// Larger ones go back to the allocator.
pub const LARGEST_KEPT: usize = 16 << 20;
/// Smaller ones are cleared faster than found.
const SMALLEST_KEPT: usize = 128 << 10;

/// From this size on the allocator maps fresh pages, which are zero without anybody's work.
pub(crate) const FRESH_FROM: usize = 32 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zero_and_grows_in_place() {
        for len in [0, 1, 4096, 9 << 20, 33 << 20] {
            let mut bytes = zeroed(len).unwrap();
            assert!(bytes.len() == len && bytes.iter().all(|byte| *byte == 0));
            bytes.push(7);
            assert_eq!(bytes[len], 7);
        }
        let mut out = vec![1, 2];
        extend(&mut out, 3).unwrap().copy_from_slice(&[3, 4, 5]);
        assert_eq!(out, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn buffers_come_back_as_they_were_left() {
        let mut first = overwritable(300_000).unwrap();
        assert!(first.iter().all(|byte| *byte == 0));
        first.fill(7);
        recycle(first);
        // Another size is another buffer; a similar one is the same.
        assert!(overwritable(3_000_000).unwrap().iter().all(|byte| *byte == 0));
        assert!(overwritable(1000).unwrap().iter().all(|byte| *byte == 0));
        let again = overwritable(290_000).unwrap();
        assert!(again.len() == 290_000 && again.iter().all(|byte| *byte == 7));
        assert!(overwritable(290_000).unwrap().iter().all(|byte| *byte == 0), "it was handed out");
        recycle(again);
        for len in [300_000, 400_000, 500_000, LARGEST_KEPT + 1] {
            recycle(vec![1; len]);
        }
        SPARE.with_borrow(|spare| assert!(spare.len() == KEPT && spare[0].len() == 500_000));
    }

    #[test]
    fn pieces_make_a_whole() {
        for len in [0, 1, 9, 10, 11, 100] {
            let fill = |start: usize, part: &mut [u8]| {
                part.iter_mut().enumerate().for_each(|(at, byte)| *byte = (start + at) as u8);
                Ok(())
            };
            assert_eq!(in_pieces(len, 10, fill).unwrap(), (0..len as u8).collect::<Vec<_>>());
        }
        let failing = |_: usize, _: &mut [u8]| Err(CodecError::format("test", "failed", "no"));
        assert_eq!(in_pieces(5, 10, failing).unwrap_err().code, "failed");
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert_eq!(zeroed(usize::MAX).unwrap_err().code, "out_of_memory");
        assert_eq!(zeroed(isize::MAX as usize).unwrap_err().code, "out_of_memory");
        assert_eq!(extend(&mut vec![1], usize::MAX).unwrap_err().code, "out_of_memory");
        assert_eq!(with_capacity(usize::MAX).unwrap_err().code, "out_of_memory");
    }
}
