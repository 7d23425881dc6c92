//! How many items share the same values.

use crate::{Item, Keys, Value, compare_values};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Counts items by the values of some keys.
///
/// ```
/// use fw_query::{Counter, Keys, Map, Value};
///
/// let mut counter = Counter::new(Keys::parse("param")?);
/// for param in ["2t", "10u", "2t"] {
///     counter.add(&Map::Owned(vec![("param".into(), Value::from(param))]));
/// }
/// let counts: Vec<u64> = counter.into_groups().iter().map(|group| group.count).collect();
/// assert_eq!(counts, [1, 2]); // 10u, 2t
/// # Ok::<(), fw_query::QueryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Counter {
    keys: Keys,
    groups: HashMap<Vec<Option<(Kind, String)>>, Group>,
}

/// Items with the same values.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The value of each key; `None` where the items do not have it.
    pub values: Vec<Option<Value<'static>>>,
    /// Number of items.
    pub count: u64,
}

/// Keeps the number 12 and the text `12` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Number,
    Text,
    Other,
}

impl Counter {
    /// A counter by these keys.
    pub fn new(keys: Keys) -> Self {
        Self { keys, groups: HashMap::new() }
    }

    /// Counts one item.
    pub fn add(&mut self, item: &(impl Item + ?Sized)) {
        let values = self.keys.values(item);
        let group = values.iter().map(|value| value.as_ref().map(identity)).collect();
        let group = self.groups.entry(group).or_insert_with(|| Group {
            values: values.into_iter().map(|value| value.map(Value::into_owned)).collect(),
            count: 0,
        });
        group.count += 1;
    }

    /// The groups, ordered by their values as sorting orders them.
    pub fn into_groups(self) -> Vec<Group> {
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.sort_by(|a, b| {
            let orders = a.values.iter().zip(&b.values).map(|(a, b)| compare_values(a.as_ref(), b.as_ref()));
            orders.fold(Ordering::Equal, Ordering::then)
        });
        groups
    }
}

/// Equal for equal values: `12` and `12.0` are one number.
fn identity(value: &Value<'_>) -> (Kind, String) {
    match value {
        Value::Float(float) if float.fract() == 0.0 && float.abs() < 2f64.powi(126) => {
            (Kind::Number, Value::Integer(*float as i128).to_text())
        }
        Value::Integer(_) | Value::Float(_) => (Kind::Number, value.to_text()),
        Value::Text(text) => (Kind::Text, text.to_string()),
        _ => (Kind::Other, value.to_text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Map;

    #[test]
    fn equal_numbers_are_one_group_and_text_is_another() {
        let mut counter = Counter::new(Keys::parse("k,missing").unwrap());
        for value in [Value::from(12), Value::from(12.0), Value::from("12"), Value::from(-0.0), Value::from(0)] {
            counter.add(&Map::Owned(vec![("k".into(), value)]));
        }
        counter.add(&Map::Owned(vec![("k".into(), Value::from(1e20))]));
        counter.add(&Map::Owned(vec![("k".into(), Value::Integer(10i128.pow(20)))]));
        counter.add(&Map::Owned(Vec::new()));
        let groups = counter.into_groups();
        let shown =
            groups.iter().map(|group| (group.values[0].as_ref().map_or(String::new(), Value::to_text), group.count));
        let expected = [("-0", 2), ("12", 2), ("1e20", 2), ("12", 1), ("", 1)];
        assert_eq!(shown.collect::<Vec<_>>(), expected.map(|(text, count)| (text.to_owned(), count)));
        assert_eq!(groups[3].values[0], Some(Value::from("12")));
    }
}
