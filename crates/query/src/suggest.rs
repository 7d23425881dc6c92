//! Did you mean.

/// The candidate closest to `word`, if it is close enough to be a typing mistake.
///
/// ```
/// assert_eq!(fw_query::closest("mars.parm", ["mars.param", "mars.step"]), Some("mars.param"));
/// assert_eq!(fw_query::closest("colour", ["mars.param", "mars.step"]), None);
/// ```
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long words are rarely mistyped as a whole, and comparing them costs the product of their lengths.
    if word.len() > LONGEST {
        return None;
    }
    let limit = if word.len() < 4 { 1 } else { 2 };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST && candidate.len().abs_diff(word.len()) <= 4 * limit)
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *candidate != word && *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbouring characters between two words. Upper and lower case
/// ASCII letters count as the same.
///
/// ```
/// assert_eq!(fw_query::edit_distance("param", "parma"), 1);
/// assert_eq!(fw_query::edit_distance("step", "STEPS"), 1);
/// ```
pub fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().map(|c| c.to_ascii_lowercase()).collect();
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i);
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

const LONGEST: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_are_found_and_other_words_are_not() {
        let names = ["max_size", "size", "default", "flatten"];
        assert_eq!(closest("maxsize", names), Some("max_size"));
        assert_eq!(closest("flaten", names), Some("flatten"));
        assert_eq!(closest("Size", names), Some("size"));
        assert_eq!(closest("colour", names), None);
        assert_eq!(closest("size", ["size"]), None);
    }

    #[test]
    fn distance_of_empty_words_is_the_other_length() {
        assert_eq!((edit_distance("", "abc"), edit_distance("äbc", ""), edit_distance("", "")), (3, 3, 0));
    }
}
