//! The recorded cases, and a source of repeatable numbers.

use fw_codec::szip::{Szip, SzipFlags, SzipParams};
use fw_codec::{Codec, CodecError};
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) params: SzipParams,
    pub(crate) offsets: Vec<u64>,
    pub(crate) payload: Vec<u8>,
    pub(crate) decoded_len: u64,
    pub(crate) digest: u64,
}

impl Case {
    pub(crate) fn codec(&self) -> Result<Szip, CodecError> {
        Szip::new(self.params)
    }

    pub(crate) fn decoded(&self) -> Vec<u8> {
        let mut decoded = vec![0; self.decoded_len as usize];
        self.codec().unwrap().decode_into(&self.payload, 1, &mut decoded).unwrap();
        decoded
    }

    pub(crate) fn rsi_len(&self) -> usize {
        let width = self.params.bits_per_sample.div_ceil(8);
        (self.params.rsi * self.params.block_size * width) as usize
    }
}

pub(crate) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/szip")
}

pub(crate) fn corpora() -> impl Iterator<Item = Case> {
    let given = std::env::var_os("FW_SZIP_CORPUS").map(PathBuf::from);
    let directories = [data().join("vectors"), data().join("random")].into_iter().chain(given);
    directories.flat_map(|directory| read(&directory, "index.json").map(|(case, _)| case).collect::<Vec<_>>())
}

pub(crate) fn read(directory: &Path, index: &str) -> impl Iterator<Item = (Case, Value)> {
    let index = std::fs::read(directory.join(index)).unwrap();
    let payloads = std::fs::read(directory.join("payloads.bin")).unwrap();
    let entries: Vec<Value> = serde_json::from_slice(&index).unwrap();
    entries.into_iter().map(move |entry| {
        let number = |key: &str| entry[key].as_u64().unwrap_or_else(|| panic!("{entry}: {key}"));
        let start = number("payload_start") as usize;
        let case = Case {
            id: entry["id"].as_str().unwrap().to_owned(),
            params: SzipParams {
                rsi: number("rsi") as u32,
                block_size: number("block_size") as u32,
                flags: SzipFlags(number("flags") as u32),
                bits_per_sample: number("bits_per_sample") as u32,
            },
            // Offsets that are not numbers are read as none at all.
            offsets: entry["offsets"].as_array().unwrap().iter().filter_map(Value::as_u64).collect(),
            payload: payloads[start..start + number("payload_len") as usize].to_vec(),
            decoded_len: number("decoded_len"),
            digest: entry["decoded_xxh3"].as_str().map_or(0, |hex| u64::from_str_radix(hex, 16).unwrap()),
        };
        (case, entry)
    })
}

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end.max(1)
    }
}
