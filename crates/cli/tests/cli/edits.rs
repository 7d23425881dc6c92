//! `fw rename`, `subset`, `replace` and `cast`, and the commands for messages on checkpoints, through the command line.

use super::{fed, fine, fw};
use framewright::convert::{ConvertOptions, Format, MemoryTensors, write_tensors};
use framewright::tensor::DType;
use std::path::Path;
use tempfile::TempDir;

/// `m.safetensors` and `m.bt` with two layers, digests and a signature; `plain.bt` without.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let mut tensors = MemoryTensors::new();
    tensors.push("embed", DType::Float32, &[2, 2], floats(&[0.1, 0.2, 0.3, 70_000.0])).expect("pushed");
    for layer in 0..2 {
        tensors.push(format!("h.{layer}.w"), DType::Float32, &[2], floats(&[1.0, 0.1])).expect("pushed");
    }
    tensors.push("ids", DType::Int64, &[1], vec![1; 8]).expect("pushed");
    tensors.set_metadata("author", "me");
    let mut options = ConvertOptions::new();
    options.format = Some(Format::BinTensors);
    write_tensors(&tensors, "memory", at.join("plain.bt"), &options).expect("written");
    fine(at, "sign --new-key k.key");
    for name in ["m.bt", "m.safetensors"] {
        fine(at, &format!("convert plain.bt {name} -q"));
        fine(at, &format!("sign {name} --key k.key -q"));
    }
    folder
}

#[track_caller]
fn names(at: &Path, file: &str) -> Vec<String> {
    let json = fine(at, &format!("ls {file} --json")).json();
    json["tensors"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["name"].as_str().expect("text").to_owned())
        .collect()
}

/// What an edit of a file with digests must leave.
#[track_caller]
fn is_sound(at: &Path, file: &str) {
    let run = fine(at, &format!("validate {file} --mode full --json")).json();
    assert_eq!((&run["error_count"], &run["digests_checked"]), (&0.into(), &run["tensor_count"]), "{run}");
    let digest = fine(at, &format!("digest {file} --json")).json()["digest"].as_str().expect("text").to_owned();
    fine(at, &format!("verify {file} --expect {digest}"));
}

const DROPPED: &str = "fw: note: the signature was dropped, because the tensors are others; fw sign makes a new one\n";

#[test]
fn rename() {
    let folder = folder();
    let at = folder.path();
    for end in ["bt", "safetensors"] {
        let run = fw(at, &format!("rename m.{end} out.{end} --from h.*.w --to blk.*.weight --map ids=numbers"));
        assert_eq!((run.code, run.err.as_str()), (0, DROPPED));
        assert!(run.text().starts_with(&format!("wrote out.{end}: 3 of 4 tensors renamed, ")), "{}", run.text());
        assert_eq!(names(at, &format!("out.{end}")), ["numbers", "blk.0.weight", "blk.1.weight", "embed"]);
        is_sound(at, &format!("out.{end}"));
        let json = fine(at, &format!("rename out.{end} -i --map numbers=ids --map typo=x --json")).json();
        assert_eq!((&json["command"], &json["file"]), (&"rename".into(), &format!("out.{end}").into()));
        assert_eq!(json["renamed"], serde_json::json!([{"from": "numbers", "to": "ids"}]));
        assert_eq!((&json["unused_rules"][0], &json["tensors"]), (&"typo -> x".into(), &4.into()));
        assert_eq!((&json["digests"]["checked"], &json["digests"]["made"]), (&4.into(), &1.into()));
        assert_eq!(json["digests"]["signature_dropped"], false, "it was not signed any more");
        is_sound(at, &format!("out.{end}"));
    }
    fine(at, "convert plain.bt aligned.safetensors --align 4096 -q");
    fine(at, "rename aligned.safetensors -i --map ids=numbers -q");
    assert!(fine(at, "ls aligned.safetensors").text().contains("4096.."), "the alignment is kept");
    fine(at, "rename plain.bt aligned.bt --map ids=numbers --align 512 -q");
    assert!(fine(at, "ls aligned.bt").text().contains("512.."));
    let run = fw(at, "rename plain.bt -o o.bt --map nothing=x");
    assert_eq!((run.code, run.err.as_str()), (0, "fw: note: no tensor has a name for nothing -> x\n"));
    assert!(std::fs::read(at.join("o.bt")).expect("read") == std::fs::read(at.join("plain.bt")).expect("read"));
    for (line, words) in [
        ("rename plain.bt x.bt", "required"),
        ("rename plain.bt x.bt --from a", "required"),
        ("rename plain.bt x.bt --map a", "expected OLD=NEW"),
        ("rename plain.bt x.bt --from a --to b*", "the pattern has 0 *"),
        ("rename plain.bt x.bt --from a --from b --to c", "every --from needs its --to"),
        ("rename plain.bt --map a=b", "no output was given"),
        ("rename plain.bt plain.bt --map a=b", "input and output are the same file"),
        ("rename plain.bt x.bt -o y.bt --map a=b", "cannot be used with"),
        ("rename plain.bt x.safetensors --map a=b", "use fw convert to change the format"),
        ("rename plain.bt x.bt --map h.*.w=w", "\"h.0.w\" and \"h.1.w\" would both be \"w\""),
        ("rename plain.bt x.bt --map a=b --align 7", "must be a power of two"),
    ] {
        let run = fw(at, line);
        assert!(run.code == 2 && run.err.contains(words), "{line}: {} {}", run.code, run.err);
        assert!(!at.join("x.bt").exists());
    }
}

#[test]
fn subset() {
    let folder = folder();
    let at = folder.path();
    for end in ["bt", "safetensors"] {
        let run = fw(at, &format!("subset m.{end} -o out.{end} --layers 1- -x ids"));
        assert_eq!((run.code, run.err.as_str()), (0, DROPPED));
        assert!(run.text().starts_with(&format!("wrote out.{end}: 2 of 4 tensors, ")), "{}", run.text());
        assert_eq!(names(at, &format!("out.{end}")), ["embed", "h.1.w"]);
        is_sound(at, &format!("out.{end}"));
        // The same as a copy of what is selected by keys.
        fine(at, &format!("subset m.{end} keys.{end} -w name=h.* -q"));
        fine(at, &format!("copy m.{end} copy.{end} -w name=h.* -q"));
        let read = |name: &str| std::fs::read(at.join(format!("{name}.{end}"))).expect("read");
        assert!(read("keys") == read("copy"));
    }
    let run = fw(at, "subset plain.bt -o x.bt -t nothing");
    assert_eq!(run.err, "fw: plain.bt: no tensor is selected\nhint: fw ls plain.bt lists their names\n");
    assert_eq!(run.code, 2);
    let run = fw(at, "subset plain.bt -o x.bt --layers 3-1");
    assert!(run.code == 2 && run.err.contains("is not a list of layers"), "{}", run.err);
    let run = fed(at, "subset - - -t embed", &std::fs::read(at.join("plain.bt")).expect("read"));
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    std::fs::write(at.join("piped.bt"), run.out).expect("written");
    assert_eq!(names(at, "piped.bt"), ["embed"]);
}

#[test]
fn replace() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("odd:name.npy"), fine(at, "cat plain.bt -t h.1.w --npy").out).expect("written");
    for end in ["bt", "safetensors"] {
        let run = fw(at, &format!("replace m.{end} out.{end} -t h.0.w --from odd:name.npy"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "the values are the same, so the signature holds");
        let words = format!("wrote out.{end}: h.0.w (float32 2) is ");
        assert!(run.text().starts_with(&words) && run.text().contains("of odd:name.npy"), "{}", run.text());
        is_sound(at, &format!("out.{end}"));
        let json =
            fine(at, &format!("replace m.{end} out.{end} -f -t embed --from plain.bt:h.1.w --adopt --json")).json();
        assert_eq!(json["after"], serde_json::json!({"name": "h.1.w", "dtype": "float32", "shape": [2]}));
        is_sound(at, &format!("out.{end}"));
    }
    for (line, code, words) in [
        ("replace m.bt x.bt -t embed --from plain.bt:h.1.w", 2, "use --adopt to take it as it is"),
        ("replace m.bt x.bt -t embd --from plain.bt", 1, "did you mean \"embed\"?"),
        ("replace m.bt x.bt -t embed --from plain.bt:none", 1, "plain.bt: no tensor is called \"none\""),
        ("replace m.bt x.bt -t embed --from none.bt:embed", 2, "none.bt:embed: No such file"),
    ] {
        let run = fw(at, line);
        assert!(run.code == code && run.err.contains(words), "{line}: {} {}", run.code, run.err);
        assert!(!at.join("x.bt").exists());
    }
}

#[test]
fn cast() {
    let folder = folder();
    let at = folder.path();
    for end in ["bt", "safetensors"] {
        let run = fw(at, &format!("cast m.{end} -o half.{end} --as f16"));
        let notes = "fw: note: not floats of whole bytes, so not cast: 1 tensor\nfw: note: 1 element beyond the range of f16 became infinite or NaN\n";
        assert_eq!((run.code, &run.err), (3, &format!("{notes}{DROPPED}")));
        let table = "\
tensor  from     to       max error  rms error  overflow  underflow  nan
embed   float32  float16   4.883e-5   4.228e-5         1          0    0
h.0.w   float32  float16   2.442e-5   1.726e-5         0          0    0
h.1.w   float32  float16   2.442e-5   1.726e-5         0          0    0
all                        4.883e-5   3.060e-5         1          0    0
";
        let end_of_table = format!("{table}wrote half.{end}: 3 of 4 tensors cast, 32 B -> 16 B, ");
        assert!(run.text().starts_with(&end_of_table), "{}", run.text());
        is_sound(at, &format!("half.{end}"));
    }
    let run = fw(at, "cast m.bt -o small.bt --as f8_e4m3 --saturate -t embed -t typo");
    assert_eq!(run.code, 0, "it was asked for");
    let notes = "fw: note: no tensor has a name for typo\nfw: note: 1 element beyond the range of f8_e4m3 got its greatest value\n";
    assert_eq!(run.err, format!("{notes}{DROPPED}"));
    assert_eq!(fine(at, "cat small.bt -t embed --as f32 --text").text(), "0.1015625 0.203125\n0.3125 448.0\n");
    let json = fine(at, "cast m.bt -o small.bt -f --as f32 --json").json();
    assert_eq!((&json["cast"], &json["tensors"]), (&serde_json::json!([]), &4.into()));
    assert!(std::fs::read(at.join("small.bt")).expect("read") == std::fs::read(at.join("m.bt")).expect("read"));
    let json = fw(at, "cast m.safetensors -o small.safetensors --as bf16 --json").json();
    assert_eq!((&json["cast"][0]["from"], &json["error"]["overflow"]), (&"float32".into(), &0.into()));
    let run = fw(at, "cast m.bt -o x.bt --as f12");
    assert!(run.code == 2 && run.err.contains("f8_e4m3"), "{}", run.err);
}

/// The commands for messages work on checkpoints as well, with digests compared, or not when that is asked for.
#[test]
fn corrupt_checkpoints_are_refused_by_every_change() {
    let folder = folder();
    let at = folder.path();
    for end in ["bt", "safetensors"] {
        let name = format!("m.{end}");
        let mut bytes = std::fs::read(at.join(&name)).expect("read");
        *bytes.last_mut().expect("data") ^= 1;
        std::fs::write(at.join(&name), bytes).expect("written");
        for line in [
            format!("rename {name} x.{end} --map ids=numbers"),
            format!("subset {name} x.{end} -t *"),
            format!("replace {name} x.{end} -t ids --from plain.bt"),
            format!("cast {name} x.{end} --as bf16"),
            format!("set {name} x.{end} -s author=you"),
            format!("copy {name} x.{end} -w name=h.*"),
            format!("merge {name} -o x.{end}"),
            format!("split {name} -o x-[name].{end} -f"),
        ] {
            let run = fw(at, &line);
            assert_eq!(run.code, 1, "{line}: {}", run.err);
            let hint = "hint: the data was changed after its digest was made: get the file again, or add --ignore-digests to go on all the same\n";
            assert!(run.err.contains("expected sha256:") && run.err.ends_with(hint), "{line}: {}", run.err);
            let json = fw(at, &format!("{line} --json")).json();
            assert_eq!(json["error"]["code"], "checksum_mismatch", "{line}: {json}");
            assert!(!at.join(format!("x.{end}")).exists());
            let run = fw(at, &format!("{line} --ignore-digests"));
            assert!(run.code == 0 || line.starts_with("cast"), "{line}: {}", run.err);
            assert!(run.err.contains("were not compared (--ignore-digests)\n"), "{line}: {}", run.err);
            // What is corrupt has its old digest, or none.
            let written = if line.starts_with("split") { format!("x-h.1.w.{end}") } else { format!("x.{end}") };
            let valid = fw(at, &format!("validate {written}"));
            let report = fw(at, &format!("validate {written} --json")).json();
            let all = report["digests_checked"] == report["tensor_count"];
            assert!(valid.code == 1 || !all, "{line}: {}", valid.text());
            std::fs::remove_file(at.join(written)).expect("removed");
        }
    }
}

#[test]
fn others_are_told_what_does_it() {
    let folder = folder();
    let at = folder.path();
    fine(at, "convert plain.bt m.tgm -q");
    fine(at, "convert plain.bt s.bt --max-shard-size 16B -q");
    for (line, words) in [
        (
            "rename m.tgm x.tgm --map a=b",
            "fw: m.tgm: fw rename works on BinTensors or safetensors files; this one is Tensogram\nhint: use fw set -w name=OLD -s name=NEW\n",
        ),
        (
            "subset m.tgm -o x.tgm -t a",
            "fw: m.tgm: fw subset works on BinTensors or safetensors files; this one is Tensogram\nhint: use fw copy --objects -w name=PATTERN\n",
        ),
        (
            "cast s.bt.index.json -i --as f16",
            "fw: s.bt.index.json: fw cast does not change a checkpoint in several files itself\nhint: name one file to write, and split that with fw convert --max-shard-size\n",
        ),
    ] {
        let run = fw(at, line);
        assert_eq!((run.code, run.err.as_str()), (2, words), "{line}");
    }
    fine(at, "subset s.bt.index.json -o joined.bt -t *");
    fine(at, "diff joined.bt plain.bt --ignore-metadata");
}
