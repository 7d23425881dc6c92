//! NumPy, safetensors and Tensogram as black boxes. Runs when `FW_PYTHON` names a Python interpreter that has them; says loudly
//! that it was skipped otherwise.

use fw_convert::{ConvertOptions, DiffOptions, Missing, convert, diff, open};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files of the references are read, converted every way and read by the references again.
#[test]
fn there_and_back_through_the_references() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: String| folder.path().join(name);
    let count = 40;
    run(&python, &["make", folder.path().to_str().unwrap(), &count.to_string()]);
    for number in 0..count {
        let options = ConvertOptions::new().with_missing(Missing::Skip);
        for (from, to) in [
            ("npz", "npz"),
            ("npz", "bt"),
            ("npz", "safetensors"),
            ("deflated.npz", "bt"),
            ("safetensors", "safetensors"),
            ("safetensors", "bt"),
            ("safetensors", "npz"),
            ("npz", "tgm"),
            ("safetensors", "tgm"),
            ("tgm", "npz"),
        ] {
            let (input, output) = (at(format!("{number}.{from}")), at(format!("{number}.{from}.ours.{to}")));
            convert(&input, &output, &options).unwrap();
            let found = diff(&*open(&input).unwrap(), &*open(&output).unwrap(), &DiffOptions::new()).unwrap();
            assert!(found.is_equal(), "{number} {from} {to}: {found:?}");
        }
        // One array of text, objects, dates or records among them: left out on request, named otherwise.
        let (mixed, left) = (at(format!("{number}.mixed.npz")), at(format!("{number}.mixed.ours.npz")));
        assert_eq!(convert(&mixed, &left, &ConvertOptions::new()).unwrap_err().code(), "not_a_tensor");
        assert_eq!(open(&mixed).unwrap().unreadable().len(), 4);
        let done = convert(&mixed, &left, &options).unwrap();
        assert_eq!(done.losses.len(), 4, "{:?}", done.losses);
        // The reference's own bytes, reproduced.
        let (theirs, ours) =
            (at(format!("{number}.safetensors")), at(format!("{number}.safetensors.ours.safetensors")));
        assert!(std::fs::read(theirs).unwrap() == std::fs::read(ours).unwrap(), "{number}");
        for place in 0..2 {
            let (theirs, ours) = (at(format!("{number}.{place}.npy")), at(format!("{number}.{place}.ours.npy")));
            convert(&theirs, &ours, &options).unwrap();
        }
    }
    assert_eq!(run(&python, &["check", folder.path().to_str().unwrap(), &count.to_string()]).trim(), "same");
}

fn python() -> Option<PathBuf> {
    let wanted = "an interpreter with numpy, safetensors, bintensors and tensogram";
    let Some(found) = std::env::var_os("FW_PYTHON").map(PathBuf::from) else {
        return skip(&format!("FW_PYTHON does not name {wanted}"));
    };
    let imports = Command::new(&found).args(["-c", "import numpy, safetensors, bintensors, tensogram"]).output();
    if imports.is_ok_and(|output| output.status.success()) {
        return Some(found);
    }
    skip(&format!("{} is not {wanted}", found.display()))
}

/// Says so on the terminal, and in the file that the project's test command gathers skips from.
fn skip(why: &str) -> Option<PathBuf> {
    let line = format!("SKIPPED: {}: {why}", module_path!());
    eprintln!("{line}");
    if let Some(log) = std::env::var_os("FW_SKIPPED") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
        std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).unwrap();
    }
    None
}

fn run(python: &Path, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/reference.py");
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
