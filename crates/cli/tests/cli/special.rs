//! Files that are no files: missing, empty, unreadable, directories, devices, pipes.

use super::{fine, fw, vectors};
use std::path::Path;
use std::process::{Command, Stdio};

const COMMANDS: &[&str] = &["info", "ls", "dump", "validate", "cat"];

#[test]
fn what_is_not_there_is_usage() {
    let folder = tempfile::tempdir().expect("a folder");
    for command in COMMANDS {
        let run = fw(folder.path(), &format!("{command} absent.tgm"));
        assert_eq!((run.code, run.text()), (2, ""), "fw {command}");
        assert!(run.err.contains("absent.tgm: No such file"), "fw {command}: {}", run.err);
    }
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_usage() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("secret.tgm");
    std::fs::write(&path, b"x").expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("set");
    if std::fs::File::open(&path).is_ok() {
        super::skipped("special::what_may_not_be_read_is_usage: this user may read everything");
        return;
    }
    for command in COMMANDS {
        let run = fw(folder.path(), &format!("{command} secret.tgm"));
        assert_eq!((run.code, run.text()), (2, ""), "fw {command}");
        assert!(run.err.contains("secret.tgm: Permission denied"), "fw {command}: {}", run.err);
    }
}

#[cfg(unix)]
#[test]
fn devices_are_refused() {
    for command in COMMANDS {
        // Reading this one to its end would never end.
        let run = fw(Path::new("/"), &format!("{command} /dev/zero"));
        assert_eq!((run.code, run.text()), (2, ""), "fw {command}");
        assert!(run.err.contains("/dev/zero: is a device, not a file"), "fw {command}: {}", run.err);
    }
}

/// `<(command)` and named pipes are read once, to their end.
#[cfg(unix)]
#[test]
fn pipes_with_names() {
    let folder = vectors("tensogram");
    for command in ["info", "dump", "validate", "cat", "cat --npy", "ls"] {
        let file = fine(&folder, &format!("{command} f32_hash.tgm"));
        let script = format!("{} {command} <(cat f32_hash.tgm)", env!("CARGO_BIN_EXE_fw"));
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("bash runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "fw {command}");
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().map(|line| line.replace("/dev/fd/63", "f32_hash.tgm") + "\n").collect::<String>()
        };
        assert_eq!(text(&output.stdout), text(&file.out), "fw {command}");
    }
    let script = format!("{} diff <(cat f32_hash.tgm) f32_hash.tgm", env!("CARGO_BIN_EXE_fw"));
    let status = Command::new("bash").args(["-c", &script]).current_dir(&folder).stdout(Stdio::null()).status();
    assert_eq!(status.expect("bash runs").code(), Some(0));
}

/// Commands that read as it comes take devices and pipes, and do not wait for the end.
#[cfg(unix)]
#[test]
fn frames_come_from_devices_and_pipes() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(fw(folder.path(), "tour").code, 0);
    let whole = fine(folder.path(), "decode fw-tour/flight.bin -s fw-tour/robot.sf -p network");
    let decode = format!("{} decode", env!("CARGO_BIN_EXE_fw"));
    let script = format!("{decode} <(cat fw-tour/flight.bin) -s fw-tour/robot.sf -p network");
    let output = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().expect("bash runs");
    assert_eq!((output.status.code(), output.stdout == whole.out), (Some(0), true));
    let run = fw(folder.path(), "decode /dev/null -s fw-tour/robot.sf -p network");
    assert_eq!(run.text(), "");
    assert!(!run.err.contains("is a device"), "{}", run.err);
}
