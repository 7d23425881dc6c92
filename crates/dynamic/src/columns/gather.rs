//! Blocks of images to columns.

use super::plan::{Blank, BlankKind, Guard, Leaf, Source};
use crate::image::{number, part};

/// Appends one column's bytes for every image of a block. Returns the rows (counted in the block) whose bytes were
/// changed on the way, because a count exceeded its bound or a bool was neither 0 nor 1.
pub(super) fn gather(leaf: &Leaf, images: &[u8], len: usize, out: &mut Vec<u8>) -> Vec<usize> {
    if let ([place], true, Source::Copy) = (leaf.places.as_slice(), leaf.guards.is_empty(), leaf.source) {
        let at = *place as usize;
        match leaf.run {
            1 => fixed::<1>(images, len, at, out),
            2 => fixed::<2>(images, len, at, out),
            4 => fixed::<4>(images, len, at, out),
            8 => fixed::<8>(images, len, at, out),
            run => images.chunks_exact(len).for_each(|image| out.extend_from_slice(part(image, at, run))),
        }
        return Vec::new();
    }
    let mut changed = Vec::new();
    for (row, image) in images.chunks_exact(len).enumerate() {
        let mut clean = true;
        for (index, place) in leaf.places.iter().enumerate() {
            if open(&leaf.guards, index, image) {
                clean &= run(leaf, part(image, *place as usize, source_len(leaf)), out);
            } else {
                out.extend(std::iter::repeat_n(0, leaf.run));
            }
        }
        if !clean {
            changed.push(row);
        }
    }
    changed
}

/// The plain form of the fast path, kept to test against.
#[cfg(test)]
fn plain(leaf: &Leaf, images: &[u8], len: usize, out: &mut Vec<u8>) {
    for image in images.chunks_exact(len) {
        for place in &leaf.places {
            out.extend_from_slice(&image[*place as usize..*place as usize + leaf.run]);
        }
    }
}

/// A run of a known width: the copy is one move, and the compiler can interleave rows.
fn fixed<const N: usize>(images: &[u8], len: usize, at: usize, out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + images.len() / len.max(1) * N, 0);
    let cells = out.get_mut(begin..).map(|new| new.chunks_exact_mut(N));
    for (cell, image) in cells.into_iter().flatten().zip(images.chunks_exact(len)) {
        if let Some(bytes) = image.get(at..at + N) {
            cell.copy_from_slice(bytes);
        }
    }
}

fn source_len(leaf: &Leaf) -> usize {
    match leaf.source {
        Source::UpToZero(limit) => limit,
        _ => leaf.run,
    }
}

/// Appends one run; false when its bytes had to be changed.
fn run(leaf: &Leaf, bytes: &[u8], out: &mut Vec<u8>) -> bool {
    match leaf.source {
        Source::Copy => out.extend_from_slice(bytes),
        Source::Guards => out.push(1),
        Source::Bool => {
            out.extend(bytes.iter().map(|byte| u8::from(*byte != 0)));
            return bytes.iter().all(|byte| *byte <= 1);
        }
        Source::Clamp(limit) => {
            let count = number(bytes);
            out.extend(count.min(limit).to_le_bytes().iter().take(leaf.run));
            return count <= limit;
        }
        Source::UpToZero(limit) => {
            let used = bytes.iter().position(|byte| *byte == 0).unwrap_or(limit);
            out.extend_from_slice(&(used as u16).to_le_bytes());
        }
    }
    true
}

/// True when every enclosing member is set.
pub(super) fn open(guards: &[Guard], place: usize, image: &[u8]) -> bool {
    guards.iter().all(|guard| {
        let at = guard.offsets.get(place).map_or(0, |offset| *offset as usize);
        number(part(image, at, guard.len)) == usize::from(guard.tag)
    })
}

/// True when the bytes that no column holds are what we would write.
pub(super) fn is_blank(blank: &Blank, image: &[u8]) -> bool {
    let zero = |at: usize, len: usize| part(image, at, len).iter().all(|byte| *byte == 0);
    blank.places.iter().enumerate().all(|(index, place)| {
        let place = *place as usize;
        if !open(&blank.guards, index, image) {
            return true;
        }
        match &blank.kind {
            BlankKind::Zero(len) => zero(place, *len),
            BlankKind::Region { tag_len, region, members } => {
                let tag = number(part(image, place, *tag_len));
                let held = members.iter().find(|(known, _)| usize::from(*known) == tag).map(|(_, size)| *size);
                match held.or((tag == 0).then_some(0)) {
                    Some(held) => zero(place + tag_len + held, region - held),
                    None => false,
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::plan::Role;
    use super::*;
    use fw_tensor::DType;

    #[test]
    fn fast_and_plain_agree() {
        let images: Vec<u8> = (0..=255).cycle().take(37 * 29).collect();
        for run in 1..=12 {
            let leaf = Leaf {
                path: String::new(),
                role: Role::Value,
                dtype: DType::UInt8,
                dims: Vec::new(),
                run,
                places: vec![5],
                guards: Vec::new(),
                source: Source::Copy,
            };
            let (mut fast, mut slow) = (vec![9], vec![9]);
            assert!(gather(&leaf, &images, 37, &mut fast).is_empty());
            plain(&leaf, &images, 37, &mut slow);
            assert_eq!(fast, slow);
        }
    }
}
