//! Which codecs a descriptor names, with their parameters read from its keys (TG-C1.2, TG-C2).

use crate::describe::{DataObjectDescriptor, Value};
use crate::error::{Fault, Result, TensogramError};
use fw_codec::chain::{
    Blosc2Codec, Compression, Encoding, Filter, Pipeline, SimplePacking, Stages, Sz3Mode, SzipSettings, ZfpSettings,
};
use fw_tensor::DType;

/// The pipeline of a descriptor, every parameter checked.
///
/// # Errors
/// `Metadata` for parameters that are missing or of the wrong type; `Encoding` for unknown names, values out of range
/// and combinations that cannot be read back.
pub(crate) fn pipeline_of(descriptor: &DataObjectDescriptor) -> Result<Pipeline> {
    let stages =
        Stages { encoding: encoding(descriptor)?, filter: filter(descriptor)?, compression: compression(descriptor)? };
    Ok(Pipeline::new(stages, descriptor.dtype, descriptor.element_count()?, descriptor.byte_order)?)
}

fn encoding(descriptor: &DataObjectDescriptor) -> Result<Encoding> {
    let keys = Keys(descriptor);
    match descriptor.encoding.as_str() {
        "none" => Ok(Encoding::None),
        // Before its parameters are read: on another type they would not help.
        "simple_packing" if descriptor.dtype != DType::Float64 => {
            let message = format!("simple_packing takes float64, not {}", descriptor.dtype);
            Err(TensogramError::Encoding(Fault::misuse("unsupported_combination", message)))
        }
        "simple_packing" => Ok(Encoding::SimplePacking(SimplePacking {
            sp_bits_per_value: keys.required("sp_bits_per_value")?,
            sp_decimal_scale_factor: keys.integer("sp_decimal_scale_factor")?.unwrap_or(0),
            sp_reference_value: keys.float("sp_reference_value")?,
            sp_binary_scale_factor: keys.integer("sp_binary_scale_factor")?,
        })),
        other => Err(unknown("encoding", other)),
    }
}

fn filter(descriptor: &DataObjectDescriptor) -> Result<Filter> {
    match descriptor.filter.as_str() {
        "none" => Ok(Filter::None),
        "shuffle" => Ok(Filter::Shuffle { shuffle_element_size: Keys(descriptor).required("shuffle_element_size")? }),
        other => Err(unknown("filter", other)),
    }
}

fn compression(descriptor: &DataObjectDescriptor) -> Result<Compression> {
    let keys = Keys(descriptor);
    Ok(match descriptor.compression.as_str() {
        "none" => Compression::None,
        "szip" => Compression::Szip(SzipSettings {
            szip_rsi: keys.required("szip_rsi")?,
            szip_block_size: keys.required("szip_block_size")?,
            szip_flags: keys.required("szip_flags")?,
            szip_block_offsets: keys.unsigned_list("szip_block_offsets")?,
        }),
        "zstd" => Compression::Zstd { zstd_level: keys.integer("zstd_level")? },
        "lz4" => Compression::Lz4,
        "blosc2" => Compression::Blosc2 {
            blosc2_codec: keys.name("blosc2_codec", Blosc2Codec::from_name)?,
            blosc2_clevel: keys.integer("blosc2_clevel")?,
        },
        "zfp" => Compression::Zfp(zfp(&keys)?),
        "sz3" => Compression::Sz3 {
            sz3_error_bound_mode: keys
                .name("sz3_error_bound_mode", Sz3Mode::from_name)?
                .ok_or_else(|| keys.missing("sz3_error_bound_mode"))?,
            sz3_error_bound: keys.required_float("sz3_error_bound")?,
        },
        "rle" => Compression::Rle,
        "roaring" => Compression::Roaring,
        other => return Err(unknown("compression", other)),
    })
}

fn zfp(keys: &Keys<'_>) -> Result<ZfpSettings> {
    let mode = keys.text("zfp_mode")?.ok_or_else(|| keys.missing("zfp_mode"))?;
    match mode {
        "fixed_rate" => Ok(ZfpSettings::FixedRate { zfp_rate: keys.required_float("zfp_rate")? }),
        "fixed_precision" => Ok(ZfpSettings::FixedPrecision { zfp_precision: keys.required("zfp_precision")? }),
        "fixed_accuracy" => Ok(ZfpSettings::FixedAccuracy { zfp_tolerance: keys.required_float("zfp_tolerance")? }),
        other => Err(unknown("zfp_mode", other)),
    }
}

/// The parameters of a descriptor, by key and type.
struct Keys<'d>(&'d DataObjectDescriptor);

impl<'d> Keys<'d> {
    fn value(&self, key: &str) -> Option<&'d Value> {
        self.0.params.get(key)
    }

    /// An integer; a float such as 16.0 is none.
    fn integer<T: TryFrom<i128>>(&self, key: &str) -> Result<Option<T>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Integer(number)) => match T::try_from(*number) {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(self.wrong(key, &format!("{number} is out of range"))),
            },
            Some(other) => Err(self.wrong(key, &format!("expected an integer, found {}", other.kind()))),
        }
    }

    fn required<T: TryFrom<i128>>(&self, key: &str) -> Result<T> {
        self.integer(key)?.ok_or_else(|| self.missing(key))
    }

    /// A float, or an integer that a double holds exactly.
    fn float(&self, key: &str) -> Result<Option<f64>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Float(number)) => Ok(Some(*number)),
            Some(Value::Integer(number)) if number.unsigned_abs() <= 1 << 53 => Ok(Some(*number as f64)),
            Some(Value::Integer(number)) => Err(self.wrong(key, &format!("{number} is beyond 2^53"))),
            Some(other) => Err(self.wrong(key, &format!("expected a number, found {}", other.kind()))),
        }
    }

    fn required_float(&self, key: &str) -> Result<f64> {
        self.float(key)?.ok_or_else(|| self.missing(key))
    }

    fn text(&self, key: &str) -> Result<Option<&'d str>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(key, &format!("expected text, found {}", other.kind()))),
        }
    }

    fn name<T>(&self, key: &str, from_name: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        self.text(key)?.map(|name| from_name(name).ok_or_else(|| unknown(key, name))).transpose()
    }

    fn unsigned_list(&self, key: &str) -> Result<Option<Vec<u64>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let numbers = value.as_array().and_then(|items| {
            items.iter().map(|item| item.as_integer().and_then(|number| u64::try_from(number).ok())).collect()
        });
        match numbers {
            Some(numbers) => Ok(Some(numbers)),
            None => Err(self.wrong(key, &format!("expected an array of unsigned integers, found {}", value.kind()))),
        }
    }

    fn missing(&self, key: &str) -> TensogramError {
        self.wrong(key, "the codec needs this parameter")
    }

    fn wrong(&self, key: &str, problem: &str) -> TensogramError {
        let fault = Fault::format("codec_parameter", format!("{key}: {problem}"));
        TensogramError::Metadata(fault.on(format!("descriptor.{key}")))
    }
}

fn unknown(stage: &str, name: &str) -> TensogramError {
    let fault = Fault::new(crate::error::ErrorKind::Unsupported, "unknown_codec", format!("unknown {stage} {name:?}"));
    TensogramError::Encoding(fault.on(format!("descriptor.{stage}")))
}
