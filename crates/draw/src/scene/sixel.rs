//! Sixel: pictures in terminals that can show them, in at most 256 colours.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Pixels;

/// The picture as one escape sequence. Pixels that are more than half transparent are left as they are.
pub(crate) fn encode(width: u32, height: u32, pixels: &Pixels) -> String {
    let (palette, indices) = quantised(pixels);
    // P2 = 1: pixels that are not drawn keep the terminal's background.
    let mut out = format!("\x1bP0;1;0q\"1;1;{width};{height}");
    for (index, colour) in palette.iter().enumerate() {
        let percent = |channel: u8| (u32::from(channel) * 100 + 127) / 255;
        // Writing to a string does not fail.
        let _ = write!(out, "#{index};2;{};{};{}", percent(colour[0]), percent(colour[1]), percent(colour[2]));
    }
    let width = width as usize;
    for band in indices.chunks(width.max(1) * 6) {
        let mut masks: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
        for (place, index) in band.iter().enumerate() {
            if let Some(index) = index {
                masks.entry(*index).or_insert_with(|| vec![0; width])[place % width] |= 1 << (place / width);
            }
        }
        for (number, (index, mask)) in masks.iter().enumerate() {
            if number > 0 {
                out.push('$');
            }
            let _ = write!(out, "#{index}");
            runs(mask, &mut out);
        }
        out.push('-');
    }
    out.push_str("\x1b\\");
    out
}

fn runs(mask: &[u8], out: &mut String) {
    let last = mask.iter().rposition(|bits| *bits != 0).map_or(0, |place| place + 1);
    for run in mask[..last].chunk_by(|a, b| a == b) {
        let sixel = char::from(b'?' + run[0]);
        if run.len() > 3 {
            let _ = write!(out, "!{}{sixel}", run.len());
        } else {
            out.extend(std::iter::repeat_n(sixel, run.len()));
        }
    }
}

/// A palette by median cut, and each pixel's place in it; `None` for transparent pixels.
fn quantised(pixels: &Pixels) -> (Vec<[u8; 3]>, Vec<Option<u8>>) {
    let colour = |pixel: &[u8; 4]| (pixel[3] >= 128).then_some([pixel[0], pixel[1], pixel[2]]);
    let mut counts: BTreeMap<[u8; 3], u64> = BTreeMap::new();
    for colour in pixels.iter().filter_map(colour) {
        *counts.entry(colour).or_default() += 1;
    }
    // Each box with the channel in which its colours differ most, and by how much.
    let measured = |colours: Vec<([u8; 3], u64)>| (widest(&colours), colours);
    let mut boxes = vec![measured(counts.into_iter().collect())];
    while boxes.len() < 256 {
        let Some((index, _)) = boxes.iter().enumerate().max_by_key(|(_, ((_, extent), _))| *extent) else { break };
        let ((channel, extent), mut colours) = boxes.swap_remove(index);
        if extent == 0 {
            boxes.push(((channel, extent), colours));
            break;
        }
        colours.sort_by_key(|(colour, _)| (colour[channel], *colour));
        // Halfway between the extremes: smooth ramps are cut evenly.
        let middle = (u16::from(colours[0].0[channel]) + u16::from(colours[colours.len() - 1].0[channel])) / 2;
        let cut = colours.partition_point(|(colour, _)| u16::from(colour[channel]) <= middle).max(1);
        let upper = colours.split_off(cut);
        boxes.push(measured(upper));
        boxes.push(measured(colours));
    }
    let mut palette = Vec::new();
    let mut places = BTreeMap::new();
    for (_, colours) in boxes.iter().filter(|(_, colours)| !colours.is_empty()) {
        let total: u64 = colours.iter().map(|(_, count)| count).sum();
        let mean = |channel: usize| {
            let sum: u64 = colours.iter().map(|(colour, count)| u64::from(colour[channel]) * count).sum();
            ((sum + total / 2) / total.max(1)) as u8
        };
        for (colour, _) in colours {
            places.insert(*colour, palette.len() as u8);
        }
        palette.push([mean(0), mean(1), mean(2)]);
    }
    let indices = pixels.iter().map(|pixel| colour(pixel).and_then(|colour| places.get(&colour).copied())).collect();
    (palette, indices)
}

/// The channel in which colours differ most, and by how much.
fn widest(colours: &[([u8; 3], u64)]) -> (usize, u8) {
    let extent = |channel: usize| {
        let values = colours.iter().map(|(colour, _)| colour[channel]);
        values.clone().max().unwrap_or(0) - values.min().unwrap_or(0)
    };
    (0..3)
        .map(|channel| (channel, extent(channel)))
        .max_by_key(|(channel, extent)| (*extent, 2 - channel))
        .unwrap_or((0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_picture() {
        let (red, clear) = ([255, 0, 0, 255], [0, 0, 0, 0]);
        let pixels = vec![red, clear, red, red, red, red];
        assert_eq!(encode(3, 2, &pixels), "\x1bP0;1;0q\"1;1;3;2#0;2;100;0;0#0BAB-\x1b\\");
    }

    /// The indices that a terminal would draw, by the rules of the format.
    fn drawn(text: &str, width: usize, height: usize) -> Vec<Option<u8>> {
        let mut out = vec![None; width * height];
        let body = text.split_once('q').unwrap().1.strip_suffix("\x1b\\").unwrap();
        let (mut x, mut band, mut index, mut repeat) = (0, 0, 0u8, 1);
        let mut rest = body.chars().peekable();
        let numbers = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>| -> Vec<usize> {
            let mut text = String::new();
            while let Some(next) = rest.next_if(|next| next.is_ascii_digit() || *next == ';') {
                text.push(next);
            }
            text.split(';').map(|number| number.parse().unwrap()).collect()
        };
        while let Some(character) = rest.next() {
            match character {
                '"' => assert_eq!(numbers(&mut rest)[2..], [width, height]),
                '#' => index = numbers(&mut rest)[0] as u8,
                '!' => repeat = numbers(&mut rest)[0],
                '$' => x = 0,
                '-' => (x, band) = (0, band + 1),
                '?'..='~' => {
                    for _ in 0..std::mem::replace(&mut repeat, 1) {
                        for bit in (0..6).filter(|bit| (character as u8 - b'?') >> bit & 1 == 1) {
                            out[(band * 6 + bit) * width + x] = Some(index);
                        }
                        x += 1;
                    }
                }
                _ => panic!("{character}"),
            }
        }
        out
    }

    #[test]
    fn every_pixel_is_drawn_in_its_colour() {
        let (width, height) = (13u32, 20u32);
        let pixels: Pixels =
            (0..width * height)
                .map(|index| {
                    if index % 7 == 3 {
                        [9, 9, 9, 0]
                    } else {
                        [(index / 50 * 40) as u8, (index % 3) as u8 * 90, 0, 255]
                    }
                })
                .collect();
        let expected = quantised(&pixels).1;
        assert_eq!(drawn(&encode(width, height, &pixels), width as usize, height as usize), expected);
    }

    #[test]
    fn at_most_256_colours_each_close_to_its_own() {
        let pixels: Pixels =
            (0..64u32 * 64).map(|index| [(index % 64 * 4) as u8, (index / 64 * 4) as u8, 90, 255]).collect();
        let (palette, indices) = quantised(&pixels);
        assert!(palette.len() <= 256);
        for (pixel, index) in pixels.iter().zip(&indices) {
            let near = palette[usize::from(index.unwrap())];
            assert!((0..3).all(|channel| near[channel].abs_diff(pixel[channel]) <= 16), "{pixel:?} {near:?}");
        }
    }
}
