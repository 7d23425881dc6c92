//! `fw get`: values of keys, a line each, for scripts.

use super::print;
use crate::args::Get;
use crate::exit::{Failure, Outcome};
use crate::inputs::{Answer, Answers, Inputs};
use crate::opened::{Opened, look_failure};
use crate::render::Progress;
use crate::selected::json_of;
use anyhow::Result;
use framewright::look::{FileRecord, KeyCheck};
use framewright::query::{Item, Keys, OneObject, Where, WholeRecord};
use framewright::report::visible;
use serde_json::{Map, Value as Json};

pub(crate) fn run(args: &Get) -> Result<Outcome> {
    let inputs = Inputs::of(&args.files)?;
    let (filter, keys) = (args.select.filter(), args.keys.clone().unwrap_or_default());
    let mut answers = Answers::new("get", args.json, &inputs);
    let progress = Progress::of("get");
    for word in &inputs.words {
        let found = Opened::open(word, &args.store, "get").and_then(|opened| {
            let mut lines = Lines { args, keys: &keys, text: String::new() };
            let ended = file(&opened, &filter, &mut lines, &progress);
            // What was found before a missing key is still an answer.
            print(&lines.text)?;
            ended.map_err(|error| opened.retold(error))
        });
        answers.take(word, found.map(|()| Answer::text(String::new())))?;
    }
    answers.finish()
}

fn file(opened: &Opened, filter: &Where, lines: &mut Lines<'_>, progress: &Progress) -> Result<()> {
    for record in opened.catalog.records_where(filter) {
        let record = record.map_err(look_failure)?;
        progress.show(record.span().end, opened.catalog.file_len(), opened.catalog.name());
        if lines.args.messages {
            if record.matches(filter) {
                lines.add(&record, &WholeRecord(&record))?;
            }
            continue;
        }
        for object in record.selected(filter) {
            lines.add(&record, &OneObject(&record, object))?;
        }
    }
    Ok(())
}

struct Lines<'a> {
    args: &'a Get,
    keys: &'a Keys,
    text: String,
}

impl Lines<'_> {
    /// Adds the line of an item.
    fn add(&mut self, record: &FileRecord, item: &impl Item) -> Result<()> {
        let values = self.keys.values(item);
        let named = || self.keys.paths().iter().zip(&values);
        if let Some((key, _)) = named().find(|(_, value)| value.is_none()).filter(|_| self.args.default.is_none()) {
            let mut check = KeyCheck::new([key]);
            check.see(record);
            let near = check.unknown().into_iter().find_map(|unknown| unknown.near);
            let hint = near.map_or_else(String::new, |near| format!("\nhint: did you mean {near}?"));
            let place = record.survey().map_or_else(String::new, |_| format!("message {}: ", record.index()));
            let text = format!("{}: {place}key not found: {key}{hint}", record.file());
            return Err(Failure::new("key_not_found", text).into());
        }
        if self.args.json {
            let default = || self.args.default.as_ref().map_or(Json::Null, |text| text.as_str().into());
            let value = |value: &Option<_>| value.as_ref().map_or_else(default, |value| json_of(Some(value)));
            let object: Map<String, Json> = named().map(|(key, found)| (key.to_string(), value(found))).collect();
            self.text.push_str(&format!("{}\n", Json::Object(object)));
            return Ok(());
        }
        let default = self.args.default.as_deref().unwrap_or_default();
        let cells = values.iter().map(|value| match value {
            Some(value) => visible(&value.to_text()).to_string(),
            None => default.to_owned(),
        });
        self.text.push_str(&cells.collect::<Vec<_>>().join(" "));
        self.text.push('\n');
        Ok(())
    }
}
