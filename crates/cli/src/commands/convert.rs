//! `fw convert`: a tensor file in another format, and what was lost.

use super::{print, print_json, schema};
use crate::args::{Convert, Digest, OnMissing, Target};
use crate::exit::{Outcome, Usage};
use crate::input;
use crate::render::{count, parse_size, size};
use anyhow::{Result, bail};
use framewright::bintensors::{Algorithm, HeaderAlignment};
use framewright::convert::{
    CaptureConverted, ConvertOptions, Converted, Format, Missing, columns_to_frames, convert, frames_to_columns,
    holds_capture,
};
use serde_json::json;
use std::path::Path;

pub(crate) fn run(args: &Convert) -> Result<Outcome> {
    if let Some(schema) = &args.schema {
        return to_columns(args, schema);
    }
    if args.profile.profile.is_some() {
        return Err(Usage("--profile is for struct-frame captures; say --schema as well".to_owned()).into());
    }
    let unnamed = args.to.is_none() && Format::of_name(&args.output).is_none();
    if args.to == Some(Target::Frames) || unnamed && holds_capture(&args.input) {
        return to_frames(args);
    }
    let options = options(args)?;
    if options.format.is_none() && Format::of_name(&args.output).is_none() {
        let text = format!("{}: the name does not tell which format to write; say --to", args.output.display());
        return Err(Usage(text).into());
    }
    input::format_of(&args.input)?;
    let done = match convert(&args.input, &args.output, &options) {
        Ok(done) => done,
        Err(error) if error.code() == "no_counterpart" => {
            bail!("{}: {error} (--missing raw or --missing skip)", args.input.display())
        }
        Err(error) => return input::named(&args.input, error),
    };
    if args.json {
        print_json(&json(&done))?;
    } else {
        print(&text(&done))?;
    }
    for loss in &done.losses {
        eprintln!("fw: {loss}");
    }
    Ok(if done.losses.is_empty() { Outcome::Fine } else { Outcome::Lossy })
}

/// A struct-frame capture as a Tensogram file of columns.
fn to_columns(args: &Convert, schema: &Path) -> Result<Outcome> {
    let to_tensogram = match args.to {
        Some(target) => target == Target::Tensogram,
        None => Format::of_name(&args.output) == Some(Format::Tensogram),
    };
    if !to_tensogram {
        let text = "the columns of a capture are written as Tensogram (.tgm); convert that file to any other format";
        return Err(Usage(text.to_owned()).into());
    }
    let schema = match schema::compiled(schema)? {
        Ok(schema) => schema,
        Err(faults) => return schema::refused(&faults),
    };
    match frames_to_columns(&args.input, &args.output, &schema, args.profile.profile) {
        Ok(done) => captured(args, &done),
        Err(error) => input::named(&args.input, error),
    }
}

/// The capture that a Tensogram file of columns was made from.
fn to_frames(args: &Convert) -> Result<Outcome> {
    match columns_to_frames(&args.input, &args.output) {
        Ok(done) => captured(args, &done),
        Err(error) => input::named(&args.input, error),
    }
}

fn captured(args: &Convert, done: &CaptureConverted) -> Result<Outcome> {
    if args.json {
        print_json(&json!({
            "files": [done.file.display().to_string()],
            "profile": done.framing.to_string(),
            "frames": done.frames,
            "columns": done.columns,
            "bytes": done.bytes,
            "losses": done.losses,
        }))?;
    } else {
        let (frames, columns) = (count(done.frames as usize, "frame"), count(done.columns, "column"));
        print(&format!("wrote {}: {frames} ({}), {columns}\n", done.file.display(), done.framing))?;
    }
    for loss in &done.losses {
        eprintln!("fw: {loss}");
    }
    Ok(if done.losses.is_empty() { Outcome::Fine } else { Outcome::Lossy })
}

fn options(args: &Convert) -> Result<ConvertOptions> {
    let mut options = ConvertOptions::new().with_missing(match args.missing {
        OnMissing::Refuse => Missing::Refuse,
        OnMissing::Raw => Missing::Raw,
        OnMissing::Skip => Missing::Skip,
    });
    options.format = args.to.map(|target| match target {
        Target::Tensogram => Format::Tensogram,
        Target::Bintensors => Format::BinTensors,
        Target::Safetensors => Format::SafeTensors,
        Target::Npy => Format::Npy,
        Target::Npz => Format::Npz,
        Target::Frames => Format::Tensogram,
    });
    options.tensor_digests = args.digests.map(|digest| match digest {
        Digest::Sha1 => Algorithm::Sha1,
        Digest::Sha256 => Algorithm::Sha256,
        Digest::Sha3_256 => Algorithm::Sha3_256,
    });
    if let Some(bytes) = args.align {
        let refused = || Usage(format!("--align {bytes}: a power of two from 8 to 1048576 is needed"));
        options.align = HeaderAlignment::new(bytes).ok_or_else(refused)?;
    }
    if let Some(text) = &args.max_shard_size {
        let refused = || Usage(format!("--max-shard-size {text}: a size such as 500MB, 5GB or 2GiB is needed"));
        options.max_shard_size = Some(parse_size(text).filter(|bytes| *bytes > 0).ok_or_else(refused)?);
    }
    Ok(options)
}

fn text(done: &Converted) -> String {
    let files: Vec<_> = done.files.iter().map(|file| file.display().to_string()).collect();
    format!("wrote {}: {}, {}\n", files.join(", "), count(done.tensors, "tensor"), size(done.bytes))
}

fn json(done: &Converted) -> serde_json::Value {
    json!({
        "files": done.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "tensors": done.tensors,
        "bytes": done.bytes,
        "losses": done.losses,
    })
}
