//! `fw decode`: the frames of a capture or a live stream, a line of JSON each, or a table per message type.

use super::schema;
use crate::args::Decode;
use crate::exit::{Outcome, aside};
use crate::frames::{Feed, chosen, complaint};
use crate::render::Table;
use anyhow::Result;
use framewright::dynamic::{Codec, EnumStyle, FrameCodec, FrameLine, Strictness, Value, message_infos};
use framewright::structframe::Event;
use std::io::{BufWriter, Write};

pub(crate) fn run(args: &Decode) -> Result<Outcome> {
    let schema = match schema::compiled(&args.schema, args.packing)? {
        Ok(schema) => schema,
        Err(faults) => return schema::refused("decode", args.json, &faults),
    };
    let strictness = if args.strict { Strictness::Strict } else { Strictness::Lenient };
    let codec = Codec::new(&schema).with_strictness(strictness);
    let wanted = chosen(&schema, &args.message)?;
    let mut feed = Feed::open(&args.file)?;
    let Some(framing) = feed.framing(args.profile.profile, &message_infos(&schema))? else {
        return Ok(Outcome::Fine);
    };
    let enums = if args.enum_numbers { EnumStyle::Numbers } else { EnumStyle::Names };
    let frames = FrameCodec::new(&codec, framing).with_enums(enums);
    let live = feed.is_live();
    let mut out = Printer {
        frames: &frames,
        wanted: &wanted,
        name: feed.name().to_owned(),
        out: BufWriter::with_capacity(1 << 16, std::io::stdout().lock()),
        tables: args.table.then(Tables::default),
        damage: 0,
        failure: None,
    };
    let mut stream = frames.stream();
    feed.run(|chunk| {
        stream.read(chunk, |event| out.event(&event));
        if live { out.flush() } else { out.check() }
    })?;
    stream.finish(|event| out.event(&event));
    out.check()?;
    if let Some(tables) = out.tables.take() {
        out.out.write_all(tables.text().as_bytes())?;
    }
    out.flush()?;
    Ok(if out.damage == 0 { Outcome::Fine } else { Outcome::Lossy })
}

struct Printer<'a, 's, W> {
    frames: &'a FrameCodec<'a, 's>,
    /// Ids to print; none is all.
    wanted: &'a [u16],
    name: String,
    out: W,
    tables: Option<Tables<'s>>,
    /// Events and payloads that could not be understood.
    damage: usize,
    /// The first write that failed: events cannot stop their reader.
    failure: Option<std::io::Error>,
}

impl<W: Write> Printer<'_, '_, W> {
    fn event(&mut self, event: &Event<'_>) {
        let frame = match event {
            Event::Frame(frame) if self.wanted.is_empty() || self.wanted.contains(&frame.id) => frame,
            event => {
                if let Some(words) = complaint(self.frames.schema(), event) {
                    self.complain(&words);
                }
                return;
            }
        };
        let line = self.frames.line(frame);
        if let Some(error) = &line.error {
            let message = line.message.as_deref().unwrap_or_default();
            self.complain(&format!("payload of {message} in the frame at byte {} cannot be read: {error}", line.at));
        }
        if let Some(tables) = &mut self.tables {
            return tables.add(line);
        }
        if self.failure.is_some() {
            return;
        }
        let written = serde_json::to_writer(&mut self.out, &line).map_err(std::io::Error::from);
        self.failure = written.and_then(|()| self.out.write_all(b"\n")).err();
    }

    fn complain(&mut self, words: &str) {
        self.damage += 1;
        aside(format_args!("fw: {}: {words}\n", self.name));
    }

    fn check(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), |error| Err(error.into()))
    }

    fn flush(&mut self) -> Result<()> {
        self.check()?;
        Ok(self.out.flush()?)
    }
}

/// A table per message type, in order of first arrival.
#[derive(Default)]
struct Tables<'s> {
    groups: Vec<(u16, Vec<FrameLine<'s>>)>,
}

impl<'s> Tables<'s> {
    fn add(&mut self, line: FrameLine<'s>) {
        match self.groups.iter_mut().find(|(id, _)| *id == line.id) {
            Some((_, lines)) => lines.push(line),
            None => self.groups.push((line.id, vec![line])),
        }
    }

    fn text(&self) -> String {
        let texts = self.groups.iter().map(|(id, lines)| {
            let name = lines.iter().find_map(|line| line.message.clone()).unwrap_or_else(|| "unknown".to_owned());
            format!("{name} (id {id})\n{}", table(lines).render())
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// A name, and where its value stands in a line.
type HeaderField = (&'static str, fn(&FrameLine<'_>) -> Option<u8>);

fn table(lines: &[FrameLine<'_>]) -> Table {
    let mut heads = vec![">at".to_owned()];
    let first = lines.first();
    let has = |field: fn(&FrameLine<'_>) -> Option<u8>| first.is_some_and(|line| field(line).is_some());
    let header: [HeaderField; 3] =
        [("sequence", |line| line.sequence), ("system", |line| line.system), ("component", |line| line.component)];
    let header = header.map(|(name, field)| has(field).then_some((name, field)));
    heads.extend(header.iter().flatten().map(|(name, _)| format!(">{name}")));
    // Every readable line of a message has the same columns; unreadable ones show their bytes behind them.
    let readable = lines.iter().find_map(|line| line.values.as_ref());
    let mut columns = Vec::new();
    if let Some(values) = readable {
        flatten("", values, &mut |name, value| columns.push((name, is_number(value))));
    }
    heads.extend(columns.iter().map(|(name, number)| if *number { format!(">{name}") } else { name.clone() }));
    let unreadable = lines.iter().any(|line| line.values.is_none());
    if unreadable {
        heads.push("payload".to_owned());
    }
    let mut table = Table::new(&heads);
    for line in lines {
        let mut cells = vec![line.at.to_string()];
        cells.extend(header.iter().flatten().map(|(_, field)| field(line).unwrap_or_default().to_string()));
        match &line.values {
            Some(values) => flatten("", values, &mut |_, value| cells.push(cell(value, line.enums))),
            None => cells.extend(columns.iter().map(|_| String::new())),
        }
        if unreadable {
            let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            cells.push(line.payload.as_ref().map_or_else(String::new, hex));
        }
        table.row(cells);
    }
    table
}

/// Nested messages one level after the other; arrays and oneofs stay whole.
fn flatten(path: &str, value: &Value<'_>, take: &mut dyn FnMut(String, &Value<'_>)) {
    match value {
        Value::Message(entries) => {
            for (name, value) in entries {
                let joint = if path.is_empty() { "" } else { "." };
                flatten(&format!("{path}{joint}{name}"), value, take);
            }
        }
        value => take(path.to_owned(), value),
    }
}

fn is_number(value: &Value<'_>) -> bool {
    use Value::{Double, Float, Signed, Signed64, Unsigned, Unsigned64};
    matches!(value, Unsigned(_) | Signed(_) | Unsigned64(_) | Signed64(_) | Float(_) | Double(_))
}

/// Bare names of enums and bare text; everything else as in the lines.
fn cell(value: &Value<'_>, enums: EnumStyle) -> String {
    match value {
        Value::Enum(_, Some(name)) if enums == EnumStyle::Names => (*name).to_owned(),
        Value::Text(text) => text.escape_debug().to_string(),
        Value::Unsigned64(number) => number.to_string(),
        Value::Signed64(number) => number.to_string(),
        value => serde_json::to_string(&value.shown(enums)).unwrap_or_default(),
    }
}
