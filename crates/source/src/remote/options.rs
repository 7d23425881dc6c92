//! How a store is reached, and how much may be asked of it.

use super::Traffic;
use crate::plan::Cost;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What a progress callback is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What went over the wire so far.
    pub traffic: Traffic,
    /// Bytes of the object; 0 before it is known.
    pub object_len: u64,
}

/// Called after every piece that arrived or left, from the threads that wait for them.
pub type ProgressFn = dyn Fn(Progress) + Send + Sync;

/// What to do with a server that serves no ranges of bytes, but only whole objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FullRead {
    /// Opening the object is an error that says so.
    #[default]
    Refuse,
    /// All of it is read when it is opened, however long it is.
    Allow,
    /// All of it is read when it is opened; an object of more bytes is an error.
    UpTo(u64),
}

/// How to open a store. The default takes credentials from the environment (`AWS_…`, `GOOGLE_…`, `AZURE_…`).
#[derive(Clone)]
#[non_exhaustive]
pub struct StoreOptions {
    /// Settings of the store by name, such as `aws_access_key_id`, `region`, `endpoint`, `skip_signature` or `timeout`;
    /// they win over the environment. `root_certificate` names a PEM file of certificates to trust beside those of the
    /// system (which `SSL_CERT_FILE` replaces): for servers and proxies of one's own. `header`, as `NAME: VALUE` and as often as
    /// needed, is sent to the server of an `http(s)` or `hf` URL and to no other that it redirects to; so is the token of
    /// an `hf` URL (`token` or `HF_TOKEN`; `endpoint` or `HF_ENDPOINT` name another hub). `allow_redirects` (`true`) lets the
    /// server of an `http(s)` URL redirect to another server.
    pub settings: Vec<(String, String)>,
    /// How often a request is tried again after a server error, a lost connection or a short answer.
    pub retries: u32,
    /// How often requests for one object are tried again in all: a server that fails now and then is borne, one that fails all
    /// the time is given up.
    pub retry_budget: u32,
    /// Pause before the first of them; doubled for every further one.
    pub backoff: Duration,
    /// Longest pause.
    pub max_backoff: Duration,
    /// How long less than a kibibyte per second may arrive before a transfer is given up, and how long a read of up to 64 KiB may
    /// take with all tries.
    pub patience: Duration,
    /// Bytes of the first request, which also brings size and version.
    pub probe_len: u64,
    /// Bytes of the cache of what was fetched.
    pub cache_len: u64,
    /// Requests in flight at once.
    pub concurrency: usize,
    /// Bytes of one part of an upload; most stores want 5 MiB at least. Parts become twice as long after every thousand, as
    /// stores take ten thousand of them.
    pub part_len: usize,
    /// Whether an object may be read whole when its server serves no ranges.
    pub full_read: FullRead,
    /// Bytes of an object read whole that are held in memory; a longer one is kept in a temporary file, which has no name
    /// and is gone when the source is dropped.
    pub full_read_memory: u64,
    /// What requests cost; `None`, the default, measures round trips and rates while the object is read.
    pub cost: Option<Cost>,
    /// Told about every piece that arrives or leaves.
    pub progress: Option<Arc<ProgressFn>>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            settings: Vec::new(),
            retries: 4,
            retry_budget: 64,
            backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            patience: Duration::from_secs(30),
            probe_len: 16 << 10,
            cache_len: 16 << 20,
            concurrency: 32,
            part_len: 8 << 20,
            full_read: FullRead::Refuse,
            full_read_memory: 64 << 20,
            cost: None,
            progress: None,
        }
    }
}

impl StoreOptions {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more setting of the store.
    #[must_use]
    pub fn with_setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// The same with this many retries.
    #[must_use]
    pub const fn with_retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// The same with this many retries for all requests together.
    #[must_use]
    pub const fn with_retry_budget(mut self, retries: u32) -> Self {
        self.retry_budget = retries;
        self
    }

    /// The same with these pauses between tries.
    #[must_use]
    pub const fn with_backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.backoff = first;
        self.max_backoff = longest;
        self
    }

    /// The same with this patience.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The same with a cache of this size.
    #[must_use]
    pub const fn with_cache_len(mut self, bytes: u64) -> Self {
        self.cache_len = bytes;
        self
    }

    /// The same with parts of this size for uploads.
    #[must_use]
    pub const fn with_part_len(mut self, bytes: usize) -> Self {
        self.part_len = bytes;
        self
    }

    /// The same with this many requests in flight at most.
    #[must_use]
    pub const fn with_concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests;
        self
    }

    /// The same with a first request of this many bytes.
    #[must_use]
    pub const fn with_probe_len(mut self, bytes: u64) -> Self {
        self.probe_len = bytes;
        self
    }

    /// The same with this answer to servers that serve no ranges.
    #[must_use]
    pub const fn with_full_read(mut self, full_read: FullRead) -> Self {
        self.full_read = full_read;
        self
    }

    /// The same with this many bytes of memory for an object that is read whole.
    #[must_use]
    pub const fn with_full_read_memory(mut self, bytes: u64) -> Self {
        self.full_read_memory = bytes;
        self
    }

    /// The same with requests of this cost, whatever is measured.
    #[must_use]
    pub const fn with_cost(mut self, cost: Cost) -> Self {
        self.cost = Some(cost);
        self
    }

    /// The same with a progress callback.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// The pause before retry number `retry`, counted from 0.
    pub(super) fn pause(&self, retry: u32) -> Duration {
        self.backoff.saturating_mul(2u32.saturating_pow(retry)).min(self.max_backoff)
    }
}

impl fmt::Debug for StoreOptions {
    /// Values of settings may be secrets and stay out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("settings", &self.settings.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("retries", &self.retries)
            .field("retry_budget", &self.retry_budget)
            .field("probe_len", &self.probe_len)
            .field("cache_len", &self.cache_len)
            .field("concurrency", &self.concurrency)
            .field("part_len", &self.part_len)
            .field("full_read", &self.full_read)
            .field("cost", &self.cost)
            .finish_non_exhaustive()
    }
}
