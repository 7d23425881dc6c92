//! `fw ls -`: the objects of a Tensogram stream on standard input, each as it arrives.

use super::ls::{object_name, pipeline};
use crate::args::Look;
use crate::exit::Outcome;
use crate::render::{shape, size};
use anyhow::Result;
use framewright::tensogram::{
    DataObjectDescriptor, DecodeOptions, GlobalMetadata, MetadataMap, StreamEvent, StreamReader,
};
use serde_json::json;
use std::io::Write;

pub(crate) fn run(args: &Look) -> Result<Outcome> {
    let mut out = std::io::stdout().lock();
    let mut outcome = Outcome::Fine;
    // What is known of the message at hand: its number, and the metadata that came before its objects.
    let (mut started, mut metadata) = (0usize, GlobalMetadata::default());
    if !args.json {
        line(&mut out, ["message", "object", "name", "dtype", "shape", "pipeline", "stored", "decoded"])?;
    }
    for event in StreamReader::without_payloads(std::io::stdin().lock(), DecodeOptions::default()) {
        match event {
            Ok(StreamEvent::Message { .. }) => {
                started += 1;
                metadata = GlobalMetadata::default();
            }
            Ok(StreamEvent::Metadata(found)) => metadata = found,
            Ok(StreamEvent::Listed { index, descriptor, preceder, stored_len }) => {
                let row =
                    Row { message: started.saturating_sub(1), object: index, descriptor: &descriptor, stored_len };
                let name = name(&mut metadata, index, preceder);
                if args.json {
                    writeln!(out, "{}", row.json(&name))?;
                } else {
                    row.text(&mut out, &name)?;
                }
                // Whoever reads this waits for it.
                out.flush()?;
            }
            Ok(StreamEvent::Skipped(span)) => {
                eprintln!("bytes {span} belong to no message");
                outcome = Outcome::Invalid;
            }
            Ok(_) => {}
            Err(error) => {
                eprintln!("{error}");
                outcome = Outcome::Invalid;
            }
        }
    }
    if started == 0 {
        anyhow::bail!("no Tensogram message on standard input");
    }
    Ok(outcome)
}

struct Row<'a> {
    message: usize,
    object: usize,
    descriptor: &'a DataObjectDescriptor,
    stored_len: u64,
}

impl Row<'_> {
    fn text(&self, out: &mut impl Write, name: &str) -> Result<()> {
        let decoded = self.descriptor.decoded_len().map_or_else(|_| "?".to_owned(), size);
        let (message, object) = (self.message.to_string(), self.object.to_string());
        let (dtype, shape) = (self.descriptor.dtype.to_string(), shape(&self.descriptor.shape));
        line(
            out,
            [&message, &object, name, &dtype, &shape, &pipeline(self.descriptor), &size(self.stored_len), &decoded],
        )
    }

    fn json(&self, name: &str) -> serde_json::Value {
        json!({
            "message": self.message,
            "object": self.object,
            "name": name,
            "dtype": self.descriptor.dtype.name(),
            "shape": self.descriptor.shape,
            "byte_order": self.descriptor.byte_order.name(),
            "encoding": self.descriptor.encoding,
            "filter": self.descriptor.filter,
            "compression": self.descriptor.compression,
            "stored_bytes": self.stored_len,
            "bytes": self.descriptor.decoded_len().ok(),
        })
    }
}

/// What an object is called, by its preceder or by the metadata before the objects.
fn name(metadata: &mut GlobalMetadata, index: usize, preceder: MetadataMap) -> String {
    if metadata.base.len() <= index {
        metadata.base.resize_with(index + 1, Default::default);
    }
    if let Some(entry) = metadata.base.get_mut(index) {
        entry.extend(preceder);
    }
    object_name(metadata, index)
}

/// Columns of fixed width: the rows to come are not known.
fn line(out: &mut impl Write, cells: [&str; 8]) -> Result<()> {
    let [message, object, name, dtype, shape, pipeline, stored, decoded] = cells;
    writeln!(
        out,
        "{message:>7}  {object:>6}  {name:<12}  {dtype:<10}  {shape:<14}  {pipeline:<14}  {stored:>10}  {decoded:>10}"
    )?;
    Ok(())
}
