//! Sorting items by their keys: `--sort mars.param,mars.step:desc`.

use crate::cursor::Cursor;
use crate::keys::comma;
use crate::{Item, Path, QueryError, Value};
use std::cmp::Ordering;

/// Keys to sort by, the most important first.
///
/// ```
/// use fw_query::{Map, SortKeys, Value};
///
/// let mut items: Vec<Map> = [Some(6), None, Some(12), Some(0)]
///     .map(|step| Map::Owned(step.map(|step| ("step".into(), Value::from(step))).into_iter().collect()))
///     .into();
/// SortKeys::parse("step:desc")?.sort(&mut items);
/// let steps: Vec<Option<Value>> = items.iter().map(|item| item.get("step")).collect();
/// assert_eq!(steps, [Some(Value::from(12)), Some(Value::from(6)), Some(Value::from(0)), None]);
/// # Ok::<(), fw_query::QueryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SortKeys {
    keys: Vec<(Path, Direction)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Ascending,
    Descending,
}

impl SortKeys {
    /// Parses keys with commas between them, each with `:asc` (the default) or `:desc` after it. A key that holds a
    /// colon is quoted.
    ///
    /// # Errors
    /// `unknown_direction`, and those of [`Path::parse`].
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let mut cursor = Cursor::new(text)?;
        let mut keys = Vec::new();
        loop {
            cursor.skip_blanks();
            let path = Path::read_to_colon(&mut cursor)?;
            keys.push((path, direction(&mut cursor)?));
            cursor.skip_blanks();
            if cursor.peek().is_none() {
                return Ok(Self { keys });
            }
            comma(&mut cursor)?;
        }
    }

    /// The keys that are looked up.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.keys.iter().map(|(path, _)| path)
    }

    /// Sorts items; those with equal keys keep their order. Every key is looked up once per item.
    pub fn sort<T: Item>(&self, items: &mut Vec<T>) {
        self.sort_by(items, |item| item);
    }

    /// Sorts anything that leads to an item.
    pub fn sort_by<T, I: Item + ?Sized>(&self, things: &mut Vec<T>, item: impl Fn(&T) -> &I) {
        let rows: Vec<Vec<Option<Value<'static>>>> = things.iter().map(|thing| self.row(item(thing))).collect();
        let mut order: Vec<usize> = (0..things.len()).collect();
        order.sort_by(|a, b| self.compare(&rows[*a], &rows[*b]));
        let mut taken: Vec<Option<T>> = std::mem::take(things).into_iter().map(Some).collect();
        things.extend(order.into_iter().filter_map(|index| taken[index].take()));
    }

    /// The sort keys of one item, for callers that keep them.
    pub fn row(&self, item: &(impl Item + ?Sized)) -> Vec<Option<Value<'static>>> {
        self.keys.iter().map(|(path, _)| item.lookup(path).map(Value::into_owned)).collect()
    }

    /// Compares two rows. Absent values come last in both directions.
    pub fn compare(&self, a: &[Option<Value<'_>>], b: &[Option<Value<'_>>]) -> Ordering {
        let orders = self.keys.iter().zip(a.iter().zip(b)).map(|((_, direction), (a, b))| match (a, b) {
            (Some(a), Some(b)) if *direction == Direction::Descending => compare_values(Some(b), Some(a)),
            (a, b) => compare_values(a.as_ref(), b.as_ref()),
        });
        orders.fold(Ordering::Equal, Ordering::then)
    }
}

/// A total order of values: numbers by value (NaN after the others), then text, `false` and `true`, bytes, arrays,
/// maps, null; absent values last.
pub fn compare_values(a: Option<&Value<'_>>, b: Option<&Value<'_>>) -> Ordering {
    let (Some(a), Some(b)) = (a, b) else { return a.is_none().cmp(&b.is_none()) };
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let orders = a.iter().zip(b.iter()).map(|(a, b)| compare_values(Some(&a), Some(&b)));
            orders.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        (Value::Map(_), Value::Map(_)) => a.to_json().cmp(&b.to_json()),
        (a, b) => match (a.number(), b.number()) {
            (Some(a), Some(b)) => a.total_cmp(b),
            _ => rank(a).cmp(&rank(b)),
        },
    }
}

fn rank(value: &Value<'_>) -> u8 {
    match value {
        Value::Integer(_) | Value::Float(_) => 0,
        Value::Text(_) => 1,
        Value::Bool(_) => 2,
        Value::Bytes(_) => 3,
        Value::Array(_) => 4,
        Value::Map(_) => 5,
        Value::Null => 6,
    }
}

/// Reads `:asc` or `:desc`, if a colon comes next.
fn direction(cursor: &mut Cursor<'_>) -> Result<Direction, QueryError> {
    if !cursor.eat(":") {
        return Ok(Direction::Ascending);
    }
    let start = cursor.at();
    while cursor.peek().is_some_and(|c| c != ',' && !c.is_whitespace()) {
        cursor.next();
    }
    match &cursor.text()[start..cursor.at()] {
        "asc" => Ok(Direction::Ascending),
        "desc" => Ok(Direction::Descending),
        word => {
            let message = format!("expected asc or desc after the colon, found {word:?}");
            Err(cursor
                .error("unknown_direction", start..cursor.at(), message)
                .with_hint("put a key that holds a colon in double quotes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn faults_have_code_and_place() {
        for (text, code, span) in [
            ("a:down", "unknown_direction", 2..6),
            ("b,a:", "unknown_direction", 4..4),
            (":desc", "empty_key", 0..0),
            ("a:desc,", "empty_key", 7..7),
        ] {
            let error = SortKeys::parse(text).unwrap_err();
            assert_eq!((error.code(), error.span()), (code, span), "{text}");
        }
    }

    #[test]
    fn quoted_keys_may_hold_colons() {
        for (text, key) in
            [("\"a:b\"", "a:b"), ("\"a:desc\":desc", "a:desc"), ("\"x y\":asc", "\"x y\""), ("a[0]:desc", "a[0]")]
        {
            let keys = SortKeys::parse(text).unwrap();
            assert_eq!(keys.paths().map(Path::as_str).collect::<Vec<_>>(), [key], "{text}");
        }
    }

    fn value() -> impl Strategy<Value = Option<Value<'static>>> {
        prop_oneof![
            Just(None),
            Just(Some(Value::Null)),
            any::<bool>().prop_map(|v| Some(Value::from(v))),
            (-3i64..3).prop_map(|v| Some(Value::from(v))),
            prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-0.0), Just(1.5), Just(2.0)]
                .prop_map(|v| Some(Value::from(v))),
            "[ab]{0,2}".prop_map(|v| Some(Value::from(v))),
            prop::collection::vec(-1i64..1, 0..3)
                .prop_map(|v| Some(Value::from(v.into_iter().map(Value::from).collect::<Vec<_>>()))),
        ]
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in value(), b in value(), c in value()) {
            let order = |a: &Option<Value<'static>>, b: &Option<Value<'static>>| compare_values(a.as_ref(), b.as_ref());
            prop_assert_eq!(order(&a, &b), order(&b, &a).reverse());
            if order(&a, &b).is_le() && order(&b, &c).is_le() {
                prop_assert!(order(&a, &c).is_le());
            }
            prop_assert_eq!(order(&a, &a), Ordering::Equal);
        }
    }
}
