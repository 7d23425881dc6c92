//! Memory for results whose size is known before the work begins.
//!
//! The memory comes zeroed from the allocator, which for large blocks means: untouched pages of the kernel, cleared on
//! first use. So a result is written once, no buffer is filled only to be overwritten, and no code ever sees
//! uninitialised memory. Blocks of several MiB ask for huge pages, since thousands of page faults cost more than most
//! codecs.
//!
//! The unsafe blocks below are all there is: they turn a block of the global allocator into a `Vec<u8>`, and
//! give the kernel advice that cannot change what memory holds.
#![allow(unsafe_code)]

use crate::CodecError;

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

/// Makes `out` longer by `len` bytes and returns them, for the caller to overwrite.
///
/// # Errors
/// When the memory is not to be had; `out` is then as before.
pub fn extend(out: &mut Vec<u8>, len: usize) -> Result<&mut [u8], CodecError> {
    let start = out.len();
    if start == 0 && out.capacity() < len {
        *out = zeroed(len)?;
    } else {
        out.try_reserve(len).map_err(|_| out_of_memory(len))?;
        out.resize(start + len, 0);
    }
    Ok(&mut out[start..])
}

fn out_of_memory(len: usize) -> CodecError {
    CodecError::limit("memory", "out_of_memory", format!("no memory for {len} bytes"))
}

#[cfg(target_os = "linux")]
fn advise_huge_pages(block: *mut u8, len: usize) {
    if len < HUGE_FROM {
        return;
    }
    // Whole pages inside the block only; a page is at most 64 KiB, and this much is cut at either end.
    let skip = block.align_offset(PAGE);
    let Some(inside) = len.checked_sub(skip).map(|rest| rest / PAGE * PAGE) else { return };
    // SAFETY: `skip + inside <= len`, so the range lies within the block just allocated, and begins at a page boundary.
    // MADV_HUGEPAGE never changes the contents of memory; a refusal is no error for us.
    unsafe {
        libc::madvise(block.add(skip).cast(), inside, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_block: *mut u8, _len: usize) {}

/// Below two huge pages there is nothing to gain.
#[cfg(target_os = "linux")]
const HUGE_FROM: usize = 4 << 20;
/// The largest page size in use on Linux; smaller ones divide it.
#[cfg(target_os = "linux")]
const PAGE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zero_and_grows_in_place() {
        for len in [0, 1, 4096, 9 << 20] {
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
    fn impossible_sizes_are_errors() {
        assert_eq!(zeroed(usize::MAX).unwrap_err().code, "out_of_memory");
        assert_eq!(zeroed(isize::MAX as usize).unwrap_err().code, "out_of_memory");
        assert_eq!(extend(&mut vec![1], usize::MAX).unwrap_err().code, "out_of_memory");
    }
}
