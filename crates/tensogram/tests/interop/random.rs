//! Random messages of ours: every dtype, both byte orders, metadata trees, options, buffered and streamed.

use fw_tensogram::{
    AggregateHash, DataObjectDescriptor, EncodeOptions, GlobalMetadata, MaskMethod, MetadataMap, StreamingEncoder,
    Value, encode, encode_pre_encoded,
};
use fw_tensor::{ByteOrder, DType, byte_len, row_major_strides};
use std::io::Cursor;

/// Element types of the format.
const DTYPES: [DType; 15] = [
    DType::Float16,
    DType::BFloat16,
    DType::Float32,
    DType::Float64,
    DType::Complex64,
    DType::Complex128,
    DType::Int8,
    DType::Int16,
    DType::Int32,
    DType::Int64,
    DType::UInt8,
    DType::UInt16,
    DType::UInt32,
    DType::UInt64,
    DType::Bitmask,
];

/// What went into a message.
pub(crate) struct Sample {
    pub(crate) metadata: GlobalMetadata,
    pub(crate) objects: Vec<(DataObjectDescriptor, Vec<u8>)>,
    /// Metadata that went ahead of objects, by object.
    pub(crate) preceders: Vec<Option<MetadataMap>>,
    pub(crate) streamed: bool,
    pub(crate) hashed: bool,
    pub(crate) message: Vec<u8>,
}

/// SplitMix64: the same messages on every run and machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn sample(&mut self) -> Sample {
        let count = self.pick(&[0, 1, 1, 1, 2, 3, 26]);
        let masked = self.chance(40);
        let objects: Vec<_> = (0..count).map(|_| self.object(masked)).collect();
        let entries = if count == 0 { 0 } else { self.below(count as u64 + 1) };
        let metadata = GlobalMetadata {
            base: (0..entries).map(|_| self.table()).collect(),
            extra: self.table(),
            ..GlobalMetadata::default()
        };
        let streaming = self.chance(40);
        let aggregates = [AggregateHash::Auto, AggregateHash::None, AggregateHash::Footer];
        let buffered_only = [AggregateHash::Header, AggregateHash::Both];
        let aggregate_hash =
            if !streaming && self.chance(30) { self.pick(&buffered_only) } else { self.pick(&aggregates) };
        let mut method = || {
            self.pick(&[
                MaskMethod::None,
                MaskMethod::Rle,
                MaskMethod::Roaring,
                MaskMethod::Lz4,
                MaskMethod::Zstd { level: None },
            ])
        };
        let options = EncodeOptions {
            aggregate_hash,
            allow_nan: masked,
            allow_inf: masked,
            nan_mask_method: method(),
            pos_inf_mask_method: method(),
            neg_inf_mask_method: method(),
            small_mask_threshold_bytes: self.pick(&[0, 128]),
            hashing: !self.chance(25),
            ..EncodeOptions::default()
        };
        let borrowed: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data.as_slice())).collect();
        let mut preceders = vec![None; objects.len()];
        let message = if streaming {
            let mut encoder = StreamingEncoder::new(Cursor::new(Vec::new()), &metadata, &options).unwrap();
            for (index, (descriptor, data)) in borrowed.into_iter().enumerate() {
                if self.chance(30) {
                    let entry = self.table();
                    encoder.write_preceder(&entry).unwrap();
                    preceders[index] = Some(entry);
                }
                encoder.write_object(descriptor, data).unwrap();
            }
            let backfill = self.chance(50);
            let sink = if backfill { encoder.finish_with_backfill() } else { encoder.finish() };
            sink.unwrap().into_inner()
        } else if !masked && self.chance(20) {
            encode_pre_encoded(&metadata, &borrowed, &options).unwrap()
        } else {
            encode(&metadata, &borrowed, &options).unwrap()
        };
        Sample { metadata, objects, preceders, streamed: streaming, hashed: options.hashing, message }
    }

    fn object(&mut self, masked: bool) -> (DataObjectDescriptor, Vec<u8>) {
        let rank = self.pick(&[0, 1, 1, 2, 2, 3, 4]);
        let sizes: &[u64] = if rank < 3 { &[0, 1, 2, 3, 5, 7, 30] } else { &[1, 2, 3] };
        let shape: Vec<u64> = (0..rank).map(|_| self.pick(sizes)).collect();
        let (dtype, byte_order) = (self.pick(&DTYPES), self.pick(&[ByteOrder::Little, ByteOrder::Big]));
        let strides = match self.chance(20) {
            true => shape.iter().map(|_| self.below(9)).collect(),
            false => row_major_strides(&shape).unwrap(),
        };
        let params = (0..self.pick(&[0, 0, 0, 1, 2])).map(|_| (self.key(), self.value(2))).collect();
        let descriptor = DataObjectDescriptor {
            obj_type: self.pick(&["ntensor", "ntensor", "grid"]).to_owned(),
            ndim: shape.len() as u64,
            strides,
            dtype,
            byte_order,
            params,
            shape,
            ..DataObjectDescriptor::default()
        };
        let len = byte_len(dtype, &descriptor.shape).unwrap() as usize;
        let data = self.payload(dtype, byte_order, len, masked);
        (descriptor, data)
    }

    /// Finite numbers for floats, with others among them if asked; anything for the rest.
    fn payload(&mut self, dtype: DType, order: ByteOrder, len: usize, masked: bool) -> Vec<u8> {
        let random = |this: &mut Self| (0..len).map(|_| this.next() as u8).collect();
        let unit: fn(f64) -> Vec<u8> = match dtype {
            DType::Float16 => |number| half::f16::from_f64(number).to_le_bytes().to_vec(),
            DType::BFloat16 => |number| half::bf16::from_f64(number).to_le_bytes().to_vec(),
            DType::Float32 | DType::Complex64 => |number| (number as f32).to_le_bytes().to_vec(),
            DType::Float64 | DType::Complex128 => |number| number.to_le_bytes().to_vec(),
            _ => return random(self),
        };
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            let whole = self.below(4000) as f64 / 16.0 - 125.0;
            let mut number = self.pick(&[0.0, -0.0, 1.0, -2.5, whole]);
            if masked && self.chance(15) {
                number = self.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
            }
            let mut element = unit(number);
            // A mask covers a whole complex element: both parts come back as the same.
            if matches!(dtype, DType::Complex64 | DType::Complex128) && !number.is_finite() {
                if bytes.len() % (2 * element.len()) != 0 {
                    element = unit(1.0);
                } else {
                    if order == ByteOrder::Big {
                        element.reverse();
                    }
                    bytes.extend(&element);
                    bytes.extend(element);
                    continue;
                }
            }
            if order == ByteOrder::Big {
                element.reverse();
            }
            bytes.extend(element);
        }
        bytes
    }

    fn table(&mut self) -> MetadataMap {
        (0..self.pick(&[0, 0, 1, 2, 5])).map(|_| (self.key(), self.value(0))).collect()
    }

    fn key(&mut self) -> String {
        let len = self.pick(&[0, 1, 2, 5, 22, 23, 30]);
        "k".chars().chain((0..len).map(|_| self.pick(&['a', 'b', 'k', 'z', 'µ', '日', ' ', '_', '.', '0']))).collect()
    }

    /// Anything that the reference's Python layer can hold.
    fn value(&mut self, depth: u32) -> Value {
        let count = self.pick(&[0, 1, 2, 3, if depth == 0 { 24 } else { 4 }]);
        match self.below(if depth < 3 { 9 } else { 7 }) {
            0 => self.pick(&[Value::Null, Value::Bool(true), Value::Bool(false)]),
            1 | 2 => {
                let number = i128::from(self.next() >> self.pick(&[1, 31, 32, 47, 48, 55, 56, 59, 60, 63]));
                Value::Integer(if self.chance(60) { number } else { -number - 1 })
            }
            3 => Value::Float(self.pick(&[0.0, -0.0, 1.0, 1.5, 65504.0, 65505.0, 0.1, 1e39, 5e-324, f64::INFINITY])),
            4 => Value::Float(f64::from_bits(self.next() >> 2)),
            5 | 6 => {
                let len = self.pick(&[0, 1, 23, 24, 70]);
                Value::Text((0..len).map(|_| self.pick(&['a', 'Z', ' ', 'é', '日', '🌍', '\n', '"'])).collect())
            }
            7 => Value::Array((0..count).map(|_| self.value(depth + 1)).collect()),
            _ => (0..count).map(|_| (self.key(), self.value(depth + 1))).collect::<MetadataMap>().into_iter().collect(),
        }
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}
