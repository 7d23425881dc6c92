//! Random objects for every codec: a descriptor with parameters, the bytes to encode, how, and ranges worth reading.
#![allow(dead_code, reason = "each test file uses its own part")]

use fw_tensogram::{DataObjectDescriptor, EncodeOptions, MaskMethod};
use fw_tensor::{ByteOrder, DType};

/// Codecs by the names of the descriptor, and the masks.
pub(crate) const CODECS: [&str; 11] =
    ["simple_packing", "shuffle", "zstd", "lz4", "rle", "roaring", "masks", "szip", "zfp", "blosc2", "sz3"];

/// One object to encode.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) descriptor: DataObjectDescriptor,
    pub(crate) data: Vec<u8>,
    pub(crate) options: EncodeOptions,
    /// Elements (first, count); none when the codec has no ranges.
    pub(crate) ranges: Vec<(u64, u64)>,
}

impl Case {
    pub(crate) fn is_lossless(&self) -> bool {
        let descriptor = &self.descriptor;
        descriptor.encoding == "none" && descriptor.compression != "zfp" && descriptor.compression != "sz3"
    }

    /// Whether parts can be read without the rest.
    pub(crate) fn has_ranges(&self) -> bool {
        let descriptor = &self.descriptor;
        descriptor.filter == "none"
            && descriptor.dtype != DType::Bitmask
            && matches!(descriptor.compression.as_str(), "none" | "szip" | "blosc2" | "zfp")
    }

    /// The doubles of a `float64` object.
    pub(crate) fn doubles(&self) -> Vec<f64> {
        doubles(&self.data, self.descriptor.byte_order)
    }

    /// Without the bytes, for messages of failures.
    pub(crate) fn label(&self) -> String {
        let d = &self.descriptor;
        let parts = (&d.encoding, &d.filter, &d.compression, d.dtype, &d.shape, d.byte_order, &d.params);
        format!("{parts:?} ranges {:?}", self.ranges)
    }
}

pub(crate) fn doubles(bytes: &[u8], order: ByteOrder) -> Vec<f64> {
    let read = |bytes: &[u8]| -> [u8; 8] { bytes.try_into().unwrap() };
    match order {
        ByteOrder::Little => bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(read(bytes))).collect(),
        ByteOrder::Big => bytes.chunks_exact(8).map(|bytes| f64::from_be_bytes(read(bytes))).collect(),
    }
}

/// A stream of choices that is the same in every run.
pub(crate) struct Random {
    state: u64,
    /// The number of elements, when it is not to be chosen.
    len: Option<u64>,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, len: None }
    }

    /// The same for objects of `len` elements.
    pub(crate) fn sized(self, len: u64) -> Self {
        Self { len: Some(len), ..self }
    }

    pub(crate) fn case(&mut self, codec: &str) -> Case {
        match codec {
            "simple_packing" => self.packing(),
            "shuffle" => self.shuffle(),
            "zstd" | "lz4" => self.plain(codec),
            "rle" | "roaring" => self.bits(codec),
            "masks" => self.masks(),
            "szip" => self.szip(),
            "zfp" => self.zfp(),
            "blosc2" => self.blosc2(),
            "sz3" => self.sz3(),
            _ => panic!("no cases for {codec}"),
        }
    }

    fn packing(&mut self) -> Case {
        let len = self.len(&[8192]);
        let bits = if self.chance(40) { self.pick(&[8, 16, 24, 32]) } else { self.below(65) };
        let mut descriptor = self.descriptor(DType::Float64, len).with_encoding("simple_packing");
        descriptor = self.packed(descriptor, bits);
        let packed = (len * bits).div_ceil(8);
        if self.chance(25) {
            let size = self.divisor(packed);
            descriptor = descriptor.with_filter("shuffle").with_param("shuffle_element_size", size);
        }
        let name = self.pick(&["none", "none", "none", "zstd", "lz4"]);
        let data = self.values(DType::Float64, descriptor.byte_order, len);
        self.finish(descriptor.with_compression(name), data)
    }

    fn packed(&mut self, descriptor: DataObjectDescriptor, bits: u64) -> DataObjectDescriptor {
        let mut descriptor = descriptor.with_encoding("simple_packing").with_param("sp_bits_per_value", bits);
        if self.chance(50) {
            descriptor = descriptor.with_param("sp_decimal_scale_factor", self.below(7) as i64 - 3);
        }
        if self.chance(25) {
            descriptor = descriptor
                .with_param("sp_reference_value", self.below(4000) as f64 / 16.0 - 200.0)
                .with_param("sp_binary_scale_factor", self.below(24) as i64 - 16);
        }
        descriptor
    }

    fn shuffle(&mut self) -> Case {
        let dtype = self.pick(&DTYPES);
        let (descriptor, data) = self.object(dtype, &[65536]);
        let name = self.pick(&["none", "none", "zstd", "lz4"]);
        let descriptor = self.shuffled(descriptor, data.len() as u64).with_compression(name);
        self.finish(descriptor, data)
    }

    fn shuffled(&mut self, descriptor: DataObjectDescriptor, len: u64) -> DataObjectDescriptor {
        let width = descriptor.dtype.byte_width().unwrap_or(1) as u64;
        let size = if self.chance(60) { width } else { self.divisor(len) };
        descriptor.with_filter("shuffle").with_param("shuffle_element_size", size)
    }

    fn plain(&mut self, codec: &str) -> Case {
        let dtype = self.pick(&DTYPES);
        let (mut descriptor, data) = self.object(dtype, &[70000]);
        if self.chance(30) {
            descriptor = self.shuffled(descriptor, data.len() as u64);
        }
        if codec == "zstd" && self.chance(70) {
            descriptor = descriptor.with_param("zstd_level", self.pick(&[-7, 0, 1, 3, 6, 12, 19]));
        }
        self.finish(descriptor.with_compression(codec), data)
    }

    fn bits(&mut self, codec: &str) -> Case {
        let len = self.len(&[65535, 65536, 65537, 200_000]);
        let descriptor = self.descriptor(DType::Bitmask, len).with_compression(codec);
        let data = self.bitmask(len.div_ceil(8));
        self.finish(descriptor, data)
    }

    fn masks(&mut self) -> Case {
        let dtype = self.pick(&FLOATS);
        let len = self.len(&[1024, 1025, 9000]);
        let mut descriptor = self.descriptor(dtype, len);
        let data = self.holes(dtype, descriptor.byte_order, len);
        let wide = dtype.bits() > 32;
        match self.below(8) {
            0 => descriptor = descriptor.with_compression("zstd"),
            1 => descriptor = descriptor.with_compression("lz4"),
            2 if len > 0 => descriptor = descriptor.with_compression("blosc2"),
            3 if !wide => descriptor = self.szip_parameters(descriptor),
            4 => descriptor = self.shuffled(descriptor, data.len() as u64),
            5 if dtype == DType::Float64 && descriptor.byte_order == ByteOrder::Little && len > 0 => {
                descriptor = self.zfp_parameters(descriptor);
            }
            6 if dtype == DType::Float64 => {
                descriptor = descriptor
                    .with_encoding("simple_packing")
                    .with_param("sp_bits_per_value", 16u64)
                    .with_param("sp_reference_value", -200.0)
                    .with_param("sp_binary_scale_factor", -6i64);
            }
            _ => {}
        }
        let mut case = self.finish(descriptor, data);
        let methods = [
            MaskMethod::None,
            MaskMethod::Rle,
            MaskMethod::Roaring,
            MaskMethod::Lz4,
            MaskMethod::Zstd { level: None },
            MaskMethod::BLOSC2,
        ];
        case.options.allow_nan = true;
        case.options.allow_inf = true;
        case.options.nan_mask_method = self.pick(&methods);
        case.options.pos_inf_mask_method = self.pick(&methods);
        case.options.neg_inf_mask_method = self.pick(&methods);
        case.options.small_mask_threshold_bytes = self.pick(&[0, 0, 128]);
        case
    }

    fn szip(&mut self) -> Case {
        let packed = self.chance(35);
        let shuffled = !packed && self.chance(25);
        let narrow = [
            DType::Int8,
            DType::UInt8,
            DType::Int16,
            DType::UInt16,
            DType::Float16,
            DType::BFloat16,
            DType::Int32,
            DType::UInt32,
            DType::Float32,
        ];
        let dtype = match () {
            () if packed => DType::Float64,
            () if shuffled => self.pick(&DTYPES[..14]),
            () => self.pick(&narrow),
        };
        // Blocks of more than 64 samples break the heap of the reference's encoder.
        let enforced = self.chance(90);
        let block = if enforced { self.pick(&[8u64, 16, 16, 32, 64]) } else { self.pick(&[2, 4, 6, 10, 24, 40, 62]) };
        let rsi = self.pick(&[1u64, 2, 5, 63, 64, 65, 128, 128, 4096]);
        let interval = block * rsi;
        let edges =
            [interval.min(9000) - 1, interval.min(9000), interval.min(9000) + 1, (3 * interval).min(12000), 9000];
        let len = self.len(&edges);
        let mut descriptor = self.descriptor(dtype, len);
        let mut data = self.values(dtype, descriptor.byte_order, len);
        if packed {
            let bits = self.pick(&[8, 16, 24, 32]);
            descriptor = self.packed(descriptor, bits);
        } else if shuffled {
            descriptor = self.shuffled(descriptor, data.len() as u64);
        } else if self.chance(30) {
            // Long runs of zero blocks, now and then interrupted.
            let width = dtype.byte_width().unwrap();
            let holes = self.pick(&[block as usize, 7 * block as usize + 3, 300]);
            for (at, element) in data.chunks_exact_mut(width).enumerate() {
                if !(at / holes).is_multiple_of(5) {
                    element.fill(0);
                }
            }
        }
        let flags = self.pick(&[8u64, 8, 8, 0, 9, 12, 4, 1, 13]) | if enforced { 0 } else { 64 };
        let descriptor = descriptor
            .with_compression("szip")
            .with_param("szip_rsi", rsi)
            .with_param("szip_block_size", block)
            .with_param("szip_flags", flags);
        self.finish(descriptor, data)
    }

    fn szip_parameters(&mut self, descriptor: DataObjectDescriptor) -> DataObjectDescriptor {
        descriptor
            .with_compression("szip")
            .with_param("szip_rsi", self.pick(&[2u64, 128]))
            .with_param("szip_block_size", 16u64)
            .with_param("szip_flags", 8u64)
    }

    fn zfp(&mut self) -> Case {
        let len = self.len(&[4096, 4097, 4099, 10000]);
        let descriptor = self.descriptor(DType::Float64, len);
        let descriptor = self.zfp_parameters(descriptor);
        let data = self.values(DType::Float64, descriptor.byte_order, len);
        self.finish(descriptor, data)
    }

    fn zfp_parameters(&mut self, descriptor: DataObjectDescriptor) -> DataObjectDescriptor {
        let descriptor = descriptor.with_compression("zfp");
        match self.below(3) {
            0 => descriptor
                .with_param("zfp_mode", "fixed_rate")
                .with_param("zfp_rate", self.pick(&[1.0, 3.0, 3.2, 4.0, 7.9, 8.0, 12.5, 16.0, 31.75, 32.0, 64.0])),
            1 => descriptor
                .with_param("zfp_mode", "fixed_precision")
                .with_param("zfp_precision", self.pick(&[0u64, 1, 2, 11, 24, 32, 53, 63, 64, 99])),
            _ => descriptor
                .with_param("zfp_mode", "fixed_accuracy")
                .with_param("zfp_tolerance", self.pick(&[1e-12, 1e-6, 0.001, 0.5, 1.0, 1000.0])),
        }
    }

    fn blosc2(&mut self) -> Case {
        let packed = self.chance(20);
        let dtype = if packed { DType::Float64 } else { self.pick(&DTYPES[..14]) };
        let len = self.len(&[4096, 4097, 20_000]).max(1);
        let mut descriptor = self.descriptor(dtype, len);
        let data = self.values(dtype, descriptor.byte_order, len);
        if packed {
            let bits = 1 + self.below(64);
            descriptor = self.packed(descriptor, bits);
        } else if self.chance(20) {
            descriptor = self.shuffled(descriptor, data.len() as u64);
        }
        if self.chance(85) {
            let name = self.pick(&["blosclz", "lz4", "lz4hc", "zlib", "zstd"]);
            descriptor = descriptor.with_param("blosc2_codec", name);
        }
        if self.chance(70) {
            descriptor = descriptor.with_param("blosc2_clevel", self.below(10));
        }
        self.finish(descriptor.with_compression("blosc2"), data)
    }

    fn sz3(&mut self) -> Case {
        let len = self.len(&[11, 12, 31, 33, 4095, 4096, 4097, 8193, 10000]).max(1);
        let descriptor = self.descriptor(DType::Float64, len).with_compression("sz3");
        let mode = self.pick(&["abs", "rel", "psnr"]);
        let bound = match mode {
            "abs" => self.pick(&[1e-9, 1e-6, 1e-3, 0.1, 1.0, 50.0]),
            "rel" => self.pick(&[1e-9, 1e-6, 1e-4, 0.01, 0.1]),
            _ => self.pick(&[30.0, 60.0, 90.0, 140.0]),
        };
        let data = self.values(DType::Float64, descriptor.byte_order, len);
        self.finish(descriptor.with_param("sz3_error_bound_mode", mode).with_param("sz3_error_bound", bound), data)
    }

    fn finish(&mut self, descriptor: DataObjectDescriptor, data: Vec<u8>) -> Case {
        let mut case = Case { descriptor, data, options: EncodeOptions::default(), ranges: Vec::new() };
        case.options.threads = self.pick(&[1, 2, 4]);
        if case.has_ranges() {
            let count = case.descriptor.element_count().unwrap();
            case.ranges = (0..3)
                .map(|_| {
                    let first = self.below(count + 1);
                    (first, self.below(count - first + 1))
                })
                .chain([(0, count), (count, 0), (0, count.min(1)), (count - count.min(1), count.min(1))])
                .collect();
        }
        case
    }

    fn object(&mut self, dtype: DType, edges: &[u64]) -> (DataObjectDescriptor, Vec<u8>) {
        let len = self.len(edges);
        let descriptor = self.descriptor(dtype, len);
        let data = self.values(dtype, descriptor.byte_order, len);
        (descriptor, data)
    }

    /// `len` elements in one to three dimensions.
    fn descriptor(&mut self, dtype: DType, len: u64) -> DataObjectDescriptor {
        let rows = self.divisor(len);
        let shape = match self.below(4) {
            0 => vec![rows, len / rows],
            1 => {
                let inner = self.divisor(len / rows);
                vec![rows, len / rows / inner, inner]
            }
            _ => vec![len],
        };
        let mut descriptor = DataObjectDescriptor::new(dtype, &shape).unwrap();
        descriptor.byte_order = self.pick(&[ByteOrder::Little, ByteOrder::Little, ByteOrder::Big]);
        descriptor
    }

    fn len(&mut self, edges: &[u64]) -> u64 {
        if let Some(len) = self.len {
            return len;
        }
        match self.below(10) {
            0..3 => self.pick(edges),
            3..5 => self.below(3000),
            _ => self.pick(&[0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 127, 128, 255, 256, 257, 600, 1000, 2048]),
        }
    }

    fn divisor(&mut self, len: u64) -> u64 {
        let fits: Vec<u64> = (1..=40).filter(|size| len.is_multiple_of(*size)).collect();
        self.pick(&fits)
    }

    fn bitmask(&mut self, len: u64) -> Vec<u8> {
        let kind = self.below(5);
        let (mut byte, mut left) = (0u8, 0);
        (0..len)
            .map(|_| match kind {
                0 => 0,
                1 => 255,
                2 => self.next() as u8,
                3 => (self.chance(2) as u8) << self.below(8),
                _ => {
                    if left == 0 {
                        (byte, left) = (self.pick(&[0, 255, 15, 85]), 1 + self.below(400));
                    }
                    left -= 1;
                    byte
                }
            })
            .collect()
    }

    /// Finite values of several characters: smooth, noisy, constant, sparse, random bits, wild magnitudes.
    fn values(&mut self, dtype: DType, order: ByteOrder, len: u64) -> Vec<u8> {
        if dtype == DType::Bitmask {
            return self.bitmask(len.div_ceil(8));
        }
        let kind = self.below(6);
        let parts = if matches!(dtype, DType::Complex64 | DType::Complex128) { 2 } else { 1 };
        let (phase, scale) = (self.below(100) as f64, self.pick(&[1.0, 30.0, 100.0]));
        let mut out = Vec::with_capacity(len as usize * 8);
        for at in 0..len * parts {
            let noise = self.next() as f64 / 1.845e19;
            let value = match kind {
                0 => scale * ((at as f64 + phase) * 0.01).sin(),
                1 => scale * (noise - 0.5),
                2 => phase,
                3 if noise < 0.03 => phase + scale * noise,
                3 => 0.0,
                4 => scale * ((at as f64) * 0.003).cos() + noise * 0.01,
                _ => (noise - 0.5) * f64::powi(10.0, (self.below(9) as i32) - 4),
            };
            push(dtype, order, value, &mut out);
        }
        out
    }

    /// Values with NaN and infinities among them.
    fn holes(&mut self, dtype: DType, order: ByteOrder, len: u64) -> Vec<u8> {
        let complex = matches!(dtype, DType::Complex64 | DType::Complex128);
        let (percent, block) = (self.pick(&[0, 3, 15, 60]), self.pick(&[1, 1, 40]));
        let mut odd = None;
        let mut out = Vec::new();
        for at in 0..len {
            if at % block == 0 {
                odd = self.chance(percent).then(|| self.pick(&[f64::NAN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]));
            }
            let value = odd.unwrap_or((at % 97) as f64 - 48.0);
            push(dtype, order, value, &mut out);
            if complex {
                // A mask covers a whole complex element: both parts come back as the same.
                push(dtype, order, odd.unwrap_or(0.5), &mut out);
            }
        }
        out
    }

    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// One component of an element.
fn push(dtype: DType, order: ByteOrder, value: f64, out: &mut Vec<u8>) {
    let start = out.len();
    let whole = value.round() as i64;
    match dtype {
        DType::Float16 => out.extend(half::f16::from_f64(value).to_le_bytes()),
        DType::BFloat16 => out.extend(half::bf16::from_f64(value).to_le_bytes()),
        DType::Float32 | DType::Complex64 => out.extend((value as f32).to_le_bytes()),
        DType::Float64 | DType::Complex128 => out.extend(value.to_le_bytes()),
        _ => out.extend(&whole.to_le_bytes()[..dtype.byte_width().unwrap()]),
    }
    if order == ByteOrder::Big {
        out[start..].reverse();
    }
}

const FLOATS: [DType; 6] =
    [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64, DType::Complex64, DType::Complex128];

/// Every element type; the bitmask last.
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
