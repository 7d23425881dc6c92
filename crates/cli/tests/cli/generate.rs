//! `fw gen`: what is written and when, and what `--serde` writes, built and used, beside what the three lines of a build
//! script make of the same schema.

use super::{fine, fw};
use std::fs;
use std::path::Path;
use std::process::Command;

/// As the documentation has it.
const BUILD_SCRIPT: &str = "\
fn main() -> Result<(), fw_codegen::BuildError> {
    fw_codegen::build(\"robot.proto\")
}
";

/// Values go from one kind of code to the other as JSON, and are the same frames there.
const PROGRAM: &str = r#"
mod generated;
mod built {
    fw_structframe::include_schema!("robot");
}

use fw_structframe::{Bounded, Header, Message, Profile, Text, write_message};
use generated::robot::{Acknowledge, Command, CommandOrder, GoTo, Mode, Telemetry, Vector3};

fn main() {
    let target = Vector3 { x: 3.0, y: 4.5, z: -1.0 };
    let ranges_mm = Bounded::from_slice(&[700, 65_535]).unwrap();
    let telemetry =
        Telemetry { time_us: u64::MAX, mode: Mode(77), position: target.clone(), ranges_mm, ..Telemetry::default() };
    across::<Telemetry, built::robot::Telemetry>(&telemetry);
    let order = CommandOrder::GoTo(GoTo { target, speed: 0.25 });
    across::<Command, built::robot::Command>(&Command { sequence: 7, order });
    across::<Command, built::robot::Command>(&Command::default());
    let log = Bounded::from_slice(&[0, 255]).unwrap();
    let note = Text::new("zoë").unwrap();
    across::<Acknowledge, built::robot::Acknowledge>(&Acknowledge { sequence: 7, accepted: true, note, log });
}

fn across<A, B>(message: &A)
where
    A: Message + serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
    B: Message + serde::Serialize + serde::de::DeserializeOwned,
{
    let json = serde_json::to_string(message).unwrap();
    let other: B = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&other).unwrap(), json);
    assert_eq!(&serde_json::from_str::<A>(&json).unwrap(), message);
    assert_eq!(frame(message), frame(&other));
    println!("{json}");
}

fn frame<M: Message>(message: &M) -> Vec<u8> {
    let mut out = [0; 1024];
    write_message(Profile::Bulk.framing(), Header::default(), message, &mut out).unwrap().to_vec()
}
"#;

#[test]
fn files_are_written_when_they_change_and_checked_without_writing() {
    let folder = tempfile::tempdir().unwrap();
    let robot = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/struct-frame/robot.proto");
    fs::copy(robot, folder.path().join("robot.proto")).unwrap();
    let line = "gen robot.proto --lang c,python -o out";
    let was = |run: &super::Run, word: &str| {
        let files = run.json()["files"].as_array().unwrap().clone();
        assert!(files.iter().any(|file| file["path"].as_str().unwrap().starts_with("c/")), "{files:?}");
        assert!(files.iter().any(|file| file["path"].as_str().unwrap().starts_with("python/")), "{files:?}");
        (files.iter().filter(|file| file["was"] == word).count(), files.len())
    };
    let check = |code, word, count: usize| {
        let run = fw(folder.path(), &format!("{line} --check --json"));
        assert_eq!((run.code, run.json()["ok"].as_bool()), (code, Some(code == 0)));
        assert_eq!(was(&run, word).0, count, "{}", run.text());
    };
    let all = was(&fw(folder.path(), &format!("{line} --check --json")), "missing").1;
    check(1, "missing", all);
    assert!(!folder.path().join("out").exists(), "a check writes nothing");
    fine(folder.path(), line);
    check(0, "fresh", all);

    let header = folder.path().join("out/c/robot.structframe.h");
    let first = fs::metadata(&header).unwrap().modified().unwrap();
    assert_eq!(was(&fw(folder.path(), &format!("{line} --json")), "fresh"), (all, all));
    assert_eq!(fs::metadata(&header).unwrap().modified().unwrap(), first, "what is fresh is left alone");
    let text = fs::read_to_string(&header).unwrap();
    fs::write(&header, text.clone() + "// mine\n").unwrap();
    check(1, "stale", 1);
    assert!(fs::read_to_string(&header).unwrap().ends_with("// mine\n"));
    fine(folder.path(), line);
    assert_eq!(fs::read_to_string(&header).unwrap(), text);

    // Without packing every message is variable, which is another wire.
    let natural = fw(folder.path(), &format!("{line} --no-packed --check --json"));
    assert_eq!(natural.code, 1);
    assert!(was(&natural, "stale").0 > 0, "{}", natural.text());

    let run = fw(folder.path(), "gen robot.proto --lang c --serde -o out");
    assert_eq!((run.code, run.err.as_str()), (2, "fw: --serde applies to Rust; --lang does not include rust\n"));
}

#[test]
fn rust_from_the_command_line_and_from_a_build_script() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fw-gen-serde");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"user\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [features]\ndefault = [\"serde\"]\nserde = [\"dep:serde\", \"fw-structframe/serde\"]\n\n\
         [dependencies]\nfw-structframe = {{ path = {:?} }}\n\
         serde = {{ version = \"1.0\", features = [\"derive\"], optional = true }}\nserde_json = \"1.0\"\n\n\
         [build-dependencies]\nfw-codegen = {{ path = {:?} }}\n",
        root.join("crates/structframe"),
        root.join("crates/codegen")
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The versions that the workspace has tried, and has at hand.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    fs::copy(root.join("examples/struct-frame/robot.proto"), folder.join("robot.proto")).unwrap();
    fs::write(folder.join("build.rs"), BUILD_SCRIPT).unwrap();
    fs::write(folder.join("src/main.rs"), PROGRAM).unwrap();
    fine(&folder, "gen robot.proto --lang rust --serde -o src/generated");

    // The documentation shows this very script.
    let readme = fs::read_to_string(root.join("examples/struct-frame/rust/README.md")).unwrap();
    assert!(readme.contains(BUILD_SCRIPT));

    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--offline", "--quiet"]).current_dir(&folder);
    // With what the tests of generated code have compiled already.
    let output = cargo.env("CARGO_TARGET_DIR", folder.with_file_name("rust-target")).output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{words}");
    assert_eq!(words, "", "not a warning");
    let expected = "\
{\"time_us\":18446744073709551615,\"mode\":77,\"position\":{\"x\":3.0,\"y\":4.5,\"z\":-1.0},\
\"wheel_speed\":[0.0,0.0,0.0,0.0],\"battery_volts\":12.6,\"ranges_mm\":[700,65535]}
{\"sequence\":7,\"order\":{\"GoTo\":{\"target\":{\"x\":3.0,\"y\":4.5,\"z\":-1.0},\"speed\":0.25}}}
{\"sequence\":0,\"order\":\"Unset\"}
{\"sequence\":7,\"accepted\":true,\"note\":\"zoë\",\"log\":[0,255]}
";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

/// Comments behind a field reach code and documents, and enum values keep the schema's spelling.
#[test]
fn comments_and_spelling() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("c.sf"), include_str!("../data/structframe/trailing_comment.sf")).expect("written");
    std::fs::write(at.join("d.sf"), include_str!("../data/structframe/enum_digit.sf")).expect("written");
    fine(at, "gen c.sf --lang rust,c,cpp,python,ts,csharp,markdown -o c");
    let read = |path: &str| std::fs::read_to_string(at.join(path)).expect(path);
    for path in
        ["c/rust/p.rs", "c/c/p.structframe.h", "c/cpp/p.structframe.hpp", "c/python/p.py", "c/ts/p.ts", "c/csharp/P.cs"]
    {
        let text = read(path);
        let (volts, amperes) = (text.find("millivolts"), text.find("amperes"));
        assert!(volts.is_some() && volts < amperes, "{path}: {text}");
    }
    fine(at, "gen d.sf --lang rust,c,python -o d");
    for (path, stem) in [("d/rust/d.rs", ""), ("d/c/d.structframe.h", "D_FIX_"), ("d/python/d.py", "")] {
        let text = read(path);
        for value in ["FIX_2D", "H264", "IPV4", "X2Y", "MODE_3X3"] {
            assert!(text.contains(&format!("{stem}{value}")), "{path}: no {stem}{value}\n{text}");
        }
        assert!(!text.contains("FIX_2_D") && !text.contains("I_PV4"), "{path}");
    }
}

/// Several schemas at once, or one run after the other: every package stays.
#[test]
fn packages_of_several_schemas_stay_together() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.proto"), include_str!("../data/structframe/two_a.proto")).unwrap();
    fs::write(at.join("b.proto"), include_str!("../data/structframe/two_b.proto")).unwrap();
    fine(at, "gen a.proto b.proto --lang rust,python,ts,js,c,cpp,csharp -o once");
    fine(at, "gen a.proto --lang rust,python,ts,js,c,cpp,csharp -o twice");
    fine(at, "gen b.proto --lang rust,python,ts,js,c,cpp,csharp -o twice");
    let read = |path: &str| fs::read_to_string(at.join(path)).expect(path);
    for index in ["rust/mod.rs", "python/__init__.py", "ts/index.ts", "js/index.js"] {
        let text = read(&format!("twice/{index}"));
        assert!(text.contains("aaa") && text.contains("bbb"), "{index}: {text}");
        assert_eq!(text, read(&format!("once/{index}")), "{index}");
    }
    assert!(
        read("twice/rust/structframe.schemas").ends_with("\nrust packed ../../a.proto\nrust packed ../../b.proto\n")
    );
    fine(at, "gen a.proto --lang rust,python,ts,js -o twice --check");
    fine(at, "gen b.proto a.proto --lang rust -o twice/rust --check");

    // Another file with the same package takes the place of the first.
    fs::write(at.join("a2.proto"), "package aaa;\nmessage A { option msgid = 1; uint16 x = 1; }\n").unwrap();
    fine(at, "gen a2.proto --lang rust -o twice/rust");
    assert!(
        read("twice/rust/structframe.schemas").ends_with("\nrust packed ../../b.proto\nrust packed ../../a2.proto\n")
    );
    assert!(read("twice/rust/aaa.rs").contains("u16"));

    // Of two messages with one id the first keeps it, with a warning; what changes the wire is refused.
    fs::write(at.join("clash.proto"), "package clash;\nmessage C { option msgid = 2; uint8 x = 1; }\n").unwrap();
    let run = fw(at, "gen b.proto clash.proto --lang rust -o clash");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("effective id 2 (0x0002) of `C` is also that of `bbb.B`"), "{}", run.err);
    assert!(read("clash/mod.rs").contains("pub mod clash;") && !read("clash/mod.rs").contains("clash::C"));
    let run = fw(at, "gen a2.proto --lang python --no-packed -o twice/python");
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("generated without --no-packed; this run is with it"), "{}", run.err);

    // A schema that is gone is told, and takes its packages with it.
    fs::remove_file(at.join("b.proto")).unwrap();
    let run = fw(at, "gen a2.proto --lang rust -o twice/rust");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("b.proto") && run.err.contains("no longer exists"), "{}", run.err);
    assert!(!read("twice/rust/mod.rs").contains("bbb"));
}

/// Code with its runtime beside it: a binary crate that depends on nothing and uses little of it, without a warning.
#[test]
fn standalone_rust_needs_no_crate() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fw-gen-standalone");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::copy(root.join("examples/struct-frame/robot.proto"), folder.join("robot.proto")).unwrap();
    fine(&folder, "gen robot.proto --lang rust --standalone -o src/generated");
    let program = "mod generated;\nuse generated::robot::{GoTo, Vector3};\n\
                   use generated::runtime::{Event, Frames, Header, Profile, read_message, write_message};\n\
                   fn main() {\n    let order = GoTo { target: Vector3 { x: 1.0, y: 2.0, z: 3.0 }, speed: 0.5 };\n    \
                   let framing = Profile::Standard.framing();\n    let mut out = [0; 64];\n    \
                   let frame = write_message(framing, Header::default(), &order, &mut out).unwrap();\n    \
                   for event in Frames::new(framing, generated::MESSAGES, frame) {\n        \
                   if let Event::Frame(frame) = event {\n            \
                   println!(\"{}\", read_message::<GoTo>(framing, &frame).unwrap() == order);\n        }\n    }\n}\n";
    fs::write(folder.join("src/main.rs"), program).unwrap();
    for edition in ["2021", "2024"] {
        let manifest = format!(
            "[package]\nname = \"standalone\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n\n[workspace]\n\n\
             [lints.rust]\nwarnings = \"deny\"\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["run", "--offline", "--quiet"]).current_dir(&folder);
        let output = cargo.env("CARGO_TARGET_DIR", folder.with_file_name("rust-target")).output().unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{edition}: {words}");
        assert_eq!((words.as_str(), output.stdout.as_slice()), ("", &b"true\n"[..]), "{edition}");
    }
    let run = fw(&folder, "gen robot.proto --lang c --standalone -o out");
    assert_eq!((run.code, run.err.as_str()), (2, "fw: --standalone applies to Rust; --lang does not include rust\n"));
}
