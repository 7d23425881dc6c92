//! Pipelines stated by type: the same messages as those of descriptors with names and parameters, for every codec.

use fw_tensogram::*;
use fw_tensor::{ByteOrder, DType};
use std::collections::BTreeSet;

fn options() -> EncodeOptions {
    let text = String::new;
    let provenance = Provenance { encoder_name: text(), encoder_version: text(), time: text(), uuid: text() };
    EncodeOptions { provenance: Some(provenance), ..EncodeOptions::default() }
}

/// A pipeline by type, and the same by names: type, pipe, encoding, filter, compression, parameters.
type Row = (DType, Pipe, &'static str, &'static str, &'static str, Vec<(&'static str, Value)>);

fn rows() -> Vec<Row> {
    let int = |number: i64| Value::from(number);
    let bits = |bits| ("sp_bits_per_value", int(bits));
    let size = |size| ("shuffle_element_size", int(size));
    let szip = |flags| vec![("szip_rsi", int(128)), ("szip_block_size", int(16)), ("szip_flags", int(flags))];
    let zfp = |mode: &str, key, value: Value| vec![("zfp_mode", Value::from(mode)), (key, value)];
    let sz3 = |mode: &str, bound: f64| {
        vec![("sz3_error_bound_mode", Value::from(mode)), ("sz3_error_bound", Value::from(bound))]
    };
    let with = |mut params: Vec<(&'static str, Value)>, more: Vec<(&'static str, Value)>| {
        params.extend(more);
        params
    };
    let blosc2 = |codec: &str, level| vec![("blosc2_codec", Value::from(codec)), ("blosc2_clevel", int(level))];
    let mut rows: Vec<Row> = vec![
        (DType::Float32, Pipe::raw(), "none", "none", "none", vec![]),
        (DType::Float64, Pipe::pack(12).into(), "simple_packing", "none", "none", vec![bits(12)]),
        (DType::Float64, Pipe::pack(16).szip(), "simple_packing", "none", "szip", with(szip(8), vec![bits(16)])),
        (DType::Float64, Pipe::pack(24).shuffle().zstd(1), "simple_packing", "shuffle", "zstd", {
            vec![bits(24), size(3), ("zstd_level", int(1))]
        }),
        (DType::Float64, Pipe::pack(8).lz4(), "simple_packing", "none", "lz4", vec![bits(8)]),
        (DType::Float32, Pipe::shuffle().into(), "none", "shuffle", "none", vec![size(4)]),
        (DType::Float32, Pipe::shuffle().zstd(3), "none", "shuffle", "zstd", vec![size(4), ("zstd_level", int(3))]),
        (DType::Complex64, Pipe::shuffle().lz4(), "none", "shuffle", "lz4", vec![size(8)]),
        (DType::Float64, Pipe::shuffle().szip(), "none", "shuffle", "szip", with(szip(8), vec![size(8)])),
        (DType::UInt16, Pipe::szip(), "none", "none", "szip", szip(8)),
        (DType::Int32, Pipe::szip(), "none", "none", "szip", szip(9)),
        (DType::Int8, Pipe::zstd(-2), "none", "none", "zstd", vec![("zstd_level", int(-2))]),
        (DType::Int8, Pipe::compress(ZstdSettings::default()), "none", "none", "zstd", vec![]),
        (DType::UInt64, Pipe::lz4(), "none", "none", "lz4", vec![]),
        (DType::Int16, Pipe::blosc2(Blosc2Codec::Zstd, 7), "none", "none", "blosc2", blosc2("zstd", 7)),
        (DType::Float64, Pipe::pack(16).blosc2(Blosc2Codec::Lz4, 5), "simple_packing", "none", "blosc2", {
            with(blosc2("lz4", 5), vec![bits(16)])
        }),
        (DType::Float64, Pipe::zfp_rate(16.0), "none", "none", "zfp", zfp("fixed_rate", "zfp_rate", 16.0.into())),
        (DType::Float64, Pipe::zfp_precision(20), "none", "none", "zfp", {
            zfp("fixed_precision", "zfp_precision", int(20))
        }),
        (DType::Float64, Pipe::zfp_accuracy(0.25), "none", "none", "zfp", {
            zfp("fixed_accuracy", "zfp_tolerance", 0.25.into())
        }),
        (DType::Bitmask, Pipe::rle(), "none", "none", "rle", vec![]),
        (DType::Bitmask, Pipe::roaring(), "none", "none", "roaring", vec![]),
    ];
    for (mode, name) in [(Sz3Mode::Abs, "abs"), (Sz3Mode::Rel, "rel"), (Sz3Mode::Psnr, "psnr")] {
        rows.push((DType::Float64, Pipe::sz3(mode, 1.5), "none", "none", "sz3", sz3(name, 1.5)));
    }
    rows
}

/// The descriptor of a row by names, and the elements of an object.
fn by_names(row: &Row) -> (DataObjectDescriptor, Vec<u8>) {
    let (dtype, _, encoding, filter, compression, params) = row;
    let mut descriptor = DataObjectDescriptor::new(*dtype, &[40, 50])
        .unwrap()
        .with_encoding(*encoding)
        .with_filter(*filter)
        .with_compression(*compression);
    for (key, value) in params {
        descriptor = descriptor.with_param(*key, value.clone());
    }
    let wave = |i: usize| 250.0 + 20.0 * (i as f64 / 90.0).sin();
    let data = match dtype {
        DType::Float64 => (0..2000).flat_map(|i| wave(i).to_ne_bytes()).collect(),
        DType::Float32 => (0..2000).flat_map(|i| (wave(i) as f32).to_ne_bytes()).collect(),
        DType::Complex64 => (0..4000).flat_map(|i| (wave(i) as f32).to_ne_bytes()).collect(),
        _ => (0..descriptor.decoded_len().unwrap()).map(|i| (i / 40) as u8).collect(),
    };
    (descriptor, data)
}

#[test]
fn typed_pipelines_write_what_names_and_parameters_write() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        let (named, data) = by_names(&row);
        let typed = DataObjectDescriptor::new(row.0, &[40, 50]).unwrap().with_pipeline(row.1.clone()).unwrap();
        let plain = GlobalMetadata { base: vec![MetadataMap::new()], ..GlobalMetadata::default() };
        let expected =
            encode(&plain, &[(&named, &data)], &options()).unwrap_or_else(|error| panic!("{row:?}: {error}"));
        let found = encode(&plain, &[ObjectInput { descriptor: &typed, data: &data }], &options()).unwrap();
        assert!(found == expected, "{row:?}");
        // Through the builder, and replacing another pipeline.
        let bare = DataObjectDescriptor::new(row.0, &[40, 50]).unwrap();
        let built = MessageBuilder::new().options(options()).object(bare, &data);
        assert!(
            built.pipeline(Pipe::shuffle().zstd(9)).pipeline(row.1.clone()).encode().unwrap() == expected,
            "{row:?}"
        );
        // What a reader finds states the same stages again.
        let view = MessageView::open(&expected).unwrap();
        view.object(0).unwrap().decode(&DecodeOptions::default()).unwrap();
        seen.extend([row.2, row.3, row.4]);
    }
    let names = fw_codec::chain::Encoding::NAMES.iter().chain(fw_codec::chain::Filter::NAMES);
    let names = names.chain(fw_codec::chain::Compression::NAMES).copied();
    assert_eq!(seen, names.collect::<BTreeSet<_>>(), "a codec of the table has no row here");
}

#[test]
fn streams_take_typed_pipelines() {
    let field: Vec<f64> = (0..2000).map(|i| 250.0 + 20.0 * (f64::from(i) / 90.0).sin()).collect();
    let mut typed = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options()).unwrap();
    let mut named = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options()).unwrap();
    for row in rows().into_iter().filter(|row| row.0 == DType::Float64) {
        let data: Vec<u8> = field.iter().flat_map(|value| value.to_ne_bytes()).collect();
        typed.write_tensor(&[40, 50], &field, row.1.clone()).unwrap();
        named.write_object(&by_names(&row).0, &data).unwrap();
    }
    assert!(typed.finish().unwrap() == named.finish().unwrap());
    let mut stream = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options()).unwrap();
    let error = stream.write_tensor(&[41, 50], &field, Pipe::raw()).unwrap_err();
    assert_eq!((error.code(), error.path()), ("data_length_mismatch", "object[0]"));
    let error = stream.write_tensor(&[40, 50], &field, Pipe::pack(12).shuffle()).unwrap_err();
    assert_eq!((error.code(), error.path()), ("unsupported_combination", "object[0]"));
    assert_eq!(stream.object_count(), 0);
}

#[test]
fn what_cannot_be_read_back_is_refused_when_encoding() {
    let floats = [1.5f32; 8];
    let doubles = [1.5f64; 8];
    let build = || MessageBuilder::new().tensor(&[8], &[7u8; 8]).unwrap();
    let code = |builder: MessageBuilder<'_>| {
        let error = builder.encode().unwrap_err();
        (error.class(), error.code(), error.path().to_owned())
    };
    let refused = |code: &'static str| ("Encoding", code, "object[1]".to_owned());
    let single = |pipe: Pipe| code(build().tensor(&[8], &floats).unwrap().pipeline(pipe));
    let double = |pipe: Pipe| code(build().tensor(&[8], &doubles).unwrap().pipeline(pipe));
    assert_eq!(single(Pipe::pack(16).szip()), refused("unsupported_combination"));
    assert_eq!(single(Pipe::zfp_accuracy(0.1)), refused("unsupported_combination"));
    assert_eq!(single(Pipe::rle()), refused("unsupported_combination"));
    assert_eq!(double(Pipe::szip()), refused("unsupported_combination"));
    assert_eq!(double(Pipe::pack(12).shuffle().lz4()), refused("unsupported_combination"));
    assert_eq!(double(Pipe::pack(12).szip()), refused("unsupported_combination"));
    assert_eq!(
        double(Pipe::shuffle().compress(Sz3Settings { sz3_error_bound_mode: Sz3Mode::Abs, sz3_error_bound: 0.1 })),
        { refused("unsupported_combination") }
    );
    assert_eq!(double(Pipe::pack(65).into()), refused("sp_bits_per_value_range"));
    assert_eq!(double(Pipe::zfp_rate(-1.0)), refused("bad_rate"));
    assert_eq!(double(Pipe::zfp_accuracy(0.0)), refused("bad_tolerance"));
    assert_eq!(double(Pipe::sz3(Sz3Mode::Abs, -1.0)), refused("bad_error_bound"));
    assert_eq!(double(Pipe::blosc2(Blosc2Codec::Lz4, 10)), refused("blosc2_clevel_invalid"));
}

#[test]
fn what_is_set_before_any_object_is_an_error() {
    let values = [1.0f32, 2.0];
    for builder in [
        MessageBuilder::new().base("units", "K"),
        MessageBuilder::new().pipeline(Pipe::lz4()),
        MessageBuilder::new().describe(|descriptor| descriptor.with_compression("lz4")),
    ] {
        let error = builder.tensor(&[2], &values).unwrap().encode().unwrap_err();
        assert_eq!((error.class(), error.code()), ("Metadata", "no_object_yet"), "{error}");
    }
    let error = MessageBuilder::new().base("units", "K").encode().unwrap_err();
    assert_eq!(
        error.to_string(),
        "metadata: base key \"units\" set before any tensor or object was added [no_object_yet]"
    );
}

#[test]
fn other_byte_orders_are_stated_to_the_codec() {
    let mut descriptor = DataObjectDescriptor::new(DType::Int16, &[8]).unwrap();
    descriptor.byte_order = ByteOrder::Big;
    let descriptor = descriptor.with_pipeline(Pipe::szip()).unwrap();
    assert_eq!(descriptor.params["szip_flags"].as_integer(), Some(1 | 4 | 8));
}

#[test]
fn non_finite_parts_of_complex_numbers_are_named() {
    let descriptor = DataObjectDescriptor::new(DType::Complex64, &[2]).unwrap();
    let data: Vec<u8> = [1f32, 2.0, 3.0, f32::NAN].iter().flat_map(|value| value.to_ne_bytes()).collect();
    for pipe in [Pipe::raw(), Pipe::lz4(), Pipe::shuffle().zstd(3)] {
        let descriptor = descriptor.clone().with_pipeline(pipe).unwrap();
        let error = encode(&GlobalMetadata::default(), &[(&descriptor, &data)], &options()).unwrap_err();
        assert_eq!(error.code(), "nan_not_allowed");
        assert!(error.to_string().contains("the imaginary part of element 1 (complex64) is NaN"), "{error}");
    }
}
