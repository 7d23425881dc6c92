//! Nested metadata, written down as it looks.

/// A [`Value`](crate::Value), nested as deep as needed: maps in braces, lists in brackets, `null`, and any expression that
/// converts into a value. Keys are literals, names of variables, or expressions in parentheses.
///
/// ```
/// use fw_tensogram::{Value, value};
///
/// let step = 6;
/// let mars = value!({ "param": "2t", "step": step + 6, "area": [90.0, -180, null], "grid": { "n": 1280 } });
/// assert_eq!(mars.get("step").as_i64(), Some(12));
/// assert_eq!(mars.get("area").at(2).value(), Some(&Value::Null));
/// assert_eq!(mars.get("grid.n").as_i64(), Some(1280));
/// assert_eq!(value!("text"), Value::from("text"));
/// ```
#[macro_export]
macro_rules! value {
    // A list, item by item.
    (@list [$($done:expr,)*]) => { ::std::vec![$($done,)*] };
    (@list [$($done:expr,)*] null $(, $($rest:tt)*)?) => {
        $crate::value!(@list [$($done,)* $crate::value!(null),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::value!(@list [$($done,)* $crate::value!([$($inner)*]),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::value!(@list [$($done,)* $crate::value!({$($inner)*}),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] $item:expr $(, $($rest:tt)*)?) => {
        $crate::value!(@list [$($done,)* $crate::Value::from($item),] $($($rest)*)?)
    };
    // The pairs of a map, one by one; `key` is what keys are made into.
    (@pairs $key:ident [$($done:expr,)*]) => { ::std::vec![$($done,)*] };
    (@pairs $key:ident [$($done:expr,)*] $name:tt : null $(, $($rest:tt)*)?) => {
        $crate::value!(@pairs $key [$($done,)* ($crate::value!(@$key $name), $crate::value!(null)),] $($($rest)*)?)
    };
    (@pairs $key:ident [$($done:expr,)*] $name:tt : [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::value!(@pairs $key [$($done,)* ($crate::value!(@$key $name), $crate::value!([$($inner)*])),] $($($rest)*)?)
    };
    (@pairs $key:ident [$($done:expr,)*] $name:tt : {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::value!(@pairs $key [$($done,)* ($crate::value!(@$key $name), $crate::value!({$($inner)*})),] $($($rest)*)?)
    };
    (@pairs $key:ident [$($done:expr,)*] $name:tt : $value:expr $(, $($rest:tt)*)?) => {
        $crate::value!(@pairs $key [$($done,)* ($crate::value!(@$key $name), $crate::Value::from($value)),] $($($rest)*)?)
    };
    (@any ($name:expr)) => { $crate::Value::from($name) };
    (@any $name:expr) => { $crate::Value::from($name) };
    (@text ($name:expr)) => { ::std::string::String::from($name) };
    (@text $name:expr) => { ::std::string::String::from($name) };
    // What users write.
    (null) => { $crate::Value::Null };
    ([$($items:tt)*]) => { $crate::Value::Array($crate::value!(@list [] $($items)*)) };
    ({$($pairs:tt)*}) => {
        $crate::Value::map::<$crate::Value, $crate::Value>($crate::value!(@pairs any [] $($pairs)*))
    };
    ($value:expr) => { $crate::Value::from($value) };
}

/// A [`MetadataMap`](crate::MetadataMap), for the base entry of an object or the message level: the inside of a map as
/// [`value!`](crate::value) takes it.
///
/// ```
/// use fw_tensogram::{GlobalMetadata, metadata};
///
/// let metadata = GlobalMetadata {
///     base: vec![metadata! { "mars": { "param": "2t", "levelist": [500, 850] }, "units": "K" }],
///     extra: metadata! { "run": "2024-01-15T00:00Z" },
///     ..GlobalMetadata::default()
/// };
/// assert_eq!(metadata.get("mars.levelist").at(1).as_i64(), Some(850));
/// ```
#[macro_export]
macro_rules! metadata {
    ($($pairs:tt)*) => {
        $crate::MetadataMap::from_iter::<::std::vec::Vec<(::std::string::String, $crate::Value)>>(
            $crate::value!(@pairs text [] $($pairs)*)
        )
    };
}

#[cfg(test)]
mod tests {
    use crate::{MetadataMap, Value};

    #[test]
    fn values_nest() {
        let (key, one) = ("named", 1u32);
        let value = value!({
            "empty": {}, "list": [], "mixed": [1, -2.5, "x", null, [true], {"a": null,}, [1, 2].len(), -f64::from(one),],
            key: one * 2, ("a".to_owned() + "b"): Some(3), 7: null,
        });
        let expected = Value::map([
            (Value::from("empty"), Value::Map(vec![])),
            (Value::from("list"), Value::Array(vec![])),
            (
                Value::from("mixed"),
                Value::Array(vec![
                    Value::Integer(1),
                    Value::Float(-2.5),
                    Value::Text("x".to_owned()),
                    Value::Null,
                    Value::Array(vec![Value::Bool(true)]),
                    Value::Map(vec![(Value::from("a"), Value::Null)]),
                    Value::Integer(2),
                    Value::Float(-1.0),
                ]),
            ),
            (Value::from("named"), Value::Integer(2)),
            (Value::from("ab"), Value::Integer(3)),
            (Value::Integer(7), Value::Null),
        ]);
        assert_eq!(value, expected);
        assert_eq!(value!(null), Value::Null);
        assert_eq!(value!([1, [2]]), Value::Array(vec![Value::from(1), Value::Array(vec![Value::from(2)])]));
        assert_eq!(value!(1 + 1), Value::Integer(2));
    }

    #[test]
    fn metadata_maps_have_text_keys_and_the_last_of_equal_ones_wins() {
        assert_eq!(metadata! {}, MetadataMap::new());
        let map = metadata! { "a": 1, "b": { "c": [null] }, "a": 2 };
        assert_eq!(map.len(), 2);
        assert_eq!(map["a"], Value::Integer(2));
        assert_eq!(value!({ "a": 1, "a": 2 }), value!({ "a": 2 }));
    }
}
