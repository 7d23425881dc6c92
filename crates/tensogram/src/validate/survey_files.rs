//! Surveys of the messages of files, whatever they are read from.

use super::survey::{Survey, survey_source_with, survey_with};
use crate::access::MessageIndex;
use crate::error::Result;
use crate::options::DecodeOptions;
use crate::read::TensogramFile;

impl TensogramFile {
    /// What can be said about one message without decoding it, damaged or not; of one without faults no payload is read.
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

    /// Surveys of several messages, in the order given.
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
        messages.iter().map(|message| self.survey_with(*message, options)).collect()
    }
}

#[cfg(feature = "async")]
mod awaited {
    use super::Survey;
    use crate::access::{MessageIndex, ObjectHead};
    use crate::error::{Result, TensogramError};
    use crate::options::DecodeOptions;
    use crate::read::AsyncTensogramFile;
    use futures_util::future::try_join_all;
    use fw_source::nonblocking::off_runtime;
    use std::sync::Arc;

    impl AsyncTensogramFile {
        /// What a listing shows of one message: metadata and descriptors, without any payload. Of a damaged message in a
        /// store it shows what can be read without its payloads; one in a local file is read whole, to say more.
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
            let options = DecodeOptions { verify_hash: false, ..options.clone() };
            if let Some(file) = self.local() {
                let file = Arc::clone(file);
                return off_runtime(move || file.survey_with(index, &options)).await;
            }
            let start = self.message_span(index).await?.start;
            let directory = match fault(self.directory(index, &options.limits).await)? {
                Err(error) => return Ok(Survey::of_parts(None, Err(error), Vec::new())),
                Ok(directory) => directory,
            };
            let heads = self.heads(index, &options.limits).await?.into_iter();
            let metadata = fault(self.metadata_with(index, &options).await)?;
            let heads = heads.map(|head| head.map(|head| ObjectHead::clone(&head).rebased(start))).collect();
            Ok(Survey::of_parts(Some(directory.preamble), metadata, heads))
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

    /// Faults of the message are part of a survey, failures of the source are not.
    fn fault<T>(result: Result<T>) -> Result<Result<T>> {
        match result {
            Err(error @ (TensogramError::Remote(_) | TensogramError::Io(_))) => Err(error),
            read => Ok(read),
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
