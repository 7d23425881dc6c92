//! Files to measure on, written by our encoder; the reference reads them too.

use fw_tensogram::{MessageBuilder, Pipe, Value};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A forecast of many small messages: eight parameters, a step for every eighth message.
pub(crate) fn small(folder: &Path, count: usize) -> PathBuf {
    file(folder, &format!("small-{count}.tgm"), (0..count).map(|at| message(at % 8, at / 8, &[4, 6], None)))
}

/// `count` fields of one degree, packed to 16 bits and compressed by szip; the step counts up.
pub(crate) fn packed(folder: &Path, count: usize) -> PathBuf {
    let pipe = || Some(Pipe::pack(16).szip());
    file(folder, &format!("packed-{count}.tgm"), (0..count).map(|at| message(0, at, &[181, 360], pipe())))
}

/// One message of a GiB.
pub(crate) fn large(folder: &Path) -> PathBuf {
    file(folder, "large.tgm", std::iter::once_with(|| message(0, 0, &[11_586, 11_585], None)))
}

fn file(folder: &Path, name: &str, messages: impl Iterator<Item = Vec<u8>>) -> PathBuf {
    let path = folder.join(name);
    if !path.exists() {
        let mut file = BufWriter::with_capacity(4 << 20, std::fs::File::create(&path).expect("a file"));
        messages.for_each(|message| file.write_all(&message).expect("written"));
        file.flush().expect("written");
    }
    path
}

fn message(param: usize, step: usize, shape: &[u64; 2], pipe: Option<Pipe>) -> Vec<u8> {
    const PARAMS: [&str; 8] = ["2t", "10u", "10v", "msl", "tp", "sp", "tcc", "skt"];
    let [rows, columns] = *shape;
    let wave =
        |at: u64| 280.0 + 20.0 * ((at % columns) as f64 / 57.0 + (at / columns + step as u64) as f64 / 31.0).sin();
    let values: Vec<f64> = (0..rows * columns).map(wave).collect();
    let mars = Value::map([
        ("class", Value::from("od")),
        ("param", Value::from(PARAMS[param])),
        ("step", Value::from(step as i64)),
    ]);
    let builder = MessageBuilder::new().tensor(shape, &values).expect("the shape fits");
    let builder = match pipe {
        Some(pipe) => builder.pipeline(pipe),
        None => builder,
    };
    builder.base("mars", mars).encode().expect("encodes")
}
