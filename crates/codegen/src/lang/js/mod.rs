//! JavaScript: the TypeScript printer with types in comments. The runtime is the TypeScript one as `tsc` writes it, with
//! its declarations beside it; a test compares.

use super::ts::{self, Dialect};
use super::{Error, File, Options};
use fw_schema::Schema;

macro_rules! runtime {
    ([$($name:literal),*]) => {
        &[$(
            (concat!("runtime/", $name, ".js"), include_str!(concat!("../../../runtime/js/", $name, ".js"))),
            (concat!("runtime/", $name, ".d.ts"), include_str!(concat!("../../../runtime/js/", $name, ".d.ts"))),
        )*]
    };
}

/// The runtime, as it is.
const RUNTIME: &[(&str, &str)] = runtime!([
    "client",
    "errors",
    "framing",
    "index",
    "message",
    "reader",
    "registry",
    "text",
    "transport",
    "wire",
    "writer"
]);

pub(super) fn files(schema: &Schema, _: &Options) -> Result<Vec<File>, Error> {
    let mut files = ts::print(schema, Dialect::JavaScript, RUNTIME);
    files.push(File::new("package.json", "{\n  \"private\": true,\n  \"type\": \"module\"\n}\n"));
    Ok(files)
}
