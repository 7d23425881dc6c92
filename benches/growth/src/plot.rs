//! The curves as SVG, and their units.

use crate::Curve;
use std::fmt::Write as _;

/// Two panels side by side with logarithmic axes: time, and the peak of memory for the same work.
///
/// There is no background, and every colour is of middling lightness: the plot is read on a light page and on a dark one.
pub(crate) fn draw(curves: &[Curve]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 980 510\" font-family=\"sans-serif\" font-size=\"13\" \
         fill=\"{INK}\" role=\"img\">\n<title>Time and peak memory from ten to a million</title>\n"
    );
    axes(&mut svg, TIME, "time of one call", duration);
    axes(&mut svg, MEMORY, "peak memory of one call (0 B at the foot)", size);
    for (curve, style) in curves.iter().zip(&STYLES) {
        line(&mut svg, TIME, &curve.times, style);
        line(&mut svg, MEMORY, &curve.memory, style);
    }
    for (at, (curve, style)) in curves.iter().zip(&STYLES).enumerate() {
        let (x, y) = ([TIME, MEMORY][at % 2], 432.0 + 26.0 * (at / 2) as f64);
        let _ = writeln!(svg, "<path d=\"M{x} {y}h36\" stroke=\"{}\" stroke-width=\"2.5\"/>", style.colour);
        mark(&mut svg, x + 18.0, y, style);
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{}</text>", x + 46.0, y + 4.5, curve.name);
    }
    svg + "</svg>\n"
}

/// Where the panels begin.
const TIME: f64 = 80.0;
const MEMORY: f64 = 570.0;
const INK: &str = "#7a828c";
const GRID: &str = "stroke=\"#888\" stroke-opacity=\"0.3\"";
const WIDTH: f64 = 390.0;
const TOP: f64 = 50.0;
const FOOT: f64 = 350.0;

/// Curves differ in colour and in the shape of their marks.
struct Style {
    colour: &'static str,
    mark: Mark,
}

#[derive(Clone, Copy)]
enum Mark {
    Disc,
    Square,
    Diamond,
    Triangle,
    Cross,
}

const STYLES: [Style; 5] = [
    Style { colour: "#2a8ac4", mark: Mark::Disc },
    Style { colour: "#d9622b", mark: Mark::Square },
    Style { colour: "#3a9d5d", mark: Mark::Diamond },
    Style { colour: "#a061d1", mark: Mark::Triangle },
    Style { colour: "#c03f86", mark: Mark::Cross },
];

fn x(left: f64, count: usize) -> f64 {
    left + ((count as f64).log10() - 1.0) / 5.0 * WIDTH
}

/// From 10 to 10⁹ units; what is less lies at the foot.
fn y(value: f64) -> f64 {
    FOOT - (value.max(10.0).log10() - 1.0) / 8.0 * (FOOT - TOP)
}

fn axes(svg: &mut String, left: f64, title: &str, unit: fn(f64) -> String) {
    let _ = writeln!(svg, "<text x=\"{left}\" y=\"28\" font-size=\"16\">{title}</text>");
    for (power, label) in (1..).zip(["10", "100", "1 000", "10 000", "100 000", "10⁶"]) {
        let at = x(left, 10_usize.pow(power));
        let _ = writeln!(svg, "<path d=\"M{at:.1} {TOP}V{FOOT}\" {GRID}/>");
        let _ = writeln!(svg, "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>", FOOT + 20.0);
    }
    for power in 1..=9 {
        let value = 10_f64.powi(power);
        let (at, label) = (y(value), unit(value).replace(".0 ", " "));
        let _ = writeln!(svg, "<path d=\"M{left} {at:.1}h{WIDTH}\" {GRID}/>");
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", left - 8.0, at + 4.5);
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">messages, objects or tensors</text>",
        left + WIDTH / 2.0,
        FOOT + 44.0
    );
}

fn line(svg: &mut String, left: f64, points: &[(usize, f64)], style: &Style) {
    let places: Vec<_> = points.iter().map(|(count, value)| (x(left, *count), y(*value))).collect();
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\"/>",
        path.join(" "),
        style.colour
    );
    places.into_iter().for_each(|(x, y)| mark(svg, x, y, style));
}

fn mark(svg: &mut String, x: f64, y: f64, style: &Style) {
    let shape = match style.mark {
        Mark::Disc => "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0",
        Mark::Square => "m-4 -4h8v8h-8z",
        Mark::Diamond => "m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",
        Mark::Triangle => "m0 -5.5l5 9h-10z",
        Mark::Cross => "m-1.5 -5.5h3v4h4v3h-4v4h-3v-4h-4v-3h4z",
    };
    let _ = writeln!(svg, "<path d=\"M{x:.1} {y:.1}{shape}\" fill=\"{}\"/>", style.colour);
}

pub(crate) fn duration(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.1} µs", n / 1e3),
        n if n < 1e9 => format!("{:.1} ms", n / 1e6),
        n => format!("{:.1} s", n / 1e9),
    }
}

pub(crate) fn size(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b:.0} B"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b if b < 1e9 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
    }
}
