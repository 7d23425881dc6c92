//! Faults found in use, each with the file that showed it.

use super::pipe::piped;
use super::{fine, fw};
use std::path::{Path, PathBuf};

/// Where the files are.
fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// A decoder asked again for bytes that it already had.
#[test]
fn a_slice_of_a_masked_blosc2_object_is_read() {
    for line in ["cat blosc2_mask_slice.tgm -s 0 --text", "cat blosc2_mask_slice.tgm -t x -s 0 --text"] {
        assert_eq!(fine(&data(), line).text(), "0.1257302210933933\n", "{line}");
    }
    let file = framewright::tensogram::TensogramFile::open(data().join("blosc2_mask_slice.tgm")).unwrap();
    let all = file.decode_object(0, 0, &Default::default()).unwrap();
    let all: Vec<f64> = all.bytes.chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect();
    for place in [0u64, 1, 4000, 8620] {
        let selection = framewright::tensor::Selection::new().axis(place);
        let part = file.slice(0, 0, selection, &Default::default()).unwrap();
        let part = f64::from_ne_bytes(part.data().try_into().unwrap());
        assert!(part == all[place as usize] || part.is_nan() && all[place as usize].is_nan(), "{place}");
    }
}

/// Metadata of objects was not compared, that of files was not counted.
#[test]
fn differences_of_metadata_count() {
    let run = fw(&data(), "diff diffmeta_A.tgm diffmeta_B.tgm");
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert_eq!(
        run.text(),
        "tensor  verdict    max abs  rmse  bias  rel norm  cosine  detail
2t      DIFFERENT                                         3 metadata keys differ
tensor  key        first       second
2t      mars.date  \"20260401\"  \"20260402\"
2t      mars.step  0           240
2t      units      \"K\"         \"degC\"
1 tensor: 0 identical, 1 different; 3 metadata keys differ
"
    );
    let json = fw(&data(), "diff diffmeta_A.tgm diffmeta_B.tgm --json").json();
    assert_eq!((&json["ok"], &json["metadata_count"]), (&false.into(), &3.into()));
    assert_eq!(json["tensors"][0]["status"], "identical");
    assert_eq!(json["tensors"][0]["metadata"][1]["key"], "mars.step");
    assert_eq!(json["tensors"][0]["metadata"][1]["right"], 240);
    assert_eq!(
        fine(&data(), "diff diffmeta_A.tgm diffmeta_B.tgm --ignore-metadata").text(),
        "1 tensor: 1 identical, 0 different\n"
    );
    assert_eq!(fine(&data(), "diff diffmeta_A.tgm diffmeta_A.tgm").text(), "1 tensor: 1 identical, 0 different\n");
    // Paired by a key on which they agree, or not at all.
    assert_eq!(fw(&data(), "diff diffmeta_A.tgm diffmeta_B.tgm --by mars.param").code, 1);
    let run = fw(&data(), "diff diffmeta_A.tgm diffmeta_B.tgm --by mars.param,mars.step");
    assert!(run.text().contains("only in the first file") && run.text().contains("only in the second file"));
    let run = fw(&data(), "diff diffmeta_A.tgm diffmeta_B.tgm --by mars.stp");
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "fw: --by: no tensor has the key mars.stp; did you mean mars.step?\n")
    );
}

/// Newlines, colours and window titles of a name went to the terminal as they are.
#[test]
fn names_from_files_are_never_printed_raw() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::copy(data().join("escape_name.tgm"), at.join("e.tgm")).unwrap();
    let name = "a\nb\u{1b}[31mRED\u{1b}]0;title\u{7}";
    // Damage makes commands say more.
    let mut damaged = std::fs::read(at.join("e.tgm")).unwrap();
    let place = damaged.len() - 60;
    damaged[place] ^= 0x55;
    std::fs::write(at.join("damaged.tgm"), damaged).unwrap();
    let mut seen = 0;
    for file in ["e.tgm", "damaged.tgm", "e.safetensors", "e.bt", "e.npz"] {
        if !file.ends_with(".tgm") {
            fw(at, &format!("convert e.tgm {file}"));
        }
        for line in [
            "info {}",
            "ls {}",
            "dump {}",
            "dump {} --hex",
            "validate {} --mode full",
            "cat {} --text",
            "cat {} -t nothing --text",
            "diff {} {}",
            "diff {} e.tgm",
            "diff {} e.tgm --by name",
            "convert {} out.npz --force",
            "convert {} out.npy --force",
            "convert {} out.bt --force",
            "convert {} out.tgm --force",
            "convert {} out.tgm --force --missing skip",
            "recover {} -o out.tgm --force",
            "get {} -p name",
            "get {} -p nome",
            "ls {} -p name,shape --sort name",
            "ls {} --messages",
            "ls {} --count -p name",
            "dump {} -p name",
            "dump {} --data",
            "dump {} --frames",
            "stats {} --histogram",
            "plot {}",
            "plot {} --kind histogram",
            "plot {} -o out.svg --force",
            "plot {} -o [name].svg --force",
            "set {} out.X --force -s units=K",
            "set {} out.X --force -s name=x",
            "copy {} out.X --force",
            "copy {} out.X --force -w nome=x",
            "copy {} copied-[name].X --force",
            "merge {} -o out.X --force",
            "merge {} {} -o out.X --force --strategy error",
            "split {} -o out.X --force",
            "split {} -o [name].X --force",
            "reshuffle {} -o out.X --force",
            "recode {} out.X --force --compress lz4",
            "recode {} out.X --force --pack 8",
            "recode {} --dry-run --zfp rate=8 --keep-unsupported",
        ] {
            for json in ["", " --json"] {
                let text_only = line.starts_with("cat") || line.starts_with("plot") && !line.contains(" -o ");
                if text_only && !json.is_empty() {
                    continue;
                }
                let ending = file.rsplit('.').next().unwrap();
                let line = format!("{}{json}", line.replace("{}", file).replace(".X", &format!(".{ending}")));
                let run = fw(at, &line);
                let shown = format!("{}{}", run.text(), run.err);
                assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "fw {line}: {shown:?}");
                assert!(!shown.contains(name), "fw {line}: {shown:?}");
                assert!(!shown.lines().any(|line| line.starts_with("b\\u{1b}")), "fw {line}: {shown:?}");
                seen += usize::from(shown.contains("RED"));
            }
        }
    }
    assert!(seen > 120, "the name is shown where it belongs: {seen}");
    // Nothing was written under such a name, and nothing outside of the folder.
    for entry in std::fs::read_dir(at).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.chars().any(char::is_control), "{name:?}");
    }
    // Files may have such names, too.
    let path = at.join("odd\u{1b}[31m\nname.tgm");
    std::fs::copy(at.join("e.tgm"), &path).unwrap();
    for words in [
        &["info", "ODD"][..],
        &["validate", "ODD"],
        &["ls", "ODD", "e.tgm"],
        &["dump", "ODD", "e.tgm"],
        &["stats", "ODD", "e.tgm"],
        &["diff", "ODD", "e.tgm"],
        &["set", "ODD", "-i", "-s", "units=K"],
        &["copy", "e.tgm", "ODD", "--force"],
        &["merge", "e.tgm", "-o", "ODD", "--force"],
        &["split", "e.tgm", "-o", "ODD", "--force"],
        &["reshuffle", "ODD", "-i"],
        &["recode", "ODD", "-i", "--compress", "lz4"],
        &["recover", "e.tgm", "-o", "ODD", "--force"],
        &["convert", "e.tgm", "ODD", "--force"],
    ] {
        let words: Vec<String> = words.iter().map(|word| word.replace("ODD", path.to_str().unwrap())).collect();
        let run = super::fw_words(at, &words);
        // Templates refuse control characters.
        assert!(matches!(run.code, 0..=2), "fw {words:?}: {}", run.err);
        assert!(!run.err.chars().any(|c| c.is_control() && c != '\n'), "fw {words:?}: {:?}", run.err);
        assert!(!run.text().chars().any(|c| c.is_control() && c != '\n'), "fw {words:?}: {:?}", run.text());
        assert!(!run.text().contains("\nname.tgm"), "fw {words:?}: {:?}", run.text());
    }
    assert!(fine(at, "ls e.tgm").text().contains("a\\nb\\u{1b}[31mRED\\u{1b}]0;title\\u{7}"));
    let (code, out, _) = piped(at, "ls -", "e.tgm");
    let out = String::from_utf8(out).unwrap();
    assert!(code == Some(0) && out.contains("RED") && !out.chars().any(|c| c.is_control() && c != '\n'), "{out:?}");
}

/// The first of several objects of the same name was written, as if it were the only one.
#[test]
fn a_name_of_several_objects_is_refused() {
    let run = fw(&data(), "cat dupname.tgm -t t --text");
    let expected = "fw: dupname.tgm: message 0: 3 objects are named \"t\": t#0, t#1, t#2\nhint: choose one of them, such as --tensor t#0\n";
    assert_eq!((run.code, run.text(), run.err.as_str()), (2, "", expected));
    for object in 0..3 {
        let by_name = fine(&data(), &format!("cat dupname.tgm -t t#{object} --text")).out;
        assert_eq!(by_name, fine(&data(), &format!("cat dupname.tgm -o {object} --text")).out);
        assert_eq!(by_name, fine(&data(), &format!("cat dupname.tgm -m 0 -t t#{object} --text")).out);
    }
    assert_ne!(fine(&data(), "cat dupname.tgm -t t#0").out, fine(&data(), "cat dupname.tgm -t t#1").out);
    assert_eq!(fw(&data(), "cat dupname.tgm -t t#3").code, 2);
    assert!(fine(&data(), "cat --help").text().contains("NAME#2"));
}

/// Pairs of floats in a lossless sz3 stream are floats; the reference writes such objects.
#[test]
fn lossless_sz3_streams_of_floats_are_read() {
    let run = fine(&data(), "cat sz3_float32.tgm");
    let values: Vec<f32> = run.out.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(values.len(), 60 * 70);
    assert!(values.iter().all(|value| value.is_finite() && value.abs() < 1e4), "{:?}", &values[..8]);
    assert_eq!(fine(&data(), "validate sz3_float32.tgm --mode full").code, 0);
    // Nothing writes them.
    let file = framewright::tensogram::TensogramFile::open(data().join("sz3_float32.tgm")).unwrap();
    let object = file.decode_object(0, 0, &Default::default()).unwrap();
    let written = framewright::tensogram::encode(
        &Default::default(),
        &[(&object.descriptor, &object.bytes)],
        &Default::default(),
    );
    assert_eq!(written.unwrap_err().code(), "unsupported_combination");
}

/// A message without any of its objects was written, and called a success with losses.
#[test]
fn nothing_recovered_is_a_failure_without_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::copy(data().join("recover_nothing.tgm"), at.join("x.tgm")).unwrap();
    let run = fw(at, "recover x.tgm -o out.tgm");
    assert_eq!((run.code, run.text()), (1, ""), "{}", run.err);
    assert!(run.err.starts_with("fw: x.tgm: nothing could be recovered: "), "{}", run.err);
    assert!(!at.join("out.tgm").exists());
    let json = fw(at, "recover x.tgm -o out.tgm --json");
    assert_eq!((json.code, &json.json()["error"]["code"]), (1, &"nothing_recovered".into()));
    // One whole message before it is saved, and nothing else is written.
    let good = std::fs::read(data().join("diffmeta_A.tgm")).unwrap();
    let bad = std::fs::read(at.join("x.tgm")).unwrap();
    std::fs::write(at.join("both.tgm"), [&good[..], &bad].concat()).unwrap();
    assert_eq!(fw(at, "recover both.tgm -o out.tgm").code, 3);
    assert_eq!(std::fs::read(at.join("out.tgm")).unwrap(), good);
}
