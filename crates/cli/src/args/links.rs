//! What record and play may be told.

use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    after_help = "Addresses:\n  serial:/dev/ttyUSB0?baud=921600   a serial port; also data, parity, stop, flow\n  \
                        tcp:HOST:PORT                     connects\n  tcp-listen:[HOST:]PORT            waits for a peer, one \
                        at a time\n  udp:[HOST:]PORT                   receives datagrams; joins a multicast group\n  \
                        ws:HOST:PORT/PATH                 WebSocket messages\n  ws-listen:[HOST:]PORT             waits \
                        for a WebSocket peer\n  file:PATH, -                      a file, standard input\n\n\
                        A link that breaks is opened again. ?retry=never ends the command instead, ?retry=30s gives up after that \
                        time, and ?retry=forever also waits for the first connection. Ctrl-C ends the recording; everything that \
                        arrived is written.\n\n\
                        Examples:\n  fw record tcp:robot:7000 -s robot.sf -o flight/\n  \
                        fw record serial:/dev/ttyUSB0?baud=921600 -o flight/ --rotate-size 1GB\n  \
                        fw record udp:7000 -o raw.tgm --for 10m"
)]
#[cfg_attr(not(feature = "link"), allow(dead_code, reason = "without links it is parsed and refused"))]
pub(crate) struct Record {
    /// The link, such as tcp:robot:7000
    pub(crate) address: String,
    /// The directory to record into, or one file whose name ends in .tgm
    #[arg(long, short, value_name = "DIR", value_parser = super::output::file())]
    pub(crate) output: PathBuf,
    /// The schema: stored with the data, and used to count frames and gaps
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) packing: super::Packing,
    #[command(flatten)]
    pub(crate) profile: super::Profile,
    /// Begin a new file before one grows beyond SIZE, such as 500MB or 1GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) rotate_size: Option<String>,
    /// Begin a new file when one is this old, such as 10m or 1h
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    pub(crate) rotate_after: Option<Duration>,
    /// Stop after this long
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration)]
    pub(crate) limit: Option<Duration>,
    /// Bytes that may wait in memory while the disk is busy
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    pub(crate) buffer: String,
    /// Wait until every block is on disk, so that it survives a power failure
    #[arg(long)]
    pub(crate) sync: bool,
    /// Print a JSON report at the end
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Pieces are sent as they arrived, at the times they arrived at: datagrams and WebSocket messages stay whole. Pauses \
                        between connections and recordings are shortened to a second. fw record --help lists the addresses.\n\n\
                        Examples:\n  fw play flight/ tcp-listen:7000\n  fw play flight/ udp:127.0.0.1:7000 --speed 2\n  \
                        fw play flight/ - --speed max | fw decode - -s robot.sf"
)]
#[cfg_attr(not(feature = "link"), allow(dead_code, reason = "without links it is parsed and refused"))]
pub(crate) struct Play {
    /// The recording; a plain capture is sent without pauses
    pub(crate) recording: PathBuf,
    /// The link to send to, such as tcp:robot:7000
    pub(crate) address: String,
    /// Play this many times as fast, or max for no pauses
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = super::speed)]
    pub(crate) speed: super::Speed,
    /// Begin anew at the end
    #[arg(long)]
    pub(crate) repeat: bool,
    /// Print a JSON report at the end
    #[arg(long)]
    pub(crate) json: bool,
}

/// How many times as fast as it was; infinite without pauses.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "link"), allow(dead_code, reason = "without links it is parsed and refused"))]
pub(crate) struct Speed(pub(crate) f64);

/// A factor, or `max`.
pub(super) fn speed(text: &str) -> Result<Speed, String> {
    if text == "max" {
        return Ok(Speed(f64::INFINITY));
    }
    let factor = text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor >= 1e-6);
    factor.map(Speed).ok_or_else(|| "must be a factor such as 2 or 0.5, or max".to_owned())
}

/// A number and a unit: ms, s, m or h.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    #[cfg(feature = "link")]
    let found = framewright::link::duration(text);
    // Only links are live.
    #[cfg(not(feature = "link"))]
    let found = text.trim_end_matches('s').parse().ok().map(Duration::from_secs);
    found.ok_or_else(|| "must be a duration such as 500ms, 10s, 5m or 1h".to_owned())
}
