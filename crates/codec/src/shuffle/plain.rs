//! Transposition on any machine and for any element size.

/// Transposes the elements from `done` on; `planes` are `size` slices of one byte per element.
pub(super) fn shuffle(elements: &[u8], size: usize, done: usize, planes: &mut [&mut [u8]]) {
    match size {
        2 => shuffle_const::<2>(elements, done, planes),
        4 => shuffle_const::<4>(elements, done, planes),
        8 => shuffle_const::<8>(elements, done, planes),
        _ => {
            // Runs of elements that stay in the first-level cache while every plane takes its bytes from them.
            let run = (RUN_LEN / size).max(1);
            let count = elements.len() / size;
            for first in (done..count).step_by(run) {
                let end = count.min(first + run);
                let part = &elements[first * size..end * size];
                for (byte, plane) in planes.iter_mut().enumerate() {
                    let target = &mut plane[first..end];
                    target.iter_mut().zip(part[byte..].iter().step_by(size)).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }
}

/// Fills `out` with the elements from `first` on, skipping the first `done` of them, which are there already.
pub(super) fn unshuffle(planes: &[u8], count: usize, first: usize, size: usize, done: usize, out: &mut [u8]) {
    match size {
        2 => unshuffle_const::<2>(planes, count, first, done, out),
        4 => unshuffle_const::<4>(planes, count, first, done, out),
        8 => unshuffle_const::<8>(planes, count, first, done, out),
        _ => {
            let run = (RUN_LEN / size).max(1);
            for (index, part) in out[done * size..].chunks_mut(run * size).enumerate() {
                let start = first + done + index * run;
                let len = part.len() / size;
                for (byte, plane) in planes.chunks_exact(count).enumerate() {
                    let source = &plane[start..start + len];
                    part[byte..].iter_mut().step_by(size).zip(source).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }
}

/// A fixed size lets the compiler use interleaving loads where the machine has them.
fn shuffle_const<const S: usize>(elements: &[u8], done: usize, planes: &mut [&mut [u8]]) {
    let (elements, _) = elements.as_chunks::<S>();
    for (index, block) in elements[done..].chunks(BLOCK).enumerate() {
        let start = done + index * BLOCK;
        for (byte, plane) in planes.iter_mut().enumerate() {
            let target = &mut plane[start..start + block.len()];
            target.iter_mut().zip(block).for_each(|(to, element)| *to = element[byte]);
        }
    }
}

fn unshuffle_const<const S: usize>(planes: &[u8], count: usize, first: usize, done: usize, out: &mut [u8]) {
    let (elements, _) = out.as_chunks_mut::<S>();
    for (index, block) in elements[done..].chunks_mut(BLOCK).enumerate() {
        let start = first + done + index * BLOCK;
        let sources: [&[u8]; S] = std::array::from_fn(|byte| &planes[byte * count + start..][..block.len()]);
        for (i, element) in block.iter_mut().enumerate() {
            *element = std::array::from_fn(|byte| sources[byte][i]);
        }
    }
}

/// Elements moved together by the fixed sizes.
const BLOCK: usize = 256;
/// Bytes of elements moved together by the other sizes.
const RUN_LEN: usize = 16 << 10;
