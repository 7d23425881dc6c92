//! Draws one picture of each kind into a directory: `cargo run -p fw-draw --example gallery -- /tmp/gallery`.

use std::path::PathBuf;

use fw_draw::{
    Axis, ColourMap, Field, Figure, HeatMap, Histogram, LatLon, LinePlot, Range, Scale, Series, Size, Summary,
    Terminal, TerminalColour, Theme, Values,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let target = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned()));
    std::fs::create_dir_all(&target)?;
    let save = |name: &str, figure: &dyn Figure, size: Size| -> Result<(), Box<dyn std::error::Error>> {
        std::fs::write(target.join(format!("{name}.png")), figure.png(&size)?)?;
        std::fs::write(target.join(format!("{name}-2x.png")), figure.png(&size.scale(2))?)?;
        std::fs::write(target.join(format!("{name}.svg")), figure.svg(&size)?)?;
        std::fs::write(target.join(format!("{name}.six")), figure.sixel(&size)?)?;
        for (suffix, colour) in
            [("plain", TerminalColour::None), ("256", TerminalColour::Indexed), ("true", TerminalColour::True)]
        {
            let text = figure.text(&Terminal::new(100, 32).colour(colour))?;
            std::fs::write(target.join(format!("{name}-{suffix}.txt")), text)?;
        }
        Ok(())
    };

    let (rows, columns) = (361, 720);
    let mut global = vec![0f32; rows * columns];
    for (index, value) in global.iter_mut().enumerate() {
        let lat = (90.0 - (index / columns) as f32 * 0.5).to_radians();
        let lon = ((index % columns) as f32 * 0.5).to_radians();
        let wave =
            (3.0 * lon + 4.0 * lat).sin() * lat.cos().powi(2) * 9.0 + (5.0 * lon).cos() * (2.0 * lat).sin() * 4.0;
        *value = 300.0 - 55.0 * lat.sin().powi(2) - 14.0 * lat.sin().min(0.0).powi(2) + wave;
        let hole = |y: f32, x: f32, r: f32| (lat.to_degrees() - y).hypot(lon.to_degrees() - x) < r;
        if hole(-20.0, 80.0, 12.0) || hole(35.0, 215.0, 9.0) {
            *value = f32::NAN;
        }
    }
    let field = Field::new(rows, columns, &global)?;
    let summary = Summary::of(field.values());
    let world = HeatMap::new(field)
        .title("2 m temperature")
        .subtitle(format!("2026-11-18 00 UTC, step 12 h · {}", summary.to_line()))
        .name("2t")
        .unit("K")
        .grid(LatLon { lat0: 90.0, lat1: -90.0, lon0: 0.0, lon1: 359.5 });
    save("world", &world, Size::default())?;
    save(
        "world-magma",
        &world.clone().map(ColourMap::Magma).range(Range::percentiles(10.0, 90.0)),
        Size::new(640, 400),
    )?;
    save("world-dark", &world.clone().map(ColourMap::Cividis), Size::new(720, 420).theme(Theme::Dark))?;

    let (rows, columns) = (121, 161);
    let europe: Vec<f64> = (0..rows * columns)
        .map(|index| {
            let (y, x) = ((index / columns) as f64 / 120.0, (index % columns) as f64 / 160.0);
            ((x * 9.0).sin() * (y * 7.0).cos() * 4.0 + (x * 23.0 + y * 11.0).sin()) * (1.2 - y)
        })
        .collect();
    let anomaly = HeatMap::new(Field::new(rows, columns, &europe)?)
        .title("Temperature anomaly, Europe")
        .name("anomaly")
        .unit("K")
        .map(ColourMap::Balance)
        .range(Range::values(-4.0, 4.0).scale(Scale::Symmetric))
        .grid(LatLon { lat0: 33.0, lat1: 63.0, lon0: -12.0, lon1: 28.0 });
    save("europe", &anomaly, Size::new(720, 560))?;

    let swell = |index: usize| {
        let (y, x) = ((index / 121) as f64 / 10.0, (index % 121) as f64 / 10.0);
        if (x - 3.0).hypot(y - 4.5) < 0.8 { f64::NAN } else { 3.0 + (x + y * 0.6).sin() * 2.0 + (y * 1.3).cos() }
    };
    let dateline = HeatMap::new(Field::new(61, 121, Values::by_index(61 * 121, &swell))?)
        .title("Wave height across the dateline")
        .unit("m")
        .map(ColourMap::Inferno)
        .grid(LatLon { lat0: 75.0, lat1: 45.0, lon0: 150.0, lon1: -150.0 });
    save("dateline", &dateline, Size::new(600, 400))?;

    let matrix: Vec<f32> = (0..8 * 12).map(|index| ((index * 37) % 96) as f32 * 1e5).collect();
    let plain = HeatMap::new(Field::new(8, 12, &matrix)?)
        .title("blocks.3.attn.qkv.weight <8 × 12>")
        .unit("Pa")
        .x_axis(Axis::new("column"))
        .y_axis(Axis::new("row"))
        .range(Range::default().scale(Scale::Log));
    save("matrix", &plain, Size::new(520, 380))?;

    let steps = 241;
    let wobble = |phase: f64, level: f64| -> Vec<f64> {
        (0..steps)
            .map(|h| level + 6.0 * (f64::from(h) * 0.26 + phase).sin() + 3.0 * (f64::from(h) * 0.031).cos())
            .collect()
    };
    let (mut a, b, c) = (wobble(0.0, 283.0), wobble(0.4, 281.5), wobble(2.0, 276.0));
    a[60..80].fill(f64::NAN);
    a[70] = 288.0;
    a[150] = f64::INFINITY;
    a[151] = f64::INFINITY;
    let lines = LinePlot::new()
        .title("Temperature at 52.5°N 13.4°E")
        .subtitle("ensemble, 3 of 50 members")
        .x_axis(Axis::new("step").unit("h").coordinates(0.0, 240.0))
        .y_axis(Axis::new("2t").unit("K"))
        .series(Series::new("control", &a))
        .series(Series::new("member 1", &b))
        .series(Series::new("member 2 & <others>", &c));
    save("lines", &lines, Size::new(820, 420))?;
    save("lines-dark", &lines, Size::new(820, 420).theme(Theme::Dark))?;

    let histogram = Histogram::of(&global, 60)
        .title("2 m temperature")
        .subtitle(summary.to_line())
        .x_axis(Axis::new("2t").unit("K"));
    save("histogram", &histogram, Size::new(720, 400))?;
    Ok(())
}
