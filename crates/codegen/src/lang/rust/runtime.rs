//! The runtime as a module of generated code, made from the sources of the crates that are the runtime otherwise.

use super::super::File;

/// The files of the runtime, in a folder of this name.
pub(super) fn files(module: &str) -> Vec<File> {
    SOURCES
        .iter()
        .map(|(path, text)| {
            // How many modules lie between a file and the folder: `mod.rs` is the folder itself.
            let depth = path.matches('/').count() + usize::from(!path.ends_with("mod.rs"));
            File::new(format!("{module}/{path}"), adapted(text, depth))
        })
        .chain([File::new(format!("{module}/mod.rs"), door())])
        .collect()
}

macro_rules! sources {
    ($($path:literal from $source:literal,)*) => {
        &[$(($path, include_str!(concat!("../../../../", $source)))),*]
    };
}

/// Where each file comes from.
const SOURCES: &[(&str, &str)] = sources! {
    "bytes/checksum/fletcher16.rs" from "bytes/src/checksum/fletcher16.rs",
    "bytes/offset.rs" from "bytes/src/offset.rs",
    "client.rs" from "structframe/src/client.rs",
    "field/bounded.rs" from "structframe/src/field/bounded.rs",
    "field/fixed.rs" from "structframe/src/field/fixed.rs",
    "field/mod.rs" from "structframe/src/field/mod.rs",
    "field/text.rs" from "structframe/src/field/text.rs",
    "field/trimmed.rs" from "structframe/src/field/trimmed.rs",
    "field/view.rs" from "structframe/src/field/view.rs",
    "frame/event.rs" from "structframe/src/frame/event.rs",
    "frame/frames.rs" from "structframe/src/frame/frames.rs",
    "frame/look.rs" from "structframe/src/frame/look.rs",
    "frame/machine.rs" from "structframe/src/frame/machine.rs",
    "frame/mod.rs" from "structframe/src/frame/mod.rs",
    "frame/stream.rs" from "structframe/src/frame/stream.rs",
    "frame/write.rs" from "structframe/src/frame/write.rs",
    "message.rs" from "structframe/src/message.rs",
    "wire/framing.rs" from "structframe/src/wire/framing.rs",
    "wire/header.rs" from "structframe/src/wire/header.rs",
    "wire/info.rs" from "structframe/src/wire/info.rs",
    "wire/mod.rs" from "structframe/src/wire/mod.rs",
};

/// `mod.rs`: what the crate's `lib.rs` declares, and the few modules of `fw-bytes`.
fn door() -> String {
    let lib = include_str!("../../../../structframe/src/lib.rs");
    let rooms = lib.split_once("mod wire;").map_or("", |(_, rest)| rest);
    let rooms = rooms.split_once("/// The messages that").map_or(rooms, |(rooms, _)| rooms);
    format!(
        "//! The struct-frame runtime: framings, checksums, writer, readers and client.\n//!\n\
         //! Shipped by `fw gen --standalone`. Changes here are lost.\n\n\
         /// Positions and checksums.\npub mod bytes {{\n    mod offset;\n    pub use offset::Span;\n    \
         /// The two sums of struct-frame.\n    pub mod checksum {{\n        mod fletcher16;\n        \
         pub use fletcher16::Fletcher16;\n    }}\n}}\n{}",
        adapted(&format!("mod wire;{}", rooms.trim_end()), 0)
    )
}

/// A source file as a module `depth` modules below the runtime: without tests, without what features of the crate add, and
/// with relative paths. Examples in comments name the crate, so they are not run.
fn adapted(text: &str, depth: usize) -> String {
    let text = text.split_once("\n#[cfg(test)]\nmod ").map_or(text, |(text, _)| text);
    let root = "super::".repeat(depth);
    let mut out = String::new();
    let mut in_example = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("#[cfg(") {
            drop_comment(&mut out);
            skip_item(line, &mut lines);
            continue;
        }
        let comment = line.trim_start();
        if (comment.starts_with("///") || comment.starts_with("//!")) && comment.ends_with("```") {
            in_example = !in_example;
            out += line;
            out += if in_example { "ignore\n" } else { "\n" };
            continue;
        }
        out += &line.replace("fw_bytes::", &format!("{root}bytes::")).replace("crate::", &root);
        out.push('\n');
    }
    out
}

/// Removes the comment at the end of a text: what it describes is left out.
fn drop_comment(text: &mut String) {
    while let Some(last) =
        text.trim_end_matches('\n').rsplit('\n').next().filter(|last| last.trim_start().starts_with("///"))
    {
        text.truncate(text.trim_end_matches('\n').len() - last.len());
    }
}

/// Skips what an attribute applies to: a line, or everything up to the brace that closes at its indentation.
fn skip_item<'t>(attribute: &str, lines: &mut impl Iterator<Item = &'t str>) {
    let indent = attribute.len() - attribute.trim_start().len();
    let closing = format!("{}}}", " ".repeat(indent));
    if lines.next().is_some_and(|first| !first.trim_end().ends_with(';') && !first.contains("; //")) {
        lines.find(|line| line.trim_end_matches(';') == closing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_crates_is_left() {
        for file in files("runtime") {
            assert!(!file.text.contains("cfg("), "{}", file.path);
            let code = file.text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                assert!(!line.contains("crate::") && !line.contains("fw_bytes"), "{}: {line}", file.path);
            }
        }
    }
}
