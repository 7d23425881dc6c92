//! Did you mean.

/// The candidate closest to `word`, if it is close enough to be a slip of the hand.
pub(super) fn suggest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long words are not slips, and comparing them costs their product.
    if word.len() > 64 {
        return None;
    }
    let limit = if word.len() < 4 { 1 } else { 2 };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 64)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance > 0 && *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours; letters count without case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<u8> = a.to_ascii_lowercase().into_bytes();
    let b: Vec<u8> = b.to_ascii_lowercase().into_bytes();
    if a == b {
        return 1;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let mut best =
                (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["max_size", "size", "default", "flatten"];
        assert_eq!(suggest("maxsize", names), Some("max_size"));
        assert_eq!(suggest("flaten", names), Some("flatten"));
        assert_eq!(suggest("Size", names), Some("size"));
        assert_eq!(suggest("colour", names), None);
    }
}
