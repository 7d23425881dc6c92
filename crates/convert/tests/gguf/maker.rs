//! GGUF files for tests, valid ones first.
#![allow(dead_code, reason = "each test uses a part of it")]

/// A file to be.
#[derive(Clone)]
pub(crate) struct Maker {
    pub(crate) big: bool,
    pub(crate) version: u32,
    pub(crate) alignment: u64,
    /// Keys, and their values with the type before them.
    entries: Vec<(String, Vec<u8>)>,
    tensors: Vec<(String, Vec<u64>, u32, Vec<u8>)>,
}

impl Maker {
    pub(crate) fn new(big: bool, version: u32, alignment: u32) -> Self {
        let mut maker = Self { big, version, alignment: 32, entries: Vec::new(), tensors: Vec::new() };
        if alignment != 32 {
            maker.alignment = alignment.into();
            let value = maker.u32(alignment);
            maker.entry("general.alignment", 4, &value);
        }
        maker
    }

    fn ordered(&self, mut little: Vec<u8>) -> Vec<u8> {
        if self.big {
            little.reverse();
        }
        little
    }

    pub(crate) fn u32(&self, number: u32) -> Vec<u8> {
        self.ordered(number.to_le_bytes().to_vec())
    }

    pub(crate) fn u64(&self, number: u64) -> Vec<u8> {
        self.ordered(number.to_le_bytes().to_vec())
    }

    /// A number of any width, given least significant byte first.
    pub(crate) fn number(&self, little: &[u8]) -> Vec<u8> {
        self.ordered(little.to_vec())
    }

    pub(crate) fn string(&self, text: &[u8]) -> Vec<u8> {
        [self.u64(text.len() as u64), text.to_vec()].concat()
    }

    /// An array of items that are encoded already.
    pub(crate) fn array(&self, code: u32, items: &[Vec<u8>]) -> Vec<u8> {
        [self.u32(code), self.u64(items.len() as u64), items.concat()].concat()
    }

    pub(crate) fn entry(&mut self, key: &str, code: u32, value: &[u8]) {
        let value = [&self.u32(code)[..], value].concat();
        self.entries.push((key.to_owned(), value));
    }

    /// A tensor; dimensions as the file has them, fastest first, data in the file's byte order.
    pub(crate) fn tensor(&mut self, name: &str, dims: &[u64], code: u32, data: &[u8]) {
        self.tensors.push((name.to_owned(), dims.to_vec(), code, data.to_vec()));
    }

    /// The description of a tensor, with an offset of the test's own.
    pub(crate) fn info(&self, name: &str, dims: &[u64], code: u32, offset: u64) -> Vec<u8> {
        let mut info = [self.string(name.as_bytes()), self.u32(dims.len() as u32)].concat();
        dims.iter().for_each(|dim| info.extend(self.u64(*dim)));
        info.extend(self.u32(code));
        info.extend(self.u64(offset));
        info
    }

    pub(crate) fn head(&self, tensors: u64, entries: u64) -> Vec<u8> {
        [b"GGUF".to_vec(), self.u32(self.version), self.u64(tensors), self.u64(entries)].concat()
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        let mut bytes = self.head(self.tensors.len() as u64, self.entries.len() as u64);
        for (key, value) in &self.entries {
            bytes.extend(self.string(key.as_bytes()));
            bytes.extend(value);
        }
        let mut offset = 0u64;
        for (name, dims, code, data) in &self.tensors {
            bytes.extend(self.info(name, dims, *code, offset));
            offset = (offset + data.len() as u64).next_multiple_of(self.alignment);
        }
        for (_, _, _, data) in &self.tensors {
            bytes.resize(bytes.len().next_multiple_of(self.alignment as usize), 0);
            bytes.extend(data);
        }
        bytes
    }
}

/// Every kind of tensor and value, small.
pub(crate) fn sample(big: bool, version: u32, alignment: u32) -> Maker {
    let mut maker = Maker::new(big, version, alignment);
    let text = maker.string("llama".as_bytes());
    maker.entry("general.architecture", 8, &text);
    let numbers: [(&str, u32, Vec<u8>); 11] = [
        ("n.u8", 0, vec![200]),
        ("n.i8", 1, vec![200]),
        ("n.u16", 2, 60_000u16.to_le_bytes().to_vec()),
        ("n.i16", 3, (-3i16).to_le_bytes().to_vec()),
        ("n.u32", 4, u32::MAX.to_le_bytes().to_vec()),
        ("n.i32", 5, i32::MIN.to_le_bytes().to_vec()),
        ("n.f32", 6, 0.1f32.to_le_bytes().to_vec()),
        ("n.bool", 7, vec![1]),
        ("n.u64", 10, u64::MAX.to_le_bytes().to_vec()),
        ("n.i64", 11, i64::MIN.to_le_bytes().to_vec()),
        ("n.f64", 12, 1e300f64.to_le_bytes().to_vec()),
    ];
    for (key, code, little) in numbers {
        let value = maker.number(&little);
        maker.entry(key, code, &value);
    }
    let tokens = maker.array(8, &[maker.string(b"a\"\n"), maker.string("ü".as_bytes()), maker.string(b"")]);
    maker.entry("tokens", 9, &tokens);
    let nested = maker.array(9, &[maker.array(5, &[maker.u32(1), maker.u32(2)]), maker.array(7, &[vec![0]])]);
    maker.entry("nested", 9, &nested);
    let empty = maker.array(6, &[]);
    maker.entry("empty", 9, &empty);
    let ordered = |little: &[u8], width: usize| -> Vec<u8> {
        little.chunks(width).flat_map(|number| maker.number(number)).collect()
    };
    let floats: Vec<u8> = [1.5f32, -2.0, 0.0, 4.25, 5.0, -6.5].iter().flat_map(|value| value.to_le_bytes()).collect();
    let plain: [(&str, u32, usize, Vec<u8>); 8] = [
        ("f32", 0, 4, floats.clone()),
        ("f16", 1, 2, floats[..12].to_vec()),
        ("i8", 24, 1, vec![1, 2, 3, 255, 254, 253]),
        ("i16", 25, 2, (1..=12).collect()),
        ("i32", 26, 4, (1..=24).collect()),
        ("i64", 27, 8, (1..=48).collect()),
        ("f64", 28, 8, [floats.clone(), floats.clone()].concat()),
        ("bf16", 30, 2, (1..=12).collect()),
    ];
    let plain = plain.map(|(name, code, width, little)| (name, code, ordered(&little, width)));
    // A half of 0.5 before the numbers of each block.
    let scale = maker.number(&[0x00, 0x38]);
    let block = |len: u8| [scale.clone(), (0..len).map(|number| number.wrapping_mul(7)).collect()].concat();
    let (q8_0, q4_0) = ([block(32), block(32), block(32), block(32)].concat(), [block(16), block(16)].concat());
    for (name, code, data) in plain {
        maker.tensor(name, &[3, 2], code, &data);
    }
    maker.tensor("scalar", &[], 24, &[9]);
    maker.tensor("none", &[0, 4], 0, &[]);
    maker.tensor("q8_0", &[64, 2], 8, &q8_0);
    maker.tensor("q4_0", &[32, 2], 2, &q4_0);
    maker.tensor("q4_k", &[256, 1, 2], 12, &(0..=255).cycle().take(288).collect::<Vec<u8>>());
    maker
}
