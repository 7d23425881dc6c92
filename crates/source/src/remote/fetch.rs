//! One range of one version of an object, tried again when that may help.

use super::location::Location;
use super::measure::Measured;
use super::pace::Pace;
use super::redirect::Refused;
use super::watch::{Counters, Status};
use super::whole::Whole;
use super::{Progress, RemoteError, RemoteErrorKind, StoreOptions};
use bytes::{Bytes, BytesMut};
use fw_bytes::Span;
use object_store::{Error, GetOptions, GetRange, GetResult, ObjectMeta};
use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Which version of an object is being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) len: u64,
    pub(super) tag: Option<String>,
    modified: i64,
}

impl Version {
    pub(super) fn of(meta: &ObjectMeta) -> Self {
        let modified = meta.last_modified.timestamp_millis();
        Self { len: meta.size, tag: meta.e_tag.clone(), modified }
    }

    /// A tag that servers can compare by themselves; weak ones never match there.
    fn condition(&self) -> Option<String> {
        self.tag.clone().filter(|tag| !tag.starts_with("W/"))
    }

    /// What differs, in words.
    fn difference(&self, now: &Self) -> Option<String> {
        if self.len != now.len {
            return Some(format!("it had {} bytes when it was opened and has {} now", self.len, now.len));
        }
        match (&self.tag, &now.tag) {
            (Some(then), Some(now)) if then != now => Some(format!("its tag was {then} and is {now} now")),
            (Some(_), Some(_)) => None,
            _ if self.modified != now.modified => Some("it was modified since it was opened".to_owned()),
            _ => None,
        }
    }
}

/// What opening brought.
#[derive(Debug)]
pub(super) enum Probed {
    /// The first bytes.
    Head(Bytes),
    /// All of them.
    Whole(Whole),
}

/// Reads ranges of one object.
#[derive(Debug)]
pub(super) struct Fetcher {
    pub(super) location: Location,
    pub(super) options: StoreOptions,
    pub(super) counters: Arc<Counters>,
    pub(super) measured: Measured,
    /// Tries after failures so far, of all requests.
    pub(super) retried: AtomicU32,
}

impl Fetcher {
    /// The first bytes, and which version they are of; all of them where the server knows no ranges.
    pub(super) async fn probe(&self) -> Result<(Probed, Version), RemoteError> {
        let wanted = Span::new(0, self.options.probe_len.max(1));
        let refused = match self.tries(wanted, None, 1).await {
            Ok((head, version)) => return Ok((Probed::Head(head), version)),
            // An empty object has no ranges.
            Err(error) if error.status == Some(416) || error.kind == RemoteErrorKind::PastEnd => {
                match self.empty().await {
                    Ok(version) => return Ok((Probed::Head(Bytes::new()), version)),
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        match refused.kind {
            RemoteErrorKind::NoRanges => {
                let (whole, version) = self.whole(refused).await?;
                Ok((Probed::Whole(whole), version))
            }
            _ => Err(refused),
        }
    }

    /// The bytes of `span`, all of them, of that version; `in_flight` requests share the way.
    pub(super) async fn range(&self, span: Span, version: &Version, in_flight: usize) -> Result<Bytes, RemoteError> {
        Ok(self.tries(span, Some(version), in_flight).await?.0)
    }

    async fn tries(
        &self,
        span: Span,
        version: Option<&Version>,
        in_flight: usize,
    ) -> Result<(Bytes, Version), RemoteError> {
        let all = self.all_tries(span, version, in_flight);
        if span.len() > SHORT_READ {
            return all.await;
        }
        let patience = self.options.patience;
        tokio::time::timeout(patience, all).await.unwrap_or_else(|_| {
            let detail = format!("{} bytes did not come within {} seconds", span.len(), patience.as_secs_f64());
            Err(RemoteError::new(RemoteErrorKind::Slow, &self.location.url, detail))
        })
    }

    async fn all_tries(
        &self,
        span: Span,
        version: Option<&Version>,
        in_flight: usize,
    ) -> Result<(Bytes, Version), RemoteError> {
        let mut tried = 0;
        loop {
            match self.once(span, version, in_flight).await {
                Ok(found) => return Ok(found),
                Err(error) => self.pause_after(error, &mut tried).await?,
            }
        }
    }

    /// Waits before the next try; gives the error back when that cannot help, or enough was tried.
    pub(super) async fn pause_after(&self, error: RemoteError, tried: &mut u32) -> Result<(), RemoteError> {
        *tried += 1;
        if !error.is_retryable() || *tried > self.options.retries {
            return Err(RemoteError { tries: *tried, ..error });
        }
        if self.retried.fetch_add(1, Ordering::Relaxed) >= self.options.retry_budget {
            let budget = self.options.retry_budget;
            let detail = format!("{}; {budget} requests were tried again by now, which is the budget", error.detail);
            return Err(RemoteError { tries: *tried, detail, ..error });
        }
        tokio::time::sleep(self.options.pause(*tried - 1)).await;
        Ok(())
    }

    async fn once(
        &self,
        span: Span,
        version: Option<&Version>,
        in_flight: usize,
    ) -> Result<(Bytes, Version), RemoteError> {
        if !self.location.over_http {
            // Requests over HTTP are counted where they are sent.
            self.counters.request();
        }
        let options = GetOptions {
            range: Some(GetRange::Bounded(span.start..span.end)),
            if_match: version.and_then(Version::condition),
            ..GetOptions::default()
        };
        let sent = Instant::now();
        let answer = self.location.store.get_opts(&self.location.path, options).await;
        let answer = answer.map_err(|error| self.explain(&error))?;
        let latency = sent.elapsed();
        let now = Version::of(&answer.meta);
        if let Some(difference) = version.and_then(|then| then.difference(&now)) {
            return Err(self.changed(&difference));
        }
        let wanted = answer.range.end.saturating_sub(answer.range.start);
        if let Some(version) = version
            && (answer.range.start, answer.range.end) != (span.start, span.end)
        {
            let detail = format!("expected bytes {span} of {}, received {:?}", version.len, answer.range);
            return Err(RemoteError::new(RemoteErrorKind::Malformed, &self.location.url, detail));
        }
        let body = self.body(answer, wanted, now.len).await?;
        self.measured.learn(latency, body.len() as u64, sent.elapsed().saturating_sub(latency), in_flight);
        Ok((body, now))
    }

    /// The body, which must be as long as was said.
    async fn body(&self, answer: GetResult, wanted: u64, object_len: u64) -> Result<Bytes, RemoteError> {
        let short = |have: u64| {
            let detail = format!("the response ended after {have} of {wanted} bytes");
            RemoteError::new(RemoteErrorKind::Failed, &self.location.url, detail)
        };
        let mut stream = answer.into_stream();
        let mut first = Bytes::new();
        let mut body = BytesMut::new();
        let (mut have, mut pace) = (0u64, Pace::new(self.options.patience));
        while let Some(piece) = pace.next(&mut stream, &self.location.url).await? {
            let piece = piece.map_err(|error| match have {
                0 => self.explain(&error),
                _ => RemoteError { detail: format!("{}: {}", short(have).detail, innermost(&error)), ..short(have) },
            })?;
            have = have.saturating_add(piece.len() as u64);
            self.counters.received(piece.len() as u64);
            if have > wanted {
                let detail = format!("the response has more than the {wanted} bytes requested");
                return Err(RemoteError::new(RemoteErrorKind::Malformed, &self.location.url, detail));
            }
            if let Some(progress) = &self.options.progress {
                progress(Progress { traffic: self.counters.now(), object_len });
            }
            match (first.is_empty(), body.is_empty()) {
                // Most answers are one piece; it is handed on as it came.
                (true, true) => first = piece,
                _ => {
                    if body.is_empty() {
                        // What a server says is no reason to take much memory before it has sent anything.
                        body.reserve(usize::try_from(wanted).unwrap_or(0).min(MOST_RESERVED));
                        body.extend_from_slice(&std::mem::take(&mut first));
                    }
                    body.extend_from_slice(&piece);
                }
            }
        }
        if have < wanted {
            return Err(short(have));
        }
        Ok(if body.is_empty() { first } else { body.freeze() })
    }

    /// The version of an object without bytes.
    async fn empty(&self) -> Result<Version, RemoteError> {
        if !self.location.over_http {
            self.counters.request();
        }
        let options = GetOptions { head: true, ..GetOptions::default() };
        let answer = self.location.store.get_opts(&self.location.path, options).await;
        let version = Version::of(&answer.map_err(|error| self.explain(&error))?.meta);
        match version.len {
            0 => Ok(version),
            _ => Err(RemoteError::new(
                RemoteErrorKind::NoRanges,
                &self.location.url,
                "the server refuses the range of its first bytes",
            )),
        }
    }

    fn changed(&self, what: &str) -> RemoteError {
        let detail = format!("the object changed while it was read: {what}; open it again");
        RemoteError::new(RemoteErrorKind::Changed, &self.location.url, detail)
    }

    /// An error of the store in our words.
    pub(super) fn explain(&self, error: &Error) -> RemoteError {
        explain(&self.location.url, error)
    }
}

/// An error of the store, sorted by what can be done about it.
pub(super) fn explain(url: &str, error: &Error) -> RemoteError {
    let words = innermost(error);
    let sorted = |kind, detail: String, status| RemoteError { status, ..RemoteError::new(kind, url, detail) };
    match error {
        // The disk has no statuses.
        Error::NotFound { .. } if url.starts_with("file:") => {
            sorted(RemoteErrorKind::NotFound, "no such file".to_owned(), None)
        }
        Error::NotFound { .. } => sorted(RemoteErrorKind::NotFound, "no such object".to_owned(), Some(404)),
        Error::PermissionDenied { .. } => {
            sorted(RemoteErrorKind::Denied, "the credentials do not allow it".to_owned(), Some(403))
        }
        Error::Unauthenticated { .. } => {
            sorted(RemoteErrorKind::Denied, "credentials are missing or wrong".to_owned(), Some(401))
        }
        Error::Precondition { .. } => {
            let detail = "the object changed while it was read: it is no longer the one that was opened; open it again";
            sorted(RemoteErrorKind::Changed, detail.to_owned(), Some(412))
        }
        // Servers that know no ranges say so, or send everything.
        _ if words.contains("Range request not supported") || words.contains("non-partial response") => {
            let detail = "the server does not serve ranges of bytes: it responds with the whole object";
            sorted(RemoteErrorKind::NoRanges, detail.to_owned(), None)
        }
        Error::NotSupported { .. } | Error::NotImplemented { .. } => sorted(RemoteErrorKind::Request, words, None),
        // The stores in memory and on disk have no status for a start behind the end.
        _ if words.contains("Wanted range starting at") => sorted(RemoteErrorKind::PastEnd, words, None),
        _ if chain(error).any(<dyn StdError>::is::<Refused>) => sorted(RemoteErrorKind::Redirected, words, None),
        _ => {
            let status = chain(error).find_map(|cause| cause.downcast_ref::<Status>()).map(|status| status.0);
            match status {
                None if is_malformed(&words) => sorted(RemoteErrorKind::Malformed, words, None),
                Some(416) => sorted(RemoteErrorKind::PastEnd, words, status),
                _ => sorted(RemoteErrorKind::Failed, words, status),
            }
        }
    }
}

/// Whether the words of the store or of its client are about an answer that cannot be understood. Neither has a type for that.
fn is_malformed(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    ["invalid http", " parsed", "content-range", "content-length", "chunk size", "unable to parse", "failed to parse"]
        .iter()
        .any(|sign| words.contains(sign))
}

/// Reads up to this come within the patience of the options, with all that is tried for them: headers and other metadata.
const SHORT_READ: u64 = 64 << 10;

/// Bytes that room is made for before they have arrived.
const MOST_RESERVED: usize = 64 << 20;

fn chain<'e>(error: &'e (dyn StdError + 'static)) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |cause: &&'e (dyn StdError + 'static)| (*cause).source())
}

/// The innermost cause says it best; the outer ones repeat it.
pub(super) fn innermost(error: &Error) -> String {
    chain(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}
