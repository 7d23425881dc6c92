//! `fw encode`: lines of JSON as frames.

use super::{print_report, schema};
use crate::args::Encode;
use crate::exit::{Failure, Outcome, Usage};
use crate::input;
use crate::render::Progress;
use anyhow::{Context, Result};
use framewright::dynamic::{Codec, FrameCodec};
use framewright::source::AtomicFile;
use framewright::structframe::Header;
use serde_json::json;
use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::Path;

pub(crate) fn run(args: &Encode) -> Result<Outcome> {
    let target = args.output.as_deref().filter(|path| *path != Path::new("-")).map(input::word);
    let output = match &target {
        Some(input::Word::Path(path)) => Some(*path),
        _ => None,
    };
    if args.json && target.is_none() {
        return Err(
            Usage("--json requires --output FILE: the frames would go to standard output as well".to_owned()).into()
        );
    }
    let schema = match schema::compiled(&args.schema, &args.packing)? {
        Ok(schema) => schema,
        Err(faults) => return schema::refused("encode", args.json, &faults),
    };
    let codec = Codec::new(&schema);
    let frames = FrameCodec::new(&codec, args.profile);
    let live = args.file == Path::new("-");
    let (name, input): (String, Box<dyn BufRead>) = if live {
        ("standard input".to_owned(), Box::new(std::io::stdin().lock()))
    } else {
        let name = args.file.display().to_string();
        (name, Box::new(BufReader::with_capacity(1 << 16, input::file(&args.file, "encode")?)))
    };
    if let Some(input::Word::Link(address)) = target {
        #[cfg(feature = "link")]
        return to_link(args, &frames, &name, input, &address);
        #[cfg(not(feature = "link"))]
        return Err(input::no_links(&address));
    }
    let Some(path) = output else {
        let out = std::io::stdout().lock();
        if out.is_terminal() {
            return Err(Usage(
                "binary frames are not written to a terminal\nhint: use --output FILE, or redirect the output"
                    .to_owned(),
            )
            .into());
        }
        let mut out = BufWriter::with_capacity(1 << 16, out);
        encode(&frames, args.number, &name, input, &mut |bytes| {
            out.write_all(bytes)?;
            // Whoever reads a live stream gets every frame at once.
            if live {
                out.flush()?;
            }
            Ok(())
        })?;
        out.flush()?;
        return Ok(Outcome::Fine);
    };
    super::unclaimed(path, args.force, &[&args.file, &args.schema])?;
    // Lines may be typed.
    let _progress = (!live).then(|| Progress::of(&name));
    let mut out = BufWriter::with_capacity(1 << 16, AtomicFile::create(path)?);
    let done = encode(&frames, args.number, &name, input, &mut |bytes| Ok(out.write_all(bytes)?))?;
    out.into_inner().map_err(std::io::IntoInnerError::into_error)?.commit()?;
    if args.json {
        let report = json!({
            "files": [path.display().to_string()], "profile": args.profile.to_string(),
            "frames": done.frames, "bytes": done.bytes,
        });
        print_report("encode", true, report)?;
    }
    Ok(Outcome::Fine)
}

/// Sends every frame as a piece of its own, as its line comes.
#[cfg(feature = "link")]
fn to_link(
    args: &Encode,
    frames: &FrameCodec<'_, '_>,
    name: &str,
    input: Box<dyn BufRead>,
    address: &str,
) -> Result<Outcome> {
    use framewright::link::{Address, Output, OutputOptions, Retry};
    let parsed: Address = address.parse()?;
    let mut out = Output::open(&parsed, &OutputOptions::default().with_retry(Retry::Forever))?;
    if let Some(local) = out.local() {
        crate::exit::aside(format_args!("fw: {address}: waiting for a peer at {local}\n"));
    }
    let done = encode(frames, args.number, name, input, &mut |bytes| Ok(out.send(bytes)?))?;
    out.finish()?;
    if args.json {
        let report = json!({
            "files": [], "address": address, "profile": args.profile.to_string(), "frames": done.frames,
            "bytes": done.bytes,
        });
        print_report("encode", true, report)?;
    }
    Ok(Outcome::Fine)
}

/// What keeps a line from being JSON; which line is known.
fn not_json(error: &serde_json::Error) -> Failure {
    let words = error.to_string();
    let what = words.rsplit_once(" at line ").map_or(words.as_str(), |(what, _)| what);
    // The end of the line counts as the beginning of the next one.
    let column = if error.line() == 1 { format!(", column {}", error.column()) } else { String::new() };
    Failure::new("invalid_json", format!("invalid JSON: {what}{column}"))
}

struct Done {
    frames: u64,
    bytes: u64,
}

fn encode(
    frames: &FrameCodec<'_, '_>,
    number: bool,
    name: &str,
    mut input: impl BufRead,
    put: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Done> {
    let mut done = Done { frames: 0, bytes: 0 };
    let (mut line, mut frame, mut header) = (String::new(), Vec::new(), Header::default());
    for at in 1_u64.. {
        line.clear();
        let place = || format!("{name}, line {at}");
        if input.read_line(&mut line).with_context(place)? == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let json = serde_json::from_str(&line).map_err(|error| not_json(&error)).with_context(place)?;
        frame.clear();
        frames.write_line(&json, header, &mut frame).with_context(place)?;
        put(&frame)?;
        if number {
            header.sequence =
                json.get("sequence").and_then(serde_json::Value::as_u64).map_or(header.sequence, |n| n as u8);
            header.sequence = header.sequence.wrapping_add(1);
        }
        done.frames += 1;
        done.bytes += frame.len() as u64;
    }
    Ok(done)
}
