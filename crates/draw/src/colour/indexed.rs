//! The nearest of the 256 terminal colours.

use super::Rgb;

/// Levels of the 6 × 6 × 6 cube (indices 16 to 231).
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The index of the nearest colour of the cube or the grey ramp. The first sixteen are the user's theme and are not used.
pub(crate) fn nearest(colour: Rgb) -> u8 {
    let level = |channel: u8| (0..6).min_by_key(|i| LEVELS[*i].abs_diff(channel)).unwrap_or(0);
    let (r, g, b) = (level(colour.r), level(colour.g), level(colour.b));
    let cube = Rgb { r: LEVELS[r], g: LEVELS[g], b: LEVELS[b] };
    let mean = (u32::from(colour.r) + u32::from(colour.g) + u32::from(colour.b)) / 3;
    let step = (mean.saturating_sub(3) / 10).min(23) as u8;
    let shade = 8 + step * 10;
    let grey = Rgb { r: shade, g: shade, b: shade };
    if distance(colour, grey) < distance(colour, cube) { 232 + step } else { (16 + 36 * r + 6 * g + b) as u8 }
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    2 * square(a.r, b.r) + 4 * square(a.g, b.g) + 3 * square(a.b, b.b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_colours() {
        assert_eq!(nearest(Rgb::hex(0xff0000)), 196);
        assert_eq!(nearest(Rgb::hex(0x000000)), 16);
        assert_eq!(nearest(Rgb::hex(0xffffff)), 231);
        assert_eq!(nearest(Rgb::hex(0x808080)), 244);
        assert_eq!(nearest(Rgb::hex(0x5fd7af)), 79);
    }
}
