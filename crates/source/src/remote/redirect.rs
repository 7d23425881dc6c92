//! Where a server may send us: a redirect is what somebody else wants this machine to ask.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use url::{Host, Url};

/// Which redirects are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redirects {
    /// Those to the same server.
    Same,
    /// Those of a hub, which keeps its files elsewhere: to any server over https.
    Hub,
    /// Those to any server.
    Any,
}

/// Why a redirect is not followed.
#[derive(Debug)]
pub(super) struct Refused(pub(super) String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl Redirects {
    /// Refuses to go from `from`, where `start` led to, to `to`.
    pub(super) fn check(self, start: &Url, from: &Url, to: &Url) -> Result<(), Refused> {
        match (from.scheme(), to.scheme()) {
            (_, "https") | ("http", "http") => {}
            (from, to) => return Err(Refused(format!("the server redirects from {from} to {to}, which is refused"))),
        }
        if is_same_server(start, to) {
            return Ok(());
        }
        let place = shown(to);
        if to.host().is_some_and(|host| is_near(&host)) && !start.host().is_some_and(|host| is_near(&host)) {
            return Err(Refused(format!(
                "the server redirects to {place}, an address of this machine or of its link, which is refused"
            )));
        }
        match self {
            Self::Any => Ok(()),
            // A hub of one's own on this machine or network may have its store beside it.
            Self::Hub if to.scheme() == "https" || start.scheme() == "http" && start.host() == to.host() => Ok(()),
            Self::Hub => Err(Refused(format!("the hub redirects to {place} without https, which is refused"))),
            Self::Same => Err(Refused(format!(
                "the server redirects to another server, {place}, which is not allowed (option allow_redirects)"
            ))),
        }
    }

    /// Refuses addresses of this machine or of its link that a name on the way stands for.
    pub(super) async fn check_addresses(start: &Url, to: &Url) -> Result<(), Refused> {
        let (Some(Host::Domain(name)), Some(port)) = (to.host(), to.port_or_known_default()) else { return Ok(()) };
        if is_same_server(start, to) || start.host().is_some_and(|host| is_near(&host)) {
            return Ok(());
        }
        // A name that cannot be resolved here may be known to a proxy.
        let Ok(mut found) = tokio::net::lookup_host((name, port)).await else { return Ok(()) };
        match found.find(|address| is_near_address(address.ip())) {
            Some(address) => Err(Refused(format!(
                "the server redirects to {}, which stands for {}, an address of this machine or of its link, which is refused",
                shown(to),
                address.ip()
            ))),
            None => Ok(()),
        }
    }
}

/// Whether `to` is asked of the server that the user named: the same host and port, or the same host with https.
fn is_same_server(start: &Url, to: &Url) -> bool {
    let upgraded = start.scheme() == "http" && to.scheme() == "https" && start.port().is_none() && to.port().is_none();
    start.host() == to.host() && (start.port_or_known_default() == to.port_or_known_default() || upgraded)
}

/// Whether a host is this machine, or one that only this link reaches.
fn is_near(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
        Host::Ipv4(address) => is_near_address((*address).into()),
        Host::Ipv6(address) => is_near_address((*address).into()),
    }
}

fn is_near_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_link_local() || address.octets()[0] == 0,
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => is_near_address(inner),
            None => address.is_loopback() || address.is_unspecified() || address.is_unicast_link_local(),
        },
    }
}

/// The IPv4 address that an IPv6 address stands for: mapped, or translated (64:ff9b::/96).
fn embedded(address: Ipv6Addr) -> Option<IpAddr> {
    let translated = || {
        let [a, b, rest @ ..] = address.segments();
        let is_translated = (a, b) == (0x64, 0xff9b) && rest[..4] == [0; 4];
        is_translated.then(|| std::net::Ipv4Addr::from((u32::from(rest[4]) << 16) | u32::from(rest[5])))
    };
    address.to_ipv4_mapped().or_else(translated).map(IpAddr::V4)
}

/// Scheme, host and port: the rest of an address may hold a signature.
fn shown(url: &Url) -> String {
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn follows(redirects: Redirects, start: &str, to: &str) -> bool {
        redirects.check(&url(start), &url(start), &url(to)).is_ok()
    }

    #[test]
    fn other_servers_are_for_hubs_and_for_who_allows_them() {
        use Redirects::{Any, Hub, Same};
        for (start, to, followed) in [
            ("https://h/a", "https://h/b", [true, true, true]),
            ("http://h/a", "https://h/b", [true, true, true]),
            ("http://h/a", "http://h/b", [true, true, true]),
            ("https://h/a", "http://h/b", [false, false, false]),
            ("https://h/a", "https://other/b", [false, true, true]),
            ("https://h/a", "https://h:8443/b", [false, true, true]),
            ("http://h/a", "http://other/b", [false, false, true]),
            ("https://h/a", "http://other/b", [false, false, false]),
            ("https://h/a", "file:///etc/passwd", [false, false, false]),
            ("http://127.0.0.1:1/a", "http://127.0.0.1:2/b", [false, true, true]),
        ] {
            assert_eq!([Same, Hub, Any].map(|redirects| follows(redirects, start, to)), followed, "{start} to {to}");
        }
    }

    #[test]
    fn nobody_elsewhere_sends_us_to_this_machine() {
        for near in [
            "127.0.0.1",
            "127.8.9.1",
            "0.0.0.0",
            "2130706433",
            "0x7f.1",
            "169.254.169.254",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "[::1]",
            "[::]",
            "[fe80::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:169.254.169.254]",
            "[64:ff9b::7f00:1]",
        ] {
            for redirects in [Redirects::Any, Redirects::Hub] {
                let to = format!("https://{near}/x");
                assert!(!follows(redirects, "https://example.org/a", &to), "{near}");
                assert!(follows(redirects, "http://127.0.0.1:9/a", &to), "{near}: between servers of this machine");
            }
        }
        assert!(follows(Redirects::Any, "https://example.org/a", "https://10.0.0.1/x"));
    }

    #[test]
    fn signatures_stay_out_of_messages() {
        let error = Redirects::Same.check(&url("https://h/a"), &url("https://h/a"), &url("https://o/b?sig=secret"));
        let text = error.unwrap_err().to_string();
        assert!(text.contains("https://o") && !text.contains("secret"), "{text}");
    }
}
