//! How much a reader accepts: three profiles (BT-8) and caps for untrusted files.

use crate::wire::MAX_HEADER_LEN;

/// Which of the files that the reference readers accept are accepted here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// All of them.
    Compat,
    /// Those that hide nothing: spaces after the last record, and no metadata key twice.
    #[default]
    Default,
    /// Those whose bytes are exactly what the canonical writer makes of their content.
    Canonical,
}

impl Profile {
    /// Every profile, the most lenient first.
    pub const ALL: [Self; 3] = [Self::Compat, Self::Default, Self::Canonical];

    /// Lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compat => "compat",
            Self::Default => "default",
            Self::Canonical => "canonical",
        }
    }

    /// The profile with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// Caps on what a header may hold. The default refuses nothing but headers above the format's own cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeaderLimits {
    /// Bytes of the header, padding included; never above the format's 100 000 000.
    pub header_len: u64,
    /// Tensors.
    pub tensor_count: u64,
    /// Dimensions of one tensor.
    pub rank: u64,
    /// Bytes of one name.
    pub name_len: u64,
    /// Bytes of the user metadata, encoded.
    pub metadata_len: u64,
}

impl HeaderLimits {
    /// Tight caps for untrusted input.
    pub const fn untrusted() -> Self {
        Self { header_len: 16 << 20, tensor_count: 1 << 17, rank: 64, name_len: 4096, metadata_len: 1 << 20 }
    }
}

impl Default for HeaderLimits {
    fn default() -> Self {
        Self {
            header_len: MAX_HEADER_LEN,
            tensor_count: u64::MAX,
            rank: u64::MAX,
            name_len: u64::MAX,
            metadata_len: u64::MAX,
        }
    }
}

impl From<fw_bytes::Limits> for HeaderLimits {
    fn from(limits: fw_bytes::Limits) -> Self {
        Self {
            header_len: limits.message_len.min(MAX_HEADER_LEN),
            tensor_count: limits.object_count,
            metadata_len: limits.metadata_len,
            ..Self::default()
        }
    }
}

/// How to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// What to accept.
    pub profile: Profile,
    /// What to refuse for its size.
    pub limits: HeaderLimits,
}

impl ReadOptions {
    /// The default profile and limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses a profile.
    #[must_use]
    pub const fn with_profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Chooses limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: HeaderLimits) -> Self {
        self.limits = limits;
        self
    }
}
