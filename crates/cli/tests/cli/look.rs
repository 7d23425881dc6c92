//! Looking into files: info, ls, get, dump, validate, stats and plot, to the character.
//!
//! `looks/NAME.txt` holds what a command prints, 80 columns and no colour, with what it says on standard error and its exit
//! code where that is not 0. `FW_BLESS=1` writes the files anew.

use super::{fine, fw, fw_with};
use framewright::bintensors::{Dtype, TensorView, serialize_to_file};
use framewright::tensogram::{EncodeOptions, MessageBuilder, Pipe, Provenance, value};
use std::collections::HashMap;
use std::path::Path;
use tempfile::TempDir;

/// A folder with a forecast (three messages: temperature and pressure at steps 0, 6 and 12, with a grid), a run of winds, weights,
/// and a file that is no tensor file.
fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let provenance = Provenance {
        encoder_name: "tests".to_owned(),
        encoder_version: "1".to_owned(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
    };
    let options = EncodeOptions { provenance: Some(provenance), allow_nan: true, ..EncodeOptions::default() };
    let (rows, columns) = (19, 36);
    let mut forecast = Vec::new();
    for step in [0, 6, 12] {
        let mut temperature: Vec<f32> = (0..rows * columns)
            .map(|index| 300.0 - ((index / columns) as f32 - 9.0).powi(2) * 0.5 + step as f32)
            .collect();
        let pressure: Vec<f64> = (0..rows * columns).map(|index| 101_325.0 + f64::from(index % columns)).collect();
        temperature[5] = f32::NAN;
        let mars = |param: &str| value!({ "param": param, "step": step, "area": [90.0, 0.0, -90.0, 350.0], "grid": "regular_ll" });
        let message = MessageBuilder::new()
            .options(options.clone())
            .extra("run", "2026-01-01T00")
            .tensor(&[19, 36], &temperature)
            .unwrap()
            .base("mars", mars("2t"))
            .base("units", "K")
            .tensor(&[19, 36], &pressure)
            .unwrap()
            .base("mars", mars("msl"))
            .base("levels", value!([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]))
            .pipeline(Pipe::pack(16).szip());
        forecast.extend(message.encode().unwrap());
    }
    std::fs::write(at("forecast.tgm"), forecast).unwrap();
    std::fs::create_dir(at("winds")).unwrap();
    for (name, param) in [("u.tgm", "10u"), ("v.tgm", "10v")] {
        let message = MessageBuilder::new().options(options.clone()).tensor(&[4], &[1.0f32, -2.0, 3.5, 0.0]).unwrap();
        let mars = value!({ "param": param, "step": 6 });
        std::fs::write(at("winds").join(name), message.base("mars", mars).encode().unwrap()).unwrap();
    }
    let (weight, bias) =
        ([1.5f32, -1.5, 0.0, 8.0].map(f32::to_le_bytes).concat(), [7i64, -9].map(i64::to_le_bytes).concat());
    let tensors = [
        ("layer.weight", TensorView::new(Dtype::F32, [2, 2], &weight).unwrap()),
        ("layer.bias", TensorView::new(Dtype::I64, [2], &bias).unwrap()),
    ];
    let metadata = HashMap::from([("license".to_owned(), "MIT".to_owned())]);
    serialize_to_file(tensors, &Some(metadata), at("model.bt")).unwrap();
    std::fs::write(at("notes.txt"), "plain words").unwrap();
    folder
}

/// A command prints what the file `looks/NAME.txt` says.
#[track_caller]
pub(super) fn looks(folder: &Path, name: &str, line: &str) {
    let run = fw_with(folder, line, &[("COLUMNS", "80")]);
    let mut found = format!("$ fw {line}\n{}", run.text());
    if !run.err.is_empty() {
        found.push_str(&format!("--- standard error\n{}", run.err));
    }
    if run.code != 0 {
        found.push_str(&format!("--- exit code {}\n", run.code));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/looks").join(format!("{name}.txt"));
    if std::env::var_os("FW_BLESS").is_some() {
        std::fs::write(path, found).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{}", path.display());
}

#[test]
fn ls() {
    let folder = files();
    for (name, line) in [
        ("ls", "ls forecast.tgm"),
        ("ls_where", "ls forecast.tgm -w mars.param=2t/10u -w mars.step<=6"),
        ("ls_keys", "ls forecast.tgm -p mars.step,mars.param,shape,nbytes --sort mars.param,mars.step:desc"),
        ("ls_count", "ls forecast.tgm --count -w mars.step>0"),
        ("ls_count_keys", "ls forecast.tgm winds -p mars.param --count"),
        ("ls_messages", "ls forecast.tgm --messages"),
        ("ls_many", "ls winds model.bt forecast.tgm -w mars.step!=12"),
        ("ls_pattern", "ls winds/?.tgm -p file,mars.param"),
        ("ls_json", "ls winds/u.tgm -p mars.param,msg.index,absent --json"),
        ("ls_many_json", "ls winds --json"),
        ("ls_count_json", "ls winds/u.tgm --count -p mars.param --json"),
        ("ls_tensors", "ls model.bt -w name=*.bias"),
        ("ls_typo", "ls forecast.tgm -w mars.parm=2t -p mars.step"),
        ("ls_joined", "ls forecast.tgm -w mars.param=2t,mars.step=0"),
        ("ls_unreadable", "ls winds/u.tgm notes.txt absent.tgm winds/v.tgm"),
        ("ls_unreadable_json", "ls winds/u.tgm notes.txt --count --json"),
        ("ls_nothing", "ls *.gguf"),
    ] {
        looks(folder.path(), name, line);
    }
}

#[test]
fn get() {
    let folder = files();
    for (name, line) in [
        ("get", "get forecast.tgm -p mars.param,mars.step,shape"),
        ("get_where", "get forecast.tgm winds -p mars.param -w mars.step=6"),
        ("get_messages", "get forecast.tgm -p mars.param,run,version,msg.offset --messages"),
        ("get_json", "get forecast.tgm -p mars.step,mars.area,units --default none --json"),
        ("get_missing", "get forecast.tgm -p mars.param,unit"),
        ("get_default", "get winds model.bt -p mars.param,dtype --default -"),
        ("get_missing_json", "get forecast.tgm -p units --json"),
        ("get_unreadable_json", "get winds/u.tgm absent.tgm winds/v.tgm -p mars.param --json"),
        ("get_no_keys", "get forecast.tgm"),
        ("get_bad_key", "get forecast.tgm -p mars..param"),
    ] {
        looks(folder.path(), name, line);
    }
}

#[test]
fn dump() {
    let folder = files();
    for (name, line) in [
        ("dump", "dump forecast.tgm -m 1"),
        ("dump_where", "dump forecast.tgm -w mars.param=msl -w mars.step=6 --data"),
        ("dump_all", "dump forecast.tgm -m 0 -w mars.param=msl --all"),
        ("dump_keys", "dump forecast.tgm -w mars.step=0 -p mars.param,levels,shape"),
        ("dump_keys_json", "dump winds/u.tgm -p mars --data --json"),
        ("dump_tensors", "dump model.bt -w dtype=float32 --data"),
        ("dump_many", "dump winds -p mars.param"),
        ("dump_no_message", "dump forecast.tgm -m 7"),
    ] {
        looks(folder.path(), name, line);
    }
}

#[test]
fn stats() {
    let folder = files();
    for (name, line) in [
        ("stats", "stats forecast.tgm"),
        ("stats_keys", "stats forecast.tgm -p mars.param,mars.step -w mars.param=2t --sort mars.step:desc"),
        ("stats_many", "stats winds model.bt"),
        ("stats_histogram", "stats winds/u.tgm --histogram --bins 4"),
        ("stats_range", "stats model.bt -w name=*.weight --histogram --bins 2 --range -2:2"),
        ("stats_json", "stats winds/v.tgm -p mars.step --histogram --bins 2 --json"),
        ("stats_message", "stats forecast.tgm -m 2 -w units=K"),
        ("stats_no_message", "stats forecast.tgm -m 3"),
        ("stats_bad_range", "stats forecast.tgm --histogram --range 5:1"),
        ("stats_unreadable", "stats notes.txt winds/u.tgm"),
    ] {
        looks(folder.path(), name, line);
    }
    // Threads change nothing.
    let one = fine(folder.path(), "stats forecast.tgm winds --histogram --threads 1 --json");
    let many = fine(folder.path(), "stats forecast.tgm winds --histogram --threads 7 --json");
    assert_eq!(one.text(), many.text());
}

#[test]
fn info_and_validate() {
    let folder = files();
    for (name, line) in [
        ("info", "info forecast.tgm"),
        ("info_many", "info winds model.bt notes.txt"),
        ("info_json", "info winds/u.tgm --json"),
        ("info_many_json", "info winds/u.tgm absent.tgm --json"),
        ("validate_many", "validate winds model.bt forecast.tgm --mode full"),
        ("validate_unreadable", "validate winds absent.tgm notes.txt"),
        ("validate_many_json", "validate winds --json"),
    ] {
        looks(folder.path(), name, line);
    }
}

#[test]
fn plot() {
    let folder = files();
    for (name, line) in [
        ("plot", "plot forecast.tgm -w mars.param=2t -w mars.step=6"),
        ("plot_line", "plot forecast.tgm -m 0 --object 0 --slice :,0 --height 14"),
        ("plot_lines", "plot model.bt -t layer.weight --kind line --slice :,: --height 12"),
        ("plot_histogram", "plot forecast.tgm -t 0/2t --kind histogram --bins 10 --height 12"),
        ("plot_files", "plot forecast.tgm -w mars.param=msl -o [mars.param]-[mars.step].png"),
        ("plot_again", "plot forecast.tgm -w mars.param=msl -o [mars.param]-[mars.step].png"),
        ("plot_json", "plot forecast.tgm -t msl -m 1 -o msl.svg --json"),
        ("plot_nothing", "plot forecast.tgm -w mars.param=sst"),
        ("plot_same_name", "plot forecast.tgm -o [mars.param].png"),
        ("plot_outside", "plot forecast.tgm --slice 30 -o x.png"),
        ("plot_scalar", "plot forecast.tgm --slice 0,0"),
        ("plot_no_format", "plot forecast.tgm -o picture"),
        ("plot_area", "plot forecast.tgm --area 95/0/0/10 -o y.png"),
    ] {
        looks(folder.path(), name, line);
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("msl-6.png").starts_with(b"\x89PNG"));
    let svg = String::from_utf8(read("msl.svg")).unwrap();
    assert!(svg.ends_with("</svg>\n") && svg.contains(">msl</text>"));
    // Coastlines are lines over the field; without them the file is smaller.
    fine(folder.path(), "plot forecast.tgm -t msl -m 1 -o bare.svg --no-coast");
    assert!(read("bare.svg").len() + 5000 < svg.len());
    // A picture to standard output is bytes, and nothing else.
    assert!(fine(folder.path(), "plot model.bt -t layer.weight -o - --format png").out.starts_with(b"\x89PNG"));
    assert!(fine(folder.path(), "plot model.bt -t layer.weight --format sixel").text().starts_with("\u{1b}P"));
}

/// What the terminal is told is text, whatever a file holds.
#[test]
fn names_are_spelled_out() {
    let folder = tempfile::tempdir().unwrap();
    let nasty = "a\u{1b}]0;title\u{7}\nb";
    let message = MessageBuilder::new().tensor(&[2], &[1.0f32, 2.0]).unwrap().base("name", nasty).base("units", nasty);
    std::fs::write(folder.path().join("x.tgm"), message.encode().unwrap()).unwrap();
    for line in [
        "get x.tgm -p name",
        "dump x.tgm -p name",
        "dump x.tgm",
        "plot x.tgm",
        "plot x.tgm --format svg",
        "stats x.tgm --histogram",
    ] {
        let run = fw(folder.path(), line);
        assert_eq!(run.code, 0, "{line}: {}", run.err);
        assert!(!run.text().contains(['\u{1b}', '\u{7}']), "fw {line}: {:?}", run.text());
    }
    assert_eq!(fine(folder.path(), "get x.tgm -p name").text().lines().count(), 1);
}

/// A closed pipe is no failure, and neither is an empty Tensogram file among others.
#[test]
fn empty_and_piped() {
    let folder = files();
    std::fs::write(folder.path().join("empty.tgm"), "").unwrap();
    let run = fw(folder.path(), "ls empty.tgm winds -p mars.param");
    assert_eq!((run.code, run.text()), (0, "mars.param\n10u\n10v\n"));
    assert!(run.err.contains("the file is empty"), "{}", run.err);
}
