//! A decoder for the PNG files that this crate writes, after the specification and apart from the encoder.

use std::io::Read;

use flate2::{Crc, read::ZlibDecoder};

/// A decoded picture.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<[u8; 4]>,
}

/// Reads a file of 8-bit RGBA pixels; every chunk's checksum has to be right, and nothing may follow the last one.
pub(crate) fn decode(file: &[u8]) -> Picture {
    let mut rest = file.strip_prefix(b"\x89PNG\r\n\x1a\n").expect("signature");
    let (mut kinds, mut header, mut data) = (Vec::new(), Vec::new(), Vec::new());
    while !rest.is_empty() {
        let length = number(rest);
        let (chunk, after) = rest[4..].split_at(length + 4);
        let mut crc = Crc::new();
        crc.update(chunk);
        assert_eq!(crc.sum() as usize, number(after), "checksum");
        match &chunk[..4] {
            b"IHDR" => header = chunk[4..].to_vec(),
            b"IDAT" => data.extend_from_slice(&chunk[4..]),
            _ => {}
        }
        kinds.push(String::from_utf8(chunk[..4].to_vec()).unwrap());
        rest = &after[4..];
    }
    assert_eq!(kinds, ["IHDR", "sRGB", "IDAT", "IEND"]);
    assert_eq!(header[8..], [8, 6, 0, 0, 0], "8 bits, RGBA");
    let (width, height) = (number(&header), number(&header[4..]));
    let mut rows = Vec::new();
    ZlibDecoder::new(&data[..]).read_to_end(&mut rows).unwrap();
    assert_eq!(rows.len(), height * (1 + 4 * width));
    let mut above = vec![0u8; 4 * width];
    let mut pixels = Vec::new();
    for row in rows.chunks_exact(1 + 4 * width) {
        let mut line = row[1..].to_vec();
        for index in 0..line.len() {
            let before = |line: &[u8]| if index < 4 { 0 } else { i32::from(line[index - 4]) };
            let (a, b, c) = (before(&line), i32::from(above[index]), before(&above));
            let nearest = |p: i32| [a, b, c].into_iter().min_by_key(|value| (p - value).abs()).unwrap();
            let guess = match row[0] {
                0 => 0,
                1 => a,
                2 => b,
                3 => (a + b) / 2,
                4 => nearest(a + b - c),
                filter => panic!("filter {filter}"),
            };
            line[index] = line[index].wrapping_add(guess as u8);
        }
        pixels.extend_from_slice(line.as_chunks::<4>().0);
        above = line;
    }
    Picture { width, height, pixels }
}

fn number(bytes: &[u8]) -> usize {
    u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize
}
