//! PNG files: four chunks around a zlib stream.

use std::io::Write;

use flate2::{Compression, Crc, write::ZlibEncoder};

/// A PNG file with eight bits for each of red, green, blue and alpha.
pub(crate) fn encode(width: u32, height: u32, pixels: &[[u8; 4]]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::with_capacity(13);
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    // 8 bits, RGBA, deflate, adaptive filters, not interlaced.
    header.extend([8, 6, 0, 0, 0]);
    chunk(&mut out, b"IHDR", &header);
    chunk(&mut out, b"sRGB", &[0]);
    chunk(&mut out, b"IDAT", &compressed(width as usize, pixels));
    chunk(&mut out, b"IEND", &[]);
    out
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(data);
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(kind);
    out.extend(data);
    out.extend(crc.sum().to_be_bytes());
}

/// Smooth pictures shrink with filters, flat ones without: the shorter of both.
fn compressed(width: usize, pixels: &[[u8; 4]]) -> Vec<u8> {
    let (adaptive, plain) = (deflated(width, pixels, 0..5), deflated(width, pixels, 0..1));
    if plain.len() < adaptive.len() { plain } else { adaptive }
}

fn deflated(width: usize, pixels: &[[u8; 4]], filters: std::ops::Range<u8>) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    let length = width * 4;
    let mut above = vec![0u8; length];
    let mut best = Vec::with_capacity(length + 1);
    let mut trial = Vec::with_capacity(length + 1);
    for row in pixels.chunks_exact(width.max(1)) {
        let row = row.as_flattened();
        let mut least = u64::MAX;
        for filter in filters.clone() {
            let cost = filtered(filter, row, &above, &mut trial);
            if cost < least {
                least = cost;
                std::mem::swap(&mut best, &mut trial);
            }
        }
        // Writing to memory does not fail.
        let _ = encoder.write_all(&best);
        above.copy_from_slice(row);
    }
    encoder.finish().unwrap_or_default()
}

/// A filtered row, and the sum of its differences, which tells how well it will compress.
fn filtered(filter: u8, row: &[u8], above: &[u8], out: &mut Vec<u8>) -> u64 {
    const PIXEL: usize = 4;
    out.clear();
    out.push(filter);
    let mut cost = 0;
    for (index, &value) in row.iter().enumerate() {
        let left = if index >= PIXEL { row[index - PIXEL] } else { 0 };
        let corner = if index >= PIXEL { above[index - PIXEL] } else { 0 };
        let guess = match filter {
            0 => 0,
            1 => left,
            2 => above[index],
            3 => ((u16::from(left) + u16::from(above[index])) / 2) as u8,
            _ => paeth(left, above[index], corner),
        };
        let difference = value.wrapping_sub(guess);
        cost += u64::from(difference.min(difference.wrapping_neg()));
        out.push(difference);
    }
    cost
}

fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(above), i16::from(corner));
    let (da, db, dc) = ((b - c).abs(), (a - c).abs(), (a + b - 2 * c).abs());
    if da <= db && da <= dc {
        left
    } else if db <= dc {
        above
    } else {
        corner
    }
}
