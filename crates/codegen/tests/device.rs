//! Generated C on a microcontroller, beside the code that the reference package generates for the same schema: bytes of code
//! for a Cortex-M4 with `-Os`, and instructions per frame in QEMU.

mod common;

use common::{generated, has, run, skip};
use fw_codegen::{Lang, write};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const CPU: [&str; 6] =
    ["-Os", "-mcpu=cortex-m4", "-mthumb", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"];

/// A firmware that talks one profile says so, and has no use for names.
const LEAN: [&str; 2] = ["-DSF_ONLY_FRAMING=SF_PAYLOAD_EXTENDED", "-DSF_NO_NAMES"];

/// Code and constants of a sender, a receiver and both, and how much of the reference's that may be.
#[test]
fn code_is_small() {
    let Some(device) = Device::new() else { return };
    let empty = device.size("ours", &[]);
    let rows: [(&str, &[&str], &[&str], f64); 7] = [
        ("sends, any profile", &["-DSENDS"], &["-DSF_SEND_ONLY"], 1.0),
        ("sends", &["-DSENDS"], &["-DSF_SEND_ONLY", LEAN[0], LEAN[1]], 1.0),
        ("receives", &["-DRECEIVES"], &["-DSF_RECEIVE_ONLY", LEAN[0], LEAN[1]], RECEIVES),
        ("both", &["-DSENDS", "-DRECEIVES"], &LEAN, RECEIVES),
        ("receives, no search", &["-DRECEIVES"], &["-DSF_NO_SEARCH", LEAN[0], LEAN[1]], 1.0),
        ("both, no search", &["-DSENDS", "-DRECEIVES"], &["-DSF_NO_SEARCH", LEAN[0], LEAN[1]], 1.0),
        // The aim is 1.2 here too.
        ("receives, any profile", &["-DRECEIVES"], &[], 1.7),
    ];
    let mut failures = Vec::new();
    for (what, program, switches, bound) in rows {
        let ours = device.size("ours", &[program, switches].concat()) - empty;
        let theirs = device.size("theirs", program) - empty;
        let ratio = ours as f64 / theirs as f64;
        println!("{what:24} {ours:5} of {theirs:5} bytes: {ratio:.2}, at most {bound}");
        if ratio > bound {
            failures.push(format!("{what}: {ours} bytes, the reference {theirs}: {ratio:.2}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// What the search inside failed frames, which the reference does not have, may cost. The aim is 1.2.
const RECEIVES: f64 = 1.35;

/// Instructions for a frame in one piece.
const PARSE: f64 = 1.1;

/// Instructions per frame: written, parsed in one piece, and read byte by byte.
#[test]
fn frames_take_few_instructions() {
    let Some(device) = Device::new() else { return };
    if !has("qemu-system-arm") {
        return skip("instructions per frame on a Cortex-M4: no qemu-system-arm");
    }
    let (ours, theirs) = (device.ticks("ours", &LEAN), device.ticks("theirs", &[]));
    let mut failures = Vec::new();
    // The aim is 0.9 for each; reading does not reach it yet. Ours also counts, and keeps what its search needs.
    for (what, bound) in [("write", 0.9), ("parse", PARSE), ("read", 1.15)] {
        let ratio = ours[what] as f64 / theirs[what] as f64;
        println!("{what:6} {} of {} ticks: {ratio:.2}, at most {bound}", ours[what], theirs[what]);
        if ratio > bound {
            failures.push(format!("{what}: {ratio:.2}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

struct Device {
    folder: tempfile::TempDir,
    sources: PathBuf,
}

impl Device {
    /// Both sides' code for one schema; `None` when this machine lacks something.
    fn new() -> Option<Self> {
        let Some(python) = std::env::var_os("FW_PYTHON") else {
            skip("code size on a Cortex-M4: FW_PYTHON is not set");
            return None;
        };
        if !has("arm-none-eabi-gcc") {
            skip("code size on a Cortex-M4: no arm-none-eabi-gcc");
            return None;
        }
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device");
        let folder = tempfile::tempdir().unwrap();
        let schema = sources.join("drone.proto");
        write(&folder.path().join("ours"), &generated(&schema, Lang::C)).unwrap();
        let mut reference = Command::new(python);
        run(reference.current_dir(folder.path()).args(["-m", "struct_frame", "--force", "--build_c"]).arg(&schema));
        std::fs::rename(folder.path().join("generated/c"), folder.path().join("theirs")).unwrap();
        Some(Self { folder, sources })
    }

    fn gcc(&self, side: &str, switches: &[&str]) -> Command {
        let code = self.folder.path().join(side);
        let mut gcc = Command::new("arm-none-eabi-gcc");
        gcc.args(CPU).args(switches).arg("-I").arg(&code).arg("-I").arg(&self.sources);
        gcc.arg(self.sources.join(format!("{side}.c")));
        let mut files: Vec<PathBuf> = std::fs::read_dir(&code).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "c"));
        files.sort();
        gcc.args(files);
        gcc
    }

    /// Bytes of code and constants.
    fn size(&self, side: &str, switches: &[&str]) -> u64 {
        let program = self.folder.path().join("program.elf");
        let mut gcc = self.gcc(side, switches);
        gcc.arg(self.sources.join("stubs.c")).args(["-nostdlib", "-Wl,-e,main", "-w"]);
        run(gcc.arg("-lgcc").arg("-o").arg(&program));
        let listed = run(Command::new("arm-none-eabi-size").arg("-A").arg(&program));
        let sections = listed.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next()?;
            [".text", ".rodata", ".data"].contains(&name).then(|| words.next()?.parse::<u64>().ok()).flatten()
        });
        sections.sum()
    }

    /// Ticks by name, as the program prints them.
    fn ticks(&self, side: &str, switches: &[&str]) -> BTreeMap<String, u64> {
        let program = self.folder.path().join("measured.elf");
        let mut gcc = self.gcc(side, switches);
        gcc.args(["-DMEASURED", "-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs", "-w"]);
        gcc.arg(self.sources.join("board.c")).arg("-T").arg(self.sources.join("board.ld"));
        run(gcc.arg("-o").arg(&program));
        let mut qemu = Command::new("qemu-system-arm");
        qemu.args(["-M", "mps2-an386", "-icount", "shift=0", "-nographic", "-monitor", "none", "-serial", "none"]);
        qemu.args(["-semihosting-config", "enable=on,target=native", "-kernel"]).arg(&program);
        let output = qemu.output().unwrap();
        // Semihosting writes to standard error.
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(text.contains("sound"), "{side}: {text}");
        let number =
            |line: &str| line.split_once(' ').and_then(|(name, ticks)| Some((name.to_owned(), ticks.parse().ok()?)));
        text.lines().filter_map(number).collect()
    }
}
