//! Framings: a header kind and a payload kind (SF-13.1), and the five profiles (SF-13.2).

use core::fmt;
use core::str::FromStr;

/// Which start bytes a frame has. Complete: the format names no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeaderKind {
    /// None.
    None,
    /// One: `0x70 + T`.
    Tiny,
    /// Two: `0x90` and `0x70 + T`.
    Basic,
}

impl HeaderKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Tiny, Self::Basic];

    /// Its name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Tiny => "Tiny",
            Self::Basic => "Basic",
        }
    }
}

/// What follows the start bytes; the number is T. Complete: the format names no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PayloadKind {
    /// MSG, payload.
    Minimal = 0,
    /// LEN8, MSG, payload, checksum.
    Default = 1,
    /// LEN8, PKG, MSG, payload, checksum.
    ExtendedMsgIds = 2,
    /// LEN16, MSG, payload, checksum.
    ExtendedLength = 3,
    /// LEN16, PKG, MSG, payload, checksum.
    Extended = 4,
    /// SYS, COMP, LEN8, MSG, payload, checksum.
    SysComp = 5,
    /// SEQ, LEN8, MSG, payload, checksum.
    Seq = 6,
    /// SEQ, SYS, COMP, LEN8, MSG, payload, checksum.
    MultiSystemStream = 7,
    /// SEQ, SYS, COMP, LEN16, PKG, MSG, payload, checksum.
    ExtendedMultiSystemStream = 8,
}

impl PayloadKind {
    /// All of them, by T.
    pub const ALL: [Self; 9] = [
        Self::Minimal,
        Self::Default,
        Self::ExtendedMsgIds,
        Self::ExtendedLength,
        Self::Extended,
        Self::SysComp,
        Self::Seq,
        Self::MultiSystemStream,
        Self::ExtendedMultiSystemStream,
    ];

    /// Its name in the specification.
    pub const fn name(self) -> &'static str {
        ROWS[self as usize].name
    }

    #[inline]
    pub(crate) const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// A header kind and a payload kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Framing {
    /// Start bytes.
    pub header: HeaderKind,
    /// What follows them.
    pub payload: PayloadKind,
}

impl Framing {
    /// A framing of these two.
    #[inline]
    pub const fn new(header: HeaderKind, payload: PayloadKind) -> Self {
        Self { header, payload }
    }

    /// Which layout its payloads have (SF-6.2).
    #[inline]
    pub const fn layout(self) -> Layout {
        if self.has_length() { Layout::Wire } else { Layout::Fixed }
    }

    /// True when frames say how long their payload is; exactly then they also have a checksum.
    #[inline]
    pub const fn has_length(self) -> bool {
        self.payload.row().len_bytes > 0
    }

    /// True when frames carry the high byte of the id.
    #[inline]
    pub const fn has_package(self) -> bool {
        self.payload.row().package
    }

    /// True when frames carry a sequence number.
    #[inline]
    pub const fn has_sequence(self) -> bool {
        self.payload.row().sequence
    }

    /// True when frames carry system and component ids.
    #[inline]
    pub const fn has_system(self) -> bool {
        self.payload.row().system
    }

    /// The longest payload.
    #[inline]
    pub const fn max_payload_len(self) -> usize {
        match self.payload.row().len_bytes {
            1 => 0xff,
            _ => 0xffff,
        }
    }

    /// Bytes before the payload.
    #[inline]
    pub const fn header_len(self) -> usize {
        self.start_len() + self.payload.row().fields_len()
    }

    /// Bytes before and after the payload.
    #[inline]
    pub const fn overhead(self) -> usize {
        self.header_len() + self.trailer_len()
    }

    /// Bytes after the payload.
    #[inline]
    pub const fn trailer_len(self) -> usize {
        if self.has_length() { 2 } else { 0 }
    }

    /// Number of start bytes.
    #[inline]
    pub const fn start_len(self) -> usize {
        match self.header {
            HeaderKind::None => 0,
            HeaderKind::Tiny => 1,
            HeaderKind::Basic => 2,
        }
    }

    /// The start bytes; the first [`start_len`](Self::start_len) of them count.
    #[inline]
    pub const fn start(self) -> [u8; 2] {
        let kind = 0x70 + self.payload as u8;
        match self.header {
            HeaderKind::None => [0, 0],
            HeaderKind::Tiny => [kind, 0],
            HeaderKind::Basic => [0x90, kind],
        }
    }

    /// The profile with this framing.
    pub fn profile(self) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.framing() == self)
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.profile() {
            Some(profile) => f.write_str(profile.name()),
            None => write!(f, "{}+{}", self.header.name(), self.payload.name()),
        }
    }
}

impl FromStr for Framing {
    type Err = UnknownFraming;

    /// A profile's name, or a header kind and a payload kind joined by `+`. Case, spaces, `-` and `_` do not matter.
    ///
    /// ```
    /// use fw_structframe::{Framing, HeaderKind, PayloadKind, Profile};
    ///
    /// assert_eq!("network".parse(), Ok(Profile::Network.framing()));
    /// assert_eq!("tiny+ext-length".parse::<Framing>().is_err(), true);
    /// assert_eq!("tiny+extended-length".parse(), Ok(Framing::new(HeaderKind::Tiny, PayloadKind::ExtendedLength)));
    /// ```
    fn from_str(text: &str) -> Result<Self, UnknownFraming> {
        if let Some(profile) = Profile::ALL.into_iter().find(|profile| alike(profile.name(), text)) {
            return Ok(profile.framing());
        }
        let (header, payload) = text.split_once('+').ok_or(UnknownFraming)?;
        let header = HeaderKind::ALL.into_iter().find(|kind| alike(kind.name(), header)).ok_or(UnknownFraming)?;
        let payload = PayloadKind::ALL.into_iter().find(|kind| alike(kind.name(), payload)).ok_or(UnknownFraming)?;
        Ok(Self::new(header, payload))
    }
}

/// Equal but for case and separators.
fn alike(name: &str, text: &str) -> bool {
    let letters = text.bytes().filter(|byte| !matches!(byte, b' ' | b'-' | b'_'));
    letters.map(|byte| byte.to_ascii_lowercase()).eq(name.bytes().map(|byte| byte.to_ascii_lowercase()))
}

/// No framing has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFraming;

impl fmt::Display for UnknownFraming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown framing, expected standard, sensor, ipc, bulk, network, or HEADER+PAYLOAD: ")?;
        list(f, HeaderKind::ALL.map(HeaderKind::name))?;
        f.write_str(" + ")?;
        list(f, PayloadKind::ALL.map(PayloadKind::name))
    }
}

fn list<const N: usize>(f: &mut fmt::Formatter<'_>, names: [&str; N]) -> fmt::Result {
    names.into_iter().enumerate().try_for_each(|(at, name)| {
        f.write_str(if at == 0 { "" } else { "|" })?;
        f.write_str(name)
    })
}

impl core::error::Error for UnknownFraming {}

/// The five framings with a name of their own. Complete: the format names no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Basic + Default.
    Standard,
    /// Tiny + Minimal.
    Sensor,
    /// None + Minimal.
    Ipc,
    /// Basic + Extended.
    Bulk,
    /// Basic + ExtendedMultiSystemStream.
    Network,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Standard, Self::Sensor, Self::Ipc, Self::Bulk, Self::Network];

    /// Its framing.
    #[inline]
    pub const fn framing(self) -> Framing {
        PROFILES[self as usize].1
    }

    /// Its name, in small letters.
    pub const fn name(self) -> &'static str {
        PROFILES[self as usize].0
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        Self::ALL.into_iter().find(|profile| profile.name().eq_ignore_ascii_case(name)).ok_or(UnknownProfile)
    }
}

/// No profile has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownProfile;

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown profile, expected standard, sensor, ipc, bulk or network")
    }
}

impl core::error::Error for UnknownProfile {}

/// Which of the two layouts a payload has (SF-6.2): the framing decides. Complete: there is no third.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// What framings with a length carry (Standard, Bulk, Network).
    Wire,
    /// What framings without a length carry (Sensor, IPC).
    Fixed,
}

/// What stands between start bytes and payload, in wire order: SEQ, SYS and COMP, length, PKG, and always MSG.
pub(crate) struct Row {
    name: &'static str,
    pub(crate) sequence: bool,
    pub(crate) system: bool,
    pub(crate) len_bytes: usize,
    pub(crate) package: bool,
}

impl Row {
    const fn new(name: &'static str, sequence: bool, system: bool, len_bytes: usize, package: bool) -> Self {
        Self { name, sequence, system, len_bytes, package }
    }

    #[inline]
    pub(crate) const fn fields_len(&self) -> usize {
        self.sequence as usize + 2 * self.system as usize + self.len_bytes + self.package as usize + 1
    }
}

/// Payload kinds by T (SF-13.1).
const ROWS: [Row; 9] = [
    Row::new("Minimal", false, false, 0, false),
    Row::new("Default", false, false, 1, false),
    Row::new("ExtendedMsgIds", false, false, 1, true),
    Row::new("ExtendedLength", false, false, 2, false),
    Row::new("Extended", false, false, 2, true),
    Row::new("SysComp", false, true, 1, false),
    Row::new("Seq", true, false, 1, false),
    Row::new("MultiSystemStream", true, true, 1, false),
    Row::new("ExtendedMultiSystemStream", true, true, 2, true),
];

/// Profiles in the order of [`Profile`] (SF-13.2).
const PROFILES: [(&str, Framing); 5] = [
    ("standard", Framing::new(HeaderKind::Basic, PayloadKind::Default)),
    ("sensor", Framing::new(HeaderKind::Tiny, PayloadKind::Minimal)),
    ("ipc", Framing::new(HeaderKind::None, PayloadKind::Minimal)),
    ("bulk", Framing::new(HeaderKind::Basic, PayloadKind::Extended)),
    ("network", Framing::new(HeaderKind::Basic, PayloadKind::ExtendedMultiSystemStream)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sf_13_2_overheads() {
        assert_eq!(Profile::ALL.map(|profile| profile.framing().overhead()), [6, 2, 1, 8, 11]);
        assert_eq!("Network".parse(), Ok(Profile::Network));
        assert_eq!("nonsense".parse::<Profile>(), Err(UnknownProfile));
    }

    #[test]
    fn names_of_framings_read_back() {
        for header in HeaderKind::ALL {
            for payload in PayloadKind::ALL {
                let framing = Framing::new(header, payload);
                assert_eq!(std::format!("{framing}").parse(), Ok(framing));
            }
        }
        assert_eq!(
            "BASIC + extended_msg-ids".parse(),
            Ok(Framing::new(HeaderKind::Basic, PayloadKind::ExtendedMsgIds))
        );
        for wrong in ["", "+", "basic", "basic+", "basic+seq+seq", "standards"] {
            assert_eq!(wrong.parse::<Framing>(), Err(UnknownFraming), "{wrong}");
        }
    }
}
