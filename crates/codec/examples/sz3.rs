//! Runs the `sz3` codec on files, for comparison with other implementations, and measures it.
//!
//! ```text
//! sz3 run LIST             each line of LIST: `encode MODE BOUND INPUT OUTPUT` or `decode COUNT INPUT OUTPUT`
//! sz3 bench MODE BOUND IN  times both ways on the doubles of a file, best of several runs
//! ```
//! Files hold little-endian doubles or raw payloads.

use fw_codec::{
    Codec, CodecError,
    sz3::{Sz3, Sz3Bound},
};
use fw_tensor::ByteOrder;
use std::{env, error::Error, fs, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", list] => {
            for line in fs::read_to_string(list)?.lines() {
                run(line).map_err(|error| format!("{line}: {error}"))?;
            }
            Ok(())
        }
        ["bench", mode, bound, input] => bench(&codec(mode, bound)?, &fs::read(input)?),
        _ => Err("usage: sz3 run LIST | sz3 bench MODE BOUND INPUT".into()),
    }
}

fn run(line: &str) -> Result<(), Box<dyn Error>> {
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        ["encode", mode, bound, input, output] => {
            let mut out = Vec::new();
            codec(mode, bound)?.encode(&fs::read(input)?, 0, &mut out)?;
            fs::write(output, out)?;
        }
        ["decode", count, input, output] => {
            let mut out = vec![0; count.parse::<usize>()? * 8];
            Sz3::reader(ByteOrder::Little).decode_into(&fs::read(input)?, 0, &mut out)?;
            fs::write(output, out)?;
        }
        _ => return Err("unknown line".into()),
    }
    Ok(())
}

fn codec(mode: &str, bound: &str) -> Result<Sz3, Box<dyn Error>> {
    let bound = Sz3Bound::from_name(mode, bound.parse()?).ok_or("unknown mode")?;
    Ok(Sz3::new(bound, ByteOrder::Little)?)
}

fn bench(codec: &Sz3, input: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut encoded = Vec::new();
    let encode = best(|| {
        encoded.clear();
        codec.encode(input, 0, &mut encoded)
    })?;
    let mut decoded = vec![0; input.len()];
    let decode = best(|| codec.decode_into(&encoded, 0, &mut decoded))?;
    let rate = |seconds: f64| input.len() as f64 / seconds / 1e6;
    println!(
        "{} bytes -> {} bytes, encode {:.0} MB/s, decode {:.0} MB/s",
        input.len(),
        encoded.len(),
        rate(encode),
        rate(decode)
    );
    Ok(())
}

/// The shortest of some runs, in seconds.
fn best(mut work: impl FnMut() -> Result<(), CodecError>) -> Result<f64, CodecError> {
    let mut shortest = f64::INFINITY;
    for _ in 0..15 {
        let start = Instant::now();
        work()?;
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    Ok(shortest)
}
