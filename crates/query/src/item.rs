//! What answers lookups.

use crate::path::descend_map;
use crate::{Map, Path, Value};

/// Something that is selected, sorted, listed or named by its keys: a message, an object, a tensor, a decoded frame.
pub trait Item {
    /// The value of a key, or `None` when the item does not have it.
    fn lookup(&self, path: &Path) -> Option<Value<'_>>;
}

/// A map is an item of its own keys.
///
/// ```
/// use fw_query::{Item, Value, Where};
///
/// let gps = Value::map([("Gps", Value::map([("fix", Value::from(3))]))]);
/// let Value::Map(gps) = gps else { unreachable!() };
/// assert!(Where::parse("Gps.fix>=3")?.matches(&gps));
/// # Ok::<(), fw_query::QueryError>(())
/// ```
impl Item for Map<'_> {
    fn lookup(&self, path: &Path) -> Option<Value<'_>> {
        descend_map(self, path.segments())
    }
}

impl<T: Item + ?Sized> Item for &T {
    fn lookup(&self, path: &Path) -> Option<Value<'_>> {
        (**self).lookup(path)
    }
}
