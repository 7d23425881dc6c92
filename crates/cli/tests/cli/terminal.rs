//! What people see on a terminal: width, colour and progress, by way of a pseudo-terminal.

use super::{fine, fw, fw_with};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs `fw` on a terminal of so many columns, and returns what it shows. `feed` writes its standard input.
fn on_terminal(
    folder: &Path,
    words: &[&str],
    columns: u16,
    environment: &[(&str, &str)],
    feed: impl FnOnce(&mut std::process::ChildStdin),
) -> String {
    on_terminal_into(folder, words, columns, environment, None, feed)
}

/// The same with the results elsewhere.
fn on_terminal_into(
    folder: &Path,
    words: &[&str],
    columns: u16,
    environment: &[(&str, &str)],
    output: Option<Stdio>,
    feed: impl FnOnce(&mut std::process::ChildStdin),
) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("text");
    let slave = || OpenOptions::new().read(true).write(true).open(&name).expect("the other end");
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(slave(), size).expect("a size");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fw"));
    command.args(words).current_dir(folder).env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("COLUMNS");
    command.envs(environment.iter().copied()).stdin(Stdio::piped()).stderr(slave());
    command.stdout(output.unwrap_or_else(|| slave().into()));
    let mut child = command.spawn().expect("fw runs");
    drop(command);
    let reader = std::thread::spawn(move || {
        let (mut shown, mut terminal) = (Vec::new(), File::from(master));
        let mut buffer = [0; 4096];
        // When the last writer has closed its end, Linux answers with an error.
        while let Ok(len @ 1..) = terminal.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..len]);
        }
        shown
    });
    feed(child.stdin.as_mut().expect("piped"));
    drop(child.stdin.take());
    child.wait().expect("fw ends");
    String::from_utf8(reader.join().expect("read")).expect("text").replace("\r\n", "\n")
}

/// The same without input.
fn shown(folder: &Path, line: &str, columns: u16, environment: &[(&str, &str)]) -> String {
    on_terminal(folder, &line.split(' ').collect::<Vec<_>>(), columns, environment, |_| {})
}

/// A file with a name that no terminal of 80 columns has room for.
fn long_names() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let data = [0; 8];
    let tensors = [format!("{LONG}.weight"), format!("{LONG}.bias"), "short".to_owned()];
    let view =
        || framewright::bintensors::TensorView::new(framewright::bintensors::Dtype::F32, [2], &data).expect("ok");
    let tensors = tensors.iter().map(|name| (name.as_str(), view()));
    let path = folder.path().join("long.bt");
    framewright::bintensors::serialize_to_file(tensors, &None, &path).expect("written");
    folder
}

const LONG: &str = "model.language_model.layers.11.self_attention.query_key_value.projection_with_a_long_name";

#[test]
fn tables_fit_the_terminal() {
    let folder = long_names();
    let narrow = shown(folder.path(), "ls long.bt", 80, &[("NO_COLOR", "1")]);
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    // Both ends tell names apart.
    assert!(narrow.contains("model.lang") && narrow.contains("….") || narrow.contains('…'), "{narrow}");
    for end in ["_name.weight ", "name.bias "] {
        assert!(narrow.contains(end), "{narrow}");
    }
    let wide = shown(folder.path(), "ls long.bt", 200, &[("NO_COLOR", "1")]);
    assert!(wide.contains(&format!("{LONG}.weight")) && wide.lines().all(|line| line.chars().count() <= 200), "{wide}");
    assert!(!wide.contains('…'), "{wide}");
    // The variable wins over the terminal, as in other tools, and counts for pipes.
    let told = shown(folder.path(), "ls long.bt", 200, &[("NO_COLOR", "1"), ("COLUMNS", "80")]);
    assert_eq!(told, narrow);
    assert_eq!(fw_with(folder.path(), "ls long.bt", &[("COLUMNS", "80")]).text(), narrow);
    // What a program reads is whole.
    assert!(fine(folder.path(), "ls long.bt").text().contains(&format!("{LONG}.weight")));
    assert!(fw_with(folder.path(), "ls long.bt --json", &[("COLUMNS", "80")]).text().contains(LONG));
}

#[test]
fn colour_is_for_terminals() {
    let folder = long_names();
    let is_coloured = |text: &str| text.contains("\x1b[");
    let at = folder.path();
    assert!(is_coloured(&shown(at, "ls long.bt", 80, &[])));
    assert!(is_coloured(&shown(at, "ls absent.bt", 80, &[])), "errors too");
    assert!(is_coloured(&shown(at, "ls long.bt --color always", 80, &[("NO_COLOR", "1")])));
    for (line, environment) in [
        ("ls long.bt", &[("NO_COLOR", "1")][..]),
        ("ls absent.bt", &[("NO_COLOR", "1")]),
        ("ls long.bt", &[("TERM", "dumb")]),
        ("ls long.bt --color never", &[]),
        ("--color=never ls absent.bt", &[]),
        ("ls long.bt --json", &[]),
        ("frobnicate --color never", &[]),
        ("frobnicate", &[("NO_COLOR", "1")]),
    ] {
        let text = shown(at, line, 80, environment);
        assert!(!is_coloured(&text) && !text.is_empty(), "fw {line}: {text:?}");
    }
    assert!(!is_coloured(fine(at, "ls long.bt").text()));
    assert!(is_coloured(fine(at, "ls long.bt --color=always").text()));
    assert!(!is_coloured(&fw(at, "ls absent.bt").err));
}

/// Input that takes its time shows how much of it there was; anywhere but on a terminal nothing is shown.
#[test]
fn progress_is_shown_after_half_a_second() {
    let folder = long_names();
    let bytes = std::fs::read(folder.path().join("long.bt")).expect("it is there");
    let slowly = |pause: u64| {
        let bytes = bytes.clone();
        move |input: &mut std::process::ChildStdin| {
            let (first, rest) = bytes.split_at(100);
            input.write_all(first).expect("written");
            std::thread::sleep(Duration::from_millis(pause));
            for piece in rest.chunks(64) {
                input.write_all(piece).expect("written");
                std::thread::sleep(Duration::from_millis(pause / 8));
            }
        }
    };
    let words = ["--color", "never", "info", "-"];
    let slow = on_terminal(folder.path(), &words, 120, &[], slowly(900));
    assert!(slow.contains(" B/s") && slow.contains("standard input"), "{slow:?}");
    assert!(slow.contains("BinTensors"), "{slow:?}");
    let quick = on_terminal(folder.path(), &words, 120, &[], slowly(0));
    assert!(!quick.contains("B/s") && quick.contains("BinTensors"), "{quick:?}");
    for silent in ["--quiet", "--json"] {
        let words = ["info", "-", silent];
        let text = on_terminal(folder.path(), &words, 120, &[], slowly(900));
        assert!(!text.contains("B/s") && text.contains("bintensors") | text.contains("BinTensors"), "{text:?}");
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_fw"))
        .args(["info", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("fw runs");
    slowly(900)(child.stdin.as_mut().expect("piped"));
    let output = child.wait_with_output().expect("fw ends");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// Work that takes its time shows how far it is, in every command that decodes or reads everything, and only on a terminal.
#[test]
fn long_work_shows_progress() {
    use framewright::tensogram::{MessageBuilder, Pipe};
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    // Small files that are much work: zeros compress well, noise at a high level does not compress fast.
    let zeros = vec![0.0f32; 12 << 20];
    let zeros =
        MessageBuilder::new().tensor(&[12 << 20], &zeros).expect("ok").pipeline(Pipe::zstd(1)).encode().expect("ok");
    let mut state = 1u32;
    let noise: Vec<u8> = (0..1 << 19)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8 & 0x3f
        })
        .collect();
    let noise = MessageBuilder::new().tensor(&[1 << 19], &noise).expect("ok").encode().expect("ok");
    for (line, file, message, count) in [
        ("validate zeros.tgm --mode full --color never", "zeros.tgm", &zeros, 64),
        ("stats zeros.tgm --threads 1 --color never", "zeros.tgm", &zeros, 64),
        ("diff zeros.tgm zeros.tgm --color never", "zeros.tgm", &zeros, 64),
        ("recode noise.tgm --dry-run --zstd 19 --threads 1 --color never", "noise.tgm", &noise, 8),
    ] {
        // A fast machine gets more work, until the job takes the half second after which progress is shown.
        let text = [1, 2, 4, 8, 16].iter().find_map(|times| {
            std::fs::write(at.join(file), message.repeat(count * times)).expect("written");
            let text = shown(at, line, 120, &[]);
            (text.contains("B/s") && text.contains(" left")).then_some(text)
        });
        let text = text.unwrap_or_else(|| panic!("fw {line}: no progress, however long it takes"));
        // The line is gone in the end, and the result is there.
        let after = text.rsplit("\u{1b}[2K").next().expect("the end");
        assert!(!after.contains("B/s"), "fw {line}: {text:?}");
        let result = fw(at, line);
        assert!(text.contains(result.text().lines().last().expect("a result")), "fw {line}: {text:?}");
        assert_eq!(result.err, "", "fw {line}: only on a terminal");
    }
    let text = shown(at, "stats zeros.tgm --threads 1 --quiet", 120, &[]);
    assert!(!text.contains("B/s"), "{text:?}");
    // What goes into a file does not mix with what is on the terminal; text on the terminal would.
    let words = ["cat", "zeros.tgm", "--text", "--color", "never"];
    let file = || File::create(at.join("zeros.txt")).expect("made").into();
    let text = on_terminal_into(at, &words, 120, &[], Some(file()), |_| {});
    assert!(text.contains("B/s") && text.contains("zeros.tgm"), "{text:?}");
    assert!(std::fs::metadata(at.join("zeros.txt")).expect("written").len() > 20 << 20);
    let words = ["cat", "zeros.tgm", "--text", "--slice", ":100", "--color", "never"];
    assert!(!on_terminal(at, &words, 120, &[], |_| {}).contains("B/s"));
}

/// What is left on the screen when every line that was taken away is gone.
fn left(text: &str) -> String {
    let mut screen = String::new();
    for (number, part) in text.split("\r\u{1b}[2K").enumerate() {
        if number > 0 {
            screen.truncate(screen.rfind('\n').map_or(0, |end| end + 1));
        }
        screen.push_str(part);
    }
    screen
}

/// A command that waits for its input says what it waits for; what it prints then is not mixed with that.
#[test]
fn waiting_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let message = std::fs::read(super::vectors("tensogram").join("f32_hash.tgm")).expect("it is there");
    std::fs::write(at.join("f.tgm"), &message).expect("written");
    for line in [
        "info -",
        "ls - -p shape",
        "get - -p shape",
        "dump -",
        "dump - --frames",
        "validate -",
        "stats -",
        "plot -",
        "diff - f.tgm",
        "convert - o.npz",
        "recover - -o o.tgm",
        "set - set.tgm -s a=1",
        "copy - copy.tgm",
        "merge - -o merge.tgm",
        "split - -o split.tgm",
        "reshuffle - -o reshuffle.tgm",
        "recode - recode.tgm --compress lz4",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--color", "never"]).collect();
        let text = on_terminal(at, &words, 100, &[("COLUMNS", "100")], |input| {
            std::thread::sleep(Duration::from_millis(900));
            input.write_all(&message).expect("written");
        });
        let (waiting, result) = text.split_once("\u{1b}[2K").unwrap_or_else(|| panic!("fw {line}: {text:?}"));
        assert!(waiting.contains("s  standard input"), "fw {line}: {text:?}");
        let result = left(result);
        assert!(!result.contains("s  standard input") && result.ends_with('\n'), "fw {line}: {text:?}");
    }
}

/// Runs `fw` with a terminal of its own that answers what it is; `None` where `setsid` is missing. What it shows, as bytes.
fn on_answering_terminal(folder: &Path, line: &str, answer: &'static [u8]) -> Option<Vec<u8>> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("text");
    // Without `NOCTTY` the terminal could become that of this test; `setsid --ctty` gives it to `fw`.
    let slave = || {
        let mut options = OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NOCTTY.bits() as i32);
        options.read(true).write(true).open(&name).expect("the other end")
    };
    tcsetwinsize(slave(), Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).expect("a size");
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_fw")]).args(line.split(' ')).current_dir(folder);
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("COLUMNS").env_remove("LINES");
    command.stdin(slave()).stdout(slave()).stderr(slave());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            super::skipped("SKIPPED: cli::terminal: sixels: setsid is missing");
            return None;
        }
        Err(error) => panic!("setsid: {error}"),
    };
    drop(command);
    let reader = std::thread::spawn(move || {
        const QUESTION: &[u8] = b"\x1b[c";
        let (mut shown, mut terminal, mut buffer) = (Vec::new(), File::from(master), [0; 4096]);
        let mut is_answered = false;
        while let Ok(len @ 1..) = terminal.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..len]);
            if !is_answered && shown.windows(QUESTION.len()).any(|bytes| bytes == QUESTION) {
                is_answered = true;
                terminal.write_all(answer).expect("answered");
            }
        }
        assert!(is_answered, "fw asks the terminal what it is");
        shown
    });
    assert!(child.wait().expect("fw ends").success());
    Some(reader.join().expect("read"))
}

/// Pictures are sixels where the terminal says that it draws them, and characters where it says that it does not, or nothing.
#[test]
fn terminals_are_asked_for_sixels() {
    let folder = tempfile::tempdir().expect("a folder");
    let values: Vec<f32> = (0..400).map(|at| (at % 20) as f32).collect();
    let message = framewright::tensogram::MessageBuilder::new().tensor(&[20, 20], &values).expect("ok");
    std::fs::write(folder.path().join("f.tgm"), message.encode().expect("ok")).expect("written");
    let is_sixel = |shown: &[u8]| shown.windows(2).any(|bytes| bytes == b"\x1bP");
    for (answer, expected) in
        [(&b"\x1b[?62;4;22c"[..], true), (b"\x1b[?62;4c", true), (b"\x1b[?62;22c", false), (b"", false)]
    {
        let Some(shown) = on_answering_terminal(folder.path(), "plot f.tgm", answer) else { return };
        assert_eq!(is_sixel(&shown), expected, "{:?}", String::from_utf8_lossy(answer));
        let text = String::from_utf8_lossy(&shown);
        assert!(expected || text.contains('▀') || text.contains('▄'), "{text:?}");
        // The answer is read, not shown.
        assert!(!text.contains("[?62"), "{:?}", String::from_utf8_lossy(answer));
    }
}

/// What is recorded is told while it is, in one row of the terminal; and the live view is drawn again in its place.
#[cfg(feature = "link")]
#[test]
fn recordings_show_how_they_go() {
    let folder = super::links::folder();
    let (bytes, _) = super::links::frames(folder.path(), 200);
    let feed = |pipe: &mut std::process::ChildStdin| {
        for part in bytes.chunks(200) {
            pipe.write_all(part).expect("written");
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    for (columns, whole) in [(120, true), (30, false)] {
        let line = format!("record - -s s.sf -p network -o flight{columns}");
        let words: Vec<&str> = line.split(' ').collect();
        let shown = on_terminal(folder.path(), &words, columns, &[], feed);
        let rows: Vec<&str> = shown.split(['\r', '\n']).filter(|row| row.starts_with("recording -  ")).collect();
        assert!(!rows.is_empty(), "{shown:?}");
        for row in rows {
            let row = row.trim_end_matches("\x1b[K");
            assert!(row.chars().count() < columns.into(), "{row}");
            assert_eq!(row.contains(" frames  0 gaps") && row.contains("/s"), whole, "{row}");
        }
        assert!(shown.ends_with(" s\n") && shown.contains("wrote flight"), "{shown:?}");
    }
    let words = ["info", "-", "-s", "s.sf", "-p", "network", "--live", "--every", "200ms"];
    let shown = on_terminal(folder.path(), &words, 120, &[], feed);
    assert!(shown.matches("\x1b[H").count() >= 3, "{shown:?}");
    let last = shown.rsplit("\x1b[H").next().expect("a view");
    assert!(last.contains("  200 frames  0 gaps (0 missing)  0 bad checksums") && last.contains("Ping"), "{last:?}");
}
