//! What this build can do, and whether it does it right: for the people who install it.

use crate::describe::GlobalMetadata;
use crate::error::{Result, TensogramError};
use crate::frame::scan::scan;
use crate::options::DecodeOptions;
use crate::read::{decode, decode_metadata};
use crate::write::MessageBuilder;
use fw_codec::chain::{Blosc2Codec, Pipe, Sz3Mode};

/// The state of this build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doctor {
    /// Parts that a build may have or lack.
    pub features: Vec<FeatureState>,
    /// What was tried, with what came of it.
    pub self_test: Vec<SelfTest>,
}

/// One part of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureState {
    /// Its name.
    pub name: &'static str,
    /// What it is: `compression`, `threading` or `io`.
    pub kind: &'static str,
    /// The library that does the work and how it is linked (`ffi` or `pure-rust`); `None` when the part is left out.
    pub backend: Option<(&'static str, &'static str)>,
}

/// One thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTest {
    /// What.
    pub label: &'static str,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It works.
    Ok,
    /// It does not, and why.
    Failed(String),
    /// It was not tried: this cargo feature is left out.
    Skipped(&'static str),
}

impl Doctor {
    /// True when nothing failed.
    pub fn is_healthy(&self) -> bool {
        self.self_test.iter().all(|test| !matches!(test.outcome, Outcome::Failed(_)))
    }
}

/// Lists the parts of this build and tries them on a small field.
///
/// ```
/// let doctor = fw_tensogram::doctor();
/// assert!(doctor.is_healthy());
/// ```
pub fn doctor() -> Doctor {
    let self_test = TESTS.iter().map(|test| SelfTest { label: test.label, outcome: test.outcome() }).collect();
    Doctor { features: FEATURES.to_vec(), self_test }
}

const PURE: &str = "pure-rust";

const FEATURES: &[FeatureState] = &[
    feature("szip", "compression", None),
    feature("szip-pure", "compression", if cfg!(feature = "szip") { Some(("fw-codec", PURE)) } else { None }),
    feature("zstd", "compression", if cfg!(feature = "zstd") { Some(("libzstd", "ffi")) } else { None }),
    feature("zstd-pure", "compression", None),
    feature("lz4", "compression", if cfg!(feature = "lz4") { Some(("lz4_flex", PURE)) } else { None }),
    feature("blosc2", "compression", if cfg!(feature = "blosc2") { Some(("fw-codec", PURE)) } else { None }),
    feature("zfp", "compression", if cfg!(feature = "zfp") { Some(("fw-codec", PURE)) } else { None }),
    feature("sz3", "compression", if cfg!(feature = "sz3") { Some(("fw-codec", PURE)) } else { None }),
    feature("threads", "threading", Some(("std", PURE))),
    feature("remote", "io", if cfg!(feature = "remote") { Some(("object_store", PURE)) } else { None }),
    feature("mmap", "io", if cfg!(feature = "mmap") { Some(("memmap2", PURE)) } else { None }),
    feature("async", "io", if cfg!(feature = "async") { Some(("tokio", PURE)) } else { None }),
];

const fn feature(
    name: &'static str,
    kind: &'static str,
    backend: Option<(&'static str, &'static str)>,
) -> FeatureState {
    FeatureState { name, kind, backend }
}

struct Test {
    label: &'static str,
    /// Cargo features that it needs, and whether they are all there.
    needs: (&'static str, bool),
    run: fn() -> Result<(), String>,
}

impl Test {
    fn outcome(&self) -> Outcome {
        if !self.needs.1 {
            return Outcome::Skipped(self.needs.0);
        }
        (self.run)().map_or_else(Outcome::Failed, |()| Outcome::Ok)
    }
}

const TESTS: &[Test] = &[
    Test { label: "encode/decode  none/none/none", needs: ("", true), run: || round_trip(Pipe::raw(), 0.0) },
    Test { label: "decode_metadata round-trip", needs: ("", true), run: metadata },
    Test { label: "scan multi-message buffer", needs: ("", true), run: scanned },
    Test { label: "hash xxh3 verify", needs: ("", true), run: verified },
    Test {
        label: "pipeline       simple_packing+szip",
        needs: ("packing, szip", cfg!(all(feature = "packing", feature = "szip"))),
        run: || round_trip(Pipe::pack(16).szip(), 0.01),
    },
    Test {
        label: "pipeline       shuffle+zstd",
        needs: ("shuffle, zstd", cfg!(all(feature = "shuffle", feature = "zstd"))),
        run: || round_trip(Pipe::shuffle().zstd(3), 0.0),
    },
    Test { label: "pipeline       lz4", needs: ("lz4", cfg!(feature = "lz4")), run: || round_trip(Pipe::lz4(), 0.0) },
    Test {
        label: "pipeline       blosc2",
        needs: ("blosc2", cfg!(feature = "blosc2")),
        run: || round_trip(Pipe::blosc2(Blosc2Codec::Lz4, 5), 0.0),
    },
    Test {
        label: "pipeline       zfp (fixed-rate)",
        needs: ("zfp", cfg!(feature = "zfp")),
        run: || round_trip(Pipe::zfp_rate(32.0), 0.01),
    },
    Test {
        label: "pipeline       sz3 (absolute error)",
        needs: ("sz3", cfg!(feature = "sz3")),
        run: || round_trip(Pipe::sz3(Sz3Mode::Abs, 0.01), 0.01),
    },
];

fn field() -> Vec<f64> {
    (0..256).map(|index| 273.15 + f64::from(index) * 0.25).collect()
}

fn encoded(pipe: Pipe) -> Result<Vec<u8>> {
    MessageBuilder::new().extra("doctor", true).tensor(&[16, 16], &field())?.pipeline(pipe).encode()
}

fn round_trip(pipe: Pipe, most: f64) -> Result<(), String> {
    let decoded = encoded(pipe).and_then(|message| decode(&message, &DecodeOptions::default())).map_err(words)?;
    let values = decoded.objects.first().map_or(&[][..], |object| &object.bytes);
    let values = values.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
    let worst = values.zip(field()).map(|(now, then)| (now - then).abs()).fold(0.0, f64::max);
    if worst > most { Err(format!("values came back off by {worst}, at most {most} is right")) } else { Ok(()) }
}

fn metadata() -> Result<(), String> {
    let GlobalMetadata { extra, .. } = encoded(Pipe::raw()).and_then(|bytes| decode_metadata(&bytes)).map_err(words)?;
    if extra.contains_key("doctor") { Ok(()) } else { Err("a key of the metadata did not come back".to_owned()) }
}

fn scanned() -> Result<(), String> {
    let message = encoded(Pipe::raw()).map_err(words)?;
    match scan(&[&message[..], b"between", &message].concat()).len() {
        2 => Ok(()),
        found => Err(format!("found {found} messages where there are 2")),
    }
}

fn verified() -> Result<(), String> {
    let mut message = encoded(Pipe::raw()).map_err(words)?;
    let options = DecodeOptions::default().with_verify_hash();
    decode(&message, &options).map_err(words)?;
    // The first byte of the field, which stands in the message as it is.
    let first = field()[0].to_ne_bytes();
    let Some(at) = message.windows(8).position(|bytes| bytes == first) else {
        return Err("the elements of a raw object are not in its message".to_owned());
    };
    message[at] ^= 1;
    match decode(&message, &options) {
        Err(TensogramError::HashMismatch { .. }) => Ok(()),
        _ => Err("a changed byte was not noticed".to_owned()),
    }
}

fn words(error: TensogramError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_runs_or_names_what_is_left_out() {
        let doctor = doctor();
        assert!(doctor.is_healthy(), "{:?}", doctor.self_test);
        for test in &doctor.self_test {
            if let Outcome::Skipped(feature) = test.outcome {
                assert!(!feature.is_empty(), "{}", test.label);
            }
        }
        assert_eq!((doctor.features.len(), doctor.self_test.len()), (12, 10));
    }
}
