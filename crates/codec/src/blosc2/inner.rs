//! One stream through the inner codec, with memory that is used again for the next.

use super::params::{Blosc2Params, InnerCodec, StreamFormat};
use super::{blosclz, lz4hc};
use crate::lz4_block;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use lz4_flex::block::CompressTable;
use zstd_safe::{CCtx, DCtx};

/// Compresses streams.
pub(super) enum Compressor {
    BloscLz(blosclz::Table),
    Lz4(CompressTable),
    Lz4Hc(lz4hc::Chains, i64),
    Zlib(Compress),
    Zstd(CCtx<'static>, i32),
}

impl Compressor {
    /// For streams of `stream_len` bytes, of which the last may be shorter. `None` when there is no memory for it.
    pub(super) fn new(params: &Blosc2Params, stream_len: usize) -> Option<Self> {
        Some(match params.codec {
            InnerCodec::BloscLz => Self::BloscLz(blosclz::Table::new()),
            InnerCodec::Lz4 => Self::Lz4(lz4_table(stream_len)),
            // At the lowest levels the quick search is no worse than what the reference finds.
            InnerCodec::Lz4Hc if params.level <= 2 => Self::Lz4(lz4_table(stream_len)),
            InnerCodec::Lz4Hc => Self::Lz4Hc(lz4hc::Chains::new(), params.level),
            InnerCodec::Zlib => Self::Zlib(Compress::new(Compression::new(params.level as u32), true)),
            // The reference spreads its nine levels over those of zstd in the same way.
            InnerCodec::Zstd => {
                let level = if params.level == 9 { zstd_safe::max_c_level() } else { params.level as i32 * 2 - 1 };
                Self::Zstd(CCtx::try_create()?, level)
            }
        })
    }

    /// How much longer than its input the output buffer must be.
    pub(super) fn room(&self, input_len: usize) -> usize {
        match self {
            Self::Lz4(_) => lz4_flex::block::get_maximum_output_size(input_len),
            Self::BloscLz(_) | Self::Lz4Hc(..) | Self::Zlib(_) | Self::Zstd(..) => input_len,
        }
    }

    /// The length of the compressed stream at the start of `out`, or `None` when it would not be shorter than `input`.
    pub(super) fn compress(&mut self, input: &[u8], out: &mut [u8]) -> Option<usize> {
        let len = match self {
            Self::BloscLz(table) => blosclz::compress(input, table, out.get_mut(..input.len())?)?,
            Self::Lz4(table) => lz4_flex::block::compress_into_with_table(input, out, table).ok()?,
            Self::Lz4Hc(chains, level) => lz4hc::compress(input, *level, chains, out.get_mut(..input.len())?)?,
            Self::Zlib(state) => {
                state.reset();
                match state.compress(input, out.get_mut(..input.len())?, FlushCompress::Finish) {
                    Ok(Status::StreamEnd) => usize::try_from(state.total_out()).ok()?,
                    _ => return None,
                }
            }
            Self::Zstd(context, level) => context.compress(out.get_mut(..input.len())?, input, *level).ok()?,
        };
        (len < input.len()).then_some(len)
    }
}

/// The table for streams of this length. It is chosen here because the library makes a table larger when it meets a longer
/// stream and keeps it so: what a short last stream becomes would depend on who had the table before, that is, on the threads.
fn lz4_table(stream_len: usize) -> CompressTable {
    if stream_len < usize::from(u16::MAX) { CompressTable::small() } else { CompressTable::large() }
}

/// Decompresses streams of any format; what a format needs is made when it is first met.
#[derive(Default)]
pub(super) struct Decompressor {
    zlib: Option<Decompress>,
    zstd: Option<DCtx<'static>>,
}

impl Decompressor {
    /// Fills `out` exactly.
    ///
    /// # Errors
    /// What is wrong with the stream.
    pub(super) fn decompress(&mut self, format: StreamFormat, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        let len = match format {
            StreamFormat::BloscLz => return blosclz::decompress(input, out).map_err(str::to_owned),
            StreamFormat::Lz4 => lz4_block::decode(input, out)
                .map_err(|fault| format!("{} (byte {} of the stream)", fault.problem, fault.at))?,
            StreamFormat::Zlib => {
                let state = self.zlib.get_or_insert_with(|| Decompress::new(true));
                state.reset(true);
                match state.decompress(input, out, FlushDecompress::Finish) {
                    Ok(Status::StreamEnd) => usize::try_from(state.total_out()).unwrap_or(usize::MAX),
                    Ok(_) => return Err("the zlib stream does not end with the output".to_owned()),
                    Err(error) => return Err(error.to_string()),
                }
            }
            StreamFormat::Zstd => {
                if self.zstd.is_none() {
                    self.zstd = DCtx::try_create();
                }
                let context = self.zstd.as_mut().ok_or("no memory for a zstd context")?;
                context.decompress(out, input).map_err(|code| zstd_safe::get_error_name(code).to_owned())?
            }
        };
        if len == out.len() { Ok(()) } else { Err(format!("expected {} bytes, found {len}", out.len())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a worker met before must not show: another number of threads hands its streams to other workers.
    #[test]
    fn a_short_last_stream_does_not_depend_on_the_streams_before_it() {
        let text: Vec<u8> = (0..80_000u32).flat_map(|i| (i.wrapping_mul(i) >> 7).to_le_bytes()).collect();
        let (long, short) = (&text[..200_000], &text[200_000..260_000]);
        for codec in [InnerCodec::BloscLz, InnerCodec::Lz4, InnerCodec::Lz4Hc, InnerCodec::Zlib, InnerCodec::Zstd] {
            for level in [1, 5, 9] {
                let params = Blosc2Params { codec, level, ..Blosc2Params::default() };
                let packed = |before: &[&[u8]]| {
                    let mut compressor = Compressor::new(&params, long.len()).unwrap();
                    let mut out = vec![0; 2 * long.len()];
                    for stream in before {
                        compressor.compress(stream, &mut out);
                    }
                    let len = compressor.compress(short, &mut out);
                    len.map(|len| out[..len].to_vec())
                };
                assert!(packed(&[]) == packed(&[long]), "{codec:?} {level}");
            }
        }
    }
}
