//! How objects are coded, as people state it.

use crate::error::{EditError, Result};
use fw_codec::chain::OpenPipe;
use fw_tensogram::{Blosc2Codec, Pipe, Sz3Mode, Sz3Settings, ZfpSettings};

/// A pipeline: packing, shuffle and compressor, each where it is stated.
///
/// ```
/// use fw_edit::Coding;
///
/// let coding = Coding::default().with_pack(16)?.with_compressor("szip")?;
/// assert_eq!(coding.to_string(), "simple_packing 16 bits, szip");
/// assert!(Coding::default().with_compressor("zfp:accuracy=0.01").is_ok());
/// # Ok::<(), fw_edit::EditError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coding {
    packing: Packing,
    shuffle: bool,
    compressor: Compressor,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Packing {
    #[default]
    None,
    Bits(u64),
    /// As few bits as keep every value within this.
    Accuracy(f64),
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Compressor {
    #[default]
    None,
    Szip,
    Zstd(i32),
    Lz4,
    Blosc2(Blosc2Codec, i32),
    Zfp(ZfpSettings),
    Sz3(Sz3Settings),
}

impl Coding {
    /// Packs doubles into integers of this many bits.
    ///
    /// # Errors
    /// `bad_setting` above 64.
    pub fn with_pack(mut self, bits: u64) -> Result<Self> {
        if bits > 64 {
            return Err(bad("bits per value", &bits.to_string(), "0 to 64"));
        }
        self.packing = Packing::Bits(bits);
        Ok(self)
    }

    /// Packs doubles into as few bits as keep every value within `bound` of what it was.
    ///
    /// # Errors
    /// `bad_setting` unless it is positive and finite.
    pub fn with_accuracy(mut self, bound: f64) -> Result<Self> {
        if !bound.is_finite() || bound <= 0.0 {
            return Err(bad("accuracy", &bound.to_string(), "a number above 0"));
        }
        self.packing = Packing::Accuracy(bound);
        Ok(self)
    }

    /// Puts bytes of equal significance side by side.
    #[must_use]
    pub const fn with_shuffle(mut self) -> Self {
        self.shuffle = true;
        self
    }

    /// Compresses: `none`, `szip`, `zstd`, `zstd:LEVEL`, `lz4`, `blosc2`, `blosc2:CODEC:LEVEL`, `zfp:rate=BITS`,
    /// `zfp:precision=PLANES`, `zfp:accuracy=X`, `sz3:abs=X`, `sz3:rel=X` or `sz3:psnr=X`.
    ///
    /// # Errors
    /// `bad_setting` for other names and settings.
    pub fn with_compressor(mut self, text: &str) -> Result<Self> {
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let unknown = || {
            bad("compressor", text, "none, szip, zstd, lz4, blosc2, zfp or sz3, such as zstd:3 or zfp:accuracy=0.01")
        };
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
        self.compressor = match (name, settings) {
            ("none", "") => Compressor::None,
            ("szip", "") => Compressor::Szip,
            ("zstd", "") => Compressor::Zstd(3),
            ("zstd", level) => {
                Compressor::Zstd(level.parse().map_err(|_| bad("zstd level", level, "a number such as 3"))?)
            }
            ("lz4", "") => Compressor::Lz4,
            ("blosc2", "") => Compressor::Blosc2(Blosc2Codec::Lz4, 5),
            ("blosc2", settings) => {
                let (codec, level) = settings.split_once(':').unwrap_or((settings, "5"));
                let codec = Blosc2Codec::from_name(codec).ok_or_else(unknown)?;
                let level = level.parse().map_err(|_| bad("blosc2 level", level, "0 to 9"))?;
                Compressor::Blosc2(codec, level)
            }
            ("zfp", settings) => {
                let expected = || bad("zfp setting", settings, "rate=BITS, precision=PLANES or accuracy=X");
                let (mode, value) = settings.split_once('=').ok_or_else(expected)?;
                let value = number(value).ok_or_else(expected)?;
                Compressor::Zfp(match mode {
                    "rate" => ZfpSettings::FixedRate { zfp_rate: value },
                    "precision" if value.fract() == 0.0 && value <= 64.0 => {
                        ZfpSettings::FixedPrecision { zfp_precision: value as u32 }
                    }
                    "accuracy" | "tolerance" => ZfpSettings::FixedAccuracy { zfp_tolerance: value },
                    _ => return Err(expected()),
                })
            }
            ("sz3", settings) => {
                let expected = || bad("sz3 setting", settings, "abs=X, rel=X or psnr=X");
                let (mode, value) = settings.split_once('=').ok_or_else(expected)?;
                let sz3_error_bound = number(value).ok_or_else(expected)?;
                let mode = Sz3Mode::ALL.into_iter().find(|known| known.name() == mode).ok_or_else(expected)?;
                Compressor::Sz3(Sz3Settings { sz3_error_bound_mode: mode, sz3_error_bound })
            }
            _ => return Err(unknown()),
        };
        Ok(self)
    }

    /// The accuracy that packing has to keep.
    pub(super) const fn accuracy(&self) -> Option<f64> {
        match self.packing {
            Packing::Accuracy(bound) => Some(bound),
            Packing::None | Packing::Bits(_) => None,
        }
    }

    /// True when values are packed.
    pub(super) const fn packs(&self) -> bool {
        !matches!(self.packing, Packing::None)
    }

    /// So many bits as the next stage takes: szip and shuffle work on whole bytes, and on one at least.
    pub(super) const fn rounded(&self, bits: u64) -> u64 {
        let bytes = matches!(self.compressor, Compressor::Szip) || self.shuffle;
        match bits {
            0 if bytes => 8,
            bits if bytes => bits.next_multiple_of(8),
            bits => bits,
        }
    }

    /// The pipeline; `bits` are those that an accuracy needs.
    pub(super) fn pipe(&self, bits: u64) -> Pipe {
        let mut open = match self.packing {
            Packing::None => OpenPipe::default(),
            Packing::Bits(bits) => Pipe::pack(bits),
            Packing::Accuracy(_) => Pipe::pack(bits),
        };
        if self.shuffle {
            // Packed values of odd widths are shuffled by the bytes they fill.
            open = match self.packing {
                Packing::None => open.shuffle(),
                Packing::Bits(bits) => open.shuffle_by(bits.div_ceil(8).max(1)),
                Packing::Accuracy(_) => open.shuffle_by(bits.div_ceil(8).max(1)),
            };
        }
        match &self.compressor {
            Compressor::None => open.into(),
            Compressor::Szip => open.szip(),
            Compressor::Zstd(level) => open.zstd(*level),
            Compressor::Lz4 => open.lz4(),
            Compressor::Blosc2(codec, level) => open.blosc2(*codec, *level),
            Compressor::Zfp(settings) => open.compress(*settings),
            Compressor::Sz3(settings) => open.compress(*settings),
        }
    }
}

impl std::fmt::Display for Coding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut stages = Vec::new();
        match self.packing {
            Packing::None => {}
            Packing::Bits(bits) => stages.push(format!("simple_packing {bits} bits")),
            Packing::Accuracy(bound) => stages.push(format!("simple_packing within {bound}")),
        }
        if self.shuffle {
            stages.push("shuffle".to_owned());
        }
        match &self.compressor {
            Compressor::None => {}
            Compressor::Szip => stages.push("szip".to_owned()),
            Compressor::Zstd(level) => stages.push(format!("zstd {level}")),
            Compressor::Lz4 => stages.push("lz4".to_owned()),
            Compressor::Blosc2(codec, level) => stages.push(format!("blosc2 {} {level}", codec.name())),
            Compressor::Zfp(ZfpSettings::FixedRate { zfp_rate }) => stages.push(format!("zfp rate {zfp_rate}")),
            Compressor::Zfp(ZfpSettings::FixedPrecision { zfp_precision }) => {
                stages.push(format!("zfp precision {zfp_precision}"));
            }
            Compressor::Zfp(ZfpSettings::FixedAccuracy { zfp_tolerance }) => {
                stages.push(format!("zfp accuracy {zfp_tolerance}"));
            }
            Compressor::Sz3(settings) => {
                stages.push(format!("sz3 {} {}", settings.sz3_error_bound_mode.name(), settings.sz3_error_bound));
            }
        }
        f.write_str(if stages.is_empty() { "raw" } else { "" })?;
        f.write_str(&stages.join(", "))
    }
}

fn bad(what: &str, found: &str, expected: &str) -> EditError {
    EditError::refused("bad_setting", format!("{what} {found:?}: expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_shown() {
        for (text, shown) in [
            ("none", "raw"),
            ("szip", "szip"),
            ("zstd", "zstd 3"),
            ("zstd:-5", "zstd -5"),
            ("lz4", "lz4"),
            ("blosc2", "blosc2 lz4 5"),
            ("blosc2:zstd:9", "blosc2 zstd 9"),
            ("zfp:rate=16", "zfp rate 16"),
            ("zfp:precision=20", "zfp precision 20"),
            ("zfp:accuracy=0.01", "zfp accuracy 0.01"),
            ("sz3:abs=0.01", "sz3 abs 0.01"),
            ("sz3:psnr=60", "sz3 psnr 60"),
        ] {
            assert_eq!(Coding::default().with_compressor(text).unwrap().to_string(), shown, "{text}");
        }
        for text in
            ["gzip", "zstd:x", "zfp", "zfp:0.1", "zfp:rate=0", "zfp:precision=1.5", "sz3:rel=nan", "szip:1", "blosc2:x"]
        {
            assert_eq!(Coding::default().with_compressor(text).unwrap_err().code(), "bad_setting", "{text}");
        }
        assert!(Coding::default().with_pack(65).is_err() && Coding::default().with_accuracy(0.0).is_err());
    }
}
