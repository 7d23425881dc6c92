//! Recorders and players that are killed, statistics and conditions on live data, links that are converted.

use super::links::{end, folder, frames, listen, size_of, start, until, waits_at};
use super::{fine, fw};
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::Duration;

/// Killed at any moment while data arrives and files rotate: what the files hold is what was sent, from the first byte on, and the
/// next recorder adds a session to the same directory.
#[test]
fn recorders_killed_at_any_moment() {
    let folder = folder();
    let (bytes, text) = frames(folder.path(), 4000);
    for round in 0..8_u64 {
        let (listener, address) = listen();
        let flight = folder.path().join(format!("flight{round}"));
        let line = format!("record tcp:{address} -s s.sf -p network -o flight{round} --rotate-size 12kB");
        let mut child = start(folder.path(), &line);
        let (mut peer, _) = listener.accept().expect("a peer");
        let sent = bytes.clone();
        let sender = std::thread::spawn(move || {
            for part in sent.chunks(700) {
                if peer.write_all(part).is_err() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        until(|| size_of(&flight) > 4000 * round);
        std::thread::sleep(Duration::from_millis(round));
        child.kill().expect("killed");
        child.wait().expect("a status");
        sender.join().expect("sent");
        let run = fw(folder.path(), &format!("decode flight{round}"));
        assert!([0, 3].contains(&run.code), "{}", run.err);
        assert!(text.starts_with(run.text()), "round {round}: {}", run.text());
        // What is complete is valid; only the last file may end in the middle of a block.
        let mut files: Vec<_> =
            std::fs::read_dir(&flight).expect("files").map(|entry| entry.expect("a file").path()).collect();
        files.sort();
        files.pop();
        for file in files {
            let name = file.strip_prefix(folder.path()).expect("below").display().to_string();
            assert_eq!(fw(folder.path(), &format!("validate {name} --mode full")).code, 0, "{name}");
        }
        let before = run.text().lines().count();
        let (listener, address) = listen();
        let line = format!("record tcp:{address}?retry=never -s s.sf -p network -o flight{round}");
        let child = start(folder.path(), &line);
        let (mut peer, _) = listener.accept().expect("a peer");
        peer.write_all(&bytes).expect("sent");
        drop(peer);
        let (code, _, err) = end(child);
        assert_eq!(code, 0, "{err}");
        let run = fw(folder.path(), &format!("decode flight{round}"));
        assert_eq!(run.text().lines().count(), before + 4000, "{}", run.err);
    }
}

/// A player that is killed has sent a beginning of the recording, in order.
#[test]
fn killed_player() {
    let folder = folder();
    let (bytes, _) = frames(folder.path(), 400);
    let (listener, address) = listen();
    let child = start(folder.path(), &format!("record tcp:{address}?retry=never -s s.sf -o flight"));
    let (mut peer, _) = listener.accept().expect("a peer");
    for part in bytes.chunks(200) {
        peer.write_all(part).expect("sent");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(peer);
    assert_eq!(end(child).0, 0);
    let (listener, address) = listen();
    let mut child = start(folder.path(), &format!("play flight tcp:{address} --speed 0.1"));
    let (mut peer, _) = listener.accept().expect("the player");
    let mut received = vec![0; 600];
    peer.read_exact(&mut received).expect("a beginning");
    child.kill().expect("killed");
    child.wait().expect("a status");
    // The system may say that the connection was reset instead of closed.
    let _ = peer.read_to_end(&mut received);
    assert!(received.len() < bytes.len() && bytes.starts_with(&received), "{}", received.len());
}

/// Statistics and conditions on live data; a link that is never closed ends when its time is over, or by Ctrl-C.
#[cfg(unix)]
#[test]
fn live_statistics_and_conditions() {
    let folder = folder();
    let (bytes, _) = frames(folder.path(), 100);
    let one = bytes.len() / 100;
    let send = |at: &str| {
        let sender = UdpSocket::bind("127.0.0.1:0").expect("bound");
        for frame in bytes.chunks(one) {
            sender.send_to(frame, at).expect("sent");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let mut child =
        start(folder.path(), "decode udp:127.0.0.1:0 -s s.sf -p network --fields --where Ping.seq>=90 --json --for 5s");
    send(&waits_at(&mut child));
    let (code, out, err) = end(child);
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let seq = &json["fields"][0]["fields"][0];
    assert_eq!((&seq["field"], &seq["values"], &seq["min"]), (&"seq".into(), &10.into(), &90.into()), "{json}");

    let mut child = start(folder.path(), "decode udp:127.0.0.1:0 -s s.sf -p network --table");
    send(&waits_at(&mut child));
    std::thread::sleep(Duration::from_millis(1500));
    super::links::interrupt(&child);
    let (code, out, err) = end(child);
    assert_eq!((code, out.lines().count()), (0, 102), "{err}");

    let line = "info udp:127.0.0.1:0 -s s.sf -p network --live --every 100ms --for 5s --fields --where Ping.seq<5";
    let mut child = start(folder.path(), line);
    send(&waits_at(&mut child));
    let (code, out, err) = end(child);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("100 frames  5 selected  0 bad checksums\n\nPing (id 7), 5 frames\n"), "{out}");

    // Frames that are lost on the way are told at the end.
    let mut child = start(folder.path(), "decode udp:127.0.0.1:0 -s s.sf -p network --for 3s");
    let at = waits_at(&mut child);
    let sender = UdpSocket::bind("127.0.0.1:0").expect("bound");
    for frame in [0, 1, 5, 6, 9].map(|place| &bytes[place * one..][..one]) {
        sender.send_to(frame, &at).expect("sent");
    }
    let (code, out, err) = end(child);
    assert_eq!((code, out.lines().count()), (0, 5), "{err}");
    assert!(err.ends_with(": 2 gaps, at least 5 frames missing\n"), "{err}");

    // Nothing at all ends as well, also while the framing is looked for.
    let (code, out, err) = end(start(folder.path(), "decode udp:127.0.0.1:0 -s s.sf --for 200ms"));
    assert_eq!((code, out.as_str()), (0, ""));
    assert!(err.ends_with(": no data arrived\n"), "{err}");
}

/// A link that never closes is converted when Ctrl-C is pressed, with the times of arrival.
#[cfg(unix)]
#[test]
fn links_are_converted_until_interrupted() {
    let folder = folder();
    let (bytes, _) = frames(folder.path(), 30);
    let mut child = start(folder.path(), "convert udp:127.0.0.1:0 x.csv -s s.sf --where Ping.seq>=10");
    let at = waits_at(&mut child);
    let sender = UdpSocket::bind("127.0.0.1:0").expect("bound");
    sender.send_to(&bytes, &at).expect("sent");
    std::thread::sleep(Duration::from_millis(1500));
    super::links::interrupt(&child);
    let (code, out, err) = end(child);
    assert_eq!((code, out.as_str()), (0, "wrote x.csv: 20 rows of Ping\n"), "{err}");
    let csv = std::fs::read_to_string(folder.path().join("x.csv")).expect("read");
    assert!(csv.starts_with("@at,@time,"), "{csv}");
    // What would be refused at the end is refused at the beginning.
    for (line, words) in [
        ("info tcp-listen:127.0.0.1:0", "tcp-listen:127.0.0.1:0: requires --schema"),
        ("convert tcp-listen:127.0.0.1:0 x.mcap", "tcp-listen:127.0.0.1:0: requires --schema"),
        ("decode frames.bin -s s.sf --for 1s", "frames.bin: --for is for links, devices and pipes"),
    ] {
        let run = fw(folder.path(), line);
        assert_eq!(run.code, 2, "{line}: {}", run.err);
        assert!(run.err.contains(words), "{line}: {}", run.err);
    }
}

/// What a recording holds need not be said again.
#[test]
fn recordings_bring_their_schema() {
    let folder = folder();
    let (bytes, _) = frames(folder.path(), 10);
    let (listener, address) = listen();
    let child = start(folder.path(), &format!("record tcp:{address}?retry=never -s s.sf -o flight"));
    let (mut peer, _) = listener.accept().expect("a peer");
    peer.write_all(&bytes).expect("sent");
    drop(peer);
    assert_eq!(end(child).0, 0);
    std::fs::remove_file(folder.path().join("s.sf")).expect("removed");
    assert!(fine(folder.path(), "info flight --fields").text().contains("Ping (id 7), 10 frames"));
    assert!(fine(folder.path(), "decode flight --fields -w Ping.seq>=5").text().contains("Ping (id 7), 5 frames"));
    let run = fine(folder.path(), "convert flight x.csv -m Ping -w Ping.seq>7 --fields");
    assert!(run.text().starts_with("wrote x.csv: 2 rows of Ping\n\nPing (id 7), 2 frames\n"), "{}", run.text());
    let run = fine(folder.path(), "convert flight x.tgm -w Ping.seq>7 --fields --json");
    assert_eq!(run.json()["fields"][0]["fields"][0]["min"], 8);
    #[cfg(feature = "telemetry")]
    assert!(fine(folder.path(), "bridge flight --foxglove --port 0").text().ends_with("sent 10 messages (network)\n"));
    // Times of arrival can be asked for.
    let timed = fine(folder.path(), "decode flight -w time>0").text().lines().count();
    assert_eq!((timed, fine(folder.path(), "decode flight -w time<9").out.len()), (10, 0));
    let run = fw(folder.path(), "convert flight x.bin -w Ping.seq>7");
    assert_eq!(run.code, 2);
    assert!(run.err.starts_with("fw: --where: the bytes of a recording are copied as they are\n"), "{}", run.err);
}
