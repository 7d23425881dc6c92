//! Columns to frames.

use super::pack::unpack;
use super::{
    CAPTURE, COLUMN, CaptureConverted, FIRST_VERSION, INCLUDE, STRAY_TIME, TIME, VARIABLE, VARIABLE_ALL,
    VERSION_WITH_VARIABLE,
};
use crate::ConvertError;
use fw_dynamic::columns::{Capture, Header, Parts, Stray, Table};
use fw_dynamic::{Codec, FrameCodec};
use fw_schema::{Bundle, Schema, Variable};
use fw_source::AtomicFile;
use fw_structframe::Framing;
use fw_tensogram::{DecodeOptions, GlobalMetadata, MessageView, TensogramFile, Value};
use fw_tensor::{ByteOrder, swap_in_place};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// True when a Tensogram file holds the columns of a capture.
pub fn holds_capture(path: impl AsRef<Path>) -> bool {
    let first = || -> Result<bool, ConvertError> {
        let message = TensogramFile::open(path)?.read_message(0)?;
        Ok(is_capture(&MessageView::open(&message)?.metadata()?))
    };
    first().unwrap_or(false)
}

/// True when this is the metadata of the columns of a capture.
pub fn is_capture(metadata: &GlobalMetadata) -> bool {
    metadata.extra.contains_key(CAPTURE)
}

/// Writes the frames that a Tensogram file of columns was made from, in the order of their arrival. A capture without damage
/// comes back byte for byte.
///
/// # Errors
/// When the file cannot be read, does not hold a capture, or its columns do not fit its schema; when writing fails. No
/// output is left behind then.
pub fn columns_to_frames(input: impl AsRef<Path>, output: impl AsRef<Path>) -> Result<CaptureConverted, ConvertError> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let message = TensogramFile::open(input)?.read_message(0)?;
    let view = MessageView::open(&message)?;
    let metadata = view.metadata()?;
    let description = metadata.extra.get(CAPTURE).ok_or_else(|| {
        let message = format!("{}: not the columns of a capture: the metadata lacks `{CAPTURE}`", input.display());
        ConvertError::unsupported("no_capture", message)
    })?;
    let (schema, framing) = described(description)?;
    let codec = Codec::new(&schema);
    let mut stored = Stored::read(&view, &metadata)?;
    let layout = framing.layout();
    let mut tables = Vec::new();
    for (id, columns) in std::mem::take(&mut stored.tables) {
        let message =
            schema.by_id(id).ok_or_else(|| wrong(format!("columns of message {id}, which the schema lacks")))?;
        let parts = parts(&message.name, columns)?;
        tables.push(
            Table::from_parts(&codec, message, layout, parts)
                .map_err(|error| ConvertError::format(error.code, format!("{}: {error}", message.name), None))?,
        );
    }
    let capture = Capture::new(layout, tables, strays(stored.strays)?);
    let frames = FrameCodec::new(&codec, framing);
    let (mut bytes, mut count) = (Vec::new(), 0);
    let mut out = AtomicFile::create(output)?;
    let mut written = 0;
    for (id, header, payload) in capture.payloads() {
        frames.write_payload(id, header, &payload, &mut bytes)?;
        count += 1;
        if bytes.len() >= FLUSH {
            out.write_all(&bytes)?;
            written += bytes.len() as u64;
            bytes.clear();
        }
    }
    out.write_all(&bytes)?;
    written += bytes.len() as u64;
    out.commit()?;
    Ok(CaptureConverted {
        file: output.to_path_buf(),
        framing,
        frames: count,
        columns: view.object_count(),
        bytes: written,
        losses: Vec::new(),
    })
}

/// Schema and framing as the metadata has them.
fn described(description: &Value) -> Result<(Schema, Framing), ConvertError> {
    let text = |key: &str| {
        description.member(key).and_then(Value::as_text).ok_or_else(|| wrong(format!("missing text `{key}`")))
    };
    match description.member("version").and_then(Value::as_integer) {
        Some(FIRST_VERSION..=VERSION_WITH_VARIABLE) => {}
        Some(newer) => {
            let message = format!("columns of version {newer}, this program reads up to {VERSION_WITH_VARIABLE}");
            return Err(ConvertError::unsupported("newer_version", message));
        }
        None => return Err(wrong("missing integer `version`".to_owned())),
    }
    let framing = text("framing")?;
    let framing = framing.parse().map_err(|error| wrong(format!("framing {framing:?}: {error}")))?;
    let root = text("schema")?.to_owned();
    let texts = description.member("files").and_then(Value::as_map).unwrap_or_default().iter();
    let files =
        texts.filter_map(|(path, text)| Some((path.as_text()?.to_owned(), text.as_text()?.to_owned()))).collect();
    let variable = match description.member(VARIABLE).map(Value::as_text) {
        None => Variable::AsDeclared,
        Some(Some(VARIABLE_ALL)) => Variable::All,
        Some(_) => return Err(wrong(format!("`{VARIABLE}` is not the text \"{VARIABLE_ALL}\""))),
    };
    let include: Option<Vec<_>> = match description.member(INCLUDE) {
        None => Some(Vec::new()),
        Some(list) => {
            list.as_array().and_then(|list| list.iter().map(|path| path.as_text().map(str::to_owned)).collect())
        }
    };
    let include = include.ok_or_else(|| wrong(format!("`{INCLUDE}` is not a list of texts")))?;
    let schema = Bundle { root, files, include, variable }
        .compile()
        .into_result()
        .map_err(|faults| ConvertError::format("schema_invalid", faults.to_string(), None))?;
    Ok((schema, framing))
}

/// Columns by path, of each message and of the strays.
#[derive(Default)]
struct Stored {
    tables: BTreeMap<u16, BTreeMap<String, Vec<u8>>>,
    strays: BTreeMap<String, Vec<u8>>,
}

impl Stored {
    fn read(view: &MessageView<'_>, metadata: &GlobalMetadata) -> Result<Self, ConvertError> {
        let mut stored = Self::default();
        let options = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
        for index in 0..view.object_count() {
            // Objects that somebody added are not ours.
            let Some(about) = metadata.base.get(index).and_then(|entry| entry.get(COLUMN)) else { continue };
            let path = about.member("path").and_then(Value::as_text);
            let path = path.ok_or_else(|| wrong(format!("object {index}: `{COLUMN}` has no text `path`")))?;
            if path == TIME || path == STRAY_TIME {
                continue;
            }
            let object = view.object(index)?;
            object.verify_hash()?;
            let mut data = object.decode(&options)?;
            let descriptor = object.descriptor();
            if descriptor.byte_order == ByteOrder::Big {
                swap_in_place(&mut data, descriptor.dtype.swap_unit());
            }
            let columns = match about.member("id").map(Value::as_integer) {
                None => &mut stored.strays,
                Some(id) => {
                    let id = id.and_then(|id| u16::try_from(id).ok());
                    let id =
                        id.ok_or_else(|| wrong(format!("object {index}: the message id is not a 16-bit number")))?;
                    stored.tables.entry(id).or_default()
                }
            };
            if columns.insert(path.to_owned(), data).is_some() {
                return Err(wrong(format!("object {index}: a second column `{path}`")));
            }
        }
        Ok(stored)
    }
}

fn parts(message: &str, mut columns: BTreeMap<String, Vec<u8>>) -> Result<Parts, ConvertError> {
    let arrival =
        numbers(&columns.remove("@arrival").ok_or_else(|| wrong(format!("{message}: missing column `@arrival`")))?);
    let rows = arrival.len();
    let mut header = |name: &str| columns.remove(name).unwrap_or_else(|| vec![0; rows]);
    let (sequence, system, component) = (header("@sequence"), header("@system"), header("@component"));
    let irregular_rows = numbers(&columns.remove("@irregular.row").unwrap_or_default());
    let lens = columns.remove("@irregular.len").unwrap_or_default();
    let bytes = columns.remove("@irregular.bytes").unwrap_or_default();
    let irregular = unpack(&format!("{message}@irregular"), &lens, &bytes)?;
    same_len(message, "@irregular", irregular_rows.len(), irregular.len())?;
    let irregular = irregular_rows.into_iter().zip(irregular.into_iter().map(<[u8]>::to_vec)).collect();
    Ok(Parts { arrival, sequence, system, component, columns: columns.into_iter().collect(), irregular })
}

fn strays(mut columns: BTreeMap<String, Vec<u8>>) -> Result<Vec<Stray>, ConvertError> {
    let arrival = numbers(&columns.remove("@stray.arrival").unwrap_or_default());
    let rows = arrival.len();
    let ids: Vec<u16> = columns
        .remove("@stray.id")
        .unwrap_or_default()
        .as_chunks()
        .0
        .iter()
        .map(|id| u16::from_le_bytes(*id))
        .collect();
    let mut header = |name: &str| columns.remove(name).unwrap_or_else(|| vec![0; rows]);
    let (sequence, system, component) =
        (header("@stray.sequence"), header("@stray.system"), header("@stray.component"));
    let lens = columns.remove("@stray.len").unwrap_or_default();
    let bytes = columns.remove("@stray.bytes").unwrap_or_default();
    let payloads = unpack("@stray", &lens, &bytes)?;
    for have in [ids.len(), sequence.len(), system.len(), component.len(), payloads.len()] {
        same_len("", "@stray", rows, have)?;
    }
    let headers = sequence.into_iter().zip(system).zip(component);
    let headers = headers.map(|((sequence, system), component)| Header { sequence, system, component });
    let rows = arrival.into_iter().zip(ids).zip(headers).zip(payloads);
    Ok(rows.map(|(((arrival, id), header), payload)| Stray::new(arrival, id, header, payload.to_vec())).collect())
}

fn numbers(data: &[u8]) -> Vec<u64> {
    data.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

fn same_len(message: &str, what: &str, need: usize, have: usize) -> Result<(), ConvertError> {
    if need == have {
        return Ok(());
    }
    Err(ConvertError::format("column_length", format!("{message}{what}: {have} rows, expected {need}"), None))
}

fn wrong(message: String) -> ConvertError {
    ConvertError::format("capture_metadata", message, None)
}

/// Frames gathered before they are written.
const FLUSH: usize = 1 << 20;
