//! What every command prints, to the character: its help, its text and its JSON on fixed inputs, 80 columns, no colour.

use super::look::looks;
use super::{fine, fw_with};
use framewright::tensogram::{
    EncodeOptions, GlobalMetadata, MessageBuilder, Pipe, Provenance, StreamingEncoder, value,
};
use tempfile::TempDir;

/// Every command, with the words that its help needs.
pub(super) const COMMANDS: &[&str] = &[
    "info",
    "ls",
    "get",
    "dump",
    "validate",
    "digest",
    "sign",
    "verify",
    "stats",
    "plot",
    "cat",
    "recover",
    "convert",
    "set",
    "copy",
    "merge",
    "split",
    "reshuffle",
    "recode",
    "rename",
    "subset",
    "replace",
    "cast",
    "diff",
    "decode",
    "encode",
    "record",
    "play",
    "bridge",
    "schema",
    "schema check",
    "schema fmt",
    "schema layout",
    "schema diff",
    "gen",
    "tour",
    "doctor",
    "completions",
    "man",
];

/// Bytes that do not depend on the day.
fn options() -> EncodeOptions {
    let provenance = Provenance {
        encoder_name: "tests".to_owned(),
        encoder_version: "1".to_owned(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
    };
    EncodeOptions { provenance: Some(provenance), allow_nan: true, ..EncodeOptions::default() }
}

/// `run.tgm` (2t and msl at steps 0 and 6), `new.tgm` (the same, one value and one key differ), `bad.tgm` (a flipped bit), `stream.tgm`,
/// `net.sf` and `net.jsonl`.
fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let message = |step: i64, change: f64| {
        let t: Vec<f64> = (0..12).map(|at| 280.0 + f64::from(at) + if at == 7 { change } else { 0.0 }).collect();
        let mut msl = [101_325.0f32; 12];
        msl[3] = f32::NAN;
        let mars = |param: &str| value!({ "param": param, "step": step });
        let builder = MessageBuilder::new().options(options()).extra("run", "00Z");
        let builder = builder.tensor(&[3, 4], &t).unwrap().base("mars", mars("2t")).base("units", "K");
        let builder =
            builder.pipeline(Pipe::shuffle().zstd(3)).tensor(&[3, 4], &msl).unwrap().base("mars", mars("msl"));
        builder.encode().unwrap()
    };
    let run = [message(0, 0.0), message(6, 0.0)].concat();
    std::fs::write(at("run.tgm"), &run).unwrap();
    std::fs::write(at("new.tgm"), [message(0, 0.5), message(6, 0.0)].concat()).unwrap();
    let mut bad = run.clone();
    let place = message(0, 0.0).len() - 80;
    bad[place] ^= 1;
    std::fs::write(at("bad.tgm"), bad).unwrap();
    let mut stream = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options()).unwrap();
    stream.write_tensor(&[2], &[1i32, 2], Pipe::raw()).unwrap();
    std::fs::write(at("stream.tgm"), stream.finish().unwrap()).unwrap();
    std::fs::create_dir(at("old")).unwrap();
    std::fs::create_dir(at("newer")).unwrap();
    for (name, bytes) in
        [("old/a.tgm", message(0, 0.0)), ("newer/a.tgm", message(0, 0.5)), ("old/b.tgm", message(6, 0.0))]
    {
        std::fs::write(at(name), bytes).unwrap();
    }
    std::fs::copy(at("old/b.tgm"), at("newer/b.tgm")).unwrap();
    std::fs::copy(at("old/b.tgm"), at("newer/c.tgm")).unwrap();
    let schema = "package net;\n\nenum Mode { IDLE = 0; RUN = 1; }\n\nmessage Ping {\n  option msgid = 7;\n  uint16 seq = 1;\n  \
                  Mode mode = 2;\n}\n";
    std::fs::write(at("net.sf"), schema).unwrap();
    std::fs::write(at("wider.sf"), schema.replace("uint16", "uint32")).unwrap();
    std::fs::write(at("wrong.sf"), schema.replace("uint16", "uint17")).unwrap();
    let lines = "{\"message\": \"Ping\", \"values\": {\"seq\": 1, \"mode\": \"RUN\"}}\n{\"message\": \"Ping\", \"values\": {\"seq\": 2}}\n";
    std::fs::write(at("net.jsonl"), lines).unwrap();
    folder
}

/// The help of a command is a page of at most 80 columns.
#[test]
fn help() {
    let folder = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        let name = format!("help_{}", command.replace(' ', "_"));
        looks(folder.path(), &name, &format!("{command} --help"));
        let run = fw_with(folder.path(), &format!("{command} -h"), &[("COLUMNS", "80")]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "fw {command} -h");
        let wide: Vec<&str> = run.text().lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "fw {command} -h: {wide:#?}");
        // Examples are for the clipboard: each is one line.
        let broken = |line: &&str| {
            !["fw ", "curl ", "tail ", "echo ", "nc "].iter().any(|word| line.trim_start().starts_with(word))
        };
        let examples = run.text().split("\nExamples:\n").nth(1).unwrap_or_default();
        let examples = examples.split("\n\n").next().unwrap_or_default();
        let broken: Vec<&str> = examples.lines().filter(broken).collect();
        assert!(broken.is_empty(), "fw {command} -h: {broken:#?}");
    }
    looks(folder.path(), "help", "--help");
}

#[test]
fn commands_that_compare_and_convert() {
    let folder = files();
    for (name, line) in [
        ("diff", "diff run.tgm new.tgm"),
        ("diff_json", "diff old/a.tgm newer/a.tgm --json"),
        ("diff_close", "diff run.tgm new.tgm --atol 1 --by mars.param,mars.step"),
        ("diff_many", "diff old newer"),
        ("diff_many_json", "diff old newer --json"),
        ("diff_pattern", "diff old/*.tgm newer"),
        ("diff_absent", "diff run.tgm absent.tgm"),
        ("diff_unpaired", "diff run.tgm new.tgm bad.tgm"),
        ("convert", "convert run.tgm run.npz"),
        ("convert_json", "convert run.tgm run.bt --json"),
        ("convert_again", "convert run.tgm run.npz"),
        ("convert_join", "convert run.tgm joined.tgm --join-messages"),
        ("convert_joined", "ls joined.tgm"),
        ("convert_bad", "convert bad.tgm good.tgm"),
        ("convert_skip", "convert bad.tgm good.tgm --missing skip"),
        ("convert_skipped", "ls good.tgm"),
        ("recover", "recover bad.tgm -o saved.tgm"),
        ("recover_json", "recover bad.tgm -o saved.tgm --force --json"),
        ("recover_nothing", "recover net.sf -o nothing.tgm"),
        ("cat_text", "cat run.tgm -m 0 -o 0 --text"),
        ("cat_json", "cat run.tgm -m 1 -t msl --slice 0 --json"),
        ("cat_ambiguous", "cat run.tgm -t 2t --text"),
        ("validate", "validate run.tgm"),
        ("validate_bad", "validate bad.tgm"),
        ("validate_json", "validate bad.tgm --json"),
        ("dump_frames", "dump run.tgm --frames -m 1"),
        ("dump_frames_json", "dump stream.tgm --frames --json"),
        ("dump_frames_other", "dump run.bt --frames"),
    ] {
        looks(folder.path(), name, line);
    }
}

#[test]
fn commands_that_change() {
    let folder = files();
    for (name, line) in [
        ("set", "set run.tgm set.tgm -w mars.param=2t -s mars.step=12 -d units"),
        ("set_json", "set run.tgm set2.tgm -s mars.class=od --json"),
        ("set_nothing", "set run.tgm set3.tgm -d mars.none"),
        ("set_kind", "set run.tgm set4.tgm -s mars.step=soon"),
        ("copy", "copy run.tgm copy.tgm -w mars.step=6"),
        ("copy_names", "copy run.tgm --objects out/[mars.param]-[mars.step:03].tgm --parents"),
        ("copy_json", "copy run.tgm copy.tgm --force --json"),
        ("copy_exists", "copy run.tgm copy.tgm"),
        ("copy_same", "copy run.tgm run.tgm"),
        ("merge", "merge run.tgm stream.tgm -o merged.tgm --strategy first"),
        ("merge_json", "merge old/a.tgm old/b.tgm -o merged2.tgm --json"),
        ("split", "split run.tgm -o part.tgm"),
        ("split_json", "split old/a.tgm -o [mars.param].tgm --json"),
        ("split_collision", "split run.tgm -o [mars.param]-x.tgm"),
        ("reshuffle", "reshuffle stream.tgm -o shuffled.tgm"),
        ("reshuffle_json", "reshuffle shuffled.tgm -i --json"),
        ("recode", "recode run.tgm --dry-run --pack 8 -w mars.param=2t"),
        ("recode_json", "recode run.tgm recoded.tgm --shuffle --compress lz4 -w mars.step=0 --json"),
        ("recode_unsupported", "recode run.tgm recoded2.tgm --pack 8"),
        ("recode_nothing", "recode run.tgm recoded3.tgm"),
    ] {
        looks(folder.path(), name, line);
    }
    for name in ["set.tgm", "copy.tgm", "merged.tgm", "part_0003.tgm", "shuffled.tgm", "recoded.tgm"] {
        fine(folder.path(), &format!("validate {name} --mode full"));
    }
}

#[test]
fn commands_for_frames() {
    let folder = files();
    for (name, line) in [
        ("encode", "encode net.jsonl -s net.sf -p standard -o net.bin"),
        ("encode_json", "encode net.jsonl -s net.sf -p standard -o net2.bin --json"),
        ("decode", "decode net.bin -s net.sf"),
        ("decode_table", "decode net.bin -s net.sf --table"),
        ("info_capture", "info net.bin -s net.sf"),
        ("info_capture_json", "info net.bin -s net.sf --json"),
        ("schema_check", "schema check net.sf"),
        ("schema_check_wrong", "schema check wrong.sf"),
        ("schema_check_json", "schema check wrong.sf --json"),
        ("decode_json", "decode net.bin -s net.sf --json"),
        ("schema_fmt", "schema fmt net.sf"),
        ("schema_fmt_json", "schema fmt net.sf --json"),
        ("schema_layout", "schema layout net.sf"),
        ("schema_layout_json", "schema layout net.sf --json"),
        ("schema_diff", "schema diff net.sf wider.sf"),
        ("schema_diff_json", "schema diff net.sf wider.sf --json"),
        ("gen", "gen net.sf --lang c -o generated"),
        ("gen_json", "gen net.sf --lang c -o generated --json"),
    ] {
        looks(folder.path(), name, line);
    }
}

/// What depends on the build and the machine is looked at by its shape.
#[test]
fn commands_about_fw() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| fine(folder.path(), line);
    let doctor = run("doctor").text().to_owned();
    for line in ["Build", "Processor", "Status: HEALTHY"] {
        assert!(doctor.lines().any(|found| found == line), "{line}: {doctor}");
    }
    let json = run("doctor --json").json();
    assert_eq!((&json["command"], &json["ok"]), (&"doctor".into(), &true.into()));
    assert!(
        json["self_test"].as_array().unwrap().iter().all(|row| row["outcome"] == "ok" || row["outcome"] == "skipped")
    );
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = run(&format!("completions {shell}")).text().to_owned();
        for command in COMMANDS.iter().filter(|command| !command.contains(' ')) {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert_eq!(run(&format!("completions {shell} --json")).json()["script"], script);
    }
    for command in COMMANDS {
        let page = run(&format!("man {command}")).text().to_owned();
        assert!(page.starts_with(".ie") && page.contains(".SH SYNOPSIS"), "fw man {command}: {page}");
    }
}
