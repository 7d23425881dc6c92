//! Small figures, compared to the last byte (PNG: to the last pixel, since compressors may change).
//!
//! `FW_DRAW_GOLDEN=write cargo test -p fw-draw --test golden` writes the files anew; look at every one that changes.

mod common;

use std::path::{Path, PathBuf};

use common::decode;
use fw_draw::{
    Axis, ColourMap, Field, Figure, HeatMap, Histogram, LatLon, LinePlot, Range, Scale, Series, Size, Terminal,
    TerminalColour, Theme,
};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

fn field() -> Vec<f32> {
    let mut values: Vec<f32> = (0..9 * 16).map(|index| ((index / 16) * 3 + (index % 16) * 2) as f32 - 20.0).collect();
    values[20] = NAN;
    values[21] = NAN;
    values[40] = INF;
    values[100] = -INF;
    values
}

fn heat(values: &[f32]) -> HeatMap<'_> {
    HeatMap::new(Field::new(9, 16, values).unwrap())
        .title("weights <\u{1b}[31mred> & \"more\"")
        .subtitle("9 × 16")
        .name("value")
        .unit("m s⁻¹")
        .x_axis(Axis::new("column"))
        .y_axis(Axis::new("level").unit("hPa").coordinates(1000.0, 200.0))
}

fn map(values: &[f32]) -> HeatMap<'_> {
    HeatMap::new(Field::new(9, 16, values).unwrap())
        .title("Geopotential")
        .unit("m²/s²")
        .map(ColourMap::Balance)
        .range(Range::values(-15.0, 15.0).scale(Scale::Symmetric))
        .grid(LatLon { lat0: -40.0, lat1: 60.0, lon0: 100.0, lon1: -60.0 })
}

const A: [f32; 9] = [1.0, 3.0, 2.5, NAN, 4.0, NAN, 2.0, 2.2, INF];
const B: [f32; 5] = [100.0, 10.0, 1.0, 0.1, 0.0];

fn lines() -> LinePlot<'static> {
    LinePlot::new()
        .title("Two series")
        .x_axis(Axis::new("step").unit("h").coordinates(0.0, 24.0))
        .y_axis(Axis::new("flux").unit("W m⁻²"))
        .series(Series::new("first", &A))
        .series(Series::new("<second>", &A[2..7]))
}

fn log_lines() -> LinePlot<'static> {
    LinePlot::new().title("Decay").series(Series::new("", &B)).range(Range::default().scale(Scale::Log))
}

fn histogram() -> Histogram {
    let values: Vec<f64> = (0..500).map(|index| f64::from(index % 23 + index % 17)).collect();
    Histogram::of(&values, 20).title("Sums").x_axis(Axis::new("sum"))
}

#[test]
fn heat_maps() {
    let values = field();
    check("heat", &heat(&values), Size::new(300, 200));
    check("map", &map(&values), Size::new(320, 220).theme(Theme::Dark));
}

#[test]
fn line_plots() {
    check("lines", &lines(), Size::new(320, 200));
    check("log-lines", &log_lines(), Size::new(260, 160).theme(Theme::Clear));
}

#[test]
fn histograms() {
    check("histogram", &histogram(), Size::new(300, 180).scale(2));
}

fn check(name: &str, figure: &dyn Figure, size: Size) {
    compare_text(&format!("{name}.svg"), &figure.svg(&size).unwrap());
    for (kind, colour) in
        [("plain", TerminalColour::None), ("256", TerminalColour::Indexed), ("true", TerminalColour::True)]
    {
        let terminal = Terminal::new(64, 16).colour(colour);
        compare_text(&format!("{name}.{kind}.txt"), &figure.text(&terminal).unwrap());
    }
    let png = figure.png(&size).unwrap();
    assert_eq!(png, figure.png(&size).unwrap(), "{name}: two runs differ");
    let path = golden(&format!("{name}.png"));
    if writing() {
        std::fs::write(&path, &png).unwrap();
    }
    let expected = decode(&std::fs::read(&path).unwrap());
    let found = decode(&png);
    assert_eq!((found.width, found.height), (expected.width, expected.height), "{name}.png: size");
    let differing = found.pixels.iter().zip(&expected.pixels).filter(|(a, b)| a != b).count();
    assert_eq!(differing, 0, "{name}.png: pixels that differ");
}

fn compare_text(name: &str, text: &str) {
    let path = golden(name);
    if writing() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    // Pixels inside an SVG are compressed; the PNG file beside it pins them.
    let masked = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split("base64,").next().unwrap_or("").to_owned()).collect()
    };
    assert_eq!(masked(text), masked(&expected), "{name}");
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn writing() -> bool {
    std::env::var_os("FW_DRAW_GOLDEN").is_some_and(|value| value == "write")
}
