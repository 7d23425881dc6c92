//! `fw sign`: the tensors of a checkpoint, signed; new keys.

use super::{print_done, print_report};
use crate::args::{Sign, Store};
use crate::exit::{Failure, Outcome, Usage, aside};
use crate::input::Input;
use crate::render::{Progress, count, shown};
use anyhow::Result;
use framewright::convert::{ConvertError, ConvertOptions, Existing, Loss, SigningKey, sign};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(args: &Sign) -> Result<Outcome> {
    if let Some(path) = &args.new_key {
        return new_key(args, path);
    }
    let (Some(file), Some(key)) = (&args.file, &args.key) else { return Ok(Outcome::Fine) };
    let key = SigningKey::read(key).map_err(as_usage)?;
    let input = Input::of(file, &Store::default(), "sign")?;
    if input.is_copy() && args.output.is_none() {
        return Err(Usage(format!("{}: cannot be replaced; name a file to write with --output", input.name())).into());
    }
    signed(args, &input, &key).map_err(|error| input.retold(error))
}

fn new_key(args: &Sign, path: &Path) -> Result<Outcome> {
    let key = SigningKey::generate()?;
    let public = key.write_new(path).map_err(|error| match error.io().map(std::io::Error::kind) {
        Some(std::io::ErrorKind::AlreadyExists) => {
            let path = error.path().unwrap_or(path).display().to_string();
            Usage(format!("{path}: already exists; keys are not overwritten")).into()
        }
        _ => anyhow::Error::from(error),
    })?;
    if args.json {
        let report = json!({
            "files": [path.display().to_string(), public.display().to_string()],
            "public_key": key.public().to_string(),
        });
        print_report("sign", true, report)?;
    } else {
        print_done(&format!("wrote {} (keep it secret) and {}\n", shown(path), shown(&public)))?;
    }
    Ok(Outcome::Fine)
}

fn signed(args: &Sign, input: &Input, key: &SigningKey) -> Result<Outcome> {
    let progress = Arc::new(Progress::bytes());
    let line = Arc::clone(&progress);
    let existing = if args.force { Existing::Replace } else { Existing::Refuse };
    let mut options = ConvertOptions::new().with_existing(existing);
    options.progress = Some(Arc::new(move |done| line.show(done.bytes_done, done.bytes_total, done.tensor)));
    let output = args.output.as_deref().unwrap_or(input.path());
    let done = sign(input.path(), output, key, &options);
    progress.clear();
    let done = done.map_err(|error| match error.code() {
        "not_signable" | "no_index" | "option_not_applicable" | "not_a_file" => Usage(error.to_string()).into(),
        "output_exists" => Usage(format!("{error}; use --force to overwrite it")).into(),
        "checksum_mismatch" | "manifest_mismatch" => {
            let text = format!("{error}\nhint: what differs from its digest is not signed: get the file again");
            Failure::new(error.code(), text).into()
        }
        _ => anyhow::Error::from(error),
    })?;
    let manifest = done.digests.manifest.clone().unwrap_or_default();
    if args.json {
        let report = json!({
            "files": done.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
            "digest": manifest,
            "tensor_count": done.tensors,
            "digests_checked": done.digests.checked,
            "public_key": key.public().to_string(),
            "losses": Loss::grouped(&done.losses),
        });
        print_report("sign", true, report)?;
    } else {
        let files: Vec<_> = done.files.iter().map(|file| shown(file)).collect();
        print_done(&format!("signed {}: {}, {manifest}\n", files.join(", "), count(done.tensors, "tensor")))?;
        for group in Loss::grouped(&done.losses) {
            aside(format_args!("fw: {group}\n"));
        }
    }
    Ok(if done.losses.is_empty() { Outcome::Fine } else { Outcome::Lossy })
}

/// A key that cannot be used is named on the command line.
pub(super) fn as_usage(error: ConvertError) -> anyhow::Error {
    match error.code() {
        "invalid_key" | "key_permissions" => Usage(error.to_string()).into(),
        _ => error.into(),
    }
}
