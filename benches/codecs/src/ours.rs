//! Our side.

use crate::rows::{Param, Row};
use fw_tensogram::{DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MessageView};
use fw_tensor::{ByteOrder, DType};

pub(crate) struct Ours {
    descriptor: DataObjectDescriptor,
    encode: EncodeOptions,
    decode: DecodeOptions,
}

impl Ours {
    pub(crate) fn new(row: &Row, shape: [u64; 2], threads: usize) -> Self {
        let dtype = if row.data.is_double() { DType::Float64 } else { DType::Float32 };
        let mut descriptor = DataObjectDescriptor::new(dtype, &shape)
            .expect("small shapes")
            .with_encoding(row.encoding)
            .with_filter(row.filter)
            .with_compression(row.compression);
        descriptor.byte_order = ByteOrder::Little;
        for (key, value) in row.params {
            descriptor = match *value {
                Param::Integer(value) => descriptor.with_param(*key, value),
                Param::Real(value) => descriptor.with_param(*key, value),
                Param::Text(value) => descriptor.with_param(*key, value),
            };
        }
        let encode = EncodeOptions { threads, allow_nan: row.data == crate::rows::Data::Holes32, ..Default::default() };
        Self { descriptor, encode, decode: DecodeOptions::default().with_threads(threads) }
    }

    /// What the object is; the interop tests send the same to the reference.
    #[allow(dead_code, reason = "the bench itself does not ask")]
    pub(crate) fn descriptor(&self) -> &DataObjectDescriptor {
        &self.descriptor
    }

    pub(crate) fn encode(&self, data: &[u8]) -> Vec<u8> {
        fw_tensogram::encode(&GlobalMetadata::default(), &[(&self.descriptor, data)], &self.encode).expect("encode")
    }

    pub(crate) fn decode(&self, message: &[u8]) -> Vec<u8> {
        let mut objects = fw_tensogram::decode(message, &self.decode).expect("decode").objects;
        objects.pop().expect("one object").bytes
    }

    pub(crate) fn decode_into(&self, message: &[u8], out: &mut [u8]) {
        let view = MessageView::open(message).expect("open");
        view.object(0).expect("one object").decode_into(&self.decode, out).expect("decode");
    }

    /// The elements in place, when the pipeline leaves them as they are.
    pub(crate) fn view(message: &[u8]) -> Option<&[u8]> {
        MessageView::open(message).expect("open").object(0).expect("one object").bytes()
    }

    pub(crate) fn decode_range(&self, message: &[u8], range: (u64, u64)) -> Vec<u8> {
        let mut parts = fw_tensogram::decode_range(message, 0, &[range], &self.decode).expect("decode range").parts;
        parts.pop().expect("one range")
    }

    /// The payload of anybody's message.
    #[allow(dead_code, reason = "the tests measure nothing")]
    pub(crate) fn payload(message: &[u8]) -> &[u8] {
        MessageView::open(message).expect("open").object(0).expect("one object").payload()
    }

    /// Bytes of payload and masks in anybody's message.
    pub(crate) fn payload_len(message: &[u8]) -> usize {
        let view = MessageView::open(message).expect("open");
        let object = view.object(0).expect("one object");
        object.payload().len() + object.masks().map(|(_, _, blob)| blob.len()).sum::<usize>()
    }
}
