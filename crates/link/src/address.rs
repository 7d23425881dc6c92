//! Addresses of links as people write them.

use crate::error::LinkError;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Where bytes come from or go to.
///
/// ```
/// use fw_link::{Address, Endpoint};
///
/// let address: Address = "serial:/dev/ttyUSB0?baud=921600&parity=even".parse()?;
/// assert!(matches!(&address.endpoint, Endpoint::Serial(port) if port.baud == Some(921_600)));
/// let error = "tcp:robot".parse::<Address>().unwrap_err();
/// assert_eq!(error.to_string(), "tcp:robot: missing port; expected tcp:HOST:PORT");
/// # Ok::<(), fw_link::LinkError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Address {
    /// What it leads to.
    pub endpoint: Endpoint,
    /// What happens when the link breaks; `None` leaves it to the program.
    pub retry: Option<Retry>,
    text: String,
}

/// What an address leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// A serial port.
    Serial(Serial),
    /// A TCP peer, by host and port.
    Tcp(String, u16),
    /// TCP peers that connect, one at a time.
    TcpListen(String, u16),
    /// Datagrams.
    Udp(String, u16),
    /// A WebSocket peer: host, port and path.
    Ws(String, u16, String),
    /// WebSocket peers that connect, one at a time.
    WsListen(String, u16),
    /// A file.
    File(PathBuf),
    /// Standard input or output.
    Standard,
}

/// A serial port and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Serial {
    /// The device, such as `/dev/ttyUSB0` or `COM3`.
    pub path: PathBuf,
    /// Bits per second; `None` leaves the port as it is set.
    pub baud: Option<u32>,
    /// Data bits, 5 to 8.
    pub data: u8,
    /// The parity bit.
    pub parity: Parity,
    /// Stop bits, 1 or 2.
    pub stop: u8,
    /// Whether RTS and CTS control the flow.
    pub hardware_flow: bool,
}

/// A parity bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parity {
    /// None.
    #[default]
    None,
    /// Odd.
    Odd,
    /// Even.
    Even,
}

/// What happens when a link cannot be opened or breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// The end of the link is the end of the input.
    Never,
    /// It is opened again, unless that fails for so long.
    For(Duration),
    /// It is opened again until that succeeds.
    Forever,
}

/// The schemes, and how their addresses are written.
const SCHEMES: &[(&str, &str)] = &[
    ("serial", "serial:DEVICE?baud=115200"),
    ("tcp", "tcp:HOST:PORT"),
    ("tcp-listen", "tcp-listen:[HOST:]PORT"),
    ("udp", "udp:HOST:PORT"),
    ("ws", "ws:HOST:PORT/PATH"),
    ("ws-listen", "ws-listen:[HOST:]PORT"),
    ("file", "file:PATH"),
];

impl Address {
    /// True when a word begins with the scheme of a link, whether or not the rest is well-formed. A URL of a file (`file://…`) is
    /// not a link, and a file of such a name is written with its directory: `./tcp:x`.
    pub fn is_link(word: &str) -> bool {
        let Some((scheme, rest)) = word.split_once(':') else { return false };
        SCHEMES.iter().any(|(known, _)| *known == scheme) && !(scheme == "file" && rest.starts_with("//"))
    }

    /// The path of a `file:` address.
    pub fn file_path(word: &str) -> Option<&str> {
        word.strip_prefix("file:").filter(|rest| !rest.starts_with("//"))
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True when data arrives over time, and the other side may come back.
    pub const fn is_live(&self) -> bool {
        !matches!(self.endpoint, Endpoint::File(_) | Endpoint::Standard)
    }

    /// True when pieces are datagrams or messages, which stay as they are.
    pub const fn keeps_borders(&self) -> bool {
        matches!(self.endpoint, Endpoint::Udp(..) | Endpoint::Ws(..) | Endpoint::WsListen(..))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Address {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        if text == "-" {
            return Ok(Self { endpoint: Endpoint::Standard, retry: None, text: text.to_owned() });
        }
        let wrong = |message: String| LinkError::address(text, message);
        let known = |(scheme, _): &&(&str, &str)| text.split_once(':').is_some_and(|(found, _)| found == *scheme);
        let Some((scheme, form)) = SCHEMES.iter().find(known) else {
            let forms: Vec<&str> = SCHEMES.iter().map(|(_, form)| *form).collect();
            return Err(wrong(format!("not an address of a link; expected {} or -", forms.join(", "))));
        };
        let rest = text.get(scheme.len() + 1..).unwrap_or_default();
        if *scheme == "file" {
            let path = Some(rest).filter(|path| !path.is_empty()).ok_or_else(|| wrong(format!("expected {form}")))?;
            return Ok(Self { endpoint: Endpoint::File(path.into()), retry: None, text: text.to_owned() });
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut retry = None;
        let mut port = Serial {
            path: place.into(),
            baud: Some(115_200),
            data: 8,
            parity: Parity::None,
            stop: 1,
            hardware_flow: false,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let refused = |expected: &str| wrong(format!("{key}={value}: expected {expected}"));
            match (key, *scheme) {
                ("retry", _) => {
                    let parsed = parse_retry(value);
                    retry = Some(parsed.ok_or_else(|| refused("never, forever or a duration such as 30s"))?);
                }
                ("baud", "serial") if value == "keep" => port.baud = None,
                ("baud", "serial") => {
                    let baud = value.parse().ok().filter(|baud| (1..=MAX_BAUD).contains(baud));
                    port.baud = Some(baud.ok_or_else(|| refused("1 to 20000000, or keep"))?);
                }
                ("data", "serial") => {
                    let data = value.parse().ok().filter(|data| (5..=8).contains(data));
                    port.data = data.ok_or_else(|| refused("5 to 8"))?;
                }
                ("stop", "serial") => {
                    let stop = value.parse().ok().filter(|stop| (1..=2).contains(stop));
                    port.stop = stop.ok_or_else(|| refused("1 or 2"))?;
                }
                ("parity", "serial") => {
                    port.parity = match value {
                        "none" => Parity::None,
                        "odd" => Parity::Odd,
                        "even" => Parity::Even,
                        _ => return Err(refused("none, odd or even")),
                    };
                }
                ("flow", "serial") => {
                    port.hardware_flow = match value {
                        "none" => false,
                        "hardware" => true,
                        _ => return Err(refused("none or hardware")),
                    };
                }
                (_, "serial") => return Err(wrong(format!("unknown option {key}; expected {SERIAL_KEYS}"))),
                _ => return Err(wrong(format!("unknown option {key}; expected retry"))),
            }
        }
        let host_port = |place: &str| -> Result<(String, u16), LinkError> {
            let (host, port) = match place.rsplit_once(':') {
                // `[::1]` without a port has colons, too.
                Some((host, port)) if !port.ends_with(']') => (host, port),
                _ => return Err(wrong(format!("missing port; expected {form}"))),
            };
            let port = port.parse().map_err(|_| wrong(format!("port {port:?} is not a number from 0 to 65535")))?;
            let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            let host = match bare {
                Some(inside) => inside,
                None if host.contains([':', '[', ']', '/', '@']) || host.chars().any(char::is_whitespace) => {
                    return Err(wrong(format!("host {host:?} is not a name or an address; expected {form}")));
                }
                None => host,
            };
            Ok((host.to_owned(), port))
        };
        let listening = |place: &str| match place.parse::<u16>() {
            Ok(port) => Ok((String::new(), port)),
            Err(_) => host_port(place),
        };
        let named = |(host, port): (String, u16)| match (host.is_empty(), port) {
            (true, _) => Err(wrong(format!("missing host; expected {form}"))),
            (false, 0) => Err(wrong("port 0 cannot be connected to".to_owned())),
            (false, port) => Ok((host, port)),
        };
        let endpoint = match *scheme {
            "serial" if place.is_empty() => return Err(wrong(format!("missing device; expected {form}"))),
            "serial" => Endpoint::Serial(port),
            "tcp" => named(host_port(place)?).map(|(host, port)| Endpoint::Tcp(host, port))?,
            "tcp-listen" => listening(place).map(|(host, port)| Endpoint::TcpListen(host, port))?,
            "udp" => listening(place).map(|(host, port)| Endpoint::Udp(host, port))?,
            "ws-listen" => listening(place).map(|(host, port)| Endpoint::WsListen(host, port))?,
            _ => {
                let place = place.trim_start_matches("//");
                let (place, path) = place.split_once('/').unwrap_or((place, ""));
                if path.chars().any(|char| char.is_whitespace() || char.is_control()) {
                    return Err(wrong("the path has spaces or control characters".to_owned()));
                }
                named(host_port(place)?).map(|(host, port)| Endpoint::Ws(host, port, format!("/{path}")))?
            }
        };
        Ok(Self { endpoint, retry, text: text.to_owned() })
    }
}

fn parse_retry(text: &str) -> Option<Retry> {
    match text {
        "never" | "0" => Some(Retry::Never),
        "forever" => Some(Retry::Forever),
        _ => duration(text).map(Retry::For),
    }
}

/// A duration as people write it: a number and `ms`, `s`, `m` or `h`; a bare number is seconds. Up to a year.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(fw_link::duration("1.5s"), Some(Duration::from_millis(1500)));
/// assert_eq!(fw_link::duration("10m"), Some(Duration::from_secs(600)));
/// assert_eq!(fw_link::duration("soon"), None);
/// ```
pub fn duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..)? {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let plain = digits.chars().all(|char| char.is_ascii_digit() || char == '.');
    let seconds: f64 = digits.parse().ok().filter(|_| plain)?;
    let seconds = seconds * unit;
    (seconds <= YEAR).then(|| Duration::from_secs_f64(seconds))
}

const YEAR: f64 = 366.0 * 86_400.0;
const MAX_BAUD: u32 = 20_000_000;
const SERIAL_KEYS: &str = "baud, data, parity, stop, flow or retry";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form() {
        let of = |text: &str| text.parse::<Address>().unwrap().endpoint;
        assert_eq!(of("tcp:robot:7000"), Endpoint::Tcp("robot".to_owned(), 7000));
        assert_eq!(of("tcp:[::1]:7000"), Endpoint::Tcp("::1".to_owned(), 7000));
        assert_eq!(of("tcp-listen:7000"), Endpoint::TcpListen(String::new(), 7000));
        assert_eq!(of("tcp-listen:127.0.0.1:0"), Endpoint::TcpListen("127.0.0.1".to_owned(), 0));
        assert_eq!(of("udp::7000"), Endpoint::Udp(String::new(), 7000));
        assert_eq!(of("ws:robot:80/a/b"), Endpoint::Ws("robot".to_owned(), 80, "/a/b".to_owned()));
        assert_eq!(of("ws://robot:80"), Endpoint::Ws("robot".to_owned(), 80, "/".to_owned()));
        assert_eq!(of("file:a?b"), Endpoint::File("a?b".into()));
        assert_eq!(of("-"), Endpoint::Standard);
        let Endpoint::Serial(port) = of("serial:COM3?baud=9600&data=7&parity=odd&stop=2&flow=hardware") else {
            panic!()
        };
        assert_eq!(
            (port.baud, port.data, port.parity, port.stop, port.hardware_flow),
            (Some(9600), 7, Parity::Odd, 2, true)
        );
        let Endpoint::Serial(port) = of("serial:/dev/ttyS0?baud=keep") else { panic!() };
        assert_eq!(port.baud, None);
        assert_eq!("tcp:a:1?retry=2s".parse::<Address>().unwrap().retry, Some(Retry::For(Duration::from_secs(2))));
    }

    #[test]
    fn wrong_addresses_say_how_they_are_meant() {
        for (text, words) in [
            ("robot:7000", "not an address of a link"),
            ("tcp:", "missing port; expected tcp:HOST:PORT"),
            ("tcp::7000", "missing host; expected tcp:HOST:PORT"),
            ("tcp:[::1]", "missing port"),
            ("tcp:::1:7000", "host \"::1\" is not a name or an address"),
            ("tcp:a:70000", "port \"70000\" is not a number from 0 to 65535"),
            ("tcp:a:0", "port 0 cannot be connected to"),
            ("tcp:a:1?baud=9600", "unknown option baud; expected retry"),
            ("udp:a:1?retry=x", "retry=x: expected never, forever or a duration such as 30s"),
            ("serial:", "missing device"),
            ("serial:/dev/x?baud=fast", "baud=fast: expected 1 to 20000000"),
            ("serial:/dev/x?speed=1", "unknown option speed; expected baud, data"),
            ("serial:/dev/x?parity=mark", "parity=mark: expected none, odd or even"),
            ("ws:a:1/b c", "spaces"),
            ("file:", "expected file:PATH"),
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert!(
                error.to_string().starts_with(&format!("{text}: ")) && error.to_string().contains(words),
                "{error}"
            );
            assert_eq!(error.code(), "invalid_address");
        }
    }

    #[test]
    fn files_are_not_links() {
        for word in ["flight.bin", "./tcp:x", "file:///tmp/x.tgm", "https://x/y", "-", "tcp", "C:\\x"] {
            assert!(!Address::is_link(word), "{word}");
        }
        assert!(Address::is_link("tcp:") && Address::is_link("file:x"));
    }
}
