//! `fw convert` and `fw diff`.

use super::{fine, fw, vectors};

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["two_objects_metadata.tgm", "f32_hash.tgm", "dtypes_all_be.tgm", "masks_small.tgm"] {
        std::fs::copy(vectors("tensogram").join(name), folder.path().join(name)).expect("copied");
    }
    std::fs::copy(vectors("bintensors/valid").join("all_dtypes.bt"), folder.path().join("all.bt")).expect("copied");
    folder
}

#[test]
fn without_loss_it_is_0() {
    let folder = folder();
    let at = folder.path();
    assert_eq!(fine(at, "convert f32_hash.tgm a.bt").text(), "wrote a.bt: 1 tensor, 12 B\n");
    assert_eq!(fine(at, "convert all.bt all.tgm").text(), "wrote all.tgm: 15 tensors, 98 B\n");
    assert_eq!(
        fine(at, "validate all.tgm --mode full").text(),
        "all.tgm: 1 message, 15 objects, 0 errors, 0 warnings, 1 message verified by digest: valid\n"
    );
    // There and back: the same bytes.
    fine(at, "convert all.tgm back.bt");
    assert_eq!(std::fs::read(at.join("all.bt")).expect("read"), std::fs::read(at.join("back.bt")).expect("read"));
    assert!(fine(at, "diff all.bt all.tgm").text().ends_with("15 tensors: 15 identical, 0 different\n"));
    let json = fine(at, "convert masks_small.tgm b.npz --json").json();
    assert_eq!((&json["files"][0], &json["tensor_count"]), (&"b.npz".into(), &1.into()));
    assert!(fine(at, "cat b.npz --text").text().contains("NaN"));
}

#[test]
fn losses_are_listed_and_3() {
    let folder = folder();
    let run = fw(folder.path(), "convert two_objects_metadata.tgm t.npz");
    assert_eq!((run.code, run.text()), (3, "wrote t.npz: 2 tensors, 20 B\n"));
    assert_eq!(
        run.err,
        "fw: lost tensor metadata: mars, units (\"2t\")
fw: lost tensor metadata: mars, units, valid (\"msl\")
fw: lost metadata: run, source
"
    );
    let run = fw(folder.path(), "convert two_objects_metadata.tgm t.npz --json --force");
    assert_eq!((run.code, run.err.as_str()), (3, ""), "losses are told once");
    let json = run.json();
    assert_eq!((&json["command"], &json["ok"]), (&"convert".into(), &true.into()));
    assert_eq!(json["losses"][0]["tensors"], serde_json::json!(["2t"]));
    let run = fw(folder.path(), "convert two_objects_metadata.tgm t.npz --force --quiet");
    assert_eq!((run.code, run.text(), run.err.as_str()), (3, "", ""));
    // BinTensors has a place for all of it.
    let run = fw(folder.path(), "convert two_objects_metadata.tgm t.bt");
    assert_eq!((run.code, run.err.as_str()), (0, "fw: note, metadata: \"run\" becomes JSON text\n"));
    // Codecs and the bounds of messages are not kept, which is said and is no loss.
    fine(folder.path(), "tour");
    for name in ["again.tgm --join-messages --drop-codecs", "again.bt"] {
        let run = fw(folder.path(), &format!("convert fw-tour/forecast.tgm {name} --json"));
        let features: Vec<_> =
            run.json()["notes"].as_array().expect("a list").iter().map(|note| note["feature"].clone()).collect();
        assert!(["messages", "encoding"].iter().all(|feature| features.contains(&(*feature).into())), "{features:?}");
    }
    let run = fw(folder.path(), "convert fw-tour/forecast.tgm again.npz");
    let note = "fw: note, encoding: shuffle+zstd is not kept: elements are written decoded (3 tensors: \"0/sd\", \"1/sd\", \"2/sd\")\n";
    assert!(run.err.contains(note), "{}", run.err);
    assert!(run.err.contains("3 messages become one list;"), "{}", run.err);
}

/// What is there stays there; what would do nothing is refused; faults name their file, once.
#[test]
fn refusals() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("there.npz"), b"precious").expect("written");
    for (line, words) in [
        ("convert f32_hash.tgm there.npz", "fw: there.npz: already exists; use --force to overwrite it\n"),
        (
            "convert f32_hash.tgm f32_hash.tgm",
            "fw: f32_hash.tgm: input and output are the same file; name another output\n",
        ),
        (
            "convert f32_hash.tgm x.npz --align 64",
            "fw: alignment is for BinTensors or safetensors files; the output is npz\n",
        ),
        (
            "convert f32_hash.tgm x.npz --digests sha1",
            "fw: keeping digests is for BinTensors or safetensors files; the output is npz\n",
        ),
        (
            "convert all.bt x.tgm --max-shard-size 50",
            "fw: Tensogram files cannot be split; choose BinTensors or safetensors\n",
        ),
        ("convert f32_hash.tgm absent/x.bt", "fw: absent/x.bt: No such file or directory (os error 2)\n"),
        ("convert f32_hash.tgm absent/x.npz", "fw: absent/x.npz: No such file or directory (os error 2)\n"),
        ("convert absent.bt x.npz", "fw: absent.bt: No such file or directory (os error 2)\n"),
    ] {
        let run = fw(at, line);
        assert_eq!((run.code, run.text(), run.err.as_str()), (2, "", words), "fw {line}");
    }
    assert_eq!(std::fs::read(at.join("there.npz")).expect("read"), b"precious");
    fine(at, "convert f32_hash.tgm there.npz --force");
    let lenient = vectors("bintensors/noncanonical").join("pad_garbage_7.bt");
    std::fs::copy(lenient, at.join("lenient.bt")).expect("copied");
    let run = fw(at, "convert lenient.bt x.npz");
    assert!(run.code == 1 && run.err.starts_with("fw: lenient.bt: expected spaces"), "{}", run.err);
    fine(at, "convert lenient.bt x.npz --rules compat");
    assert_eq!(fw(at, "validate lenient.bt").code, 1);
    assert_eq!(fw(at, "validate lenient.bt --rules compat").code, 0);
    for line in [
        "convert f32_hash.tgm y.npz --rules compat",
        "convert f32_hash.tgm y.npz --profile network",
        "validate f32_hash.tgm --rules compat",
        "validate there.npz --rules canonical",
    ] {
        assert_eq!(fw(at, line).code, 2, "fw {line}");
    }
}

#[test]
fn what_has_no_counterpart_is_refused() {
    let folder = folder();
    let run = fw(folder.path(), "convert all.bt all.npz");
    assert_eq!((run.code, run.text()), (1, ""));
    assert_eq!(
        run.err,
        "fw: all.bt: tensor \"t_bf16\": npz has no bfloat16\nhint: use --missing raw to keep its bits, or --missing skip to \
         leave it out\n"
    );
    assert!(!folder.path().join("all.npz").exists());
    let run = fw(folder.path(), "convert all.bt all.npz --missing skip");
    assert_eq!((run.code, run.text()), (3, "wrote all.npz: 12 tensors, 90 B\n"));
    assert_eq!(fw(folder.path(), "convert all.bt all.npz --missing raw --force").code, 3);
}

#[test]
fn options_reach_the_writers() {
    let folder = folder();
    let at = folder.path();
    fine(at, "convert all.bt aligned.bt --align 4096");
    assert!(fine(at, "ls aligned.bt").text().contains("4096.."));
    fine(at, "convert all.bt digests.bt --digests sha256");
    assert!(fine(at, "info digests.bt").text().contains("sha256"));
    fine(at, "convert all.bt odd.name --to safetensors");
    assert!(fine(at, "info odd.name").text().contains("format     safetensors\n"));
    let run = fine(at, "convert all.bt split.safetensors --max-shard-size 50");
    assert!(run.text().contains("split-00001-of-0000"), "{}", run.text());
    assert!(
        fine(at, "diff all.bt split.safetensors.index.json")
            .text()
            .ends_with("15 tensors: 15 identical, 0 different\n")
    );
}

#[test]
fn diff() {
    let folder = folder();
    let at = folder.path();
    let file = |values: [f32; 3]| {
        let header = r#"{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}} "#;
        let data = values.iter().flat_map(|value| value.to_le_bytes());
        (header.len() as u64).to_le_bytes().into_iter().chain(header.bytes()).chain(data).collect::<Vec<u8>>()
    };
    std::fs::write(at.join("a.safetensors"), file([1.0, 2.0, 4.0])).expect("written");
    std::fs::write(at.join("b.safetensors"), file([1.0, 2.5, 4.0])).expect("written");
    let run = fw(at, "diff a.safetensors b.safetensors");
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert_eq!(
        run.text(),
        "tensor  verdict     max abs      rmse      bias  rel norm    cosine  detail
w       DIFFERENT  5.000e-1  2.887e-1  1.667e-1  1.037e-1  0.995638  1 element, first at 1
1 tensor: 0 identical, 1 different
"
    );
    assert_eq!(
        fine(at, "diff a.safetensors b.safetensors --rtol 0.2").text(),
        "tensor  verdict   max abs      rmse      bias  rel norm    cosine  detail
w       close    5.000e-1  2.887e-1  1.667e-1  1.037e-1  0.995638
1 tensor: 0 identical, 1 close, 0 different
"
    );
    assert_eq!(fw(at, "diff a.safetensors b.safetensors --atol 0.5").code, 0);
    assert_eq!(fw(at, "diff a.safetensors b.safetensors --atol 0.4").code, 1);
    let run = fw(at, "diff f32_hash.tgm two_objects_metadata.tgm");
    assert_eq!(run.code, 1);
    assert_eq!(
        run.text(),
        "tensor    verdict    max abs  rmse  bias  rel norm  cosine  detail
object_0  DIFFERENT                                         only in the first file
2t        DIFFERENT                                         only in the second file
msl       DIFFERENT                                         only in the second file
tensor  key     first     second
(file)  run     (absent)  20240115
(file)  source  (absent)  \"ifs\"
3 tensors: 0 identical, 3 different; 2 metadata keys differ
"
    );
    let run = fw(at, "diff a.safetensors b.safetensors --json");
    assert_eq!((run.code, run.json()["ok"].clone()), (1, false.into()));
    assert_eq!(run.json()["tensors"][0]["status"], "different");
    // One tensor in each file: a pair, whatever they are called.
    fw(at, "convert a.safetensors other.npy");
    assert!(fine(at, "diff a.safetensors other.npy").text().ends_with("1 tensor: 1 identical, 0 different\n"));
    let run = fw(at, "diff a.safetensors absent.bt");
    assert_eq!((run.code, run.err.as_str()), (2, "fw: absent.bt: No such file or directory (os error 2)\n"));
}
