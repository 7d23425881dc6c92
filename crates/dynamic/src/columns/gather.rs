//! Blocks of images to columns.

use super::plan::{Blank, BlankKind, Guard, Leaf, Source};
use crate::image::{number, part};

/// Appends one column's bytes for every image of a block. Returns the rows (counted in the block) whose bytes were
/// changed on the way, because a count exceeded its bound or a bool was neither 0 nor 1.
pub(super) fn gather(leaf: &Leaf, images: &[u8], len: usize, out: &mut Vec<u8>) -> Vec<usize> {
    let begin = out.len();
    let rows = images.len() / len.max(1);
    out.resize(begin + rows * leaf.run * leaf.places.len(), 0);
    let new = out.get_mut(begin..).unwrap_or_default();
    if leaf.guards.is_empty() && !matches!(leaf.source, Source::UpToZero(_) | Source::Guards) {
        copy(leaf, images, len, new);
        return mend(leaf, new);
    }
    let mut changed = Vec::new();
    let row_len = (leaf.run * leaf.places.len()).max(1);
    for (row, (image, cells)) in images.chunks_exact(len).zip(new.chunks_exact_mut(row_len)).enumerate() {
        let mut clean = true;
        for (index, (place, cell)) in leaf.places.iter().zip(cells.chunks_exact_mut(leaf.run)).enumerate() {
            // A closed place keeps its zeros.
            if open(&leaf.guards, index, image) {
                clean &= run(leaf.source, part(image, *place as usize, source_len(leaf)), cell);
            }
        }
        if !clean {
            changed.push(row);
        }
    }
    changed
}

/// Copies every run of a leaf without guards.
fn copy(leaf: &Leaf, images: &[u8], len: usize, new: &mut [u8]) {
    match leaf.run {
        1 => runs::<1>(&leaf.places, images, len, new),
        2 => runs::<2>(&leaf.places, images, len, new),
        4 => runs::<4>(&leaf.places, images, len, new),
        8 => runs::<8>(&leaf.places, images, len, new),
        run => {
            let row_len = run * leaf.places.len();
            for (image, cells) in images.chunks_exact(len).zip(new.chunks_exact_mut(row_len)) {
                for (place, cell) in leaf.places.iter().zip(cells.chunks_exact_mut(run)) {
                    cell.copy_from_slice(part(image, *place as usize, run));
                }
            }
        }
    }
}

/// Runs of a known width: each copy is one move, and the compiler can interleave rows.
fn runs<const N: usize>(places: &[u32], images: &[u8], len: usize, new: &mut [u8]) {
    let cells = new.as_chunks_mut::<N>().0;
    for (image, cells) in images.chunks_exact(len).zip(cells.chunks_exact_mut(places.len())) {
        for (place, cell) in places.iter().zip(cells) {
            if let Some(bytes) = image.get(*place as usize..).and_then(|rest| rest.first_chunk::<N>()) {
                *cell = *bytes;
            }
        }
    }
}

/// Brings copied bools and counts into their range, in place; returns the rows where that changed something.
fn mend(leaf: &Leaf, new: &mut [u8]) -> Vec<usize> {
    // A run of bools is judged byte by byte, a count as a whole.
    let unit = match leaf.source {
        Source::Bool => 1,
        Source::Clamp(_) => leaf.run,
        _ => return Vec::new(),
    };
    let limit = if let Source::Clamp(limit) = leaf.source { limit } else { 1 };
    if new.chunks_exact(unit).all(|cell| number(cell) <= limit) {
        return Vec::new();
    }
    let row_len = leaf.run * leaf.places.len();
    let mut changed = Vec::new();
    for (row, cells) in new.chunks_exact_mut(row_len).enumerate() {
        let mut clean = true;
        for cell in cells.chunks_exact_mut(unit) {
            let copied: [u8; 2] = [cell.first().copied().unwrap_or(0), cell.get(1).copied().unwrap_or(0)];
            clean &= run(leaf.source, part(&copied, 0, unit), cell);
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

fn source_len(leaf: &Leaf) -> usize {
    match leaf.source {
        Source::UpToZero(limit) => limit,
        _ => leaf.run,
    }
}

/// Writes one run; false when its bytes had to be changed.
fn run(source: Source, bytes: &[u8], cell: &mut [u8]) -> bool {
    match source {
        Source::Copy => cell.copy_from_slice(bytes),
        Source::Guards => cell.fill(1),
        Source::Bool => {
            for (to, from) in cell.iter_mut().zip(bytes) {
                *to = u8::from(*from != 0);
            }
            return bytes.iter().all(|byte| *byte <= 1);
        }
        Source::Clamp(limit) => {
            let count = number(bytes);
            for (to, from) in cell.iter_mut().zip(count.min(limit).to_le_bytes()) {
                *to = from;
            }
            return count <= limit;
        }
        Source::UpToZero(limit) => {
            let used = bytes.iter().position(|byte| *byte == 0).unwrap_or(limit);
            cell.copy_from_slice(&(used as u16).to_le_bytes());
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
        for (run, places) in (1..=12).flat_map(|run| [(run, vec![5]), (run, vec![1, 25, 13])]) {
            let leaf = Leaf {
                path: String::new(),
                role: Role::Value,
                dtype: DType::UInt8,
                dims: Vec::new(),
                run,
                places,
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
