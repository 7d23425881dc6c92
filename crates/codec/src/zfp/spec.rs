//! What `zfp` states about itself.

use crate::spec::{
    CodecInfo, CodecSpec, CompressorInput, CompressorSpec, Dtypes, Key, KeyKind, Need, Param, ParamError, Params,
    if_built,
};
use crate::{Codec, CodecError};
use fw_tensor::{ByteOrder, DType};

/// Settings of `zfp`, one variant per mode. The fields are named like the keys of descriptors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ZfpSettings {
    /// `fixed_rate`
    FixedRate {
        /// Bits per value.
        zfp_rate: f64,
    },
    /// `fixed_precision`
    FixedPrecision {
        /// Bit planes.
        zfp_precision: u32,
    },
    /// `fixed_accuracy`
    FixedAccuracy {
        /// Largest absolute error.
        zfp_tolerance: f64,
    },
}

impl ZfpSettings {
    /// The name of the mode in descriptors.
    pub const fn zfp_mode(&self) -> &'static str {
        match self {
            Self::FixedRate { .. } => Mode::Rate.name(),
            Self::FixedPrecision { .. } => Mode::Precision.name(),
            Self::FixedAccuracy { .. } => Mode::Accuracy.name(),
        }
    }
}

/// What bounds the size or the error, by name.
#[derive(Clone, Copy)]
enum Mode {
    Rate,
    Precision,
    Accuracy,
}

impl Mode {
    const fn name(self) -> &'static str {
        match self {
            Self::Rate => "fixed_rate",
            Self::Precision => "fixed_precision",
            Self::Accuracy => "fixed_accuracy",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Rate, Self::Precision, Self::Accuracy].into_iter().find(|mode| mode.name() == name)
    }
}

impl CodecSpec for ZfpSettings {
    const INFO: CodecInfo = CodecInfo {
        name: "zfp",
        feature: "zfp",
        summary: "Lossy coding of doubles at a fixed rate, precision or accuracy.",
        keys: &[MODE, RATE, PRECISION, TOLERANCE],
        dtypes: Dtypes::Only(&[DType::Float64]),
        rules: "Takes neither an encoding nor a filter.",
        ranges: "At a fixed rate the blocks a range touches; in the other modes everything before it is passed over.",
    };

    fn read(params: &Params<'_>) -> Result<Self, ParamError> {
        Ok(match params.required(&MODE, params.name(&MODE, Mode::from_name)?)? {
            Mode::Rate => Self::FixedRate { zfp_rate: params.required(&RATE, params.float(&RATE)?)? },
            Mode::Precision => {
                Self::FixedPrecision { zfp_precision: params.required(&PRECISION, params.integer(&PRECISION)?)? }
            }
            Mode::Accuracy => {
                Self::FixedAccuracy { zfp_tolerance: params.required(&TOLERANCE, params.float(&TOLERANCE)?)? }
            }
        })
    }

    fn write(&self, put: &mut dyn FnMut(&'static Key, Param<'_>)) {
        put(&MODE, Param::Text(self.zfp_mode()));
        match *self {
            Self::FixedRate { zfp_rate } => put(&RATE, Param::Float(zfp_rate)),
            Self::FixedPrecision { zfp_precision } => put(&PRECISION, Param::Integer(zfp_precision.into())),
            Self::FixedAccuracy { zfp_tolerance } => put(&TOLERANCE, Param::Float(zfp_tolerance)),
        }
    }
}

impl CompressorSpec for ZfpSettings {
    fn check(&self, input: &CompressorInput<'_>) -> Result<(), CodecError> {
        input.only_plain_doubles()
    }

    fn orders_values(&self) -> bool {
        true
    }

    fn encoder(&self, input: &CompressorInput<'_>) -> Result<Box<dyn Codec>, CodecError> {
        self.decoder(input, input.byte_order)
    }

    fn decoder(&self, _input: &CompressorInput<'_>, order: ByteOrder) -> Result<Box<dyn Codec>, CodecError> {
        if_built!("zfp", Self, (order), {
            use crate::zfp::{Zfp, ZfpMode};
            let mode = match *self {
                Self::FixedRate { zfp_rate } => ZfpMode::FixedRate(zfp_rate),
                Self::FixedPrecision { zfp_precision } => ZfpMode::FixedPrecision(zfp_precision),
                Self::FixedAccuracy { zfp_tolerance } => ZfpMode::FixedAccuracy(zfp_tolerance),
            };
            Ok(Box::new(Zfp::new(mode, order)?))
        })
    }
}

const MODE: Key = Key::new(
    "zfp_mode",
    KeyKind::Name(&[Mode::Rate.name(), Mode::Precision.name(), Mode::Accuracy.name()]),
    Need::Required,
    "What bounds the size or the error.",
);
const RATE: Key = Key::new(
    "zfp_rate",
    KeyKind::Float,
    Need::RequiredWith(Mode::Rate.name()),
    "Bits per value, above 0 and at most 256; blocks of four values have whole bits, and at least 12.",
);
const PRECISION: Key = Key::new(
    "zfp_precision",
    KeyKind::Unsigned,
    Need::RequiredWith(Mode::Precision.name()),
    "Bit planes kept per block; 0 and anything above 64 mean all 64.",
);
const TOLERANCE: Key = Key::new(
    "zfp_tolerance",
    KeyKind::Float,
    Need::RequiredWith(Mode::Accuracy.name()),
    "Largest absolute error; positive and finite.",
);
