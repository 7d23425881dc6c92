//! What `sz3` states about itself.

use crate::spec::{
    CodecInfo, CodecSpec, CompressorInput, CompressorSpec, Dtypes, Key, KeyKind, Need, Param, ParamError, Params,
    if_built,
};
use crate::{Codec, CodecError};
use fw_tensor::{ByteOrder, DType};

/// Settings of `sz3`. The fields are named like the keys of descriptors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sz3Settings {
    /// What the bound means.
    pub sz3_error_bound_mode: Sz3Mode,
    /// The bound.
    pub sz3_error_bound: f64,
}

/// What an error bound of `sz3` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sz3Mode {
    /// Absolute error.
    Abs,
    /// Error relative to the range of the values.
    Rel,
    /// Peak signal-to-noise ratio in decibels.
    Psnr,
}

impl Sz3Mode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Abs, Self::Rel, Self::Psnr];

    /// The name in descriptors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Rel => "rel",
            Self::Psnr => "psnr",
        }
    }

    /// The mode of this exact name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl CodecSpec for Sz3Settings {
    const INFO: CodecInfo = CodecInfo {
        name: "sz3",
        feature: "sz3",
        summary: "Lossy coding of doubles within an error bound (SZ3 3.3.2, one dimension).",
        keys: &[MODE, BOUND],
        dtypes: Dtypes::Only(&[DType::Float64]),
        rules: "Takes neither an encoding nor a filter. Lossless streams of float32 values, which the reference writes, are read.",
        ranges: "None: the whole object is decoded.",
    };

    fn read(params: &Params<'_>) -> Result<Self, ParamError> {
        Ok(Self {
            sz3_error_bound_mode: params.required(&MODE, params.name(&MODE, Sz3Mode::from_name)?)?,
            sz3_error_bound: params.required(&BOUND, params.float(&BOUND)?)?,
        })
    }

    fn write(&self, put: &mut dyn FnMut(&'static Key, Param<'_>)) {
        put(&MODE, Param::Text(self.sz3_error_bound_mode.name()));
        put(&BOUND, Param::Float(self.sz3_error_bound));
    }
}

impl CompressorSpec for Sz3Settings {
    fn check(&self, input: &CompressorInput<'_>) -> Result<(), CodecError> {
        if Self::holds_floats(input) {
            return Ok(());
        }
        input.only_plain_doubles()
    }

    fn orders_values(&self) -> bool {
        true
    }

    fn encoder(&self, input: &CompressorInput<'_>) -> Result<Box<dyn Codec>, CodecError> {
        // Such objects are read where nothing was lost, and never written.
        input.only_plain_doubles()?;
        if_built!("sz3", Self, (input), {
            use crate::sz3::{Sz3, Sz3Bound};
            let bound = match self.sz3_error_bound_mode {
                Sz3Mode::Abs => Sz3Bound::Abs(self.sz3_error_bound),
                Sz3Mode::Rel => Sz3Bound::Rel(self.sz3_error_bound),
                Sz3Mode::Psnr => Sz3Bound::Psnr(self.sz3_error_bound),
            };
            Ok(Box::new(Sz3::new(bound, input.byte_order)?))
        })
    }

    /// Streams carry their own bound, and what a descriptor with a bad one describes is still readable.
    fn decoder(&self, input: &CompressorInput<'_>, order: ByteOrder) -> Result<Box<dyn Codec>, CodecError> {
        if_built!("sz3", Self, (input, order), {
            use crate::sz3::Sz3;
            Ok(Box::new(if Self::holds_floats(input) { Sz3::float32_reader(order) } else { Sz3::reader(order) }))
        })
    }
}

impl Sz3Settings {
    /// True for pairs of little-endian floats that the reference stores as doubles (TG-C3.2).
    fn holds_floats(input: &CompressorInput<'_>) -> bool {
        let plain = input.packed_bits().is_none() && input.shuffled().is_none();
        plain && input.dtype == DType::Float32 && input.byte_order == ByteOrder::Little && input.len.is_multiple_of(8)
    }
}

const MODE: Key = Key::new(
    "sz3_error_bound_mode",
    KeyKind::Name(&["abs", "rel", "psnr"]),
    Need::Required,
    "What the bound means: an absolute error, a part of the range of the values, or a signal-to-noise ratio in decibels.",
);
const BOUND: Key =
    Key::new("sz3_error_bound", KeyKind::Float, Need::Required, "The bound; finite, and 0 or greater but for `psnr`.");
