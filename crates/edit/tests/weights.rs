//! Checkpoints of both formats: tensors renamed, chosen, replaced and cast; what becomes of digests, signatures, alignment and order.

use fw_bintensors::{Algorithm, HeaderAlignment};
use fw_convert::{
    ConvertOptions, Format, MemoryTensors, SigningKey, StoredUse, TensorFile, manifest, open, stored_digests,
    verify_digests,
};
use fw_edit::{
    CastOptions, CastType, Change, Choice, CopyOptions, Edit, EditError, Existing, Input, MergeOptions, Misfit, Names,
    RenameRule, ReplaceOptions, SetOptions, Target, WeightsOptions, cast, copy, merge, rename, replace, set, subset,
};
use fw_query::Where;
use fw_tensor::DType;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn input(path: &Path) -> Input<'_> {
    Input { path, format: fw_convert::detect(path).unwrap(), name: path.file_name().unwrap().to_str().unwrap() }
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A model of three layers: floats of two types, integers, and a type that BinTensors carries as bytes.
fn tensors() -> MemoryTensors {
    let mut tensors = MemoryTensors::new();
    tensors.push("embed.weight", DType::Float32, &[4, 2], floats(&[0.5; 8])).unwrap();
    for layer in 0..3u8 {
        let weight = floats(&[1.0, 2.0, 3.0, f32::from(layer) + 0.1]);
        tensors.push(format!("h.{layer}.attn.q.weight"), DType::Float32, &[2, 2], weight).unwrap();
        tensors.push(format!("h.{layer}.norm.gamma"), DType::BFloat16, &[2], vec![0x80, 0x3f, layer, 0x40]).unwrap();
    }
    tensors.push("scales", DType::Float8E8M0, &[2, 2], vec![127, 128, 129, 130]).unwrap();
    tensors.push("ids", DType::Int64, &[1], 7i64.to_le_bytes().to_vec()).unwrap();
    tensors.set_metadata("author", "me");
    tensors
}

/// The model in both formats, with digests or without.
fn models(folder: &TempDir, digests: Option<Algorithm>) -> Vec<PathBuf> {
    let made = [("m.bt", Format::BinTensors), ("m.safetensors", Format::SafeTensors)];
    made.map(|(name, format)| {
        let path = folder.path().join(name);
        let mut options = ConvertOptions::new();
        (options.format, options.tensor_digests) = (Some(format), digests);
        fw_convert::write_tensors(&tensors(), "memory", &path, &options).unwrap();
        path
    })
    .to_vec()
}

/// Another file of the same format.
fn beside(path: &Path, name: &str) -> PathBuf {
    path.with_file_name(format!("{name}.{}", path.extension().unwrap().to_str().unwrap()))
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<_> = open(path).unwrap().entries().iter().map(|entry| entry.name.clone()).collect();
    names.sort();
    names
}

fn data(path: &Path, name: &str) -> Vec<u8> {
    let file = open(path).unwrap();
    file.data(file.find(name).unwrap()).unwrap()
}

/// Everything that a file says about itself is true, and it has so many digests.
#[track_caller]
fn is_sound(path: &Path, digests: usize) {
    let file = open(path).unwrap();
    assert_eq!(verify_digests(&*file, &|_| {}).unwrap(), digests, "{path:?}");
    let kept = stored_digests(&*file);
    assert!(kept.strays().is_empty(), "{:?}", kept.strays());
    if digests == file.entries().len() {
        assert_eq!(kept.manifest(), Some(manifest(&*file, &|_| {}).unwrap().digest().as_str()));
    }
    let options = fw_bintensors::validate::ValidateOptions::default();
    let report = fw_convert::validate(path, &options).unwrap();
    assert!(report.is_ok() && report.findings().is_empty(), "{:?}", report.findings());
}

fn flip_last_byte(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(path, bytes).unwrap();
}

fn rules(pairs: &[(&str, &str)]) -> Vec<RenameRule> {
    pairs.iter().map(|(from, to)| RenameRule::new(from, to).unwrap()).collect()
}

fn ignoring() -> WeightsOptions {
    WeightsOptions::default().with_stored(StoredUse::Ignore)
}

#[test]
fn tensors_are_renamed_with_all_that_is_kept_about_them() {
    for digests in [None, Some(Algorithm::Sha256), Some(Algorithm::Sha1)] {
        let folder = tempfile::tempdir().unwrap();
        for path in models(&folder, digests) {
            let out = beside(&path, "out");
            let rules = rules(&[("h.*.norm.gamma", "zz.*.weight"), ("scales", "a scale"), ("none", "x")]);
            let done = rename(&input(&path), Target::new_file(&out), &rules, &WeightsOptions::default()).unwrap();
            assert_eq!((done.tensors, done.renamed.len(), done.unused_rules.len()), (9, 4, 1));
            assert_eq!(done.unused_rules, ["none -> x"]);
            assert_eq!(data(&out, "zz.2.weight"), data(&path, "h.2.norm.gamma"));
            assert_eq!(data(&out, "a scale"), [127, 128, 129, 130]);
            let file = open(&out).unwrap();
            assert_eq!(file.entries()[file.find("a scale").unwrap()].dtype, DType::Float8E8M0, "{path:?}");
            assert_eq!(file.metadata().unwrap()["author"], "me");
            let count = if digests.is_some() { 9 } else { 0 };
            is_sound(&out, count);
            let (checked, made) = if digests.is_some() { (9, 4) } else { (0, 0) };
            assert_eq!((done.digests.checked, done.digests.made, done.digests.ignored), (checked, made, 0));
            if let Some(algorithm) = digests {
                let kept = stored_digests(&*file);
                assert!(kept.places().all(|place| kept.of_tensor(place).unwrap().starts_with(algorithm.name())));
            }
            // And back: the bytes are those of before.
            let back = fw_edit::RenameRule::new("zz.*.weight", "h.*.norm.gamma").unwrap();
            let back = [back, RenameRule::parse("a scale=scales").unwrap()];
            rename(&input(&out), Target::InPlace, &back, &WeightsOptions::default()).unwrap();
            assert!(std::fs::read(&out).unwrap() == std::fs::read(&path).unwrap(), "{path:?}");
        }
    }
}

/// Readers that have the old file open or mapped keep it.
#[test]
fn the_old_file_stays_for_those_who_have_it_open() {
    let folder = tempfile::tempdir().unwrap();
    for path in models(&folder, None) {
        let old = open(&path).unwrap();
        let before = old.data(0).unwrap();
        let rules = rules(&[("*", "renamed.*")]);
        rename(&input(&path), Target::InPlace, &rules, &WeightsOptions::default()).unwrap();
        assert_eq!(old.data(0).unwrap(), before);
        assert!(names(&path).iter().all(|name| name.starts_with("renamed.")));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
}

#[test]
fn names_must_differ() {
    let folder = tempfile::tempdir().unwrap();
    for path in models(&folder, None) {
        let before = std::fs::read(&path).unwrap();
        let rules = rules(&[("h.*.attn.*", "attn.{2}")]);
        let error = rename(&input(&path), Target::InPlace, &rules, &WeightsOptions::default()).unwrap_err();
        assert_eq!((error.code(), error.is_misuse()), ("name_collision", true));
        let words = "tensors \"h.0.attn.q.weight\" and \"h.1.attn.q.weight\" would both be \"attn.q.weight\"";
        assert!(error.to_string().contains(words), "{error}");
        assert!(std::fs::read(&path).unwrap() == before);
    }
}

#[test]
fn subsets_are_chosen_by_patterns_layers_and_keys() {
    for digests in [None, Some(Algorithm::Sha256)] {
        let folder = tempfile::tempdir().unwrap();
        for path in models(&folder, digests) {
            let write = |name: &str, choice: &Choice| {
                let out = beside(&path, name);
                let done = subset(&input(&path), Target::new_file(&out), choice, &WeightsOptions::default()).unwrap();
                assert_eq!(done.tensors + done.left_out, 9);
                is_sound(&out, if digests.is_some() { done.tensors } else { 0 });
                assert_eq!(open(&out).unwrap().metadata().unwrap()["author"], "me");
                (names(&out), done)
            };
            let (found, done) = write("layers", &Choice::default().with_layers("1-".parse().unwrap()));
            assert_eq!((found.len(), done.left_out), (7, 2));
            assert!(!found.iter().any(|name| name.starts_with("h.0.")));
            let choice = Choice::default().with_included(&["h.*", "ids"]).with_excluded(&["*.gamma", "typo*"]);
            let (found, done) = write("patterns", &choice);
            assert_eq!(found, ["h.0.attn.q.weight", "h.1.attn.q.weight", "h.2.attn.q.weight", "ids"]);
            assert_eq!(done.unused_patterns, ["typo*"]);
            let choice = Choice::default().with_filter(Where::parse("dtype=bfloat16").unwrap());
            assert_eq!(write("keys", &choice).0.len(), 3);
            let none = Choice::default().with_included(&["nothing"]);
            let error = subset(&input(&path), Target::InPlace, &none, &WeightsOptions::default()).unwrap_err();
            assert_eq!(error.code(), "nothing_selected");
            // What the carried type of a tensor is kept under goes with it.
            let (_, _) = write("scales", &Choice::default().with_included(&["scales"]));
            assert_eq!(open(beside(&path, "scales")).unwrap().entries()[0].dtype, DType::Float8E8M0);
        }
    }
}

#[test]
fn a_tensor_is_replaced_from_files_of_any_format() {
    let folder = tempfile::tempdir().unwrap();
    let npy = folder.path().join("new.npy");
    let mut one = MemoryTensors::new();
    one.push("array", DType::Float32, &[4], floats(&[9.0, 8.0, 7.0, 6.0])).unwrap();
    fw_convert::write_tensors(&one, "memory", &npy, &{
        let mut options = ConvertOptions::new();
        options.format = Some(Format::Npy);
        options
    })
    .unwrap();
    for digests in [None, Some(Algorithm::Sha256)] {
        for path in models(&folder, digests) {
            let out = beside(&path, "out");
            let target = || Target::File { path: &out, existing: Existing::Replace };
            let common = ReplaceOptions::new(WeightsOptions::default());
            let name = "h.1.attn.q.weight";
            let swap = |from: (&Input<'_>, Option<&str>), misfit| {
                replace(&input(&path), target(), name, from, &common.clone().with_misfit(misfit))
            };
            // The other format's tensor of another layer.
            let other =
                beside(&path, "m").with_extension(if path.extension().unwrap() == "bt" { "safetensors" } else { "bt" });
            let done = swap((&input(&other), Some("h.2.attn.q.weight")), Misfit::Refuse).unwrap();
            assert_eq!((done.before.name.as_str(), done.after.name.as_str()), (name, "h.2.attn.q.weight"));
            assert_eq!(data(&out, name), data(&path, "h.2.attn.q.weight"));
            is_sound(&out, if digests.is_some() { 9 } else { 0 });
            assert_eq!(done.digests.made, usize::from(digests.is_some()));
            // Of the same name by default, so nothing changes.
            swap((&input(&other), None), Misfit::Refuse).unwrap();
            assert!(std::fs::read(&out).unwrap() == std::fs::read(&path).unwrap());
            // The only one of its file, in another shape.
            let error = swap((&input(&npy), None), Misfit::Refuse).unwrap_err();
            assert_eq!((error.code(), error.hint().unwrap().contains("--reshape")), ("tensor_differs", true));
            swap((&input(&npy), None), Misfit::Reshape).unwrap();
            assert_eq!(data(&out, name), floats(&[9.0, 8.0, 7.0, 6.0]));
            let shape = |path: &Path| {
                let file = open(path).unwrap();
                file.entries()[file.find(name).unwrap()].shape.clone()
            };
            assert_eq!(shape(&out), [2, 2]);
            is_sound(&out, if digests.is_some() { 9 } else { 0 });
            swap((&input(&npy), None), Misfit::Adopt).unwrap();
            assert_eq!(shape(&out), [4]);
            is_sound(&out, if digests.is_some() { 9 } else { 0 });
            // Another type.
            let error = swap((&input(&other), Some("ids")), Misfit::Reshape).unwrap_err();
            assert!(!error.hint().unwrap().contains("--reshape"), "{error}");
            let done = swap((&input(&other), Some("ids")), Misfit::Adopt).unwrap();
            assert_eq!((done.before.dtype, done.after.dtype), ("float32", "int64"));
            assert_eq!(data(&out, name), 7i64.to_le_bytes());
            is_sound(&out, if digests.is_some() { 9 } else { 0 });
            for (tensor, from) in [("h.1.attn.q.weigth", None), (name, Some("h.2.attn.q.weigth"))] {
                let error = replace(&input(&path), target(), tensor, (&input(&other), from), &common).unwrap_err();
                assert_eq!(error.code(), "tensor_not_found");
                assert!(error.hint().unwrap().starts_with("did you mean \"h."), "{error}");
            }
        }
    }
}

/// A corrupt tensor of either file is not taken, and not signed anew.
#[test]
fn corrupt_tensors_are_refused_and_never_signed_anew() {
    let folder = tempfile::tempdir().unwrap();
    for path in models(&folder, Some(Algorithm::Sha256)) {
        let good = beside(&path, "good");
        std::fs::copy(&path, &good).unwrap();
        flip_last_byte(&path);
        let corrupt = open(&path).unwrap().entries().last().unwrap().name.clone();
        let before = std::fs::read(&path).unwrap();
        let out = beside(&path, "out");
        let target = || Target::File { path: &out, existing: Existing::Replace };
        let rename_all = |stored| {
            let options = WeightsOptions::default().with_stored(stored);
            rename(&input(&path), target(), &rules(&[(&corrupt, "other"), ("ids", "numbers")]), &options)
        };
        let refused = |error: EditError| {
            assert_eq!((error.code(), error.is_misuse()), ("checksum_mismatch", false), "{error}");
            assert!(error.to_string().contains(&corrupt) && error.to_string().contains("m."), "{error}");
            assert!(!out.exists() && std::fs::read(&path).unwrap() == before);
        };
        refused(rename_all(StoredUse::Verify).unwrap_err());
        let everything = Choice::default();
        refused(subset(&input(&path), target(), &everything, &WeightsOptions::default()).unwrap_err());
        refused(
            cast(&input(&path), target(), &CastOptions::new(CastType::F32, WeightsOptions::default())).unwrap_err(),
        );
        let from = (&input(&path), Some(corrupt.as_str()));
        refused(replace(&input(&good), target(), &corrupt, from, &ReplaceOptions::default()).unwrap_err());
        // Without a look: a tensor that stays is as invalid as before, one that changes has no digest.
        let done = subset(&input(&path), target(), &everything, &ignoring()).unwrap();
        assert_eq!((done.digests.ignored, done.digests.checked, done.digests.made), (9, 0, 0));
        assert!(std::fs::read(&out).unwrap() == before);
        let done = rename_all(StoredUse::Ignore).unwrap();
        assert_eq!(done.digests.dropped.len(), 2);
        let kept = stored_digests(&*open(&out).unwrap());
        assert_eq!((kept.count(), kept.manifest()), (7, None));
        // The others are still checked.
        is_sound(&out, 7);
        std::fs::remove_file(&out).unwrap();
    }
}

/// Digests of data alone stay with the data, whatever the tensor is called; changed data gets the newer kind.
#[test]
fn older_digests_are_kept_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    for (format, name) in [(Format::BinTensors, "old.bt"), (Format::SafeTensors, "old.safetensors")] {
        let path = folder.path().join(name);
        let mut old = MemoryTensors::new();
        let bytes = floats(&[1.0, 2.0]);
        old.push("w", DType::Float32, &[2], bytes.clone()).unwrap();
        old.push("v", DType::Float32, &[2], bytes.clone()).unwrap();
        let hash: String = Algorithm::Sha1.digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        old.set_metadata("bt.hash/w", format!("sha1:{hash}"));
        let mut options = ConvertOptions::new();
        options.format = Some(format);
        fw_convert::write_tensors(&old, "memory", &path, &options).unwrap();
        let out = beside(&path, "renamed");
        let done = rename(&input(&path), Target::new_file(&out), &rules(&[("w", "x")]), &WeightsOptions::default());
        assert_eq!(done.unwrap().digests.checked, 1);
        assert_eq!(open(&out).unwrap().metadata().unwrap()["bt.hash/x"], format!("sha1:{hash}"));
        is_sound(&out, 1);
        let out = beside(&path, "cast");
        let options = CastOptions::new(CastType::F16, WeightsOptions::default());
        cast(&input(&path), Target::new_file(&out), &options).unwrap();
        let map = open(&out).unwrap().metadata().unwrap().clone();
        assert!(map.contains_key("bt.digest/w") && map.len() == 1, "{map:?}");
        is_sound(&out, 1);
    }
}

#[test]
fn floats_are_cast_with_their_error() {
    for digests in [None, Some(Algorithm::Sha3_256)] {
        let folder = tempfile::tempdir().unwrap();
        for path in models(&folder, digests) {
            let count = if digests.is_some() { 9 } else { 0 };
            for to in CastType::ALL {
                let out = beside(&path, to.name());
                let options = CastOptions::new(to, WeightsOptions::default());
                let done = cast(&input(&path), Target::new_file(&out), &options).unwrap();
                is_sound(&out, count);
                assert_eq!(
                    (done.not_castable.as_slice(), done.tensors),
                    (&["ids".to_owned(), "scales".to_owned()][..], 9)
                );
                let cast = if matches!(to, CastType::F32) {
                    3
                } else if matches!(to, CastType::BF16) {
                    4
                } else {
                    7
                };
                assert_eq!(done.cast.len(), cast, "{}", to.name());
                let file = open(&out).unwrap();
                let all_are = |name: &str| file.entries()[file.find(name).unwrap()].dtype;
                assert_eq!(all_are("h.2.attn.q.weight"), to.dtype());
                assert_eq!((all_are("ids"), all_are("scales")), (DType::Int64, DType::Float8E8M0));
                assert_eq!(data(&out, "scales"), data(&path, "scales"));
                let exact = to == CastType::F32;
                assert_eq!(done.error.max_error == 0.0, exact, "{:?}", done.error);
                assert!(done.error.rms_error <= done.error.max_error);
                // 2.1 is the value that none of the narrow types has.
                let expected = match to {
                    CastType::F16 => 2.1f32 - 2.099_609_4,
                    CastType::BF16 => 2.1 - 2.093_75,
                    CastType::F32 => 0.0,
                    _ => 2.1 - 2.0,
                };
                let row = done.cast.iter().find(|row| row.name == "h.2.attn.q.weight");
                if let Some(row) = row {
                    assert!((row.error.max_error - f64::from(expected)).abs() < 1e-6, "{}: {:?}", to.name(), row.error);
                }
                let wide = fw_convert::AsFloat32::new(&*file);
                let values = wide.data(file.find("h.2.attn.q.weight").unwrap()).unwrap();
                assert_eq!(values[..8], floats(&[1.0, 2.0]));
            }
            let out = beside(&path, "some");
            let choice = Choice::default().with_included(&["h.*.weight", "none"]);
            let options = CastOptions::new(CastType::F16, WeightsOptions::default()).with_choice(choice);
            let done = cast(&input(&path), Target::new_file(&out), &options).unwrap();
            assert_eq!((done.cast.len(), done.unused_patterns), (3, vec!["none".to_owned()]));
            assert_eq!(done.data_bytes, (48, 24));
            assert_eq!(done.digests.made, if digests.is_some() { 3 } else { 0 });
        }
    }
}

#[test]
fn alignment_is_kept_or_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let start = |path: &Path| {
        let file = open(path).unwrap();
        file.entries().iter().filter_map(|entry| entry.span).map(|span| span.start).min().unwrap()
    };
    for path in models(&folder, None) {
        let aligned = beside(&path, "aligned");
        let options = WeightsOptions::default().with_align(HeaderAlignment::new(4096));
        let none: &[RenameRule] = &[];
        rename(&input(&path), Target::new_file(&aligned), none, &options).unwrap();
        assert_eq!(start(&aligned), 4096);
        assert_eq!(open(&aligned).unwrap().alignment().bytes(), 4096);
        assert_eq!(open(&path).unwrap().alignment(), HeaderAlignment::default());
        // Every change keeps it, until another is chosen.
        let changes = [Change::new(Where::default(), Edit::parse("author=you").unwrap())];
        set(&input(&aligned), Target::InPlace, &changes, &SetOptions::default()).unwrap();
        assert_eq!(start(&aligned), 4096);
        rename(&input(&aligned), Target::InPlace, &rules(&[("*", "m.*")]), &WeightsOptions::default()).unwrap();
        assert_eq!(start(&aligned), 4096);
        let options = WeightsOptions::default().with_align(Some(HeaderAlignment::CANONICAL));
        rename(&input(&aligned), Target::InPlace, &rules(&[("m.*", "*")]), &options).unwrap();
        set(
            &input(&aligned),
            Target::InPlace,
            &[Change::new(Where::default(), Edit::parse("author=me").unwrap())],
            &SetOptions::default(),
        )
        .unwrap();
        assert!(std::fs::read(&aligned).unwrap() == std::fs::read(&path).unwrap());
        is_sound(&aligned, 0);
    }
}

/// A signature is of a manifest: it stays while that does.
#[test]
fn signatures_stay_with_their_tensors() {
    let folder = tempfile::tempdir().unwrap();
    let key = SigningKey::generate().unwrap();
    for path in models(&folder, None) {
        fw_convert::sign(&path, &path, &key, &ConvertOptions::new()).unwrap();
        let signed = |path: &Path| fw_convert::verify_signature(&*open(path).unwrap(), &key.public(), &|_| {}).is_ok();
        assert!(signed(&path));
        let changes = [Change::new(Where::default(), Edit::parse("author=you").unwrap())];
        let done = set(&input(&path), Target::InPlace, &changes, &SetOptions::default()).unwrap();
        assert!(signed(&path) && !done.signature_dropped, "keys are not signed");
        let nothing = rename(&input(&path), Target::InPlace, &rules(&[("ids", "ids")]), &WeightsOptions::default());
        assert!(signed(&path) && !nothing.unwrap().digests.signature_dropped);
        let out = beside(&path, "some");
        let choice = Choice::default().with_included(&["h.*"]);
        let done = subset(&input(&path), Target::new_file(&out), &choice, &WeightsOptions::default()).unwrap();
        assert!(done.digests.signature_dropped && stored_digests(&*open(&out).unwrap()).signature().is_none());
        assert_eq!(done.digests.manifest.as_deref(), stored_digests(&*open(&out).unwrap()).manifest());
        is_sound(&out, 6);
        let template = beside(&path, "copy");
        let copied = CopyOptions::new(Where::parse("name=h.*").unwrap());
        let done = copy(&input(&path), &Names::parse(template.to_str().unwrap()).unwrap(), &copied).unwrap();
        assert!(done.signature_dropped && std::fs::read(&template).unwrap() == std::fs::read(&out).unwrap());
        let rest = beside(&path, "rest");
        let choice = Choice::default().with_excluded(&["h.*"]);
        subset(&input(&path), Target::new_file(&rest), &choice, &WeightsOptions::default()).unwrap();
        let whole = beside(&path, "whole");
        let done = merge(&[input(&out), input(&rest)], Target::new_file(&whole), &MergeOptions::default()).unwrap();
        assert!(!done.signature_dropped, "these were not signed");
        is_sound(&whole, 9);
        let renamed = rename(&input(&path), Target::InPlace, &rules(&[("ids", "x")]), &WeightsOptions::default());
        assert!(renamed.unwrap().digests.signature_dropped && !signed(&path));
        is_sound(&path, 9);
    }
}

/// A checkpoint in several files becomes one file; others are refused with what does the work.
#[test]
fn other_formats() {
    let folder = tempfile::tempdir().unwrap();
    let path = models(&folder, Some(Algorithm::Sha256)).remove(0);
    let sharded = folder.path().join("s.bt");
    let options = ConvertOptions::new().with_max_shard_size(40);
    fw_convert::convert(&path, &sharded, &options).unwrap();
    let index = folder.path().join("s.bt.index.json");
    for name in ["one.bt", "one.safetensors"] {
        let out = folder.path().join(name);
        let done = rename(&input(&index), Target::new_file(&out), &rules(&[("ids", "x")]), &WeightsOptions::default());
        assert_eq!(done.unwrap().digests.checked, 9);
        is_sound(&out, 9);
        assert_eq!(data(&out, "x"), 7i64.to_le_bytes());
    }
    let choice = Choice::default().with_included(&["h.1.*"]);
    let out = folder.path().join("layer.bt");
    subset(&input(&index), Target::new_file(&out), &choice, &WeightsOptions::default()).unwrap();
    assert_eq!(names(&out).len(), 2);
    let error = rename(&input(&index), Target::InPlace, &[], &WeightsOptions::default()).unwrap_err();
    assert_eq!((error.code(), error.is_misuse()), ("index_in_place", true));
    let error = rename(&input(&index), Target::new_file(&folder.path().join("x.npz")), &[], &WeightsOptions::default());
    assert_eq!(error.unwrap_err().code(), "unknown_format");
    for (end, hint) in [("tgm", "use fw set -w name=OLD -s name=NEW"), ("npz", "convert it with fw convert first")] {
        let other = folder.path().join(format!("m.{end}"));
        let options = ConvertOptions::new().with_missing(fw_convert::Missing::Raw);
        fw_convert::convert(&path, &other, &options).unwrap();
        let error = rename(&input(&other), Target::InPlace, &[], &WeightsOptions::default()).unwrap_err();
        assert_eq!((error.code(), error.hint(), error.is_misuse()), ("not_weights", Some(hint), true));
    }
}

/// The published packages load what every change writes, with the values that it should have.
#[test]
fn the_packages_load_what_was_changed() {
    let wanted = "import numpy, safetensors, bintensors";
    let python = std::env::var_os("FW_PYTHON").filter(|python| {
        let found = std::process::Command::new(python).args(["-c", wanted]).output();
        found.is_ok_and(|output| output.status.success())
    });
    let Some(python) = python else {
        return skip("FW_PYTHON does not name an interpreter with numpy, safetensors and bintensors");
    };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut tensors = MemoryTensors::new();
    let mut values: Vec<f32> =
        (0..2000).map(|place| (place as f32 * 0.37).sin() * (place as f32 / 40.0 - 20.0).exp2()).collect();
    values.extend([0.0, -0.0, 1e-8, 464.0, 465.0, 480.1, 65_519.0, 65_520.0, -3e38, f32::INFINITY, f32::NEG_INFINITY]);
    tensors.push("embed", DType::Float32, &[values.len() as u64], floats(&values)).unwrap();
    tensors.push("h.0.w", DType::Float32, &[2, 3], floats(&[0.1, 0.2, 0.3, -0.4, 0.5, 1e30])).unwrap();
    tensors.push("h.1.w", DType::Float32, &[2, 3], floats(&[1.5, 2.5, 3.5, 4.5, 5.5, 6.5])).unwrap();
    tensors.push("h.0.none", DType::Float32, &[0, 3], Vec::new()).unwrap();
    tensors.push("ids", DType::Int64, &[3], (0..24).collect()).unwrap();
    tensors.set_metadata("author", "me");
    for (end, format) in [("bt", Format::BinTensors), ("safetensors", Format::SafeTensors)] {
        let path = at(&format!("plain.{end}"));
        let mut options = ConvertOptions::new();
        (options.format, options.tensor_digests) = (Some(format), Some(Algorithm::Sha256));
        fw_convert::write_tensors(&tensors, "memory", &path, &options).unwrap();
        let (input, options) = (input(&path), WeightsOptions::default());
        let out = |name: &str| beside(&path, name);
        rename(&input, Target::new_file(&out("plain_again")), &[], &options).unwrap();
        let pairs = rules(&[("h.*.w", "blk.*.weight"), ("h.*", "blk.*")]);
        rename(&input, Target::new_file(&out("renamed")), &pairs, &options).unwrap();
        let choice = Choice::default().with_layers("1".parse().unwrap());
        subset(&input, Target::new_file(&out("subset")), &choice, &options).unwrap();
        let swap = |name: &str, other: &str, misfit| {
            let options = ReplaceOptions::default().with_misfit(misfit);
            replace(&input, Target::new_file(&out(name)), "h.0.w", (&input, Some(other)), &options).unwrap();
        };
        swap("replaced", "h.1.w", Misfit::Refuse);
        swap("adopted", "ids", Misfit::Adopt);
        for to in [CastType::F16, CastType::BF16, CastType::F8E4M3] {
            let options = CastOptions::new(to, WeightsOptions::default());
            cast(&input, Target::new_file(&out(to.name())), &options).unwrap();
        }
        std::fs::copy(&path, out("set")).unwrap();
        let changes = [Change::new(Where::default(), Edit::parse("author=me").unwrap())];
        set(&self::input(&out("set")), Target::InPlace, &changes, &SetOptions::default()).unwrap();
        let rest = Choice::default().with_excluded(&["h.1.*", "embed", "ids"]);
        subset(&input, Target::new_file(&out("rest")), &rest, &options).unwrap();
        merge(
            &[self::input(&out("subset")), self::input(&out("rest"))],
            Target::new_file(&out("merged")),
            &MergeOptions::default(),
        )
        .unwrap();
        let page = WeightsOptions::default().with_align(HeaderAlignment::new(4096));
        rename(&input, Target::new_file(&out("aligned")), &[], &page).unwrap();
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop/weights.py");
    let run = std::process::Command::new(python).arg(script).arg(folder.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(String::from_utf8(run.stdout).unwrap().trim(), "all equal");
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
