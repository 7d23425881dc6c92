//! `fw cat --json`: type, shape and values of one tensor.

use super::{fine, fw, vectors};
use serde_json::{Value, json};

/// The numbers are those of `--text`, nested as the shape says.
#[test]
fn values_as_json() {
    let folder = vectors("tensogram");
    let json = fine(&folder, "cat f32_hash.tgm --json").json();
    assert_eq!((&json["command"], &json["ok"], &json["file"]), (&"cat".into(), &true.into(), &"f32_hash.tgm".into()));
    let tensor = &json["tensor"];
    assert_eq!(tensor["dtype"], "float32");
    fn flat(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| flat(item, into)),
            other => into.push(other.to_string()),
        }
    }
    let mut numbers = Vec::new();
    flat(&tensor["values"], &mut numbers);
    let text = fine(&folder, "cat f32_hash.tgm --text");
    let words: Vec<&str> = text.text().split_whitespace().collect();
    assert_eq!(numbers, words);
    let mut nested = &tensor["values"];
    for size in tensor["shape"].as_array().expect("a list") {
        assert_eq!(nested.as_array().map(Vec::len), size.as_u64().map(|size| size as usize));
        nested = &nested[0];
    }
    let part = fine(&folder, "cat f32_hash.tgm --json --slice 0").json();
    assert_eq!(part["tensor"]["values"], tensor["values"][0]);
}

/// A failure is an object of its own, with nothing before it.
#[test]
fn failures_are_objects() {
    let folder = vectors("tensogram");
    for (line, code) in [("cat f32_hash.tgm --json --message 7", 2), ("cat absent.tgm --json", 2)] {
        let run = fw(&folder, line);
        assert_eq!((run.code, run.err.as_str()), (code, ""), "fw {line}");
        assert_eq!((&run.json()["command"], &run.json()["ok"]), (&json!("cat"), &json!(false)), "fw {line}");
    }
    assert_eq!(fw(&folder, "cat f32_hash.tgm --json --npy").code, 2);
}
