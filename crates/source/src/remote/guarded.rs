//! Requests over HTTP: redirects are followed here, as far as they may be, and headers that are meant for one server stay behind.

use super::redirect::{Redirects, Refused};
use object_store::client::{HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse};
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue, LOCATION};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use url::Url;

/// One object of one server, and the headers that the server is told.
pub(super) struct Guarded {
    start: Url,
    headers: Vec<(HeaderName, HeaderValue)>,
    redirects: Redirects,
    /// Where the server sent us to: asked directly, as long as that works.
    target: Mutex<Option<Url>>,
}

impl fmt::Debug for Guarded {
    /// Values of headers are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Guarded").field("headers", &names).finish_non_exhaustive()
    }
}

impl Guarded {
    /// Of headers as `Name: value`.
    pub(super) fn new<'a>(
        start: Url,
        headers: impl Iterator<Item = &'a str>,
        redirects: Redirects,
    ) -> Result<Self, String> {
        let header = |text: &str| {
            let (name, value) = text.split_once(':')?;
            let mut value = HeaderValue::from_str(value.trim()).ok()?;
            value.set_sensitive(true);
            Some((HeaderName::from_bytes(name.trim().as_bytes()).ok()?, value))
        };
        // The text may hold a secret: only its name is shown.
        let refused = |text: &str| {
            let name = text.split(':').next().unwrap_or_default();
            format!("the header {name:?} is not of the form NAME: VALUE")
        };
        let headers = headers.map(|text| header(text).ok_or_else(|| refused(text))).collect::<Result<_, _>>()?;
        Ok(Self { start, headers, redirects, target: Mutex::new(None) })
    }

    /// A client that leaves redirects to us.
    pub(super) fn client(certificates: &[Vec<u8>], settings: &ClientSettings) -> Result<HttpClient, String> {
        let mut trusted = Vec::new();
        for pem in certificates {
            trusted.extend(reqwest::Certificate::from_pem_bundle(pem).map_err(|error| error.to_string())?);
        }
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(settings.connect_timeout.unwrap_or(CONNECT_TIMEOUT))
            .read_timeout(READ_TIMEOUT)
            .user_agent(settings.user_agent.as_deref().unwrap_or(USER_AGENT))
            .tls_certs_merge(trusted);
        if let Some(timeout) = settings.timeout {
            builder = builder.timeout(timeout);
        }
        if let Some(proxy) = &settings.proxy {
            builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(|error| error.to_string())?);
        }
        Ok(HttpClient::new(builder.build().map_err(|error| error.to_string())?))
    }

    /// Sends a request for the object, and follows where it leads; `sent` is told of every request.
    pub(super) async fn send(
        &self,
        client: &HttpClient,
        request: HttpRequest,
        sent: impl Fn(),
    ) -> Result<HttpResponse, HttpError> {
        if !matches!(request.method().as_str(), "GET" | "HEAD") {
            if self.headers.is_empty() {
                sent();
                return client.execute(request).await;
            }
            return Err(refused("custom headers are for reading, not for writing".to_owned()));
        }
        let (parts, _) = request.into_parts();
        let known = self.target.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut retried = known.is_none();
        let mut url = known.unwrap_or_else(|| self.start.clone());
        let mut hops = 0;
        loop {
            let mut next = HttpRequest::new(HttpRequestBody::empty());
            *next.method_mut() = parts.method.clone();
            *next.uri_mut() = url.as_str().parse().map_err(|error| refused(format!("not a URL: {error}")))?;
            *next.headers_mut() = parts.headers.clone();
            if url.origin() == self.start.origin() {
                for (name, value) in &self.headers {
                    next.headers_mut().insert(name, value.clone());
                }
            } else {
                next.headers_mut().remove(AUTHORIZATION);
                next.headers_mut().remove(COOKIE);
            }
            sent();
            let response = client.execute(next).await?;
            let status = response.status().as_u16();
            // Addresses with a signature do not last: ask the server for a new one, once.
            if !retried && matches!(status, 400 | 401 | 403 | 404 | 410) {
                *self.target.lock().unwrap_or_else(PoisonError::into_inner) = None;
                (retried, url) = (true, self.start.clone());
                continue;
            }
            if !matches!(status, 301 | 302 | 303 | 307 | 308) {
                if hops > 0 && matches!(status, 200 | 206) {
                    *self.target.lock().unwrap_or_else(PoisonError::into_inner) = Some(url);
                }
                return Ok(response);
            }
            let place = response.headers().get(LOCATION).and_then(|place| place.to_str().ok());
            let to = place.and_then(|place| url.join(place).ok());
            let to = to.ok_or_else(|| refused("the server redirects to no address".to_owned()))?;
            self.redirects.check(&self.start, &url, &to).map_err(not_followed)?;
            Redirects::check_addresses(&self.start, &to).await.map_err(not_followed)?;
            hops += 1;
            if hops > MOST_HOPS {
                return Err(refused(format!("the server redirects more than {MOST_HOPS} times")));
            }
            url = to;
        }
    }
}

/// What settings of the store say about connections.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientSettings {
    pub(super) timeout: Option<Duration>,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) user_agent: Option<String>,
    pub(super) proxy: Option<String>,
}

fn refused(why: String) -> HttpError {
    not_followed(Refused(why))
}

fn not_followed(why: Refused) -> HttpError {
    HttpError::new(HttpErrorKind::Decode, why)
}

const USER_AGENT: &str = concat!("framewright/", env!("CARGO_PKG_VERSION"));

const MOST_HOPS: usize = 8;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(30);
