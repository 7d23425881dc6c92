//! Where frames come from: a file or a live pipe, and which framing they have.

use crate::exit::{Failure, Usage};
use crate::input;
use anyhow::{Context, Result, bail};
use framewright::convert::Format;
use framewright::dynamic::{detect, shown_name};
use framewright::schema::Schema;
use framewright::structframe::{BadChecksum, Event, Framing, HeaderKind, MessageInfo};
use std::fs::File;
use std::io::{Read, Stdin};
use std::path::Path;

/// Bytes as they come.
pub(crate) struct Feed {
    name: String,
    source: Source,
    /// Bytes that were read to find the framing, and not handed on yet.
    held: Vec<u8>,
}

enum Source {
    Pipe(Stdin),
    /// A terminal, a FIFO or a socket: what is read may be all there is for a while.
    Device(File),
    File(File),
}

impl Feed {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let source = if path == Path::new("-") {
            Source::Pipe(std::io::stdin())
        } else {
            let file = input::file(path, "decode")?;
            let regular = file.metadata().with_context(|| path.display().to_string())?.is_file();
            if regular { Source::File(file) } else { Source::Device(file) }
        };
        let name =
            if matches!(source, Source::Pipe(_)) { "standard input".to_owned() } else { path.display().to_string() };
        Ok(Self { name, source, held: Vec::new() })
    }

    /// What to call it in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// True when somebody may be waiting at the other end.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.source, Source::Pipe(_) | Source::Device(_))
    }

    /// Hands bytes to `take` as they come, until the end or until it has enough.
    ///
    /// # Errors
    /// When reading fails, and those of `take`.
    pub(crate) fn run(&mut self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            take(&held)?;
        }
        let mut chunk = vec![0; CHUNK];
        loop {
            match self.read(&mut chunk)? {
                0 => return Ok(()),
                len => take(&chunk[..len])?,
            }
        }
    }

    /// The framing that was asked for, or the one that the first bytes have. `None` for an empty input.
    ///
    /// # Errors
    /// When reading fails, or no framing fits.
    pub(crate) fn framing(&mut self, wanted: Option<Framing>, infos: &[MessageInfo]) -> Result<Option<Framing>> {
        if wanted.is_some() {
            return Ok(wanted);
        }
        let mut chunk = vec![0; CHUNK];
        loop {
            let len = self.read(&mut chunk)?;
            self.held.extend_from_slice(&chunk[..len]);
            let enough = if self.is_live() { PATIENCE } else { CHUNK };
            let done = len == 0 || self.held.len() >= enough;
            // Whoever watches a live stream does not wait for all of the sample, if what is there speaks clearly.
            let found = detect(infos, &self.held).filter(|found| {
                let clear = found.framing.header != HeaderKind::None && found.framing.has_length();
                done || clear && found.covered.saturating_mul(2) >= found.looked_at
            });
            match found {
                Some(found) => return Ok(Some(found.framing)),
                None if !done => {}
                None if self.held.is_empty() => return Ok(None),
                None => return Err(undetected(&self.name, &self.held)),
            }
        }
    }

    fn read(&mut self, chunk: &mut [u8]) -> Result<usize> {
        let result = match &mut self.source {
            Source::Pipe(pipe) => pipe.read(chunk),
            Source::Device(file) => match file.read(chunk) {
                // The other side of a pseudoterminal was closed.
                Err(error) if error.raw_os_error() == Some(EIO) => Ok(0),
                result => result,
            },
            Source::File(file) => file.read(chunk),
        };
        result.with_context(|| self.name.clone())
    }
}

/// No framing fits.
pub(crate) fn undetected(name: &str, bytes: &[u8]) -> anyhow::Error {
    let len = bytes.len();
    let (code, text) = match (len, Format::of_bytes(bytes)) {
        (0, _) => ("empty_file", format!("{name}: the file is empty")),
        (_, Some(format)) => (
            "not_a_capture",
            format!("{name}: is a {format} file, not a struct-frame capture\nhint: run fw info without --schema"),
        ),
        _ => {
            let text = format!(
                "{name}: no profile fits: {len} bytes hold no frame of a message that the schema has; say --profile if they \
                 should"
            );
            ("no_frame", text)
        }
    };
    Failure::new(code, text).into()
}

/// The messages that were asked for by name or id; nothing asked for is all of them.
///
/// # Errors
/// When the schema has no such message.
pub(crate) fn chosen(schema: &Schema, names: &[String]) -> Result<Vec<u16>> {
    let mut ids = Vec::new();
    for name in names {
        let found = schema.find(name).and_then(|message| message.id).or_else(|| name.parse().ok());
        let Some(id) = found else {
            let known: Vec<_> = schema.ids().map(|(_, message)| shown_name(schema, message)).collect();
            bail!(Usage(format!(
                "--message {name}: the schema has no such message with an id; it has {}",
                known.join(", ")
            )));
        };
        ids.push(id);
    }
    Ok(ids)
}

/// What an event says that is not a good frame; `None` for a good one.
pub(crate) fn complaint(schema: &Schema, event: &Event<'_>) -> Option<String> {
    let place = |at: u64| format!("at byte {at} (0x{at:x})");
    Some(match event {
        Event::Frame(_) => return None,
        Event::BadChecksum(BadChecksum { id, span, expected, found, .. }) => {
            let name = schema.by_id(*id).map_or("unknown".to_owned(), |message| shown_name(schema, message));
            let hex = |pair: &[u8; 2]| format!("{:02x} {:02x}", pair[0], pair[1]);
            format!(
                "bad checksum in a frame of {} bytes {}: id {id} ({name}), computed {}, found {}",
                span.len(),
                place(span.start),
                hex(expected),
                hex(found)
            )
        }
        Event::Skipped(span) => format!("{} bytes {} are not part of a frame", span.len(), place(span.start)),
        Event::Truncated(span) => format!("incomplete frame of {} bytes {}", span.len(), place(span.start)),
    })
}

/// Bytes read at a time, and looked at to find the framing of a file.
const CHUNK: usize = 64 << 10;

/// What Linux answers when nobody holds the other side of a pseudoterminal.
const EIO: i32 = 5;

/// Bytes of a live stream after which any framing that fits is taken.
const PATIENCE: usize = 4 << 10;
