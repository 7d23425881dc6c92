//! Digests, manifests and signatures of checkpoints (BT-10), in every format that keeps them and through every conversion.

use fw_bintensors::validate::{DIGESTS_CHECKED, ValidateOptions};
use fw_bintensors::{Algorithm, Profile};
use fw_convert::{
    Checked, ConvertError, ConvertOptions, DiffOptions, Format, MemoryTensors, Missing, PublicKey, SigningKey,
    StoredUse, TensorFile, convert, diff, expect_manifest, manifest, open, sign, stored_digests, stored_manifest,
    validate, verify_digests, verify_signature, write_tensors,
};
use fw_report::Report;
use fw_tensor::DType;
use std::path::{Path, PathBuf};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        names_in(self.0.path())
    }
}

fn names_in(path: &Path) -> Vec<String> {
    let names = std::fs::read_dir(path).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn tensors() -> MemoryTensors {
    let mut tensors = MemoryTensors::new();
    let data = |len: usize, seed: usize| (0..len).map(|place| (place * 7 + seed) as u8).collect::<Vec<u8>>();
    tensors.push("a", DType::Float32, &[4], data(16, 1)).unwrap();
    tensors.push("b", DType::BFloat16, &[2, 4], data(16, 2)).unwrap();
    tensors.push("c %", DType::Float8E8M0, &[16], data(16, 3)).unwrap();
    tensors.push("d", DType::Int64, &[], data(8, 4)).unwrap();
    tensors.set_metadata("format", "pt");
    tensors
}

fn written(path: &Path, algorithm: Option<Algorithm>) {
    let mut options = ConvertOptions::new();
    (options.format, options.tensor_digests) = (Format::of_name(path), algorithm);
    write_tensors(&tensors(), "memory", path, &options).unwrap();
}

fn flip(path: &Path, from_end: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.len() - from_end;
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

fn checked(path: &Path) -> Report {
    validate(path, &ValidateOptions::new(Profile::Default).with_data()).unwrap()
}

fn errors(report: &Report) -> Vec<(String, String)> {
    let is_error = |one: &&fw_report::Finding| one.severity == fw_report::Severity::Error;
    report.findings().iter().filter(is_error).map(|one| (one.code.to_string(), one.path.clone())).collect()
}

fn quiet(_: fw_convert::Progress<'_>) {}

/// The manifest of a file, from its data.
fn digest_of(path: &Path) -> String {
    manifest(&*open(path).unwrap(), &quiet).unwrap().digest()
}

/// BT-10.9: one file or several, BinTensors or safetensors, with digests or without: the same tensors have the same manifest.
#[test]
fn one_manifest_in_every_form() {
    let folder = Folder::new();
    written(&folder.at("plain.bt"), None);
    let expected = digest_of(&folder.at("plain.bt"));
    assert_eq!(expected, manifest(&tensors(), &quiet).unwrap().digest());
    for (name, algorithm, shards) in [
        ("x.safetensors", None, None),
        ("x.bt", Some(Algorithm::Sha256), None),
        ("y.safetensors", Some(Algorithm::Sha256), None),
        ("z.bt", None, Some(16)),
        ("z.safetensors", None, Some(16)),
        ("w.safetensors", Some(Algorithm::Sha256), Some(20)),
        ("x.tgm", None, None),
    ] {
        let mut options = ConvertOptions::new();
        (options.tensor_digests, options.max_shard_size) = (algorithm, shards);
        options.expect = Some(expected.clone());
        let done = convert(folder.at("plain.bt"), folder.at(name), &options).unwrap();
        let path = done.files.last().unwrap();
        assert_eq!(digest_of(path), expected, "{name}");
        let file = open(path).unwrap();
        let kept = stored_digests(&*file);
        let is_kept = algorithm.is_some() || shards.is_some();
        assert_eq!(kept.manifest(), is_kept.then_some(expected.as_str()), "{name}");
        assert_eq!(stored_manifest(&*file).map(|found| found.digest()), is_kept.then(|| expected.clone()), "{name}");
        assert_eq!(verify_digests(&*file, &quiet).unwrap(), if is_kept { 4 } else { 0 }, "{name}");
        assert!(checked(path).is_ok(), "{name}: {:?}", checked(path).findings());
    }
    let file = open(folder.at("plain.bt")).unwrap();
    let found = manifest(&*file, &quiet).unwrap();
    assert_eq!(expect_manifest(&found, &format!("sha256:{}", "0".repeat(64))).unwrap_err().code(), "manifest_mismatch");
    assert_eq!(expect_manifest(&found, "sha256:00").unwrap_err().code(), "invalid_digest");
    let mut options = ConvertOptions::new();
    options.expect = Some(format!("sha256:{}", "0".repeat(64)));
    let refused = convert(folder.at("plain.bt"), folder.at("never.bt"), &options).unwrap_err();
    assert_eq!((refused.code(), folder.at("never.bt").exists()), ("manifest_mismatch", false));
}

/// Every whole read compares, in every format and through every door; slices do not.
#[test]
fn corrupt_tensors_are_refused() {
    let folder = Folder::new();
    for name in ["m.bt", "m.safetensors"] {
        let path = folder.at(name);
        written(&path, Some(Algorithm::Sha256));
        flip(&path, 1);
        let found = errors(&checked(&path));
        assert!(
            matches!(&found[..], [(code, place)] if code == "checksum_mismatch" && place.starts_with("tensors[")),
            "{found:?}"
        );
        assert_eq!(checked(&path).tallies()[DIGESTS_CHECKED], 4);
        let wrong =
            |result: Result<(), ConvertError>| assert_eq!(result.unwrap_err().code(), "checksum_mismatch", "{name}");
        wrong(verify_digests(&*open(&path).unwrap(), &quiet).map(drop));
        wrong(manifest(&*open(&path).unwrap(), &quiet).map(drop));
        let safe = Checked::new(open(&path).unwrap());
        let last = safe.entries().iter().max_by_key(|entry| entry.span.unwrap().end).unwrap().name.clone();
        for (index, entry) in safe.entries().iter().enumerate() {
            assert!(safe.verifies(index));
            match entry.name == last {
                true => wrong(safe.data(index).map(drop)),
                false => drop(safe.data(index).unwrap()),
            }
            safe.slice(index, &fw_tensor::Selection::new()).unwrap();
        }
        wrong(diff(&safe, &tensors(), &DiffOptions::new()).map(drop));
        for to in ["out.bt", "out.safetensors", "out.npz", "out.tgm", "s.bt"] {
            let mut options = ConvertOptions::new().with_missing(Missing::Raw);
            if to == "s.bt" {
                options = options.with_max_shard_size(16);
            }
            wrong(convert(&path, folder.at(to), &options).map(drop));
            options.tensor_digests =
                Format::of_name(Path::new(to)).filter(|to| to.keeps_digests()).map(|_| Algorithm::Sha256);
            wrong(convert(&path, folder.at(to), &options).map(drop));
        }
        assert!(folder.names().iter().all(|name| name.starts_with("m.")), "{:?}", folder.names());
        // Asked for, the data is taken as it is, and the digest still tells.
        let ignore = ConvertOptions::new().with_stored(StoredUse::Ignore);
        for to in ["ignored.bt", "ignored.safetensors"] {
            let done = convert(&path, folder.at(to), &ignore).unwrap();
            assert_eq!((done.digests.checked, done.digests.ignored), (0, 4));
            assert_eq!(errors(&checked(&folder.at(to))).len(), 1, "{to}");
        }
        let split = convert(&path, folder.at("split.bt"), &ignore.clone().with_max_shard_size(16)).unwrap();
        assert_eq!(errors(&checked(split.files.last().unwrap())).len(), 1);
        let mut hide = ignore;
        hide.tensor_digests = Some(Algorithm::Sha256);
        assert_eq!(convert(&path, folder.at("hidden.bt"), &hide).unwrap_err().code(), "option_not_applicable");
        for name in folder.names() {
            std::fs::remove_file(folder.at(&name)).unwrap();
        }
    }
}

/// Digests travel with tensors that stay what they are; bits under another type get none that would be wrong.
#[test]
fn digests_are_carried_and_never_wrong() {
    let folder = Folder::new();
    written(&folder.at("m.bt"), Some(Algorithm::Sha3_256));
    convert(folder.at("m.bt"), folder.at("m.safetensors"), &ConvertOptions::new()).unwrap();
    convert(folder.at("m.safetensors"), folder.at("again.bt"), &ConvertOptions::new()).unwrap();
    assert_eq!(std::fs::read(folder.at("m.bt")).unwrap(), std::fs::read(folder.at("again.bt")).unwrap());
    let file = open(folder.at("m.safetensors")).unwrap();
    assert!(stored_digests(&*file).of_tensor(0).unwrap().starts_with("sha3-256:"));
    // Through a format that keeps metadata but checks nothing of it.
    convert(folder.at("m.bt"), folder.at("m.tgm"), &ConvertOptions::new()).unwrap();
    convert(folder.at("m.tgm"), folder.at("back.bt"), &ConvertOptions::new()).unwrap();
    assert!(checked(&folder.at("back.bt")).is_ok());
    // Joining what was split gives the bytes that were split.
    for (name, options) in [("plain", None), ("with", Some(Algorithm::Sha256))] {
        let (path, split) = (folder.at(&format!("{name}.bt")), folder.at(&format!("{name}-split.bt")));
        written(&path, options);
        let done = convert(&path, split, &ConvertOptions::new().with_max_shard_size(16)).unwrap();
        let joined = folder.at(&format!("{name}-joined.bt"));
        convert(done.files.last().unwrap(), &joined, &ConvertOptions::new()).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), std::fs::read(joined).unwrap(), "{name}");
    }
    // Types that safetensors lacks become bytes of another type.
    let mut odd = MemoryTensors::new();
    odd.push("z", DType::Complex128, &[1], vec![3; 16]).unwrap();
    let mut options = ConvertOptions::new().with_missing(Missing::Raw);
    (options.format, options.tensor_digests) = (Some(Format::BinTensors), Some(Algorithm::Sha256));
    write_tensors(&odd, "memory", folder.at("odd.bt"), &options).unwrap();
    let raw = ConvertOptions::new().with_missing(Missing::Raw);
    convert(folder.at("odd.bt"), folder.at("odd.safetensors"), &raw).unwrap();
    assert!(checked(&folder.at("odd.safetensors")).is_ok(), "{:?}", checked(&folder.at("odd.safetensors")).findings());
    // A copy that moves the data as one block has compared it before.
    let done = convert(folder.at("m.bt"), folder.at("copy.bt"), &ConvertOptions::new()).unwrap();
    assert_eq!((done.transport, done.digests.checked), (fw_convert::Transport::Copied, 4));
}

/// BT-10.7, BT-10.9: the manifest of a safetensors file and of an index notice what changes in their headers.
#[test]
fn changes_of_headers_are_noticed() {
    let folder = Folder::new();
    let path = folder.at("m.safetensors");
    written(&path, Some(Algorithm::Sha256));
    let bytes = std::fs::read(&path).unwrap();
    for (from, to) in
        [("\"BF16\"", "\"F16\" "), ("[2,4]", "[4,2]"), ("\"a\":{", "\"e\":{"), ("bt.digest/d", "xx.digest/d")]
    {
        let at = bytes.windows(from.len()).rposition(|window| window == from.as_bytes()).unwrap();
        let mut changed = bytes.clone();
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        std::fs::write(&path, changed).unwrap();
        let found = errors(&checked(&path));
        assert!(found.iter().any(|(code, _)| code == "manifest_mismatch"), "{from}: {found:?}");
        assert_eq!(convert(&path, folder.at("x.bt"), &ConvertOptions::new()).unwrap_err().code(), "manifest_mismatch");
    }
}

/// BT-10.9: shards that were exchanged, changed or lost are noticed through the index, and named.
#[test]
fn a_shard_of_another_checkpoint_is_refused() {
    let folder = Folder::new();
    written(&folder.at("m.bt"), None);
    let split = |algorithm| {
        let mut options = ConvertOptions::new().with_max_shard_size(16);
        options.tensor_digests = algorithm;
        convert(folder.at("m.bt"), folder.at("s.bt"), &options).unwrap().files
    };
    for algorithm in [None, Some(Algorithm::Sha256)] {
        let files = split(algorithm);
        let index = files.last().unwrap();
        assert_eq!((checked(index).is_ok(), checked(index).tallies()[DIGESTS_CHECKED]), (true, 4));
        let second = files[1].file_name().unwrap().to_str().unwrap().to_owned();
        flip(&files[1], 1);
        let found = errors(&checked(index));
        assert!(
            matches!(&found[..], [(code, place)] if code == "checksum_mismatch" && place.starts_with(&second)),
            "{found:?}"
        );
        assert_eq!(
            convert(index, folder.at("x.npz"), &ConvertOptions::new().with_missing(Missing::Raw)).unwrap_err().code(),
            "checksum_mismatch"
        );
        flip(&files[1], 1);
        std::fs::rename(&files[1], folder.at("away")).unwrap();
        assert_eq!(errors(&checked(index)), [("missing_shard".to_owned(), second.clone())]);
        std::fs::rename(folder.at("away"), &files[1]).unwrap();
        assert!(checked(index).is_ok());
    }
    // A shard with other digests: known from the headers alone.
    let files = split(Some(Algorithm::Sha256));
    let mut others = MemoryTensors::new();
    let file = open(&files[0]).unwrap();
    let entry = file.entries()[0].clone();
    let len = entry.byte_len().unwrap() as usize;
    others.push(entry.name.clone(), entry.dtype, &entry.shape, vec![9; len]).unwrap();
    let mut options = ConvertOptions::new();
    (options.format, options.tensor_digests) = (Some(Format::BinTensors), Some(Algorithm::Sha256));
    write_tensors(&others, "memory", &files[0], &options).unwrap();
    let index = files.last().unwrap();
    assert_eq!(open(index).err().unwrap().code(), "digest_conflict");
    assert_eq!(errors(&checked(index))[0].0, "digest_conflict");
}

/// What an index says against what is there: each a finding, by the shard's name.
#[test]
fn findings_about_an_index() {
    let folder = Folder::new();
    written(&folder.at("m.safetensors"), None);
    let files =
        convert(folder.at("m.safetensors"), folder.at("s.safetensors"), &ConvertOptions::new().with_max_shard_size(40));
    let files = files.unwrap().files;
    let index = files.last().unwrap();
    let text = std::fs::read_to_string(index).unwrap();
    let told = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["metadata"].as_object_mut().unwrap().retain(|key, _| key == "total_size");
        change(&mut json);
        std::fs::write(index, json.to_string()).unwrap();
        let report = checked(index);
        let found: Vec<_> = report.findings().iter().map(|one| one.code.to_string()).collect();
        (report.is_ok(), found)
    };
    assert_eq!(told(&|_| {}), (true, vec![]));
    assert_eq!(told(&|json| json["weight_map"]["ghost"] = json["weight_map"]["a"].clone()).1[0], "missing_tensor");
    assert_eq!(
        told(&|json| drop(json["weight_map"].as_object_mut().unwrap().remove("a"))),
        // The size is that of the tensors it lists.
        (true, vec!["unlisted_tensor".to_owned(), "total_size_mismatch".to_owned()])
    );
    assert_eq!(told(&|json| json["metadata"]["total_size"] = 7.into()), (true, vec!["total_size_mismatch".to_owned()]));
    std::fs::copy(&files[0], folder.at("twice.safetensors")).unwrap();
    // The second one holds "c %" only; the first one "d", "a" and "b".
    let (is_ok, found) = told(&|json| json["weight_map"]["c %"] = "twice.safetensors".into());
    assert!(!is_ok && found.contains(&"missing_tensor".to_owned()), "{found:?}");
    let (is_ok, found) = told(&|json| json["weight_map"]["b"] = "twice.safetensors".into());
    assert!(is_ok && found.iter().all(|code| code == "overlapping_shards") && found.len() == 3, "{found:?}");
    std::fs::write(index, b"[]").unwrap();
    assert_eq!(errors(&checked(index))[0].0, "invalid_index");
}

/// A checkpoint in a directory, with its index or without.
#[test]
fn directories_are_checkpoints() {
    let folder = Folder::new();
    written(&folder.at("m.bt"), None);
    let model = folder.at("model");
    std::fs::create_dir(&model).unwrap();
    let files = convert(folder.at("m.bt"), model.join("model.bt"), &ConvertOptions::new().with_max_shard_size(16))
        .unwrap()
        .files;
    let same =
        || diff(&*open(&model).unwrap(), &*open(folder.at("m.bt")).unwrap(), &DiffOptions::new()).unwrap().is_equal();
    assert!(same() && checked(&model).is_ok());
    assert_eq!(open(&model).unwrap().entries()[0].shard.as_deref(), Some("model-00001-of-00004.bt"));
    std::fs::remove_file(files.last().unwrap()).unwrap();
    assert!(same() && checked(&model).is_ok());
    std::fs::remove_file(&files[2]).unwrap();
    assert_eq!(open(&model).err().unwrap().code(), "missing_shard");
}

/// An output under the same name takes the place of all that was there: no reader of the directory sees both.
#[test]
fn outputs_replace_outputs() {
    let folder = Folder::new();
    written(&folder.at("m.safetensors"), None);
    let o = folder.at("o");
    std::fs::create_dir(&o).unwrap();
    let names = || names_in(&o);
    let to = o.join("model.safetensors");
    let all = |path: &Path| diff(&*open(path).unwrap(), &tensors(), &DiffOptions::new()).unwrap();
    let split =
        |bytes| convert(folder.at("m.safetensors"), &to, &ConvertOptions::new().with_max_shard_size(bytes)).unwrap();
    let first = split(16);
    assert!(first.removed.is_empty());
    assert_eq!(names().len(), 5);
    let second = split(40);
    assert_eq!(second.removed.len(), 4);
    assert_eq!(
        names(),
        ["model-r1-00001-of-00002.safetensors", "model-r1-00002-of-00002.safetensors", "model.safetensors.index.json"]
    );
    assert!(all(second.files.last().unwrap()).rows.iter().all(|row| row.is_equal()));
    // Split anew in its own place, with what was cut off before in the way.
    std::fs::write(o.join("model-r2-00001-of-00009.safetensors"), b"half").unwrap();
    let third = convert(&o, &to, &ConvertOptions::new().with_max_shard_size(16)).unwrap();
    assert_eq!(third.removed.len(), 3);
    assert_eq!(names()[0], "model-00001-of-00004.safetensors");
    assert_eq!(names().len(), 5);
    assert!(all(third.files.last().unwrap()).rows.iter().all(|row| row.is_equal()));
    // What is read is not removed: the joined file stands beside the index.
    let joined = convert(third.files.last().unwrap(), &to, &ConvertOptions::new()).unwrap();
    assert_eq!((joined.removed.len(), names().len()), (0, 6));
    let fourth = convert(folder.at("m.safetensors"), &to, &ConvertOptions::new()).unwrap();
    assert_eq!((fourth.removed.len(), names()), (5, vec!["model.safetensors".to_owned()]));
    assert_eq!(fourth.removed[0], o.join("model.safetensors.index.json"), "the index goes first");
    let fifth = split(40);
    assert_eq!(fifth.removed.iter().collect::<Vec<_>>(), [&to]);
    let careful = ConvertOptions::new().with_existing(fw_convert::Existing::Refuse);
    for options in [careful.clone(), careful.with_max_shard_size(16)] {
        assert_eq!(convert(folder.at("m.safetensors"), &to, &options).unwrap_err().code(), "output_exists");
    }
    assert_eq!(names().len(), 3);
}

/// A source that ends too early leaves nothing of the shards before it.
#[test]
fn a_failed_split_leaves_nothing() {
    struct Broken(MemoryTensors);
    impl TensorFile for Broken {
        fn format(&self) -> Format {
            Format::BinTensors
        }
        fn entries(&self) -> &[fw_convert::Entry] {
            self.0.entries()
        }
        fn metadata(&self) -> Option<&std::collections::BTreeMap<String, String>> {
            None
        }
        fn stream(&self, index: usize, take: &mut fw_convert::Pieces<'_>) -> Result<(), ConvertError> {
            // The first reading, for digests, is whole; the second one is of a disk that fails.
            static READS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
            if READS.fetch_add(1, std::sync::atomic::Ordering::SeqCst) >= 6 {
                return Err(std::io::Error::other("the disk is gone").into());
            }
            self.0.stream(index, take)
        }
    }
    let folder = Folder::new();
    let failed =
        write_tensors(&Broken(tensors()), "memory", folder.at("s.bt"), &ConvertOptions::new().with_max_shard_size(16));
    assert!(failed.unwrap_err().to_string().contains("the disk is gone"));
    assert_eq!(folder.names(), Vec::<String>::new());
}

/// Signed in place, verified, and noticed when anything changes; in every format and in several files.
#[test]
fn signatures_cover_the_checkpoint() {
    let folder = Folder::new();
    let key = SigningKey::generate().unwrap();
    let verify =
        |path: &Path, key: &PublicKey| verify_signature(&*open(path).unwrap(), key, &quiet).map(|found| found.digest());
    written(&folder.at("m.bt"), None);
    written(&folder.at("m.safetensors"), Some(Algorithm::Sha256));
    let split = convert(folder.at("m.bt"), folder.at("s.bt"), &ConvertOptions::new().with_max_shard_size(16)).unwrap();
    let expected = digest_of(&folder.at("m.bt"));
    for path in [folder.at("m.bt"), folder.at("m.safetensors"), split.files.last().unwrap().clone()] {
        assert_eq!(verify(&path, &key.public()).unwrap_err().code(), "missing_signature");
        let done = sign(&path, &path, &key, &ConvertOptions::new()).unwrap();
        assert_eq!(done.digests.manifest.as_ref(), Some(&expected));
        assert_eq!(verify(&path, &key.public()).unwrap(), expected);
        assert_eq!(verify(&path, &SigningKey::generate().unwrap().public()).unwrap_err().code(), "signature_mismatch");
        assert!(checked(&path).is_ok());
        assert!(
            diff(&*open(&path).unwrap(), &tensors(), &DiffOptions::new())
                .unwrap()
                .rows
                .iter()
                .all(|row| row.is_equal())
        );
        // It goes with the tensors wherever they all go, and with nothing less.
        for to in ["to.safetensors", "to.bt"] {
            convert(&path, folder.at(to), &ConvertOptions::new()).unwrap();
            assert_eq!(verify(&folder.at(to), &key.public()).unwrap(), expected, "{to}");
        }
    }
    // A tensor and its digest changed together: the manifest is another one, and nobody signed it.
    let mut forged = MemoryTensors::new();
    for (index, entry) in tensors().entries().iter().enumerate() {
        let mut data = tensors().data(index).unwrap();
        data[0] ^= 1;
        forged.push(entry.name.clone(), entry.dtype, &entry.shape, data).unwrap();
    }
    let signed = open(folder.at("m.bt")).unwrap();
    let mut options = ConvertOptions::new();
    (options.format, options.tensor_digests) = (Some(Format::BinTensors), Some(Algorithm::Sha256));
    write_tensors(&forged, "memory", folder.at("forged.bt"), &options).unwrap();
    let forgery = open(folder.at("forged.bt")).unwrap();
    let mut copy = MemoryTensors::new();
    for (index, entry) in forgery.entries().iter().enumerate() {
        copy.push(entry.name.clone(), entry.dtype, &entry.shape, forgery.data(index).unwrap()).unwrap();
    }
    forgery.metadata().unwrap().iter().for_each(|(key, text)| copy.set_metadata(key, text));
    copy.set_metadata("bt.signature", signed.metadata().unwrap()["bt.signature"].clone());
    assert_eq!(verify_signature(&copy, &key.public(), &quiet).unwrap_err().code(), "signature_mismatch");
    // What differs from its digest is not signed.
    flip(&folder.at("m.safetensors"), 1);
    let before = std::fs::read(folder.at("m.safetensors")).unwrap();
    let refused = sign(folder.at("m.safetensors"), folder.at("m.safetensors"), &key, &ConvertOptions::new());
    assert_eq!(refused.unwrap_err().code(), "checksum_mismatch");
    assert_eq!(std::fs::read(folder.at("m.safetensors")).unwrap(), before);
    convert(folder.at("m.bt"), folder.at("m.npz"), &ConvertOptions::new().with_missing(Missing::Raw)).unwrap();
    let refused = sign(folder.at("m.npz"), folder.at("m.npz"), &key, &ConvertOptions::new()).unwrap_err();
    assert_eq!(refused.code(), "not_signable");
}

/// BT-10.8: keys that OpenSSL made, and a signature that it verifies. Runs where `openssl` is installed.
#[test]
fn openssl_verifies_what_was_signed() {
    let folder = Folder::new();
    let openssl =
        |words: &[&str]| std::process::Command::new("openssl").args(words).current_dir(folder.0.path()).output();
    match openssl(&["genpkey", "-algorithm", "ed25519", "-out", "k"]) {
        Ok(made) if made.status.success() => {}
        _ => return skip("no openssl with Ed25519"),
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.at("k"), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    assert!(openssl(&["pkey", "-in", "k", "-pubout", "-out", "k.pub"]).unwrap().status.success());
    let key = SigningKey::read(folder.at("k")).unwrap();
    assert_eq!(PublicKey::read(folder.at("k.pub")).unwrap(), key.public());
    assert_eq!(std::fs::read_to_string(folder.at("k.pub")).unwrap(), key.public().to_pem());
    let digest = format!("sha256:{}", "ab".repeat(32));
    let signature = key.sign(&digest);
    let hex = signature.rsplit(':').next().unwrap();
    let bytes: Vec<u8> = (0..64).map(|place| u8::from_str_radix(&hex[2 * place..2 * place + 2], 16).unwrap()).collect();
    std::fs::write(folder.at("message"), format!("bt.signature 1\n{digest}\n")).unwrap();
    std::fs::write(folder.at("signature"), bytes).unwrap();
    let words =
        ["pkeyutl", "-verify", "-pubin", "-inkey", "k.pub", "-rawin", "-in", "message", "-sigfile", "signature"];
    let verdict = openssl(&words).unwrap();
    assert!(verdict.status.success(), "{}", String::from_utf8_lossy(&verdict.stderr));
}

/// BT-10.4 to BT-10.6 by a second hand, and every file with digests and signatures in the published readers: `safetensors` and
/// `bintensors` through `FW_PYTHON`.
#[test]
fn the_references_load_what_was_digested_and_signed() {
    let wanted = "import numpy, safetensors, bintensors";
    let python = std::env::var_os("FW_PYTHON").filter(|python| {
        let found = std::process::Command::new(python).args(["-c", wanted]).output();
        found.is_ok_and(|output| output.status.success())
    });
    let Some(python) = python else {
        return skip("FW_PYTHON does not name an interpreter with numpy, safetensors and bintensors");
    };
    let folder = Folder::new();
    let mut tensors = MemoryTensors::new();
    let data = |len: usize| (0..len).map(|place| (place * 11) as u8).collect::<Vec<u8>>();
    tensors.push("layer.0/weight %", DType::Float32, &[3, 4], data(48)).unwrap();
    tensors.push("é\u{1}", DType::Int64, &[], data(8)).unwrap();
    tensors.push("none", DType::Float16, &[0, 5], Vec::new()).unwrap();
    tensors.push("bytes", DType::UInt8, &[7], data(7)).unwrap();
    let mut options = ConvertOptions::new();
    options.format = Some(Format::SafeTensors);
    write_tensors(&tensors, "memory", folder.at("plain.safetensors"), &options).unwrap();
    let key = SigningKey::generate().unwrap();
    for name in ["m.bt", "m.safetensors"] {
        convert(folder.at("plain.safetensors"), folder.at(name), &ConvertOptions::new()).unwrap();
        sign(folder.at(name), folder.at(name), &key, &ConvertOptions::new()).unwrap();
    }
    let split = ConvertOptions::new().with_max_shard_size(20);
    convert(folder.at("plain.safetensors"), folder.at("s.safetensors"), &split).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop/digests.py");
    let run = std::process::Command::new(python)
        .arg(script)
        .args([folder.at("plain.safetensors"), folder.0.path().to_owned()])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(String::from_utf8(run.stdout).unwrap().trim(), digest_of(&folder.at("plain.safetensors")));
}

/// Says so on the terminal, and in the file that the project's test command gathers skips from.
fn skip(why: &str) {
    let line = format!("SKIPPED: {}: {why}", module_path!());
    eprintln!("{line}");
    if let Some(log) = std::env::var_os("FW_SKIPPED") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
        std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).unwrap();
    }
}

/// Tensors that are picked from a file have another manifest, which is written, and no signature of the old one.
#[test]
fn picked_tensors_are_sealed_anew() {
    let folder = Folder::new();
    let key = SigningKey::generate().unwrap();
    written(&folder.at("m.bt"), Some(Algorithm::Sha256));
    sign(folder.at("m.bt"), folder.at("m.bt"), &key, &ConvertOptions::new()).unwrap();
    let file = open(folder.at("m.bt")).unwrap();
    let mut some = MemoryTensors::new();
    let index = file.find("a").unwrap();
    let entry = &file.entries()[index];
    some.push("a", entry.dtype, &entry.shape, file.data(index).unwrap()).unwrap();
    file.metadata().unwrap().iter().for_each(|(key, text)| some.set_metadata(key, text));
    let mut options = ConvertOptions::new();
    options.format = Some(Format::BinTensors);
    write_tensors(&some, "memory", folder.at("some.bt"), &options).unwrap();
    let kept = open(folder.at("some.bt")).unwrap().metadata().unwrap().clone();
    assert!(checked(&folder.at("some.bt")).is_ok());
    assert_eq!(kept["bt.manifest"], digest_of(&folder.at("some.bt")));
    assert_eq!(kept.keys().filter(|key| key.starts_with("bt.")).count(), 2, "{kept:?}");
}
