//! Which part of a tensor is shown: axes, their places in the tensor, and how many elements are left out.

use crate::error::{LookError, Result};
use fw_convert::ConvertError;
use fw_tensor::{AxisSlice, Selection};

/// One axis of the tensor that is part of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// Which axis of the tensor.
    pub(super) axis: usize,
    /// Indices of the first and last elements along it.
    pub(super) first: u64,
    pub(super) last: u64,
    /// How many elements are shown.
    pub(super) len: u64,
}

/// What is shown of a tensor.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// What to read.
    pub(super) selection: Selection,
    /// The axes that are left, outermost first.
    pub(super) axes: Vec<Shown>,
    /// The axes of more than one element of which one index was taken without being asked: `(axis, index, length)`.
    pub(super) fixed: Vec<(usize, u64, u64)>,
    /// Every how many elements are shown along both axes; 1 for all.
    pub(super) thinned: u64,
}

/// Chooses at most `rank` axes. Of those that are too many the first index is taken, outermost axes first; more than `most`
/// elements are thinned out evenly.
///
/// # Errors
/// A selection that does not fit the shape.
pub(super) fn choose(shape: &[u64], wanted: &Selection, rank: usize, most: u64) -> Result<Choice> {
    // The whole plan first: its errors name the right axis.
    wanted.plan(shape).map_err(ConvertError::from)?;
    let mut slices = wanted.expanded(shape.len()).map_err(ConvertError::from)?;
    let lens = |slices: &[AxisSlice]| -> Result<Vec<Option<Shown>>> {
        slices.iter().zip(shape).enumerate().map(|(axis, (slice, len))| shown(axis, *slice, *len)).collect()
    };
    let mut fixed = Vec::new();
    // Axes of one element say nothing in a picture; of the others the innermost are kept.
    let found = lens(&slices)?;
    let long = found.iter().flatten().filter(|axis| axis.len != 1).count();
    let mut surplus = found.iter().flatten().count().saturating_sub(rank);
    for axis in found.iter().flatten().filter(|axis| axis.len == 1) {
        if surplus > 0 {
            slices[axis.axis] = AxisSlice::Index(i64::try_from(axis.first).unwrap_or(i64::MAX));
            surplus -= 1;
        }
    }
    for axis in found.iter().flatten().filter(|axis| axis.len > 1).take(long.saturating_sub(rank)) {
        slices[axis.axis] = AxisSlice::Index(i64::try_from(axis.first).unwrap_or(i64::MAX));
        fixed.push((axis.axis, axis.first, shape[axis.axis]));
    }
    let axes: Vec<Shown> = lens(&slices)?.into_iter().flatten().collect();
    let count = axes.iter().map(|axis| axis.len).fold(1u64, u64::saturating_mul);
    let thinned = if axes.is_empty() || count <= most {
        1
    } else {
        let share = (count as f64 / most as f64).powf(1.0 / axes.len() as f64);
        share.ceil() as u64
    };
    if thinned > 1 {
        for axis in &axes {
            if let AxisSlice::Range { start, end, step } = slices[axis.axis] {
                let step = step.saturating_mul(i64::try_from(thinned).unwrap_or(i64::MAX));
                slices[axis.axis] = AxisSlice::Range { start, end, step };
            }
        }
    }
    let axes = lens(&slices)?.into_iter().flatten().collect();
    Ok(Choice { selection: slices.into_iter().collect(), axes, fixed, thinned })
}

/// What is left of an axis; nothing of one that an index was taken of.
fn shown(axis: usize, slice: AxisSlice, len: u64) -> Result<Option<Shown>> {
    let plan = Selection::new().axis(slice).plan(&[len]).map_err(ConvertError::from)?;
    if matches!(slice, AxisSlice::Index(_)) {
        return Ok(None);
    }
    let taken = plan.element_count();
    let step = match slice {
        AxisSlice::Range { step, .. } => step,
        _ => 1,
    };
    // The first run begins at the first index; those after it follow at the distance of a step.
    let first = plan.runs().next().map_or(0, |run| run.start);
    let way = i128::from(step) * i128::from(taken.saturating_sub(1));
    let last = u64::try_from(i128::from(first) + way)
        .map_err(|_| LookError::misuse("invalid_slice", format!("axis {axis}: the slice is out of range")))?;
    Ok(Some(Shown { axis, first, last, len: taken }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fw_tensor::select;

    fn axes(choice: &Choice) -> Vec<(usize, u64, u64, u64)> {
        choice.axes.iter().map(|axis| (axis.axis, axis.first, axis.last, axis.len)).collect()
    }

    #[test]
    fn the_innermost_axes_are_kept() {
        let choice = choose(&[2, 1, 3, 4], &Selection::new(), 2, 1 << 20).unwrap();
        assert_eq!(axes(&choice), [(2, 0, 2, 3), (3, 0, 3, 4)]);
        assert_eq!(choice.fixed, [(0, 0, 2)]);
        let line = choose(&[3, 1], &Selection::new(), 2, 1 << 20).unwrap();
        assert_eq!(axes(&line), [(0, 0, 2, 3), (1, 0, 0, 1)]);
        assert_eq!(choose(&[], &Selection::new(), 2, 10).unwrap().axes, []);
    }

    #[test]
    fn a_selection_decides() {
        let choice = choose(&[5, 6, 7], &select![.., 2, 1..6;2], 2, 1 << 20).unwrap();
        assert_eq!(axes(&choice), [(0, 0, 4, 5), (2, 1, 5, 3)]);
        assert!(choice.fixed.is_empty());
        assert!(choose(&[5], &select![7], 2, 10).is_err());
    }

    #[test]
    fn what_is_too_large_is_thinned() {
        let choice = choose(&[1000, 1000], &Selection::new(), 2, 10_000).unwrap();
        assert_eq!(choice.thinned, 10);
        assert_eq!(axes(&choice), [(0, 0, 990, 100), (1, 0, 990, 100)]);
        assert_eq!(choice.selection.plan(&[1000, 1000]).unwrap().element_count(), 10_000);
    }
}
