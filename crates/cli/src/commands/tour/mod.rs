//! `fw tour`: the main jobs end to end on made-up data, leaving files, pictures and a page to look at.

mod page; // what is left to read
mod sample; // what is shown

use super::{print, print_report};
use crate::args::Tour;
use crate::exit::{Outcome, Usage};
use crate::render::Progress;
use anyhow::{Context, Result};
use framewright::primitives::checksum::xxh3_64;
use serde_json::json;
use std::fs;
use std::path::Path;

const DIRECTORY: &str = "fw-tour";

pub(crate) fn run(args: &Tour) -> Result<Outcome> {
    let directory = Path::new(DIRECTORY);
    if directory.exists() && !directory.is_dir() {
        let text = format!("{DIRECTORY}: exists and is not a directory\nhint: run fw tour in another directory");
        return Err(Usage(text).into());
    }
    if !args.force {
        unclaimed(directory)?;
    }
    fs::create_dir_all(directory).with_context(|| DIRECTORY.to_owned())?;
    // Everything is made aside first: a tour that breaks off leaves what an earlier one wrote.
    let fresh = framewright::source::TemporaryDirectory::inside(directory).with_context(|| DIRECTORY.to_owned())?;
    let steps = guided(fresh.path())?;
    let pictures = PICTURES.iter().map(|name| Ok((*name, fs::read_to_string(fresh.path().join(name))?)));
    let page = page::html(&steps, &pictures.collect::<Result<Vec<_>>>()?, FILES);
    fs::write(fresh.path().join("index.html"), page)?;
    settle(fresh.path(), directory)?;
    drop(fresh);
    if args.json {
        let files: Vec<String> = FILES.iter().map(|(name, _)| format!("{DIRECTORY}/{name}")).collect();
        let as_json = |step: &Step| json!({ "title": step.title, "command": step.command, "code": step.code, "output": step.output });
        let steps: Vec<_> = steps.iter().map(as_json).collect();
        print_report("tour", true, json!({ "files": files, "steps": steps }))?;
    } else {
        print(&text(&steps))?;
    }
    Ok(Outcome::Fine)
}

/// One step: what it is for, the command, and what the command printed and returned.
struct Step {
    title: &'static str,
    command: String,
    output: String,
    code: u8,
}

/// Makes the files and runs the commands; `@` in a command is the directory of the tour.
fn guided(directory: &Path) -> Result<Vec<Step>> {
    let at = |name: &str| directory.join(name);
    sample::forecast(&at("forecast.tgm"))?;
    sample::damaged(&at("forecast.tgm"), &at("damaged.tgm"))?;
    sample::robot(directory)?;
    let real = directory.display().to_string();
    let (mut steps, progress) = (Vec::new(), Progress::of("tour"));
    for (title, line, wanted, lines) in STEPS {
        progress.show_items(steps.len() as u64, STEPS.len() as u64, title);
        let words = line.split_whitespace().map(|word| word.trim_matches('\'').replace("@/", &format!("{real}/")));
        let (code, output) = crate::captured(std::iter::once("fw".to_owned()).chain(words));
        if code != *wanted {
            anyhow::bail!("fw {line} ended with exit code {code}, expected {wanted}: {output}");
        }
        let output = output.replace(&real, DIRECTORY);
        let mut shown: String = output.lines().take(*lines).map(|line| format!("{line}\n")).collect();
        if output.lines().count() > *lines {
            shown.push_str("…\n");
        }
        let command = format!("fw {}", line.replace("@/", &format!("{DIRECTORY}/")));
        steps.push(Step { title, command, output: shown, code });
    }
    Ok(steps)
}

/// Title, command, exit code, and how many lines of its output are shown.
const STEPS: &[(&str, &str, u8, usize)] = &[
    ("List what a file holds", "ls @/forecast.tgm", 0, 12),
    (
        "Select by key, and choose the columns",
        "ls @/forecast.tgm -w mars.param=2t -w 'mars.step<=6' -p mars.param,mars.step,shape",
        0,
        8,
    ),
    ("Minimum, maximum and mean of every field", "stats @/forecast.tgm", 0, 12),
    (
        "Draw a field, with coastlines where the grid is known",
        "plot @/forecast.tgm -w mars.param=2t -w mars.step=0 -o @/2t.svg",
        0,
        4,
    ),
    ("Draw a field with missing values", "plot @/forecast.tgm -w mars.param=sd -w mars.step=0 -o @/snow.png", 0, 4),
    (
        "Draw how values are distributed",
        "plot @/forecast.tgm -w mars.param=msl -w mars.step=0 --kind histogram -o @/msl.svg",
        0,
        4,
    ),
    ("Check every byte and every value", "validate @/forecast.tgm --mode full", 0, 4),
    ("Find the fault in a copy with one flipped bit", "validate @/damaged.tgm", 1, 6),
    ("Save what is intact of it", "recover @/damaged.tgm -o @/repaired.tgm", 3, 6),
    ("Name every byte", "dump @/forecast.tgm --message 0 --hex", 0, 14),
    ("Change a key; payloads stay as they are", "set @/forecast.tgm @/relabelled.tgm -s mars.class=od", 0, 4),
    ("Copy what is selected", "copy @/forecast.tgm @/2t.tgm -w mars.param=2t --objects", 0, 4),
    (
        "Split into files named by keys",
        "split @/forecast.tgm -o '@/field-[mars.param]-[mars.step].tgm' -w mars.param=msl",
        0,
        6,
    ),
    (
        "Merge files into one message",
        "merge @/field-msl-0.tgm @/field-msl-6.tgm @/field-msl-12.tgm -o @/merged.tgm -s last",
        0,
        4,
    ),
    ("Code a file anew, and see sizes and errors", "recode @/2t.tgm @/2t-small.tgm --shuffle --compress zstd:3", 0, 12),
    ("Convert to NumPy", "convert @/forecast.tgm @/forecast.npz", 3, 6),
    ("Convert to BinTensors", "convert @/forecast.npz @/forecast.bt", 3, 6),
    ("Convert to safetensors", "convert @/forecast.bt @/forecast.safetensors", 0, 6),
    ("Compare files of any two formats", "diff @/forecast.npz @/forecast.safetensors", 0, 6),
    (
        "Write a robot's frames from lines of JSON",
        "encode @/flight.jsonl -s @/robot.sf -p network --number -o @/flight.bin --json",
        0,
        12,
    ),
    ("Describe the capture", "info @/flight.bin --schema @/robot.sf --time stamp_ms:ms", 0, 16),
    ("Turn the capture into columns", "convert @/flight.bin @/flight.tgm --schema @/robot.sf", 0, 4),
    ("And back into the same bytes", "convert @/flight.tgm @/again.bin", 0, 4),
];

/// What a tour leaves, and what it is.
const FILES: &[(&str, &str)] = &[
    ("forecast.tgm", "Tensogram: three steps of three fields"),
    ("damaged.tgm", "the same with one bit flipped"),
    ("repaired.tgm", "what fw recover saved of it"),
    ("relabelled.tgm", "the forecast with another key"),
    ("2t.tgm", "only the temperature"),
    ("2t-small.tgm", "the temperature, compressed"),
    ("field-msl-0.tgm", "one field in a file of its own"),
    ("field-msl-6.tgm", "one field in a file of its own"),
    ("field-msl-12.tgm", "one field in a file of its own"),
    ("merged.tgm", "these three in one message"),
    ("forecast.npz", "NumPy: the forecast as arrays"),
    ("forecast.bt", "BinTensors: the same tensors"),
    ("forecast.safetensors", "safetensors: the same tensors"),
    ("2t.svg", "a heat map of the temperature"),
    ("snow.png", "a heat map with missing values"),
    ("msl.svg", "a histogram of the pressure"),
    ("robot.sf", "a struct-frame schema"),
    ("flight.jsonl", "what a robot says, as lines of JSON"),
    ("flight.bin", "struct-frame: the same as frames"),
    ("flight.tgm", "the frames as columns"),
    ("again.bin", "the columns as frames again"),
    ("index.html", "this page"),
];

/// The pictures that the page shows.
const PICTURES: &[&str] = &["2t.svg", "msl.svg"];

/// Where a tour notes the digests of its files, so that the next one can tell them from other files.
const NOTE: &str = ".tour";

/// Only what an earlier tour wrote is replaced without --force, and only if nobody has changed it.
fn unclaimed(directory: &Path) -> Result<()> {
    let note = fs::read_to_string(directory.join(NOTE)).unwrap_or_default();
    let mut foreign = Vec::new();
    for (name, _) in FILES {
        let own = match fs::read(directory.join(name)) {
            Ok(bytes) => note.lines().any(|line| line == noted(name, &bytes)),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        if !own {
            foreign.push(*name);
        }
    }
    if foreign.is_empty() {
        return Ok(());
    }
    let text = format!(
        "{DIRECTORY}: has files that no tour wrote, or that were changed since: {}\nhint: use --force to overwrite them, or run \
         fw tour in another directory",
        foreign.join(", ")
    );
    Err(Usage(text).into())
}

/// Puts new files in the place of those of an earlier tour.
fn settle(fresh: &Path, directory: &Path) -> Result<()> {
    let mut note = String::new();
    for (name, _) in FILES {
        let bytes = fs::read(fresh.join(name)).with_context(|| (*name).to_owned())?;
        note += &format!("{}\n", noted(name, &bytes));
    }
    // Old and new files are both known while one takes the place of the other.
    let before = fs::read_to_string(directory.join(NOTE)).unwrap_or_default();
    fs::write(directory.join(NOTE), format!("{before}{note}"))?;
    for (name, _) in FILES {
        let place = directory.join(name);
        fs::rename(fresh.join(name), &place).with_context(|| place.display().to_string())?;
    }
    Ok(fs::write(directory.join(NOTE), note)?)
}

fn noted(name: &str, bytes: &[u8]) -> String {
    format!("{:016x} {name}", xxh3_64(bytes))
}

/// The steps as text, and what to try next.
fn text(steps: &[Step]) -> String {
    let mut text = String::new();
    for (number, step) in steps.iter().enumerate() {
        let output: String = step.output.lines().map(|line| format!("    {line}\n")).collect();
        text += &format!("{}. {}\n\n    $ {}\n{output}\n", number + 1, step.title, step.command);
    }
    let tries = [
        "plot fw-tour/forecast.tgm -w mars.param=2t -m 0",
        "dump fw-tour/forecast.tgm --message 0 --hex | less",
        "cat fw-tour/forecast.tgm --message 1 --object 0 --npy > 2t.npy",
        "decode fw-tour/flight.bin --schema fw-tour/robot.sf --table",
        "doctor",
        "--help",
    ];
    let tries: String = tries.iter().map(|line| format!("    fw {line}\n")).collect();
    text + &format!("The files are in ./{DIRECTORY}; open {DIRECTORY}/index.html in a browser. Try next:\n\n{tries}")
}
