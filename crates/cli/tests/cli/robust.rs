//! Files that claim more than they hold, and files whose metadata is damaged.

use super::{fed, fine, fw, vectors};
use framewright::tensogram::{MessageBuilder, Pipe};
use std::path::Path;

/// A field of one value: a few bytes that stand for two mebibytes.
fn constant(folder: &Path) {
    let values = vec![1.5f64; 1 << 18];
    let message = MessageBuilder::new().tensor(&[512, 512], &values).unwrap().pipeline(Pipe::zstd(3)).base("name", "x");
    std::fs::write(folder.join("x.tgm"), message.encode().unwrap()).unwrap();
}

#[test]
fn claims_without_backing_are_refused_above_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    constant(at);
    for line in ["stats x.tgm", "cat x.tgm --text", "convert x.tgm x.npz --force", "plot x.tgm -o x.png --force"] {
        assert_eq!(fw(at, line).code, 0, "{line}");
        let refused = fw(at, &format!("{line} --limit 1MiB"));
        assert_ne!(refused.code, 0, "{line}");
        assert!(refused.err.contains("limit expansion_ratio"), "{line}: {}", refused.err);
        for more in ["--limit 2MiB", "--trust"] {
            assert_eq!(fw(at, &format!("{line} {more}")).code, 0, "{line} {more}");
        }
    }
    let refused = fw(at, "cat x.tgm --text --limit 1MiB");
    assert!(refused.err.contains("hint: add --limit SIZE"), "{}", refused.err);
    let refused = fw(at, "cat x.tgm --json --limit 1MiB").json();
    assert_eq!(refused["error"]["code"], "limit_expansion_ratio", "{refused}");
    // What is looked at without being held is not refused.
    for line in ["validate x.tgm", "ls x.tgm", "info x.tgm", "dump x.tgm"] {
        fine(at, &format!("{line} --limit 1MiB"));
    }
    assert_eq!(fw(at, "ls x.tgm --limit much").code, 2);
    assert_eq!(fw(at, "ls x.tgm --limit 1GiB --trust").code, 2);
}

/// 352 bytes that stand for 3 GiB.
#[test]
fn a_bomb_is_refused_without_options() {
    let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for line in ["stats sp0_3G.tgm", "cat sp0_3G.tgm --text"] {
        let refused = fw(&at, line);
        assert_ne!(refused.code, 0, "{line}");
        assert!(refused.err.contains("limit expansion_ratio"), "{line}: {}", refused.err);
    }
    fine(&at, "validate sp0_3G.tgm");
    fine(&at, "ls sp0_3G.tgm");
}

/// Digests of metadata were never compared.
#[test]
fn damaged_metadata_is_not_read_as_if_it_were_right() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (name, code) in [("metaflip.tgm", "hash_mismatch"), ("hashframe-as-metadata.tgm", "flag_mismatch")] {
        std::fs::copy(vectors("robustness").join(name), at.join(name)).unwrap();
        for line in [format!("convert {name} out.npz --json"), format!("cat {name} --object 0 --json")] {
            let refused = fw(at, &line);
            assert_ne!(refused.code, 0, "{line}");
            assert_eq!(refused.json()["error"]["code"], code, "{line}");
        }
        assert!(!at.join("out.npz").exists());
        assert_eq!(fw(at, &format!("validate {name}")).code, 1);
        let saved = fw(at, &format!("recover {name} -o saved.tgm --force --json")).json();
        assert_eq!(saved["intact_count"].as_u64().unwrap_or(0), 0, "{saved}");
    }
}

/// Digests match, and the descriptor says something else than the payload.
#[test]
fn what_cannot_be_decoded_is_not_valid() {
    let at = vectors("robustness");
    for name in ["flagflip-none.tgm", "flagflip-two.tgm", "flagflip-streamed.tgm", "repro_break.tgm"] {
        assert_eq!(fw(&at, &format!("validate {name}")).code, 1, "{name}");
    }
    let checked = fine(&at, "validate flagflip-none.tgm --mode checksum");
    assert!(
        checked.text().ends_with("1 message verified by digest: valid (digests match, not decoded)\n"),
        "{}",
        checked.text()
    );
    assert_eq!(fw(&at, "validate repro_break.tgm --mode quick").code, 1);
    assert_eq!(fw(&at, "validate repro_break.tgm --mode checksum").code, 1);
}

#[test]
fn standard_input_is_kept_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = vec![7; 3 << 20];
    let refused = fed(folder.path(), "info - --limit 1MiB --json", &bytes);
    assert_eq!(refused.code, 1);
    assert_eq!(refused.json()["error"]["code"], "limit_standard_input");
    let refused = fed(folder.path(), "info - --limit 1MiB", &bytes);
    assert!(
        refused.err.contains("more than 1.00 MiB came") && refused.err.contains("hint: add --limit"),
        "{}",
        refused.err
    );
}

/// To look for messages in a tebibyte of holes takes hours.
#[cfg(target_os = "linux")]
#[test]
fn sparse_files_are_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("x.tgm")).unwrap();
    if file.set_len(1 << 40).is_err() {
        return super::skipped("sparse_files_are_told_at_once: the file system has no sparse files");
    }
    for line in ["info x.tgm", "ls x.tgm", "validate x.tgm"] {
        let begun = std::time::Instant::now();
        let refused = fw(folder.path(), &format!("{line} --json"));
        assert_eq!(refused.code, 1, "{line}");
        assert!(refused.text().contains("sparse_file"), "{line}: {}", refused.text());
        assert!(begun.elapsed().as_secs() < 5, "{line}");
    }
}
