//! The generators that codec manifests describe their inputs with.

use fw_tensor::DType;
use half::{bf16, f16};
use serde::Deserialize;

use crate::digest::unhex;

/// How an input is made.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[serde(rename = "gen", default)]
    generator: Generator,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    n: usize,
    #[serde(default)]
    base: i128,
    #[serde(default)]
    step: u64,
    #[serde(default, rename = "mod")]
    modulus: u64,
    #[serde(default)]
    inc: i128,
    #[serde(default)]
    value: i128,
    #[serde(default)]
    every: u64,
    #[serde(default)]
    maxrun: u64,
    #[serde(default)]
    values: Vec<i128>,
    hex: Option<String>,
    #[serde(default)]
    shift: i32,
    #[serde(default)]
    inject: Vec<Inject>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Generator {
    Walk,
    Noise,
    Seq,
    Const,
    Sparse,
    Runs,
    List,
    #[default]
    Hex,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inject {
    kind: String,
    start: usize,
    stop: usize,
    step: Option<usize>,
    bits: Option<String>,
    component: Option<String>,
}

impl Input {
    /// The elements in the given byte order.
    ///
    /// # Errors
    /// Something that the description of the generators does not cover.
    pub fn bytes(&self, dtype: DType, byte_order: &str) -> Result<Vec<u8>, String> {
        let mut bytes = match self.generator {
            Generator::Hex => unhex(self.hex.as_deref().ok_or("an input without generator and without hex")?)?,
            _ if matches!(dtype, DType::Complex64 | DType::Complex128) => self.complex(dtype),
            _ if dtype == DType::Bitmask => pack_bits(&self.numbers(self.seed)),
            _ => self.numbers(self.seed).iter().flat_map(|number| self.scalar(dtype, *number)).collect(),
        };
        for inject in &self.inject {
            inject.apply(dtype, &mut bytes)?;
        }
        match byte_order {
            "little" => Ok(bytes),
            "big" => Ok(bytes.chunks(dtype.swap_unit()).flat_map(|unit| unit.iter().rev().copied()).collect()),
            other => Err(format!("byte order `{other}`")),
        }
    }

    /// How many elements there are.
    pub fn count(&self) -> usize {
        match self.generator {
            Generator::List => self.values.len(),
            _ => self.n,
        }
    }

    fn numbers(&self, seed: u64) -> Vec<i128> {
        let mut random = SplitMix64(seed);
        let mut next = move || random.next();
        match self.generator {
            Generator::Walk => {
                let mut sum = self.base;
                let span = 2 * i128::from(self.step) + 1;
                let mut step = || i128::from(next()) % span - i128::from(self.step);
                (0..self.n)
                    .map(|_| {
                        sum += step();
                        sum
                    })
                    .collect()
            }
            Generator::Noise => (0..self.n).map(|_| self.base + i128::from(next() % self.modulus.max(1))).collect(),
            Generator::Seq => (0..self.n).map(|index| self.base + index as i128 * self.inc).collect(),
            Generator::Const => vec![self.value; self.n],
            Generator::Sparse => {
                (0..self.n).map(|_| if next().is_multiple_of(self.every.max(1)) { self.value } else { 0 }).collect()
            }
            Generator::Runs => {
                let mut numbers = Vec::with_capacity(self.n);
                while numbers.len() < self.n {
                    let length = 1 + next() % self.maxrun.max(1);
                    let value = i128::from(next() % self.modulus.max(1));
                    let room = (self.n - numbers.len()) as u64;
                    numbers.extend((0..length.min(room)).map(|_| value));
                }
                numbers
            }
            Generator::List => self.values.clone(),
            Generator::Hex => Vec::new(),
        }
    }

    fn complex(&self, dtype: DType) -> Vec<u8> {
        let part = if dtype == DType::Complex64 { DType::Float32 } else { DType::Float64 };
        let (real, imaginary) = (self.numbers(self.seed), self.numbers(self.seed.wrapping_add(1)));
        let both = real.iter().zip(&imaginary);
        both.flat_map(|(real, imaginary)| [self.scalar(part, *real), self.scalar(part, *imaginary)].concat()).collect()
    }

    fn scalar(&self, dtype: DType, number: i128) -> Vec<u8> {
        let float = || number as f64 * 2_f64.powi(-self.shift);
        match dtype {
            DType::Float16 => f16::from_f64(float()).to_le_bytes().to_vec(),
            DType::BFloat16 => bf16::from_f64(float()).to_le_bytes().to_vec(),
            DType::Float32 => (float() as f32).to_le_bytes().to_vec(),
            DType::Float64 => float().to_le_bytes().to_vec(),
            _ => number.to_le_bytes()[..(dtype.bits() / 8) as usize].to_vec(),
        }
    }
}

impl Inject {
    /// Overwrites the chosen elements, or one half of each.
    fn apply(&self, dtype: DType, bytes: &mut [u8]) -> Result<(), String> {
        let pattern = match &self.bits {
            Some(bits) => unhex(bits)?,
            None => canonical(dtype, &self.kind).ok_or_else(|| format!("no {} in {}", self.kind, dtype.name()))?,
        };
        let pattern: Vec<u8> = pattern.into_iter().rev().collect();
        let (unit, width) = (dtype.swap_unit(), (dtype.bits() / 8) as usize);
        if pattern.len() != unit {
            return Err(format!("a pattern of {} bytes for units of {unit}", pattern.len()));
        }
        let halves = match self.component.as_deref() {
            None => 0..width / unit,
            Some("real") => 0..1,
            Some("imag") => 1..2,
            Some(other) => return Err(format!("component `{other}`")),
        };
        for index in (self.start..self.stop).step_by(self.step.unwrap_or(1)) {
            for half in halves.clone() {
                let at = index * width + half * unit;
                let place = bytes.get_mut(at..at + unit).ok_or_else(|| format!("no element {index} to overwrite"))?;
                place.copy_from_slice(&pattern);
            }
        }
        Ok(())
    }
}

/// The fixed pattern of a kind, most significant byte first (TG-8.5).
fn canonical(dtype: DType, kind: &str) -> Option<Vec<u8>> {
    let column = ["nan", "inf+", "inf-"].iter().position(|name| *name == kind)?;
    let patterns = match dtype {
        DType::Float16 => ["7e00", "7c00", "fc00"],
        DType::BFloat16 => ["7fc0", "7f80", "ff80"],
        DType::Float32 | DType::Complex64 => ["7fc00000", "7f800000", "ff800000"],
        DType::Float64 | DType::Complex128 => ["7ff8000000000000", "7ff0000000000000", "fff0000000000000"],
        _ => return None,
    };
    unhex(patterns[column]).ok()
}

fn pack_bits(numbers: &[i128]) -> Vec<u8> {
    let byte =
        |bits: &[i128]| bits.iter().enumerate().fold(0, |byte, (index, bit)| byte | u8::from(*bit != 0) << (7 - index));
    numbers.chunks(8).map(byte).collect()
}

struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha256;
    use serde_json::Value as Json;

    /// Every input of the project's own manifest comes out with the digest it states: the generators are right.
    #[test]
    fn every_generated_input_has_its_digest() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/tensogram-codecs/manifest.json");
        let manifest: Json = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let cases = manifest["cases"].as_array().unwrap();
        let mut checked = 0;
        for case in cases.iter().filter(|case| case.get("raw_input_sha256").is_some()) {
            let input: Input = serde_json::from_value(case["input"].clone()).unwrap();
            let dtype: DType = case["dtype"].as_str().unwrap().parse().unwrap();
            let bytes = input.bytes(dtype, case["byte_order"].as_str().unwrap()).unwrap();
            assert_eq!(sha256(&bytes), case["raw_input_sha256"], "{}", case["id"]);
            checked += 1;
        }
        assert!(checked > 250, "only {checked} inputs");
    }
}
