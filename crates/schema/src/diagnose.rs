//! What is wrong with a schema, where, under which clause, and what to do about it.

use crate::source::{SourceMap, Span};
use fw_report::{Finding, Report, Severity};
use serde::Serialize;
use serde::ser::SerializeMap;
use std::fmt::{self, Write as _};

/// The classes of faults in the specification (SF-4.1); every [`Code`] belongs to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are the specification's own")]
pub enum Class {
    Syntax,
    PackageMissing,
    PackageDuplicate,
    PackageId,
    Import,
    DuplicateName,
    DuplicateId,
    IdRange,
    FieldNumber,
    SizeMissing,
    SizeRange,
    OptionMisuse,
    OptionValue,
    UnresolvedType,
    Recursion,
    Default,
    Oneof,
    Envelope,
    Extension,
    Magic,
    EnumValue,
    Unsupported,
    Lint,
}

impl Class {
    /// Stable snake_case name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::PackageMissing => "package_missing",
            Self::PackageDuplicate => "package_duplicate",
            Self::PackageId => "package_id",
            Self::Import => "import",
            Self::DuplicateName => "duplicate_name",
            Self::DuplicateId => "duplicate_id",
            Self::IdRange => "id_range",
            Self::FieldNumber => "field_number",
            Self::SizeMissing => "size_missing",
            Self::SizeRange => "size_range",
            Self::OptionMisuse => "option_misuse",
            Self::OptionValue => "option_value",
            Self::UnresolvedType => "unresolved_type",
            Self::Recursion => "recursion",
            Self::Default => "default",
            Self::Oneof => "oneof",
            Self::Envelope => "envelope",
            Self::Extension => "extension",
            Self::Magic => "magic",
            Self::EnumValue => "enum_value",
            Self::Unsupported => "unsupported",
            Self::Lint => "lint",
        }
    }
}

macro_rules! codes {
    ($($variant:ident = $name:literal, $class:ident, $severity:ident, $clause:literal;)*) => {
        /// A stable code for one kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "each name is its own description")]
        pub enum Code { $($variant,)* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Stable snake_case name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The class of fault.
            pub const fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class,)* }
            }

            /// Error or warning.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// The clause of `docs/spec/struct-frame.md` that is broken.
            pub const fn clause(self) -> &'static str {
                match self { $(Self::$variant => $clause,)* }
            }
        }
    };
}

codes! {
    NotUtf8 = "not_utf8", Syntax, Error, "SF-2.1";
    UnexpectedCharacter = "unexpected_character", Syntax, Error, "SF-2.1";
    UnterminatedComment = "unterminated_comment", Syntax, Error, "SF-2.2";
    UnterminatedString = "unterminated_string", Syntax, Error, "SF-2.3";
    MalformedNumber = "malformed_number", Syntax, Error, "SF-2.4";
    UnexpectedToken = "unexpected_token", Syntax, Error, "SF-2.1";
    MissingSemicolon = "missing_semicolon", Syntax, Error, "SF-2.1";
    UnclosedBrace = "unclosed_brace", Syntax, Error, "SF-2.1";
    EnumBaseType = "enum_base_type", Syntax, Error, "SF-2.7";
    RepeatedMember = "repeated_member", Syntax, Error, "SF-2.1";
    NestedMessage = "nested_message", Unsupported, Error, "SF-2.8";
    UnsupportedConstruct = "unsupported_construct", Unsupported, Error, "SF-2.9";
    DottedPackage = "dotted_package", Unsupported, Error, "SF-2.10";
    PackageMissing = "package_missing", PackageMissing, Error, "SF-2.10";
    PackageDuplicate = "package_duplicate", PackageDuplicate, Error, "SF-2.10";
    PackageIdMissing = "package_id_missing", PackageId, Error, "SF-2.13";
    ImportNotFound = "import_not_found", Import, Error, "SF-2.12";
    ImportOutside = "import_outside", Import, Error, "SF-2.12";
    NotASchema = "not_a_schema", Import, Error, "SF-2.12";
    ImportCycle = "import_cycle", Import, Error, "SF-2.12";
    DuplicateFieldName = "duplicate_field_name", DuplicateName, Error, "SF-4.2";
    DuplicateMemberName = "duplicate_member_name", DuplicateName, Error, "SF-4.2";
    DuplicateEnumValueName = "duplicate_enum_value_name", DuplicateName, Error, "SF-4.2";
    DuplicateTypeName = "duplicate_type_name", DuplicateName, Error, "SF-4.2";
    FlattenCollision = "flatten_collision", DuplicateName, Error, "SF-4.2";
    DuplicateMessageId = "duplicate_message_id", DuplicateId, Error, "SF-4.3";
    RepeatedMessageId = "repeated_message_id", DuplicateId, Error, "SF-4.3";
    ConflictingPackageId = "conflicting_package_id", DuplicateId, Error, "SF-2.13";
    DuplicatePackageId = "duplicate_package_id", DuplicateId, Error, "SF-2.13";
    MessageIdRange = "message_id_range", IdRange, Error, "SF-4.3";
    PackageIdRange = "package_id_range", IdRange, Error, "SF-2.13";
    FieldNumber = "field_number", FieldNumber, Error, "SF-4.4";
    MemberNumber = "member_number", FieldNumber, Error, "SF-4.4";
    SizeMissing = "size_missing", SizeMissing, Error, "SF-4.5";
    ElementSizeMissing = "element_size_missing", SizeMissing, Error, "SF-4.5";
    SizeRange = "size_range", SizeRange, Error, "SF-4.5";
    MessageTooLarge = "message_too_large", SizeRange, Error, "SF-4.10";
    SizeMisuse = "size_misuse", OptionMisuse, Error, "SF-4.5";
    DiscriminatorUnknown = "discriminator_unknown", OptionValue, Error, "SF-3.4";
    OptionNotInteger = "option_not_integer", OptionValue, Error, "SF-3.2";
    UnresolvedType = "unresolved_type", UnresolvedType, Error, "SF-2.11";
    Recursion = "recursion", Recursion, Error, "SF-4.6";
    NestingTooDeep = "nesting_too_deep", Recursion, Error, "SF-4.6";
    EmptyMessageField = "empty_message_field", Unsupported, Error, "SF-4.10";
    DefaultRange = "default_range", Default, Error, "SF-10.1";
    DefaultType = "default_type", Default, Error, "SF-10.1";
    DefaultUnknownValue = "default_unknown_value", Default, Error, "SF-10.1";
    DefaultTooLong = "default_too_long", Default, Error, "SF-10.1";
    DefaultMisplaced = "default_misplaced", Default, Error, "SF-10.2";
    OneofMemberWithoutId = "oneof_member_without_id", Oneof, Error, "SF-4.7";
    OneofMemberIdZero = "oneof_member_id_zero", Oneof, Error, "SF-4.7";
    OneofDuplicateTag = "oneof_duplicate_tag", Oneof, Error, "SF-4.7";
    OneofNotVariable = "oneof_not_variable", Oneof, Error, "SF-4.7";
    OneofMaxSize = "oneof_max_size", Oneof, Error, "SF-4.7";
    OneofMinSize = "oneof_min_size", Oneof, Error, "SF-4.7";
    OneofTooManyMembers = "oneof_too_many_members", Oneof, Error, "SF-4.7";
    OneofPrefixWithoutTag = "oneof_prefix_without_tag", Oneof, Error, "SF-8.3";
    EnvelopeOneof = "envelope_oneof", Envelope, Error, "SF-4.8";
    EnvelopeMember = "envelope_member", Envelope, Error, "SF-4.8";
    ExtensionStart = "extension_start", Extension, Error, "SF-4.9";
    ExtensionWithOneof = "extension_with_oneof", Extension, Error, "SF-4.9";
    ExtensionNotLast = "extension_not_last", Extension, Error, "SF-9.3";
    MagicBytes = "magic_bytes", Magic, Error, "SF-11.3";
    EnumValueRange = "enum_value_range", EnumValue, Error, "SF-4.10";

    EnumValueRepeated = "enum_value_repeated", Lint, Warning, "SF-4.10";
    EnumEmpty = "enum_empty", Lint, Warning, "SF-4.10";
    EmptyMessage = "empty_message", Lint, Warning, "SF-4.10";
    IdCollision = "id_collision", Lint, Warning, "SF-2.14";
    IdOverByte = "id_over_byte", Lint, Warning, "SF-13.2";
    UnknownOption = "unknown_option", Lint, Warning, "SF-3.1";
    RepeatedOption = "repeated_option", Lint, Warning, "SF-3.2";
    IgnoredOption = "ignored_option", Lint, Warning, "SF-3.6";
    NotTruthy = "not_truthy", Lint, Warning, "SF-3.3";
    IgnoredConstruct = "ignored_construct", Lint, Warning, "SF-2.9";
    ScalarShadowed = "scalar_shadowed", Lint, Warning, "SF-2.5";
    DanglingExtensionComment = "dangling_extension_comment", Lint, Warning, "SF-9.3";
}

/// One fault or remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of fault.
    pub code: Code,
    /// Which text.
    pub span: Span,
    /// What was read and what is wrong with it.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Other places that matter, each with a few words.
    pub related: Vec<(Span, String)>,
}

impl Diagnostic {
    /// A fault at a place.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into(), hint: None, related: Vec::new() }
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds another place that matters.
    #[must_use]
    pub fn related(mut self, span: Span, words: impl Into<String>) -> Self {
        self.related.push((span, words.into()));
        self
    }

    /// Error or warning.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// Most errors, and most warnings, that are kept: a file that is not a schema at all must not fill the memory.
const MAX_KEPT: usize = 1000;

/// Faults as they are found.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Faults {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let count = match diagnostic.severity() {
            Severity::Error => &mut self.errors,
            _ => &mut self.warnings,
        };
        *count += 1;
        if *count <= MAX_KEPT {
            self.list.push(diagnostic);
        }
    }

    /// Adds those of another list.
    pub(crate) fn append(&mut self, other: Self) {
        let kept = other.list.len();
        let left_out = other.len() - kept;
        let errors = other.list.iter().filter(|fault| fault.severity() == Severity::Error).count();
        other.list.into_iter().for_each(|fault| self.push(fault));
        // Those that the other list did not keep.
        self.errors += other.errors - errors;
        self.warnings += left_out - (other.errors - errors);
    }

    /// How many were found, kept or not.
    pub(crate) fn len(&self) -> usize {
        self.errors + self.warnings
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cfg(test)]
    pub(crate) fn into_list(self) -> Vec<Diagnostic> {
        self.list
    }
}

/// Everything found, in the order of files and positions, together with the texts it is about.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    sources: SourceMap,
    list: Vec<Diagnostic>,
    left_out: usize,
}

impl Diagnostics {
    pub(crate) fn new(sources: SourceMap, faults: Faults) -> Self {
        let left_out = faults.len() - faults.list.len();
        let mut list = faults.list;
        list.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
        list.dedup();
        Self { sources, list, left_out }
    }

    /// The faults and remarks.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// How many more were found: at most a thousand errors and a thousand warnings are kept.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The texts they are about.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The errors alone.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error)
    }

    /// The warnings alone.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter().filter(|diagnostic| diagnostic.severity() == Severity::Warning)
    }

    /// True when nothing is wrong; warnings are allowed.
    pub fn is_ok(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The same findings in the model shared by all tools; the path is `file:line:column`.
    pub fn to_report(&self) -> Report {
        let mut report = Report::new();
        report.extend(self.list.iter().map(|diagnostic| {
            let mut message = diagnostic.message.clone();
            if let Some(hint) = &diagnostic.hint {
                let _ = write!(message, "; {hint}");
            }
            Finding::new(diagnostic.severity(), diagnostic.code.name(), message)
                .at(u64::from(diagnostic.span.start)..u64::from(diagnostic.span.end))
                .on(self.sources.describe(diagnostic.span))
                .level("schema")
        }));
        report
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.list.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            render(&self.sources, diagnostic, f)?;
        }
        if self.left_out > 0 {
            writeln!(f, "\n… and {} more", self.left_out)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

impl Serialize for Diagnostics {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.list.iter().map(|diagnostic| Entry { sources: &self.sources, diagnostic }))
    }
}

struct Entry<'a> {
    sources: &'a SourceMap,
    diagnostic: &'a Diagnostic,
}

impl Serialize for Entry<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Diagnostic { code, span, message, hint, related } = self.diagnostic;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", code.name())?;
        map.serialize_entry("class", code.class().name())?;
        map.serialize_entry("severity", &code.severity())?;
        map.serialize_entry("clause", code.clause())?;
        if let Some(file) = self.sources.file(span.file) {
            map.serialize_entry("file", &file.path.display().to_string())?;
            map.serialize_entry("start", &file.position(span.start))?;
            map.serialize_entry("end", &file.position(span.end))?;
        }
        map.serialize_entry("message", message)?;
        if let Some(hint) = hint {
            map.serialize_entry("hint", hint)?;
        }
        if !related.is_empty() {
            let related: Vec<_> =
                related.iter().map(|(span, words)| format!("{}: {words}", self.sources.describe(*span))).collect();
            map.serialize_entry("related", &related)?;
        }
        map.end()
    }
}

/// Longest piece of a source line that is shown.
const MAX_SHOWN: usize = 160;

fn render(sources: &SourceMap, diagnostic: &Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "{}[{}]: {}", diagnostic.severity(), diagnostic.code.name(), diagnostic.message)?;
    let Some(file) = sources.file(diagnostic.span.file) else { return Ok(()) };
    let start = file.position(diagnostic.span.start);
    let end = file.position(diagnostic.span.end);
    let line = file.line(start.line);
    let gutter = start.line.to_string().len();
    writeln!(f, "{:gutter$}--> {}", "", sources.describe(diagnostic.span))?;
    writeln!(f, "{:gutter$} |", "")?;

    // A very long line is shown from a little before the fault.
    let column = start.column as usize - 1;
    let skip = if line.chars().count() > MAX_SHOWN { column.saturating_sub(MAX_SHOWN / 2) } else { 0 };
    let shown: String = line.chars().skip(skip).take(MAX_SHOWN).collect();
    writeln!(f, "{} | {}", start.line, shown.trim_end())?;
    let width = if end.line == start.line {
        end.column.saturating_sub(start.column).max(1) as usize
    } else {
        line.chars().count().saturating_sub(column).max(1)
    };
    // Tabs stay tabs so that the caret stands under the fault whatever the tab width.
    let pad: String = line.chars().skip(skip).take(column - skip).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    writeln!(f, "{:gutter$} | {pad}{}", "", "^".repeat(width.min(MAX_SHOWN)))?;
    for (span, words) in &diagnostic.related {
        writeln!(f, "{:gutter$} = note: {words} at {}", "", sources.describe(*span))?;
    }
    if let Some(hint) = &diagnostic.hint {
        writeln!(f, "{:gutter$} = hint: {hint}", "")?;
    }
    writeln!(f, "{:gutter$} = rule: {}", "", diagnostic.code.clause())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_distinct_snake_case() {
        let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(
            names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'))
        );
    }

    #[test]
    fn the_caret_stands_under_the_fault() {
        let text = "package p;\n\tuint8 a = 300;\n";
        let at = text.find("300").unwrap() as u32;
        let span = Span { file: FileId(0), start: at, end: at + 3 };
        let found = Diagnostic::new(Code::FieldNumber, span, "field `a` has number 300").hint("write 1");
        let mut faults = Faults::default();
        faults.push(found);
        let shown = Diagnostics::new(SourceMap::single("p.sf", text), faults).to_string();
        let expected = "error[field_number]: field `a` has number 300\n --> p.sf:2:12\n  |\n2 | \tuint8 a = 300;\n  | \t          ^^^\n  = hint: write 1\n  = rule: SF-4.4\n";
        assert_eq!(shown, expected);
    }
}
