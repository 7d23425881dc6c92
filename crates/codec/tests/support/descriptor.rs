//! Descriptors to pipelines and masks. Problems are told in words; the tests only ask whether there are any.

use fw_codec::chain::{
    Blosc2Codec, Compression, Encoding, Filter, Pipeline, SimplePacking, Stages, Sz3Mode, SzipSettings, ZfpSettings,
};
use fw_codec::finite::Kind;
use fw_codec::mask::{Method, Options, StoredMask};
use fw_tensor::{ByteOrder, DType};
use serde_json::Value;

type Outcome<T> = Result<T, String>;

/// The pipeline of a descriptor.
pub(crate) fn pipeline(descriptor: &Value, dtype: DType, count: u64, order: ByteOrder) -> Outcome<Pipeline> {
    let text = |key: &str| descriptor[key].as_str().unwrap_or("none").to_owned();
    let encoding = match text("encoding").as_str() {
        "none" => Encoding::None,
        "simple_packing" => Encoding::SimplePacking(SimplePacking {
            sp_bits_per_value: unsigned(descriptor, "sp_bits_per_value")?,
            sp_decimal_scale_factor: optional(descriptor, "sp_decimal_scale_factor", signed)?.unwrap_or(0),
            sp_reference_value: optional(descriptor, "sp_reference_value", float)?,
            sp_binary_scale_factor: optional(descriptor, "sp_binary_scale_factor", signed)?,
        }),
        other => return Err(format!("unknown encoding {other}")),
    };
    let filter = match text("filter").as_str() {
        "none" => Filter::None,
        "shuffle" => Filter::Shuffle { shuffle_element_size: unsigned(descriptor, "shuffle_element_size")? },
        other => return Err(format!("unknown filter {other}")),
    };
    let compression = match text("compression").as_str() {
        "none" => Compression::None,
        "szip" => Compression::Szip(SzipSettings {
            szip_rsi: unsigned(descriptor, "szip_rsi")?,
            szip_block_size: unsigned(descriptor, "szip_block_size")?,
            szip_flags: unsigned(descriptor, "szip_flags")?,
            szip_block_offsets: optional(descriptor, "szip_block_offsets", offsets)?,
        }),
        "zstd" => Compression::Zstd { zstd_level: optional(descriptor, "zstd_level", signed)? },
        "lz4" => Compression::Lz4,
        "blosc2" => Compression::Blosc2 {
            blosc2_codec: optional(descriptor, "blosc2_codec", |value| Blosc2Codec::from_name(value.as_str()?))?,
            blosc2_clevel: optional(descriptor, "blosc2_clevel", signed)?,
        },
        "zfp" => Compression::Zfp(match descriptor["zfp_mode"].as_str() {
            Some("fixed_rate") => ZfpSettings::FixedRate { zfp_rate: required(descriptor, "zfp_rate", float)? },
            Some("fixed_precision") => ZfpSettings::FixedPrecision {
                zfp_precision: u32::try_from(unsigned(descriptor, "zfp_precision")?).map_err(|e| e.to_string())?,
            },
            Some("fixed_accuracy") => {
                ZfpSettings::FixedAccuracy { zfp_tolerance: required(descriptor, "zfp_tolerance", float)? }
            }
            other => return Err(format!("unknown zfp_mode {other:?}")),
        }),
        "sz3" => Compression::Sz3 {
            sz3_error_bound_mode: required(descriptor, "sz3_error_bound_mode", |mode| {
                Sz3Mode::from_name(mode.as_str()?)
            })?,
            sz3_error_bound: required(descriptor, "sz3_error_bound", float)?,
        },
        "rle" => Compression::Rle,
        "roaring" => Compression::Roaring,
        other => return Err(format!("unknown compression {other}")),
    };
    Pipeline::new(Stages { encoding, filter, compression }, dtype, count, order).map_err(|error| error.to_string())
}

/// Element type, count and byte order of a stored descriptor.
pub(crate) fn shape(descriptor: &Value) -> Outcome<(DType, u64, ByteOrder)> {
    let dtype = descriptor["dtype"].as_str().ok_or("no dtype")?.parse().map_err(|_| "unknown dtype")?;
    let order = ByteOrder::from_name(descriptor["byte_order"].as_str().ok_or("no byte_order")?).ok_or("bad order")?;
    let dims: Vec<u64> = descriptor["shape"].as_array().ok_or("no shape")?.iter().filter_map(Value::as_u64).collect();
    Ok((dtype, dims.iter().try_fold(1u64, |n, d| n.checked_mul(*d)).ok_or("shape overflows")?, order))
}

/// The masks of a stored descriptor.
pub(crate) fn masks(descriptor: &Value) -> Outcome<Vec<StoredMask>> {
    let mut stored = Vec::new();
    for kind in Kind::ALL {
        let mask = &descriptor["masks"][kind.key()];
        if !mask.is_null() {
            stored.push(StoredMask {
                kind,
                method: required(mask, "method", |name| Method::from_name(name.as_str()?))?,
                offset: unsigned(mask, "offset")?,
                length: unsigned(mask, "length")?,
            });
        }
    }
    Ok(stored)
}

/// The mask options of an encode request.
pub(crate) fn mask_options(options: &Value) -> Options {
    let method = |key: &str| options[key].as_str().map_or(Method::Roaring, |name| Method::from_name(name).unwrap());
    Options {
        allow_nan: options["allow_nan"] == true,
        allow_inf: options["allow_inf"] == true,
        nan_mask_method: method("nan_mask_method"),
        pos_inf_mask_method: method("pos_inf_mask_method"),
        neg_inf_mask_method: method("neg_inf_mask_method"),
        small_mask_threshold_bytes: options["small_mask_threshold_bytes"].as_u64().unwrap_or(128),
    }
}

fn optional<T>(map: &Value, key: &str, read: impl Fn(&Value) -> Option<T>) -> Outcome<Option<T>> {
    match &map[key] {
        Value::Null => Ok(None),
        value => read(value).map(Some).ok_or_else(|| format!("{key} is {value}")),
    }
}

fn required<T>(map: &Value, key: &str, read: impl Fn(&Value) -> Option<T>) -> Outcome<T> {
    optional(map, key, read)?.ok_or_else(|| format!("{key} is missing"))
}

fn unsigned(map: &Value, key: &str) -> Outcome<u64> {
    required(map, key, Value::as_u64)
}

fn signed(value: &Value) -> Option<i32> {
    i32::try_from(value.as_i64()?).ok()
}

fn float(value: &Value) -> Option<f64> {
    value.as_f64()
}

fn offsets(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}
