//! Generated C and C++ on a microcontroller, beside the code that the reference package generates for the same schema: bytes of
//! code for a Cortex-M4 with `-Os`, and instructions per frame in QEMU.

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
    let Some(device) = Device::new(Lang::C) else { return };
    let rows: [Size<'_>; 7] = [
        ("sends, any profile", &["-DSENDS"], &["-DSF_SEND_ONLY"], 1.0),
        ("sends", &["-DSENDS"], &["-DSF_SEND_ONLY", LEAN[0], LEAN[1]], 1.0),
        ("receives", &["-DRECEIVES"], &["-DSF_RECEIVE_ONLY", LEAN[0], LEAN[1]], RECEIVES),
        ("both", &["-DSENDS", "-DRECEIVES"], &LEAN, RECEIVES),
        ("receives, no search", &["-DRECEIVES"], &["-DSF_NO_SEARCH", LEAN[0], LEAN[1]], 1.0),
        ("both, no search", &["-DSENDS", "-DRECEIVES"], &["-DSF_NO_SEARCH", LEAN[0], LEAN[1]], 1.0),
        // Names of messages and every framing are in it, which the other rows leave out: decision 0341.
        ("receives, any profile", &["-DRECEIVES"], &[], 1.6),
    ];
    device.compare_sizes(&rows);
}

/// The same for C++, where values lie apart from their bytes; decision 0342 says what that costs.
#[test]
fn cpp_code_is_known() {
    let Some(device) = Device::new(Lang::Cpp) else { return };
    let [lean, names] = ["-DSTRUCTFRAME_ONLY_FRAMING=Extended", "-DSTRUCTFRAME_NO_NAMES"];
    let no_search = "-DSTRUCTFRAME_NO_SEARCH";
    device.compare_sizes(&[
        ("sends", &["-DSENDS"], &[lean, names], 2.1),
        ("receives", &["-DRECEIVES"], &[lean, names], 1.95),
        ("both", &["-DSENDS", "-DRECEIVES"], &[lean, names], 1.9),
        ("receives, no search", &["-DRECEIVES"], &[lean, names, no_search], 1.55),
        ("both, no search", &["-DSENDS", "-DRECEIVES"], &[lean, names, no_search], 1.55),
        ("receives, any profile", &["-DRECEIVES"], &[], 2.5),
    ]);
}

/// What the search inside failed frames, which the reference does not have, may cost.
const RECEIVES: f64 = 1.2;

/// Instructions of a frame, beside the reference's.
const INSTRUCTIONS: f64 = 0.9;

/// Instructions per frame: written, parsed in one piece, and read byte by byte.
#[test]
fn frames_take_few_instructions() {
    few_instructions(Lang::C, &LEAN);
}

#[test]
fn cpp_frames_take_few_instructions() {
    few_instructions(Lang::Cpp, &["-DSTRUCTFRAME_ONLY_FRAMING=Extended"]);
}

/// A header with all messages of a schema takes at most twice the time of the reference's (decision 0342).
#[test]
fn cpp_headers_compile_soon() {
    let Some(device) = Device::new(Lang::Cpp) else { return };
    if !has("g++") {
        return skip("compile time of generated C++: no g++");
    }
    let time = |side: &str| {
        let code = device.folder.path().join(side);
        let source = device.folder.path().join(format!("{side}.cpp"));
        let more = if side == "theirs" { "#include \"frame_profiles.hpp\"\n" } else { "" };
        std::fs::write(&source, format!("#include \"drone.structframe.hpp\"\n{more}")).unwrap();
        let one = || {
            let begin = std::time::Instant::now();
            run(Command::new("g++").args(["-std=c++20", "-fsyntax-only", "-I"]).arg(&code).arg(&source));
            begin.elapsed()
        };
        one()
    };
    // In turns, so that what else the machine does meets both.
    let times: Vec<_> = (0..21).map(|_| (time("ours"), time("theirs"))).collect();
    let ours = times.iter().map(|(ours, _)| *ours).min().unwrap_or_default();
    let theirs = times.iter().map(|(_, theirs)| *theirs).min().unwrap_or_default();
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("headers compile in {ours:.0?} and {theirs:.0?}: {ratio:.2}, at most {COMPILE_TIME}");
    assert!(ratio <= COMPILE_TIME, "{ratio:.2}");
}

/// Time of the compiler for a header, beside the reference's.
const COMPILE_TIME: f64 = 2.0;

fn few_instructions(lang: Lang, switches: &[&str]) {
    let Some(device) = Device::new(lang) else { return };
    if !has("qemu-system-arm") {
        return skip("instructions per frame on a Cortex-M4: no qemu-system-arm");
    }
    let (ours, theirs) = (device.ticks("ours", switches), device.ticks("theirs", &[]));
    let mut failures = Vec::new();
    for what in ["write", "parse", "read"] {
        let ratio = ours[what] as f64 / theirs[what] as f64;
        println!("{what:6} {} of {} ticks: {ratio:.2}, at most {INSTRUCTIONS}", ours[what], theirs[what]);
        if ratio > INSTRUCTIONS {
            failures.push(format!("{what}: {ratio:.2}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// A row of sizes: what it is, the switches of the program, those of our code, and how much of the reference's it may be.
type Size<'a> = (&'a str, &'a [&'a str], &'a [&'a str], f64);

struct Device {
    lang: Lang,
    folder: tempfile::TempDir,
    sources: PathBuf,
}

impl Device {
    /// Both sides' code for one schema; `None` when this machine lacks something.
    fn new(lang: Lang) -> Option<Self> {
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
        if lang == Lang::Cpp {
            let probe = folder.path().join("probe.cpp");
            std::fs::write(&probe, "#include <array>\n").unwrap();
            let mut gcc = Command::new("arm-none-eabi-gcc");
            if !gcc.arg("-fsyntax-only").arg(&probe).output().unwrap().status.success() {
                skip("C++ on a Cortex-M4: apt-get install libstdc++-arm-none-eabi-newlib");
                return None;
            }
        }
        let schema = sources.join("drone.proto");
        write(&folder.path().join("ours"), &generated(&schema, lang)).unwrap();
        let mut reference = Command::new(python);
        reference.current_dir(folder.path()).args(["-m", "struct_frame", "--force"]);
        run(reference.arg(format!("--build_{lang}")).arg(&schema));
        std::fs::rename(folder.path().join("generated").join(lang.name()), folder.path().join("theirs")).unwrap();
        Some(Self { lang, folder, sources })
    }

    fn compare_sizes(&self, rows: &[Size<'_>]) {
        let empty = self.size("ours", &[]);
        let mut failures = Vec::new();
        for (what, program, switches, bound) in rows {
            let ours = self.size("ours", &[*program, *switches].concat()) - empty;
            let theirs = self.size("theirs", program) - empty;
            let ratio = ours as f64 / theirs as f64;
            println!("{what:24} {ours:5} of {theirs:5} bytes: {ratio:.2}, at most {bound}");
            if ratio > *bound {
                failures.push(format!("{what}: {ours} bytes, the reference {theirs}: {ratio:.2}"));
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }

    fn gcc(&self, side: &str, switches: &[&str]) -> Command {
        let code = self.folder.path().join(side);
        let mut gcc = Command::new("arm-none-eabi-gcc");
        gcc.args(CPU).args(switches).arg("-I").arg(&code).arg("-I").arg(&self.sources);
        if self.lang == Lang::Cpp {
            gcc.args(["-std=c++20", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]);
        }
        gcc.arg(self.sources.join(format!("{side}.{}", self.lang)));
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
            [".text", ".rodata", ".data", ".init_array"]
                .contains(&name)
                .then(|| words.next()?.parse::<u64>().ok())
                .flatten()
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
