//! Frames to columns.

use super::pack::pack;
use super::{CAPTURE, COLUMN, CaptureConverted, VERSION};
use crate::tensogram::{self, Writer, stored_shape};
use crate::{Attributes, ConvertError, Feature, Loss, NanBits};
use fw_dynamic::columns::{Capture, Decoder, Header, Role, Table};
use fw_dynamic::{Codec, FrameCodec, detect, message_infos, shown_name};
use fw_schema::Schema;
use fw_structframe::{Event, Framing};
use fw_tensogram::{MetadataMap, Value};
use fw_tensor::DType;
use std::borrow::Cow;
use std::path::Path;

/// Writes the good frames of a struct-frame capture as columns to a Tensogram file. Without a framing the one is taken that
/// the capture's content shows.
///
/// Frames of unknown ids and unreadable payloads are kept too; damaged frames and bytes between frames are listed as lost.
///
/// # Errors
/// When the capture cannot be read, no framing fits, a message has too many leaves for columns, or writing fails. No output
/// is left behind then.
pub fn frames_to_columns(
    capture: impl AsRef<Path>,
    output: impl AsRef<Path>,
    schema: &Schema,
    framing: Option<Framing>,
) -> Result<CaptureConverted, ConvertError> {
    let (input, output) = (capture.as_ref(), output.as_ref());
    let bytes = std::fs::read(input)?;
    let found = || detect(&message_infos(schema), &bytes).map(|found| found.framing);
    let framing = framing.or_else(found).ok_or_else(|| {
        let message = format!(
            "{}: no profile fits: {} bytes hold no frame of a message that the schema has",
            input.display(),
            bytes.len()
        );
        ConvertError::unsupported("no_profile", message)
    })?;
    let codec = Codec::new(schema);
    let frames = FrameCodec::new(&codec, framing);
    let mut decoder = Decoder::new(&codec, framing.layout());
    let mut losses = Losses::default();
    let (mut count, mut good_len) = (0, 0);
    for event in frames.read(&bytes) {
        match event {
            Event::Frame(frame) => {
                decoder.push(frame.id, frame.header, frame.payload)?;
                count += 1;
                good_len += frame.span.len();
            }
            other => losses.add(&other),
        }
    }
    let capture = decoder.finish();
    let columns = columns(schema, framing, &capture);
    let said = |column: &Column<'_>| {
        let mut entry = tensogram::described(&column.name, column.logical.as_ref(), &Attributes::new());
        entry.insert(COLUMN.to_owned(), column.about.clone());
        entry
    };
    let base = columns.iter().map(said).collect();
    let extra = MetadataMap::from([(CAPTURE.to_owned(), description(schema, framing))]);
    // The capture must come back byte for byte, whatever its floats are.
    let mut out = Writer::create(output, base, extra, NanBits::Keep)?;
    for column in &columns {
        out.put(column.dtype, &column.shape, &column.data)?;
    }
    out.finish()?;
    Ok(CaptureConverted {
        file: output.to_path_buf(),
        framing,
        frames: count,
        columns: columns.len(),
        bytes: good_len,
        losses: losses.finish(),
    })
}

/// The framing, and the schema's text with what it imports, by paths that a loader in memory finds again.
fn description(schema: &Schema, framing: Framing) -> Value {
    let files = schema.sources().files();
    let root = files.first().map_or(Path::new(""), |file| file.path.as_path());
    let folder = root.parent().unwrap_or(Path::new(""));
    let relative = |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
    let texts = files.iter().map(|file| (Value::from(relative(&file.path)), Value::from(file.text.as_str())));
    Value::Map(vec![
        (Value::from("version"), Value::Integer(VERSION)),
        (Value::from("framing"), Value::from(framing.to_string())),
        (Value::from("schema"), Value::from(relative(root))),
        (Value::from("files"), Value::Map(texts.collect())),
    ])
}

/// One object to write.
struct Column<'a> {
    name: String,
    about: Value,
    dtype: DType,
    shape: Vec<u64>,
    /// What it is, when Tensogram has no such type.
    logical: Option<(DType, Vec<u64>)>,
    data: Cow<'a, [u8]>,
}

impl<'a> Column<'a> {
    /// A column that is no field of a message.
    fn extra(owner: Option<(&str, u16)>, path: &str, dtype: DType, data: impl Into<Cow<'a, [u8]>>) -> Self {
        let data = data.into();
        let rows = data.len() as u64 / dtype.byte_width().unwrap_or(1) as u64;
        let name = owner.map_or_else(|| path.to_owned(), |(name, _)| format!("{name}{path}"));
        Self { name, about: about(owner, path, None), dtype, shape: vec![rows], logical: None, data }
    }
}

fn about(owner: Option<(&str, u16)>, path: &str, role: Option<&str>) -> Value {
    let mut entries = Vec::new();
    if let Some((name, id)) = owner {
        entries.push((Value::from("message"), Value::from(name)));
        entries.push((Value::from("id"), Value::Integer(id.into())));
    }
    entries.push((Value::from("path"), Value::from(path)));
    entries.extend(role.map(|role| (Value::from("role"), Value::from(role))));
    Value::Map(entries)
}

fn columns<'a>(schema: &Schema, framing: Framing, capture: &'a Capture<'_>) -> Vec<Column<'a>> {
    let mut columns = Vec::new();
    for table in &capture.tables {
        table_columns(schema, framing, table, &mut columns);
    }
    if !capture.strays.is_empty() {
        let strays = &capture.strays;
        let mut put = |path: &str, dtype, data: Vec<u8>| columns.push(Column::extra(None, path, dtype, data));
        put("@stray.arrival", DType::UInt64, strays.iter().flat_map(|stray| stray.arrival.to_le_bytes()).collect());
        put("@stray.id", DType::UInt16, strays.iter().flat_map(|stray| stray.id.to_le_bytes()).collect());
        for (name, field, there) in header_fields(framing) {
            if there {
                let path = format!("@stray.{name}");
                put(&path, DType::UInt8, strays.iter().map(|stray| field(stray.header)).collect());
            }
        }
        let (lens, bytes) = pack(strays.iter().map(|stray| stray.payload.as_slice()));
        put("@stray.len", DType::UInt32, lens);
        put("@stray.bytes", DType::UInt8, bytes);
    }
    columns
}

fn table_columns<'a>(schema: &Schema, framing: Framing, table: &'a Table<'_>, columns: &mut Vec<Column<'a>>) {
    let name = shown_name(schema, table.message);
    // Only messages with an id are in tables.
    let owner = Some((name.as_str(), table.message.id.unwrap_or_default()));
    let arrival: Vec<u8> = table.arrival.iter().flat_map(|place| place.to_le_bytes()).collect();
    columns.push(Column::extra(owner, "@arrival", DType::UInt64, arrival));
    let header = [&table.sequence, &table.system, &table.component];
    for ((field, _, there), data) in header_fields(framing).into_iter().zip(header) {
        if there {
            columns.push(Column::extra(owner, &format!("@{field}"), DType::UInt8, data.as_slice()));
        }
    }
    for column in &table.columns {
        let shape = column.shape(table.rows);
        let mut written = Column {
            name: format!("{name}.{}", column.path),
            about: about(owner, &column.path, Some(role(column.role))),
            dtype: column.dtype,
            shape: shape.clone(),
            logical: None,
            data: Cow::Borrowed(&column.data),
        };
        if !tensogram::has(column.dtype)
            && let Ok(stored) = stored_shape(column.dtype, &shape)
        {
            (written.dtype, written.shape) = (DType::UInt8, stored);
            written.logical = Some((column.dtype, shape));
        }
        columns.push(written);
    }
    if !table.irregular.is_empty() {
        let rows: Vec<u8> = table.irregular.keys().flat_map(|row| row.to_le_bytes()).collect();
        let (lens, bytes) = pack(table.irregular.values().map(Vec::as_slice));
        columns.push(Column::extra(owner, "@irregular.row", DType::UInt64, rows));
        columns.push(Column::extra(owner, "@irregular.len", DType::UInt32, lens));
        columns.push(Column::extra(owner, "@irregular.bytes", DType::UInt8, bytes));
    }
}

type HeaderField = (&'static str, fn(Header) -> u8, bool);

/// Name, value and whether the framing has it.
fn header_fields(framing: Framing) -> [HeaderField; 3] {
    [
        ("sequence", |header| header.sequence, framing.has_sequence()),
        ("system", |header| header.system, framing.has_system()),
        ("component", |header| header.component, framing.has_system()),
    ]
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::Count => "count",
        Role::Length => "length",
        Role::Tag => "tag",
        Role::Valid => "valid",
        _ => "value",
    }
}

/// What is no good frame. A long list helps nobody: the first ones are named, the others counted.
#[derive(Default)]
struct Losses {
    listed: Vec<Loss>,
    more: u64,
    more_len: u64,
}

impl Losses {
    fn add(&mut self, event: &Event<'_>) {
        let (what, span) = match event {
            Event::Frame(_) => return,
            Event::BadChecksum(bad) => ("a frame with a bad checksum", bad.span),
            Event::Skipped(span) => ("no frame", *span),
            Event::Truncated(span) => ("an incomplete frame", *span),
        };
        if self.listed.len() < LISTED {
            let what = format!("{} bytes at byte {} (0x{:x}): {what}", span.len(), span.start, span.start);
            self.listed.push(Loss::new(Feature::Bytes, None, what));
        } else {
            self.more += 1;
            self.more_len += span.len();
        }
    }

    fn finish(mut self) -> Vec<Loss> {
        if self.more > 0 {
            let what = format!("{} bytes in {} other places", self.more_len, self.more);
            self.listed.push(Loss::new(Feature::Bytes, None, what));
        }
        self.listed
    }
}

const LISTED: usize = 100;
