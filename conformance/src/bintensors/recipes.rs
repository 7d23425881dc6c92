//! Files too large to ship: their headers, and the digests of what a writer streams.

use std::borrow::Cow;
use std::io::{self, Write};

use fw_bintensors::{Dtype, Metadata, Plan, Profile, ReadOptions, Shape, View, WriteOptions, serialize_to_writer};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use sha3::Sha3_256;

use crate::digest::hex;
use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};
use crate::tensogram::parse;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recipe {
    #[serde(rename = "name")]
    _name: IgnoredAny,
    tensors: Option<Vec<Tensor>>,
    #[serde(default)]
    note: String,
    fill: Option<String>,
    #[serde(default)]
    metadata: Option<std::collections::BTreeMap<String, String>>,
    header_hex: Option<String>,
    #[serde(default)]
    header_only: bool,
    header_size: Option<u64>,
    file_size: Option<u64>,
    sha1: Option<String>,
    sha256: Option<String>,
    sha3_256: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tensor {
    name: String,
    dtype: String,
    shape: Vec<u64>,
}

type Described = (String, Dtype, Shape);

/// Runs the manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    let unknown = manifest.json.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let unknown: Vec<_> = unknown.filter(|key| !["schema", "recipes"].contains(key)).collect();
    if !unknown.is_empty() {
        rows.check("bintensors/recipes", |row| row.deviates(format!("fields not understood: {unknown:?}")));
    }
    for entry in manifest.json["recipes"].as_array().into_iter().flatten() {
        rows.check(&format!("bintensors/recipes/{}", entry["name"].as_str().unwrap_or("without-name")), |row| {
            check_entry(entry.clone(), row);
        });
    }
    Companions::new()
}

fn check_entry(entry: Json, row: &mut Row) {
    let Some(recipe) = parse::<Recipe>(row, entry) else { return };
    let tensors = match &recipe.tensors {
        Some(tensors) => tensors.iter().map(|tensor| described(&tensor.name, &tensor.dtype, &tensor.shape)).collect(),
        None => in_words(&recipe.note),
    };
    let Some(tensors) = row.accept("tensors", tensors) else { return };
    let mut options = WriteOptions::new();
    options.metadata = recipe.metadata.clone();
    let Some(plan) = row.accept("plan", Plan::new(tensors.clone(), &options)) else { return };
    if let Some(expected) = &recipe.header_hex {
        row.equal("header", expected.as_str(), &hex(plan.head()));
        // The header alone reads, without the gigabytes that follow it.
        let options = ReadOptions::new().with_profile(Profile::Canonical);
        let parsed = Metadata::parse(plan.head(), Some(plan.file_len()), &options);
        if let Some(parsed) = row.accept("read the header", parsed) {
            row.equal("tensors", &tensors.len(), &parsed.len());
        }
    }
    if let Some(expected) = recipe.header_size {
        row.equal("header size", &expected, &(plan.head().len() as u64 - 8));
    }
    if let Some(expected) = recipe.file_size {
        row.equal("file size", &expected, &plan.file_len());
    }
    if !recipe.header_only {
        check_stream(&recipe, &plan, &options, row);
    }
}

fn check_stream(recipe: &Recipe, plan: &Plan, options: &WriteOptions, row: &mut Row) {
    let fill = match recipe.fill.as_deref() {
        Some("all zero bytes") => Fill::Zero,
        Some("tensor k (0-based, file order) byte i = (7*i + 13*k + 3) mod 256") => Fill::Counting,
        other => return row.deviates(format!("fill {other:?} not understood")),
    };
    let filled = plan.tensors().iter().enumerate().map(|(order, tensor)| {
        let len = tensor.data_offsets.1 - tensor.data_offsets.0;
        (
            tensor.name.clone(),
            Filled { dtype: tensor.dtype, shape: tensor.shape.clone(), len, order: order as u64, fill },
        )
    });
    let mut digests = Digests::default();
    if row.accept("write", serialize_to_writer(filled, options, &mut digests)).is_none() {
        return;
    }
    let found = [hex(&digests.sha1.finalize()), hex(&digests.sha256.finalize()), hex(&digests.sha3.finalize())];
    for (name, expected, found) in [
        ("sha1", &recipe.sha1, &found[0]),
        ("sha256", &recipe.sha256, &found[1]),
        ("sha3_256", &recipe.sha3_256, &found[2]),
    ] {
        if let Some(expected) = expected {
            row.equal(name, expected, found);
        }
    }
}

fn described(name: &str, dtype: &str, shape: &[u64]) -> Result<Described, String> {
    let dtype = dtype.parse().map_err(|_| format!("dtype `{dtype}`"))?;
    Ok((name.to_owned(), dtype, shape.into()))
}

/// Tensors in words: `F32; a [2,3], five blocks i of h.i.{b[4],c[5]}, d[6]; no metadata`.
fn in_words(note: &str) -> Result<Vec<Described>, String> {
    const COUNTS: [&str; 9] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let mut parts = note.split(';').map(str::trim);
    let dtype = parts.next().unwrap_or_default();
    let mut rest = parts.next().unwrap_or_default();
    let mut tensors = Vec::new();
    while !rest.is_empty() {
        let (open, brace) = (rest.find('[').unwrap_or(rest.len()), rest.find('{').unwrap_or(rest.len()));
        if brace < open {
            let (head, tail) = rest.split_at(brace);
            let (inner, tail) = tail[1..].split_once('}').ok_or("a block without end")?;
            let (count, prefix) = head.split_once(" blocks i of ").ok_or_else(|| format!("`{head}`"))?;
            let count = COUNTS.iter().position(|word| *word == count.trim()).ok_or_else(|| format!("`{count}`"))? + 1;
            for (name, shape) in named_shapes(inner)? {
                for number in 0..count {
                    let name = format!("{}{name}", prefix.replace(".i.", &format!(".{number}.")));
                    tensors.push(described(&name, dtype, &shape)?);
                }
            }
            rest = tail;
        } else {
            let close = rest.find(']').ok_or("a shape without end")? + 1;
            for (name, shape) in named_shapes(&rest[..close])? {
                tensors.push(described(&name, dtype, &shape)?);
            }
            rest = &rest[close..];
        }
        rest = rest.trim_start_matches([',', ' ']);
    }
    Ok(tensors)
}

/// `a[2,3],b[4]`.
fn named_shapes(text: &str) -> Result<Vec<(String, Vec<u64>)>, String> {
    let items = text.split_inclusive(']').map(|item| item.trim_start_matches([',', ' ']));
    items
        .map(|item| {
            let (name, shape) = item.split_once('[').ok_or_else(|| format!("`{item}` has no shape"))?;
            let dimensions = shape.trim_end_matches(']').split(',').map(|dimension| dimension.trim().parse::<u64>());
            let dimensions = dimensions.collect::<Result<_, _>>().map_err(|_| format!("`{item}`"))?;
            Ok((name.trim().to_owned(), dimensions))
        })
        .collect()
}

#[derive(Clone, Copy)]
enum Fill {
    Zero,
    Counting,
}

/// A tensor made when its turn comes.
struct Filled {
    dtype: Dtype,
    shape: Shape,
    len: u64,
    order: u64,
    fill: Fill,
}

impl View for Filled {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Owned(match self.fill {
            Fill::Zero => vec![0; self.len as usize],
            Fill::Counting => (0..self.len).map(|index| (7 * index + 13 * self.order + 3) as u8).collect(),
        })
    }

    fn data_len(&self) -> u64 {
        self.len
    }
}

#[derive(Default)]
struct Digests {
    sha1: Sha1,
    sha256: Sha256,
    sha3: Sha3_256,
}

impl Write for Digests {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sha1.update(bytes);
        self.sha256.update(bytes);
        self.sha3.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_in_words() {
        let tensors = in_words("F32; a [2,3], two blocks i of h.i.{b[4],c[5]}, d[6]; no metadata").unwrap();
        let names: Vec<&str> = tensors.iter().map(|(name, _, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "h.0.b", "h.1.b", "h.0.c", "h.1.c", "d"]);
        assert_eq!(&*tensors[0].2, &[2, 3]);
        assert!(in_words("F32; many blocks of nothing").is_err());
    }
}
