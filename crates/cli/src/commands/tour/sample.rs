//! The made-up data of the tour: a forecast, a damaged copy, and what a robot sent.

use anyhow::{Context, Result};
use framewright::schema::{Schema, check};
use framewright::tensogram::{EncodeOptions, MessageBuilder, Pipe, TensogramFile, value};
use serde_json::json;
use std::fs;
use std::path::Path;

/// Three forecast steps: temperature raw, pressure packed, snow compressed with its NaN in a mask.
pub(super) fn forecast(path: &Path) -> Result<()> {
    let file = TensogramFile::create(path)?;
    for step in 0..3u32 {
        let temperature =
            field(|lat, lon| 288.0 - 40.0 * lat.sin().powi(2) + 5.0 * (lon + 0.3 * f64::from(step)).sin());
        let pressure = field(|lat, lon| 101_325.0 - 800.0 * (2.0 * lat).cos() * (lon - 0.2 * f64::from(step)).cos());
        let pressure: Vec<f64> = pressure.into_iter().map(f64::from).collect();
        let snow = field(|lat, lon| if lat.abs() < 0.7 { f64::NAN } else { 0.5 + 0.4 * (3.0 * lon).sin() });
        let hours = step * 6;
        let mars = |param: &str| value!({ "param": param, "step": hours, "area": [90.0, 0.0, -90.0, 358.0] });
        let shape = [LATITUDES, LONGITUDES];
        let message = MessageBuilder::new()
            .extra("centre", "tour")
            .extra("step", hours)
            .tensor(&shape, &temperature)?
            .base("name", "2t")
            .base("units", "K")
            .base("mars", mars("2t"))
            .tensor(&shape, &pressure)?
            .base("name", "msl")
            .base("units", "Pa")
            .base("mars", mars("msl"))
            .pipeline(Pipe::pack(16).szip())
            .tensor(&shape, &snow)?
            .base("name", "sd")
            .base("units", "m")
            .base("mars", mars("sd"))
            .pipeline(Pipe::shuffle().zstd(3))
            .options(EncodeOptions { allow_nan: true, ..EncodeOptions::default() })
            .encode()?;
        file.append_message(&message)?;
    }
    Ok(())
}

const LATITUDES: u64 = 91;
const LONGITUDES: u64 = 180;

fn field(value: impl Fn(f64, f64) -> f64) -> Vec<f32> {
    let (rows, columns) = (LATITUDES as usize, LONGITUDES as usize);
    let latitude = |row: usize| (90.0 - 2.0 * row as f64).to_radians();
    let longitude = |column: usize| (2.0 * column as f64).to_radians();
    (0..rows * columns).map(|i| value(latitude(i / columns), longitude(i % columns)) as f32).collect()
}

/// A copy with one bit flipped in the middle; the byte.
pub(super) fn damaged(from: &Path, to: &Path) -> Result<usize> {
    let mut bytes = fs::read(from)?;
    let at = bytes.len() / 2;
    *bytes.get_mut(at).context("the sample has bytes")? ^= 0x10;
    fs::write(to, bytes)?;
    Ok(at)
}

/// A schema, and lines of JSON for it.
pub(super) fn robot(directory: &Path) -> Result<Schema> {
    let path = directory.join("robot.sf");
    fs::write(&path, ROBOT)?;
    let mut lines = String::new();
    for step in 0..20_u8 {
        let stamp = u32::from(step) * 50;
        let line = if step % 2 == 0 {
            let turn = f32::from(step) * 0.1;
            json!({"message": "Pose", "system": 1, "component": 1, "values": {"stamp_ms": stamp, "x": turn.cos(), "y": turn.sin(), "mode": "DRIVE"}})
        } else {
            let ranges: Vec<u16> = (0..u16::from(step)).take(16).map(|beam| 1000 + beam).collect();
            json!({"message": "Scan", "system": 1, "component": 1, "values": {"stamp_ms": stamp, "ranges": ranges}})
        };
        lines.push_str(&format!("{line}\n"));
    }
    fs::write(directory.join("flight.jsonl"), lines)?;
    check(&path).into_result().map_err(|faults| anyhow::anyhow!("{faults}"))
}

const ROBOT: &str = "package robot;

enum Mode { IDLE = 0; DRIVE = 1; }

message Pose {
  option msgid = 1;
  uint32 stamp_ms = 1;
  float x = 2;
  float y = 3;
  Mode mode = 4;
}

message Scan {
  option msgid = 2;
  option variable = true;
  uint32 stamp_ms = 1;
  repeated uint16 ranges = 2 [max_size=16];
}
";
