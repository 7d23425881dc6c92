//! The reference implementation, through its public functions.

use crate::rows::{Data, Param, Row};
use ciborium::Value;
use tensogram::{ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata};

pub(crate) struct Peer {
    descriptor: DataObjectDescriptor,
    encode: EncodeOptions,
    decode: DecodeOptions,
}

impl Peer {
    pub(crate) fn new(row: &Row, shape: [u64; 2], threads: usize) -> Self {
        // 0 is its default and its sequential path.
        let threads = if threads == 1 { 0 } else { u32::try_from(threads).expect("a few threads") };
        let value = |param: &Param| match *param {
            Param::Integer(value) => Value::from(value),
            Param::Real(value) => Value::from(value),
            Param::Text(value) => Value::from(value),
        };
        let descriptor = DataObjectDescriptor {
            obj_type: "ntensor".to_owned(),
            ndim: 2,
            shape: shape.to_vec(),
            strides: vec![shape[1], 1],
            dtype: if row.data.is_double() { Dtype::Float64 } else { Dtype::Float32 },
            byte_order: ByteOrder::Little,
            encoding: row.encoding.to_owned(),
            filter: row.filter.to_owned(),
            compression: row.compression.to_owned(),
            params: row.params.iter().map(|(key, param)| ((*key).to_owned(), value(param))).collect(),
            masks: None,
        };
        let encode = EncodeOptions { threads, allow_nan: row.data == Data::Holes32, ..Default::default() };
        Self { descriptor, encode, decode: DecodeOptions { threads, ..Default::default() } }
    }

    pub(crate) fn encode(&self, data: &[u8]) -> Vec<u8> {
        tensogram::encode(&GlobalMetadata::default(), &[(&self.descriptor, data)], &self.encode).expect("peer encodes")
    }

    pub(crate) fn decode(&self, message: &[u8]) -> Vec<u8> {
        let (_, mut objects) = tensogram::decode(message, &self.decode).expect("peer decodes");
        objects.pop().expect("one object").1
    }

    pub(crate) fn decode_range(&self, message: &[u8], range: (u64, u64)) -> Vec<u8> {
        let (_, mut parts) = tensogram::decode_range(message, 0, &[range], &self.decode).expect("peer decodes a range");
        parts.pop().expect("one range")
    }
}
