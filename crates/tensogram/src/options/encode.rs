//! How to write.

use crate::describe::Provenance;
use fw_codec::mask;

/// How a mask of non-finite values is stored.
pub use fw_codec::mask::Method as MaskMethod;

/// Where the digests of all objects are gathered in one frame (TG-9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AggregateHash {
    /// Before the objects when the whole message is at hand, after them when streaming.
    #[default]
    Auto,
    /// Nowhere.
    None,
    /// Before the objects; not possible when streaming.
    Header,
    /// After the objects.
    Footer,
    /// On both sides; not possible when streaming.
    Both,
}

impl AggregateHash {
    /// Whether digests are gathered before the objects of a message that is at hand.
    pub(crate) const fn in_header(self) -> bool {
        match self {
            Self::Auto | Self::Header | Self::Both => true,
            Self::None | Self::Footer => false,
        }
    }

    /// Whether digests are gathered after the objects of a message that is at hand.
    pub(crate) const fn in_footer(self) -> bool {
        match self {
            Self::Footer | Self::Both => true,
            Self::Auto | Self::None | Self::Header => false,
        }
    }

    /// Whether a stream gathers digests after its objects; `None` where it would have to know them before.
    pub(crate) const fn in_stream(self) -> Option<bool> {
        match self {
            Self::Auto | Self::Footer => Some(true),
            Self::None => Some(false),
            Self::Header | Self::Both => None,
        }
    }
}

/// Options of every writing function.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodeOptions {
    /// Write a digest into every frame (default).
    pub hashing: bool,
    /// Where to gather the digests of the objects.
    pub aggregate_hash: AggregateHash,
    /// Set NaN aside in a mask instead of refusing it. Its payload bits and sign are not kept: the canonical NaN of
    /// the element type comes back.
    pub allow_nan: bool,
    /// Set infinities aside in masks instead of refusing them.
    pub allow_inf: bool,
    /// How the mask of NaN is stored.
    pub nan_mask_method: MaskMethod,
    /// How the mask of positive infinity is stored.
    pub pos_inf_mask_method: MaskMethod,
    /// How the mask of negative infinity is stored.
    pub neg_inf_mask_method: MaskMethod,
    /// Masks of up to this many bytes are stored as they are, whatever the method; 0 never does that.
    pub small_mask_threshold_bytes: u64,
    /// Threads to encode with; 1 means the calling thread alone. With 0 the environment variable `FW_THREADS` says how
    /// many, or `TENSOGRAM_THREADS` where that is unset or blank; without either it is the calling thread alone. The bytes
    /// written do not depend on it.
    pub threads: usize,
    /// Fixed provenance, for reproducible output; otherwise this library, this second, a fresh UUID.
    pub provenance: Option<Provenance>,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        let masks = mask::Options::default();
        Self {
            hashing: true,
            aggregate_hash: AggregateHash::default(),
            allow_nan: masks.allow_nan,
            allow_inf: masks.allow_inf,
            nan_mask_method: masks.nan_mask_method,
            pos_inf_mask_method: masks.pos_inf_mask_method,
            neg_inf_mask_method: masks.neg_inf_mask_method,
            small_mask_threshold_bytes: masks.small_mask_threshold_bytes,
            threads: 0,
            provenance: None,
        }
    }
}

impl EncodeOptions {
    /// Whether values that are not finite go into masks.
    pub(crate) const fn sets_aside(&self) -> bool {
        self.allow_nan || self.allow_inf
    }

    pub(crate) fn mask_options(&self) -> mask::Options {
        mask::Options {
            allow_nan: self.allow_nan,
            allow_inf: self.allow_inf,
            nan_mask_method: self.nan_mask_method.clone(),
            pos_inf_mask_method: self.pos_inf_mask_method.clone(),
            neg_inf_mask_method: self.neg_inf_mask_method.clone(),
            small_mask_threshold_bytes: self.small_mask_threshold_bytes,
        }
    }

    pub(crate) fn provenance(&self) -> Provenance {
        self.provenance.clone().unwrap_or_else(Provenance::now)
    }
}
