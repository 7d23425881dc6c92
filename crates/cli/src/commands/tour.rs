//! `fw tour`: the main job end to end on made-up data, leaving files to look at.

use super::{ls, print, validate};
use crate::args::Tour;
use crate::exit::{Outcome, Usage};
use anyhow::{Context, Result};
use framewright::convert::{
    ConvertOptions, DiffOptions, Loss, columns_to_frames, convert, diff, frames_to_columns, open,
};
use framewright::dynamic::{Codec, FrameCodec};
use framewright::look::Catalog;
use framewright::primitives::checksum::xxh3_64;
use framewright::schema::{Schema, check};
use framewright::structframe::{Event, Header, Profile};
use framewright::tensogram::{
    EncodeOptions, MessageBuilder, MessageView, TensogramFile, ValidateMode, ValidateOptions, inspect, validate_file,
};
use serde_json::json;
use std::fs;
use std::path::Path;

const DIRECTORY: &str = "fw-tour";

pub(crate) fn run(args: &Tour) -> Result<Outcome> {
    let directory = Path::new(DIRECTORY);
    if directory.exists() && !directory.is_dir() {
        return Err(Usage(format!("{DIRECTORY} is there and no folder; run fw tour somewhere else")).into());
    }
    if !args.force {
        unclaimed(directory)?;
    }
    fs::create_dir_all(directory).with_context(|| DIRECTORY.to_owned())?;
    // Everything is made aside first: a tour that breaks off leaves what an earlier one wrote.
    let fresh = tempfile::tempdir_in(directory).with_context(|| DIRECTORY.to_owned())?;
    let text = guided(fresh.path())?.replace(&fresh.path().display().to_string(), DIRECTORY);
    settle(fresh.path(), directory)?;
    drop(fresh);
    print(&text)?;
    Ok(Outcome::Fine)
}

/// Makes the files, and tells about them.
fn guided(directory: &Path) -> Result<String> {
    let mut text = String::new();
    let mut say = |title: &str, body: &str| {
        text += &format!("{title}\n\n{}\n", body.lines().map(|line| format!("    {line}\n")).collect::<String>());
    };
    let forecast = directory.join("forecast.tgm");
    let file = write_forecast(&forecast)?;
    say(
        "1. Write three forecast steps: temperature raw, pressure packed, snow compressed with its NaN in a mask",
        &format!("wrote {}\n", forecast.display()),
    );
    say("2. List them (fw ls)", &listed(&file)?);
    say("3. Read one value without copying anything", &first_value(&file)?);
    let options = ValidateOptions::mode(ValidateMode::Full);
    let report = validate_file(&forecast, &options)?;
    say("4. Validate (fw validate --mode full)", &validate::text(&report, "forecast.tgm"));
    let damaged = directory.join("damaged.tgm");
    let what = damage(&forecast, &damaged)?;
    let report = validate_file(&damaged, &options)?;
    say(&format!("5. Damage a copy ({what}) and validate it"), &validate::text(&report, "damaged.tgm"));
    say("6. Name every byte (fw dump --hex); the first lines", &first_lines(&file)?);
    let arrays = directory.join("forecast.npz");
    say("7. Convert to NumPy (fw convert) and compare (fw diff)", &converted(&forecast, &arrays)?);
    say("8. Write a robot's frames from JSON (fw encode), and read them again (fw decode)", &robot(directory)?);
    say("9. Turn the capture into columns (fw convert) and back", &flight(directory)?);
    Ok(text + &next_steps())
}

fn listed(file: &TensogramFile) -> Result<String> {
    ls::listing(&Catalog::open(file.path())?)
}

/// What a tour leaves.
const FILES: [&str; 8] = [
    "forecast.tgm",
    "damaged.tgm",
    "forecast.npz",
    "robot.sf",
    "flight.jsonl",
    "flight.bin",
    "flight.tgm",
    "again.bin",
];

/// Where a tour notes the digests of its files, so that the next one knows them again.
const NOTE: &str = ".tour";

/// Only what an earlier tour wrote is replaced unasked, and only as long as nobody has changed it.
fn unclaimed(directory: &Path) -> Result<()> {
    let note = fs::read_to_string(directory.join(NOTE)).unwrap_or_default();
    let mut foreign = Vec::new();
    for name in FILES {
        let own = match fs::read(directory.join(name)) {
            Ok(bytes) => note.lines().any(|line| line == noted(name, &bytes)),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        if !own {
            foreign.push(name);
        }
    }
    if foreign.is_empty() {
        return Ok(());
    }
    let text = format!(
        "{DIRECTORY} has files that no tour wrote, or that were changed since: {}; --force replaces them, or run fw tour \
         somewhere else",
        foreign.join(", ")
    );
    Err(Usage(text).into())
}

/// Puts new files in the place of those of an earlier tour.
fn settle(fresh: &Path, directory: &Path) -> Result<()> {
    let mut note = String::new();
    for name in FILES {
        note += &format!("{}\n", noted(name, &fs::read(fresh.join(name))?));
    }
    // Both are vouched for while one takes the place of the other.
    let before = fs::read_to_string(directory.join(NOTE)).unwrap_or_default();
    fs::write(directory.join(NOTE), format!("{before}{note}"))?;
    for name in FILES {
        let place = directory.join(name);
        fs::rename(fresh.join(name), &place).with_context(|| place.display().to_string())?;
    }
    Ok(fs::write(directory.join(NOTE), note)?)
}

fn noted(name: &str, bytes: &[u8]) -> String {
    format!("{:016x} {name}", xxh3_64(bytes))
}

fn write_forecast(path: &Path) -> Result<TensogramFile> {
    let file = TensogramFile::create(path)?;
    for step in 0..3u32 {
        let temperature =
            field(|lat, lon| 288.0 - 40.0 * lat.sin().powi(2) + 5.0 * (lon + 0.3 * f64::from(step)).sin());
        let pressure = field(|lat, lon| 101_325.0 - 800.0 * (2.0 * lat).cos() * (lon - 0.2 * f64::from(step)).cos());
        let pressure: Vec<f64> = pressure.into_iter().map(f64::from).collect();
        let snow = field(|lat, lon| if lat.abs() < 0.7 { f64::NAN } else { 0.5 + 0.4 * (3.0 * lon).sin() });
        let message = MessageBuilder::new()
            .extra("centre", "tour")
            .extra("step", step * 6)
            .tensor(&[LATITUDES, LONGITUDES], &temperature)?
            .base("name", "2t")
            .base("units", "K")
            .tensor(&[LATITUDES, LONGITUDES], &pressure)?
            .base("name", "msl")
            .base("units", "Pa")
            .describe(|descriptor| {
                descriptor
                    .with_encoding("simple_packing")
                    .with_param("sp_bits_per_value", 16)
                    .with_compression("szip")
                    .with_param("szip_rsi", 128)
                    .with_param("szip_block_size", 16)
                    .with_param("szip_flags", 8)
            })
            .tensor(&[LATITUDES, LONGITUDES], &snow)?
            .base("name", "sd")
            .base("units", "m")
            .describe(|descriptor| {
                descriptor.with_filter("shuffle").with_param("shuffle_element_size", 4).with_compression("zstd")
            })
            .options(EncodeOptions { allow_nan: true, ..EncodeOptions::default() })
            .encode()?;
        file.append_message(&message)?;
    }
    Ok(file)
}

const LATITUDES: u64 = 91;
const LONGITUDES: u64 = 180;

fn field(value: impl Fn(f64, f64) -> f64) -> Vec<f32> {
    let (rows, columns) = (LATITUDES as usize, LONGITUDES as usize);
    let latitude = |row: usize| (90.0 - 2.0 * row as f64).to_radians();
    let longitude = |column: usize| (2.0 * column as f64).to_radians();
    (0..rows * columns).map(|i| value(latitude(i / columns), longitude(i % columns)) as f32).collect()
}

fn first_value(file: &TensogramFile) -> Result<String> {
    let message = file.read_message(0)?;
    let view = MessageView::open(&message)?;
    let object = view.object(0)?;
    let value = object.values::<f32>().and_then(<[f32]>::first).context("the first field is raw float32")?;
    Ok(format!("message 0, object 0, element 0 = {value} K\n"))
}

/// Flips one bit in the middle of the second message.
fn damage(from: &Path, to: &Path) -> Result<String> {
    let mut bytes = fs::read(from)?;
    let at = bytes.len() / 2;
    bytes[at] ^= 0x10;
    fs::write(to, bytes)?;
    Ok(format!("one bit at byte {at}"))
}

fn first_lines(file: &TensogramFile) -> Result<String> {
    let message = file.read_message(0)?;
    let map = crate::render::byte_map(&inspect(&message), &message, 0);
    Ok(map.lines().take(14).map(|line| format!("{line}\n")).collect())
}

/// What a conversion says, losses included, and what a comparison finds.
fn converted(from: &Path, to: &Path) -> Result<String> {
    let done = convert(from, to, &ConvertOptions::new())?;
    let same = diff(&*open(from)?, &*open(to)?, &DiffOptions::new())?.is_equal();
    let losses: String = Loss::grouped(&done.losses).iter().map(|group| format!("{group}\n")).collect();
    let verdict = if same { "every tensor is identical" } else { "tensors differ" };
    Ok(format!("wrote {}: {} tensors, {verdict}\n{losses}", to.display(), done.tensors))
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

/// A schema, lines of JSON, and their frames; what `fw decode` would print of the first ones.
fn robot(directory: &Path) -> Result<String> {
    let schema = compile(directory)?;
    let codec = Codec::new(&schema);
    let frames = FrameCodec::new(&codec, Profile::Network.framing());
    let (mut lines, mut bytes) = (String::new(), Vec::new());
    for step in 0..20_u8 {
        let stamp = u32::from(step) * 50;
        let line = if step % 2 == 0 {
            let turn = f32::from(step) * 0.1;
            json!({"message": "Pose", "values": {"stamp_ms": stamp, "x": turn.cos(), "y": turn.sin(), "mode": "DRIVE"}})
        } else {
            let ranges: Vec<u16> = (0..u16::from(step)).take(16).map(|beam| 1000 + beam).collect();
            json!({"message": "Scan", "values": {"stamp_ms": stamp, "ranges": ranges}})
        };
        frames.write_line(&line, Header { sequence: step, system: 1, component: 1 }, &mut bytes)?;
        lines.push_str(&format!("{line}\n"));
    }
    fs::write(directory.join("flight.jsonl"), lines)?;
    fs::write(directory.join("flight.bin"), &bytes)?;
    let mut text = format!("wrote {}: 20 frames, {} bytes\n", directory.join("flight.bin").display(), bytes.len());
    for event in frames.read(&bytes).take(3) {
        if let Event::Frame(frame) = event {
            text.push_str(&format!("{}\n", serde_json::to_string(&frames.line(&frame))?));
        }
    }
    Ok(text)
}

fn flight(directory: &Path) -> Result<String> {
    let at = |name: &str| directory.join(name);
    let done = frames_to_columns(at("flight.bin"), at("flight.tgm"), &compile(directory)?, None)?;
    columns_to_frames(at("flight.tgm"), at("again.bin"))?;
    let same = fs::read(at("flight.bin"))? == fs::read(at("again.bin"))?;
    let verdict = if same { "the same bytes again" } else { "other bytes" };
    Ok(format!(
        "wrote {}: {} frames ({}) in {} columns\nwrote {}: {verdict}\n",
        at("flight.tgm").display(),
        done.frames,
        done.framing,
        done.columns,
        at("again.bin").display()
    ))
}

fn compile(directory: &Path) -> Result<Schema> {
    let path = directory.join("robot.sf");
    fs::write(&path, ROBOT)?;
    check(&path).into_result().map_err(|faults| anyhow::anyhow!("{faults}"))
}

/// What to try next, with this program named the way it was called.
fn next_steps() -> String {
    let program = std::env::args().next().unwrap_or_else(|| "fw".to_owned());
    let tries = [
        "info fw-tour/forecast.tgm",
        "dump fw-tour/forecast.tgm --message 0",
        "dump fw-tour/forecast.tgm --message 0 --hex | less",
        "validate fw-tour/damaged.tgm --json",
        "cat fw-tour/forecast.tgm --message 1 --object 0 --npy > 2t.npy",
        "diff fw-tour/forecast.tgm fw-tour/forecast.npz",
        "info fw-tour/flight.bin --schema fw-tour/robot.sf --time stamp_ms:ms",
        "decode fw-tour/flight.bin --schema fw-tour/robot.sf --table",
        "--help",
    ];
    let lines: String = tries.iter().map(|line| format!("    {program} {line}\n")).collect();
    format!("The files are in ./{DIRECTORY}. Try next:\n\n{lines}")
}
