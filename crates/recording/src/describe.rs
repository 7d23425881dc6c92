//! Headers and blocks as metadata of Tensogram messages (REC-2, REC-3).

use crate::error::RecordingError;
use fw_schema::{Bundle, Variable};
use fw_tensogram::{GlobalMetadata, Value};
use std::path::Path;

/// The key in a message's own metadata.
pub(crate) const RECORDING: &str = "fw.recording";

/// The newest version that we read, and the one that we write.
const VERSION: i128 = 1;

/// The names of the objects.
pub(crate) const START: &str = "start";
pub(crate) const BYTES: &str = "bytes";
pub(crate) const TIME: &str = "time";
pub(crate) const LENGTH: &str = "length";

/// What stands at the beginning of every file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) session: String,
    /// Which file of the session it is, from 1.
    pub(crate) file: u64,
    pub(crate) address: String,
    pub(crate) framing: Option<String>,
    pub(crate) schema: Option<Bundle>,
}

/// What stands before the pieces of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) session: String,
    /// Which block of the session it is, from 0.
    pub(crate) number: u64,
    /// Which connection its bytes came over, from 0.
    pub(crate) connection: u32,
    /// Where its first byte stands in the session.
    pub(crate) position: u64,
    /// Bytes that arrived after those of the block before, and could not be kept.
    pub(crate) dropped: u64,
}

/// One of both.
pub(crate) enum Part {
    Header(Header),
    Block(Block),
}

impl Header {
    pub(crate) fn value(&self) -> Value {
        let mut entries = vec![
            ("version", Value::Integer(VERSION)),
            ("kind", Value::from("header")),
            ("session", Value::from(self.session.as_str())),
            ("file", Value::Integer(self.file.into())),
            ("address", Value::from(self.address.as_str())),
        ];
        entries.extend(self.framing.as_deref().map(|framing| ("framing", Value::from(framing))));
        if let Some(schema) = &self.schema {
            let texts = schema.files.iter().map(|(path, text)| (path.as_str(), Value::from(text.as_str())));
            let mut about = vec![("root", Value::from(schema.root.as_str())), ("files", Value::map(texts))];
            if schema.variable == Variable::All {
                about.push(("variable", Value::from("all")));
            }
            if !schema.include.is_empty() {
                let directories = schema.include.iter().map(|directory| Value::from(directory.as_str()));
                about.push(("include", Value::Array(directories.collect())));
            }
            entries.push(("schema", Value::map(about)));
        }
        Value::map(entries)
    }
}

impl Block {
    pub(crate) fn value(&self) -> Value {
        let mut entries = vec![
            ("version", Value::Integer(VERSION)),
            ("kind", Value::from("block")),
            ("session", Value::from(self.session.as_str())),
            ("block", Value::Integer(self.number.into())),
            ("connection", Value::Integer(self.connection.into())),
            ("position", Value::Integer(self.position.into())),
        ];
        if self.dropped > 0 {
            entries.push(("dropped", Value::Integer(self.dropped.into())));
        }
        Value::map(entries)
    }
}

/// What a message is; `None` when it has nothing to do with recordings.
///
/// # Errors
/// When it claims to be part of a recording and is not well-formed, or of a newer version.
pub(crate) fn part(metadata: &GlobalMetadata, path: &Path, at: u64) -> Result<Option<Part>, RecordingError> {
    let Some(value) = metadata.extra.get(RECORDING) else { return Ok(None) };
    let fields = Fields { value, path, at };
    let version = fields.integer("version")?;
    if version != VERSION {
        let message = format!("recording of version {version}; this program reads version {VERSION}");
        return Err(RecordingError::format("newer_version", path, message, Some(at)));
    }
    let session = fields.text("session")?;
    match fields.text("kind")?.as_str() {
        "header" => Ok(Some(Part::Header(Header {
            session,
            file: fields.number("file")?,
            address: fields.text("address")?,
            framing: fields.optional_text("framing")?,
            schema: fields.schema()?,
        }))),
        "block" => Ok(Some(Part::Block(Block {
            session,
            number: fields.number("block")?,
            connection: fields.number("connection")?,
            position: fields.number("position")?,
            dropped: if fields.value.member("dropped").is_some() { fields.number("dropped")? } else { 0 },
        }))),
        other => Err(fields.wrong(format!("`kind` is {other:?}, expected \"header\" or \"block\""))),
    }
}

struct Fields<'a> {
    value: &'a Value,
    path: &'a Path,
    at: u64,
}

impl Fields<'_> {
    fn wrong(&self, message: String) -> RecordingError {
        let message = format!("`{RECORDING}`: {message} in the message");
        RecordingError::format("recording_metadata", self.path, message, Some(self.at))
    }

    fn text(&self, key: &str) -> Result<String, RecordingError> {
        self.optional_text(key)?.ok_or_else(|| self.wrong(format!("missing text `{key}`")))
    }

    fn optional_text(&self, key: &str) -> Result<Option<String>, RecordingError> {
        match self.value.member(key) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(format!("`{key}` is not text"))),
        }
    }

    fn integer(&self, key: &str) -> Result<i128, RecordingError> {
        self.value.member(key).and_then(Value::as_integer).ok_or_else(|| self.wrong(format!("missing integer `{key}`")))
    }

    fn number<T: TryFrom<i128>>(&self, key: &str) -> Result<T, RecordingError> {
        let number = self.integer(key)?;
        T::try_from(number).map_err(|_| self.wrong(format!("`{key}` is {number}, which is out of range")))
    }

    fn schema(&self) -> Result<Option<Bundle>, RecordingError> {
        let Some(value) = self.value.member("schema") else { return Ok(None) };
        let inner = Fields { value, ..*self };
        let texts = value.member("files").and_then(Value::as_map);
        let texts = texts.ok_or_else(|| self.wrong("`schema` has no map `files`".to_owned()))?;
        let pair = |(path, text): &(Value, Value)| Some((path.as_text()?.to_owned(), text.as_text()?.to_owned()));
        let files: Option<Vec<_>> = texts.iter().map(pair).collect();
        let variable = match inner.optional_text("variable")?.as_deref() {
            None => Variable::AsDeclared,
            Some("all") => Variable::All,
            Some(other) => return Err(self.wrong(format!("`variable` is {other:?}, expected \"all\""))),
        };
        let files = files.ok_or_else(|| self.wrong("`schema.files` holds something other than text".to_owned()))?;
        let include: Option<Vec<_>> = match value.member("include") {
            None => Some(Vec::new()),
            Some(list) => {
                list.as_array().and_then(|list| list.iter().map(|path| path.as_text().map(str::to_owned)).collect())
            }
        };
        let include = include.ok_or_else(|| self.wrong("`schema.include` is not a list of texts".to_owned()))?;
        Ok(Some(Bundle { root: inner.text("root")?, files, include, variable }))
    }
}
