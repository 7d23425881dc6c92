//! What `simple_packing` states about itself.

use crate::CodecError;
use crate::spec::{CodecInfo, CodecSpec, DerivesFrom, Dtypes, Key, KeyKind, Need, Param, ParamError, Params, refused};
use fw_tensor::DType;

/// Settings of `simple_packing`. The fields are named like the keys of descriptors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimplePacking {
    /// Bits per value, 0 to 64.
    pub sp_bits_per_value: u64,
    /// Decimal scale factor; encoding takes 0 unless it is given, decoding needs it.
    pub sp_decimal_scale_factor: Option<i32>,
    /// Reference value; goes together with the binary scale factor. Decoding needs both.
    pub sp_reference_value: Option<f64>,
    /// Binary scale factor; goes together with the reference value.
    pub sp_binary_scale_factor: Option<i32>,
}

impl SimplePacking {
    /// `bits` per value, everything else derived from the data.
    pub const fn bits(bits: u64) -> Self {
        Self {
            sp_bits_per_value: bits,
            sp_decimal_scale_factor: None,
            sp_reference_value: None,
            sp_binary_scale_factor: None,
        }
    }

    /// Bits per value, checked.
    pub(crate) fn checked_bits(&self) -> Result<u32, CodecError> {
        match self.sp_bits_per_value {
            bits @ 0..=64 => Ok(bits as u32),
            bits => {
                let message = format!("sp_bits_per_value {bits} exceeds maximum of 64");
                Err(CodecError::parameter(Self::INFO.name, "sp_bits_per_value_range", message))
            }
        }
    }

    /// Which values the parameters are derived from.
    pub(crate) const fn derives_from(&self) -> DerivesFrom {
        match (self.sp_reference_value, self.sp_bits_per_value) {
            (Some(_), _) => DerivesFrom::Nothing,
            (None, 0) => DerivesFrom::FirstValue,
            (None, _) => DerivesFrom::AllValues,
        }
    }

    /// Refuses other elements than doubles, and one of the derived parameters without the other.
    pub(crate) fn check(&self, dtype: DType) -> Result<(), CodecError> {
        if !Self::INFO.dtypes.contains(dtype) {
            return Err(refused(format!("{} only supports {}, not {dtype}", Self::INFO.name, Self::INFO.dtypes)));
        }
        if self.sp_reference_value.is_some() != self.sp_binary_scale_factor.is_some() {
            return Err(Self::incomplete());
        }
        Ok(())
    }

    /// The error for one of the derived parameters without the other.
    pub(crate) fn incomplete() -> CodecError {
        CodecError::parameter(
            Self::INFO.name,
            "sp_parameters_incomplete",
            "sp_reference_value and sp_binary_scale_factor go together; exactly one is given",
        )
    }
}

impl CodecSpec for SimplePacking {
    const INFO: CodecInfo = CodecInfo {
        name: "simple_packing",
        feature: "packing",
        summary: "Stores doubles as integers of a fixed number of bits, as GRIB does.",
        keys: &[BITS, DECIMAL, REFERENCE, BINARY],
        dtypes: Dtypes::Only(&[DType::Float64]),
        rules: "With szip the bits must be 8, 16, 24 or 32.",
        ranges: "Any range; without a filter or a compressor only its own bytes are read.",
    };

    fn read(params: &Params<'_>) -> Result<Self, ParamError> {
        Ok(Self {
            sp_bits_per_value: params.required(&BITS, params.integer(&BITS)?)?,
            sp_decimal_scale_factor: params.integer(&DECIMAL)?,
            sp_reference_value: params.float(&REFERENCE)?,
            sp_binary_scale_factor: params.integer(&BINARY)?,
        })
    }

    fn write(&self, put: &mut dyn FnMut(&'static Key, Param<'_>)) {
        put(&BITS, Param::Integer(self.sp_bits_per_value.into()));
        if let Some(decimal) = self.sp_decimal_scale_factor {
            put(&DECIMAL, Param::Integer(decimal.into()));
        }
        if let Some(reference) = self.sp_reference_value {
            put(&REFERENCE, Param::Float(reference));
        }
        if let Some(binary) = self.sp_binary_scale_factor {
            put(&BINARY, Param::Integer(binary.into()));
        }
    }
}

const BITS: Key = Key::new(
    "sp_bits_per_value",
    KeyKind::Unsigned,
    Need::Required,
    "Bits per value, 0 to 64. 0 keeps the first value only.",
);
const DECIMAL: Key = Key::new(
    "sp_decimal_scale_factor",
    KeyKind::Integer,
    Need::Default("0 (written down; decoding needs it)"),
    "Values are scaled by this power of ten before they are packed.",
);
const REFERENCE: Key = Key::new(
    "sp_reference_value",
    KeyKind::Float,
    Need::Derived,
    "The smallest value; finite. Given together with `sp_binary_scale_factor` or not at all.",
);
const BINARY: Key = Key::new(
    "sp_binary_scale_factor",
    KeyKind::Integer,
    Need::Derived,
    "Packed values are multiples of this power of two; -256 to 256 when encoding.",
);
