//! Links and recordings: `fw record`, `fw play`, `fw info --live`, and addresses in `fw decode`, `encode`, `info` and `convert`.

use super::{fine, fw};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SCHEMA: &str = "package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }";

const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.sf"), SCHEMA).expect("written");
    folder
}

/// So many frames, numbered, in the profile ipc, and the lines that `fw decode` prints for them.
pub(super) fn frames(folder: &Path, count: u16) -> (Vec<u8>, String) {
    let lines: String = (0..count)
        .map(|seq| {
            let sequence = seq % 256;
            format!("{{\"message\":\"Ping\",\"sequence\":{sequence},\"values\":{{\"seq\":{seq},\"ack\":false}}}}\n")
        })
        .collect();
    std::fs::write(folder.join("lines.jsonl"), lines).expect("written");
    fine(folder, "encode lines.jsonl -s s.sf -p network -o frames.bin --force");
    let text = fine(folder, "decode frames.bin -s s.sf").text().to_owned();
    (std::fs::read(folder.join("frames.bin")).expect("read"), text)
}

/// Starts `fw` with pipes for its output.
pub(super) fn start(folder: &Path, line: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_fw"))
        .args(line.split_whitespace())
        .env_remove("COLUMNS")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("fw runs")
}

/// Exit code, output and errors of a command, which ends in time.
pub(super) fn end(mut child: Child) -> (i32, String, String) {
    let deadline = Instant::now() + PATIENCE;
    // The pipes are drained meanwhile.
    let (mut out, mut err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let out = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text).unwrap_or_default()
    });
    let err = std::thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).map(|_| text).unwrap_or_default()
    });
    loop {
        if let Some(status) = child.try_wait().expect("a status") {
            let code = status.code().unwrap_or(-1);
            return (code, out.join().expect("read"), err.join().expect("read"));
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("fw does not end: {}", err.join().expect("read"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The address that a command says it waits at.
pub(super) fn waits_at(child: &mut Child) -> String {
    let mut line = String::new();
    let mut reader = BufReader::new(child.stderr.as_mut().expect("piped"));
    reader.read_line(&mut line).expect("a line");
    line.trim().rsplit(' ').next().expect("an address").to_owned()
}

pub(super) fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = listener.local_addr().expect("known").to_string();
    (listener, address)
}

/// Waits until files hold something.
pub(super) fn until(what: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !what() {
        assert!(Instant::now() < deadline, "it does not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(super) fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|found| found.len()).sum()
}

#[cfg(unix)]
pub(super) fn interrupt(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
}

#[test]
fn decode_from_tcp_as_data_arrives() {
    let folder = folder();
    let (bytes, text) = frames(folder.path(), 20);
    let (listener, address) = listen();
    let mut child = start(folder.path(), &format!("decode tcp:{address}?retry=never -s s.sf"));
    let (mut peer, _) = listener.accept().expect("a peer");
    peer.write_all(&bytes[..40]).expect("sent");
    // The first line comes while the link is open.
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    out.read_line(&mut first).expect("a line");
    assert_eq!(first, text.lines().next().expect("a line").to_owned() + "\n");
    peer.write_all(&bytes[40..]).expect("sent");
    drop(peer);
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    assert_eq!(first + &rest, text);
    assert_eq!(child.wait().expect("a status").code(), Some(0));
}

/// Frames do not continue on another connection, and the link is opened again.
#[test]
fn decode_reconnects() {
    let folder = folder();
    let (bytes, text) = frames(folder.path(), 4);
    let (listener, address) = listen();
    let mut child = start(folder.path(), &format!("decode tcp:{address} -s s.sf -p network"));
    let one = bytes.len() / 4;
    let (mut peer, _) = listener.accept().expect("a peer");
    peer.write_all(&bytes[..one + 3]).expect("sent");
    drop(peer);
    let (mut peer, _) = listener.accept().expect("it comes back");
    peer.write_all(&bytes[2 * one..]).expect("sent");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut lines = Vec::new();
    for _ in 0..3 {
        let mut line = String::new();
        out.read_line(&mut line).expect("a line");
        lines.push(line);
    }
    let seqs: Vec<_> = lines.iter().map(|line| line.split("\"seq\":").nth(1).expect("a number")).collect();
    let all: Vec<_> = text.lines().map(|line| line.split("\"seq\":").nth(1).expect("a number")).collect();
    assert_eq!(seqs.iter().map(|seq| seq.trim_end()).collect::<Vec<_>>(), [all[0], all[2], all[3]]);
    child.kill().expect("killed");
    let (_, _, err) = end_killed(child);
    assert!(err.contains("the other side closed the connection") && err.contains("connected to"), "{err}");
    assert!(err.contains("incomplete frame of 3 bytes"), "{err}");
}

fn end_killed(mut child: Child) -> (i32, String, String) {
    let mut err = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut err).expect("text");
    (child.wait().expect("a status").code().unwrap_or(-1), String::new(), err)
}

#[test]
fn encode_to_a_link_and_decode_from_it() {
    let folder = folder();
    let (_, text) = frames(folder.path(), 50);
    for scheme in ["tcp", "ws"] {
        let mut reader = start(folder.path(), &format!("decode {scheme}-listen:127.0.0.1:0?retry=never -s s.sf"));
        let at = waits_at(&mut reader);
        let run = fine(folder.path(), &format!("encode lines.jsonl -s s.sf -p network -o {scheme}:{at} --json"));
        assert_eq!(
            (run.json()["frames"].as_u64(), run.json()["address"].as_str()),
            (Some(50), Some(&*format!("{scheme}:{at}")))
        );
        let (code, out, err) = end(reader);
        assert_eq!((code, out.as_str()), (0, text.as_str()), "{scheme}: {err}");
    }
    // A file by its address.
    fine(folder.path(), "encode lines.jsonl -s s.sf -p network -o file:again.bin");
    assert_eq!(fine(folder.path(), "decode file:again.bin -s s.sf").text(), text);
}

#[test]
fn info_and_convert_of_links() {
    let folder = folder();
    let (bytes, _) = frames(folder.path(), 30);
    for (line, file) in
        [("info tcp:ADDRESS -s s.sf --json", None), ("convert tcp:ADDRESS x.tgm -s s.sf --json", Some("x.tgm"))]
    {
        let (listener, address) = listen();
        let child = start(folder.path(), &line.replace("ADDRESS", &address));
        let (mut peer, _) = listener.accept().expect("a peer");
        peer.write_all(&bytes).expect("sent");
        drop(peer);
        let (code, out, err) = end(child);
        assert_eq!(code, 0, "{err}");
        let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(json["frames"], 30, "{json}");
        if let Some(file) = file {
            fine(folder.path(), &format!("convert {file} back.bin"));
            assert_eq!(std::fs::read(folder.path().join("back.bin")).expect("read"), bytes);
        }
    }
}

/// Lines while data arrives, with rates and gaps; JSON has the numbers.
#[test]
fn info_live() {
    let folder = folder();
    let (mut bytes, _) = frames(folder.path(), 100);
    let one = bytes.len() / 100;
    bytes.drain(10 * one..13 * one);
    for json in ["", " --json"] {
        let mut child = start(
            folder.path(),
            &format!("info udp:127.0.0.1:0 -s s.sf -p network --live --every 100ms --for 1s{json}"),
        );
        let at = waits_at(&mut child);
        let sender = UdpSocket::bind("127.0.0.1:0").expect("bound");
        for frame in bytes.chunks(one) {
            sender.send_to(frame, &at).expect("sent");
            std::thread::sleep(Duration::from_millis(1));
        }
        let (code, out, err) = end(child);
        assert_eq!(code, 0, "{err}");
        assert!(out.lines().count() >= 3, "{out}");
        let last = out.lines().last().expect("a line");
        if json.is_empty() {
            assert!(last.contains("97 frames  1 gap (3 missing)  0 bad checksums"), "{last}");
        } else {
            let last: serde_json::Value = serde_json::from_str(last).expect("JSON");
            assert_eq!(
                (&last["frames"], &last["sequence"]["gaps"], &last["sequence"]["missing"]),
                (&97.into(), &1.into(), &3.into())
            );
            assert!(last["live"]["seconds"].as_f64().is_some_and(|seconds| seconds > 0.5), "{last}");
        }
    }
}

/// Recorded, looked at, decoded, converted and played: every byte and every time is there, and the schema travels along.
#[cfg(unix)]
#[test]
fn record_and_play() {
    let folder = folder();
    let (bytes, text) = frames(folder.path(), 200);
    let (listener, address) = listen();
    let child = start(folder.path(), &format!("record tcp:{address} -s s.sf -o flight --rotate-size 4kB --json"));
    let (mut peer, _) = listener.accept().expect("a peer");
    for part in bytes.chunks(500) {
        peer.write_all(part).expect("sent");
        std::thread::sleep(Duration::from_millis(130));
    }
    let flight = folder.path().join("flight");
    until(|| std::fs::read_dir(&flight).is_ok_and(|files| files.count() > 1));
    interrupt(&child);
    let (code, out, err) = end(child);
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (&json["command"], &json["bytes"], &json["dropped_bytes"]),
        (&"record".into(), &bytes.len().into(), &0.into())
    );
    assert_eq!((&json["frames"]["frames"], &json["frames"]["sequence_gaps"]), (&200.into(), &0.into()));
    assert!(json["files"].as_array().is_some_and(|files| files.len() > 1), "{json}");

    assert_eq!(fine(folder.path(), "decode flight").text(), text);
    let timed = fine(folder.path(), "decode flight --host-time");
    let times: Vec<&str> = timed.text().lines().map(|line| line.split('"').nth(5).expect("a time")).collect();
    assert!(times.is_sorted() && times[0] < times[199] && times[0].ends_with('Z'), "{times:?}");
    // Lines with times can be encoded again.
    std::fs::write(folder.path().join("timed.jsonl"), &timed.out).expect("written");
    fine(folder.path(), "encode timed.jsonl -s s.sf -p network -o timed.bin");
    assert_eq!(std::fs::read(folder.path().join("timed.bin")).expect("read"), bytes);
    let info = fine(folder.path(), "info flight --json").json();
    assert_eq!((&info["frames"], &info["bytes"]), (&200.into(), &bytes.len().into()));
    assert_eq!(info["recording"]["address"].as_str(), Some(&*format!("tcp:{address}")));
    assert!(info["messages"][0]["time"]["rate"].as_f64().is_some_and(|rate| rate > 1.0), "{info}");
    assert!(fine(folder.path(), "info flight").text().contains("recording of struct-frame frames"));
    fine(folder.path(), "convert flight columns.tgm");
    fine(folder.path(), "convert columns.tgm back.bin");
    assert_eq!(std::fs::read(folder.path().join("back.bin")).expect("read"), bytes);
    fine(folder.path(), "convert flight raw.bin");
    assert_eq!(std::fs::read(folder.path().join("raw.bin")).expect("read"), bytes);
    // Every file is a Tensogram file like others, and explains itself.
    let file = json["files"][0].as_str().expect("a name");
    assert_eq!(fw(folder.path(), &format!("validate {file}")).code, 0);
    let run = fw(folder.path(), &format!("decode {file}"));
    // A frame may continue in the next file.
    assert!([0, 3].contains(&run.code) && !run.out.is_empty() && text.starts_with(run.text()), "{}", run.err);

    let begun = Instant::now();
    let mut reader = start(folder.path(), "decode tcp-listen:127.0.0.1:0?retry=never -s s.sf");
    let at = waits_at(&mut reader);
    let played = fine(folder.path(), &format!("play flight tcp:{at} --speed 2 --json")).json();
    assert_eq!((&played["bytes"], &played["connections"]), (&bytes.len().into(), &1.into()));
    assert!(begun.elapsed() > Duration::from_millis(60), "pauses are kept");
    let (code, out, _) = end(reader);
    assert_eq!((code, out.as_str()), (0, text.as_str()));
    let raw = fine(folder.path(), "play flight - --speed max --quiet");
    assert_eq!(raw.out, bytes);
}

/// A recorder that is killed loses nothing of what its files hold, and they are readable.
#[test]
fn killed_recorder() {
    let folder = folder();
    let (bytes, text) = frames(folder.path(), 300);
    let (listener, address) = listen();
    let mut child = start(folder.path(), &format!("record tcp:{address} -s s.sf -o flight"));
    let (mut peer, _) = listener.accept().expect("a peer");
    let half = bytes.len() / 2;
    peer.write_all(&bytes[..half]).expect("sent");
    let flight: PathBuf = folder.path().join("flight");
    let before = || size_of(&flight);
    // A block is written after 0.2 s at the latest.
    until(|| before() > half as u64);
    peer.write_all(&bytes[half..]).expect("sent");
    child.kill().expect("killed");
    child.wait().expect("a status");
    let run = fw(folder.path(), "decode flight -p network");
    assert!([0, 3].contains(&run.code), "{}", run.err);
    let kept = run.text();
    assert!(text.starts_with(kept) && kept.lines().count() >= 149, "{}", kept.lines().count());
}

#[test]
fn record_for_some_time_into_a_file() {
    let folder = folder();
    let mut child = start(folder.path(), "record udp:127.0.0.1:0 -o raw.tgm --for 700ms");
    let at = waits_at(&mut child);
    let sender = UdpSocket::bind("127.0.0.1:0").expect("bound");
    for datagram in [&b"one"[..], b"", b"three"] {
        sender.send_to(datagram, &at).expect("sent");
    }
    let (code, out, err) = end(child);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.starts_with("wrote raw.tgm: 8 bytes, 3 pieces, ") || out.starts_with("wrote raw.tgm: 8 B, 3 pieces, "),
        "{out}"
    );
    let again = fw(folder.path(), "record udp:127.0.0.1:0 -o raw.tgm --for 100ms");
    assert_eq!(again.code, 2);
    assert!(again.err.contains("raw.tgm: already exists; recordings are never overwritten"), "{}", again.err);
    // Datagrams are played as they were.
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("bound");
    receiver.set_read_timeout(Some(PATIENCE)).expect("set");
    fine(folder.path(), &format!("play raw.tgm udp:{} --speed max", receiver.local_addr().expect("known")));
    let mut buffer = [0; 100];
    let lens: Vec<usize> = (0..3).map(|_| receiver.recv(&mut buffer).expect("a datagram")).collect();
    assert_eq!(lens, [3, 0, 5]);
}

/// What was sent without packing is read so from its recording: the switch is part of the schema in it.
#[test]
fn recordings_remember_no_packed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("a.sf"), include_str!("../data/structframe/no_packed.sf")).expect("written");
    std::fs::write(at.join("m.bin"), include_bytes!("../data/structframe/no_packed.bin")).expect("written");
    fine(at, "record file:m.bin -s a.sf -p standard --no-packed -o flight");
    let line = "{\"at\":0,\"id\":1,\"message\":\"M\",\"values\":{\"a\":1,\"t\":\"hi\",\"z\":7}}\n";
    assert_eq!(fine(at, "decode flight").text(), line);
    assert_eq!(fine(at, "info flight --json").json()["length_errors"], 0);
    fine(at, "convert flight m.tgm");
    assert_eq!(fine(at, "cat m.tgm --tensor M.z --text").text(), "7\n");
    fine(at, "convert flight m.csv");
    assert!(std::fs::read_to_string(at.join("m.csv")).expect("read").contains(",1,hi,7\r\n"));
}

/// Our end of a pseudoterminal, and the name of the other, which is set as terminals are: it waits for line ends and changes bytes.
#[cfg(unix)]
fn serial_port() -> (std::fs::File, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pseudoterminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("text");
    (std::fs::File::from(master), name)
}

/// What is sent before the other side has opened the port would be changed.
#[cfg(unix)]
fn until_raw(port: &std::fs::File) {
    use rustix::termios::{LocalModes, tcgetattr};
    until(|| !tcgetattr(port).expect("settings").local_modes.contains(LocalModes::ICANON));
}

/// The path of a serial port is enough: every byte arrives as it was sent and when it was sent, whatever the port was set to before.
#[cfg(unix)]
#[test]
fn serial_ports_by_path() {
    let folder = folder();
    // Among them every byte that a terminal would change: carriage returns, Ctrl-C, Ctrl-D, Ctrl-S.
    let (bytes, text) = frames(folder.path(), 300);
    assert!([3, 4, 10, 13, 17, 19, 26, 127].iter().all(|byte| bytes.contains(byte)));
    let (mut port, name) = serial_port();
    let mut child = start(folder.path(), &format!("decode {name} -s s.sf"));
    until_raw(&port);
    port.write_all(&bytes[..30]).expect("sent");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut first = String::new();
    out.read_line(&mut first).expect("a line");
    for part in bytes[30..].chunks(1000) {
        port.write_all(part).expect("sent");
    }
    let mut lines = vec![first];
    while lines.len() < 300 {
        let mut line = String::new();
        assert!(out.read_line(&mut line).expect("a line") > 0, "{} lines", lines.len());
        lines.push(line);
    }
    assert_eq!(lines.concat(), text);
    // An adapter that is unplugged is the end.
    drop(port);
    assert_eq!(child.wait().expect("a status").code(), Some(0));

    let (mut port, name) = serial_port();
    let child = start(folder.path(), &format!("info {name} -s s.sf --json"));
    until_raw(&port);
    port.write_all(&bytes).expect("sent");
    // What is not read when a terminal hangs up is lost.
    let other = std::fs::File::open(&name).expect("the other end");
    // The system passes it on in parts: a moment without any is not the end.
    let calm = std::cell::Cell::new(0);
    until(|| {
        let waiting = rustix::io::ioctl_fionread(&other).expect("a number");
        calm.set(if waiting == 0 { calm.get() + 1 } else { 0 });
        calm.get() > 30
    });
    drop((port, other));
    let (code, out, err) = end(child);
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["frames"], 300, "{json}");

    let (mut port, name) = serial_port();
    fine(folder.path(), &format!("encode lines.jsonl -s s.sf -p network -o {name}"));
    let mut received = vec![0; bytes.len()];
    port.read_exact(&mut received).expect("received");
    assert!(received == bytes);
}

#[cfg(unix)]
#[test]
fn record_from_a_serial_port() {
    let folder = folder();
    let (bytes, text) = frames(folder.path(), 40);
    let (mut port, name) = serial_port();
    let child = start(folder.path(), &format!("record serial:{name}?baud=115200&retry=never -s s.sf -o flight"));
    until(|| size_of(&folder.path().join("flight")) > 0);
    let header = size_of(&folder.path().join("flight"));
    port.write_all(&bytes).expect("sent");
    until(|| size_of(&folder.path().join("flight")) > header + bytes.len() as u64);
    drop(port);
    let (code, _, err) = end(child);
    assert_eq!(code, 0, "{err}");
    assert_eq!(fine(folder.path(), "decode flight").text(), text);
}

#[test]
fn wrong_addresses_and_unreachable_links() {
    let folder = folder();
    let (listener, address) = listen();
    drop(listener);
    for (line, code, words) in [
        ("decode tcp:robot -s s.sf", 2, "tcp:robot: missing port; expected tcp:HOST:PORT"),
        ("record x -o flight", 2, "x: not an address of a link; expected serial:"),
        ("record udp:127.0.0.1:0 -o flight --for 1d", 2, "must be a duration such as 500ms, 10s, 5m or 1h"),
        ("record udp:127.0.0.1:0 -o flight --buffer much", 2, "--buffer much: must be a size such as 64MiB or 1GB"),
        (
            "record udp:127.0.0.1:0 -o x.tgm --rotate-size 1MB",
            2,
            "x.tgm: a file cannot rotate; record into a directory",
        ),
        ("record udp:127.0.0.1:0 -o flight -p standard", 2, "--profile, --no-packed and --include require --schema"),
        ("play absent udp:127.0.0.1:1", 2, "absent: No such file or directory"),
        ("play s.sf udp:127.0.0.1:1 --speed 0", 2, "must be a factor such as 2 or 0.5, or max"),
        ("decode s.sf", 2, "s.sf: requires --schema\nhint: only recordings hold their schema"),
        ("info s.sf s.sf --live", 2, "--live reads one capture at a time"),
    ] {
        let run = fw(folder.path(), line);
        assert_eq!(run.code, code, "{line}: {}", run.err);
        assert!(run.err.contains(words), "{line}: {}", run.err);
    }
    let run = fw(folder.path(), &format!("decode tcp:{address} -s s.sf"));
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.starts_with(&format!("fw: tcp:{address}: cannot open the link: ")), "{}", run.err);
    let run = fw(folder.path(), &format!("record tcp:{address} -o flight --json"));
    assert_eq!((run.code, run.json()["error"]["code"].as_str()), (1, Some("connection_refused")));
    assert!(!folder.path().join("flight").exists(), "nothing is begun before the link is open");
    let _ = TcpStream::connect(&address);
}

/// A peer that sends nothing but noise costs no memory and no crash.
#[test]
fn hostile_input() {
    let folder = folder();
    let (listener, address) = listen();
    let child = start(folder.path(), &format!("decode tcp:{address}?retry=never -s s.sf -p network --quiet"));
    let (mut peer, _) = listener.accept().expect("a peer");
    let mut state = 1_u32;
    for _ in 0..50 {
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 28 == 0 { 0x90 } else { (state >> 24) as u8 }
        })
        .take(20_000)
        .collect();
        peer.write_all(&noise).expect("sent");
    }
    drop(peer);
    let (code, _, err) = end(child);
    assert_eq!(code, 3, "{err}");
}

/// As much as arrives at once, and a thousand datagrams in half a second: every frame is there by its sequence number. The rates
/// that were promised are measured by `cargo xtask bench links`.
#[test]
fn recorders_keep_up() {
    let folder = folder();
    let (bytes, _) = frames(folder.path(), 256);
    let one = bytes.len() / 256;
    let (listener, address) = listen();
    let child = start(folder.path(), &format!("record tcp:{address}?retry=never -s s.sf -p network -o tcp --json"));
    let (mut peer, _) = listener.accept().expect("a peer");
    let turns = 4000;
    for _ in 0..turns {
        peer.write_all(&bytes).expect("sent");
    }
    drop(peer);
    let (code, out, err) = end(child);
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&json["bytes"], &json["frames"]["frames"]), (&(bytes.len() * turns).into(), &(256 * turns).into()));
    assert_eq!(json["frames"]["sequence_gaps"], 0);

    let mut child = start(folder.path(), "record udp:127.0.0.1:0 -s s.sf -p network -o udp --for 2s --json");
    let at = waits_at(&mut child);
    let sender = UdpSocket::bind("127.0.0.1:0").expect("bound");
    for turn in 0..1000 {
        let begin = turn % 256 * one;
        sender.send_to(&bytes[begin..begin + one], &at).expect("sent");
        std::thread::sleep(Duration::from_micros(500));
    }
    let (code, out, err) = end(child);
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&json["chunks"], &json["frames"]["frames"]), (&1000.into(), &1000.into()));
    assert_eq!((&json["frames"]["sequence_gaps"], &json["dropped_bytes"]), (&0.into(), &0.into()));
}
