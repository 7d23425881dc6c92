//! How opening, looking up and scanning grow, from ten to a million; and the memory they take. Drawn as SVG.

use crate::{ALLOCATOR, fixtures};
use bench_harness::{Effort, alone};
use fw_bintensors::BinTensors;
use fw_tensogram::{MessageView, TensogramFile};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// One curve.
struct Curve {
    name: &'static str,
    /// Count and nanoseconds.
    times: Vec<(usize, f64)>,
    /// Count and bytes held at most.
    memory: Vec<(usize, f64)>,
}

const COUNTS: [usize; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];

pub(crate) fn run(out: &Path) {
    let folder = tempfile::tempdir().expect("a folder for the files");
    let curves = [
        curve("open a file and count its messages", |count| {
            let path = fixtures::many(folder.path(), count, 16);
            move || TensogramFile::open(&path).expect("opens").message_count().expect("counts")
        }),
        curve("one message of a file that is open", |count| {
            let path = fixtures::many(folder.path(), count, 16);
            let file = TensogramFile::open(&path).expect("opens");
            file.message_count().expect("counts");
            move || file.read_message(count / 2).expect("reads").len()
        }),
        curve("one object of a message, by its index", |count| {
            let message = fixtures::message(count, &[4]);
            move || {
                MessageView::open(&message)
                    .expect("opens")
                    .object(count - 1)
                    .expect("is there")
                    .bytes()
                    .map_or(0, <[u8]>::len)
            }
        }),
        curve("open BinTensors and look up one tensor", |count| {
            let file = bintensors(count);
            let name = format!("tensor.{:07}", count / 2);
            move || BinTensors::deserialize(&file).expect("opens").tensor(&name).expect("is there").data().len()
        }),
    ];
    println!("| what | {} |", COUNTS.map(|count| count.to_string()).join(" | "));
    println!("|---|{}", "--:|".repeat(COUNTS.len()));
    for curve in &curves {
        let times: Vec<String> = curve.times.iter().map(|(_, time)| duration(*time)).collect();
        println!("| {}, time | {} |", curve.name, times.join(" | "));
        let memory: Vec<String> = curve.memory.iter().map(|(_, bytes)| size(*bytes)).collect();
        println!("| {}, memory | {} |", curve.name, memory.join(" | "));
    }
    std::fs::write(out, draw(&curves)).expect("the plot is written");
}

fn curve<W: FnMut() -> usize>(name: &'static str, prepare: impl Fn(usize) -> W) -> Curve {
    let effort = Effort { rounds: 3, turn: Duration::from_millis(40) };
    let mut curve = Curve { name, times: Vec::new(), memory: Vec::new() };
    for count in COUNTS {
        let mut work = prepare(count);
        let held = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        work();
        curve.memory.push((count, ALLOCATOR.peak_usage().saturating_sub(held) as f64));
        curve.times.push((count, alone(effort, work).time.as_nanos() as f64));
    }
    curve
}

fn bintensors(count: usize) -> Vec<u8> {
    let data = [0u8; 16];
    let names: Vec<String> = (0..count).map(|at| format!("tensor.{at:07}")).collect();
    let view = || fw_bintensors::TensorView::new(fw_bintensors::Dtype::F32, vec![4], &data).expect("a view");
    fw_bintensors::serialize(names.iter().map(|name| (name, view())), &None).expect("serialises")
}

fn duration(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.1} µs", n / 1e3),
        n => format!("{:.1} ms", n / 1e6),
    }
}

fn size(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b:.0} B"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b => format!("{:.1} MB", b / 1e6),
    }
}

/// Two panels with logarithmic axes: time on the left, memory on the right.
fn draw(curves: &[Curve]) -> String {
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
