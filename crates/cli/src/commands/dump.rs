//! `fw dump`: metadata and descriptors, or the annotated bytes.

use super::surveyed::{beside, in_file};
use super::{print, print_report};
use crate::args::Dump;
use crate::exit::{Outcome, Usage, aside};
use crate::input::Input;
use crate::render::{byte_map, byte_map_by, compact, shape, size, tree};
use anyhow::Result;
use framewright::convert::Format;
use framewright::primitives::Span;
use framewright::report::Tree;
use framewright::source::{FileSource, ReadAt};
use framewright::tensogram::{Survey, inspect};
use serde_json::json;
use std::fmt::Write as _;

pub(crate) fn run(args: &Dump, input: &Input) -> Result<Outcome> {
    let format = input.looked_format()?;
    if format != Format::Tensogram {
        if args.message.is_some() {
            return Err(Usage(format!("{}: {format} files have no messages", input.name())).into());
        }
        return tensors(args, input, format);
    }
    let file = input.tensogram()?;
    let spans = file.message_layouts()?;
    let wanted: Vec<usize> = match args.message {
        Some(index) if index >= spans.len() => {
            let text = format!("no message {index}: {} has {}", input.name(), spans.len());
            return Err(Usage(text).into());
        }
        Some(index) => vec![index],
        None => (0..spans.len()).collect(),
    };
    let mut all = Vec::new();
    for index in wanted {
        let span = spans[index];
        match (args.json, args.hex) {
            (true, true) => {
                let tree = inspect(&file.read_message(index)?);
                all.push(json!({ "message": index, "offset": span.start, "tree": tree }));
            }
            (true, false) => all.push(message_json(&in_file(file.survey(index)?, index, span), index, span)),
            (false, true) => {
                let bytes = file.read_message(index)?;
                print(&format!(
                    "== message {index}, bytes {span}\n{}",
                    byte_map(&inspect(&bytes), &bytes, span.start)
                ))?;
            }
            (false, false) => print(&message_text(&in_file(file.survey(index)?, index, span), index, span))?,
        }
    }
    if args.json {
        print_report("dump", true, json!({ "file": input.name(), "format": "tensogram", "messages": all }))?;
    } else if args.message.is_none()
        && let Some(finding) = beside(std::fs::metadata(input.path())?.len(), &spans)
    {
        aside(format_args!("{finding}\n"));
    }
    Ok(Outcome::Fine)
}

/// Any other file of named tensors: its byte ranges, with the bytes themselves for --hex.
fn tensors(args: &Dump, input: &Input, format: Format) -> Result<Outcome> {
    let tree = match format.dump(input.path()) {
        Ok(tree) => tree,
        Err(error) => return input.named(error),
    };
    if args.json {
        print_report("dump", true, json!({ "file": input.name(), "format": format, "tree": tree }))?;
    } else if args.hex {
        let source = FileSource::open(input.path())?;
        // Only the bytes that are shown are read.
        let read = |span: Span| {
            let mut bytes = vec![0; span.len() as usize];
            source.read_exact_at(span.start, &mut bytes).ok().map(|()| bytes)
        };
        print(&byte_map_by(&tree, &read, 0))?;
    } else {
        print(&ranges(&tree))?;
    }
    Ok(Outcome::Fine)
}

/// Range and meaning, indented by depth.
fn ranges(tree: &Tree) -> String {
    fn add(node: &Tree, depth: usize, width: usize, text: &mut String) {
        let (start, end) = (node.span.start, node.span.end);
        let value = if node.value.is_empty() { String::new() } else { format!(" {}", node.value) };
        let _ = writeln!(text, "{start:0width$}..{end:0width$}  {}{}{value}", "  ".repeat(depth), node.label);
        node.children.iter().for_each(|child| add(child, depth + 1, width, text));
    }
    let mut text = String::new();
    add(tree, 0, tree.span.end.to_string().len().max(4), &mut text);
    text
}

pub(crate) fn message_text(message: &Survey, index: usize, span: Span) -> String {
    let mut text = format!("message {index}, bytes {span} ({})\n", size(span.len()));
    if let Some(preamble) = &message.preamble {
        let _ = writeln!(text, "  flags: {}", preamble.flags);
    }
    match &message.metadata {
        Ok(metadata) => {
            if !metadata.extra.is_empty() {
                text.push_str("  metadata:\n");
                text.push_str(&tree(&metadata.extra, 4));
            }
            if !metadata.reserved.is_empty() {
                text.push_str("  provenance:\n");
                text.push_str(&tree(&metadata.reserved, 4));
            }
        }
        Err(error) => drop(writeln!(text, "  metadata cannot be read: {error}")),
    }
    for object in &message.objects {
        // Objects that could not be told apart are left out; the others keep their places.
        let o = object.index;
        let _ = writeln!(text, "  object {o}, frame at byte {}:", span.start + object.frame.start());
        match &object.descriptor {
            Ok(descriptor) => {
                let _ = writeln!(
                    text,
                    "    {} {}, {} endian, {}, stored in {}",
                    descriptor.dtype,
                    shape(&descriptor.shape),
                    descriptor.byte_order,
                    super::ls::pipeline(descriptor),
                    size(object.parts.region.len())
                );
                for (key, value) in &descriptor.params {
                    let _ = writeln!(text, "    {key}: {}", compact(value));
                }
                if let Some(masks) = &descriptor.masks {
                    for (kind, mask) in masks.iter() {
                        let _ = writeln!(text, "    mask {}: {}, {} bytes", kind.key(), mask.method, mask.length);
                    }
                }
            }
            Err(error) => drop(writeln!(text, "    descriptor cannot be read: {error}")),
        }
        if let Some(entry) = message.metadata.as_ref().ok().and_then(|metadata| metadata.base.get(o)) {
            let mut own = entry.clone();
            own.remove("_reserved_");
            text.push_str(&tree(&own, 4));
        }
    }
    for finding in message.report.findings() {
        let _ = writeln!(text, "  {finding}");
    }
    text
}

pub(crate) fn message_json(message: &Survey, index: usize, span: Span) -> serde_json::Value {
    let metadata = match &message.metadata {
        Ok(metadata) => json!({
            "base": metadata.base, "_extra_": metadata.extra, "_reserved_": metadata.reserved,
        }),
        Err(error) => json!({ "error": error.to_string() }),
    };
    let objects: Vec<_> = message
        .objects
        .iter()
        .map(|object| match &object.descriptor {
            Ok(descriptor) => json!({
                "object": object.index,
                "frame": [span.start + object.frame.start(), span.start + object.frame.end()],
                "type": descriptor.obj_type,
                "ndim": descriptor.ndim,
                "shape": descriptor.shape,
                "strides": descriptor.strides,
                "dtype": descriptor.dtype.name(),
                "byte_order": descriptor.byte_order.name(),
                "encoding": descriptor.encoding,
                "filter": descriptor.filter,
                "compression": descriptor.compression,
                "params": descriptor.params,
                "masks": descriptor.masks.iter().flat_map(|masks| masks.iter()).map(|(kind, mask)| json!({
                    "kind": kind.key(), "method": mask.method, "offset": mask.offset, "length": mask.length,
                })).collect::<Vec<_>>(),
            }),
            Err(error) => json!({ "object": object.index, "error": error.to_string() }),
        })
        .collect();
    json!({
        "message": index,
        "offset": span.start,
        "length": span.len(),
        "flags": message.preamble.as_ref().map(|preamble| preamble.flags.0),
        "metadata": metadata,
        "objects": objects,
        "findings": message.report.findings(),
    })
}
