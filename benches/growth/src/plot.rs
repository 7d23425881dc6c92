//! The curves as SVG, and their units.

use crate::Curve;
use std::fmt::Write as _;

/// Two panels with logarithmic axes: time on the left, memory on the right.
pub(crate) fn draw(curves: &[Curve]) -> String {
    const COLOURS: [&str; 4] = ["#0b6e99", "#c2410c", "#15803d", "#7e22ce"];
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 980 470\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"980\" height=\"470\" fill=\"#fff\"/>\n",
    );
    let panels = [("time", 70.0, (1.0, 9.0), true), ("memory held", 560.0, (1.0, 9.0), false)];
    for (title, left, (low, high), is_time) in panels {
        let x = |count: usize| left + ((count as f64).log10() - 1.0) / 5.0 * 380.0;
        let y = |value: f64| 340.0 - (value.max(10.0).log10() - low) / (high - low) * 290.0;
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"30\" font-size=\"15\">{title}</text>");
        for power in 1..=6 {
            let at = x(10usize.pow(power));
            let _ = writeln!(
                svg,
                "<path d=\"M{at:.1} 50V340\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"358\" text-anchor=\"middle\">10^{power}</text>"
            );
        }
        for power in 1..=9 {
            let value = 10f64.powi(power);
            let (at, label) = (y(value), if is_time { duration(value) } else { size(value) });
            let _ = writeln!(
                svg,
                "<path d=\"M{left} {at:.1}h380\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                left - 6.0,
                at + 4.0
            );
        }
        for (curve, colour) in curves.iter().zip(COLOURS) {
            let points = if is_time { &curve.times } else { &curve.memory };
            let path: Vec<String> =
                points.iter().map(|(count, value)| format!("{:.1},{:.1}", x(*count), y(*value))).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                path.join(" ")
            );
        }
    }
    for (at, (curve, colour)) in curves.iter().zip(COLOURS).enumerate() {
        let y = 390 + 18 * at;
        let _ = writeln!(
            svg,
            "<path d=\"M70 {y}h30\" stroke=\"{colour}\" stroke-width=\"3\"/><text x=\"108\" y=\"{}\">{}</text>",
            y + 4,
            curve.name
        );
    }
    svg + "</svg>\n"
}

pub(crate) fn duration(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.1} µs", n / 1e3),
        n => format!("{:.1} ms", n / 1e6),
    }
}

pub(crate) fn size(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b:.0} B"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b => format!("{:.1} MB", b / 1e6),
    }
}
