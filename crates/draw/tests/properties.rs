//! What holds for all inputs.

mod common;

use fw_draw::{
    ColourMap, Field, Figure, HeatMap, Histogram, LatLon, LinePlot, Place, Range, Reduce, Scale, Series, Size,
    Terminal, TerminalColour, Ticks, Values, resample, visible,
};
use proptest::prelude::*;

/// Values of all kinds, common ones first.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -1000.0..1000.0f64,
        1 => Just(f64::NAN),
        1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(0.0), Just(-0.0)],
        1 => any::<f64>(),
    ]
}

fn is_nice(step: f64) -> bool {
    let text = format!("{step:.6e}");
    let mantissa = text.split('e').next().unwrap_or("");
    ["1.000000", "2.000000", "2.500000", "5.000000"].contains(&mantissa)
}

proptest! {
    #[test]
    fn ticks_are_round_few_and_inside(low in -1e6..1e6f64, width in 1e-3..1e6f64, most in 1usize..15) {
        let ticks = Ticks::linear(low, low + width, most).ticks;
        prop_assert!(ticks.len() <= most);
        prop_assert!(ticks.iter().all(|tick| (low..=low + width).contains(&tick.value)));
        prop_assert!(most < 4 || ticks.len() >= 2, "{:?}", ticks);
        if let [first, second, ..] = &ticks[..] {
            prop_assert!(is_nice(second.value - first.value), "{:?}", ticks);
            prop_assert!(ticks.windows(2).all(|pair| pair[0].value < pair[1].value && pair[0].label != pair[1].label));
        }
    }

    #[test]
    fn labels_are_their_values(low in -1e5..1e5f64, width in 1e-2..1e5f64) {
        let ticks = Ticks::linear(low, low + width, 6);
        prop_assert_eq!(ticks.exponent, 0);
        for tick in ticks.ticks {
            prop_assert_eq!(tick.label.replace('−', "-").parse::<f64>().unwrap(), tick.value);
        }
    }

    #[test]
    fn ticks_of_any_range_end(low in any::<f64>(), high in any::<f64>(), most in 0usize..20) {
        for ticks in [Ticks::linear(low, high, most), Ticks::log(low, high, most), Ticks::longitude(low, high, most)] {
            prop_assert!(ticks.ticks.len() <= most);
            prop_assert!(ticks.ticks.iter().all(|tick| (low..=high).contains(&tick.value)));
        }
    }

    #[test]
    fn every_pixel_of_an_enlarged_field_has_the_colour_of_its_value(
        rows in 1usize..7,
        columns in 1usize..7,
        scale in 1u32..6,
        seed in proptest::collection::vec(value(), 49),
        map in 0usize..6,
    ) {
        let values = &seed[..rows * columns];
        let map = ColourMap::ALL[map];
        let heat = HeatMap::new(Field::new(rows, columns, values).unwrap()).map(map);
        let span = Range::default().resolve(Values::from(values)).unwrap();
        let image = heat.image(columns as u32 * scale, rows as u32 * scale).unwrap();
        for (index, pixel) in image.pixels.iter().enumerate() {
            let (y, x) = (index / image.width as usize, index % image.width as usize);
            let value = values[y / scale as usize * columns + x / scale as usize];
            let expected = match span.place(value) {
                Place::Missing => None,
                Place::Under => Some(map.under()),
                Place::Inside(t) => Some(map.at(t)),
                Place::Over => Some(map.over()),
            };
            prop_assert_eq!(*pixel, expected.map_or([0; 4], |colour| [colour.r, colour.g, colour.b, 255]));
            prop_assert_eq!(pixel[3] == 0, value.is_nan());
        }
        prop_assert_eq!(common::decode(&image.png()).pixels, image.pixels);
    }

    #[test]
    fn means_stay_between_the_extremes(
        rows in 1usize..20,
        columns in 1usize..20,
        width in 1usize..25,
        height in 1usize..25,
        seed in proptest::collection::vec(prop_oneof![9 => -1e3..1e3f64, 1 => Just(f64::NAN)], 400),
    ) {
        let values = &seed[..rows * columns];
        let field = Field::new(rows, columns, values).unwrap();
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        for reduce in [Reduce::Mean, Reduce::Nearest] {
            let out = resample(&field, width, height, reduce);
            prop_assert_eq!(out.len(), width * height);
            prop_assert!(out.iter().all(|value| value.is_nan() || (low - 1e-9..=high + 1e-9).contains(value)));
        }
        // Nothing that is there gets lost where the picture is smaller.
        if width <= columns && height <= rows && finite().count() == values.len() {
            prop_assert!(resample(&field, width, height, Reduce::Mean).iter().all(|value| value.is_finite()));
        }
    }

    #[test]
    fn text_of_any_title_fits_and_holds_no_control_characters(
        title in ".{0,60}",
        columns in 24u16..120,
        rows in 8u16..40,
        seed in proptest::collection::vec(value(), 30),
    ) {
        let terminal = Terminal::new(columns, rows);
        let heat = HeatMap::new(Field::new(5, 6, &seed).unwrap()).title(title.clone()).subtitle(title.clone()).unit(title.clone());
        let lines = LinePlot::new().title(title.clone()).series(Series::new(title.clone(), &seed));
        let histogram = Histogram::of(&seed, 9).title(title.clone());
        for figure in [&heat as &dyn Figure, &lines, &histogram] {
            let text = figure.text(&terminal).unwrap();
            prop_assert!(text.lines().count() <= usize::from(rows), "{}", text);
            prop_assert!(text.lines().all(|line| line.chars().count() <= usize::from(columns)), "{}", text);
            prop_assert!(!text.chars().any(|character| character.is_control() && character != '\n'));
            let coloured = figure.text(&terminal.colour(TerminalColour::True)).unwrap();
            prop_assert!(!coloured.replace("\x1b[", "").chars().any(|character| character.is_control() && character != '\n'));
        }
        prop_assert!(!visible(&title).chars().any(char::is_control));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn pictures_of_any_values_are_drawn(
        rows in 0usize..6,
        columns in 0usize..6,
        seed in proptest::collection::vec(value(), 36),
        scale in prop_oneof![Just(Scale::Linear), Just(Scale::Symmetric)],
        lat0 in -90.0..90.0f64,
        lon0 in -180.0..360.0f64,
    ) {
        let values = &seed[..rows * columns];
        let heat = HeatMap::new(Field::new(rows, columns, values).unwrap())
            .range(Range::default().scale(scale))
            .grid(LatLon { lat0, lat1: -lat0 / 2.0 + 3.0, lon0, lon1: lon0 + 77.0 });
        let lines = LinePlot::new().series(Series::over("a", &seed[..18], &seed[18..]).unwrap());
        let size = Size::new(160, 120);
        for figure in [&heat as &dyn Figure, &lines, &Histogram::of(values, 7)] {
            let png = figure.png(&size).unwrap();
            let common::Picture { width, height, .. } = common::decode(&png);
            prop_assert!(width <= 160 && height <= 120, "{} x {}", width, height);
            prop_assert!(figure.svg(&size).unwrap().ends_with("</svg>\n"));
            prop_assert!(figure.sixel(&size).unwrap().ends_with("\x1b\\"));
        }
    }
}
