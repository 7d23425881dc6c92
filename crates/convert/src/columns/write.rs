//! Frames to columns.

use super::grow::{Growing, Grown};
use super::pack::pack;
use super::{
    CAPTURE, COLUMN, CaptureConverted, FIRST_VERSION, INCLUDE, STRAY_TIME, TIME, VARIABLE, VARIABLE_ALL,
    VERSION_WITH_VARIABLE,
};
use crate::capture::{CaptureInput, CaptureOptions, FrameKeys, Losses, Signal};
use crate::tensogram::{self, Writer, stored_shape};
use crate::{Attributes, ConvertError, NanBits};
use fw_dynamic::columns::{Capture, Decoder, Header, Role, Table};
use fw_dynamic::{Codec, FrameCodec, shown_name};
use fw_schema::{Bundle, Schema, Variable};
use fw_structframe::{Event, Frame, Framing};
use fw_tensogram::{MetadataMap, Value};
use fw_tensor::DType;
use std::borrow::Cow;
use std::path::Path;

/// Writes the good frames of a struct-frame capture as columns to a Tensogram file. The capture is a plain file of bytes or a
/// recording. Without a framing the one is taken that the recording names or the capture's content shows.
///
/// Frames of unknown ids and unreadable payloads are kept too; damaged frames and bytes between frames are listed as lost. The
/// capture is read once, from front to back. Memory holds a few MiB of it and one column; the rest of a large capture waits
/// in a temporary file beside the output.
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
    let options = CaptureOptions::new().with_framing(framing);
    capture_to_columns(CaptureInput::open(capture)?, output, schema, &options)
}

/// The same for any input. Only the frames that the options select are written, as if the capture had no others; times that the
/// input has become the columns `@time`.
///
/// # Errors
/// As [`frames_to_columns`].
pub fn capture_to_columns(
    input: CaptureInput<'_>,
    output: impl AsRef<Path>,
    schema: &Schema,
    options: &CaptureOptions,
) -> Result<CaptureConverted, ConvertError> {
    in_batches(input, output.as_ref(), schema, options, BATCH_LEN)
}

/// The same, with at most about so many bytes of payloads in memory.
fn in_batches(
    mut input: CaptureInput<'_>,
    output: &Path,
    schema: &Schema,
    options: &CaptureOptions,
    batch_len: usize,
) -> Result<CaptureConverted, ConvertError> {
    let framing = input.framing(options.framing, schema)?;
    let timed = input.has_times()?;
    let codec = Codec::new(schema);
    let frames = FrameCodec::new(&codec, framing);
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut gatherer = Gatherer::new(&frames, &codec, options, batch_len, folder);
    gatherer.times = timed.then(Vec::new);
    input.run(&frames, &mut |signal| match signal {
        Signal::Arrived { time, .. } => {
            gatherer.time = time.unwrap_or(0);
            Ok(())
        }
        Signal::Event(event) => gatherer.take(event),
        Signal::Damage(what) => {
            gatherer.totals.losses.note(what);
            Ok(())
        }
    })?;
    let (columns, totals) = gatherer.finish()?;
    let said = |column: &Grown| {
        let mut entry = tensogram::described(&column.name, column.logical.as_ref(), &Attributes::new());
        entry.insert(COLUMN.to_owned(), column.about.clone());
        entry
    };
    let base: Vec<_> = columns.columns().map(said).collect();
    let count = base.len();
    let extra = MetadataMap::from([(CAPTURE.to_owned(), description(schema, framing))]);
    // The capture must come back byte for byte, whatever its floats are.
    let mut out = Writer::create(output, base, extra, NanBits::Keep)?;
    for column in columns.columns() {
        out.put(column.dtype, &column.shape, &columns.data(column)?)?;
    }
    out.finish()?;
    Ok(CaptureConverted {
        file: output.to_path_buf(),
        framing,
        frames: totals.frames,
        columns: count,
        bytes: totals.bytes,
        losses: totals.losses.finish(),
    })
}

/// Sorts frames into columns, a batch at a time.
struct Gatherer<'c, 's> {
    frames: &'c FrameCodec<'c, 's>,
    codec: &'c Codec<'s>,
    options: &'c CaptureOptions,
    framing: Framing,
    decoder: Decoder<'c, 's>,
    /// Bytes of payloads in the decoder, and how many may be.
    held: usize,
    batch_len: usize,
    /// Frames before those in the decoder.
    before: u64,
    /// When the current chunk arrived, and when each frame in the decoder did, where the input has times.
    time: u64,
    times: Option<Vec<u64>>,
    columns: Growing,
    totals: Totals,
}

/// What a capture came to.
#[derive(Default)]
struct Totals {
    frames: u64,
    bytes: u64,
    losses: Losses,
}

impl<'c, 's> Gatherer<'c, 's> {
    fn new(
        frames: &'c FrameCodec<'c, 's>,
        codec: &'c Codec<'s>,
        options: &'c CaptureOptions,
        batch_len: usize,
        folder: &Path,
    ) -> Self {
        let framing = frames.framing();
        Self {
            frames,
            codec,
            options,
            framing,
            decoder: Decoder::new(codec, framing.layout()),
            held: 0,
            batch_len,
            before: 0,
            time: 0,
            times: None,
            columns: Growing::new(folder),
            totals: Totals::default(),
        }
    }

    fn take(&mut self, event: &Event<'_>) -> Result<(), ConvertError> {
        match event {
            Event::Frame(frame) if !self.wants(frame) => Ok(()),
            Event::Frame(frame) => self.push(frame),
            other => {
                self.totals.losses.add(other);
                Ok(())
            }
        }
    }

    fn wants(&self, frame: &Frame<'_>) -> bool {
        if !self.options.messages.is_empty() && !self.options.messages.contains(&frame.id) {
            return false;
        }
        let Some(filter) = self.options.filter.as_ref().filter(|filter| !filter.is_empty()) else { return true };
        let schema = self.codec.schema();
        let line = self.frames.line(frame);
        filter.matches_keys(&FrameKeys::of_line(schema, &line, self.times.as_ref().map(|_| self.time)))
    }

    fn push(&mut self, frame: &Frame<'_>) -> Result<(), ConvertError> {
        if self.held >= self.batch_len {
            self.batch();
            self.columns.spill()?;
        }
        self.decoder.push(frame.id, frame.header, frame.payload)?;
        if let Some(times) = &mut self.times {
            times.push(self.time);
        }
        // A frame without a payload has a place in columns, too.
        self.held = self.held.saturating_add(frame.payload.len()).saturating_add(ROW_LEN);
        self.totals.frames = self.totals.frames.saturating_add(1);
        self.totals.bytes = self.totals.bytes.saturating_add(frame.span.len());
        Ok(())
    }

    /// Moves what the decoder holds to the columns.
    fn batch(&mut self) {
        let empty = Decoder::new(self.codec, self.framing.layout());
        let mut capture = std::mem::replace(&mut self.decoder, empty).finish();
        let times = self.times.as_mut().map(std::mem::take);
        // Columns of times first: they are found by the places that the decoder counted.
        let timed = times.map(|times| time_columns(self.codec.schema(), &capture, &times)).unwrap_or_default();
        // A decoder counts frames and rows from its own first one.
        for table in &mut capture.tables {
            table.arrival.iter_mut().for_each(|place| *place = place.saturating_add(self.before));
            let rows = table.message.id.map_or(0, |id| self.columns.rows(id));
            let irregular = std::mem::take(&mut table.irregular);
            table.irregular = irregular.into_iter().map(|(row, bytes)| (row.saturating_add(rows), bytes)).collect();
        }
        for stray in &mut capture.strays {
            stray.arrival = stray.arrival.saturating_add(self.before);
        }
        self.columns.add(columns(self.codec.schema(), self.framing, &capture));
        self.columns.add(timed);
        (self.before, self.held) = (self.totals.frames, 0);
    }

    fn finish(mut self) -> Result<(Growing, Totals), ConvertError> {
        self.batch();
        Ok((self.columns, self.totals))
    }
}

/// The framing, and the schema's text with what it imports, by paths that a loader in memory finds again.
fn description(schema: &Schema, framing: Framing) -> Value {
    let bundle = Bundle::of(schema);
    let texts = bundle.files.into_iter().map(|(path, text)| (Value::from(path), Value::from(text)));
    let all = bundle.variable == Variable::All;
    let version = if all { VERSION_WITH_VARIABLE } else { FIRST_VERSION };
    let mut entries = vec![
        (Value::from("version"), Value::Integer(version)),
        (Value::from("framing"), Value::from(framing.to_string())),
        (Value::from("schema"), Value::from(bundle.root)),
        (Value::from("files"), Value::Map(texts.collect())),
    ];
    if all {
        entries.push((Value::from(VARIABLE), Value::from(VARIABLE_ALL)));
    }
    if !bundle.include.is_empty() {
        let directories = bundle.include.into_iter().map(Value::from);
        entries.push((Value::from(INCLUDE), Value::Array(directories.collect())));
    }
    Value::Map(entries)
}

/// One column of a batch.
pub(super) struct Column<'a> {
    /// The id of its message; strays have none.
    pub(super) owner: Option<u16>,
    pub(super) path: String,
    pub(super) name: String,
    pub(super) about: Value,
    pub(super) dtype: DType,
    /// Rows first.
    pub(super) shape: Vec<u64>,
    /// What it is, when Tensogram has no such type.
    pub(super) logical: Option<(DType, Vec<u64>)>,
    pub(super) data: Cow<'a, [u8]>,
}

impl<'a> Column<'a> {
    /// A column that is no field of a message.
    fn extra(owner: Option<(&str, u16)>, path: &str, dtype: DType, data: impl Into<Cow<'a, [u8]>>) -> Self {
        let data = data.into();
        let rows = data.len() as u64 / dtype.byte_width().unwrap_or(1) as u64;
        let name = owner.map_or_else(|| path.to_owned(), |(name, _)| format!("{name}{path}"));
        let about = about(owner, path, None);
        let (owner, path) = (owner.map(|(_, id)| id), path.to_owned());
        Self { owner, path, name, about, dtype, shape: vec![rows], logical: None, data }
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
            owner: owner.map(|(_, id)| id),
            path: column.path.clone(),
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

/// When the rows of each table, and the strays, arrived.
fn time_columns<'a>(schema: &Schema, capture: &Capture<'_>, times: &[u64]) -> Vec<Column<'a>> {
    let time = |arrival: u64| usize::try_from(arrival).ok().and_then(|at| times.get(at)).copied().unwrap_or(0);
    let bytes = |arrivals: &mut dyn Iterator<Item = u64>| -> Vec<u8> {
        arrivals.flat_map(|arrival| time(arrival).to_le_bytes()).collect()
    };
    let mut columns = Vec::new();
    for table in &capture.tables {
        let name = shown_name(schema, table.message);
        let owner = Some((name.as_str(), table.message.id.unwrap_or_default()));
        columns.push(Column::extra(owner, TIME, DType::UInt64, bytes(&mut table.arrival.iter().copied())));
    }
    if !capture.strays.is_empty() {
        let data = bytes(&mut capture.strays.iter().map(|stray| stray.arrival));
        columns.push(Column::extra(None, STRAY_TIME, DType::UInt64, data));
    }
    columns
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
        Role::Value => "value",
        Role::Count => "count",
        Role::Length => "length",
        Role::Tag => "tag",
        Role::Valid => "valid",
    }
}

/// Bytes of payloads that are gathered in memory.
const BATCH_LEN: usize = 4 << 20;
/// What a row takes beside its payload.
const ROW_LEN: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TensorFile;
    use fw_schema::check_text;
    use fw_structframe::Profile;
    use serde_json::json;

    const ROBOT: &str = "package robot;
        message Pose { option msgid = 1; uint64 stamp = 1; float x = 2; bool ok = 3; repeated int16 v = 4 [size=3]; }
        message Scan { option msgid = 2; option variable = true; repeated uint16 ranges = 1 [max_size=8]; }
        message Late { option msgid = 3; uint8 n = 1; }";

    /// However small the batches are, the columns are the same: also those that begin late, strays and odd spellings.
    #[test]
    fn batches_do_not_show() {
        let schema = check_text("robot.sf", ROBOT).into_result().unwrap_or_else(|faults| panic!("{faults}"));
        let codec = Codec::new(&schema);
        let frames = FrameCodec::new(&codec, Profile::Network.framing());
        let mut bytes = Vec::new();
        for step in 0..300_u16 {
            let header = Header { sequence: step as u8, system: 1, component: 2 };
            let (name, json) = match step % 3 {
                0 => ("Pose", json!({"stamp": step, "x": "NaN", "ok": step % 2 == 0, "v": [step, 1, 2]})),
                1 => ("Scan", json!({"ranges": vec![step; usize::from(step % 9)]})),
                _ if step > 200 => ("Late", json!({"n": 7})),
                _ => ("Scan", json!({"ranges": []})),
            };
            frames.write_json(schema.find(name).unwrap(), header, &json, &mut bytes).unwrap();
            if step % 40 == 39 {
                // An unknown id; a payload that a careful encoder would have cut; something that is no frame.
                frames.write_payload(77, header, &[1, 2, step as u8], &mut bytes).unwrap();
                frames.write_payload(2, header, &[1, 9, 0, 0, 0], &mut bytes).unwrap();
                bytes.extend([0x55; 5]);
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.bin"), &bytes).unwrap();
        let run = |name: &str, batch_len: usize| {
            let done = in_batches(
                CaptureInput::open(at("a.bin")).unwrap(),
                &at(name),
                &schema,
                &CaptureOptions::new(),
                batch_len,
            )
            .unwrap();
            (done.frames, done.columns, done.bytes, done.losses, crate::open(at(name)).unwrap())
        };
        let whole = run("whole.tgm", usize::MAX);
        assert_eq!((whole.0, whole.3.len()), (314, 7));
        let named = |name: &str| whole.4.find(name).is_ok();
        assert!(named("Late.n") && named("@stray.bytes") && named("Scan@irregular.bytes"));
        for (name, batch_len) in [("single.tgm", 1), ("small.tgm", 500), ("half.tgm", bytes.len() / 2)] {
            let batched = run(name, batch_len);
            assert_eq!((batched.0, batched.1, batched.2, &batched.3), (whole.0, whole.1, whole.2, &whole.3), "{name}");
            let described = |file: &dyn TensorFile| {
                let entries = file.entries().iter();
                entries.map(|one| (one.name.clone(), one.dtype, one.shape.clone())).collect::<Vec<_>>()
            };
            assert_eq!(described(&*batched.4), described(&*whole.4), "{name}");
            for index in 0..whole.4.entries().len() {
                let entry = &whole.4.entries()[index];
                assert_eq!(batched.4.data(index).unwrap(), whole.4.data(index).unwrap(), "{name} {}", entry.name);
                assert_eq!(batched.4.entries()[index].attributes, entry.attributes, "{name} {}", entry.name);
            }
        }
    }
}
