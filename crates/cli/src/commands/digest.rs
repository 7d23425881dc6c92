//! `fw digest`: one digest of all tensors of a checkpoint.

use super::with_file;
use crate::args::DigestOf;
use crate::exit::{Outcome, Usage};
use crate::inputs::{Answer, Answers, Inputs};
use crate::render::Progress;
use anyhow::Result;
use framewright::convert::{TensorFile, expect_manifest, manifest, stored_digests};
use framewright::report::visible;
use serde_json::json;

pub(crate) fn run(args: &DigestOf) -> Result<Outcome> {
    let inputs = Inputs::of(&args.files)?;
    if args.expect.is_some() && inputs.several {
        return Err(Usage("--expect is for one checkpoint, and there are several files".to_owned()).into());
    }
    let mut answers = Answers::new("digest", args.common.json, &inputs);
    for word in &inputs.words {
        let answer = with_file(word, &args.common.store, "digest", |file, name| digest(args, file, name));
        answers.take(word, answer)?;
    }
    answers.finish()
}

fn digest(args: &DigestOf, file: &dyn TensorFile, name: &str) -> Result<Answer> {
    let progress = Progress::bytes();
    let found = manifest(file, &|done| progress.show(done.bytes_done, done.bytes_total, done.tensor))?;
    progress.clear();
    if let Some(expected) = &args.expect {
        expect_manifest(&found, expected)?;
    }
    if args.common.json {
        let mut report = json!({
            "file": name,
            "format": file.format(),
            "digest": found.digest(),
            "tensor_count": found.entries().len(),
            "digests_checked": stored_digests(file).count(),
        });
        if args.manifest {
            report["manifest"] = found.text().into();
        }
        return Ok(Answer::json(report));
    }
    Ok(Answer::text(match args.manifest {
        true => found.text(),
        // As sha256sum prints it.
        false => format!("{}  {}\n", found.digest(), visible(name)),
    }))
}
