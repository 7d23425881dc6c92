//! Empty, tiny, constant, missing, infinite and enormous inputs on every target; wrong requests and their errors.

mod common;

use fw_draw::{
    Axis, DrawError, Field, Figure, HeatMap, Histogram, LatLon, LinePlot, Range, Reduce, Scale, Series, Size, Terminal,
    TerminalColour, Values,
};

fn draw_everywhere(figure: &dyn Figure) {
    for size in [Size::new(160, 120), Size::new(233, 182)] {
        assert!(figure.png(&size).unwrap().starts_with(b"\x89PNG"));
        let svg = figure.svg(&size).unwrap();
        let numbers = svg.lines().filter(|line| !line.starts_with("<image") && !line.starts_with("<text"));
        for line in numbers {
            assert!(!line.contains("NaN") && !line.contains("inf"), "{line}");
        }
        figure.sixel(&size).unwrap();
    }
    for colour in [TerminalColour::None, TerminalColour::Indexed, TerminalColour::True] {
        for (columns, rows) in [(24, 8), (80, 24), (1000, 9), (24, 1000)] {
            figure.text(&Terminal::new(columns, rows).colour(colour)).unwrap();
        }
    }
}

#[test]
fn odd_fields() {
    let fields: [(usize, usize, Vec<f64>); 11] = [
        (0, 0, vec![]),
        (0, 7, vec![]),
        (7, 0, vec![]),
        (1, 1, vec![5.0]),
        (1, 1, vec![f64::NAN]),
        (2, 2, vec![f64::NAN; 4]),
        (2, 2, vec![0.0; 4]),
        (1, 3, vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN]),
        (1, 2, vec![f64::MIN, f64::MAX]),
        (1, 2, vec![0.0, 5e-324]),
        (200, 1, (0..200).map(f64::from).collect()),
    ];
    for (rows, columns, values) in &fields {
        let field = Field::new(*rows, *columns, values).unwrap();
        let grid = LatLon { lat0: 10.0, lat1: -20.0, lon0: 350.0, lon1: 20.0 };
        for scale in [Scale::Linear, Scale::Symmetric] {
            draw_everywhere(&HeatMap::new(field).range(Range::default().scale(scale)).title("a"));
        }
        draw_everywhere(&HeatMap::new(field).grid(grid).range(Range::percentiles(2.0, 98.0)));
        draw_everywhere(&LinePlot::new().series(Series::new("a", values)).series(Series::new("b", values)));
        draw_everywhere(&Histogram::of(values, 10));
    }
    draw_everywhere(&LinePlot::new());
}

#[test]
fn only_missing_values_are_transparent_in_a_figure() {
    let transparent = |values: &[f32]| {
        let file = HeatMap::new(Field::new(2, 2, values).unwrap()).png(&Size::new(300, 200)).unwrap();
        common::decode(&file).pixels.iter().filter(|pixel| pixel[3] == 0).count()
    };
    let quarter = transparent(&[1.0, 2.0, 3.0, f32::NAN]);
    assert_eq!(transparent(&[1.0, 2.0, 3.0, f32::INFINITY]), 0);
    assert!(quarter > 2000, "{quarter}");
    assert!(transparent(&[f32::NAN; 4]).abs_diff(4 * quarter) < 1000);
}

#[test]
fn long_names() {
    let name = "a very long name of a variable that does not fit ".repeat(20);
    let field = Field::new(2, 2, &[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let axis = || Axis::new(name.clone()).unit(name.clone()).coordinates(1e-300, 1e300);
    draw_everywhere(
        &HeatMap::new(field).title(&name).subtitle(&name).name(&name).unit(&name).x_axis(axis()).y_axis(axis()),
    );
    let values = [1.0f64, 2.0];
    let lines = (0..40).fold(LinePlot::new(), |plot, _| plot.series(Series::new(name.clone(), &values)));
    draw_everywhere(&lines.title(&name).x_axis(axis()).y_axis(axis()));
}

#[test]
fn a_huge_field_costs_what_is_shown() {
    // 10^12 values exist only as a function. Statistics read every value, so the range is given.
    let side = 1_000_000usize;
    let value = move |index: usize| ((index / side) as f64 * 1e-3).sin();
    let field = Field::new(side, side, Values::by_index(side * side, &value)).unwrap();
    let picked = fw_draw::resample(&field, 64, 32, Reduce::Nearest);
    assert!(picked.iter().all(|value| value.is_finite()));
}

#[test]
fn wrong_requests_are_named() {
    let field = Field::new(1, 2, &[1.0f32, 2.0]).unwrap();
    let heat = HeatMap::new(field);
    for size in [Size::new(10, 400), Size::new(400, 10), Size::new(20_000, 400), Size::new(16_000, 16_000)] {
        assert!(matches!(heat.png(&size), Err(DrawError::Size { .. })), "{size:?}");
    }
    assert!(matches!(heat.png(&Size::new(400, 300).scale(0)), Err(DrawError::Scale { scale: 0, .. })));
    assert!(matches!(heat.png(&Size::new(4000, 3000).scale(8)), Err(DrawError::Size { .. })));
    assert!(matches!(heat.image(0, 5), Err(DrawError::Size { .. })));
    assert!(matches!(heat.image(u32::MAX, u32::MAX), Err(DrawError::Size { .. })));
    assert!(matches!(heat.text(&Terminal::new(10, 10)), Err(DrawError::Size { .. })));
    assert!(matches!(heat.text(&Terminal::new(u16::MAX, 10)), Err(DrawError::Size { .. })));
    assert!(matches!(Field::new(usize::MAX, 2, &[1.0f32]), Err(DrawError::Shape { .. })));
    assert!(matches!(Series::over("a", &[1.0f32], &[1.0f32, 2.0]), Err(DrawError::SeriesLength { .. })));
    let error = heat.clone().range(Range::values(5.0, 1.0)).png(&Size::default()).unwrap_err();
    let said = "range 5 to 1 is empty: the lower end must be below the upper end, and both must be finite";
    assert_eq!(error.to_string(), said);
    let error = heat.image(0, 5).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a size of 0 x 5 pixels is out of range: must be from 1 x 1 to 33554432 pixels in all"
    );
}

#[test]
fn names_from_files_are_escaped() {
    let values = [1.0f32, 2.0];
    let nasty = "</title><script>alert(1)</script>\u{1b}]0;x\u{7}";
    let plot = LinePlot::new()
        .title(nasty)
        .subtitle(nasty)
        .x_axis(Axis::new(nasty))
        .y_axis(Axis::new(nasty))
        .series(Series::new(nasty, &values));
    let svg = plot.svg(&Size::default()).unwrap();
    assert!(!svg.contains("<script") && !svg.contains('\u{1b}') && !svg.contains('\u{7}'), "{svg}");
    let text = plot.text(&Terminal::new(120, 30)).unwrap();
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text}");
}
