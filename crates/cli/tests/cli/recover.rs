//! `fw recover`.

use super::{fine, fw, vectors};

#[test]
fn recover() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let message = std::fs::read(vectors("tensogram").join("two_objects_metadata.tgm")).unwrap();
    let mut damaged = [&message[..], &message].concat();
    // The first object of the second message.
    damaged[message.len() + 578] ^= 1;
    std::fs::write(at("damaged.tgm"), &damaged).unwrap();
    let run = fw(folder.path(), "recover damaged.tgm -o good.tgm");
    assert_eq!(run.code, 3, "{}", run.err);
    assert_eq!(run.text(), "good.tgm: 1.56 KiB, 3 objects in 2 messages (1 intact, 0 rebuilt, 1 with losses)\n");
    let lost = "error[object_lost] message[1].object[0]: object 0 is lost (bytes 1472..1633)\n";
    assert!(run.err.contains(lost), "{}", run.err);
    assert!(run.err.lines().all(|line| line.contains("] message[1]")), "{}", run.err);
    fine(folder.path(), "validate good.tgm --mode full");
    let listed = fine(folder.path(), "ls good.tgm");
    assert!(listed.text().contains("      1       0  msl"), "{}", listed.text());
    assert_eq!(fw(folder.path(), "recover damaged.tgm -o good.tgm").code, 2, "it is there already");
    let json = fw(folder.path(), "recover damaged.tgm -o good.tgm --force --json").json();
    assert_eq!((&json["complete"], &json["messages"][0]["state"]), (&false.into(), &"intact".into()));
    assert_eq!(
        (&json["messages"][1]["message"], &json["findings"][0]["path"]),
        (&1.into(), &"message[1].object[0]".into())
    );
    let junk = [&message[..], &[7; 100], &message].concat();
    std::fs::write(at("junk.tgm"), junk).unwrap();
    let run = fw(folder.path(), "recover junk.tgm -o junk-good.tgm");
    assert!(run.err.contains("100 bytes after message 0 are not part of any readable message"), "{}", run.err);

    damaged.truncate(message.len());
    damaged[0] = b'X';
    std::fs::write(at("head.tgm"), &damaged).unwrap();
    let run = fw(folder.path(), "recover head.tgm -o head-good.tgm");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(std::fs::read(at("head-good.tgm")).unwrap(), message, "rebuilt to the byte");

    std::fs::write(at("hopeless.tgm"), [7; 999]).unwrap();
    let run = fw(folder.path(), "recover hopeless.tgm -o none.tgm");
    assert_eq!(run.code, 1);
    let words = "fw: hopeless.tgm: nothing could be recovered: none of its 999 bytes belong to an object whose digest matches; no \
         output was written\n";
    assert_eq!(run.err, words);
    std::fs::copy(vectors("bintensors/valid").join("attn0.bt"), at("w.bt")).unwrap();
    let run = fw(folder.path(), "recover w.bt -o none.tgm --json");
    assert_eq!((run.code, &run.json()["error"]["code"]), (1, &"nothing_recovered".into()));
    assert!(run.text().contains("the file is BinTensors; only Tensogram files can be recovered"), "{}", run.text());
    assert!(!at("none.tgm").exists());
    let run = fw(folder.path(), "recover damaged.tgm -o damaged.tgm");
    assert_eq!(run.code, 2, "{}", run.err);
    for (line, words) in [
        ("recover absent.tgm -o none.tgm", "fw: absent.tgm: No such file or directory (os error 2)\n"),
        ("recover damaged.tgm -o absent/none.tgm", "fw: absent/none.tgm: No such file or directory (os error 2)\n"),
        ("recover damaged.tgm -o .", "fw: .: is a directory; name a file to write\n"),
    ] {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.err.as_str()), (2, words), "fw {line}");
    }
}

#[test]
fn frames_without_digests() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(vectors("tensogram").join("f32_nohash.tgm"), folder.path().join("plain.tgm")).unwrap();
    assert_eq!(fw(folder.path(), "recover plain.tgm -o out.tgm").code, 1);
    fine(folder.path(), "recover plain.tgm -o out.tgm --unverified");
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("plain.tgm"), read("out.tgm"));
}
