//! The parts around the data: title, frame, axes, legend, colour bar.

use crate::axis::{Marks, Rule};
use crate::colour::{ColourMap, Rgb};
use crate::font;
use crate::plane::{Point, Rect};
use crate::scene::{Anchor, Ink, Scene, Shape, TextStyle};
use crate::size::{Size, Theme};
use crate::text::{shortened, visible};

/// What is around the data.
pub(crate) struct Chrome<'a> {
    pub(crate) title: &'a str,
    pub(crate) subtitle: &'a str,
    pub(crate) x: Rule,
    pub(crate) y: Rule,
    pub(crate) bar: Option<Bar>,
    pub(crate) legend: Vec<(Rgb, String)>,
    /// Width over height of the data, where it has to be kept.
    pub(crate) aspect: Option<f64>,
}

/// A colour bar.
pub(crate) struct Bar {
    pub(crate) rule: Rule,
    pub(crate) map: ColourMap,
    /// Whether some values lie below or above the range.
    pub(crate) under: bool,
    pub(crate) over: bool,
}

/// A figure laid out: where the data goes, and what is drawn around it.
pub(crate) struct Layout<'a> {
    pub(crate) plot: Rect,
    pub(crate) theme: Theme,
    pub(crate) x: Marks,
    pub(crate) y: Marks,
    chrome: &'a Chrome<'a>,
    legend: Vec<Vec<(Rgb, String)>>,
    width: u32,
    height: u32,
}

const MARGIN: f64 = 14.0;
const TITLE: f64 = 1.5;
const TICK: f64 = 5.0;
const LINE: f64 = 17.0;
const BAR_GAP: f64 = 20.0;
const BAR_WIDTH: f64 = 15.0;

impl<'a> Layout<'a> {
    pub(crate) fn new(size: &Size, chrome: &'a Chrome<'a>) -> Self {
        let (full_width, full_height) = (f64::from(size.width), f64::from(size.height));
        let legend = legend_rows(&chrome.legend, full_width - 2.0 * MARGIN - 60.0);
        let mut top = MARGIN;
        top += if chrome.title.is_empty() { 0.0 } else { font::CAP_HEIGHT * TITLE + 12.0 };
        top += if chrome.subtitle.is_empty() { 0.0 } else { LINE };
        top += LINE * legend.len() as f64;
        let x_name = chrome.x.marks(2).name;
        let bottom = TICK + 4.0 + font::CAP_HEIGHT + if x_name.is_empty() { 0.0 } else { LINE } + MARGIN;
        let mut plot_height = (full_height - top - bottom).max(16.0);
        let mut plot_width = 0.0;
        let (mut left, mut right) = (0.0, 0.0);
        let mut y = Marks::default();
        // The labels depend on the height, and the height of a figure with fixed proportions on the room they leave.
        for _ in 0..3 {
            y = chrome
                .y
                .marks_that_fit(plot_height, (plot_height / 30.0).clamp(2.0, 11.0) as usize, 6.0, |_| font::CAP_HEIGHT);
            let y_name = if y.name.is_empty() { 0.0 } else { LINE };
            left = (MARGIN + y_name + widest(&y) + 4.0 + TICK).ceil();
            right = chrome.bar.as_ref().map_or(MARGIN + 14.0, |bar| bar.room(plot_height)).ceil();
            let room = (full_width - left - right).max(16.0);
            let height = (full_height - top - bottom).max(16.0);
            (plot_width, plot_height) = match chrome.aspect {
                Some(aspect) => {
                    let width = room.min(height * aspect).max(16.0);
                    (width, (width / aspect).clamp(16.0, height))
                }
                None => (room, height),
            };
        }
        let x = chrome.x.marks_that_fit(plot_width, (plot_width / 40.0).clamp(2.0, 13.0) as usize, 14.0, font::width);
        let plot = Rect { x: left as u32, y: top.ceil() as u32, width: plot_width as u32, height: plot_height as u32 };
        let title = font::width(&visible(chrome.title)) * TITLE;
        let content = f64::from(plot.x + plot.width) + right;
        let width = content.max(title + left + MARGIN).min(full_width).ceil() as u32;
        let height = (f64::from(plot.y + plot.height) + bottom).min(full_height).ceil() as u32;
        Self { plot, theme: size.theme, x, y, chrome, legend, width, height }
    }

    /// An empty scene.
    pub(crate) fn scene<'s>(&self) -> Scene<'s> {
        Scene { width: self.width, height: self.height, background: self.theme.paper(), shapes: Vec::new() }
    }

    /// Faint lines at the ticks, to be drawn before the data.
    pub(crate) fn draw_grid(&self, scene: &mut Scene<'_>, upright: bool) {
        let Rect { x, y, width, height } = self.plot;
        let (x, y, width, height) = (f64::from(x), f64::from(y), f64::from(width), f64::from(height));
        let mut lines = Vec::new();
        for (fraction, _) in &self.y.marks {
            let level = (y + height * (1.0 - fraction)).round();
            lines.push((x, level, x + width, level));
        }
        for (fraction, _) in self.x.marks.iter().filter(|_| upright) {
            let place = (x + width * fraction).round();
            lines.push((place, y, place, y + height));
        }
        scene.hairlines(&lines, Ink { colour: self.theme.ink(), alpha: 0.12 });
    }

    /// Everything around the data, to be drawn after it.
    pub(crate) fn draw(&self, scene: &mut Scene<'_>) {
        self.draw_titles(scene);
        self.draw_axes(scene);
        if let Some(bar) = &self.chrome.bar {
            bar.draw(scene, self);
        }
    }

    fn draw_titles(&self, scene: &mut Scene<'_>) {
        let left = f64::from(self.plot.x);
        let room = f64::from(self.width) - left - MARGIN / 2.0;
        let mut y = MARGIN;
        if !self.chrome.title.is_empty() {
            y += font::CAP_HEIGHT * TITLE;
            let title = fitted(self.chrome.title, room, TITLE);
            scene.text(left, y, &title, self.style(TITLE, Anchor::Start));
            y += 12.0;
        }
        if !self.chrome.subtitle.is_empty() {
            y += font::CAP_HEIGHT;
            let style = TextStyle { ink: Ink::solid(self.theme.faint()), ..self.style(1.0, Anchor::Start) };
            scene.text(left, y - 1.0, &fitted(self.chrome.subtitle, room, 1.0), style);
            y += LINE - font::CAP_HEIGHT;
        }
        for row in &self.legend {
            let mut x = left;
            for (colour, name) in row {
                let level = y + font::CAP_HEIGHT / 2.0;
                let line = vec![Point { x, y: level }, Point { x: x + LEGEND_LINE, y: level }];
                scene.shapes.push(Shape::Strokes { lines: vec![line], ink: Ink::solid(*colour), width: 2.5 });
                scene.text(x + LEGEND_LINE + 7.0, y + font::CAP_HEIGHT, name, self.style(1.0, Anchor::Start));
                x += legend_width(name);
            }
            y += LINE;
        }
    }

    fn draw_axes(&self, scene: &mut Scene<'_>) {
        let Rect { x, y, width, height } = self.plot;
        let (left, top) = (f64::from(x) - 1.0, f64::from(y) - 1.0);
        let (right, bottom) = (f64::from(x + width), f64::from(y + height));
        let ink = Ink { colour: self.theme.ink(), alpha: 0.75 };
        let mut lines = vec![
            (left, top, right, top),
            (left, bottom, right, bottom),
            (left, top, left, bottom),
            (right, top, right, bottom),
        ];
        for (fraction, label) in &self.x.marks {
            let place = self.snap(left + 1.0 + f64::from(width) * fraction, left, right);
            lines.push((place, bottom + 1.0, place, bottom + TICK));
            let y = bottom + TICK + 5.0 + font::CAP_HEIGHT;
            scene.text(place + 1.0, y, label, self.style(1.0, Anchor::Middle));
        }
        for (fraction, label) in &self.y.marks {
            let place = self.snap(top + 1.0 + f64::from(height) * (1.0 - fraction), top, bottom);
            lines.push((left - TICK, place, left - 1.0, place));
            scene.text(left - TICK - 4.0, place + 4.0, label, self.style(1.0, Anchor::End));
        }
        scene.hairlines(&lines, ink);
        let middle = |from: f64, to: f64| ((from + to) / 2.0).round();
        let name = fitted(&self.x.name, f64::from(self.width) - 2.0 * MARGIN, 1.0);
        let below = bottom + TICK + 5.0 + font::CAP_HEIGHT + LINE - 1.0;
        scene.text(middle(left, right), below, &name, self.style(1.0, Anchor::Middle));
        let name = fitted(&self.y.name, f64::from(self.height) - 2.0 * MARGIN, 1.0);
        let style = TextStyle { upright: true, ..self.style(1.0, Anchor::Middle) };
        scene.text(MARGIN + font::CAP_HEIGHT - 2.0, middle(top, bottom), &name, style);
    }

    /// A whole pixel inside the frame.
    fn snap(&self, place: f64, low: f64, high: f64) -> f64 {
        (place - 0.5).round().clamp(low, high)
    }

    fn style(&self, size: f64, anchor: Anchor) -> TextStyle {
        TextStyle { ink: Ink::solid(self.theme.ink()), size, anchor, upright: false }
    }
}

impl Bar {
    /// Room to the right of the data.
    fn room(&self, height: f64) -> f64 {
        let marks = self.marks(height);
        BAR_GAP + BAR_WIDTH + TICK + 4.0 + widest(&marks) + if marks.name.is_empty() { 0.0 } else { LINE } + MARGIN
    }

    fn marks(&self, height: f64) -> Marks {
        self.rule.marks_that_fit(height, (height / 26.0).clamp(2.0, 11.0) as usize, 6.0, |_| font::CAP_HEIGHT)
    }

    fn draw(&self, scene: &mut Scene<'_>, layout: &Layout<'_>) {
        let plot = layout.plot;
        let arrow = if plot.height > 80 && (self.over || self.under) { 12 } else { 0 };
        let rect = Rect {
            x: plot.x + plot.width + BAR_GAP as u32,
            y: plot.y + arrow,
            width: BAR_WIDTH as u32,
            height: plot.height - 2 * arrow,
        };
        let map = self.map;
        let paint = Box::new(move |width: u32, height: u32| {
            let colour = |y: u32| map.at(1.0 - (f64::from(y) + 0.5) / f64::from(height));
            let rows = (0..height).map(colour);
            rows.flat_map(|colour| std::iter::repeat_n([colour.r, colour.g, colour.b, 255], width as usize)).collect()
        });
        scene.shapes.push(Shape::Image { rect, columns: rect.width.into(), rows: 256, paint });
        let (left, right) = (f64::from(rect.x) - 1.0, f64::from(rect.x + rect.width));
        let (top, bottom) = (f64::from(rect.y) - 1.0, f64::from(rect.y + rect.height));
        let ink = Ink { colour: layout.theme.ink(), alpha: 0.75 };
        let mut lines = vec![
            (left, top, right, top),
            (left, bottom, right, bottom),
            (left, top, left, bottom),
            (right, top, right, bottom),
        ];
        let marks = self.marks(f64::from(plot.height));
        for (fraction, label) in &marks.marks {
            let place = layout.snap(top + 1.0 + f64::from(rect.height) * (1.0 - fraction), top, bottom);
            lines.push((right + 1.0, place, right + TICK - 1.0, place));
            scene.text(right + TICK + 4.0, place + 4.0, label, layout.style(1.0, Anchor::Start));
        }
        scene.hairlines(&lines, ink);
        if arrow > 0 {
            let reach = f64::from(arrow) - 2.0;
            if self.over {
                Self::arrow(
                    scene,
                    [(left, top), (right + 1.0, top), ((left + right + 1.0) / 2.0, top - reach)],
                    self.map.over(),
                    ink,
                );
            }
            if self.under {
                let foot = bottom + 1.0;
                Self::arrow(
                    scene,
                    [(left, foot), (right + 1.0, foot), ((left + right + 1.0) / 2.0, foot + reach)],
                    self.map.under(),
                    ink,
                );
            }
        }
        let name = fitted(&marks.name, f64::from(layout.height) - 2.0 * MARGIN, 1.0);
        let style = TextStyle { upright: true, ..layout.style(1.0, Anchor::Middle) };
        let x = right + TICK + 4.0 + widest(&marks) + LINE - 2.0;
        scene.text(x, ((top + bottom) / 2.0).round(), &name, style);
    }

    /// The end of the bar that stands for values outside.
    fn arrow(scene: &mut Scene<'_>, corners: [(f64, f64); 3], colour: Rgb, ink: Ink) {
        let mut points: Vec<Point> = corners.iter().map(|(x, y)| Point { x: *x, y: *y }).collect();
        scene.fill(points.clone(), Ink::solid(colour));
        points.push(points[0]);
        scene.shapes.push(Shape::Strokes { lines: vec![points], ink, width: 1.0 });
    }
}

fn widest(marks: &Marks) -> f64 {
    marks.marks.iter().map(|(_, label)| font::width(label)).fold(0.0, f64::max)
}

/// Text made visible and shortened to a width.
fn fitted(text: &str, room: f64, size: f64) -> String {
    shortened(&visible(text), |text| font::width(text) * size <= room)
}

const LEGEND_LINE: f64 = 18.0;
/// Names in a legend are cut to this width, and to this number of rows.
const LEGEND_NAME: f64 = 220.0;
const LEGEND_ROWS: usize = 4;

fn legend_width(name: &str) -> f64 {
    (LEGEND_LINE + 7.0 + font::width(name) + 30.0).ceil()
}

/// The legend in rows; what does not fit is counted in the last entry.
fn legend_rows(legend: &[(Rgb, String)], room: f64) -> Vec<Vec<(Rgb, String)>> {
    let mut rows: Vec<Vec<(Rgb, String)>> = Vec::new();
    let mut used = f64::INFINITY;
    for (index, (colour, name)) in legend.iter().enumerate() {
        let name = fitted(name, LEGEND_NAME, 1.0);
        let width = legend_width(&name);
        if used + width > room {
            if rows.len() == LEGEND_ROWS {
                let rest = format!("… {} more", legend.len() - index);
                if let Some(row) = rows.last_mut() {
                    row.pop();
                    row.push((*colour, rest));
                }
                return rows;
            }
            rows.push(Vec::new());
            used = 0.0;
        }
        used += width;
        if let Some(row) = rows.last_mut() {
            row.push((*colour, name));
        }
    }
    rows
}
