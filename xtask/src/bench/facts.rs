//! What a table of figures is worth nothing without: when, where, with what and against what they were measured.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::process::quiet;

/// One paragraph for `docs/benchmarks.md`, under the table of a bench with these peers (crates of the workspace `benches/`
/// unless they carry a version of their own).
pub(super) fn measured(root: &Path, command: &str, peers: &[&str]) -> String {
    let lock = fs::read_to_string(root.join("benches/Cargo.lock")).unwrap_or_default();
    let peers: Vec<String> = peers.iter().map(|peer| with_version(peer, &lock)).collect();
    let says = |program: &str, argument: &str| quiet(Command::new(program).arg(argument)).ok();
    let date = says("date", "+%F").unwrap_or_else(|| "at an unknown time".to_owned());
    let rustc = says("rustc", "--version").map_or_else(|| "an unknown rustc".to_owned(), |line| first_two(&line));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let built: Vec<String> = [rustc].into_iter().chain(peers).collect();
    format!(
        "Measured {date} by `{command}` on {}, {cores} cores, {}; {}.",
        processor(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
        system(),
        built.join(", ")
    )
}

/// `name version`, from a lock file where the name says none.
fn with_version(peer: &str, lock: &str) -> String {
    let entry = format!("name = \"{peer}\"\nversion = \"");
    let version = lock.split_once(&entry).and_then(|(_, rest)| rest.split_once('"'));
    version.map_or_else(|| peer.replace("==", " "), |(version, _)| format!("{peer} {version}"))
}

/// The processor, with the numbers that tell generations apart where a virtual machine hides its name.
fn processor(info: &str) -> String {
    let field = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    let name = field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    match (field("cpu family"), field("model")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name,
    }
}

fn system() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // Numbers only: what is behind them names whoever built the kernel.
    let release = release.trim().split('-').next().unwrap_or_default();
    format!("{} {release}", std::env::consts::OS).trim().to_owned()
}

/// `rustc 1.95.0 (59807616e 2026-04-14)` without what is in brackets.
fn first_two(line: &str) -> String {
    line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_from_the_lock_file() {
        let lock =
            "[[package]]\nname = \"ab\"\nversion = \"0.24.0\"\n\n[[package]]\nname = \"b\"\nversion = \"1.2.3\"\n";
        assert_eq!(with_version("b", lock), "b 1.2.3");
        assert_eq!(with_version("struct-frame==0.10.9", lock), "struct-frame 0.10.9");
    }

    #[test]
    fn processors_by_name_and_number() {
        let info = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n";
        assert_eq!(processor(info), "AMD EPYC (family 25, model 17)");
        assert_eq!(processor(""), std::env::consts::ARCH);
    }

    #[test]
    fn every_peer_of_a_bench_has_a_version() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let line = measured(&root, "cargo xtask bench x", &["tensogram", "bintensors", "safetensors"]);
        assert!(line.ends_with("tensogram 0.24.0, bintensors 0.1.1, safetensors 0.8.0."), "{line}");
    }
}
