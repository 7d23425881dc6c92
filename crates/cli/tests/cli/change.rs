//! `fw set`, `copy`, `merge`, `split`, `reshuffle`, `recode`.

use super::{fed, fine, fw, fw_words};
use framewright::tensogram::{
    EncodeOptions, GlobalMetadata, MessageBuilder, MetadataMap, Pipe, Provenance, StreamingEncoder, TensogramFile,
    Value, value,
};
use std::path::Path;
use tempfile::TempDir;

fn options() -> EncodeOptions {
    let provenance = Provenance {
        encoder_name: "test".to_owned(),
        encoder_version: "1".to_owned(),
        time: "2024-01-15T00:00:00Z".to_owned(),
        uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
    };
    EncodeOptions { provenance: Some(provenance), allow_nan: true, ..EncodeOptions::default() }
}

fn field(param: &str, step: i64) -> Vec<u8> {
    let values: Vec<f64> = (0..1000).map(|at| 270.0 + f64::from(at % 97) / 7.0).collect();
    let mars = value!({ "param": param, "step": step, "class": "od" });
    let builder = MessageBuilder::new().extra("run", "00Z").tensor(&[20, 50], &values).unwrap().base("mars", mars);
    builder.options(options()).encode().unwrap()
}

fn pair() -> Vec<u8> {
    let builder = MessageBuilder::new().extra("run", "12Z").tensor(&[3], &[1.0f32, f32::NAN, 3.0]).unwrap();
    let builder = builder.base("mars", value!({ "param": "msl", "step": 0 }));
    let builder = builder.tensor(&[2], &[7i16, 8]).unwrap().base("mars", value!({ "param": "lsm", "step": 0 }));
    builder.options(options()).encode().unwrap()
}

fn streamed() -> Vec<u8> {
    let mut stream = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options()).unwrap();
    stream.write_preceder(&MetadataMap::from([("name".to_owned(), Value::from("s"))])).unwrap();
    stream.write_tensor(&[4], &[1i32; 4], Pipe::raw()).unwrap();
    stream.finish().unwrap()
}

/// `f.tgm` with 2t and 10u at steps 0 and 6, `p.tgm` with two objects in a message, `s.tgm` streamed.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let fields = [field("2t", 0), field("10u", 0), field("2t", 6), field("10u", 6)].concat();
    for (name, bytes) in [("f.tgm", fields), ("p.tgm", pair()), ("s.tgm", streamed())] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[track_caller]
fn prints(folder: &Path, line: &str, expected: &str) {
    assert_eq!(fine(folder, line).text(), expected, "fw {line}");
}

/// Fails with this exit code and these words on standard error, and writes nothing.
#[track_caller]
fn fails(folder: &Path, line: &str, code: i32, words: &str) {
    let run = fw(folder, line);
    assert_eq!((run.code, run.err.as_str(), run.text()), (code, words, ""), "fw {line}");
}

fn step(folder: &Path, name: &str, message: usize) -> Option<Value> {
    let file = TensogramFile::open(folder.join(name)).unwrap();
    file.decode_metadata(message).unwrap().get("mars.step").value().cloned()
}

#[test]
fn set() {
    let folder = folder();
    let at = folder.path();
    prints(
        at,
        "set f.tgm out.tgm -w mars.param=2t -s mars.step=12",
        "wrote out.tgm: 2 of 4 messages changed, 33.6 KiB\n",
    );
    assert_eq!(step(at, "out.tgm", 0), Some(Value::Integer(12)), "an integer stays one");
    assert_eq!(step(at, "out.tgm", 1), Some(Value::Integer(0)));
    fine(at, "validate out.tgm --mode full");
    let report = fine(at, "set f.tgm out.tgm --force -s mars.step:=1.5,extra.run=06Z -d mars.class --json").json();
    assert_eq!((&report["command"], &report["ok"]), (&"set".into(), &true.into()));
    assert_eq!((&report["file"], &report["format"]), (&"out.tgm".into(), &"tensogram".into()));
    assert_eq!((&report["messages"], &report["changed_messages"]), (&4.into(), &4.into()));
    assert_eq!(step(at, "out.tgm", 2), Some(Value::Float(1.5)));
    let dump = fine(at, "dump out.tgm --json").json();
    assert!(!dump.to_string().contains("class") && dump.to_string().contains("06Z"), "{dump}");

    // In place, from a file of edits, and through pipes.
    let edits = r#"[{"where": "mars.step=6", "set": {"mars.step": 18}}, {"where": ["mars.param=10u"], "delete": ["mars.class"]}]"#;
    std::fs::write(at.join("edits.json"), edits).unwrap();
    prints(at, "set f.tgm -i --file edits.json", "wrote f.tgm: 3 of 4 messages changed, 33.5 KiB\n");
    assert_eq!((step(at, "f.tgm", 0), step(at, "f.tgm", 3)), (Some(Value::Integer(0)), Some(Value::Integer(18))));
    let run = fed(at, "set - - -s mars.step=3", &std::fs::read(at.join("p.tgm")).unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    std::fs::write(at.join("piped.tgm"), &run.out).unwrap();
    assert_eq!(step(at, "piped.tgm", 0), Some(Value::Integer(3)));
    fine(at, "validate piped.tgm --mode full");
    let run = fw(at, "set f.tgm -i -d mars.none");
    assert_eq!(run.err, "fw: note: no selected object has the key mars.none\n");
    assert_eq!((run.code, run.text()), (0, "wrote f.tgm: 0 of 4 messages changed, 33.5 KiB\n"));
}

#[test]
fn set_refuses() {
    let folder = folder();
    let at = folder.path();
    let before = std::fs::read(at.join("f.tgm")).unwrap();
    let immutable = "fw: shape: shape describes the stored bytes and cannot be changed\n\
                     hint: fw recode changes how objects are stored\n";
    fails(at, "set f.tgm o.tgm -s shape=1", 2, immutable);
    let reserved = "fw: _reserved_.uuid: _reserved_ is written by encoders and cannot be changed\n";
    fails(at, "set f.tgm o.tgm -s _reserved_.uuid=1", 2, reserved);
    let mismatch = "fw: f.tgm: message 0: mars.step is an integer, and \"soon\" is not\n\
                    hint: use := to change its type, such as mars.step:=\"soon\"\n";
    fails(at, "set f.tgm o.tgm -s mars.step=soon", 2, mismatch);
    let same = "fw: f.tgm: input and output are the same file (f.tgm)\n\
                hint: use --in-place to change the file itself, or name another output\n";
    fails(at, "set f.tgm f.tgm -s a=1 --force", 2, same);
    let exists = "fw: p.tgm: already exists\nhint: use --force to overwrite it\n";
    fails(at, "set f.tgm p.tgm -s a=1", 2, exists);
    let assignment = "fw: \"mars.step\": expected key=value or key:=JSON\n\
                      hint: write mars.step=12, or mars.area:=[60,-10,40,5] for a value of any JSON type\n";
    fails(at, "set f.tgm o.tgm -s mars.step", 2, assignment);
    let absent = "fw: absent.tgm: No such file or directory (os error 2)\n";
    fails(at, "set absent.tgm o.tgm -s a=1", 2, absent);
    fails(at, "set f.tgm no/o.tgm -s a=1", 2, "fw: no/o.tgm: the directory no does not exist\n");
    let json = fw(at, "set f.tgm o.tgm -s dtype=x --json");
    assert_eq!((json.code, &json.json()["error"]["code"]), (2, &"immutable_key".into()));
    let json = fw(at, "set f.tgm o.tgm -w a=1,b=2 -s c=1 --json");
    assert_eq!((json.code, &json.json()["error"]["code"]), (2, &"usage".into()));
    assert_eq!(fw(at, "set f.tgm -s a=1").code, 2, "an output or --in-place is needed");
    assert_eq!(fw(at, "set f.tgm o.tgm -i -s a=1").code, 2, "not both");
    let run = fed(at, "set - -i -s a=1", &before);
    assert_eq!(run.err, "fw: -: only a local file can be changed in place\n");
    assert_eq!(std::fs::read(at.join("f.tgm")).unwrap(), before);
    assert!(!at.join("o.tgm").exists());
    assert_eq!(std::fs::read_dir(at).unwrap().count(), 3, "nothing is left behind");
}

#[test]
fn copy() {
    let folder = folder();
    let at = folder.path();
    prints(at, "copy f.tgm t.tgm -w mars.param=2t", "wrote t.tgm: 2 messages, 2 objects, 16.8 KiB\n");
    assert_eq!(std::fs::read(at.join("t.tgm")).unwrap(), [field("2t", 0), field("2t", 6)].concat());
    let text = "wrote out/2t-000.tgm: 1 message, 1 object, 8.39 KiB\n\
                wrote out/10u-000.tgm: 1 message, 1 object, 8.39 KiB\n\
                wrote out/2t-006.tgm: 1 message, 1 object, 8.39 KiB\n\
                wrote out/10u-006.tgm: 1 message, 1 object, 8.39 KiB\n\
                4 files from 4 messages: 4 objects, 33.6 KiB\n";
    prints(at, "copy f.tgm out/[mars.param]-[mars.step:03].tgm --parents", text);
    let report = fine(at, "copy p.tgm one.tgm --objects -w mars.param=lsm --json").json();
    assert_eq!((&report["copied_messages"], &report["files"][0]["objects"]), (&1.into(), &1.into()));
    fine(at, "validate one.tgm --mode full");
    prints(at, "copy s.tgm t.tgm --append", "wrote t.tgm: 1 message, 1 object, 17.4 KiB\n");
    let exists = "fw: t.tgm: already exists\nhint: use --force to overwrite it\n";
    fails(at, "copy f.tgm t.tgm", 2, exists);
    let missing = "fw: p.tgm: message 0: mars.class: the item does not have this key\n\
                   hint: give a text for missing keys, or select only what has the key\n";
    fails(at, "copy p.tgm [mars.class].tgm", 2, missing);
    prints(at, "copy p.tgm [mars.class].tgm --missing none", "wrote none.tgm: 1 message, 2 objects, 888 B\n");
    let run = fine(at, "copy f.tgm - -w mars.step=6");
    assert_eq!(run.out, [field("2t", 6), field("10u", 6)].concat());
    fails(
        at,
        "copy f.tgm [x.tgm",
        2,
        "fw: missing ] after the key\nhint: write [mars.param] for a key, and [[ for a literal [\n",
    );
}

#[test]
fn a_value_cannot_lead_out_of_the_directory() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("evil.tgm"), [field("../../up", 0), field("/etc/x", 0), field("..", 0)].concat()).unwrap();
    let run = fw(at, "copy evil.tgm out/[mars.param] --parents");
    assert_eq!((run.code, run.err.as_str()), (2, "fw: evil.tgm: message 2: the name \"..\" is not a file name\n"));
    assert!(!at.join("out").exists(), "nothing was written before that was known");
    fine(at, "copy evil.tgm out/[mars.param].tgm --parents");
    let mut names: Vec<_> = std::fs::read_dir(at.join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["%2Fetc%2Fx.tgm", "..%2F..%2Fup.tgm", "...tgm"]);
}

#[test]
fn merge_and_split() {
    let folder = folder();
    let at = folder.path();
    let run = fw(at, "merge f.tgm p.tgm s.tgm -o all.tgm");
    assert_eq!((run.code, run.text()), (3, "wrote all.tgm: 7 objects from 3 files, 33.4 KiB\n"));
    assert_eq!(run.err, "fw: run: the value of p.tgm was dropped\n");
    fine(at, "validate all.tgm --mode full");
    let report = fw(at, "merge f.tgm p.tgm -o last.tgm --strategy last --json");
    assert_eq!((report.code, &report.json()["strategy"]), (0, &"last".into()));
    assert_eq!(report.json()["dropped"][0]["file"], "f.tgm");
    let conflict = "fw: run: f.tgm and p.tgm have different values\n\
                    hint: use --strategy first or --strategy last to choose one\n";
    fails(at, "merge f.tgm p.tgm -o none.tgm -s error", 1, conflict);
    assert!(!at.join("none.tgm").exists());
    let text = "wrote part_0000.tgm: 1 object, 632 B\nwrote part_0001.tgm: 1 object, 576 B\n2 files from 1 message, 1.18 KiB\n";
    prints(at, "split p.tgm -o part.tgm", text);
    fine(at, "validate part_0000.tgm --mode full");
    fine(at, "diff p.tgm p.tgm");
    let report = fine(at, "split f.tgm -o [index]-[mars.param].tgm --json").json();
    assert_eq!((&report["files"][3]["path"], &report["messages"]), (&"0003-10u.tgm".into(), &4.into()));
    assert_eq!(std::fs::read(at.join("0003-10u.tgm")).unwrap(), field("10u", 6));
    let collision = "fw: 2t.tgm: two objects would get this name\n\
                     hint: add [index] to the name, or use fw copy to put objects of one name into one file\n";
    fails(at, "split f.tgm -o [mars.param].tgm", 2, collision);
}

#[test]
fn reshuffle() {
    let folder = folder();
    let at = folder.path();
    prints(at, "reshuffle s.tgm -o r.tgm", "wrote r.tgm: 1 of 1 message changed, 560 B\n");
    fine(at, "validate r.tgm --mode full");
    fine(at, "diff s.tgm r.tgm");
    prints(at, "reshuffle r.tgm -i", "wrote r.tgm: 0 of 1 message changed, 560 B\n");
    let report = fine(at, "reshuffle s.tgm -i --json").json();
    assert_eq!((&report["changed_messages"], &report["bytes"]), (&1.into(), &560.into()));
    assert_eq!(std::fs::read(at.join("s.tgm")).unwrap(), std::fs::read(at.join("r.tgm")).unwrap());
    std::fs::write(at.join("junk.tgm"), [7; 99]).unwrap();
    assert_eq!(fw(at, "reshuffle junk.tgm -i").code, 1);
}

#[test]
fn recode() {
    let folder = folder();
    let at = folder.path();
    let run = fine(at, "recode f.tgm --dry-run --pack 16 --compress szip -w mars.step=0");
    let text = "object   type     before      size  after                    size  max error  rms error\n\
                0.0 2t   float64  raw     7.81 KiB  simple_packing+szip  1.54 KiB   1.046e-4   6.995e-5\n\
                1.0 10u  float64  raw     7.81 KiB  simple_packing+szip  1.54 KiB   1.046e-4   6.995e-5\n\
                f.tgm, dry run: 2 objects recoded, 33.6 KiB -> 21.3 KiB\n";
    assert_eq!(run.text(), text);
    let before = std::fs::read(at.join("f.tgm")).unwrap();
    let report = fine(at, "recode f.tgm o.tgm --accuracy 0.01 --compress szip --json").json();
    assert_eq!(
        (&report["messages"], &report["changed_messages"], &report["dry_run"]),
        (&4.into(), &4.into(), &false.into())
    );
    let row = &report["objects"][0];
    assert_eq!((&row["codec_before"], &row["codec_after"]), (&"raw".into(), &"simple_packing+szip".into()));
    assert!(row["max_error"].as_f64().unwrap() <= 0.01 && row["max_error"].as_f64().unwrap() > 0.0, "{row}");
    assert!(row["rms_error"].as_f64().unwrap() <= row["max_error"].as_f64().unwrap());
    assert!(row["bytes_after"].as_u64().unwrap() * 4 < row["bytes_before"].as_u64().unwrap(), "{row}");
    fine(at, "validate o.tgm --mode full");
    fine(at, "diff f.tgm o.tgm --atol 0.01");
    assert_eq!(std::fs::read(at.join("f.tgm")).unwrap(), before);
    let run = fine(at, "recode f.tgm -i --shuffle --zstd 3");
    assert!(
        run.text().lines().last().unwrap().starts_with("wrote f.tgm: 4 objects recoded, 33.6 KiB -> "),
        "{}",
        run.text()
    );
    std::fs::write(at.join("g.tgm"), before).unwrap();
    fine(at, "diff f.tgm g.tgm");
    let run = fw(at, "recode p.tgm q.tgm --zfp accuracy=0.1");
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.starts_with("fw: p.tgm: message 0, object 0: "), "{}", run.err);
    assert!(!at.join("q.tgm").exists());
    let run = fine(at, "recode p.tgm q.tgm --zfp accuracy=0.1 --keep-unsupported");
    assert!(run.text().contains("0.0 msl: kept as it is: "), "{}", run.text());
    assert_eq!(std::fs::read(at.join("q.tgm")).unwrap(), std::fs::read(at.join("p.tgm")).unwrap());
    assert_eq!(fw(at, "recode f.tgm q.tgm").code, 2);
    assert_eq!(fw(at, "recode f.tgm q2.tgm --compress gzip").code, 2);
    assert_eq!(fw(at, "recode f.tgm q2.tgm --pack 99").code, 2);
}

#[test]
fn other_formats() {
    let folder = folder();
    let at = folder.path();
    for format in ["safetensors", "bt", "npz"] {
        let run = fw(at, &format!("convert p.tgm m.{format} --missing raw"));
        assert!(matches!(run.code, 0 | 3), "{}", run.err);
    }
    for format in ["safetensors", "bt"] {
        fine(at, &format!("set m.{format} n.{format} -s author=me"));
        let info = fine(at, &format!("info n.{format} --json")).json();
        assert_eq!(info["metadata"]["author"], "me", "{info}");
        fine(at, &format!("set n.{format} -i -d author"));
        assert!(fine(at, &format!("info n.{format} --json")).json()["metadata"]["author"].is_null());
    }
    let none = "fw: m.npz: npz files hold no metadata\nhint: convert it to Tensogram, BinTensors or safetensors\n";
    fails(at, "set m.npz n.npz -s a=1", 2, none);
    for format in ["safetensors", "bt", "npz"] {
        let run = fw(at, &format!("split m.{format} -o x-[name].{format} --json"));
        assert!(matches!(run.code, 0 | 3), "{}", run.err);
        let parts = run.json()["files"].as_array().unwrap().len();
        assert_eq!(parts, 2);
        let words: Vec<String> = run.json()["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["path"].as_str().unwrap().to_owned())
            .collect();
        let merged =
            fw_words(at, &[&["merge".to_owned(), "-o".to_owned(), format!("y.{format}")], &words[..]].concat());
        assert!(matches!(merged.code, 0 | 3), "{}", merged.err);
        fine(at, &format!("diff m.{format} y.{format}"));
        fine(at, &format!("copy m.{format} z.{format} -w name=*lsm*"));
    }
    fails(at, "reshuffle m.bt -i", 2, "fw: m.bt: reshuffle works on Tensogram files; this one is BinTensors\n");
}

/// Commands that write tell how far they are: on a terminal as a line, to a program as numbers.
#[test]
fn changes_tell_how_far_they_are() {
    use std::sync::{Arc, Mutex};
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let made = fw_cli::answer(["fw", "convert", &path("f.tgm"), &path("f.safetensors")], None);
    assert_eq!(made.code, 0, "{:?}", made.fault);
    for (words, input) in [
        (vec!["set", "-s", "step=6"], "f.tgm"),
        (vec!["set", "-s", "step=6"], "f.safetensors"),
        (vec!["copy"], "f.tgm"),
        (vec!["copy"], "f.safetensors"),
        (vec!["reshuffle"], "f.tgm"),
        (vec!["split"], "f.tgm"),
        (vec!["split"], "f.safetensors"),
        (vec!["merge", "-o"], "f.tgm"),
        (vec!["merge", "-o"], "f.safetensors"),
    ] {
        let heard: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
        let told = Arc::clone(&heard);
        let output = path(&format!("{}-{input}", words[0]));
        let mut line: Vec<String> = ["fw"].iter().chain(&words).map(|word| (*word).to_owned()).collect();
        line.extend(match words[0] {
            "merge" => vec![output, path(input)],
            "reshuffle" | "split" => vec![path(input), "-o".to_owned(), output],
            _ => vec![path(input), output],
        });
        let answer = fw_cli::answer(&line, Some(Arc::new(move |done, total| told.lock().unwrap().push((done, total)))));
        assert_eq!(answer.code, 0, "{line:?}: {:?}", answer.fault);
        let heard = heard.lock().unwrap();
        assert!(heard.last().is_some_and(|(done, total)| 0 < *done && done <= total), "{line:?}: {heard:?}");
    }
}

/// A filter that selects nothing says so, and which key it may have meant.
#[test]
fn nothing_is_selected() {
    let folder = folder();
    let at = folder.path();
    for (number, line) in [
        "set f.tgm OUT -s a=1",
        "copy f.tgm OUT",
        "copy f.tgm [mars.param]-OUT",
        "split f.tgm -o OUT",
        "merge f.tgm p.tgm -o OUT",
        "recode f.tgm OUT --compress lz4",
    ]
    .into_iter()
    .enumerate()
    {
        let line = line.replace("OUT", &format!("o{number}.tgm"));
        let run = fw(at, &format!("{line} -w mars.parm=2t"));
        let words =
            "fw: note: --where selects nothing\nfw: note: no object has the key mars.parm; did you mean mars.param?\n";
        assert_eq!((run.code, run.err.as_str()), (0, words), "fw {line}");
        let run =
            fw(at, &format!("{} -w mars.param=nothing", line.replace(&format!("o{number}"), &format!("p{number}"))));
        assert_eq!((run.code, run.err.as_str()), (0, "fw: note: --where selects nothing\n"), "fw {line}");
    }
    assert_eq!(fw(at, "copy f.tgm quiet.tgm -w mars.parm=2t --quiet").err, "");
}

/// `fw merge` takes what the commands take that look at files.
#[test]
fn merge_of_directories_and_patterns() {
    let folder = folder();
    let at = folder.path();
    std::fs::create_dir(at.join("runs")).unwrap();
    std::fs::rename(at.join("f.tgm"), at.join("runs/f.tgm")).unwrap();
    std::fs::copy(at.join("runs/f.tgm"), at.join("runs/g.tgm")).unwrap();
    prints(at, "merge runs -o a.tgm", "wrote a.tgm: 8 objects from 2 files, 65.0 KiB\n");
    fine(at, "merge runs/?.tgm -o b.tgm");
    let same = ["a.tgm", "b.tgm"].map(|name| fine(at, &format!("ls {name}")).text().to_owned());
    assert_eq!(same[0], same[1]);
    assert_eq!(fw(at, "merge runs/*.bt -o c.tgm").err, "fw: runs/*.bt: no file matches this pattern\n");
}

/// Whole messages may hold more than what was selected.
#[test]
fn a_copy_of_whole_messages_says_what_else_they_hold() {
    let folder = folder();
    let at = folder.path();
    let run = fw(at, "copy p.tgm o.tgm -w mars.param=lsm");
    let words =
        "fw: note: whole messages are copied, with 1 object that --where does not select; --objects leaves them out\n";
    assert_eq!((run.code, run.err.as_str(), run.text()), (0, words, "wrote o.tgm: 1 message, 2 objects, 888 B\n"));
    let json = fine(at, "copy p.tgm o.tgm -f -w mars.param=lsm --json").json();
    assert_eq!((&json["copied_objects"], &json["selected_objects"]), (&2.into(), &1.into()));
    fine(at, "copy p.tgm q.tgm -w mars.param=lsm --objects");
    fine(at, "copy p.tgm r.tgm -w run=12Z");
    fails(at, "split f.tgm -o out/", 2, "fw: out/: is a directory\nhint: add a file name, such as out/[index].tgm\n");
}

/// One tensor, chosen by its keys: from a file, a pipe, another format, and a server.
#[test]
fn cat_by_keys() {
    let folder = folder();
    let at = folder.path();
    let expected = fine(at, "cat f.tgm -m 2 --text").out;
    for line in [
        "cat f.tgm -w mars.param=2t -w mars.step=6 --text",
        "cat f.tgm -w mars.param=2t -m 2 --text",
        "cat f.tgm -w msg.index=2 --text",
    ] {
        assert_eq!(fine(at, line).out, expected, "fw {line}");
    }
    let bytes = std::fs::read(at.join("f.tgm")).unwrap();
    assert_eq!(fed(at, "cat - -w mars.param=2t -w mars.step=6 --text", &bytes).out, expected);
    // Metadata is lost there; a slash in a value is quoted, because it separates alternatives.
    assert_eq!(fw(at, "convert f.tgm f.npz --quiet").code, 3);
    assert_eq!(fine(at, r#"cat f.npz -w name="2/2t" --text"#).out, expected);
    if let Some(server) = super::remote::Server::files(at) {
        let line = format!("cat http://{}/f.tgm -w mars.param=2t -w mars.step=6 --text", server.1);
        assert_eq!(fine(at, &line).out, expected);
    }
    let several = "fw: f.tgm: --where selects 2 objects, expected one\nhint: add more conditions, or --message\n";
    fails(at, "cat f.tgm -w mars.param=2t", 2, several);
    fails(
        at,
        "cat p.tgm -w mars.step=0",
        2,
        "fw: p.tgm: --where selects 2 objects, expected one\nhint: add more conditions\n",
    );
    let none = "fw: note: no object has the key mars.parm; did you mean mars.param?\n\
                fw: f.tgm: --where selects nothing\nhint: fw ls lists the objects\n";
    fails(at, "cat f.tgm -w mars.parm=2t", 2, none);
    assert_eq!(fw(at, "cat f.tgm -w mars.param=2t -t x").code, 2);
}
