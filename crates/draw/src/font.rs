//! A stroke font of our own: letters as lines and curves, sharp at the size of the screen and smooth at any larger one.

use crate::plane::Point;

/// Height of capitals in units; a unit is a pixel at size 1.
pub(crate) const CAP_HEIGHT: f64 = 8.0;

/// The width of text at size 1, in pixels.
pub(crate) fn width(text: &str) -> f64 {
    let mut width = 0.0;
    for character in text.chars() {
        width += with_glyph(character, advance);
    }
    (width - GAP).max(0.0)
}

/// The strokes of text at size 1, from the start of the baseline; y grows downwards.
pub(crate) fn strokes(text: &str) -> Vec<Vec<Point>> {
    let mut out = Vec::new();
    let mut x = 0.0;
    for character in text.chars() {
        x += with_glyph(character, |glyph| {
            for stroke in glyph.path.split('/').filter(|stroke| !stroke.is_empty()) {
                let points = flatten(stroke).into_iter();
                out.push(
                    points.map(|p| Point { x: x + p.x * glyph.scale, y: -(p.y * glyph.scale + glyph.lift) }).collect(),
                );
            }
            advance(glyph)
        });
    }
    out
}

struct Glyph<'a> {
    path: &'a str,
    scale: f64,
    lift: f64,
}

/// Space between letters.
const GAP: f64 = 2.0;

fn advance(glyph: Glyph<'_>) -> f64 {
    if glyph.path.is_empty() {
        return 4.0;
    }
    let points = glyph.path.split(['/', ' ']).filter_map(parse_point);
    points.map(|(point, _)| point.x).fold(0.0, f64::max) * glyph.scale + GAP
}

/// Finds the glyph of a character: its own, a small digit above or below the line, a letter with a mark, or an empty box.
fn with_glyph<T>(character: char, then: impl FnOnce(Glyph<'_>) -> T) -> T {
    const RAISED: &str = "⁰0¹1²2³3⁴4⁵5⁶6⁷7⁸8⁹9⁻−⁺+";
    const LOWERED: &str = "₀0₁1₂2₃3₄4₅5₆6₇7₈8₉9";
    if let Some(path) = path(character) {
        return then(Glyph { path, scale: 1.0, lift: 0.0 });
    }
    if let Some(path) = pair(RAISED, character).and_then(path) {
        return then(Glyph { path, scale: 0.62, lift: 4.0 });
    }
    if let Some(path) = pair(LOWERED, character).and_then(path) {
        return then(Glyph { path, scale: 0.62, lift: -2.0 });
    }
    if let Some((base, mark)) = marked(character) {
        return then(Glyph { path: &format!("{base}/{mark}"), scale: 1.0, lift: 0.0 });
    }
    then(Glyph { path: "0,0 0,8 4,8 4,0 0,0", scale: 1.0, lift: 0.0 })
}

fn pair(pairs: &str, character: char) -> Option<char> {
    let mut characters = pairs.chars();
    characters.find(|candidate| *candidate == character)?;
    characters.next()
}

/// Letters of western Europe: a base letter and a mark above or below it.
fn marked(character: char) -> Option<(&'static str, &'static str)> {
    const ACUTE: (&str, &str, &str) = ("áaéeíıóoúuýyćcńnśsźz", "1.6,7.4 2.8,9.2", "1.6,9.4 2.8,10.6");
    const GRAVE: (&str, &str, &str) = ("àaèeìıòoùu", "2.6,7.4 1.2,9.2", "2.6,9.4 1.2,10.6");
    const ROOF: (&str, &str, &str) = ("âaêeîıôoûu", "0.6,7.5 2,9.2 3.4,7.5", "1,9.2 2.5,10.6 4,9.2");
    const HOOK: (&str, &str, &str) = ("čcšsžzřrěe", "0.6,9.2 2,7.5 3.4,9.2", "1,10.6 2.5,9.2 4,10.6");
    const DOTS: (&str, &str, &str) = ("äaëeïıöoüu", "0.8,8 0.8,8/3.2,8 3.2,8", "1,9.8 1,9.8/4,9.8 4,9.8");
    const WAVE: (&str, &str, &str) =
        ("ãañnõo", "0,7.6 1,9.2* 2,8.4 3,7.6* 4,9", "0.5,9.4 1.5,11* 2.5,10.2 3.5,9.4* 4.5,10.6");
    const RING: (&str, &str, &str) = (
        "åaůu",
        "2,7.3 1,7.3* 1,8.3 1,9.3* 2,9.3 3,9.3* 3,8.3 3,7.3* 2,7.3",
        "2.5,8.6 1.5,8.6* 1.5,9.6 1.5,10.6* 2.5,10.6 3.5,10.6* 3.5,9.6 3.5,8.6* 2.5,8.6",
    );
    const TAIL: (&str, &str, &str) = ("çcşs", "2.2,0 2.4,-1 3.4,-2* 1.4,-2.4", "2.6,0 2.8,-1 3.8,-2* 1.8,-2.4");
    for (pairs, small, large) in [ACUTE, GRAVE, ROOF, HOOK, DOTS, WAVE, RING, TAIL] {
        if let Some(base) = pair(pairs, character) {
            return Some((path(base)?, small));
        }
        let mut lower = character.to_lowercase();
        if let (Some(small_letter), None) = (lower.next(), lower.next())
            && let Some(base) = pair(pairs, small_letter)
        {
            let base = if base == 'ı' { 'I' } else { base.to_ascii_uppercase() };
            return Some((path(base)?, large));
        }
    }
    None
}

/// The lines and curves of a character: points `x,y` with y upwards; a star marks the control point of a curve.
fn path(character: char) -> Option<&'static str> {
    let index = GLYPHS.binary_search_by_key(&character, |(glyph, _)| *glyph).ok()?;
    Some(GLYPHS[index].1)
}

fn parse_point(token: &str) -> Option<(Point, bool)> {
    let (plain, control) = match token.strip_suffix('*') {
        Some(plain) => (plain, true),
        None => (token, false),
    };
    let (x, y) = plain.split_once(',')?;
    Some((Point { x: x.parse().ok()?, y: y.parse().ok()? }, control))
}

/// A stroke as a chain of short lines.
fn flatten(stroke: &str) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::new();
    let mut control: Option<Point> = None;
    for (point, is_control) in stroke.split(' ').filter_map(parse_point) {
        match (is_control, control.take(), out.last().copied()) {
            (true, _, _) => control = Some(point),
            (false, Some(bend), Some(start)) => {
                for step in 1..=CURVE_STEPS {
                    let t = f64::from(step) / f64::from(CURVE_STEPS);
                    let (a, b, c) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
                    out.push(Point {
                        x: a * start.x + b * bend.x + c * point.x,
                        y: a * start.y + b * bend.y + c * point.y,
                    });
                }
            }
            (false, _, _) => out.push(point),
        }
    }
    out
}

const CURVE_STEPS: u32 = 6;

/// Sorted by character.
#[rustfmt::skip]
const GLYPHS: &[(char, &str)] = &[
    (' ', ""),
    ('!', "0,8 0,2.6/0,0 0,0"),
    ('"', "0,8 0,6/2,8 2,6"),
    ('#', "1,0 2,8/4,0 5,8/0.4,5.5 6,5.5/0,2.5 5.6,2.5"),
    ('$', "3.8,5.9 3.6,7* 2,7 0.2,7* 0.2,5.5 0.2,4.2* 2,4 4,3.7* 4,2.4 4,1* 2,1 0.2,1* 0,2.3/2,8.6 2,-0.6"),
    ('%', "5.8,8 1,0/1.5,8 0,8* 0,6.2 0,4.4* 1.5,4.4 3,4.4* 3,6.2 3,8* 1.5,8/5.5,3.6 4,3.6* 4,1.8 4,0* 5.5,0 7,0* 7,1.8 7,3.6* 5.5,3.6"),
    ('&', "5.4,0 1.2,5 0.6,5.8* 0.6,6.4 0.6,8* 2.1,8 3.6,8* 3.6,6.5 3.6,5.4* 2.2,4.6 0,3.4* 0,1.9 0,0* 2,0 4.4,0* 5,3.2"),
    ('\'', "0,8 0,6"),
    ('(', "1.6,9 0,7* 0,3.5 0,0* 1.6,-2"),
    (')', "0,9 1.6,7* 1.6,3.5 1.6,0* 0,-2"),
    ('*', "2,8 2,4/0.3,7 3.7,5/0.3,5 3.7,7"),
    ('+', "0,4 4,4/2,2 2,6"),
    (',', "0.7,0.3 0,-1.6"),
    ('-', "0,3 2.6,3"),
    ('.', "0,0 0,0"),
    ('/', "3,9 0,-1"),
    ('0', "2,0 0,0* 0,4 0,8* 2,8 4,8* 4,4 4,0* 2,0"),
    ('1', "0,6.4 2,8 2,0"),
    ('2', "0.1,6.2 0.1,8* 2,8 4,8* 4,6 4,4.6* 2.6,3.2 0,0 4,0"),
    ('3', "0.1,6.7 0.3,8* 2,8 3.8,8* 3.8,6.1 3.8,4.3* 1.7,4.3/1.7,4.3 4,4.3* 4,2.2 4,0* 2,0 0.2,0* 0,1.6"),
    ('4', "3,0 3,8 0,2 4.4,2"),
    ('5', "3.7,8 0.4,8 0.2,4.4 0.8,5* 2,5 4,5* 4,2.5 4,0* 1.9,0 0.3,0* 0,1.4"),
    ('6', "3.7,7 3.4,8* 2.2,8 0,8* 0,3.6 0,0* 2,0 4,0* 4,2.5 4,5* 2.1,5 0.2,5* 0,2.8"),
    ('7', "0,8 4,8 1.4,0"),
    ('8', "2,4.3 0.2,4.3* 0.2,6.2 0.2,8* 2,8 3.8,8* 3.8,6.2 3.8,4.3* 2,4.3 4,4.3* 4,2.2 4,0* 2,0 0,0* 0,2.2 0,4.3* 2,4.3"),
    ('9', "0.3,1 0.6,0* 1.8,0 4,0* 4,4.4 4,8* 2,8 0,8* 0,5.5 0,3* 1.9,3 3.8,3* 4,5.2"),
    (':', "0,0 0,0/0,5 0,5"),
    (';', "0.7,0.3 0,-1.6/0.6,5 0.6,5"),
    ('<', "4,7 0,4 4,1"),
    ('=', "0,5 4,5/0,2.6 4,2.6"),
    ('>', "0,7 4,4 0,1"),
    ('?', "0,6.4 0.2,8* 1.9,8 3.8,8* 3.8,6.2 3.8,4.8* 1.9,4 1.9,2.6/1.9,0 1.9,0"),
    ('@', "5,3.8 5,5.8* 3.5,5.8 2,5.8* 2,3.8 2,1.8* 3.5,1.8 5,1.8* 5,3.8/5,5.6 5,3 5,1.8* 5.9,1.8 7,1.8* 7,4 7,8* 3.5,8 0,8* 0,3.5 0,-1* 3.7,-1 5,-1* 5.8,-0.6"),
    ('A', "0,0 3,8 6,0/1,3 5,3"),
    ('B', "0,0 0,8 2.5,8 4.6,8* 4.6,6.1 4.6,4.2* 2.5,4.2 0,4.2/2.5,4.2 5,4.2* 5,2.1 5,0* 2.5,0 0,0"),
    ('C', "5,6.3 4.7,8* 2.7,8 0,8* 0,4 0,0* 2.7,0 4.7,0* 5,1.7"),
    ('D', "0,0 0,8 2,8 5,8* 5,4 5,0* 2,0 0,0"),
    ('E', "4.4,0 0,0 0,8 4.4,8/0,4 4,4"),
    ('F', "0,0 0,8 4.4,8/0,4 4,4"),
    ('G', "5,6.4 4.6,8* 2.7,8 0,8* 0,4 0,0* 2.7,0 5,0* 5,2 5,4 3,4"),
    ('H', "0,0 0,8/5,0 5,8/0,4 5,4"),
    ('I', "0,0 0,8"),
    ('J', "3,8 3,2 3,0* 1.4,0 0,0* 0,1.6"),
    ('K', "0,0 0,8/4.6,8 0,3/1.6,4.6 5,0"),
    ('L', "0,8 0,0 4.2,0"),
    ('M', "0,0 0,8 3,2.5 6,8 6,0"),
    ('N', "0,0 0,8 5,0 5,8"),
    ('O', "3,0 0,0* 0,4 0,8* 3,8 6,8* 6,4 6,0* 3,0"),
    ('P', "0,0 0,8 2.6,8 5,8* 5,5.9 5,3.8* 2.6,3.8 0,3.8"),
    ('Q', "3,0 0,0* 0,4 0,8* 3,8 6,8* 6,4 6,0* 3,0/3.6,2 6,-0.8"),
    ('R', "0,0 0,8 2.6,8 5,8* 5,6 5,4* 2.6,4 0,4/2.6,4 5,0"),
    ('S', "4.7,6.5 4.4,8* 2.5,8 0.2,8* 0.2,6.1 0.2,4.4* 2.5,4.1 5,3.7* 5,1.9 5,0* 2.5,0 0.2,0* 0,1.7"),
    ('T', "0,8 6,8/3,8 3,0"),
    ('U', "0,8 0,2.6 0,0* 2.5,0 5,0* 5,2.6 5,8"),
    ('V', "0,8 3,0 6,8"),
    ('W', "0,8 2,0 4,7 6,0 8,8"),
    ('X', "0,8 5,0/0,0 5,8"),
    ('Y', "0,8 3,4 6,8/3,4 3,0"),
    ('Z', "0,8 5,8 0,0 5,0"),
    ('[', "1.6,9 0,9 0,-2 1.6,-2"),
    ('\\', "0,9 3,-1"),
    (']', "0,9 1.6,9 1.6,-2 0,-2"),
    ('^', "0,5.5 1.8,8 3.6,5.5"),
    ('_', "0,-2 5,-2"),
    ('`', "0,8.6 1.2,7.2"),
    ('a', "4,6 4,0/4,4.4 3.8,6* 2,6 0,6* 0,3 0,0* 2,0 3.8,0* 4,1.6"),
    ('b', "0,8.6 0,0/0,1.6 0.2,0* 2,0 4,0* 4,3 4,6* 2,6 0.2,6* 0,4.4"),
    ('c', "4,4.6 3.7,6* 2.1,6 0,6* 0,3 0,0* 2.1,0 3.7,0* 4,1.4"),
    ('d', "4,8.6 4,0/4,4.4 3.8,6* 2,6 0,6* 0,3 0,0* 2,0 3.8,0* 4,1.6"),
    ('e', "0,3 4,3 4,6* 2,6 0,6* 0,3 0,0* 2.1,0 3.5,0* 3.9,1.2"),
    ('f', "3,8.4 1,8.9* 1,6.6 1,0/0,6 2.8,6"),
    ('g', "4,6 4,-0.4 4,-2.4* 2,-2.4 0.6,-2.4* 0.3,-1.5/4,4.4 3.8,6* 2,6 0,6* 0,3 0,0* 2,0 3.8,0* 4,1.6"),
    ('h', "0,8.6 0,0/0,4 0.3,6* 2.2,6 4,6* 4,4 4,0"),
    ('i', "0,6 0,0/0,8.2 0,8.2"),
    ('j', "1,6 1,-0.8 1,-2.4* 0,-2.4/1,8.2 1,8.2"),
    ('k', "0,8.6 0,0/3.7,6 0,2.4/1.4,3.8 4,0"),
    ('l', "0,8.6 0,1.2 0,0* 1.2,0"),
    ('m', "0,6 0,0/0,4 0.2,6* 1.8,6 3,6* 3,4 3,0/3,4 3.2,6* 4.8,6 6,6* 6,4 6,0"),
    ('n', "0,6 0,0/0,4 0.3,6* 2.2,6 4,6* 4,4 4,0"),
    ('o', "2,0 0,0* 0,3 0,6* 2,6 4,6* 4,3 4,0* 2,0"),
    ('p', "0,6 0,-2.4/0,1.6 0.2,0* 2,0 4,0* 4,3 4,6* 2,6 0.2,6* 0,4.4"),
    ('q', "4,6 4,-2.4/4,4.4 3.8,6* 2,6 0,6* 0,3 0,0* 2,0 3.8,0* 4,1.6"),
    ('r', "0,6 0,0/0,3.6 0.2,6* 2.4,6"),
    ('s', "3.6,4.8 3.4,6* 1.9,6 0.2,6* 0.2,4.5 0.2,3.3* 1.9,3 3.8,2.7* 3.8,1.5 3.8,0* 1.9,0 0.2,0* 0,1.3"),
    ('t', "1,8 1,1.6 1,0* 2.8,0/0,6 2.8,6"),
    ('u', "0,6 0,2 0,0* 1.8,0 3.7,0* 4,2/4,6 4,0"),
    ('v', "0,6 2,0 4,6"),
    ('w', "0,6 1.5,0 3,5.4 4.5,0 6,6"),
    ('x', "0,6 4,0/0,0 4,6"),
    ('y', "0,6 2,0/4,6 1.6,-1.4 1.2,-2.4* 0,-2.4"),
    ('z', "0,6 4,6 0,0 4,0"),
    ('{', "2,9 1,9* 1,7.6 1,5 1,3.5* 0,3.5 1,3.5* 1,2 1,-0.6 1,-2* 2,-2"),
    ('|', "0,9 0,-2"),
    ('}', "0,9 1,9* 1,7.6 1,5 1,3.5* 2,3.5 1,3.5* 1,2 1,-0.6 1,-2* 0,-2"),
    ('~', "0,3.3 0.9,5* 2.2,4 3.5,3* 4.4,4.7"),
    ('\u{a0}', ""),
    ('°', "1.5,5 0,5* 0,6.5 0,8* 1.5,8 3,8* 3,6.5 3,5* 1.5,5"),
    ('±', "0,5 4,5/2,3 2,7/0,1 4,1"),
    ('µ', "0,6 0,-2.4/0,2 0,0* 1.8,0 3.7,0* 4,2/4,6 4,0"),
    ('·', "0,3.5 0,3.5"),
    ('×', "0,2 4,6/0,6 4,2"),
    ('ß', "0,0 0,6.4 0,8.6* 1.9,8.6 3.6,8.6* 3.6,7 3.6,5.4* 1.6,5 4,4.4* 4,2.2 4,0* 1.6,0"),
    ('ø', "2,0 0,0* 0,3 0,6* 2,6 4,6* 4,3 4,0* 2,0/0,-0.6 4,6.6"),
    ('ı', "0,6 0,0"),
    ('Δ', "0,0 3,8 6,0 0,0"),
    ('μ', "0,6 0,-2.4/0,2 0,0* 1.8,0 3.7,0* 4,2/4,6 4,0"),
    ('σ', "4.6,6 2,6 0,6* 0,3 0,0* 2,0 4,0* 4,3 4,5.4* 2.6,6"),
    ('–', "0,3 4.6,3"),
    ('—', "0,3 7,3"),
    ('…', "0,0 0,0/2.4,0 2.4,0/4.8,0 4.8,0"),
    ('−', "0,4 4,4"),
    ('≤', "4,7.4 0,5 4,2.6/0,0.6 4,0.6"),
    ('≥', "0,7.4 4,5 0,2.6/0,0.6 4,0.6"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_promised_has_a_glyph() {
        assert!(GLYPHS.windows(2).all(|pair| pair[0].0 < pair[1].0), "sorted");
        for character in (' '..='~').chain("°·×−µ".chars()) {
            assert!(path(character).is_some(), "{character}");
        }
        let unknown = strokes("\u{4e16}");
        for character in "²³¹⁻₂éÄÖüçÑ".chars() {
            assert_ne!(strokes(&character.to_string()), unknown, "{character}");
        }
    }

    #[test]
    fn every_path_is_well_formed() {
        for (character, path) in GLYPHS {
            for token in path.split(['/', ' ']).filter(|token| !token.is_empty()) {
                assert!(parse_point(token).is_some(), "{character} {token}");
            }
            for stroke in path.split('/').filter(|stroke| !stroke.is_empty()) {
                assert!(flatten(stroke).len() > 1, "{character}");
            }
        }
    }

    #[test]
    fn text_is_as_wide_as_its_strokes() {
        for text in ["Temperature (K)", "−40", "10⁻⁶"] {
            let right = strokes(text).iter().flatten().map(|point| point.x).fold(0.0, f64::max);
            assert!((right - width(text)).abs() < 1e-9, "{text}");
        }
        assert_eq!(width(""), 0.0);
    }
}
