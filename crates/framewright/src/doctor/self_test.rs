//! What works: messages encoded and decoded by every codec, and the other formats round trip.

use fw_bintensors::{BinTensors, Dtype, TensorView};
use fw_codec::chain::{Blosc2Codec, Pipe, Sz3Mode};
use fw_structframe::{Event, Frames, Header, MessageInfo, Profile};
use fw_tensogram::{
    DecodeOptions, EncodeOptions, MaskMethod, MessageBuilder, TensogramError, decode, decode_metadata, scan,
};
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::fmt;

/// One self-test.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelfTest {
    /// What was tried. The first ten are those of the reference, in its words.
    pub label: &'static str,
    /// How it went.
    pub outcome: Outcome,
}

/// How a self-test went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What was decoded is what was encoded, or within the bound that was asked for.
    Ok,
    /// Not tried.
    Skipped {
        /// Why not, such as a codec that is not part of the build.
        reason: String,
    },
    /// Something is wrong with this build or this machine.
    Failed {
        /// What.
        error: String,
    },
}

/// Runs all of them.
pub(super) fn run() -> Vec<SelfTest> {
    TESTS.iter().map(|(label, test)| SelfTest { label, outcome: outcome(test()) }).collect()
}

type Test = fn() -> Result<(), Trouble>;

const TESTS: &[(&str, Test)] = &[
    ("encode/decode  none/none/none", || exact(Pipe::raw())),
    ("decode_metadata round-trip", metadata),
    ("scan multi-message buffer", scanned),
    ("hash xxh3 verify", hash),
    ("pipeline       simple_packing+szip", || within(Pipe::pack(16).szip(), 0.01)),
    ("pipeline       shuffle+zstd", || exact(Pipe::shuffle().zstd(3))),
    ("pipeline       lz4", || exact(Pipe::lz4())),
    ("pipeline       blosc2", || exact(Pipe::blosc2(Blosc2Codec::Lz4, 5))),
    ("pipeline       zfp (fixed-rate)", || within(Pipe::zfp_rate(32.0), 1e-3)),
    ("pipeline       sz3 (absolute error)", || within(Pipe::sz3(Sz3Mode::Abs, 1e-3), 1e-3)),
    ("masks          rle", || masked(MaskMethod::Rle)),
    ("masks          roaring", || masked(MaskMethod::Roaring)),
    ("bintensors     round-trip", weights),
    ("struct-frame   round-trip", frames),
];

enum Trouble {
    Error(TensogramError),
    Wrong(String),
}

impl From<TensogramError> for Trouble {
    fn from(error: TensogramError) -> Self {
        Self::Error(error)
    }
}

fn outcome(result: Result<(), Trouble>) -> Outcome {
    match result {
        Ok(()) => Outcome::Ok,
        Err(Trouble::Error(error)) if error.code() == "codec_not_built" => {
            Outcome::Skipped { reason: error.to_string() }
        }
        Err(Trouble::Error(error)) => Outcome::Failed { error: error.to_string() },
        Err(Trouble::Wrong(error)) => Outcome::Failed { error },
    }
}

/// A field that no codec finds too easy: smooth, with a little noise, the same on every machine.
fn field() -> Vec<f64> {
    (0..SIDE * SIDE)
        .map(|place| {
            let (row, column) = ((place / SIDE) as f64, (place % SIDE) as f64);
            280.0 + 20.0 * (row / 9.0).sin() * (column / 7.0).cos() + (place * 2_654_435_761 % 1000) as f64 * 1e-4
        })
        .collect()
}

fn message(pipe: Pipe, values: &[f64]) -> Result<Vec<u8>, TensogramError> {
    let shape = [SIDE as u64, SIDE as u64];
    MessageBuilder::new().tensor(&shape, values)?.base("param", "2t").pipeline(pipe).encode()
}

fn decoded(bytes: &[u8]) -> Result<Vec<f64>, Trouble> {
    let message = decode(bytes, &DecodeOptions::default())?;
    let object = message.objects.first().ok_or_else(|| wrong("no object came back"))?;
    Ok(object.bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect())
}

fn exact(pipe: Pipe) -> Result<(), Trouble> {
    within(pipe, 0.0)
}

fn within(pipe: Pipe, bound: f64) -> Result<(), Trouble> {
    let values = field();
    let back = decoded(&message(pipe, &values)?)?;
    if back.len() != values.len() {
        return Err(wrong(&format!("{} of {} values came back", back.len(), values.len())));
    }
    let error = values.iter().zip(&back).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // A NaN is not within any bound.
    if error <= bound { Ok(()) } else { Err(wrong(&format!("values are off by {error}, allowed is {bound}"))) }
}

fn metadata() -> Result<(), Trouble> {
    let bytes = message(Pipe::raw(), &field())?;
    let found = decode_metadata(&bytes)?;
    let param = found.base.first().and_then(|entry| entry.get("param"));
    if param == Some(&"2t".into()) { Ok(()) } else { Err(wrong("the metadata came back changed")) }
}

fn scanned() -> Result<(), Trouble> {
    let one = message(Pipe::raw(), &field())?;
    let found = scan(&one.repeat(3)).len();
    if found == 3 { Ok(()) } else { Err(wrong(&format!("3 messages were written, {found} were found"))) }
}

/// A digest must match, and must not match once a byte of the payload changes.
fn hash() -> Result<(), Trouble> {
    let mut bytes = message(Pipe::raw(), &field())?;
    let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    decode(&bytes, &options)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    match decode(&bytes, &options) {
        Err(error) if error.code() == "hash_mismatch" => Ok(()),
        _ => Err(wrong("a changed payload was not noticed")),
    }
}

fn masked(method: MaskMethod) -> Result<(), Trouble> {
    let mut values = field();
    values.iter_mut().skip(100).take(700).for_each(|value| *value = f64::NAN);
    let options = EncodeOptions { allow_nan: true, nan_mask_method: method, ..EncodeOptions::default() };
    let shape = [SIDE as u64, SIDE as u64];
    let bytes = MessageBuilder::new().tensor(&shape, &values)?.options(options).encode()?;
    let back = decoded(&bytes)?;
    let same = |(a, b): (&f64, &f64)| a.is_nan() == b.is_nan() && (a.is_nan() || a == b);
    if values.iter().zip(&back).all(same) { Ok(()) } else { Err(wrong("the mask came back changed")) }
}

fn weights() -> Result<(), Trouble> {
    let data: Vec<u8> = field().iter().flat_map(|value| value.to_le_bytes()).collect();
    let view = TensorView::new(Dtype::F64, [SIDE as u64; 2], &data).map_err(|error| wrong(&error.to_string()))?;
    let bytes = fw_bintensors::serialize([("w", view)], &None).map_err(|error| wrong(&error.to_string()))?;
    let file = BinTensors::deserialize(&bytes).map_err(|error| wrong(&error.to_string()))?;
    let back = file.tensor("w").map_err(|error| wrong(&error.to_string()))?;
    if back.data() == data { Ok(()) } else { Err(wrong("the tensor came back changed")) }
}

fn frames() -> Result<(), Trouble> {
    const PING: MessageInfo = MessageInfo { id: 7, max_size: 4, base_size: 4, min_size: 4, magic: [0x1d, 0x2e] };
    let (framing, payload, mut buffer) = (Profile::Standard.framing(), [0x34, 0x12, 1, 1], [0; 32]);
    let frame = fw_structframe::write(framing, Header::default(), &PING, &payload, &mut buffer);
    let frame = frame.map_err(|error| wrong(&error.to_string()))?;
    match Frames::new(framing, [PING], frame).next() {
        Some(Event::Frame(found)) if (found.id, found.payload) == (7, &payload[..]) => Ok(()),
        _ => Err(wrong("the frame came back changed")),
    }
}

fn wrong(text: &str) -> Trouble {
    Trouble::Wrong(text.to_owned())
}

/// Enough for several blocks of every codec.
const SIDE: usize = 64;

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Skipped { reason } => write!(f, "skipped ({reason})"),
            Self::Failed { error } => write!(f, "FAILED ({error})"),
        }
    }
}

impl Serialize for SelfTest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("label", self.label)?;
        match &self.outcome {
            Outcome::Ok => map.serialize_entry("outcome", "ok")?,
            Outcome::Skipped { reason } => {
                map.serialize_entry("outcome", "skipped")?;
                map.serialize_entry("reason", reason)?;
            }
            Outcome::Failed { error } => {
                map.serialize_entry("outcome", "failed")?;
                map.serialize_entry("error", error)?;
            }
        }
        map.end()
    }
}
