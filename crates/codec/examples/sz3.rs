//! Runs the `sz3` codec on files, for comparison with other implementations, and measures it.
//!
//! ```text
//! sz3 run LIST             each line of LIST: `encode MODE BOUND INPUT OUTPUT` or `decode COUNT INPUT OUTPUT`
//! sz3 bench MODE BOUND IN  times both ways on the doubles of a file, the mean of many runs
//! ```
//! Files hold little-endian doubles or raw payloads.

use fw_codec::{
    Codec, CodecError,
    sz3::{Sz3, Sz3Bound},
};
use fw_tensor::ByteOrder;
use std::{
    env,
    error::Error,
    fs,
    time::{Duration, Instant},
};

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
    let encode = mean(|| {
        encoded.clear();
        codec.encode(input, 0, &mut encoded)
    })?;
    let mut decoded = vec![0; input.len()];
    let decode = mean(|| codec.decode_into(&encoded, 0, &mut decoded))?;
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

/// The mean of many runs, in seconds of processor time where the system tells it: other work does not count.
fn mean(mut work: impl FnMut() -> Result<(), CodecError>) -> Result<f64, CodecError> {
    let processor = || {
        let used = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(used.split(' ').next()?.parse::<f64>().ok()? / 1e9)
    };
    work()?; // memory and caches as they will be
    let (start, wall) = (processor(), Instant::now());
    let mut runs = 0.0;
    while wall.elapsed() < Duration::from_secs(2) {
        work()?;
        runs += 1.0;
    }
    Ok(processor().zip(start).map_or(wall.elapsed().as_secs_f64(), |(end, start)| end - start) / runs)
}
