//! Files of other formats: keys where they have them, tensors copied, merged and split.

use fw_convert::{DiffOptions, Format, diff, open};
use fw_edit::{
    Change, CopyOptions, Edit, Existing, Input, MergeOptions, Names, RecodeOptions, ReshuffleOptions, SetOptions,
    SplitOptions, Strategy, Target, copy, merge, recode, reshuffle, set, split,
};
use fw_query::Where;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn input(path: &Path) -> Input<'_> {
    Input { path, format: fw_convert::detect(path).unwrap(), name: path.to_str().unwrap() }
}

fn safetensors(tensors: &[(&str, &[f32])], metadata: &str) -> Vec<u8> {
    let (mut header, mut data) = (format!("{{\"__metadata__\":{metadata}"), Vec::new());
    for (name, values) in tensors {
        let start = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let (len, end) = (values.len(), data.len());
        header.push_str(&format!(r#","{name}":{{"dtype":"F32","shape":[{len}],"data_offsets":[{start},{end}]}}"#));
    }
    header.push('}');
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

/// The same tensors in every format that is written.
fn files(folder: &TempDir) -> Vec<PathBuf> {
    let first = folder.path().join("m.safetensors");
    let tensors: &[(&str, &[f32])] = &[("a.w", &[1.0, 2.0]), ("b.w", &[3.0]), ("c", &[4.0, 5.0, 6.0])];
    std::fs::write(&first, safetensors(tensors, r#"{"author":"me","model.title":"old"}"#)).unwrap();
    let mut all = vec![first.clone()];
    for end in ["bt", "npz"] {
        let path = folder.path().join(format!("m.{end}"));
        fw_convert::convert(&first, &path, &Default::default()).unwrap();
        all.push(path);
    }
    all
}

#[track_caller]
fn same_tensors(left: &Path, right: &Path) {
    let found = diff(&*open(left).unwrap(), &*open(right).unwrap(), &DiffOptions::new()).unwrap();
    assert!(found.rows.iter().all(|row| row.comparison.is_equal()), "{:?}", found.rows);
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<_> = open(path).unwrap().entries().iter().map(|entry| entry.name.clone()).collect();
    names.sort();
    names
}

#[test]
fn keys_of_files_are_set_where_the_format_has_them() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(&folder) {
        let format = fw_convert::detect(&path).unwrap();
        let out = folder.path().join(format!("out.{}", format.extension()));
        let mut edits = Edit::parse("model.title=new,epoch=12,loss:=0.5").unwrap();
        edits.push(Edit::delete("author").unwrap());
        let changes = [Change::new(Where::default(), edits)];
        let done = set(&input(&path), Target::new_file(&out), &changes, &SetOptions::default());
        if format == Format::Npz {
            assert_eq!(done.unwrap_err().code(), "no_metadata");
            assert!(!out.exists());
            continue;
        }
        assert_eq!(done.unwrap().changed_messages, 1);
        let found = open(&out).unwrap();
        let map = found.metadata().unwrap();
        let texts: Vec<_> = map.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
        assert_eq!(texts, [("epoch", "12"), ("loss", "0.5"), ("model.title", "new")], "{format}");
        assert!(found.json_keys().contains("loss") && !found.json_keys().contains("epoch"), "{format}");
        same_tensors(&path, &out);
        // In place, and back.
        let changes = [Change::new(Where::default(), Edit::parse("epoch=13").unwrap())];
        set(&input(&out), Target::InPlace, &changes, &SetOptions::default()).unwrap();
        assert_eq!(open(&out).unwrap().metadata().unwrap()["epoch"], "13");
        same_tensors(&path, &out);
        let error = set(
            &input(&path),
            Target::File { path: &path, existing: Existing::Replace },
            &changes,
            &SetOptions::default(),
        );
        assert_eq!(error.unwrap_err().code(), "same_file");
    }
}

#[test]
fn tensors_are_copied_split_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(&folder) {
        let format = fw_convert::detect(&path).unwrap();
        let at = |name: &str| folder.path().join(format!("{}-{name}.{}", format.name(), format.extension()));
        let template = |name: &str| Names::parse(at(name).to_str().unwrap()).unwrap();
        let some = CopyOptions::new(Where::parse("name=*.w").unwrap());
        let done = copy(&input(&path), &template("some"), &some).unwrap();
        assert_eq!(
            (done.copied_objects, names(&at("some"))),
            (2, vec!["a.w".to_owned(), "b.w".to_owned()]),
            "{format}"
        );
        let done = split(&input(&path), &template("part-[name]"), &SplitOptions::default()).unwrap();
        assert_eq!(done.files.len(), 3);
        if format.holds_metadata() {
            assert_eq!(open(at("part-c")).unwrap().metadata().unwrap()["author"], "me");
        }
        let parts = ["part-a.w", "part-b.w", "part-c"].map(at);
        let inputs = parts.each_ref().map(|part| input(part));
        merge(&inputs, Target::new_file(&at("back")), &MergeOptions::default()).unwrap();
        same_tensors(&path, &at("back"));

        // Tensors of one name: a choice is needed.
        let twice = [input(&path), input(&parts[0])];
        let error = merge(&twice, Target::new_file(&at("twice")), &MergeOptions::default()).unwrap_err();
        assert_eq!(error.code(), "conflicting_tensor", "{error}");
        let options = MergeOptions::default().with_strategy(Some(Strategy::Last));
        let done = merge(&twice, Target::new_file(&at("twice")), &options).unwrap();
        assert_eq!((done.objects, done.dropped.len(), done.dropped[0].tensor), (3, 1, true));
        let append = CopyOptions::default().with_existing(Existing::Append);
        assert_eq!(copy(&input(&path), &template("some"), &append).unwrap_err().code(), "not_appendable");
    }
}

#[test]
fn what_belongs_to_messages_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(&folder);
    let out = folder.path().join("out.safetensors");
    let error = reshuffle(&input(&files[0]), Target::new_file(&out), &ReshuffleOptions::default()).unwrap_err();
    assert_eq!(error.code(), "tensogram_only", "{error}");
    let error = recode(&input(&files[0]), Target::new_file(&out), &RecodeOptions::default()).unwrap_err();
    assert_eq!(error.code(), "tensogram_only", "{error}");
    let mixed = [input(&files[0]), input(&files[1])];
    assert_eq!(merge(&mixed, Target::new_file(&out), &MergeOptions::default()).unwrap_err().code(), "format_differs");
    let wrong = folder.path().join("out.bt");
    let changes = [Change::new(Where::default(), Edit::parse("a=1").unwrap())];
    let error = set(&input(&files[0]), Target::new_file(&wrong), &changes, &SetOptions::default()).unwrap_err();
    assert_eq!((error.code(), error.hint()), ("format_differs", Some("use fw convert to change the format")));
    let mut sink = Vec::new();
    set(&input(&files[0]), Target::Stream(&mut sink), &changes, &SetOptions::default()).unwrap();
    std::fs::write(&out, sink).unwrap();
    assert_eq!(open(&out).unwrap().metadata().unwrap()["a"], "1");
}
