//! `cargo xtask pictures`: the pictures of the documents, made by `fw` itself: plots, and a terminal with its commands.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};

use crate::context::Context;

/// What the recording shows, in the directory of the tour.
const SHOWN: &[&str] = &[
    "fw ls forecast.tgm -w mars.step=0",
    "fw get forecast.tgm -w mars.param=2t -p mars.param,mars.step,units",
    "fw stats forecast.tgm -w mars.param=2t",
    "fw validate damaged.tgm",
    "fw plot forecast.tgm -w mars.param=2t -w mars.step=0 --format text --width 78 --height 22",
];

/// Plots for the documents: file, command.
const PLOTS: &[(&str, &str)] = &[
    ("temperature.png", "fw plot forecast.tgm -w mars.param=2t -w mars.step=0 --width 560 -o"),
    ("snow.png", "fw plot forecast.tgm -w mars.param=sd -w mars.step=0 --width 560 -o"),
    ("pressure.svg", "fw plot forecast.tgm -w mars.param=msl -w mars.step=0 --kind histogram --width 560 -o"),
];

pub(crate) fn main(context: &Context) -> Result<ExitCode> {
    let built = context.cargo().args(["build", "--package", "fw"]).status()?;
    ensure!(built.success(), "fw does not build");
    let program = context.target.join("debug/fw");
    let work = context.target.join("pictures");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work)?;
    let images = context.root.join("docs/img");
    std::fs::create_dir_all(&images)?;
    run(&program, &work, "fw tour")?;
    let tour = work.join("fw-tour");
    for (name, line) in PLOTS {
        run(&program, &tour, &format!("{line} {}", images.join(name).display()))?;
    }
    let mut scenes = Vec::new();
    for line in SHOWN {
        scenes.push(format!("\x1b[1;32m$\x1b[0m {line}\n"));
        scenes.push(format!("{}\n", run(&program, &tour, &format!("{line} --color always"))?));
    }
    let path = images.join("terminal.svg");
    std::fs::write(&path, svg(&scenes)).with_context(|| path.display().to_string())?;
    println!("{}", images.display());
    Ok(ExitCode::SUCCESS)
}

/// What a command prints on a terminal of 80 columns. Commands may end with 1: a fault that is shown is one.
fn run(program: &Path, folder: &Path, line: &str) -> Result<String> {
    let words = line.split(' ').skip(1);
    let output = Command::new(program).args(words).arg("--quiet").current_dir(folder).env("COLUMNS", "80").output()?;
    let failed = !matches!(output.status.code(), Some(0 | 1)) || !output.stderr.is_empty();
    ensure!(!failed, "{line}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// How a run of characters looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Look {
    ink: Option<String>,
    paper: Option<String>,
    bold: bool,
}

impl Look {
    /// Obeys the numbers of one SGR sequence.
    fn obey(&mut self, numbers: &str) {
        let mut codes = numbers.split(';').map(|code| code.parse::<u16>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                31 => self.ink = Some("#c33".to_owned()),
                32 => self.ink = Some("#283".to_owned()),
                33 => self.ink = Some("#a70".to_owned()),
                39 => self.ink = None,
                49 => self.paper = None,
                38 | 48 => {
                    let colour = match (codes.next(), codes.next(), codes.next(), codes.next()) {
                        (Some(2), Some(red), Some(green), Some(blue)) => {
                            Some(format!("#{red:02x}{green:02x}{blue:02x}"))
                        }
                        _ => None,
                    };
                    *(if code == 38 { &mut self.ink } else { &mut self.paper }) = colour;
                }
                _ => {}
            }
        }
    }
}

/// The lines of a screen, each as runs of one look.
fn lines(screen: &str) -> Vec<Vec<(Look, String)>> {
    let mut look = Look::default();
    let line = |text: &str| {
        let mut runs = Vec::<(Look, String)>::new();
        for (place, part) in text.split("\x1b[").enumerate() {
            let (codes, rest) = if place == 0 { ("", part) } else { part.split_once('m').unwrap_or(("", part)) };
            if place > 0 {
                look.obey(codes);
            }
            if !rest.is_empty() {
                runs.push((look.clone(), rest.to_owned()));
            }
        }
        runs
    };
    screen.lines().map(line).collect()
}

/// A recording: commands and what they print appear one after the other, and it begins again. Where nothing moves, all of it is
/// there.
fn svg(scenes: &[String]) -> String {
    let (mut columns, mut rows, mut body, mut rules) = (0, 0, String::new(), String::new());
    let mut begin = 0.0;
    let length: f64 = scenes.iter().map(|scene| pause(scene)).sum::<f64>() + LAST_PAUSE;
    for (number, scene) in scenes.iter().enumerate() {
        let lines = lines(scene);
        let widest = lines.iter().map(|line| line.iter().map(|(_, text)| text.chars().count()).sum()).max();
        columns = columns.max(widest.unwrap_or(0));
        let percent = 100.0 * begin / length;
        let _ = writeln!(
            rules,
            "@keyframes s{number} {{ 0%, {percent:.2}% {{ opacity: 0 }} {:.2}%, 100% {{ opacity: 1 }} }} .s{number} {{ animation: \
             s{number} {length:.1}s linear infinite }}",
            percent + 0.01
        );
        let _ = writeln!(body, "<g class=\"s{number}\">");
        draw(&mut body, &lines, rows);
        body.push_str("</g>\n");
        rows += lines.len();
        begin += pause(scene);
    }
    let (width, height) = (columns as f64 * WIDE + 24.0, rows * HIGH + 24);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height}\" viewBox=\"0 0 {width:.0} {height}\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13\" style=\"white-space:pre\">\n<style>\n@media \
         (prefers-reduced-motion: no-preference) {{\n{rules}}}\n</style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" \
         fill=\"#f8f8f5\"/>\n{body}</svg>\n"
    )
}

/// Seconds until the next scene: a command is read sooner than what it prints.
fn pause(scene: &str) -> f64 {
    if scene.lines().count() == 1 { 1.0 } else { 2.5 }
}

/// Seconds before the recording begins again.
const LAST_PAUSE: f64 = 4.0;

const WIDE: f64 = 7.8;
const HIGH: usize = 17;

/// Lines of text, the first of them in row `first`.
fn draw(body: &mut String, lines: &[Vec<(Look, String)>], first: usize) {
    for (row, line) in lines.iter().enumerate() {
        let (top, mut column) = (12 + (first + row) * HIGH, 0);
        for (look, text) in line {
            let (left, count) = (12.0 + column as f64 * WIDE, text.chars().count());
            let length = count as f64 * WIDE;
            if let Some(paper) = &look.paper {
                let _ = write!(
                    body,
                    "<rect x=\"{left:.1}\" y=\"{top}\" width=\"{length:.1}\" height=\"{HIGH}\" fill=\"{paper}\"/>"
                );
            }
            let ink = look.ink.as_deref().unwrap_or("#222");
            let bold = if look.bold { " font-weight=\"bold\"" } else { "" };
            let _ = writeln!(
                body,
                "<text x=\"{left:.1}\" y=\"{}\" fill=\"{ink}\" textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\"{bold}>{}</text>",
                top + 13,
                escaped(text)
            );
            column += count;
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_kept_and_markup_is_not() {
        let found = lines("\x1b[1;31merror\x1b[0m: <a>\n\x1b[38;2;1;2;3;48;2;255;0;16m▀");
        assert_eq!(found[0][0], (Look { ink: Some("#c33".into()), paper: None, bold: true }, "error".into()));
        assert_eq!(found[0][1], (Look::default(), ": <a>".into()));
        let pixel = Look { ink: Some("#010203".into()), paper: Some("#ff0010".into()), bold: false };
        assert_eq!(found[1], [(pixel, "▀".into())]);
        let recording = svg(&["$ fw\n".to_owned(), "<a>\nb\n".to_owned()]);
        assert!(recording.contains("&lt;a&gt;") && recording.contains("0%, 13.33% { opacity: 0 }"), "{recording}");
    }
}
