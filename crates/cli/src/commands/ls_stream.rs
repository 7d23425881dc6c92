//! `fw ls -`: the objects of a Tensogram stream on standard input, each as it arrives.

use super::ls::{COLUMNS, object_name, pipeline};
use super::print;
use crate::args::Ls;
use crate::exit::{Failure, Outcome, aside};
use crate::input::Input;
use crate::opened::Opened;
use crate::render::{Table, shape, size};
use anyhow::Result;
use framewright::convert::Format;
use framewright::tensogram::{
    DataObjectDescriptor, DecodeOptions, GlobalMetadata, MetadataMap, StreamEvent, StreamReader,
};
use serde_json::json;
use std::cell::RefCell;
use std::io::{self, Read, Write};

pub(crate) fn run(args: &Ls) -> Result<Outcome> {
    let mut rest = io::stdin().lock();
    let mut head = Vec::new();
    rest.by_ref().take(8).read_to_end(&mut head)?;
    if head.is_empty() {
        return Err(Failure::new("empty_file", "standard input: the file is empty".to_owned()).into());
    }
    let whole = head.chain(rest);
    if may_be_weights(whole.get_ref().0) {
        let opened = Opened::of(Input::piped(whole)?)?;
        return super::ls::one(args, &opened).map_err(|error| opened.retold(error));
    }
    listed(args, whole)
}

/// Whether a stream begins like a file of another format, which cannot be listed as it comes.
fn may_be_weights(head: &[u8]) -> bool {
    // Formats without a mark begin with the length of their header, which is never larger than this.
    let len = head.try_into().map_or(u64::MAX, u64::from_le_bytes);
    Format::of_bytes(head).is_some_and(|format| format != Format::Tensogram) || len <= 100_000_000
}

fn listed(args: &Ls, stream: impl Read) -> Result<Outcome> {
    let listing = RefCell::new(Listing::new());
    let mut outcome = Outcome::Fine;
    let complain = |code: &str, words: String, position: Option<u64>| {
        if args.json {
            print(&format!("{}\n", json!({ "error": { "code": code, "message": words, "position": position } })))?;
        } else {
            listing.borrow_mut().lay_out();
            listing.borrow_mut().show()?;
            aside(format_args!("{words}\n"));
        }
        anyhow::Ok(Outcome::Invalid)
    };
    for event in StreamReader::without_payloads(Waiting { stream, listing: &listing }, DecodeOptions::default()) {
        match event {
            Ok(StreamEvent::Message { .. }) => listing.borrow_mut().begin(),
            Ok(StreamEvent::Metadata(found)) => listing.borrow_mut().metadata = found,
            Ok(StreamEvent::Listed { index, descriptor, preceder, stored_len }) => {
                let mut listing = listing.borrow_mut();
                let name = listing.name(index, preceder);
                let message = listing.started.saturating_sub(1);
                let row = Row { message, object: index, name, descriptor: &descriptor, stored_len };
                match args.json {
                    true => print(&format!("{}\n", row.json()))?,
                    false => listing.add(row.cells()),
                }
            }
            Ok(StreamEvent::End { .. }) => listing.borrow_mut().lay_out(),
            Ok(StreamEvent::Skipped(span)) => {
                let words = format!("bytes {span} are not part of any message");
                outcome = complain("bytes_outside_messages", words, Some(span.start))?;
            }
            Ok(_) => {}
            Err(error) if error.is_io() => return Err(error.into()),
            Err(error) => outcome = complain(error.code(), error.to_string(), error.offset())?,
        }
    }
    let mut listing = listing.into_inner();
    if listing.started == 0 {
        return Err(Failure::new("no_message", "no Tensogram message on standard input".to_owned()).into());
    }
    if !args.json {
        listing.lay_out();
        listing.show()?;
        // The head, where no row came.
        print(&listing.table.render())?;
    }
    Ok(outcome)
}

/// What is known of the stream so far.
struct Listing {
    table: Table,
    /// Lines that were not printed yet.
    lines: String,
    /// Rows that were not laid out yet.
    waiting: usize,
    /// Messages that have begun.
    started: usize,
    /// The metadata that came before its objects.
    metadata: GlobalMetadata,
}

impl Listing {
    fn new() -> Self {
        Self {
            table: Table::new(&COLUMNS),
            lines: String::new(),
            waiting: 0,
            started: 0,
            metadata: GlobalMetadata::default(),
        }
    }

    fn begin(&mut self) {
        // What came before broke off.
        self.lay_out();
        self.started += 1;
        self.metadata = GlobalMetadata::default();
    }

    /// What an object is called, by its preceder or by the metadata before the objects.
    fn name(&mut self, index: usize, preceder: MetadataMap) -> String {
        if self.metadata.base.len() <= index {
            self.metadata.base.resize_with(index + 1, Default::default);
        }
        if let Some(entry) = self.metadata.base.get_mut(index) {
            entry.extend(preceder);
        }
        object_name(&self.metadata, index)
    }

    /// Adds a row. Rows of a message are laid out together, so that columns do not depend on when the bytes came.
    fn add(&mut self, cells: [String; 8]) {
        self.table.row(cells);
        self.waiting += 1;
        if self.waiting >= MOST_WAITING {
            self.lay_out();
        }
    }

    fn lay_out(&mut self) {
        if std::mem::take(&mut self.waiting) > 0 {
            self.lines.push_str(&self.table.render());
        }
    }

    /// Prints the rows that have come.
    fn show(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        out.write_all(std::mem::take(&mut self.lines).as_bytes())?;
        out.flush()
    }
}

/// Rows that are held at most.
const MOST_WAITING: usize = 1000;

/// A stream that is waited for only when everything that is known of it was shown.
struct Waiting<'a, R> {
    stream: R,
    listing: &'a RefCell<Listing>,
}

impl<R: Read> Read for Waiting<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.listing.borrow_mut().show()?;
        self.stream.read(buffer)
    }
}

struct Row<'a> {
    message: usize,
    object: usize,
    name: String,
    descriptor: &'a DataObjectDescriptor,
    stored_len: u64,
}

impl Row<'_> {
    fn cells(&self) -> [String; 8] {
        [
            self.message.to_string(),
            self.object.to_string(),
            self.name.clone(),
            self.descriptor.dtype.to_string(),
            shape(&self.descriptor.shape),
            pipeline(self.descriptor),
            size(self.stored_len),
            self.descriptor.decoded_len().map_or_else(|_| "?".to_owned(), size),
        ]
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "message": self.message,
            "object": self.object,
            "name": self.name,
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
