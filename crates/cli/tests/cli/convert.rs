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
    assert!(fine(at, "diff all.bt all.tgm").text().ends_with("15 tensors, 0 different\n"));
    let json = fine(at, "convert masks_small.tgm b.npz --json").json();
    assert_eq!((&json["files"][0], &json["tensors"]), (&"b.npz".into(), &1.into()));
    assert!(fine(at, "cat b.npz --text").text().contains("NaN"));
}

#[test]
fn losses_are_listed_and_3() {
    let folder = folder();
    let run = fw(folder.path(), "convert two_objects_metadata.tgm t.npz");
    assert_eq!((run.code, run.text()), (3, "wrote t.npz: 2 tensors, 20 B\n"));
    assert_eq!(
        run.err,
        "fw: lost metadata: \"run\" of message 0 becomes its JSON text
fw: lost tensor_metadata: \"2t\": mars, units
fw: lost tensor_metadata: \"msl\": mars, units, valid
fw: lost metadata: run, source
"
    );
    let run = fw(folder.path(), "convert two_objects_metadata.tgm t.npz --json");
    assert_eq!((run.code, run.json()["losses"][1]["tensor"].clone()), (3, "2t".into()));
}

#[test]
fn what_has_no_counterpart_is_refused() {
    let folder = folder();
    let run = fw(folder.path(), "convert all.bt all.npz");
    assert_eq!((run.code, run.text()), (1, ""));
    assert_eq!(
        run.err,
        "fw: all.bt: tensor \"t_bf16\": npz has no bfloat16; keep its raw bits or leave it out to go on (--missing raw or \
         --missing skip)\n"
    );
    assert!(!folder.path().join("all.npz").exists());
    let run = fw(folder.path(), "convert all.bt all.npz --missing skip");
    assert_eq!((run.code, run.text()), (3, "wrote all.npz: 12 tensors, 90 B\n"));
    assert_eq!(fw(folder.path(), "convert all.bt all.npz --missing raw").code, 3);
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
    assert!(fine(at, "diff all.bt split.safetensors.index.json").text().ends_with("15 tensors, 0 different\n"));
    assert_eq!(fw(at, "convert all.bt split.tgm --max-shard-size 50").code, 1);
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
        "tensor  verdict     max abs   max rel  detail
w       DIFFERENT  5.000e-1  2.000e-1  1 element, first at 1
1 tensor, 1 different
"
    );
    assert_eq!(
        fine(at, "diff a.safetensors b.safetensors --rtol 0.2").text(),
        "tensor  verdict   max abs   max rel  detail
w       close    5.000e-1  2.000e-1
1 tensor, 0 different
"
    );
    assert_eq!(fw(at, "diff a.safetensors b.safetensors --atol 0.5").code, 0);
    assert_eq!(fw(at, "diff a.safetensors b.safetensors --atol 0.4").code, 1);
    let run = fw(at, "diff f32_hash.tgm two_objects_metadata.tgm");
    assert_eq!(run.code, 1);
    assert_eq!(
        run.text(),
        "tensor    verdict    max abs  max rel  detail
object_0  DIFFERENT                    only in the first
2t        DIFFERENT                    only in the second
msl       DIFFERENT                    only in the second
metadata differs (not counted): run, source
3 tensors, 3 different
"
    );
    let run = fw(at, "diff a.safetensors b.safetensors --json");
    assert_eq!((run.code, run.json()["equal"].clone()), (1, false.into()));
    assert_eq!(run.json()["tensors"][0]["comparison"]["status"], "different");
    let run = fw(at, "diff a.safetensors absent.bt");
    assert_eq!((run.code, run.err.as_str()), (2, "fw: absent.bt: No such file or directory (os error 2)\n"));
}
