//! `fw info`: what a file is and what it holds.

use super::{capture, live};
use crate::args::Info as Args;
use crate::exit::{Outcome, Usage};
use crate::input::{Input, Word, word};
use crate::inputs::{Answer, Answers, Inputs};
use crate::opened::{Opened, look_failure};
use crate::render::{Progress, count, shape, size};
use anyhow::Result;
use framewright::convert::{self, Info};
use framewright::look::Catalog;
use framewright::recording::{Recording, is_recording};
use framewright::report::visible;
use framewright::tensogram::Survey;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    if let Some(file) = as_capture(args)? {
        if args.live {
            return live::run(args, file);
        }
        let input = Input::capture(file, &args.common.store, "info")?;
        return capture::info(args, &input).map_err(|error| input.retold(error));
    }
    if let Some(option) = args.capture_option() {
        return Err(Usage(format!("{option} is for struct-frame captures and requires --schema")).into());
    }
    let inputs = Inputs::of(&args.files)?;
    let mut answers = Answers::new("info", args.common.json, &inputs).between("\n");
    let progress = Progress::of("info");
    for word in &inputs.words {
        let answer = Opened::open(word, &args.common.store, "info")
            .and_then(|opened| file(args, &opened, &progress).map_err(|error| opened.retold(error)));
        answers.take(word, answer)?;
    }
    answers.finish()
}

/// The one file that is to be read as a capture: on request, or because it is a recording with a schema, or a link.
fn as_capture(args: &Args) -> Result<Option<&Path>> {
    let wanted = args.schema.is_some() || args.live;
    match &args.files[..] {
        [file] => {
            let path = match word(file) {
                Word::Link(address) if args.schema.is_none() => {
                    return Err(Usage(format!("{address}: requires --schema")).into());
                }
                Word::Link(_) => return Ok(Some(file)),
                Word::Path(path) => path,
            };
            let explained = || is_recording(path) && Recording::open(path).is_ok_and(|found| found.schema().is_some());
            Ok((wanted || explained()).then_some(file))
        }
        _ if args.live => Err(Usage("--live reads one capture at a time".to_owned()).into()),
        _ if wanted => Err(Usage("--schema reads one capture at a time".to_owned()).into()),
        _ => Ok(None),
    }
}

fn file(args: &Args, opened: &Opened, progress: &Progress) -> Result<Answer> {
    let name = opened.catalog.name();
    match (opened.info()?, args.common.json) {
        (Some(info), true) => Ok(Answer::json(tensors_json(&info, name))),
        (Some(info), false) => Ok(Answer::text(tensors_text(&info, name))),
        (None, true) => Ok(Answer::json(Summary::of(&opened.catalog, progress)?.json())),
        (None, false) => Ok(Answer::text(Summary::of(&opened.catalog, progress)?.text())),
    }
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
        "shard_count": info.shard_count,
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
    if let Some(shards) = info.shard_count {
        lines.insert(2, ("shards", shards.to_string()));
    }
    if info.readable_by_reference == Some(false) {
        lines.push(("note", "the reference readers refuse this file".to_owned()));
    }
    for array in &info.unreadable {
        lines.push(("unreadable", format!("{:?}: {}", array.name, array.what)));
    }
    let mut text: String = lines.iter().map(|(name, value)| format!("{name:<10} {}\n", visible(value))).collect();
    if let Some(metadata) = info.metadata.as_ref().filter(|metadata| !metadata.is_empty()) {
        text.push_str("metadata\n");
        text.extend(
            metadata.iter().map(|(key, value)| format!("  {}: {}\n", visible(key), json!(convert::shortened(value)))),
        );
    }
    text
}

/// What there is to say about a Tensogram file.
#[derive(Default)]
pub(crate) struct Summary {
    path: String,
    file_len: u64,
    message_count: usize,
    object_count: usize,
    decoded_len: u64,
    stored_len: u64,
    element_count: u64,
    /// Objects and their bytes by element type.
    dtypes: BTreeMap<String, (usize, u64)>,
    pipelines: BTreeMap<String, usize>,
    shapes: BTreeMap<Vec<u64>, usize>,
    /// When the first and the last message were written, as far as they say so.
    times: Option<(String, String)>,
    encoders: BTreeMap<String, usize>,
    hashed: usize,
    streamed: usize,
    /// Whether messages hold the columns of a struct-frame capture.
    capture: bool,
    outside: u64,
    problems: usize,
}

impl Summary {
    /// The summary of a Tensogram file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn of(catalog: &Catalog, progress: &Progress) -> Result<Self> {
        let (file_len, spans) = (catalog.file_len(), catalog.spans());
        let mut summary = Self {
            path: catalog.name().to_owned(),
            file_len,
            message_count: spans.len(),
            outside: file_len.saturating_sub(spans.iter().map(|span| span.len()).sum::<u64>()),
            ..Self::default()
        };
        for record in catalog.records() {
            let record = record.map_err(look_failure)?;
            progress.show(record.span().end, file_len, catalog.name());
            if let Some(survey) = record.survey() {
                summary.add(survey);
            }
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
            self.stored_len = self.stored_len.saturating_add(object.parts.region.len());
            let Ok(descriptor) = &object.descriptor else { continue };
            let decoded_len = descriptor.decoded_len().unwrap_or(0);
            self.decoded_len = self.decoded_len.saturating_add(decoded_len);
            let elements = framewright::tensor::element_count(&descriptor.shape).unwrap_or(0);
            self.element_count = self.element_count.saturating_add(elements);
            let (count, bytes) = self.dtypes.entry(descriptor.dtype.to_string()).or_default();
            (*count, *bytes) = (*count + 1, bytes.saturating_add(decoded_len));
            *self.pipelines.entry(super::ls::pipeline(descriptor)).or_default() += 1;
            *self.shapes.entry(descriptor.shape.clone()).or_default() += 1;
        }
        self.capture |= message.metadata.as_ref().is_ok_and(convert::is_capture);
        let time = message.metadata.as_ref().ok().and_then(|metadata| metadata.reserved.get("time")?.as_text());
        if let Some(time) = time {
            self.times = Some(match self.times.take() {
                None => (time.to_owned(), time.to_owned()),
                // Times are written so that their texts sort as they do.
                Some((first, last)) => (first.min(time.to_owned()), last.max(time.to_owned())),
            });
        }
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
            ("objects", self.objects()),
            ("shapes", self.few_shapes()),
            ("types", list(&self.dtypes.iter().map(|(name, (count, _))| (name.clone(), *count)).collect())),
            ("pipelines", list(&self.pipelines)),
            ("encoders", list(&self.encoders)),
        ];
        match &self.times {
            Some((first, last)) if first == last => lines.push(("written", first.clone())),
            Some((first, last)) => lines.push(("written", format!("{first} to {last}"))),
            None => {}
        }
        if self.capture {
            let words = "the columns of a struct-frame capture; fw convert FILE CAPTURE.bin writes its frames again";
            lines.push(("holds", words.to_owned()));
        }
        if self.file_len == 0 {
            lines.push(("note", "the file is empty: it holds no message".to_owned()));
        }
        if self.outside > 0 {
            lines.push((
                "outside",
                format!("{} are not part of any message; run fw validate for details", size(self.outside)),
            ));
        }
        if self.problems > 0 {
            lines.push(("problems", format!("{}; run fw validate for details", count(self.problems, "finding"))));
        }
        lines.iter().map(|(name, value)| format!("{name:<10} {}\n", visible(value))).collect()
    }

    fn objects(&self) -> String {
        let ratio = self.decoded_len as f64 / self.stored_len.max(1) as f64;
        let (decoded, stored) = (size(self.decoded_len), size(self.stored_len));
        match self.stored_len {
            0 => format!("{}, {decoded} decoded", self.object_count),
            _ => format!("{}, {decoded} decoded, {stored} stored ({ratio:.2} to 1)", self.object_count),
        }
    }

    /// The most frequent shapes.
    fn few_shapes(&self) -> String {
        const MOST: usize = 5;
        let mut shapes: Vec<_> = self.shapes.iter().collect();
        shapes.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
        let mut parts: Vec<String> =
            shapes.iter().take(MOST).map(|(dimensions, number)| format!("{} ({number})", shape(dimensions))).collect();
        if shapes.len() > MOST {
            parts.push(format!("{} more", shapes.len() - MOST));
        }
        if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
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
        "shard_count": null,
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
                "stored_bytes": self.stored_len,
                "shapes": self.shapes.iter().map(|(dimensions, count)| json!({ "shape": dimensions, "tensor_count": count }))
                    .collect::<Vec<_>>(),
                "written": self.times.as_ref().map(|(first, last)| json!([first, last])),
                "pipelines": self.pipelines,
                "encoders": self.encoders,
                "capture": self.capture,
                "bytes_outside_messages": self.outside,
                "finding_count": self.problems,
            },
        })
    }
}
