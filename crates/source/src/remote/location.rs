//! Which store a URL names.

use super::guarded::{ClientSettings, Guarded};
use super::hub;
use super::redirect::Redirects;
use super::watch::{Counters, Statuses, Watched};
use super::{RemoteError, RemoteErrorKind, StoreOptions};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{BackoffConfig, Certificate, ClientConfigKey, ObjectStore, RetryConfig};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use url::Url;

/// An object and the store it is in.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) path: Path,
    /// For people: without password or query.
    pub(super) url: String,
    pub(super) over_http: bool,
}

/// The URL of a file beside the one at `url`, with the same query: shards beside their index.
///
/// ```
/// use fw_source::remote::sibling_url;
///
/// assert_eq!(sibling_url("https://h/m/a.index.json?sig=1", "b.bt"), "https://h/m/b.bt?sig=1");
/// ```
pub fn sibling_url(url: &str, name: &str) -> String {
    let (place, rest) = url.find(['?', '#']).map_or((url, ""), |end| url.split_at(end));
    let folder = place.rsplit_once('/').map_or(place, |(folder, _)| folder);
    format!("{folder}/{name}{rest}")
}

/// Whether `text` is a URL that [`super::open_source`] understands, rather than a path.
pub fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()))
        || text.to_ascii_lowercase().starts_with("memory:/")
}

/// Whether `text` is a URL of a store on another machine: any that [`is_url`] takes but `file` and `memory`.
///
/// ```
/// use fw_source::remote::is_remote_url;
///
/// assert!(is_remote_url("s3://bucket/fields.tgm") && is_remote_url("HTTPS://example.org/fields.tgm"));
/// assert!(!is_remote_url("fields.tgm") && !is_remote_url("file:///data/fields.tgm") && !is_remote_url("c://fields.tgm"));
/// ```
pub fn is_remote_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| SCHEMES.contains(&scheme.as_str()) && !HERE.contains(&scheme.as_str()))
}

/// The path that a `file://` URL names; `None` for any other URL, and for files of another machine.
pub fn file_path(text: &str) -> Option<PathBuf> {
    Url::parse(text).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

const SCHEMES: &[&str] =
    &["http", "https", "hf", "s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss", "file", "memory"];
/// Those that need no other machine.
const HERE: &[&str] = &["file", "memory"];

/// Objects of this process, by name.
static MEMORY: LazyLock<Arc<InMemory>> = LazyLock::new(|| Arc::new(InMemory::new()));

impl Location {
    /// Understands a URL; nothing is sent.
    pub(super) fn parse(
        text: &str,
        options: &StoreOptions,
        counters: &Arc<Counters>,
        statuses: Statuses,
    ) -> Result<Self, RemoteError> {
        let shown = redacted(text);
        let request = |detail: String| RemoteError::new(RemoteErrorKind::Request, &shown, detail);
        let url = Url::parse(text).map_err(|error| request(format!("not a URL: {error}")))?;
        let certificates = certificates(options).map_err(request)?;
        let built = Built { options, counters, statuses, certificates, url: &url };
        if !matches!(url.scheme(), "http" | "https" | "hf") && options.settings.iter().any(|(name, _)| is_header(name))
        {
            return Err(request(format!("headers are for http, https and hf URLs, not for {}", url.scheme())));
        }
        let store: Result<Arc<dyn ObjectStore>, String> = match url.scheme() {
            "file" => no_settings(options).map(|()| Arc::new(LocalFileSystem::new()) as _),
            "memory" => no_settings(options).map(|()| Arc::clone(&*MEMORY) as _),
            "http" | "https" => built.http(&url, None),
            "hf" => hub::resolve(text, &options.settings).and_then(|file| built.http(&file.url, file.token.as_deref())),
            "s3" | "s3a" => built.s3(),
            "gs" => built.gcp(),
            "az" | "azure" | "adl" | "abfs" | "abfss" => built.azure(),
            other => Err(format!("unsupported URL scheme {other:?}; supported are {}", SCHEMES.join(", "))),
        };
        let path = Path::from_url_path(url.path()).map_err(|error| request(error.to_string()))?;
        let over_http = !matches!(url.scheme(), "file" | "memory");
        Ok(Self { store: store.map_err(request)?, path, url: shown, over_http })
    }
}

/// What every builder needs.
struct Built<'a> {
    options: &'a StoreOptions,
    counters: &'a Arc<Counters>,
    statuses: Statuses,
    certificates: Vec<Certificate>,
    url: &'a Url,
}

impl Built<'_> {
    fn http(&self, url: &Url, token: Option<&str>) -> Result<Arc<dyn ObjectStore>, String> {
        // The query stays (signed URLs carry their signature there); the path is the object's.
        let mut base = url.clone();
        base.set_path("/");
        let (headers, settings): (Vec<_>, Vec<_>) = self.settings().partition(|(name, _)| is_header(name));
        let on_hub = self.url.scheme() == "hf";
        let mut connector = self.connector();
        let (allowed, settings): (Vec<_>, Vec<_>) =
            settings.into_iter().partition(|(name, _)| name.eq_ignore_ascii_case(ALLOW_REDIRECTS));
        let redirects = match (on_hub, allows(&allowed)?) {
            (_, true) => Redirects::Any,
            (true, false) => Redirects::Hub,
            (false, false) => Redirects::Same,
        };
        // What the headers say is for this server alone.
        let bearer = token.map(|token| format!("Authorization: Bearer {token}"));
        let headers = headers.iter().map(|(_, text)| *text);
        let guarded = Guarded::new(url.clone(), bearer.as_deref().into_iter().chain(headers), redirects)?;
        connector.guarded = Some((Arc::new(guarded), pems(self.options)?, client_settings(&settings)?));
        let mut builder = HttpBuilder::new()
            .with_url(base)
            .with_http_connector(connector)
            .with_retry(self.retries())
            .with_config(ClientConfigKey::AllowHttp, "true");
        let is_of_hub =
            |name: &str| on_hub && (name.eq_ignore_ascii_case("endpoint") || name.eq_ignore_ascii_case("token"));
        for (name, value) in settings.into_iter().filter(|(name, _)| !is_of_hub(name)) {
            builder = builder.with_config(setting(name)?, value);
        }
        built(builder.build())
    }

    fn s3(&self) -> Result<Arc<dyn ObjectStore>, String> {
        let mut builder = AmazonS3Builder::from_env();
        for (name, value) in self.settings() {
            builder = builder.with_config(setting::<AmazonS3ConfigKey>(name)?, value);
        }
        // Who names an endpoint without TLS wants it.
        let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint).unwrap_or_default();
        if endpoint.starts_with("http://") {
            builder = builder.with_allow_http(true);
        }
        builder = builder.with_url(self.url.as_str()).with_retry(self.retries());
        built(builder.with_http_connector(self.connector()).build())
    }

    fn gcp(&self) -> Result<Arc<dyn ObjectStore>, String> {
        let mut builder = GoogleCloudStorageBuilder::from_env();
        for (name, value) in self.settings() {
            builder = builder.with_config(setting::<GoogleConfigKey>(name)?, value);
        }
        let endpoint = builder.get_config_value(&GoogleConfigKey::BaseUrl).unwrap_or_default();
        if endpoint.starts_with("http://") {
            builder = builder.with_config(GoogleConfigKey::Client(ClientConfigKey::AllowHttp), "true");
        }
        builder = builder.with_url(self.url.as_str()).with_retry(self.retries());
        built(builder.with_http_connector(self.connector()).build())
    }

    fn azure(&self) -> Result<Arc<dyn ObjectStore>, String> {
        let mut builder = MicrosoftAzureBuilder::from_env();
        for (name, value) in self.settings() {
            builder = builder.with_config(setting::<AzureConfigKey>(name)?, value);
        }
        let endpoint = builder.get_config_value(&AzureConfigKey::Endpoint).unwrap_or_default();
        if endpoint.starts_with("http://") {
            builder = builder.with_allow_http(true);
        }
        builder = builder.with_url(self.url.as_str()).with_retry(self.retries());
        built(builder.with_http_connector(self.connector()).build())
    }

    fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        let of_the_store = self.options.settings.iter().filter(|(name, _)| !is_root_certificate(name));
        of_the_store.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn connector(&self) -> Watched {
        // TLS needs somebody's arithmetic; whoever installed another one before us keeps it.
        drop(rustls::crypto::ring::default_provider().install_default());
        let certificates = self.certificates.clone();
        Watched { counters: Arc::clone(self.counters), statuses: self.statuses, certificates, guarded: None }
    }

    /// Reads are tried again by `fetch`, which counts; writes by the store.
    fn retries(&self) -> RetryConfig {
        let max_retries = match self.statuses {
            Statuses::Raise => 0,
            Statuses::Leave => self.options.retries as usize,
        };
        let backoff = BackoffConfig {
            init_backoff: self.options.backoff,
            max_backoff: self.options.max_backoff,
            ..BackoffConfig::default()
        };
        RetryConfig { backoff, max_retries, retry_timeout: Duration::from_secs(180) }
    }
}

fn built<S: ObjectStore>(store: object_store::Result<S>) -> Result<Arc<dyn ObjectStore>, String> {
    store.map(|store| Arc::new(store) as _).map_err(|error| error.to_string())
}

/// Whether redirects to other servers are followed.
fn allows(settings: &[(&str, &str)]) -> Result<bool, String> {
    match settings.last() {
        None => Ok(false),
        Some((_, value)) if value.eq_ignore_ascii_case("true") => Ok(true),
        Some((_, value)) if value.eq_ignore_ascii_case("false") => Ok(false),
        Some((name, value)) => Err(format!("{name} is {value:?}, expected true or false")),
    }
}

const ALLOW_REDIRECTS: &str = "allow_redirects";

/// What settings say about connections; the store checks their names.
fn client_settings(settings: &[(&str, &str)]) -> Result<ClientSettings, String> {
    let mut known = ClientSettings::default();
    for (name, value) in settings {
        match name.to_ascii_lowercase().as_str() {
            "timeout" => known.timeout = Some(duration(name, value)?),
            "connect_timeout" => known.connect_timeout = Some(duration(name, value)?),
            "user_agent" => known.user_agent = Some((*value).to_owned()),
            "proxy_url" => known.proxy = Some((*value).to_owned()),
            _ => {}
        }
    }
    Ok(known)
}

/// `30s`, `500ms`, `2 minutes`.
fn duration(name: &str, value: &str) -> Result<Duration, String> {
    let (number, unit) = value.split_at(value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len()));
    let unit = match unit.trim() {
        "ms" | "millis" | "milliseconds" => Some(1),
        "s" | "sec" | "second" | "seconds" => Some(1000),
        "m" | "min" | "minute" | "minutes" => Some(60_000),
        _ => None,
    };
    let millis = number.parse::<u64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    millis.map(Duration::from_millis).ok_or_else(|| format!("{name} is {value:?}, expected a duration such as 30s"))
}

/// A setting by name; a misspelt one is refused, not ignored.
fn setting<K: FromStr>(name: &str) -> Result<K, String> {
    name.to_ascii_lowercase().parse().map_err(|_| format!("the store has no setting named {name:?}"))
}

/// The files of certificates as they are.
fn pems(options: &StoreOptions) -> Result<Vec<Vec<u8>>, String> {
    let files = options.settings.iter().filter(|(name, _)| is_root_certificate(name));
    files
        .map(|(_, file)| std::fs::read(file).map_err(|error| format!("{ROOT_CERTIFICATE} {file:?}: {error}")))
        .collect()
}

/// A header to send, as `NAME: VALUE`.
fn is_header(name: &str) -> bool {
    name.eq_ignore_ascii_case("header")
}

/// Certificates that are trusted beside those of the system: our own setting, the same for every store.
fn certificates(options: &StoreOptions) -> Result<Vec<Certificate>, String> {
    let mut all = Vec::new();
    for (_, file) in options.settings.iter().filter(|(name, _)| is_root_certificate(name)) {
        let refused = |why: String| format!("{ROOT_CERTIFICATE} {file:?}: {why}");
        let pem = std::fs::read(file).map_err(|error| refused(error.to_string()))?;
        let found = Certificate::from_pem_bundle(&pem).map_err(|error| refused(error.to_string()))?;
        if found.is_empty() {
            return Err(refused("contains no certificate in PEM form".to_owned()));
        }
        all.extend(found);
    }
    Ok(all)
}

fn is_root_certificate(name: &str) -> bool {
    name.eq_ignore_ascii_case(ROOT_CERTIFICATE)
}

const ROOT_CERTIFICATE: &str = "root_certificate";

fn no_settings(options: &StoreOptions) -> Result<(), String> {
    match options.settings.first() {
        None => Ok(()),
        Some((name, _)) => Err(format!("the store has no setting named {name:?}")),
    }
}

/// A URL without password and query, which may be secrets.
fn redacted(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else { return text.to_owned() };
    // Both fail only for URLs that have no place for them.
    let _ = url.set_password(None);
    if url.query().is_some() {
        url.set_query(Some("…"));
    }
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, options: &StoreOptions) -> Result<Location, RemoteError> {
        Location::parse(text, options, &Arc::default(), Statuses::Raise)
    }

    #[test]
    fn urls_and_paths_are_told_apart() {
        for url in ["https://host/a.tgm", "S3://bucket/key", "gs://b/k", "az://c/k", "memory:///x", "file:///tmp/x"] {
            assert!(is_url(url), "{url}");
        }
        for path in ["a.tgm", "/tmp/https/x", "C:\\data\\x", "ftp://host/x", "-", "s3:bucket"] {
            assert!(!is_url(path), "{path}");
        }
    }

    #[test]
    fn file_urls_are_paths() {
        assert_eq!(file_path("file:///tmp/a%20b.tgm"), Some("/tmp/a b.tgm".into()));
        assert_eq!(file_path("FILE://localhost/tmp/x"), Some("/tmp/x".into()));
        for other in ["file://elsewhere/tmp/x", "https://host/x", "/tmp/x", "memory:///x"] {
            assert_eq!(file_path(other), None, "{other}");
        }
    }

    /// What is on disk has no status.
    #[test]
    fn a_file_that_is_not_there_is_told_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let url = Url::from_file_path(folder.path().join("absent.tgm")).unwrap().to_string();
        let error = crate::remote::open_source(&url, &StoreOptions::new()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        assert_eq!(error.to_string(), format!("{url}: no such file"));
    }

    #[test]
    fn secrets_stay_out_of_errors_and_misspelt_settings_are_refused() {
        let options = StoreOptions::new().with_setting("regoin", "x");
        for url in ["https://user:secret@host/a?sig=secret", "s3://bucket/key", "memory:///x"] {
            let error = parse(url, &options).unwrap_err();
            assert_eq!(error.code(), "remote_request");
            let text = error.to_string();
            assert!(text.contains("\"regoin\"") && !text.contains("secret"), "{text}");
        }
        let error = parse("ftp://host/x", &StoreOptions::new()).unwrap_err();
        assert!(error.to_string().contains("unsupported URL scheme \"ftp\""), "{error}");
    }

    #[test]
    fn certificates_come_from_files_that_have_some() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        for (content, complaint) in [(None, "os error 2"), (Some("no certificate"), "no certificate in PEM form")] {
            if let Some(content) = content {
                std::fs::write(&file, content).unwrap();
            }
            let options = StoreOptions::new().with_setting("Root_Certificate", file.to_str().unwrap());
            let error = parse("https://host/a.tgm", &options).unwrap_err();
            assert_eq!(error.code(), "remote_request");
            assert!(error.to_string().contains(complaint) && error.to_string().contains("ca.pem"), "{error}");
        }
    }

    /// Every kind of store, told to look where nobody listens: the settings arrive, and the error says what and where.
    #[test]
    fn a_store_that_nobody_serves_is_a_clear_error() {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let quick = StoreOptions::new().with_retries(1).with_backoff(Duration::ZERO, Duration::ZERO);
        let key = "c2VjcmV0LXNlY3JldA==";
        let stores = [
            ("http", format!("http://{nobody}/a.tgm"), quick.clone()),
            (
                "s3",
                "s3://bucket/a.tgm".to_owned(),
                quick
                    .clone()
                    .with_setting("endpoint", format!("http://{nobody}"))
                    .with_setting("region", "us-east-1")
                    .with_setting("aws_access_key_id", "id")
                    .with_setting("aws_secret_access_key", key),
            ),
            (
                "az",
                "az://container/a.tgm".to_owned(),
                quick
                    .clone()
                    .with_setting("azure_storage_endpoint", format!("http://{nobody}"))
                    .with_setting("azure_storage_account_name", "account")
                    .with_setting("azure_storage_account_key", key),
            ),
            (
                "gs",
                "gs://bucket/a.tgm".to_owned(),
                quick
                    .clone()
                    .with_setting("google_base_url", format!("http://{nobody}"))
                    .with_setting("google_skip_signature", "true"),
            ),
        ];
        for (store, url, options) in stores {
            let error = crate::remote::open_source(&url, &options).unwrap_err();
            let remote = RemoteError::of(&error).unwrap();
            assert_eq!(remote.code(), "remote_failed", "{store}: {error}");
            let text = error.to_string();
            assert!(text.starts_with(&url) && text.contains("after 2 tries"), "{store}: {text}");
            assert!(text.contains("refused") && !text.contains(key), "{store}: {text}");
        }
    }

    #[test]
    fn every_scheme_has_a_store() {
        let s3 = StoreOptions::new().with_setting("region", "eu-1").with_setting("skip_signature", "true");
        assert_eq!(parse("s3://bucket/deep/key.tgm", &s3).unwrap().path.as_ref(), "deep/key.tgm");
        let az =
            StoreOptions::new().with_setting("azure_storage_account_name", "a").with_setting("skip_signature", "true");
        parse("az://container/key", &az).unwrap();
        parse("https://host/a%20b.tgm?signature=1", &StoreOptions::new()).unwrap();
        let gs = StoreOptions::new().with_setting("google_skip_signature", "true");
        parse("gs://bucket/key", &gs).unwrap();
    }
}
