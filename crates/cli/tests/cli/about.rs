//! Commands about `fw` itself: doctor, completions, manual pages, help.

use super::{fine, fw, fw_with};
use std::process::{Command, Stdio};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The keys are those of the reference's `doctor --json`.
#[test]
fn the_doctor_finds_this_build_healthy() {
    let at = folder();
    let text = fine(at.path(), "doctor");
    for part in ["Build\n", "wire format   3\n", "\nFeatures\n", "\nSelf-test\n", "\nStatus: HEALTHY\n"] {
        assert!(text.text().contains(part), "{part:?} in {}", text.text());
    }
    assert!(!text.text().contains("FAILED"), "{}", text.text());
    let json = fine(at.path(), "doctor --json").json();
    assert_eq!((&json["command"], &json["ok"]), (&"doctor".into(), &true.into()));
    assert_eq!(json["build"]["wire_version"], 3);
    for key in ["version", "target", "profile"] {
        assert!(json["build"][key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
    let names: Vec<&str> =
        json["features"].as_array().expect("rows").iter().filter_map(|row| row["name"].as_str()).collect();
    let reference =
        ["szip", "szip-pure", "zstd", "zstd-pure", "lz4", "blosc2", "zfp", "sz3", "threads", "remote", "mmap", "async"];
    assert_eq!(names, reference);
    let tests = json["self_test"].as_array().expect("rows");
    assert!(tests.len() >= 10 && tests.iter().all(|test| test["outcome"] == "ok"), "{tests:?}");
}

#[test]
fn completions_for_every_shell() {
    let at = folder();
    for (shell, part) in [
        ("bash", "_fw()"),
        ("zsh", "#compdef fw"),
        ("fish", "complete -c fw"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = fine(at.path(), &format!("completions {shell}"));
        assert!(script.text().contains(part), "{shell}");
        for command in ["info", "convert", "validate", "doctor"] {
            assert!(script.text().contains(command), "{shell}: {command}");
        }
        let json = fine(at.path(), &format!("completions {shell} --json")).json();
        assert_eq!((&json["shell"], json["script"].as_str()), (&shell.into(), Some(script.text())));
    }
    // The script is one that bash runs.
    let script = fine(at.path(), "completions bash");
    std::fs::write(at.path().join("fw.bash"), &script.out).expect("written");
    let words = "source fw.bash && COMP_WORDS=(fw val) COMP_CWORD=1 && _fw fw val fw && echo ${COMPREPLY[@]}";
    let output = Command::new("bash").args(["-c", words]).current_dir(at.path()).stdin(Stdio::null()).output();
    let output = output.expect("bash runs");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "validate",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(fw(at.path(), "completions tcsh").code, 2);
}

#[test]
fn manual_pages_for_every_command() {
    let at = folder();
    let page = fine(at.path(), "man");
    assert!(page.text().contains(".TH fw 1"), "{}", &page.text()[..200]);
    assert!(page.text().contains("FW_THREADS") && page.text().contains("NO_COLOR"));
    assert!(fine(at.path(), "man schema check").text().contains("fw\\-schema\\-check"));
    let run = fw(at.path(), "man frobnicate");
    assert_eq!((run.code, run.text()), (2, ""));
    assert!(run.err.contains("there is no command `frobnicate`"), "{}", run.err);
    assert!(
        fw(at.path(), "man valdate").err.ends_with("\nhint: did you mean validate? fw --help lists the commands\n")
    );
    let run = fw(at.path(), "man schema chek");
    assert!(run.err.contains("`schema chek`") && run.err.contains("did you mean check?"), "{}", run.err);
    let json = fine(at.path(), "man --output man1 --json").json();
    let files = json["files"].as_array().expect("a list").len();
    assert_eq!(std::fs::read_dir(at.path().join("man1")).expect("written").count(), files);
    for name in ["fw.1", "fw-ls.1", "fw-schema-check.1", "fw-doctor.1"] {
        assert!(at.path().join("man1").join(name).exists(), "{name}");
    }
}

/// Help fits a terminal of 80 columns.
#[test]
fn help_fits() {
    let at = folder();
    let help = fw_with(at.path(), "--help", &[("COLUMNS", "80")]);
    let names: Vec<String> = help
        .text()
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            line.strip_prefix("  ")?.split(' ').next().filter(|name| !["", "help"].contains(name)).map(str::to_owned)
        })
        .collect();
    assert!(names.len() > 12, "{names:?}");
    for name in [String::new()].iter().chain(&names) {
        let help = fw_with(at.path(), &format!("{name} --help"), &[("COLUMNS", "80")]);
        assert_eq!(help.code, 0, "{name}");
        let options = help.text().split("\nExample").next().expect("text");
        // Commands that only hold others leave it to them.
        assert!(["", "schema"].contains(&name.as_str()) || help.text().contains("--json"), "fw {name} --json");
        let long = options.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None, "fw {name} --help");
    }
}

/// A command that is almost one is pointed out.
#[test]
fn did_you_mean() {
    let at = folder();
    let run = fw(at.path(), "validte x.tgm");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("'validate'"), "{}", run.err);
    // An option of other commands.
    for (line, tip) in [
        ("copy a.tgm -o b.tgm", "name the output after the input: 'fw copy FILE OUTPUT'"),
        ("recode a.tgm --output b.tgm --raw", "name the output after the input: 'fw recode FILE OUTPUT'"),
        ("stats a.tgm -t 2t", "select a tensor by its name with '--where name=NAME'"),
        ("cat a.tgm -o a.npy", "fw cat writes to standard output, which > FILE puts into a file"),
        ("cat a.tgm 2t", "choose a tensor by its name with '--tensor 2t'"),
        ("keys a.tgm", "'fw dump FILE' prints every key, 'fw get FILE -p KEYS' values"),
        ("export a.tgm", "'fw cat' writes one tensor"),
        ("get a.tgm", "'fw dump FILE' prints every key"),
        ("set a.tgm mars.step=12", "give each change its own --set (-s)"),
    ] {
        let run = fw(at.path(), line);
        assert!(run.code == 2 && run.err.contains(tip) && !run.err.contains("as a value"), "fw {line}: {}", run.err);
        let run = fw(at.path(), &format!("{line} --json"));
        assert!(run.code == 2 && run.json()["error"].to_string().contains(tip), "fw {line}: {}", run.text());
    }
    let run = fw(at.path(), "plot a.tgm a.png");
    assert!(run.code == 2 && run.err.contains("hint: name the picture with --output a.png"), "{}", run.err);
    let run = fw(at.path(), "validte x.tgm --json");
    assert!(run.json()["error"]["hint"].as_str().is_some_and(|hint| hint.contains("validate")), "{}", run.text());
}
