//! Checkpoints that can be trusted, through the commands: digests that are compared, signatures, indexes and directories of shards as
//! files like any other, and splitting anew that no kill can spoil.

use super::emulator::{Objects, serve};
use super::proxy::Proxy;
use super::{fine, fw};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A safetensors file of tensors with these names, types, shapes and bytes.
fn weights(path: &Path, tensors: &[(&str, &str, &str, Vec<u8>)]) {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend(bytes);
        entries
            .push(format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{}]}}"#, data.len()));
    }
    let mut json = format!("{{{}}}", entries.join(","));
    json.push_str(&" ".repeat(json.len().next_multiple_of(8) - json.len()));
    std::fs::write(path, [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &data].concat()).expect("written");
}

fn two(path: &Path) {
    weights(path, &[("a", "F32", "[4]", vec![1; 16]), ("b", "F32", "[4]", vec![2; 16])]);
}

fn flip(path: &Path, from_end: usize) {
    let mut bytes = std::fs::read(path).expect("read");
    let at = bytes.len() - from_end;
    bytes[at] ^= 1;
    std::fs::write(path, bytes).expect("written");
}

fn names(path: &Path) -> Vec<String> {
    let found = std::fs::read_dir(path).expect("a directory");
    let mut names: Vec<String> =
        found.map(|one| one.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

/// Digests of shards were not checked through their index: a tampered checkpoint was valid.
#[test]
fn an_index_checks_the_digests_of_its_shards() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    two(&at.join("m.safetensors"));
    for digests in ["", "--digests sha256"] {
        fine(at, &format!("convert m.safetensors c.bt --max-shard-size 16B -q -f {digests}"));
        let good = fine(at, "validate c.bt.index.json");
        assert_eq!(
            good.text(),
            "c.bt.index.json: 0 errors, 0 warnings, 2 of 2 tensors compared with a digest: valid\n"
        );
        let json = fine(at, "validate c.bt.index.json --json").json();
        assert_eq!((&json["tensor_count"], &json["digests_checked"]), (&2.into(), &2.into()));
        let shard = names(at).into_iter().find(|name| name.contains("-00002-of-")).expect("the second shard");
        flip(&at.join(&shard), 1);
        let run = fw(at, "validate c.bt.index.json");
        assert_eq!(run.code, 1, "{}", run.text());
        assert!(run.text().starts_with(&format!("error[checksum_mismatch] {shard}: tensors[\"")), "{}", run.text());
        assert!(run.text().ends_with("2 of 2 tensors compared with a digest: INVALID\n"), "{}", run.text());
        let run = fw(at, "validate c.bt.index.json --json");
        assert_eq!((run.code, &run.json()["error_count"]), (1, &1.into()));
        // Every command that reads the tensor refuses it.
        let wrong = if digests.is_empty() {
            &["convert c.bt.index.json x.npz", "diff c.bt.index.json m.safetensors"][..]
        } else {
            &["cat c.bt.index.json -t b", "stats c.bt.index.json"]
        };
        for line in wrong {
            let run = fw(at, line);
            assert!(run.code != 0 && run.err.contains("expected sha256:"), "{line}: {} {}", run.code, run.err);
        }
    }
}

/// Tensors whose digest does not match were copied and signed anew.
#[test]
fn corrupt_tensors_are_not_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    weights(&at.join("m.safetensors"), &[("a", "F32", "[4]", vec![1; 16])]);
    fine(at, "convert m.safetensors d.bt --digests sha256 -q");
    fine(at, "convert m.safetensors d.safetensors --digests sha256 -q");
    for name in ["d.bt", "d.safetensors"] {
        flip(&at.join(name), 1);
        assert_eq!(fw(at, &format!("validate {name}")).code, 1);
        for line in [format!("convert {name} clean.bt --digests sha256"), format!("convert {name} clean.npz")] {
            let run = fw(at, &line);
            assert_eq!(run.code, 1, "{line}");
            assert!(run.err.contains("tensor \"a\": expected sha256:") && run.err.contains("\nhint: "), "{}", run.err);
            assert!(!at.join("clean.bt").exists() && !at.join("clean.npz").exists());
            assert_eq!(fw(at, &format!("{line} --json")).json()["error"]["code"], "checksum_mismatch");
        }
        // Nothing is written before it is compared.
        for line in ["cat FILE", "cat FILE --npy", "cat FILE --text"] {
            let run = fw(at, &line.replace("FILE", name));
            assert_eq!((run.code, run.out.len()), (1, 0), "{line}");
        }
        assert_eq!(fw(at, &format!("diff {name} m.safetensors")).code, 2);
        assert_eq!(fw(at, &format!("stats {name}")).code, 1);
        assert_eq!(fw(at, &format!("set {name} changed-{name} -s k=v")).code, 1);
        assert!(!at.join(format!("changed-{name}")).exists());
        // Asked for, it is said that nothing was compared; new digests are not made.
        let run = fw(at, &format!("convert {name} ignored.bt --ignore-digests -f"));
        assert_eq!(
            (run.code, run.err.as_str()),
            (0, &*format!("fw: {name}: digests of 1 tensor were not compared (--ignore-digests)\n"))
        );
        assert_eq!(fw(at, "validate ignored.bt").code, 1);
        let json = fine(at, &format!("convert {name} ignored.bt --ignore-digests -f --json")).json();
        assert_eq!((&json["digests"]["ignored"], &json["digests"]["checked"]), (&1.into(), &0.into()));
        let run = fw(at, &format!("cat {name} --ignore-digests"));
        assert_eq!((run.code, run.out.len()), (0, 16));
        assert!(run.err.contains("were not compared"), "{}", run.err);
        let run = fw(at, &format!("convert {name} hidden.bt --ignore-digests --digests sha256"));
        assert!(run.code == 2 && !at.join("hidden.bt").exists(), "{}", run.err);
    }
}

#[test]
fn json_says_what_was_verified() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    two(&at.join("m.safetensors"));
    fine(at, "convert m.safetensors d.bt --digests sha256 -q");
    let verified = |line: &str| fine(at, line).json()["verified"].clone();
    assert_eq!(verified("cat d.bt -t a --json"), true);
    assert_eq!(verified("cat d.bt -t a --as f32 --json"), true);
    assert_eq!(verified("cat d.bt -t a -s 0 --json"), false, "a part");
    assert_eq!(verified("cat d.bt -t a --json --ignore-digests"), false);
    assert_eq!(verified("cat m.safetensors -t a --json"), false, "no digest");
}

/// A digest covered neither type nor shape, and its removal went unnoticed; validate did not say what it compared.
#[test]
fn digests_cover_headers() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    weights(&at.join("m.safetensors"), &[("aaaa", "BF16", "[2,300]", vec![0; 1200])]);
    fine(at, "convert m.safetensors d.bt --digests sha256 -q");
    let bytes = std::fs::read(at.join("d.bt")).expect("read");
    let name = bytes.windows(5).rposition(|window| window == b"\x04aaaa").expect("the record") + 5;
    let mut dtype = bytes.clone();
    assert_eq!(dtype[name], 8);
    dtype[name] = 7;
    let mut shape = bytes.clone();
    assert_eq!(shape[name + 2..name + 6], *b"\x02\xfb\x2c\x01");
    shape[name + 2..name + 6].copy_from_slice(b"\xfb\x2c\x01\x02");
    let mut stripped = bytes.clone();
    let key = bytes.windows(9).position(|window| window == b"bt.digest").expect("the key");
    stripped[key..key + 2].copy_from_slice(b"xx");
    for (file, bytes) in [("dtype.bt", dtype), ("shape.bt", shape), ("stripped.bt", stripped)] {
        std::fs::write(at.join(file), bytes).expect("written");
        let run = fw(at, &format!("validate {file}"));
        assert!(run.code == 1 && run.text().contains("error[manifest_mismatch]"), "{file}: {}", run.text());
    }
    let text = "d.bt: 0 errors, 0 warnings, 1 of 1 tensor compared with a digest: valid\n";
    assert_eq!(fine(at, "validate d.bt").text(), text);
    let json = fine(at, "validate d.bt --json").json();
    assert_eq!((&json["digests_checked"], &json["tensor_count"]), (&1.into(), &1.into()));
    assert!(fine(at, "validate m.safetensors").text().contains("0 of 1 tensor compared"));
    assert!(fine(at, "validate d.bt --mode quick --json").json()["digests_checked"].is_null());
}

/// Rules were ignored for an index, and a fault did not say of which shard it is.
#[test]
fn rules_reach_shards() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    two(&at.join("m.safetensors"));
    fine(at, "convert m.safetensors c.bt --max-shard-size 16B -q");
    let shard = at.join("c-00001-of-00002.bt");
    let bytes = std::fs::read(&shard).expect("read");
    let len = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    let (header, data) = bytes[8..].split_at(len as usize);
    let padded = [&(len + 8).to_le_bytes()[..], header, b"        ", data].concat();
    std::fs::write(&shard, &padded).expect("written");
    fine(at, "validate c.bt.index.json");
    let run = fw(at, "validate c.bt.index.json --rules canonical");
    assert_eq!(run.code, 1, "{}", run.text());
    assert!(run.text().starts_with("error[non_canonical] c-00001-of-00002.bt: "), "{}", run.text());
    let mut hidden = padded;
    hidden[7 + len as usize + 8] = b'X';
    std::fs::write(&shard, hidden).expect("written");
    let run = fw(at, "validate c.bt.index.json --rules compat");
    assert_eq!(run.code, 0, "{}", run.text());
    assert!(run.text().starts_with("warning[invalid_padding] c-00001-of-00002.bt: header.padding: "), "{}", run.text());
    let run = fw(at, "validate c.bt.index.json");
    assert!(run.code == 1 && run.text().contains("error[invalid_padding] c-00001-of-00002.bt: "), "{}", run.text());
}

/// Shards of an earlier output stayed beside the new one, for loaders that take all files of a directory.
#[test]
fn nothing_of_an_earlier_output_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let tensors = ["a", "b", "c", "d"].map(|name| (name, "F32", "[4]", vec![1; 16]));
    weights(&at.join("m.safetensors"), &tensors);
    std::fs::create_dir(at.join("o")).expect("a folder");
    fine(at, "convert m.safetensors o/model.safetensors --max-shard-size 16B -q");
    let run = fw(at, "convert m.safetensors o/model.safetensors --max-shard-size 32B -q");
    assert!(run.code == 2 && run.err.contains("already exists; use --force to overwrite it"), "{}", run.err);
    let run = fw(at, "convert m.safetensors o/model.safetensors --max-shard-size 32B -f --json");
    assert_eq!(run.json()["removed"].as_array().expect("a list").len(), 4);
    assert_eq!(names(&at.join("o")).len(), 3);
    let run = fw(at, "convert m.safetensors o/model.safetensors");
    assert!(run.code == 2 && run.err.contains("o/model.safetensors.index.json: already exists"), "{}", run.err);
    let run = fw(at, "convert m.safetensors o/model.safetensors -f");
    assert!(
        run.err.contains("fw: removed o/model.safetensors.index.json, which was part of an earlier output\n"),
        "{}",
        run.err
    );
    assert_eq!(names(&at.join("o")), ["model.safetensors"]);
}

/// `info, ls, dump, cat, validate, convert, diff, stats` take an index, and a directory of shards.
#[test]
fn an_index_is_a_file_like_any_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    two(&at.join("m.safetensors"));
    std::fs::create_dir(at.join("d")).expect("a folder");
    fine(at, "convert m.safetensors d/m.bt --max-shard-size 16B -q");
    let table = "name  dtype    shape  size  shard\na     float32  4      16 B  m-00001-of-00002.bt\nb     float32  4      16 B  m-00002-of-00002.bt\n";
    for (without, word) in [(false, "d/m.bt.index.json"), (false, "d"), (true, "d")] {
        if without {
            std::fs::remove_file(at.join("d/m.bt.index.json")).expect("removed");
        }
        assert_eq!(fine(at, &format!("ls {word}")).text(), table, "{word}");
        let json = fine(at, &format!("ls {word} --json")).json();
        assert_eq!(json["tensors"][1]["shard"], "m-00002-of-00002.bt");
        assert!(fine(at, &format!("info {word}")).text().contains("tensors    2, "), "{word}");
        assert!(fine(at, &format!("dump {word} --data")).text().contains("tensor b:\n"), "{word}");
        assert_eq!(fine(at, &format!("cat {word} -t b")).out, [2; 16]);
        fine(at, &format!("validate {word}"));
        fine(at, &format!("convert {word} joined.bt -f -q"));
        assert!(
            fine(at, &format!("diff {word} m.safetensors")).text().ends_with("2 tensors: 2 identical, 0 different\n")
        );
        assert_eq!(fine(at, &format!("stats {word} --json")).json()["tensors"].as_array().expect("a list").len(), 2);
        assert!(fine(at, &format!("digest {word}")).text().starts_with("sha256:"));
    }
    std::fs::create_dir(at.join("empty")).expect("a folder");
    let run = fw(at, "cat empty -t a");
    assert_eq!((run.code, run.err.as_str()), (2, "fw: empty: is a directory, not a file\n"));
}

/// The same by URL: in parts, without leave to read everything.
#[test]
fn an_index_by_url() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    weights(
        &at.join("m.safetensors"),
        &[("a", "F32", "[512,256]", vec![1; 512 * 1024]), ("b", "F32", "[4]", vec![2; 16])],
    );
    fine(at, "convert m.safetensors s.safetensors --max-shard-size 64KiB -q --digests sha256");
    let objects = Arc::new(Objects::default());
    for name in names(at) {
        objects.put(&format!("/{name}"), std::fs::read(at.join(&name)).expect("read"));
    }
    let address = serve(move |request| objects.read(&request));
    let proxy = Proxy::new(address, Duration::ZERO);
    let url = proxy.url("s.safetensors.index.json");
    for line in ["ls URL", "info URL", "cat URL -t b", "cat URL -t a --slice :,5", "get -p name URL"] {
        let (line, local) = (line.replace("URL", &url), line.replace("URL", "s.safetensors.index.json"));
        let (far, near) = (fine(at, &line), fine(at, &local));
        let (_, bytes) = proxy.counted();
        if line.starts_with("cat") {
            assert_eq!(far.out, near.out, "{line}");
        }
        assert!(bytes < 1 << 20, "{line}: {bytes} bytes");
    }
    assert!(fine(at, &format!("ls {url}")).text().contains("s-00001-of-00002.safetensors"));
    assert!(fine(at, &format!("digest {url}")).text().starts_with("sha256:"));
    for line in ["validate URL", "convert URL x.bt", "diff URL m.safetensors"] {
        let line = line.replace("URL", &url);
        let run = fw(at, &line);
        assert!(run.code == 2 && run.err.contains("--allow-full-read"), "{line}: {}", run.err);
        fine(at, &format!("{line} --allow-full-read"));
    }
    assert!(fine(at, "diff x.bt m.safetensors").text().contains("2 identical"));
}

/// Column slices over HTTP took one request per row, one after the other.
#[test]
fn a_column_by_url_takes_few_requests() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let values: Vec<u8> = (0..512 * 4096u32).flat_map(|value| (value as f32).to_le_bytes()).collect();
    weights(&at.join("m.safetensors"), &[("a", "F32", "[512,4096]", values)]);
    fine(at, "convert m.safetensors m.bt -q");
    let objects = Arc::new(Objects::default());
    for name in ["m.safetensors", "m.bt"] {
        objects.put(&format!("/{name}"), std::fs::read(at.join(name)).expect("read"));
    }
    let address = serve(move |request| objects.read(&request));
    let proxy = Proxy::new(address, Duration::ZERO);
    for name in ["m.safetensors", "m.bt"] {
        let found = fine(at, &format!("cat {} -t a --slice :,5", proxy.url(name))).out;
        let expected: Vec<u8> = (0..512u32).flat_map(|row| ((row * 4096 + 5) as f32).to_le_bytes()).collect();
        assert_eq!(found, expected, "{name}");
        let (requests, _) = proxy.counted();
        assert!(requests <= 20, "{name}: {requests} requests");
    }
}

/// `fw digest`, `--expect`, `fw sign`, `fw verify`.
#[test]
fn pinned_and_signed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    two(&at.join("m.safetensors"));
    let digest = fine(at, "digest m.safetensors").text().split(' ').next().expect("a word").to_owned();
    assert_eq!(fine(at, "digest m.safetensors").text(), format!("{digest}  m.safetensors\n"));
    let text = fine(at, "digest m.safetensors --manifest").text().to_owned();
    assert!(text.starts_with("bt.manifest 1\nsha256:") && text.ends_with(" F32 [4] b\n"), "{text}");
    let json = fine(at, "digest m.safetensors --json --manifest").json();
    assert_eq!(
        (&json["digest"], &json["manifest"], &json["digests_checked"]),
        (&digest.clone().into(), &text.into(), &0.into())
    );
    let other = format!("sha256:{}", "0".repeat(64));
    for line in
        ["digest m.safetensors", "verify m.safetensors", "validate m.safetensors", "convert m.safetensors x.bt -f"]
    {
        fine(at, &format!("{line} --expect {digest}"));
        std::fs::remove_file(at.join("x.bt")).ok();
        let run = fw(at, &format!("{line} --expect {other}"));
        assert_eq!(run.code, 1, "{line}: {}", run.err);
        assert!(format!("{}{}", run.text(), run.err).contains("manifest"), "{line}: {}", run.err);
        assert!(!at.join("x.bt").exists());
        assert_eq!(fw(at, &format!("{line} --expect sha256:12")).code, 2);
    }
    assert_eq!(fw(at, "verify m.safetensors").code, 2, "what to compare with?");

    let made = fine(at, "sign --new-key k");
    assert_eq!(made.text(), "wrote k (keep it secret) and k.pub\n");
    assert_eq!(fw(at, "sign --new-key k").code, 2);
    fine(at, "sign --new-key other");
    fine(at, "convert m.safetensors s.bt --max-shard-size 16B -q");
    fine(at, "convert m.safetensors m.bt -q");
    for file in ["m.safetensors", "m.bt", "s.bt.index.json"] {
        assert_eq!(fw(at, &format!("verify {file} --key k.pub")).code, 1, "{file} is not signed");
        assert_eq!(fine(at, &format!("sign {file} --key k")).text(), format!("signed {file}: 2 tensors, {digest}\n"));
        assert_eq!(
            fine(at, &format!("verify {file} --key k.pub --expect {digest}")).text(),
            format!("{file}: 2 tensors, {digest}: verified, signed by the key, as expected\n")
        );
        let json = fine(at, &format!("verify {file} --key k.pub --json")).json();
        assert_eq!((&json["digest"], &json["digests_checked"]), (&digest.clone().into(), &2.into()));
        let run = fw(at, &format!("verify {file} --key other.pub"));
        assert!(run.code == 1 && run.err.contains("another key"), "{}", run.err);
        assert!(fine(at, &format!("validate {file}")).text().contains("2 of 2 tensors compared"));
    }
    assert!(fine(at, "diff m.bt m.safetensors").text().contains("2 identical"));
    fine(at, "sign m.bt --key other -o again.bt");
    fine(at, "verify again.bt --key other.pub");
    flip(&at.join("m.bt"), 1);
    assert_eq!(fw(at, "verify m.bt --key k.pub").code, 1);
    let run = fw(at, "sign m.bt --key k");
    assert!(run.code == 1 && run.err.contains("is not signed"), "{}", run.err);
    let run = fw(at, "sign m.bt --key k.pub");
    assert!(run.code == 2 && run.err.contains("BEGIN PRIVATE KEY"), "{}", run.err);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(at.join("k"), std::fs::Permissions::from_mode(0o644)).expect("changed");
        let run = fw(at, "sign m.bt --key k");
        assert!(run.code == 2 && run.err.contains("chmod 600"), "{}", run.err);
    }
}

/// Splitting a checkpoint anew, killed at thirty moments: the old one or the new one is there, never a mixture.
#[cfg(unix)]
#[test]
fn no_kill_mixes_two_checkpoints() {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let tensors = |seed: u8| -> Vec<(String, Vec<u8>)> {
        (0..16).map(|number| (format!("t{number:02}"), vec![seed.wrapping_add(number); 1 << 19])).collect()
    };
    for (name, seed) in [("old.safetensors", 0), ("new.safetensors", 100)] {
        let made = tensors(seed);
        let made: Vec<_> = made.iter().map(|(name, data)| (name.as_str(), "U8", "[524288]", data.clone())).collect();
        weights(&at.join(name), &made);
    }
    let digests = ["old", "new"].map(|name| {
        fine(at, &format!("digest {name}.safetensors")).text().split(' ').next().expect("a word").to_owned()
    });
    std::fs::create_dir(at.join("o")).expect("a folder");
    fine(at, "convert old.safetensors o/m.safetensors --max-shard-size 1MiB -q");
    let (mut ended, mut seen) = (0, [0, 0]);
    for moment in 0..30u64 {
        // There and back, so that each kill can hit either.
        let (from, size) = if moment % 2 == 0 { ("new", "2MiB") } else { ("old", "1MiB") };
        let line = format!("convert {from}.safetensors o/m.safetensors --max-shard-size {size} -q -f");
        let mut child = Command::new(env!("CARGO_BIN_EXE_fw"))
            .args(line.split_whitespace())
            .current_dir(at)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("fw runs");
        std::thread::sleep(Duration::from_millis(2 + 3 * (moment % 15)));
        let _ = child.kill();
        ended += usize::from(!child.wait().expect("it ends").success());
        let run = fine(at, "digest o/m.safetensors.index.json");
        let found = digests.iter().position(|digest| run.text().starts_with(digest.as_str()));
        seen[found.unwrap_or_else(|| panic!("a mixture after {line}: {}", run.text()))] += 1;
        fine(at, "validate o/m.safetensors.index.json");
    }
    assert!(ended >= 5, "{ended} of 30 were killed while they worked");
    // What the last kill left goes with the next output.
    fine(at, "convert new.safetensors o/m.safetensors --max-shard-size 2MiB -q -f");
    assert_eq!(names(&at.join("o")).len(), 5, "{:?}", names(&at.join("o")));
}

/// A file size limit, as a disk that is full: nothing half-made stays, and what was there is there.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_nothing_half_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let tensors: Vec<_> =
        [("a", 1), ("b", 2), ("c", 3)].map(|(name, seed)| (name, "U8", "[100000]", vec![seed; 100_000])).into();
    weights(&at.join("small.safetensors"), &tensors);
    let large: Vec<_> = [("a", 1), ("b", 2), ("z", 3)]
        .map(|(name, seed)| {
            (
                name,
                "U8",
                if name == "z" { "[2000000]" } else { "[100000]" },
                vec![seed; if name == "z" { 2_000_000 } else { 100_000 }],
            )
        })
        .into();
    weights(&at.join("large.safetensors"), &large);
    std::fs::create_dir(at.join("o")).expect("a folder");
    fine(at, "convert small.safetensors o/m.safetensors --max-shard-size 100kB -q");
    let before = names(&at.join("o"));
    // 512-byte blocks: the first shards fit, the last one does not.
    let line = format!(
        "trap '' XFSZ; ulimit -f 1000; exec {} convert large.safetensors o/m.safetensors --max-shard-size 100kB -q -f",
        env!("CARGO_BIN_EXE_fw")
    );
    let done = std::process::Command::new("sh").args(["-c", &line]).current_dir(at).output().expect("a shell");
    assert!(!done.status.success());
    assert_eq!(names(&at.join("o")), before, "{}", String::from_utf8_lossy(&done.stderr));
    fine(at, "validate o/m.safetensors.index.json");
}
