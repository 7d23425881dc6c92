//! Tensogram files changed: what was asked for, and nothing else.

use fw_convert::Format;
use fw_edit::{
    Change, Coding, CopyOptions, Edit, Existing, Input, MergeOptions, Names, RecodeOptions, ReshuffleOptions,
    SetOptions, SplitOptions, Strategy, Target, Unit, copy, copy_to_stream, merge, recode, reshuffle, set, split,
};
use fw_query::Where;
use fw_tensogram::{
    DType, DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MessageBuilder, MetadataMap, Pipe,
    StreamingEncoder, TensogramFile, ValidateMode, ValidateOptions, Value, encode, validate_file, value,
};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        std::fs::write(self.at(name), bytes).unwrap();
        self.at(name)
    }

    fn names(&self, text: &str) -> Names {
        Names::parse(self.at(text).to_str().unwrap()).unwrap()
    }
}

fn input(path: &Path) -> Input<'_> {
    Input { path, format: Format::Tensogram, name: path.to_str().unwrap() }
}

fn field(param: &str, step: i64) -> Vec<u8> {
    let mars = value!({ "param": param, "step": step, "class": "od" });
    let values: Vec<f64> = (0..600).map(|at| 270.0 + f64::from(at % 97) / 4.0 + step as f64).collect();
    let builder = MessageBuilder::new().extra("run", "00Z").tensor(&[20, 30], &values).unwrap();
    builder.pipeline(Pipe::pack(16).szip()).base("mars", mars).encode().unwrap()
}

/// Two objects in one message: 2t and 10u.
fn pair() -> Vec<u8> {
    let (a, b) = (vec![1.0f32, f32::NAN, 3.0], vec![7i16, 8]);
    let builder = MessageBuilder::new().extra("run", "12Z").tensor(&[3], &a).unwrap();
    let builder = builder.base("mars", value!({ "param": "2t", "step": 0 }));
    let builder = builder.tensor(&[2], &b).unwrap().base("mars", value!({ "param": "10u", "step": 0 }));
    builder.options(EncodeOptions { allow_nan: true, ..EncodeOptions::default() }).encode().unwrap()
}

/// A message whose index, digests and metadata stand after its objects.
fn streamed() -> Vec<u8> {
    let mut stream = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    for number in 0..3 {
        stream.write_preceder(&MetadataMap::from([("n".to_owned(), Value::from(number))])).unwrap();
        stream.write_tensor(&[4], &[number; 4], Pipe::raw()).unwrap();
    }
    stream.finish().unwrap()
}

fn change(filter: &str, edits: &str) -> Change {
    Change::new(Where::parse_line(filter).unwrap(), Edit::parse(edits).unwrap())
}

fn metadata(path: &Path, message: usize) -> GlobalMetadata {
    TensogramFile::open(path).unwrap().survey(message).unwrap().metadata.unwrap()
}

#[track_caller]
fn valid(path: &Path) {
    let report = validate_file(path, &ValidateOptions::mode(ValidateMode::Full)).unwrap();
    assert!(report.findings().next().is_none(), "{:?}", report.findings().collect::<Vec<_>>());
}

/// Every object of every message, decoded, as bits.
fn decoded(path: &Path) -> Vec<(DataObjectDescriptor, Vec<u8>)> {
    let file = TensogramFile::open(path).unwrap();
    let mut objects = Vec::new();
    for message in 0..file.message_count().unwrap() {
        let decoded = file.decode_message(message, &DecodeOptions::default().with_verify_hash()).unwrap();
        objects.extend(decoded.objects.into_iter().map(|object| (object.descriptor, object.bytes)));
    }
    objects
}

#[test]
fn one_of_five_hundred_messages_changes_and_nothing_else() {
    let folder = Folder::new();
    let messages: Vec<Vec<u8>> = (0..500).map(|step| field("2t", step)).collect();
    let all = messages.concat();
    let path = folder.file("in.tgm", &all);
    let out = folder.at("out.tgm");
    let changes = [change("mars.step=250", "mars.param=10u")];
    let done = set(&input(&path), Target::new_file(&out), &changes, &SetOptions::default()).unwrap();
    assert_eq!((done.messages, done.selected_messages, done.changed_messages), (500, 1, 1));
    let new = std::fs::read(&out).unwrap();
    let before: usize = messages[..250].iter().map(Vec::len).sum();
    let after: usize = messages[251..].iter().map(Vec::len).sum();
    assert!(new[..before] == all[..before], "the bytes before it");
    assert!(new[new.len() - after..] == all[all.len() - after..], "the bytes after it");
    assert_eq!(metadata(&out, 250).get("mars.param").as_text(), Some("10u"));
    assert_eq!(metadata(&out, 250).reserved, metadata(&path, 250).reserved, "its provenance is kept");
    assert!(decoded(&out) == decoded(&path));
    valid(&out);

    // Whole messages are copied as they are, too.
    let one = folder.at("one.tgm");
    let options = CopyOptions::new(Where::parse("mars.step=250").unwrap());
    let done = copy(&input(&path), &folder.names("one.tgm"), &options).unwrap();
    assert_eq!((done.messages, done.copied_messages, done.copied_objects), (500, 1, 1));
    assert_eq!(std::fs::read(one).unwrap(), messages[250]);
}

#[test]
fn bytes_between_messages_stay_and_an_unchanged_file_is_not_touched() {
    let folder = Folder::new();
    let (first, second) = (field("2t", 0), field("2t", 6));
    let path = folder.file("in.tgm", &[&first[..], b"junk in between", &second, b"tail"].concat());
    let modified = || std::fs::metadata(&path).unwrap().modified().unwrap();
    let before = modified();
    let none = [change("mars.step=99", "mars.param=x")];
    let done = set(&input(&path), Target::InPlace, &none, &SetOptions::default()).unwrap();
    assert_eq!((done.selected_messages, done.changed_messages, modified()), (0, 0, before));
    let same = [change("mars.step=0", "mars.param=2t")];
    assert_eq!(set(&input(&path), Target::InPlace, &same, &SetOptions::default()).unwrap().changed_messages, 0);
    set(&input(&path), Target::InPlace, &[change("mars.step=6", "mars.step=12")], &SetOptions::default()).unwrap();
    let new = std::fs::read(&path).unwrap();
    assert!(new.starts_with(&[&first[..], b"junk in between"].concat()) && new.ends_with(b"tail"));
    assert_eq!(metadata(&path, 1).get("mars.step").as_i64(), Some(12));
}

#[test]
fn objects_and_messages_are_set_apart() {
    let folder = Folder::new();
    let path = folder.file("in.tgm", &[pair(), streamed()].concat());
    let run = |edits: &str, filter: &str, whole: bool| {
        let out = folder.at("out.tgm");
        let target = Target::File { path: &out, existing: Existing::Replace };
        let options = SetOptions::default().with_whole_messages(whole);
        let done = set(&input(&path), target, &[change(filter, edits)], &options).unwrap();
        valid(&out);
        assert!(decoded(&out).iter().map(|(_, bytes)| bytes).eq(decoded(&path).iter().map(|(_, bytes)| bytes)));
        (done.changed_messages, metadata(&out, 0), metadata(&out, 1))
    };
    let steps = |metadata: &GlobalMetadata| {
        (0..metadata.base.len()).map(|object| metadata.get_at(object, "mars.step").as_i64()).collect::<Vec<_>>()
    };
    let (changed, first, _) = run("mars.step=6", "mars.param=10u", false);
    assert_eq!((changed, steps(&first)), (1, vec![Some(0), Some(6)]));
    let (changed, first, _) = run("mars.step=6", "mars.param=10u", true);
    assert_eq!((changed, steps(&first)), (1, vec![Some(6), Some(6)]));
    let (changed, first, _) = run("objects[-1].mars.step=6", "mars.param=2t", false);
    assert_eq!((changed, steps(&first)), (1, vec![Some(0), Some(6)]));
    let (changed, first, second) = run("extra.run=18Z", "", false);
    assert_eq!((changed, first.get("run").as_text(), second.get("run").as_text()), (2, Some("18Z"), Some("18Z")));
    let (changed, _, second) = run("n=9", "n=1", false);
    let numbers: Vec<_> = (0..3).map(|object| second.get_at(object, "n").as_i64().unwrap()).collect();
    assert_eq!((changed, numbers), (1, vec![0, 9, 2]));
    let (changed, ..) = run("objects.1.note=seen", "mars.param=2t", false);
    assert_eq!(changed, 1);
    let file = TensogramFile::open(folder.at("out.tgm")).unwrap();
    let (_, descriptors) = file.decode_descriptors(0).map(|found| (found.metadata, found.descriptors)).unwrap();
    assert_eq!(descriptors[1].params["note"], Value::from("seen"));
}

#[test]
fn keys_are_deleted_and_missing_ones_named() {
    let folder = Folder::new();
    let path = folder.file("in.tgm", &field("2t", 0));
    let edits = vec![Edit::delete("mars.class").unwrap(), Edit::delete("mars.none").unwrap()];
    let changes = [Change::new(Where::default(), edits)];
    let done = set(&input(&path), Target::InPlace, &changes, &SetOptions::default()).unwrap();
    assert_eq!((done.changed_messages, &done.missing_keys[..]), (1, &["mars.none".to_owned()][..]));
    assert!(metadata(&path, 0).get("mars.class").value().is_none());
    for (edits, code) in [
        ("shape=1", "immutable_key"),
        ("_reserved_.uuid=1", "reserved_key"),
        ("mars.step=soon", "type_mismatch"),
        ("objects[4].x=1", "no_such_object"),
        ("objects.4.x=1", "no_such_object"),
    ] {
        let before = std::fs::read(&path).unwrap();
        let error = set(&input(&path), Target::InPlace, &[change("", edits)], &SetOptions::default()).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[cfg(unix)]
#[test]
fn the_input_is_replaced_only_when_that_was_asked_for() {
    let folder = Folder::new();
    let message = field("2t", 0);
    let path = folder.file("in.tgm", &message);
    std::os::unix::fs::symlink(&path, folder.at("soft.tgm")).unwrap();
    std::fs::hard_link(&path, folder.at("hard.tgm")).unwrap();
    let changes = [change("", "mars.step=6")];
    for name in ["in.tgm", "./in.tgm", "soft.tgm", "hard.tgm"] {
        let output = folder.at(name);
        let target = || Target::File { path: &output, existing: Existing::Replace };
        let refused = [
            set(&input(&path), target(), &changes, &SetOptions::default()).map(drop),
            reshuffle(&input(&path), target(), &ReshuffleOptions::default()).map(drop),
            merge(&[input(&path)], target(), &MergeOptions::default()).map(drop),
            recode(&input(&path), target(), &RecodeOptions::default()).map(drop),
            copy(&input(&path), &folder.names(name), &CopyOptions::default().with_existing(Existing::Replace))
                .map(drop),
        ];
        for error in refused.into_iter().map(Result::unwrap_err) {
            assert_eq!((error.code(), error.is_misuse()), ("same_file", true), "{name}: {error}");
        }
    }
    assert_eq!(std::fs::read(&path).unwrap(), message);
    let other = folder.file("other.tgm", b"mine");
    let error = set(&input(&path), Target::new_file(&other), &changes, &SetOptions::default()).unwrap_err();
    assert_eq!(error.code(), "output_exists");
    assert_eq!(std::fs::read(&other).unwrap(), b"mine");
    let error = set(&input(&path), Target::new_file(folder.0.path()), &changes, &SetOptions::default()).unwrap_err();
    assert_eq!(error.code(), "is_directory");
    // Through a link, the file it leads to is changed and the link stays.
    let soft = folder.at("soft.tgm");
    set(&input(&soft), Target::InPlace, &changes, &SetOptions::default()).unwrap();
    assert!(soft.is_symlink());
    assert_eq!(metadata(&path, 0).get("mars.step").as_i64(), Some(6));
}

#[test]
fn templates_name_files_and_cannot_lead_out_of_their_directory() {
    let folder = Folder::new();
    let fields = [field("2t", 0), field("10u", 0), field("2t", 6), field("../../x", 6), pair()];
    let path = folder.file("in.tgm", &fields.concat());
    let names = folder.names("out/[mars.param]-[mars.step].tgm");
    let error = copy(&input(&path), &names, &CopyOptions::default()).unwrap_err();
    assert_eq!((error.code(), error.hint()), ("no_directory", Some("use --parents to create directories")));
    let done = copy(&input(&path), &names.clone().with_parents(true), &CopyOptions::default()).unwrap();
    let found: Vec<_> = done.files.iter().map(|file| file.path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(found, ["2t-0.tgm", "10u-0.tgm", "2t-6.tgm", "..%2F..%2Fx-6.tgm"]);
    assert_eq!(std::fs::read(folder.at("out/2t-0.tgm")).unwrap(), [&fields[0][..], &fields[4]].concat());
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 2, "nothing was written elsewhere");

    // The same again: refused, replaced, or added to.
    let error = copy(&input(&path), &names, &CopyOptions::default()).unwrap_err();
    assert_eq!(error.code(), "output_exists");
    copy(&input(&path), &names, &CopyOptions::default().with_existing(Existing::Append)).unwrap();
    let twice = [&fields[0][..], &fields[4], &fields[0], &fields[4]].concat();
    assert_eq!(std::fs::read(folder.at("out/2t-0.tgm")).unwrap(), twice);
    copy(&input(&path), &names, &CopyOptions::default().with_existing(Existing::Replace)).unwrap();
    assert_eq!(std::fs::read(folder.at("out/10u-0.tgm")).unwrap(), fields[1]);

    let missing = folder.names("[mars.expver].tgm");
    let error = copy(&input(&path), &missing, &CopyOptions::default()).unwrap_err();
    assert_eq!(error.code(), "missing_key");
    let done = copy(&input(&path), &missing.with_missing(Some("none".to_owned())), &CopyOptions::default()).unwrap();
    assert_eq!((done.files.len(), done.files[0].messages), (1, 5));
    assert!(folder.at("none.tgm").exists());
    assert_eq!(Names::parse("[mars.param]/../x.tgm").unwrap_err().code(), "leaves_directory");
}

#[test]
fn objects_are_copied_out_of_their_messages() {
    let folder = Folder::new();
    let path = folder.file("in.tgm", &[pair(), streamed()].concat());
    let options = CopyOptions::new(Where::parse("mars.param=10u").unwrap()).with_unit(Unit::Objects);
    copy(&input(&path), &folder.names("one.tgm"), &options).unwrap();
    valid(&folder.at("one.tgm"));
    let found = metadata(&folder.at("one.tgm"), 0);
    assert_eq!(
        (found.base.len(), found.get("mars.param").as_text(), found.get("run").as_text()),
        (1, Some("10u"), Some("12Z"))
    );
    assert_eq!(decoded(&folder.at("one.tgm")), decoded(&path)[1..2]);
    let mut sink = Vec::new();
    let options = CopyOptions::new(Where::parse("n>=1").unwrap()).with_unit(Unit::Objects);
    let done = copy_to_stream(&input(&path), &mut sink, &options).unwrap();
    assert_eq!((done.copied_messages, done.copied_objects), (1, 2));
    let some = folder.file("some.tgm", &sink);
    valid(&some);
    assert_eq!(decoded(&some), decoded(&path)[3..5]);
    // Nothing selected: an empty file.
    let options = CopyOptions::new(Where::parse("n=77").unwrap());
    copy(&input(&path), &folder.names("empty.tgm"), &options).unwrap();
    assert_eq!(std::fs::read(folder.at("empty.tgm")).unwrap(), b"");
}

#[test]
fn files_are_merged_into_one_message() {
    let folder = Folder::new();
    let (a, b) = (folder.file("a.tgm", &[field("2t", 0), field("2t", 6)].concat()), folder.file("b.tgm", &pair()));
    let c = folder.file("c.tgm", &streamed());
    let inputs = [input(&a), input(&b), input(&c)];
    let out = folder.at("out.tgm");
    let done = merge(&inputs, Target::new_file(&out), &MergeOptions::default()).unwrap();
    assert_eq!((done.files, done.messages, done.objects, done.strategy), (3, 4, 7, Strategy::First));
    let dropped: Vec<_> = done.dropped.iter().map(|dropped| (dropped.key.as_str(), dropped.tensor)).collect();
    assert_eq!(dropped, [("run", false)]);
    valid(&out);
    let file = TensogramFile::open(&out).unwrap();
    assert_eq!(file.message_count().unwrap(), 1);
    assert_eq!(decoded(&out), [decoded(&a), decoded(&b), decoded(&c)].concat());
    let found = metadata(&out, 0);
    assert_eq!((found.get("run").as_text(), found.get_at(3, "mars.param").as_text()), (Some("00Z"), Some("10u")));
    assert_eq!(found.get_at(6, "n").as_i64(), Some(2));
    let target = || Target::File { path: &out, existing: Existing::Replace };
    let last = MergeOptions::default().with_strategy(Some(Strategy::Last));
    merge(&inputs, target(), &last).unwrap();
    assert_eq!(metadata(&out, 0).get("run").as_text(), Some("12Z"));
    let error = merge(&inputs, target(), &MergeOptions::default().with_strategy(Some(Strategy::Error))).unwrap_err();
    assert_eq!((error.code(), error.is_misuse()), ("conflicting_key", false), "{error}");
    assert_eq!(metadata(&out, 0).get("run").as_text(), Some("12Z"), "the old output is still there");
    // One message stays what it is.
    merge(&[input(&b)], target(), &MergeOptions::default()).unwrap();
    assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(&b).unwrap());
}

#[test]
fn every_object_becomes_a_file_and_back() {
    let folder = Folder::new();
    let path = folder.file("in.tgm", &[field("2t", 0), pair(), streamed()].concat());
    let done = split(&input(&path), &folder.names("part.tgm"), &SplitOptions::default()).unwrap();
    assert_eq!((done.files.len(), done.messages), (6, 3));
    assert_eq!(std::fs::read(folder.at("part_0000.tgm")).unwrap(), field_bytes(&path));
    let parts: Vec<PathBuf> = (0..6).map(|number| folder.at(&format!("part_{number:04}.tgm"))).collect();
    parts.iter().for_each(|part| valid(part));
    let inputs: Vec<_> = parts.iter().map(|part| input(part)).collect();
    let back = folder.at("back.tgm");
    merge(&inputs, Target::new_file(&back), &MergeOptions::default()).unwrap();
    assert_eq!(decoded(&back), decoded(&path));
    assert_eq!(metadata(&parts[2], 0).get("run").as_text(), Some("12Z"));
    let names = folder.names("[mars.param].tgm").with_missing(Some("unknown".to_owned()));
    let error = split(&input(&path), &names, &SplitOptions::default()).unwrap_err();
    assert_eq!(error.code(), "name_collision");
    let names = folder.names("d/[index]-[dtype].tgm").with_parents(true);
    split(&input(&path), &names, &SplitOptions::new(Where::parse("mars.param=10u").unwrap())).unwrap();
    assert!(folder.at("d/0000-int16.tgm").exists());
}

/// The first message of a file.
fn field_bytes(path: &Path) -> Vec<u8> {
    let span = TensogramFile::open(path).unwrap().message_span(0).unwrap();
    std::fs::read(path).unwrap()[..span.end as usize].to_vec()
}

#[test]
fn streams_get_their_index_at_the_start() {
    let folder = Folder::new();
    let path = folder.file("in.tgm", &[field("2t", 0), streamed(), pair()].concat());
    let out = folder.at("out.tgm");
    let done = reshuffle(&input(&path), Target::new_file(&out), &ReshuffleOptions::default()).unwrap();
    assert_eq!((done.messages, done.changed_messages), (3, 1));
    valid(&out);
    assert_eq!(decoded(&out), decoded(&path));
    assert_eq!(metadata(&out, 1), metadata(&path, 1));
    let again = reshuffle(&input(&out), Target::InPlace, &ReshuffleOptions::default()).unwrap();
    assert_eq!(again.changed_messages, 0);
}

/// Fields of one value, and those without any number, need no bits: codecs that work on bytes take them all the same.
#[test]
fn fields_without_a_range_are_recoded() {
    let folder = Folder::new();
    let options = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
    let mut holes = vec![1.5f64; 600];
    holes[7] = f64::NAN;
    for (name, values) in [("zero", vec![0.0f64; 600]), ("holes", holes), ("empty", vec![f64::NAN; 600])] {
        let builder = MessageBuilder::new().tensor(&[600], &values).unwrap().base("name", name);
        let path = folder.file("flat.tgm", &builder.options(options.clone()).encode().unwrap());
        let out = folder.at("flat-out.tgm");
        let bound = || Coding::default().with_accuracy(0.01).unwrap();
        for coding in [
            bound(),
            bound().with_compressor("szip").unwrap(),
            bound().with_shuffle(),
            bound().with_compressor("zstd:3").unwrap(),
        ] {
            let shown = coding.to_string();
            let target = Target::File { path: &out, existing: Existing::Replace };
            let done = recode(&input(&path), target, &RecodeOptions::new(coding)).unwrap();
            assert_eq!(done.objects[0].max_error, Some(0.0), "{name}, {shown}");
            let found: Vec<f64> =
                decoded(&out)[0].1.chunks(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect();
            let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
            assert!(values.iter().zip(&found).all(same), "{name}, {shown}");
        }
    }
}

#[test]
fn objects_are_recoded_with_their_errors() {
    let folder = Folder::new();
    let values: Vec<f64> = (0..5000)
        .map(|at| match at % 50 {
            0 => f64::NAN,
            1 => f64::NEG_INFINITY,
            _ => 273.15 + f64::from(at % 313) / 7.0,
        })
        .collect();
    let builder = MessageBuilder::new().tensor(&[50, 100], &values).unwrap().base("param", "2t");
    let builder = builder.tensor(&[4], &[1i32, 2, 3, 4]).unwrap().base("param", "index");
    let options = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
    let path = folder.file("in.tgm", &builder.options(options).encode().unwrap());
    let out = folder.at("out.tgm");
    let target = || Target::File { path: &out, existing: Existing::Replace };
    let doubles = || Where::parse("dtype=float64").unwrap();
    let coding = |text: &str| Coding::default().with_compressor(text).unwrap();
    for (coding, bound) in [
        (Coding::default().with_pack(16).unwrap().with_compressor("szip").unwrap(), 45.0 / 65535.0),
        (Coding::default().with_accuracy(0.01).unwrap().with_compressor("szip").unwrap(), 0.01),
        (Coding::default().with_accuracy(0.5).unwrap(), 0.5),
        (coding("zstd:3").with_shuffle(), 0.0),
        (coding("zfp:accuracy=0.01"), 0.01),
        (coding("sz3:abs=0.01"), 0.01),
        (coding("blosc2"), 0.0),
        (coding("lz4"), 0.0),
    ] {
        let shown = coding.to_string();
        let done = recode(&input(&path), target(), &RecodeOptions::new(coding).with_filter(doubles())).unwrap();
        let [row] = &done.objects[..] else { panic!("{shown}: {:?}", done.objects) };
        assert!(
            row.max_error.unwrap() <= bound && row.rms_error.unwrap() <= row.max_error.unwrap(),
            "{shown}: {row:?}"
        );
        assert!((bound > 0.0) == (row.max_error.unwrap() > 0.0), "{shown}: {row:?}");
        assert_eq!((done.bytes_after, row.codec_before.as_str()), (std::fs::metadata(&out).unwrap().len(), "raw"));
        valid(&out);
        let objects = decoded(&out);
        let found: Vec<f64> =
            objects[0].1.chunks(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect();
        for (a, b) in values.iter().zip(&found) {
            assert!(
                a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() || (a - b).abs() <= bound,
                "{shown}: {a} {b}"
            );
        }
        assert_eq!(objects[1], decoded(&path)[1], "what was not selected is as it was");
        assert_eq!(metadata(&out, 0), metadata(&path, 0));
    }
    // Half an unit needs fewer bits than a hundredth.
    let size = |accuracy: f64| {
        let coding = Coding::default().with_accuracy(accuracy).unwrap();
        let options = RecodeOptions::new(coding).with_filter(doubles()).with_dry_run(true);
        recode(&input(&path), target(), &options).unwrap().objects[0].bytes_after
    };
    let before = std::fs::read(&out).unwrap();
    assert!(size(0.5) < size(0.01));
    assert_eq!(std::fs::read(&out).unwrap(), before, "a dry run writes nothing");

    // Integers cannot be packed: refused, or kept.
    let pack = || RecodeOptions::new(Coding::default().with_pack(16).unwrap());
    let error = recode(&input(&path), target(), &pack()).unwrap_err();
    assert!(error.to_string().contains("object 1") && error.hint().unwrap().contains("dtype=float64"), "{error}");
    let done = recode(&input(&path), target(), &pack().with_keep_unsupported(true)).unwrap();
    assert!(done.objects[0].kept.is_none() && done.objects[1].kept.is_some());
    valid(&out);
    // And in place.
    let raw = RecodeOptions::new(Coding::default());
    recode(&input(&out), Target::InPlace, &raw).unwrap();
    assert!(decoded(&out)[0].0.is_raw());
}

#[test]
fn every_element_type_goes_through_every_lossless_codec() {
    let folder = Folder::new();
    let types = DType::ALL.iter().filter(|dtype| fw_tensogram::describe::is_tensogram_dtype(**dtype));
    let objects: Vec<_> = types
        .map(|dtype| {
            let descriptor = DataObjectDescriptor::new(*dtype, &[3, 7]).unwrap();
            let len = descriptor.decoded_len().unwrap() as usize;
            (descriptor, (0..len).map(|at| (at % 5) as u8).collect::<Vec<u8>>())
        })
        .collect();
    let inputs: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data)).collect();
    let message = encode(&GlobalMetadata::default(), &inputs, &EncodeOptions::default()).unwrap();
    let path = folder.file("in.tgm", &message);
    let values = |path: &Path| decoded(path).into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>();
    let expected = values(&path);
    for coding in [
        Coding::default().with_shuffle().with_compressor("zstd").unwrap(),
        Coding::default().with_compressor("lz4").unwrap(),
        Coding::default(),
    ] {
        let done = recode(&input(&path), Target::InPlace, &RecodeOptions::new(coding)).unwrap();
        assert_eq!(done.objects.len(), objects.len());
        assert!(done.objects.iter().all(|row| row.kept.is_none() && row.max_error.unwrap_or(0.0) == 0.0));
        valid(&path);
        assert!(values(&path) == expected);
    }
    let edits = [change("", "note=all")];
    set(&input(&path), Target::InPlace, &edits, &SetOptions::default()).unwrap();
    assert!(
        values(&path) == expected && metadata(&path, 0).base.iter().all(|entry| entry["note"] == Value::from("all"))
    );
}

#[test]
fn damaged_messages_are_named() {
    let folder = Folder::new();
    let mut bytes = [field("2t", 0), field("2t", 6)].concat();
    let second = bytes.len() / 2;
    bytes[second + 60] ^= 0xff;
    let path = folder.file("in.tgm", &bytes);
    let error = set(&input(&path), Target::InPlace, &[change("", "a=1")], &SetOptions::default()).unwrap_err();
    assert!(!error.is_misuse() && error.to_string().contains("message 1"), "{error}");
    let junk = folder.file("junk.tgm", &[7; 300]);
    let error = reshuffle(&input(&junk), Target::InPlace, &ReshuffleOptions::default()).unwrap_err();
    assert_eq!((error.code(), error.is_misuse()), ("no_message", false));
}

/// Every change tells how much it has written, from nothing to all of it, in files and in streams.
#[test]
fn changes_tell_their_progress() {
    use std::sync::{Arc, Mutex};
    let folder = Folder::new();
    let path = folder.file("in.tgm", &[field("2t", 0), pair(), field("10u", 6), streamed()].concat());
    let told: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
    let watch = {
        let told = Arc::clone(&told);
        fw_source::Watch::new(move |done, total| told.lock().unwrap().push((done, total)))
    };
    let check = |what: &str, part: f64| {
        let told = std::mem::take(&mut *told.lock().unwrap());
        let (done, total) = *told.last().unwrap_or_else(|| panic!("{what}: nothing was told"));
        assert!(told.is_sorted(), "{what}: {told:?}");
        assert!(done as f64 >= part * total as f64 && done <= total, "{what}: {done} of {total}");
    };
    let (input, at) = (input(&path), |name: &str| folder.at(name));
    let changes = [change("mars.step=6", "mars.step=12")];
    let out = at("set.tgm");
    set(&input, Target::new_file(&out), &changes, &SetOptions::default().with_watch(watch.clone())).unwrap();
    check("set", 1.0);
    let out = at("index.tgm");
    reshuffle(&input, Target::new_file(&out), &ReshuffleOptions::default().with_watch(watch.clone())).unwrap();
    check("reshuffle", 1.0);
    let out = at("merge.tgm");
    merge(&[input, input], Target::new_file(&out), &MergeOptions::default().with_watch(watch.clone())).unwrap();
    check("merge", 1.0);
    let whole = CopyOptions::new(Where::parse("mars.param=2t").unwrap()).with_watch(watch.clone());
    copy(&input, &folder.names("copy-[mars.param].tgm"), &whole).unwrap();
    check("copy", 1.0);
    copy_to_stream(&input, &mut Vec::new(), &whole).unwrap();
    check("copy to a stream", 1.0);
    copy(&input, &folder.names("object.tgm"), &whole.with_unit(Unit::Objects)).unwrap();
    check("copy of objects", 0.8);
    split(&input, &folder.names("part.tgm"), &SplitOptions::default().with_watch(watch)).unwrap();
    check("split", 0.8);
}
