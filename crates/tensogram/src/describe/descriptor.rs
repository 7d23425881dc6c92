//! What one object is: element type, shape, and the pipeline its payload went through (TG-7).

use super::cbor::{Plain, Value, encode_text_map, read_value};
use super::masks::MasksMetadata;
use super::metadata::{MetadataMap, check_len, mismatch, text_map};
use crate::error::{Fault, Result, TensogramError};
use fw_bytes::Limits;
use fw_tensor::{ByteOrder, DType, byte_len, row_major_strides};

/// The descriptor of a data object.
///
/// ```
/// use fw_tensogram::DataObjectDescriptor;
/// use fw_tensor::DType;
///
/// let descriptor = DataObjectDescriptor::new(DType::Float32, &[721, 1440]).unwrap();
/// assert_eq!(descriptor.strides, [1440, 1]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DataObjectDescriptor {
    /// Kind of object, normally `ntensor`.
    pub obj_type: String,
    /// Number of dimensions.
    pub ndim: u64,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// Strides in elements; stored for readers, not used to decode.
    pub strides: Vec<u64>,
    /// Element type.
    pub dtype: DType,
    /// Byte order of the elements handed in, and of the payload where it holds elements.
    pub byte_order: ByteOrder,
    /// The encoding; `none` or a name of [`fw_codec::spec`].
    pub encoding: String,
    /// The filter; `none` or a name of [`fw_codec::spec`].
    pub filter: String,
    /// The compression; `none` or a name of [`fw_codec::spec`].
    pub compression: String,
    /// Parameters of the codecs, and any other key.
    pub params: MetadataMap,
    /// Where the masks of non-finite values stand; written by the encoder.
    pub masks: Option<MasksMetadata>,
}

impl DataObjectDescriptor {
    /// A row-major, uncompressed object in the byte order of this machine.
    ///
    /// # Errors
    /// When the number of elements or bytes does not fit in 64 bits.
    pub fn new(dtype: DType, shape: &[u64]) -> Result<Self> {
        byte_len(dtype, shape)?;
        let strides = row_major_strides(shape)?;
        let (ndim, shape) = (shape.len() as u64, shape.to_vec());
        Ok(Self { ndim, shape, strides, dtype, ..Self::default() })
    }

    /// Sets one codec parameter. [`fw_codec::spec`] lists the parameters of every codec; [`Self::with_pipeline`] states them by
    /// type.
    #[must_use]
    pub fn with_param(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.params.insert(key.into(), value.into());
        self
    }

    /// Names the encoding.
    #[must_use]
    pub fn with_encoding(mut self, name: impl Into<String>) -> Self {
        self.encoding = name.into();
        self
    }

    /// Names the filter.
    #[must_use]
    pub fn with_filter(mut self, name: impl Into<String>) -> Self {
        self.filter = name.into();
        self
    }

    /// Names the compression.
    #[must_use]
    pub fn with_compression(mut self, name: impl Into<String>) -> Self {
        self.compression = name.into();
        self
    }

    /// Number of elements.
    ///
    /// # Errors
    /// When the product of the dimensions overflows.
    pub fn element_count(&self) -> Result<u64> {
        Ok(fw_tensor::element_count(&self.shape)?)
    }

    /// Bytes of the decoded object.
    ///
    /// # Errors
    /// When they do not fit in 64 bits.
    pub fn decoded_len(&self) -> Result<u64> {
        Ok(byte_len(self.dtype, &self.shape)?)
    }

    /// True when the payload is the elements themselves: no encoding, filter or compression.
    pub fn is_raw(&self) -> bool {
        self.stages().next().is_none()
    }

    /// What elements go through before they are stored, in order: encoding, filter and compression, as far as there are any.
    pub fn stages(&self) -> impl Iterator<Item = &str> {
        [&self.encoding, &self.filter, &self.compression].into_iter().map(String::as_str).filter(|name| *name != NONE)
    }

    /// Reads a descriptor, which stands at absolute position `at`.
    ///
    /// # Errors
    /// Metadata errors naming the key.
    pub fn from_cbor(bytes: &[u8], at: u64, limits: &Limits) -> Result<Self> {
        check_len(bytes.len(), at, limits)?;
        if let Some(descriptor) = plain(bytes, limits) {
            return Ok(descriptor);
        }
        Self::from_any_cbor(bytes, at, limits)
    }

    /// The same for every form of CBOR, with the words for what is wrong.
    fn from_any_cbor(bytes: &[u8], at: u64, limits: &Limits) -> Result<Self> {
        check_duplicates(bytes, at)?;
        let value = read_value(bytes, at, limits.depth)?;
        Self::from_map(text_map(value, "descriptor", at)?, at)
    }

    /// A descriptor from its keys; those that are not fields are parameters.
    pub(super) fn from_map(map: MetadataMap, at: u64) -> Result<Self> {
        let mut keys = Keys { map, at };
        Ok(Self {
            obj_type: keys.text("type")?,
            ndim: keys.unsigned("ndim")?,
            shape: keys.unsigned_list("shape")?,
            strides: keys.unsigned_list("strides")?,
            dtype: keys.dtype()?,
            byte_order: keys.byte_order()?,
            encoding: keys.text("encoding")?,
            filter: keys.text("filter")?,
            compression: keys.text("compression")?,
            masks: keys.masks()?,
            params: keys.map,
        })
    }

    /// The canonical CBOR.
    pub fn to_cbor(&self) -> Vec<u8> {
        encode_text_map(&self.to_map())
    }

    /// Fields and parameters as one map.
    pub(super) fn to_map(&self) -> MetadataMap {
        let list = |numbers: &[u64]| Value::Array(numbers.iter().map(|number| Value::from(*number)).collect());
        let mut map = self.params.clone();
        let mut put = |key: &str, value: Value| drop(map.insert(key.to_owned(), value));
        put("type", Value::from(self.obj_type.as_str()));
        put("ndim", Value::from(self.ndim));
        put("shape", list(&self.shape));
        put("strides", list(&self.strides));
        put("dtype", Value::from(self.dtype.name()));
        put("byte_order", Value::from(self.byte_order.name()));
        put("encoding", Value::from(self.encoding.as_str()));
        put("filter", Value::from(self.filter.as_str()));
        put("compression", Value::from(self.compression.as_str()));
        if let Some(masks) = self.masks.as_ref().filter(|masks| !masks.is_empty()) {
            put("masks", masks.to_value());
        }
        map
    }

    /// The checks an encoder makes before anything else (TG-7.5).
    pub(crate) fn check_structure(&self) -> Result<()> {
        let fail = |code, message| Err(TensogramError::Metadata(Fault::misuse(code, message)));
        if self.obj_type.is_empty() {
            return fail("empty_obj_type", "type of the object is empty".to_owned());
        }
        if self.ndim != self.shape.len() as u64 {
            return fail(
                "ndim_shape_mismatch",
                format!("ndim is {}, the shape has {} dimensions", self.ndim, self.shape.len()),
            );
        }
        if self.strides.len() != self.shape.len() {
            return fail(
                "strides_shape_mismatch",
                format!("{} strides for {} dimensions", self.strides.len(), self.shape.len()),
            );
        }
        if let Some(key) = KNOWN.iter().find(|key| self.params.contains_key(**key)) {
            return fail("reserved_param", format!("{key:?} is a field of the descriptor, not a parameter"));
        }
        super::metadata::check_map(&self.params)
    }
}

impl Default for DataObjectDescriptor {
    fn default() -> Self {
        Self {
            obj_type: "ntensor".to_owned(),
            ndim: 0,
            shape: Vec::new(),
            strides: Vec::new(),
            dtype: DType::Float32,
            byte_order: ByteOrder::NATIVE,
            encoding: NONE.to_owned(),
            filter: NONE.to_owned(),
            compression: NONE.to_owned(),
            params: MetadataMap::new(),
            masks: None,
        }
    }
}

const NONE: &str = "none";
const KNOWN: [&str; 10] =
    ["type", "ndim", "shape", "strides", "dtype", "byte_order", "encoding", "filter", "compression", "masks"];

/// The usual form, a map of definite length, straight into a descriptor: whoever looks at one object of many, or at
/// sixteen rows of a large one, pays for little else than this. Whatever else there is goes the general way.
fn plain(bytes: &[u8], limits: &Limits) -> Option<DataObjectDescriptor> {
    // The map is one level, the lists in it another.
    let depth = limits.depth.checked_sub(1).filter(|inner| *inner > 0)?;
    let mut cbor = Plain::new(bytes);
    let (mut obj_type, mut encoding, mut filter, mut compression) = (None, None, None, None);
    let (mut ndim, mut shape, mut strides, mut dtype, mut byte_order, mut masks) = (None, None, None, None, None, None);
    let mut params = MetadataMap::new();
    for _ in 0..cbor.map()? {
        match cbor.text()? {
            "type" => once(&mut obj_type, cbor.text()?),
            "ndim" => once(&mut ndim, cbor.unsigned()?),
            "shape" => once(&mut shape, cbor.unsigned_list()?),
            "strides" => once(&mut strides, cbor.unsigned_list()?),
            "dtype" => once(&mut dtype, cbor.text()?),
            "byte_order" => once(&mut byte_order, ByteOrder::from_name(cbor.text()?)?),
            "encoding" => once(&mut encoding, cbor.text()?),
            "filter" => once(&mut filter, cbor.text()?),
            "compression" => once(&mut compression, cbor.text()?),
            "masks" => once(&mut masks, MasksMetadata::from_value(cbor.value(depth)?, 0).ok()?),
            key => {
                params.insert(key.to_owned(), cbor.value(depth)?);
                Some(())
            }
        }?;
    }
    Some(DataObjectDescriptor {
        obj_type: obj_type?.to_owned(),
        ndim: ndim?,
        shape: shape?,
        strides: strides?,
        dtype: dtype?.parse().ok().filter(|dtype| crate::describe::is_tensogram_dtype(*dtype))?,
        byte_order: byte_order.unwrap_or(ByteOrder::NATIVE),
        encoding: encoding?.to_owned(),
        filter: filter?.to_owned(),
        compression: compression?.to_owned(),
        params,
        masks,
    })
}

/// Fills a place that must still be empty.
fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

/// A known key that stands twice is refused; free-form keys let the last one win.
fn check_duplicates(bytes: &[u8], at: u64) -> Result<()> {
    let mut decoder = minicbor::Decoder::new(bytes);
    let mut seen = [false; KNOWN.len()];
    let Ok(count) = decoder.map() else { return Ok(()) };
    let mut left = count.unwrap_or(u64::MAX);
    while left > 0 {
        left -= 1;
        // Anything malformed is left to the real reader, which words it better.
        if let Ok(key) = decoder.probe().str()
            && let Some(slot) = KNOWN.iter().position(|known| *known == key).and_then(|index| seen.get_mut(index))
        {
            if *slot {
                let message = format!("duplicate key {key:?} in the descriptor");
                let at = at + decoder.position() as u64;
                return Err(TensogramError::Metadata(Fault::format("descriptor_cbor_parse_failed", message).at(at)));
            }
            *slot = true;
        }
        if decoder.skip().is_err() || decoder.skip().is_err() {
            break;
        }
    }
    Ok(())
}

struct Keys {
    map: MetadataMap,
    at: u64,
}

impl Keys {
    fn take(&mut self, key: &str) -> Result<Value> {
        self.map.remove(key).ok_or_else(|| self.missing(key))
    }

    fn text(&mut self, key: &str) -> Result<String> {
        match self.take(key)? {
            Value::Text(text) => Ok(text),
            other => Err(self.wrong(key, "text", &other)),
        }
    }

    fn unsigned(&mut self, key: &str) -> Result<u64> {
        let value = self.take(key)?;
        unsigned(&value).ok_or_else(|| self.wrong(key, "an unsigned integer", &value))
    }

    fn unsigned_list(&mut self, key: &str) -> Result<Vec<u64>> {
        let value = self.take(key)?;
        let items = value.as_array().ok_or_else(|| self.wrong(key, "an array of unsigned integers", &value))?;
        items.iter().map(|item| unsigned(item).ok_or_else(|| self.wrong(key, "unsigned integers", item))).collect()
    }

    fn dtype(&mut self) -> Result<DType> {
        let name = self.text("dtype")?;
        name.parse::<DType>().ok().filter(|dtype| crate::describe::is_tensogram_dtype(*dtype)).ok_or_else(|| {
            mismatch(&format!("dtype {name:?}"), "one of the types of the format", self.at).on("descriptor.dtype")
        })
    }

    fn byte_order(&mut self) -> Result<ByteOrder> {
        if !self.map.contains_key("byte_order") {
            return Ok(ByteOrder::NATIVE);
        }
        let name = self.text("byte_order")?;
        ByteOrder::from_name(&name)
            .ok_or_else(|| mismatch(&format!("byte_order {name:?}"), "\"little\" or \"big\"", self.at))
    }

    fn masks(&mut self) -> Result<Option<MasksMetadata>> {
        match self.map.remove("masks") {
            None | Some(Value::Null) => Ok(None),
            Some(value) => MasksMetadata::from_value(value, self.at).map(Some),
        }
    }

    fn missing(&self, key: &str) -> TensogramError {
        let message = format!("descriptor has no {key:?}");
        TensogramError::Metadata(Fault::format("descriptor_cbor_parse_failed", message).at(self.at)).on("descriptor")
    }

    fn wrong(&self, key: &str, expected: &str, found: &Value) -> TensogramError {
        let message = format!("{key}: expected {expected}, found {}", found.kind());
        let fault = Fault::format("descriptor_cbor_parse_failed", message).at(self.at);
        TensogramError::Metadata(fault.on(format!("descriptor.{key}")))
    }
}

fn unsigned(value: &Value) -> Option<u64> {
    u64::try_from(value.as_integer()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<DataObjectDescriptor> {
        let raw = DataObjectDescriptor::new(DType::Float32, &[4096, 70_000]).unwrap();
        let mut masked = raw.clone().with_encoding("simple_packing").with_param("sp_bits_per_value", 16u64);
        masked = masked.with_param("sp_reference_value", 1.5).with_param("nested", Value::from(vec![Value::Null]));
        let mask = crate::MaskDescriptor { method: "rle".to_owned(), offset: 8, length: 300, ..Default::default() };
        masked.masks = Some(MasksMetadata { nan: Some(mask), ..Default::default() });
        masked.byte_order = ByteOrder::Big;
        vec![DataObjectDescriptor::new(DType::Bitmask, &[]).unwrap(), raw, masked]
    }

    #[test]
    fn the_plain_way_and_the_general_one_agree() {
        let limits = Limits::default();
        for example in examples() {
            let bytes = example.to_cbor();
            assert_eq!(plain(&bytes, &limits).as_ref(), Some(&example));
            assert_eq!(DataObjectDescriptor::from_any_cbor(&bytes, 0, &limits).unwrap(), example);
            let mut plainly = 0;
            for at in 0..bytes.len() {
                for bit in 0..8 {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 1 << bit;
                    let Some(descriptor) = plain(&damaged, &limits) else { continue };
                    let general = DataObjectDescriptor::from_any_cbor(&damaged, 0, &limits);
                    // Damage may make a NaN, which equals nothing: compare what is written.
                    let general = general.unwrap_or_else(|error| panic!("byte {at}, bit {bit}: {error}"));
                    assert_eq!(descriptor.to_cbor(), general.to_cbor(), "byte {at}, bit {bit}");
                    plainly += 1;
                }
                assert_eq!(plain(&bytes[..at], &limits), None);
            }
            assert!(plainly > 50, "only {plainly} damaged descriptors were read plainly");
        }
    }

    #[test]
    fn unusual_forms_go_the_general_way() {
        let limits = Limits::default();
        let bytes = examples().remove(0).to_cbor();
        let head = bytes[0];
        // A key twice, a key that is no text, a map without a length, a tagged number.
        let twice = [&[head + 1], &bytes[1..], &[0x64], b"ndim", &[0]].concat();
        let numbered = [&[head + 1], &bytes[1..], &[0x00, 0x00]].concat();
        let open = [&[0xbf], &bytes[1..], &[0xff]].concat();
        let ndim = bytes.windows(4).position(|key| key == b"ndim").unwrap() + 4;
        let tagged = [&bytes[..ndim], &[0xc1], &bytes[ndim..]].concat();
        for (form, readable) in [(twice, false), (numbered, false), (open, true), (tagged, true)] {
            assert_eq!(plain(&form, &limits), None);
            assert_eq!(DataObjectDescriptor::from_cbor(&form, 0, &limits).is_ok(), readable);
        }
        let shallow = |depth| {
            let mut limits = limits;
            limits.depth = depth;
            limits
        };
        for depth in 0..2 {
            let error = DataObjectDescriptor::from_cbor(&bytes, 0, &shallow(depth)).unwrap_err();
            assert_eq!(error.code(), "limit_depth");
        }
        assert!(plain(&bytes, &shallow(2)).is_some());
    }
}
