//! Surveys of the messages of files, whatever they are read from.

use super::survey::{Survey, survey_source_with, survey_with};
use crate::access::{Glance, MessageIndex};
use crate::error::Result;
use crate::frame::FIRST_READ;
use crate::options::DecodeOptions;
use crate::read::TensogramFile;
use fw_bytes::Span;
use fw_source::ReadAt;

impl TensogramFile {
    /// What can be said about one message without decoding it, damaged or not. Payloads are not read; where the frames of a
    /// damaged message cannot be followed, the bytes up to the next frame are.
    ///
    /// # Errors
    /// As [`TensogramFile::message_span`]; faults of the message are part of the answer.
    pub fn survey(&self, message: impl Into<MessageIndex>) -> Result<Survey> {
        self.survey_with(message, &DecodeOptions::default())
    }

    /// [`TensogramFile::survey`] with options, of which the limits matter.
    ///
    /// # Errors
    /// As [`TensogramFile::survey`].
    pub fn survey_with(&self, message: impl Into<MessageIndex>, options: &DecodeOptions) -> Result<Survey> {
        let span = self.message_span(message)?;
        match self.mapped().and_then(|map| span.slice_of(map, 0)) {
            Some(bytes) => Ok(survey_with(bytes, options)),
            None => survey_source_with(self.backing(), span, options),
        }
    }

    /// Surveys of several messages, in the order given. Small neighbours are read together.
    ///
    /// # Errors
    /// As [`TensogramFile::survey`], for the first message that cannot be read.
    pub fn surveys(&self, messages: &[MessageIndex]) -> Result<Vec<Survey>> {
        self.surveys_with(messages, &DecodeOptions::default())
    }

    /// [`TensogramFile::surveys`] with options, of which the limits matter.
    ///
    /// # Errors
    /// As [`TensogramFile::surveys`].
    pub fn surveys_with(&self, messages: &[MessageIndex], options: &DecodeOptions) -> Result<Vec<Survey>> {
        Ok(self.surveys_of(messages, options, None)?.into_iter().flatten().collect())
    }

    /// Surveys of those of several messages that `wanted` does not rule out by a [`Glance`] at them; the others are `None`
    /// and are not read any further. Messages of which there is no glance are surveyed.
    ///
    /// # Errors
    /// As [`TensogramFile::surveys`].
    ///
    /// ```
    /// use fw_tensogram::{DecodeOptions, MessageBuilder, MessageIndex, TensogramFile, Value};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("steps.tgm");
    /// let message = |step: i64| MessageBuilder::new().tensor(&[1], &[0u8])?.base("step", step).encode();
    /// std::fs::write(&path, [message(0)?, message(6)?, message(12)?].concat())?;
    /// let file = TensogramFile::open(&path)?;
    /// let all: Vec<_> = (0..3).map(MessageIndex::FromStart).collect();
    /// let six = Some(Value::from(6));
    /// let found = file.surveys_where(&all, &DecodeOptions::default(), |glance| glance.value(0, &["step"]) == six)?;
    /// assert!(found[0].is_none() && found[1].is_some() && found[2].is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn surveys_where(
        &self,
        messages: &[MessageIndex],
        options: &DecodeOptions,
        wanted: impl Fn(&Glance<'_>) -> bool + Sync,
    ) -> Result<Vec<Option<Survey>>> {
        self.surveys_of(messages, options, Some(&wanted))
    }

    fn surveys_of(
        &self,
        messages: &[MessageIndex],
        options: &DecodeOptions,
        wanted: Option<&GlanceFilter<'_>>,
    ) -> Result<Vec<Option<Survey>>> {
        self.surveyed(&self.message_spans(messages)?, options, wanted)
    }

    fn surveyed(
        &self,
        spans: &[Span],
        options: &DecodeOptions,
        wanted: Option<&GlanceFilter<'_>>,
    ) -> Result<Vec<Option<Survey>>> {
        // `None`: there is no glance at such a beginning, so nothing rules its message out.
        let glance = |beginning: &[u8]| wanted.and_then(|wanted| Glance::of(beginning).map(|glance| wanted(&glance)));
        let in_memory = |message: &[u8]| (glance(message) != Some(false)).then(|| survey_with(message, options));
        let mut surveys = Vec::with_capacity(spans.len());
        let mut bytes = Vec::new();
        let mut left = spans;
        while let Some(first) = left.first() {
            if let Some(message) = self.mapped().and_then(|map| first.slice_of(map, 0)) {
                surveys.push(in_memory(message));
                left = left.get(1..).unwrap_or_default();
                continue;
            }
            let (run, rest) = left.split_at(neighbours(left));
            left = rest;
            let read = |len: u64, bytes: &mut Vec<u8>| {
                bytes.resize(len as usize, 0);
                self.backing().read_exact_at(first.start, bytes)
            };
            if first.len() <= SMALL_MESSAGE {
                read(run.last().unwrap_or(first).end.saturating_sub(first.start), &mut bytes)?;
                surveys.extend(run.iter().map(|span| span.slice_of(&bytes, first.start).and_then(in_memory)));
                continue;
            }
            let mut answer = None;
            for len in [SHORT_GLANCE, FIRST_READ].iter().filter(|_| wanted.is_some()) {
                read(*len, &mut bytes)?;
                answer = glance(&bytes);
                if answer.is_some() {
                    break;
                }
            }
            let whole = || survey_source_with(self.backing(), *first, options);
            surveys.push((answer != Some(false)).then(whole).transpose()?);
        }
        Ok(surveys)
    }
}

/// Whether a message is surveyed, after a glance at it.
type GlanceFilter<'w> = dyn Fn(&Glance<'_>) -> bool + Sync + 'w;

/// How many of the first messages are read together: small ones that follow one another; one at least.
fn neighbours(spans: &[Span]) -> usize {
    let Some(first) = spans.first() else { return 0 };
    let follows = |pair: &&[Span]| match pair {
        [one, next] => {
            let near = one.end <= next.start && next.start - one.end <= SMALL_MESSAGE;
            near && one.len().max(next.len()) <= SMALL_MESSAGE && next.end - first.start <= MOST_TOGETHER
        }
        _ => false,
    };
    1 + spans.windows(2).take_while(follows).count()
}

/// Most metadata ends before this, and bytes that nobody looks at cost more than a second read of what does not.
const SHORT_GLANCE: u64 = 512;
/// Messages up to this are read whole: one read costs less than one for each part.
const SMALL_MESSAGE: u64 = 32 << 10;
/// Bytes read at a time.
const MOST_TOGETHER: u64 = 1 << 20;

#[cfg(feature = "async")]
mod awaited {
    use super::Survey;
    use crate::access::MessageIndex;
    use crate::error::Result;
    use crate::options::DecodeOptions;
    use crate::read::AsyncTensogramFile;
    use crate::validate::survey::ReadSurvey;
    use futures_util::future::try_join_all;
    use fw_source::nonblocking::off_runtime;
    use std::sync::Arc;

    impl AsyncTensogramFile {
        /// What a listing shows of one message: metadata and descriptors, without any payload. Where the frames of a damaged
        /// message cannot be followed, the bytes up to the next frame are read too.
        ///
        /// # Errors
        /// When the file cannot be read. Faults of the message are inside the survey.
        pub async fn survey(&self, message: impl Into<MessageIndex>) -> Result<Survey> {
            self.survey_with(message, &DecodeOptions::default()).await
        }

        /// [`AsyncTensogramFile::survey`] with options, of which the limits matter.
        ///
        /// # Errors
        /// As [`AsyncTensogramFile::survey`].
        pub async fn survey_with(&self, message: impl Into<MessageIndex>, options: &DecodeOptions) -> Result<Survey> {
            let index = message.into();
            if let Some(file) = self.local() {
                let (file, options) = (Arc::clone(file), options.clone());
                return off_runtime(move || file.survey_with(index, &options)).await;
            }
            self.learning(index, &options.limits, |message| ReadSurvey::new(message, options.limits)).await
        }

        /// Surveys of several messages, in the order given, with their requests side by side.
        ///
        /// # Errors
        /// As [`AsyncTensogramFile::survey`].
        pub async fn surveys(&self, messages: &[MessageIndex]) -> Result<Vec<Survey>> {
            self.surveys_with(messages, &DecodeOptions::default()).await
        }

        /// [`AsyncTensogramFile::surveys`] with options, of which the limits matter.
        ///
        /// # Errors
        /// As [`AsyncTensogramFile::survey`].
        pub async fn surveys_with(&self, messages: &[MessageIndex], options: &DecodeOptions) -> Result<Vec<Survey>> {
            let mut surveys = Vec::with_capacity(messages.len());
            // The farthest first: how the messages are best found depends on how many are asked for.
            let from_start = |message: &MessageIndex| match message {
                MessageIndex::FromStart(index) => Some(*index),
                MessageIndex::FromEnd(_) => None,
            };
            if let Some(farthest) = messages.iter().filter_map(from_start).max() {
                self.message_span(farthest).await?;
            }
            // A bounded number at a time: each holds the headers of a message.
            for some in messages.chunks(64) {
                surveys.extend(try_join_all(some.iter().map(|message| self.survey_with(*message, options))).await?);
            }
            Ok(surveys)
        }
    }
}

#[cfg(feature = "remote")]
mod remote {
    use super::Survey;
    use crate::read::{RemoteFile, waiting};

    waiting! {
        /// Describes one message without decoding it; see [`AsyncTensogramFile::survey`](crate::AsyncTensogramFile::survey).
        fn survey(message: index) -> Survey;
        /// Describes one message without decoding it, with options; see [`AsyncTensogramFile::survey_with`](crate::AsyncTensogramFile::survey_with).
        fn survey_with(message: index, options: options) -> Survey;
        /// Describes several messages, in the order given; see [`AsyncTensogramFile::surveys`](crate::AsyncTensogramFile::surveys).
        fn surveys(messages: indices) -> Vec<Survey>;
        /// Describes several messages, with options; see [`AsyncTensogramFile::surveys_with`](crate::AsyncTensogramFile::surveys_with).
        fn surveys_with(messages: indices, options: options) -> Vec<Survey>;
    }
}
