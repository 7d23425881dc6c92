//! What is measured: objects and the pipelines they go through. Knows no implementation.

/// One line of work.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) data: Data,
    pub(crate) encoding: &'static str,
    pub(crate) filter: &'static str,
    pub(crate) compression: &'static str,
    pub(crate) params: &'static [(&'static str, Param)],
    /// How far a decoded value may be from the original; 0 means bit for bit.
    pub(crate) tolerance: f64,
    pub(crate) operations: &'static [Operation],
    /// With how many threads it is measured.
    pub(crate) threads: &'static [usize],
    /// What was promised, for an operation on so many threads; what is not here must be no slower than the peer.
    pub(crate) targets: &'static [(Operation, usize, f64)],
}

impl Row {
    /// How many times faster than the peer an operation must be.
    #[allow(dead_code, reason = "the tests measure nothing")]
    pub(crate) fn target(&self, operation: Operation, threads: usize) -> Option<f64> {
        self.targets.iter().find(|(of, on, _)| *of == operation && *on == threads).map(|(_, _, times)| *times)
    }

    /// A parameter of its codecs.
    #[allow(dead_code, reason = "the tests measure nothing")]
    pub(crate) fn param(&self, name: &str) -> Option<Param> {
        self.params.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Whether values are packed to numbers of so many bits.
    #[allow(dead_code, reason = "the tests measure nothing")]
    pub(crate) fn is_packed_to(&self, width: u64) -> bool {
        matches!(self.param("sp_bits_per_value"), Some(Param::Integer(bits)) if bits == width)
    }
}

/// A codec parameter.
#[derive(Clone, Copy)]
pub(crate) enum Param {
    Integer(u64),
    Real(f64),
    Text(&'static str),
}

/// What is done with the object.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Operation {
    /// Encode into a message that the library allocates.
    Encode,
    /// Decode into a buffer that the library allocates.
    Decode,
    /// Decode into a buffer that the caller has used before; a library that cannot allocates.
    DecodeInto,
    /// Reach the elements in place; a library that cannot decodes.
    View,
    /// Decode 1 % of the elements, in one run from the middle.
    Range,
}

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Encode => "encode",
            Self::Decode => "decode",
            Self::DecodeInto => "decode, caller's buffer",
            Self::View => "view",
            Self::Range => "range of 1 %",
        }
    }
}

use Operation::{Decode, DecodeInto, Encode, Range, View};
use Param::{Integer, Real, Text};

const PLAIN: Row = Row {
    name: "raw",
    data: Data::Field32,
    encoding: "none",
    filter: "none",
    compression: "none",
    params: &[],
    tolerance: 0.0,
    operations: &[Encode, Decode],
    threads: &[1, 2],
    targets: &[],
};

const SHUFFLE: &[(&str, Param)] = &[("shuffle_element_size", Integer(4))];
const SHUFFLE_ZSTD: &[(&str, Param)] = &[("shuffle_element_size", Integer(4)), ("zstd_level", Integer(3))];
const PACKED_16: &[(&str, Param)] = &[("sp_bits_per_value", Integer(16))];
const PACKED_SZIP: &[(&str, Param)] = &[
    ("sp_bits_per_value", Integer(16)),
    ("szip_rsi", Integer(128)),
    ("szip_block_size", Integer(16)),
    ("szip_flags", Integer(8)),
];
const SZIP: &[(&str, Param)] =
    &[("szip_rsi", Integer(128)), ("szip_block_size", Integer(16)), ("szip_flags", Integer(8))];
const BLOSC: &[(&str, Param)] = &[("blosc2_codec", Text("lz4"))];
const ZFP: &[(&str, Param)] = &[("zfp_mode", Text("fixed_rate")), ("zfp_rate", Real(16.0))];
const SZ3: &[(&str, Param)] = &[("sz3_error_bound_mode", Text("abs")), ("sz3_error_bound", Real(0.01))];

/// All rows.
pub(crate) const ROWS: &[Row] = &[
    Row { operations: &[Encode, Decode, DecodeInto, View], targets: &[(Encode, 1, 10.0)], ..PLAIN },
    Row {
        data: Data::Large64,
        operations: &[Encode, Decode, DecodeInto, View],
        targets: &[(Encode, 1, 6.0), (DecodeInto, 1, 3.0), (View, 1, 100.0)],
        ..PLAIN
    },
    Row {
        name: "raw, 10 % NaN in masks",
        data: Data::Holes32,
        targets: &[(Encode, 1, 8.0), (Decode, 1, 3.0)],
        ..PLAIN
    },
    Row {
        name: "shuffle",
        filter: "shuffle",
        params: SHUFFLE,
        targets: &[(Encode, 1, 8.0), (Decode, 1, 6.0)],
        ..PLAIN
    },
    Row {
        name: "zstd 3",
        compression: "zstd",
        params: &[("zstd_level", Integer(3))],
        targets: &[(Encode, 1, 1.1), (Decode, 1, 1.1)],
        ..PLAIN
    },
    Row {
        name: "shuffle + zstd 3",
        filter: "shuffle",
        compression: "zstd",
        params: SHUFFLE_ZSTD,
        targets: &[(Encode, 1, 1.5), (Decode, 1, 2.5)],
        ..PLAIN
    },
    Row {
        name: "lz4, incompressible",
        data: Data::Noise32,
        compression: "lz4",
        targets: &[(Encode, 1, 8.0), (Decode, 1, 1.2)],
        ..PLAIN
    },
    Row {
        name: "shuffle + lz4",
        filter: "shuffle",
        compression: "lz4",
        params: SHUFFLE,
        targets: &[(Encode, 1, 3.0), (Decode, 1, 2.5)],
        ..PLAIN
    },
    Row {
        name: "blosc2 lz4",
        data: Data::Field64,
        compression: "blosc2",
        params: BLOSC,
        operations: &[Encode, Decode, Range],
        targets: &[(Encode, 1, 2.0), (Decode, 1, 1.3)],
        ..PLAIN
    },
    Row {
        name: "blosc2 lz4",
        data: Data::Large64,
        compression: "blosc2",
        params: BLOSC,
        targets: &[(Encode, 2, 4.0), (Decode, 2, 5.0)],
        ..PLAIN
    },
    Row { name: "blosc2 blosclz", params: &[("blosc2_codec", Text("blosclz"))], ..BLOSC_OTHER },
    Row { name: "blosc2 lz4hc", params: &[("blosc2_codec", Text("lz4hc"))], ..BLOSC_OTHER },
    Row { name: "blosc2 zlib", params: &[("blosc2_codec", Text("zlib"))], ..BLOSC_OTHER },
    Row { name: "blosc2 zstd", params: &[("blosc2_codec", Text("zstd"))], ..BLOSC_OTHER },
    Row {
        name: "packing 16 bits",
        data: Data::Field64,
        params: PACKED_16,
        targets: &[(Encode, 1, 8.0), (Decode, 1, 3.0)],
        ..PACKED
    },
    Row {
        name: "packing 16 bits",
        data: Data::Large64,
        params: PACKED_16,
        operations: &[Encode, Decode, DecodeInto],
        targets: &[(Encode, 1, 10.0), (Decode, 1, 8.0), (DecodeInto, 1, 8.0)],
        ..PACKED
    },
    Row {
        name: "packing 12 bits",
        data: Data::Field64,
        params: &[("sp_bits_per_value", Integer(12))],
        tolerance: 0.1,
        targets: &[(Encode, 1, 6.0), (Decode, 1, 2.5)],
        ..PACKED
    },
    Row {
        name: "packing 16 + szip",
        data: Data::Field64,
        compression: "szip",
        params: PACKED_SZIP,
        operations: &[Encode, Decode, Range],
        targets: &[(Encode, 1, 1.8), (Decode, 1, 1.5), (Range, 1, 1.5), (Encode, 2, 2.5), (Decode, 2, 3.0)],
        ..PACKED
    },
    Row { name: "szip", compression: "szip", params: SZIP, ..PLAIN },
    Row {
        name: "zfp rate 16",
        params: ZFP,
        operations: &[Encode, Decode, Range],
        threads: &[1, 2],
        targets: &[(Encode, 1, 0.95), (Decode, 1, 1.1), (Encode, 2, 1.8), (Decode, 2, 2.0), (Range, 1, 30.0)],
        ..ZFP_OTHER
    },
    Row {
        name: "zfp precision 24",
        params: &[("zfp_mode", Text("fixed_precision")), ("zfp_precision", Integer(24))],
        ..ZFP_OTHER
    },
    Row {
        name: "zfp accuracy 0.001",
        params: &[("zfp_mode", Text("fixed_accuracy")), ("zfp_tolerance", Real(0.001))],
        tolerance: 0.001,
        ..ZFP_OTHER
    },
    Row {
        name: "sz3 abs 0.01",
        params: SZ3,
        tolerance: 0.01,
        threads: &[1, 2],
        targets: &[(Encode, 1, 1.0), (Decode, 1, 1.0)],
        ..SZ3_OTHER
    },
    Row {
        name: "sz3 rel 0.0001",
        params: &[("sz3_error_bound_mode", Text("rel")), ("sz3_error_bound", Real(0.0001))],
        ..SZ3_OTHER
    },
    Row {
        name: "sz3 psnr 80",
        params: &[("sz3_error_bound_mode", Text("psnr")), ("sz3_error_bound", Real(80.0))],
        ..SZ3_OTHER
    },
];

const BLOSC_OTHER: Row = Row { data: Data::Field64, compression: "blosc2", threads: &[1], ..PLAIN };
const ZFP_OTHER: Row = Row { data: Data::Field64, compression: "zfp", tolerance: 0.1, threads: &[1], ..PLAIN };
const SZ3_OTHER: Row = Row { data: Data::Field64, compression: "sz3", tolerance: 0.05, threads: &[1], ..PLAIN };
const PACKED: Row = Row { encoding: "simple_packing", tolerance: 0.01, ..PLAIN };

/// The objects.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Data {
    /// A smooth global field, `float32`.
    Field32,
    /// Random bits below a common exponent, `float32`.
    Noise32,
    /// [`Data::Field32`] with NaN in one value of ten, in runs as along a coast.
    Holes32,
    /// [`Data::Field32`] as `float64`.
    Field64,
    /// The same kind of field, 64 MiB of `float64`.
    Large64,
}

impl Data {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Field32 => "f32 4 MB",
            Self::Noise32 => "f32 4 MB noise",
            Self::Holes32 => "f32 4 MB holes",
            Self::Field64 => "f64 8 MB",
            Self::Large64 => "f64 64 MiB",
        }
    }

    pub(crate) fn shape(self) -> [u64; 2] {
        if self == Self::Large64 { [2048, 4096] } else { [721, 1440] }
    }

    pub(crate) fn is_double(self) -> bool {
        matches!(self, Self::Field64 | Self::Large64)
    }

    /// The elements of an object of this shape, little-endian.
    pub(crate) fn bytes(self, [rows, columns]: [u64; 2]) -> Vec<u8> {
        let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move || {
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            noise
        };
        let value = |place: u64| {
            let angle = |part: u64, whole: u64| part as f64 / whole as f64 * std::f64::consts::TAU;
            let (y, x) = (angle(place / columns, rows), angle(place % columns, columns));
            273.15 + 30.0 * (y / 2.0).sin() + 8.0 * (3.0 * x + y).sin() + 2.0 * (11.0 * x).cos() * (7.0 * y).sin()
        };
        let places = 0..rows * columns;
        match self {
            Self::Field32 => places.flat_map(|place| (value(place) as f32).to_le_bytes()).collect(),
            Self::Noise32 => places.flat_map(|_| (1.0 + random() as u32 as f32 / 5e9).to_le_bytes()).collect(),
            Self::Holes32 => {
                let hole = |place: u64| place / 16 % 10 == 3;
                places
                    .flat_map(|place| if hole(place) { f32::NAN } else { value(place) as f32 }.to_le_bytes())
                    .collect()
            }
            Self::Field64 | Self::Large64 => places.flat_map(|place| value(place).to_le_bytes()).collect(),
        }
    }
}

/// The middle 1 % of the elements: `(first, count)`.
pub(crate) fn middle([rows, columns]: [u64; 2]) -> (u64, u64) {
    let all = rows * columns;
    (all / 2, (all / 100).max(1))
}

/// Whether what came back is what went in, NaN where NaN was.
pub(crate) fn is_close(row: &Row, original: &[u8], decoded: &[u8]) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= row.tolerance || (a.is_nan() && b.is_nan());
    let single = |bytes: &[u8]| f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes")));
    let double = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    if original.len() != decoded.len() {
        return false;
    }
    if row.data.is_double() {
        original.chunks_exact(8).zip(decoded.chunks_exact(8)).all(|(a, b)| near(double(a), double(b)))
    } else {
        original.chunks_exact(4).zip(decoded.chunks_exact(4)).all(|(a, b)| near(single(a), single(b)))
    }
}
