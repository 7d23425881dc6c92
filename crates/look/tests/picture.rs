//! Pictures: which part is shown, what is written on it, where it lies on the earth.

mod common;

use common::folder;
use fw_draw::{LatLon, Size, Terminal};
use fw_look::{Catalog, Picture, PictureKind, PictureOptions, Result, Style};
use fw_tensogram::{MessageBuilder, Value, value};
use fw_tensor::{Selection, select};
use std::path::Path;

fn picture(path: &Path, object: usize, options: &PictureOptions) -> Result<Picture> {
    let catalog = Catalog::open(path)?;
    Picture::of(&catalog, &catalog.record(0)?, object, options)
}

/// A field of a shape with metadata.
fn field(path: &Path, shape: &[u64], mars: Value) {
    let values: Vec<f32> = (0..shape.iter().product()).map(|index: u64| index as f32).collect();
    let message = MessageBuilder::new().tensor(shape, &values).unwrap().base("mars", mars);
    std::fs::write(path, message.encode().unwrap()).unwrap();
}

fn selected(selection: Selection) -> PictureOptions {
    let mut options = PictureOptions::default();
    options.selection = Some(selection);
    options
}

#[test]
fn the_grid_comes_from_the_area() {
    let (_folder, path) = folder("m.tgm");
    let whole = LatLon { lat0: 90.0, lat1: -90.0, lon0: 0.0, lon1: 350.0 };
    for (mars, shape, expected) in [
        (value!({ "area": [90, 0, -90, 350], "grid": "regular_ll" }), &[19, 36][..], Some(whole)),
        (value!({ "area": "90/0/-90/350" }), &[19, 36], Some(whole)),
        // 360 degrees would repeat the first column.
        (value!({ "area": [90, 0, -90, 360], "grid": [10, 10] }), &[19, 36], Some(whole)),
        // One line of values is folded.
        (value!({ "area": [90, 0, -90, 350], "grid": "10/10" }), &[684], Some(whole)),
        // The first index of another axis.
        (value!({ "area": [90, 0, -90, 350] }), &[3, 19, 36], Some(whole)),
        // Numbers that contradict the shape, another kind of grid, no area.
        (value!({ "area": [90, 0, -90, 350], "grid": [5, 5] }), &[19, 36], None),
        (value!({ "area": [90, 0, -90, 350], "grid": "reduced_gg" }), &[19, 36], None),
        (value!({ "area": [95, 0, -90, 350] }), &[19, 36], None),
        (value!({ "param": "2t" }), &[19, 36], None),
    ] {
        field(&path, shape, mars.clone());
        let found = picture(&path, 0, &PictureOptions::default()).unwrap();
        assert_eq!((found.kind(), found.grid()), (PictureKind::HeatMap, expected), "{mars:?} {shape:?}");
    }
    // Part of the grid lies where it lies.
    field(&path, &[19, 36], value!({ "area": [90, 0, -90, 350] }));
    let part = picture(&path, 0, &selected(select![0..4, 9..19])).unwrap().grid();
    assert_eq!(part, Some(LatLon { lat0: 90.0, lat1: 60.0, lon0: 90.0, lon1: 180.0 }));
    // Two other axes are on no map.
    field(&path, &[19, 5, 36], value!({ "area": [90, 0, -90, 350] }));
    assert_eq!(picture(&path, 0, &selected(select![.., 2, ..])).unwrap().grid(), None);
}

#[test]
fn the_grid_comes_from_coordinates() {
    let (_folder, path) = folder("m.tgm");
    let write = |latitudes: &[f64]| {
        let (values, longitudes) = (vec![1.0f32; 15], [10.0f32, 20.0, 30.0, 40.0, 50.0]);
        let message = MessageBuilder::new()
            .tensor(&[3, 5], &values)
            .unwrap()
            .base("name", "t")
            .tensor(&[3], latitudes)
            .unwrap()
            .base("name", "lat")
            .tensor(&[5], &longitudes)
            .unwrap()
            .base("name", "longitude");
        std::fs::write(&path, message.encode().unwrap()).unwrap();
        picture(&path, 0, &PictureOptions::default()).unwrap().grid()
    };
    assert_eq!(write(&[-10.0, 0.0, 10.0]), Some(LatLon { lat0: -10.0, lat1: 10.0, lon0: 10.0, lon1: 50.0 }));
    assert_eq!(write(&[-10.0, 0.0, 60.0]), None, "rows that are not evenly spaced are not drawn as if they were");
}

#[test]
fn kinds_suit_the_part() {
    let (_folder, path) = folder("m.tgm");
    field(&path, &[4, 6, 8], value!({ "param": "q" }));
    let kind = |options: &PictureOptions| picture(&path, 0, options).map(|picture| picture.kind());
    assert_eq!(kind(&PictureOptions::default()).unwrap(), PictureKind::HeatMap);
    assert_eq!(kind(&selected(select![1, 2])).unwrap(), PictureKind::Lines);
    assert_eq!(kind(&selected(select![1, 2, 3])).unwrap_err().code(), "no_picture");
    assert_eq!(kind(&selected(select![9])).unwrap_err().code(), "invalid_slice");
    let mut lines = PictureOptions::default();
    lines.kind = Some(PictureKind::Lines);
    assert_eq!(kind(&lines).unwrap(), PictureKind::Lines);
    lines.selection = Some(select![0]);
    assert_eq!(kind(&lines).unwrap(), PictureKind::Lines, "six rows are six lines");
    let mut histogram = selected(select![0]);
    histogram.kind = Some(PictureKind::Histogram);
    assert_eq!(kind(&histogram).unwrap(), PictureKind::Histogram);
    let notes = picture(&path, 0, &PictureOptions::default()).unwrap().notes().to_vec();
    assert_eq!(notes, ["axis 0 (dim_0): index 0 of 4 is shown; choose another with a slice"]);
}

#[test]
fn names_and_units_are_written() {
    let (_folder, path) = folder("m.tgm");
    let values = vec![0.0f64, 1.0, f64::NAN, 3.0, 4.0, 5.0];
    let message = MessageBuilder::new()
        .options(fw_tensogram::EncodeOptions { allow_nan: true, ..Default::default() })
        .tensor(&[2, 3], &values)
        .unwrap()
        .base("name", "tas")
        .base("long_name", "Near-surface temperature")
        .base("units", "K")
        .base("dim_names", value!(["member", "time"]));
    std::fs::write(&path, message.encode().unwrap()).unwrap();
    let found = picture(&path, 0, &PictureOptions::default()).unwrap();
    let svg = found.draw(&Style::default(), |figure| figure.svg(&Size::default())).unwrap();
    for words in ["Near-surface temperature", "tas (K)", ">member<", ">time<"] {
        assert!(svg.contains(words), "{words}");
    }
    let text = found.draw(&Style::default(), |figure| figure.text(&Terminal::new(60, 14))).unwrap();
    assert!(text.contains("Near-surface temperature") && text.lines().count() <= 14, "{text}");
}
