//! Tensogram as a format of tensor files.

use super::read;
use crate::ConvertError;
use crate::contract::{AnySource, Recognition, SourceOpener, TensorFormat, Writable};
use crate::model::TensorFile;
use fw_bintensors::ReadOptions;
use fw_bintensors::validate::{DataChecks, ValidateOptions};
use fw_bytes::Span;
use fw_report::{Report, Tree};
use fw_source::{FileSource, Kept, ReadAt as _};
use fw_tensogram::{TensogramError, ValidateMode, inspect, scan_source, validate_source};
use std::path::Path;

pub(crate) struct Messages;

impl TensorFormat for Messages {
    fn name(&self) -> &'static str {
        "tensogram"
    }

    fn title(&self) -> &'static str {
        "Tensogram"
    }

    fn about(&self) -> &'static str {
        "One Tensogram message, an object per tensor"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["tgm", "tensogram"]
    }

    fn recognition(&self) -> Recognition {
        Recognition::Mark(|head| head.starts_with(fw_tensogram::wire::MAGIC))
    }

    fn open(&self, path: &Path, _options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError> {
        let source = FileSource::open(path)?;
        Ok(Box::new(read::open(source, &path.display().to_string())?))
    }

    fn source_opener(&self) -> Option<SourceOpener> {
        Some(|source, name, _| {
            let name = if name.is_empty() { "the source" } else { name };
            Ok(Box::new(read::open(Kept::new(source), name)?))
        })
    }

    fn dump(&self, source: AnySource, _name: &str) -> Result<Tree, ConvertError> {
        let mut root = Tree::new(self.name(), 0..source.len()?);
        for (number, span) in scan_source(&source, &Default::default())?.into_iter().enumerate() {
            let len = usize::try_from(span.len()).map_err(std::io::Error::other)?;
            let mut bytes = fw_codec::alloc::zeroed(len).map_err(TensogramError::from)?;
            source.read_exact_at(span.start, &mut bytes)?;
            let mut message = inspect(&bytes);
            shift(&mut message, span.start);
            message.label = format!("message {number}");
            root.push(message);
        }
        Ok(root)
    }

    fn validate(&self, source: AnySource, _name: &str, options: &ValidateOptions) -> Result<Report, ConvertError> {
        let full = options.data == DataChecks::Full;
        let mode = if full { ValidateMode::Full } else { ValidateMode::Default };
        let found = validate_source(&source, &fw_tensogram::ValidateOptions::mode(mode))?;
        let mut report = found.report;
        for (_, message) in found.messages {
            report.extend(message.report.findings().iter().cloned());
        }
        Ok(report)
    }

    fn writable(&self) -> Result<&'static dyn Writable, ConvertError> {
        Ok(&Messages)
    }
}

fn shift(tree: &mut Tree, by: u64) {
    tree.span = Span::new(tree.span.start.saturating_add(by), tree.span.end.saturating_add(by));
    for child in &mut tree.children {
        shift(child, by);
    }
}
