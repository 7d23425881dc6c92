//! Descriptors to pipelines and masks. Problems are words; the tests only ask whether there are any.

use fw_codec::chain::{Compression, Encoding, Filter, Pipeline, Stages};
use fw_codec::finite::Kind;
use fw_codec::mask::{Method, Options, StoredMask};
use fw_codec::spec::{Param, ParamError, ParamSource};
use fw_tensor::{ByteOrder, DType};
use serde_json::Value;

type Outcome<T> = Result<T, String>;

/// The pipeline of a descriptor.
pub(crate) fn pipeline(descriptor: &Value, dtype: DType, count: u64, order: ByteOrder) -> Outcome<Pipeline> {
    let text = |key: &str| descriptor[key].as_str().unwrap_or("none").to_owned();
    let (params, words) = (Json(descriptor), |error: ParamError| format!("{error:?}"));
    let encoding = Encoding::read(&text("encoding"), &params).map_err(words)?;
    let filter = Filter::read(&text("filter"), &params).map_err(words)?;
    let compression = Compression::read(&text("compression"), &params).map_err(words)?;
    Pipeline::new(Stages { encoding, filter, compression }, dtype, count, order).map_err(|error| error.to_string())
}

/// The parameters of a descriptor in JSON.
pub(crate) struct Json<'a>(pub(crate) &'a Value);

impl ParamSource for Json<'_> {
    fn param(&self, key: &str) -> Option<Param<'_>> {
        let list = |value: &Value| -> Option<Vec<u64>> { value.as_array()?.iter().map(Value::as_u64).collect() };
        Some(match &self.0[key] {
            Value::Null => return None,
            Value::Number(number) => match number.as_i128() {
                Some(number) => Param::Integer(number),
                None => Param::Float(number.as_f64()?),
            },
            Value::String(text) => Param::Text(text),
            value => list(value).map_or(Param::Other("something else"), Param::UnsignedList),
        })
    }
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
