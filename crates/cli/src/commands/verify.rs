//! `fw verify`: whether a checkpoint is the one that was signed or expected.

use super::sign::as_usage;
use super::{print, print_report, with_file};
use crate::args::Verify;
use crate::exit::Outcome;
use crate::render::{Progress, count};
use anyhow::Result;
use framewright::convert::{PublicKey, TensorFile, expect_manifest, manifest, stored_digests, verify_signature};
use framewright::report::visible;
use serde_json::json;

pub(crate) fn run(args: &Verify) -> Result<Outcome> {
    let key = args.key.as_ref().map(PublicKey::read).transpose().map_err(as_usage)?;
    with_file(&args.file, &args.common.store, "verify", |file, name| verified(args, key.as_ref(), file, name))
}

fn verified(args: &Verify, key: Option<&PublicKey>, file: &dyn TensorFile, name: &str) -> Result<Outcome> {
    let progress = Progress::bytes();
    let tell = |done: framewright::convert::Progress<'_>| progress.show(done.bytes_done, done.bytes_total, done.tensor);
    let found = match key {
        Some(key) => verify_signature(file, key, &tell),
        None => manifest(file, &tell),
    };
    progress.clear();
    let found = found?;
    if let Some(expected) = &args.expect {
        expect_manifest(&found, expected)?;
    }
    if args.common.json {
        let report = json!({
            "file": name,
            "format": file.format(),
            "digest": found.digest(),
            "tensor_count": found.entries().len(),
            "digests_checked": stored_digests(file).count(),
            "signed_by": key.map(ToString::to_string),
            "expected": args.expect.is_some(),
        });
        print_report("verify", true, report)?;
    } else {
        let by = match (key, &args.expect) {
            (Some(_), Some(_)) => "signed by the key, as expected",
            (Some(_), None) => "signed by the key",
            (None, _) => "as expected",
        };
        let tensors = count(found.entries().len(), "tensor");
        print(&format!("{}: {tensors}, {}: verified, {by}\n", visible(name), found.digest()))?;
    }
    Ok(Outcome::Fine)
}
