//! The table of codecs is complete, and everything that repeats it says the same.

use fw_codec::chain::*;
use fw_codec::spec::{self, CodecInfo, KeyKind, Need, Param, ParamProblem, ParamSource};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

fn codecs() -> impl Iterator<Item = &'static CodecInfo> {
    [Encoding::CODECS, Filter::CODECS, Compression::CODECS].into_iter().flatten().copied()
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The closed sets of the format (TG-C1, TG-C2): every name and every key that the reference accepts.
#[test]
fn every_name_and_key_of_the_format_has_its_row() {
    assert_eq!(Encoding::NAMES, ["none", "simple_packing"]);
    assert_eq!(Filter::NAMES, ["none", "shuffle"]);
    let names: BTreeSet<&str> = Compression::NAMES.iter().copied().collect();
    assert_eq!(
        names,
        ["none", "szip", "zstd", "lz4", "blosc2", "zfp", "sz3", "rle", "roaring"].into_iter().collect::<BTreeSet<_>>()
    );
    assert_eq!(names.len(), Compression::NAMES.len());
    let keys: Vec<&str> = codecs().flat_map(|codec| codec.keys).map(|key| key.name).collect();
    let expected = [
        "sp_bits_per_value",
        "sp_decimal_scale_factor",
        "sp_reference_value",
        "sp_binary_scale_factor",
        "shuffle_element_size",
        "szip_rsi",
        "szip_block_size",
        "szip_flags",
        "szip_block_offsets",
        "zstd_level",
        "blosc2_codec",
        "blosc2_clevel",
        "zfp_mode",
        "zfp_rate",
        "zfp_precision",
        "zfp_tolerance",
        "sz3_error_bound_mode",
        "sz3_error_bound",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn the_document_is_that_of_the_table() {
    let path = repository().join("docs/codec-parameters.md");
    if std::env::var_os("FW_UPDATE").is_some() {
        std::fs::write(&path, spec::markdown()).unwrap();
    }
    let document = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        document == spec::markdown(),
        "docs/codec-parameters.md is out of date: run `FW_UPDATE=1 cargo test -p fw-codec --test table`"
    );
}

/// A codec that is in the table and not among the features could not be left out, or not be asked for.
#[test]
fn every_codec_is_a_feature_that_is_on_by_default() {
    for manifest in ["crates/codec/Cargo.toml", "crates/tensogram/Cargo.toml"] {
        let text = std::fs::read_to_string(repository().join(manifest)).unwrap();
        let default = text.lines().find(|line| line.starts_with("default = [")).unwrap_or_default().to_owned();
        for codec in codecs() {
            let feature = codec.feature;
            assert!(text.lines().any(|line| line.starts_with(&format!("{feature} = ["))), "{manifest}: {feature}");
            assert!(default.contains(&format!("{feature:?}")), "{manifest}: {feature} is not a default");
        }
    }
}

/// Parameters as a descriptor holds them.
#[derive(Default, Debug)]
struct Stored(BTreeMap<&'static str, Param<'static>>);

impl Stored {
    fn put(&mut self, key: &'static spec::Key, value: Param<'_>) {
        let value = match value {
            Param::Text(text) => match key.kind {
                KeyKind::Name(names) => Param::Text(names.iter().find(|name| **name == text).expect("a listed name")),
                other => panic!("{} is {other:?}, not text", key.name),
            },
            Param::Integer(number) => {
                assert!(matches!(key.kind, KeyKind::Integer | KeyKind::Unsigned), "{}", key.name);
                Param::Integer(number)
            }
            Param::Float(number) => {
                assert_eq!(key.kind, KeyKind::Float, "{}", key.name);
                Param::Float(number)
            }
            Param::UnsignedList(numbers) => {
                assert_eq!(key.kind, KeyKind::UnsignedList, "{}", key.name);
                Param::UnsignedList(numbers)
            }
            other => panic!("{}: {other:?}", key.name),
        };
        assert!(self.0.insert(key.name, value).is_none(), "{} twice", key.name);
    }
}

impl ParamSource for Stored {
    fn param(&self, key: &str) -> Option<Param<'_>> {
        self.0.get(key).cloned()
    }
}

/// Settings of every codec, with every parameter given.
fn settings() -> (Vec<Encoding>, Vec<Filter>, Vec<Compression>) {
    let packing = SimplePacking {
        sp_bits_per_value: 12,
        sp_decimal_scale_factor: Some(-2),
        sp_reference_value: Some(1.5),
        sp_binary_scale_factor: Some(-7),
    };
    let szip = SzipSettings { szip_block_offsets: Some(vec![0, 99]), ..SzipSettings::default() };
    let mut compressions: Vec<Compression> = vec![
        szip.into(),
        ZstdSettings { zstd_level: Some(-4) }.into(),
        Lz4Settings.into(),
        RleSettings.into(),
        RoaringSettings.into(),
        ZfpSettings::FixedRate { zfp_rate: 16.0 }.into(),
        ZfpSettings::FixedPrecision { zfp_precision: 20 }.into(),
        ZfpSettings::FixedAccuracy { zfp_tolerance: 0.25 }.into(),
    ];
    for blosc2_codec in Blosc2Codec::ALL {
        compressions.push(Blosc2Settings { blosc2_codec: Some(blosc2_codec), blosc2_clevel: Some(9) }.into());
    }
    for sz3_error_bound_mode in Sz3Mode::ALL {
        compressions.push(Sz3Settings { sz3_error_bound_mode, sz3_error_bound: 0.5 }.into());
    }
    (vec![packing.into()], vec![ShuffleSettings { shuffle_element_size: 4 }.into()], compressions)
}

/// What settings are written as is what they are read from, every key of the table is written, and one that is needed is
/// missed.
#[test]
fn settings_are_read_as_they_are_written() {
    let mut written = BTreeSet::new();
    macro_rules! check {
        ($stage:ident, $all:expr) => {
            let mut names = BTreeSet::from(["none"]);
            for settings in $all {
                let mut stored = Stored::default();
                settings.write(&mut |key, value| stored.put(key, value));
                assert_eq!($stage::read(settings.name(), &stored).unwrap(), settings);
                names.insert(settings.name());
                let info = settings.info().unwrap();
                for key in info.keys.iter().filter(|key| stored.0.contains_key(key.name)) {
                    written.insert(key.name);
                    let mut less = Stored(stored.0.clone());
                    less.0.remove(key.name);
                    let needed = matches!(key.need, Need::Required | Need::RequiredWith(_));
                    match $stage::read(info.name, &less) {
                        Ok(_) => assert!(!needed, "{} is not needed", key.name),
                        Err(error) => {
                            assert!(needed && error.key == key.name, "{error:?}");
                            assert_eq!(error.problem, ParamProblem::Missing);
                        }
                    }
                    less.0.insert(key.name, Param::Other("a map"));
                    let error = $stage::read(info.name, &less).unwrap_err();
                    assert!(matches!(error.problem, ParamProblem::Unusable(_)) && error.key == key.name, "{error:?}");
                }
                assert!(stored.0.keys().all(|name| info.keys.iter().any(|key| key.name == *name)), "{stored:?}");
            }
            assert_eq!(names, $stage::NAMES.iter().copied().collect::<BTreeSet<_>>());
            let error = $stage::read("lzma", &Stored::default()).unwrap_err();
            assert_eq!((error.key, error.problem), ($stage::FIELD, ParamProblem::UnknownName("lzma".to_owned())));
        };
    }
    let (encodings, filters, compressions) = settings();
    check!(Encoding, encodings);
    check!(Filter, filters);
    check!(Compression, compressions);
    assert_eq!(written, codecs().flat_map(|codec| codec.keys).map(|key| key.name).collect::<BTreeSet<_>>());
}

#[test]
fn names_in_the_table_are_those_of_the_types() {
    let names = |key: &str| {
        let key = codecs().flat_map(|codec| codec.keys).find(|known| known.name == key).unwrap();
        match key.kind {
            KeyKind::Name(names) => names.to_vec(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(names("blosc2_codec"), Blosc2Codec::ALL.map(Blosc2Codec::name));
    assert_eq!(names("sz3_error_bound_mode"), Sz3Mode::ALL.map(Sz3Mode::name));
}
