//! Parts of tensors as people write them: `0:10,5:20:2,...,-1`, as in NumPy.

use framewright::tensor::{AxisSlice, Selection};

/// Understands a selection: a slice per axis with commas between, `...` for the axes that are not named.
///
/// # Errors
/// Which part is not understood, and what would be.
pub(crate) fn parse(text: &str) -> Result<Selection, String> {
    let inner = text.trim();
    let inner = inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(inner);
    inner.split(',').map(|part| axis(part.trim())).collect()
}

fn axis(part: &str) -> Result<AxisSlice, String> {
    if part == "..." {
        return Ok(AxisSlice::Ellipsis);
    }
    let number = |text: &str| {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        text.parse::<i64>().map(Some).map_err(|_| not_understood(part))
    };
    match part.split(':').collect::<Vec<_>>()[..] {
        [index] => number(index)?.map(AxisSlice::Index).ok_or_else(|| not_understood(part)),
        [start, end] => Ok(AxisSlice::Range { start: number(start)?, end: number(end)?, step: 1 }),
        [start, end, step] => match number(step)?.unwrap_or(1) {
            0 => Err(format!("{part:?} has a step of 0")),
            step => Ok(AxisSlice::Range { start: number(start)?, end: number(end)?, step }),
        },
        _ => Err(not_understood(part)),
    }
}

fn not_understood(part: &str) -> String {
    format!("{part:?} is not a slice; use INDEX, START:END, START:END:STEP or ... for each axis")
}

#[cfg(test)]
mod tests {
    use super::*;
    use framewright::tensor::select;

    #[test]
    fn slices_are_read_as_numpy_reads_them() {
        assert_eq!(parse("0:10,5:20:2").unwrap(), select![0..10, 5..20; 2]);
        let several = Selection::new().axis(-3..).ellipsis().axis(..-1).axis(7).stepped(.., -1);
        assert_eq!(parse("[ -3: , ..., :-1, 7, ::-1 ]").unwrap(), several);
        assert_eq!(parse("...").unwrap(), Selection::new().ellipsis());
        assert_eq!(parse(":").unwrap(), select![..]);
        for wrong in ["", "a", "1:2:3:4", "0:10,,2", "1.5", "::0", "0..10", "99999999999999999999", "1:x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
