//! Messages that were looked at, with every position counted from the beginning of the file.

use framewright::primitives::Span;
use framewright::report::Finding;
use framewright::tensogram::Survey;

/// The same survey, of the message with this number at `span`, whose faults say where in the file they are. Frames keep their
/// places in the message.
pub(crate) fn in_file(mut survey: Survey, number: usize, span: Span) -> Survey {
    let outer = format!("message[{number}]");
    survey.metadata = survey.metadata.map_err(|error| error.shifted(span.start).on(&outer));
    let objects = std::mem::take(&mut survey.objects).into_iter().map(|mut object| {
        object.descriptor = object.descriptor.map_err(|error| error.shifted(span.start).on(&outer));
        object
    });
    survey.objects = objects.collect();
    let mut report = framewright::report::Report::new();
    report.extend(survey.report.into_iter().map(|mut finding| {
        finding.span = finding.span.and_then(|inner| inner.shifted(span.start));
        finding.path = if finding.path.is_empty() { outer.clone() } else { format!("{outer}.{}", finding.path) };
        finding
    }));
    survey.report = report;
    survey
}

/// What there is to say about a file of `len` bytes with messages at `spans`, beside what is said about those.
pub(crate) fn beside(len: u64, spans: &[Span]) -> Option<Finding> {
    let outside = len.saturating_sub(spans.iter().map(|span| span.len()).sum());
    match (len, outside) {
        (0, _) => Some(Finding::warning("empty_file", "the file is empty: it holds no message")),
        (_, 0) => None,
        _ => {
            let text = format!("{outside} bytes belong to no message; fw validate says where");
            Some(Finding::warning("bytes_outside_messages", text))
        }
    }
}
