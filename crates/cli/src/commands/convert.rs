//! `fw convert`: a tensor file in another format, and what was lost.

use super::{print, print_json};
use crate::args::{Convert, Digest, OnMissing, Target};
use crate::exit::{Outcome, Usage};
use crate::input;
use crate::render::{count, parse_size, size};
use anyhow::{Result, bail};
use framewright::bintensors::{Algorithm, HeaderAlignment};
use framewright::convert::{ConvertOptions, Converted, Format, Missing, convert};
use serde_json::json;

pub(crate) fn run(args: &Convert) -> Result<Outcome> {
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
