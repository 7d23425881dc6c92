//! `fw info`: what a file is and what it holds.

use super::{capture, print, print_report};
use crate::args::Info as Args;
use crate::exit::{Outcome, Usage};
use crate::input::Input;
use crate::render::{count, size};
use anyhow::Result;
use framewright::convert::{self, Format, Info};
use framewright::primitives::Span;
use framewright::source::FileSource;
use framewright::tensogram::{Survey, TensogramFile};
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) fn run(args: &Args, input: &Input) -> Result<Outcome> {
    if let Some(schema) = &args.schema {
        return capture::info(args, input, schema);
    }
    if args.packing.no_packed {
        return Err(Usage("--no-packed is for struct-frame captures and requires --schema".to_owned()).into());
    }
    if args.profile.profile.is_some() {
        return Err(Usage("--profile is for struct-frame captures; say --schema as well".to_owned()).into());
    }
    if input.looked_format()? != Format::Tensogram {
        return tensors(args, input);
    }
    let summary = Summary::of(&input.tensogram()?, input.name())?;
    if args.json {
        print_report("info", true, summary.json())?;
    } else {
        print(&summary.text())?;
    }
    Ok(Outcome::Fine)
}

/// Any other file of named tensors.
fn tensors(args: &Args, input: &Input) -> Result<Outcome> {
    let info = match convert::info_of(&*input.tensors()?, &FileSource::open(input.path())?) {
        Ok(info) => info,
        Err(error) => return input.named(error),
    };
    if args.json {
        print_report("info", true, tensors_json(&info, input.name()))?;
    } else {
        print(&tensors_text(&info, input.name()))?;
    }
    Ok(Outcome::Fine)
}

pub(crate) fn tensors_json(info: &Info, path: &str) -> serde_json::Value {
    let types = info
        .types
        .iter()
        .map(|(name, (count, bytes))| (name.clone(), json!({ "tensor_count": count, "data_bytes": bytes })));
    json!({
        "file": path,
        "format": info.format,
        "file_bytes": info.file_len,
        "tensor_count": info.tensor_count,
        "element_count": info.element_count,
        "data_bytes": info.data_len,
        "types": types.collect::<serde_json::Map<_, _>>(),
        "metadata": info.metadata,
        "unreadable": info.unreadable,
        "readable_by_reference": info.readable_by_reference,
        "tensogram": null,
    })
}

pub(crate) fn tensors_text(info: &Info, path: &str) -> String {
    let types: Vec<_> = info.types.iter().map(|(name, (number, _))| format!("{name} ({number})")).collect();
    let mut lines = vec![
        ("file", format!("{path}, {}", size(info.file_len))),
        ("format", info.format.to_string()),
        ("tensors", format!("{}, {} elements, {}", info.tensor_count, info.element_count, size(info.data_len))),
        ("types", if types.is_empty() { "-".to_owned() } else { types.join(", ") }),
    ];
    if info.readable_by_reference == Some(false) {
        lines.push(("note", "the reference readers refuse this file".to_owned()));
    }
    for array in &info.unreadable {
        lines.push(("no tensor", format!("{:?}: {}", array.name, array.what)));
    }
    let mut text: String = lines.iter().map(|(name, value)| format!("{name:<10} {value}\n")).collect();
    if let Some(metadata) = info.metadata.as_ref().filter(|metadata| !metadata.is_empty()) {
        text.push_str("metadata\n");
        text.extend(metadata.iter().map(|(key, value)| format!("  {key}: {}\n", json!(convert::shortened(value)))));
    }
    text
}

/// What there is to say about a Tensogram file.
pub(crate) struct Summary {
    path: String,
    file_len: u64,
    message_count: usize,
    object_count: usize,
    decoded_len: u64,
    element_count: u64,
    /// Objects and their bytes by element type.
    dtypes: BTreeMap<String, (usize, u64)>,
    pipelines: BTreeMap<String, usize>,
    encoders: BTreeMap<String, usize>,
    hashed: usize,
    streamed: usize,
    /// Whether messages hold the columns of a struct-frame capture.
    capture: bool,
    outside: u64,
    problems: usize,
}

impl Summary {
    fn of(file: &TensogramFile, name: &str) -> Result<Self> {
        let file_len = std::fs::metadata(file.path())?.len();
        let surveys = (0..file.message_count()?).map(|index| Ok(file.survey(index)?));
        Self::of_parts(name.to_owned(), file_len, &file.message_layouts()?, surveys)
    }

    /// The summary of messages that were looked at.
    pub(crate) fn of_parts(
        path: String,
        file_len: u64,
        spans: &[Span],
        surveys: impl Iterator<Item = Result<Survey>>,
    ) -> Result<Self> {
        let mut summary = Self {
            path,
            file_len,
            message_count: spans.len(),
            object_count: 0,
            decoded_len: 0,
            element_count: 0,
            dtypes: BTreeMap::new(),
            pipelines: BTreeMap::new(),
            encoders: BTreeMap::new(),
            hashed: 0,
            streamed: 0,
            capture: false,
            outside: file_len - spans.iter().map(|span| span.len()).sum::<u64>(),
            problems: 0,
        };
        for message in surveys {
            summary.add(&message?);
        }
        Ok(summary)
    }

    fn add(&mut self, message: &Survey) {
        use framewright::tensogram::wire::MessageFlags;
        self.object_count += message.objects.len();
        self.problems += message.report.findings().len();
        if let Some(preamble) = &message.preamble {
            self.hashed += usize::from(preamble.flags.contains(MessageFlags::HASHES_PRESENT));
            self.streamed += usize::from(preamble.flags.contains(MessageFlags::FOOTER_INDEX));
        }
        for object in &message.objects {
            let Ok(descriptor) = &object.descriptor else { continue };
            let decoded_len = descriptor.decoded_len().unwrap_or(0);
            self.decoded_len = self.decoded_len.saturating_add(decoded_len);
            let elements = framewright::tensor::element_count(&descriptor.shape).unwrap_or(0);
            self.element_count = self.element_count.saturating_add(elements);
            let (count, bytes) = self.dtypes.entry(descriptor.dtype.to_string()).or_default();
            (*count, *bytes) = (*count + 1, bytes.saturating_add(decoded_len));
            *self.pipelines.entry(super::ls::pipeline(descriptor)).or_default() += 1;
        }
        self.capture |= message.metadata.as_ref().is_ok_and(convert::is_capture);
        let encoder = message.metadata.as_ref().ok().and_then(|metadata| metadata.reserved.get("encoder"));
        if let Some(encoder) = encoder {
            let part = |key| encoder.member(key).and_then(|value| value.as_text()).unwrap_or("?");
            *self.encoders.entry(format!("{} {}", part("name"), part("version"))).or_default() += 1;
        }
    }

    pub(crate) fn text(&self) -> String {
        let list = |counts: &BTreeMap<String, usize>| {
            let parts: Vec<_> = counts.iter().map(|(name, number)| format!("{name} ({number})")).collect();
            if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
        };
        let mut lines = vec![
            ("file", format!("{}, {}", self.path, size(self.file_len))),
            ("format", "Tensogram version 3".to_owned()),
            ("messages", format!("{} ({} with digests, {} streamed)", self.message_count, self.hashed, self.streamed)),
            ("objects", format!("{}, {} decoded", self.object_count, size(self.decoded_len))),
            ("types", list(&self.dtypes.iter().map(|(name, (count, _))| (name.clone(), *count)).collect())),
            ("pipelines", list(&self.pipelines)),
            ("encoders", list(&self.encoders)),
        ];
        if self.capture {
            let words = "the columns of a struct-frame capture; fw convert FILE CAPTURE.bin writes its frames again";
            lines.push(("holds", words.to_owned()));
        }
        if self.file_len == 0 {
            lines.push(("note", "the file is empty: it holds no message".to_owned()));
        }
        if self.outside > 0 {
            lines.push(("outside", format!("{} belong to no message: try fw validate", size(self.outside))));
        }
        if self.problems > 0 {
            lines.push(("problems", format!("{}: try fw validate", count(self.problems, "finding"))));
        }
        lines.iter().map(|(name, value)| format!("{name:<10} {value}\n")).collect()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        let types = self
            .dtypes
            .iter()
            .map(|(name, (count, bytes))| (name.clone(), json!({ "tensor_count": count, "data_bytes": bytes })));
        json!({
            "file": self.path,
            "format": "tensogram",
            "file_bytes": self.file_len,
            "tensor_count": self.object_count,
            "element_count": self.element_count,
            "data_bytes": self.decoded_len,
            "types": types.collect::<serde_json::Map<_, _>>(),
            "metadata": null,
            "unreadable": [],
            "readable_by_reference": null,
            "tensogram": {
                "version": 3,
                "message_count": self.message_count,
                "messages_with_digests": self.hashed,
                "messages_streamed": self.streamed,
                "pipelines": self.pipelines,
                "encoders": self.encoders,
                "capture": self.capture,
                "bytes_outside_messages": self.outside,
                "finding_count": self.problems,
            },
        })
    }
}
