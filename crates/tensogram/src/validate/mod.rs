//! Validation, for people: every fault of a message with its code, bytes and path, going on after the first (TG-17).
//!
//! Four levels build on each other, one file each: [`structure`] follows frames, [`metadata`] reads descriptions,
//! [`integrity`] compares digests and proves that payloads decode, [`fidelity`] looks at decoded values.

mod bytes; // where the bytes of frames come from
mod fidelity;
mod file;
mod integrity;
#[cfg(feature = "serde")]
mod json; // reports as JSON and back
mod metadata;
mod numbers; // which object is which when frames were lost
mod structure;
mod survey;
mod survey_files; // the same for files

pub use survey::{ReadSurvey, Survey, SurveyedObject, survey, survey_source, survey_source_with, survey_with};

pub use file::{FileReport, validate_buffer, validate_file, validate_source};

use crate::error::Result;
use crate::frame::{Based, Lookup};
use bytes::{FrameBytes, InSource};
use fw_bytes::{Limits, Span};
use fw_report::{Finding, Report, Severity};
use fw_source::{ReadAt, Watch};
use structure::Structure;

/// How far to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ValidateMode {
    /// Structure only.
    Quick,
    /// Structure and metadata: every description is read, digests are not compared and payloads not decoded.
    Metadata,
    /// Structure and digests; payloads are not decoded, warnings about structure are left out.
    Checksum,
    /// Structure, metadata and integrity.
    #[default]
    Default,
    /// Everything, decoded values included.
    Full,
}

/// Options of validation.
#[derive(Clone, Debug, Default)]
pub struct ValidateOptions {
    /// How far to look.
    pub mode: ValidateMode,
    /// Also warn where CBOR is not in canonical form; implies looking at metadata.
    pub canonical: bool,
    /// Caps on what the input may ask for.
    pub limits: Limits,
    /// Is told where in a file the validation is.
    pub watch: Watch,
}

impl ValidateOptions {
    /// The options of one mode.
    pub fn mode(mode: ValidateMode) -> Self {
        Self { mode, ..Self::default() }
    }
}

/// What validation found in one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageReport {
    /// The findings.
    pub report: Report,
    /// Data objects that could be told apart.
    pub object_count: usize,
    /// Whether there is at least one object, every object's digest was compared, and nothing is wrong.
    pub hash_verified: bool,
}

impl MessageReport {
    /// True when nothing is wrong; warnings are allowed.
    pub fn is_ok(&self) -> bool {
        self.report.is_ok()
    }
}

/// Validates one message. Never fails: whatever is wrong becomes a finding.
///
/// ```
/// use fw_tensogram::{MessageBuilder, ValidateOptions, validate_message};
///
/// let mut message = MessageBuilder::new().tensor(&[3], &[1.0f32, 2.0, 3.0]).unwrap().encode().unwrap();
/// assert!(validate_message(&message, &ValidateOptions::default()).is_ok());
/// let payload = message.len() - 24 - 152;
/// message[payload] ^= 1;
/// let report = validate_message(&message, &ValidateOptions::default());
/// assert!(report.report.findings().iter().any(|finding| finding.code == "hash_mismatch"));
/// ```
pub fn validate_message(message: &[u8], options: &ValidateOptions) -> MessageReport {
    let mut report = Report::new();
    let structure = Structure::read(message, &options.limits, &mut report);
    match structure {
        None => MessageReport { report, ..MessageReport::default() },
        // Bytes in memory can always be read.
        Some(structure) => levels(&structure, structure.message, options, report).unwrap_or_default(),
    }
}

/// The same for a message in a source. Of its objects one is held at a time, and only where it has to be decoded.
///
/// # Errors
/// When reading fails.
fn validate_in_source(
    source: &(impl ReadAt + ?Sized),
    message: Span,
    options: &ValidateOptions,
) -> Result<MessageReport> {
    let (bytes, mut report) = (InSource { source, message }, Report::new());
    match bytes.follow(&options.limits, &mut report)? {
        None => Ok(MessageReport { report, ..MessageReport::default() }),
        Some((frames, held)) => levels(&frames.of(&Based::new(&held, message.start)), &bytes, options, report),
    }
}

/// Every level that is wanted.
fn levels<L: Lookup + ?Sized>(
    structure: &Structure<'_, L>,
    bytes: &(impl FrameBytes + ?Sized),
    options: &ValidateOptions,
    mut report: Report,
) -> Result<MessageReport> {
    report.extend(numbers::in_doubt(structure, options));
    let mut verified = false;
    match options.mode {
        ValidateMode::Quick if options.canonical => metadata::check(structure, options, &mut report),
        ValidateMode::Quick => {}
        ValidateMode::Metadata => metadata::check(structure, options, &mut report),
        ValidateMode::Checksum => {
            report = report.into_iter().filter(|finding| finding.severity == Severity::Error).fold(
                Report::new(),
                |mut kept, finding| {
                    kept.push(finding);
                    kept
                },
            );
            if options.canonical {
                metadata::check(structure, options, &mut report);
            }
            verified = integrity::check(structure, bytes, options, integrity::Payloads::Leave, &mut report)?;
        }
        ValidateMode::Default | ValidateMode::Full => {
            metadata::check(structure, options, &mut report);
            verified = integrity::check(structure, bytes, options, integrity::Payloads::Decode, &mut report)?;
        }
    }
    if options.mode == ValidateMode::Full {
        fidelity::check(structure, bytes, options, &mut report)?;
    }
    let object_count = structure.objects.len();
    let hash_verified = verified && object_count > 0 && report.is_ok();
    Ok(MessageReport { report, object_count, hash_verified })
}

const STRUCTURE: &str = "structure";
const METADATA: &str = "metadata";
const INTEGRITY: &str = "integrity";
const FIDELITY: &str = "fidelity";

/// A finding from an error met while reading, under a code of validation.
fn from_error(code: &'static str, error: &crate::TensogramError, level: &'static str) -> Finding {
    let message = error.fault().map_or_else(|| error.to_string(), |fault| fault.message().to_owned());
    let finding = Finding::error(code, message).level(level);
    let finding = match error.offset() {
        Some(at) => finding.at(at..at),
        None => finding,
    };
    match error.fault().map(crate::Fault::path) {
        Some(path) if !path.is_empty() => finding.on(path),
        _ => finding,
    }
}

fn object_path(index: usize) -> String {
    format!("object[{index}]")
}
