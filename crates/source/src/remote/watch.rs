//! What goes over the wire, counted; and statuses kept as numbers.

use super::guarded::{ClientSettings, Guarded};
use async_trait::async_trait;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::{Certificate, ClientOptions};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much was asked of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Requests sent, failed ones included.
    pub requests: u64,
    /// Bytes of bodies that arrived.
    pub received: u64,
    /// Bytes of bodies that were sent.
    pub sent: u64,
}

/// The same, while it happens.
#[derive(Debug, Default)]
pub(super) struct Counters {
    requests: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
}

impl Counters {
    pub(super) fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn now(&self) -> Traffic {
        Traffic {
            requests: self.requests.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
            sent: self.sent.load(Ordering::Relaxed),
        }
    }
}

/// Connections whose requests are counted, and whose server errors keep their number on the way through the store.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) counters: Arc<Counters>,
    /// Whether a server error becomes an error here, for the tries of `fetch`, or the store tries on its own.
    pub(super) statuses: Statuses,
    /// Trusted beside those of the system.
    pub(super) certificates: Vec<Certificate>,
    /// What follows redirects, with certificates and settings for its client; stores of other kinds have their own.
    pub(super) guarded: Option<(Arc<Guarded>, Vec<Vec<u8>>, ClientSettings)>,
}

/// Who tries again after a server error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statuses {
    /// `fetch`: the status must come through.
    Raise,
    /// The store, by its own rules.
    Leave,
}

impl HttpConnector for Watched {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let trusted = self.certificates.iter().cloned();
        let options = trusted.fold(options.clone(), ClientOptions::with_root_certificate);
        let (counters, statuses) = (Arc::clone(&self.counters), self.statuses);
        let (inner, guarded) = match &self.guarded {
            None => (ReqwestConnector::default().connect(&options)?, None),
            Some((guarded, certificates, settings)) => {
                let refused = |error: String| object_store::Error::Generic { store: "HTTP", source: error.into() };
                (Guarded::client(certificates, settings).map_err(refused)?, Some(Arc::clone(guarded)))
            }
        };
        Ok(HttpClient::new(WatchedService { inner, counters, statuses, guarded }))
    }
}

#[derive(Debug)]
struct WatchedService {
    inner: HttpClient,
    counters: Arc<Counters>,
    statuses: Statuses,
    guarded: Option<Arc<Guarded>>,
}

#[async_trait]
impl HttpService for WatchedService {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_get = request.method() == "GET";
        let mut response = match &self.guarded {
            None => {
                self.counters.request();
                self.counters.sent(request.body().content_length() as u64);
                self.inner.execute(request).await?
            }
            // Objects that are read: their requests have no body.
            Some(guarded) => guarded.send(&self.inner, request, || self.counters.request()).await?,
        };
        let status = response.status().as_u16();
        let raised = status >= 500 || matches!(status, 408 | 416 | 429);
        if raised && self.statuses == Statuses::Raise {
            return Err(HttpError::new(HttpErrorKind::Unknown, Status(status)));
        }
        // The store refuses answers that do not say how long they are. One whose end can be told from a lost connection
        // (in chunks, or in HTTP/2: the default is 1.1) may be read whole all the same.
        let is_framed = response.version() > Default::default() || response.headers().contains_key("transfer-encoding");
        if is_get && status == 200 && is_framed && !response.headers().contains_key("content-length") {
            response.headers_mut().insert("content-length", UNKNOWN_LEN.into());
        }
        Ok(response)
    }
}

/// Stands for a length that the server did not tell.
pub(super) const UNKNOWN_LEN: u64 = u64::MAX;

/// An answer that is no answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Status(pub(super) u16);

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.0 {
            408 => "the server timed out",
            416 => "the server has no such range",
            429 => "too many requests",
            500 => "the server had an internal error",
            502 => "a gateway received no response",
            503 => "the server is unavailable",
            504 => "a gateway timed out",
            _ => "the server failed",
        };
        f.write_str(words)
    }
}

impl std::error::Error for Status {}
