//! Large messages are changed in little memory: payloads never pass through it whole.

use fw_bintensors::{Algorithm, Dtype, PlannedWriter, WriteOptions};
use fw_convert::{Format, StoredUse};
use fw_edit::{
    CastOptions, CastType, Change, Choice, CopyOptions, Edit, Existing, Input, MergeOptions, Names, RenameRule,
    ReplaceOptions, ReshuffleOptions, SetOptions, SplitOptions, Target, Unit, WeightsOptions, cast, copy, merge,
    rename, replace, reshuffle, set, split, subset,
};
use fw_query::Where;
use fw_tensogram::{EncodeOptions, GlobalMetadata, MetadataMap, Pipe, StreamingEncoder, TensogramFile, Value};
use peak_alloc::PeakAlloc;
use std::io::BufWriter;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

/// One test: the memory is that of the process.
#[test]
fn large_files_are_changed_in_little_memory() {
    a_quarter_gibibyte_is_changed_in_eight_mebibytes();
    checkpoints_are_changed_in_sixteen_mebibytes();
}

/// Four tensors of 32 MiB each, with digests, which are compared and made anew.
fn checkpoints_are_changed_in_sixteen_mebibytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.bt");
    let infos = (0..4).map(|layer| (format!("h.{layer}.w"), Dtype::F32, vec![1u64 << 23]));
    let options = WriteOptions::new().with_tensor_digests(Algorithm::Sha256);
    let writer = PlannedWriter::create(&path, infos, &options).unwrap();
    let piece: Vec<u8> = (0..1u32 << 18).flat_map(|place| (place as f32 / 7.0).to_le_bytes()).collect();
    for layer in 0..4 {
        let mut tensor = writer.tensor(&format!("h.{layer}.w")).unwrap();
        (0..32).for_each(|_| tensor.put(&piece).unwrap());
        tensor.finish().unwrap();
    }
    writer.finish().unwrap();
    drop(piece);
    let input = Input { path: &path, format: Format::BinTensors, name: "large.bt" };
    let out = folder.path().join("out.bt");
    let target = || Target::File { path: &out, existing: Existing::Replace };
    let (verify, ignore) = (WeightsOptions::default(), WeightsOptions::default().with_stored(StoredUse::Ignore));
    let rules = [RenameRule::new("h.*", "z.*").unwrap()];
    let layers = Choice::default().with_layers("1-2".parse().unwrap());
    type Work<'a> = (&'static str, Box<dyn Fn() + 'a>);
    let works: [Work<'_>; 5] = [
        ("rename", Box::new(|| drop(rename(&input, target(), &rules, &verify).unwrap()))),
        ("rename --ignore-digests", Box::new(|| drop(rename(&input, target(), &rules, &ignore).unwrap()))),
        ("subset", Box::new(|| drop(subset(&input, target(), &layers, &verify).unwrap()))),
        (
            "replace",
            Box::new(|| {
                let from = (&input, Some("h.1.w"));
                replace(&input, target(), "h.0.w", from, &ReplaceOptions::default()).unwrap();
            }),
        ),
        ("cast", Box::new(|| drop(cast(&input, target(), &CastOptions::new(CastType::BF16, verify.clone())).unwrap()))),
    ];
    for (name, work) in works {
        PEAK.reset_peak_usage();
        let before = PEAK.current_usage();
        work();
        let used = PEAK.peak_usage().saturating_sub(before);
        // Two processors read at a time; more have more buffers.
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        assert!(used < threads * (8 << 20), "fw {name} held {used} bytes");
    }
}

/// Two objects of 128 MiB each, streamed to a file.
fn a_quarter_gibibyte_is_changed_in_eight_mebibytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.tgm");
    let file = BufWriter::new(std::fs::File::create(&path).unwrap());
    let mut stream = StreamingEncoder::new(file, &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    let values: Vec<u64> = (0..16 << 20).collect();
    for param in ["2t", "10u"] {
        stream.write_preceder(&MetadataMap::from([("param".to_owned(), Value::from(param))])).unwrap();
        stream.write_tensor(&[values.len() as u64], &values, Pipe::raw()).unwrap();
    }
    drop(stream.finish().unwrap());
    drop(values);
    let input = Input { path: &path, format: Format::Tensogram, name: "large.tgm" };
    let at = |name: &str| folder.path().join(name);
    let names = |name: &str| Names::parse(at(name).to_str().unwrap()).unwrap();
    let changes = [Change::new(Where::parse("param=2t").unwrap(), Edit::parse("param=msl,objects.0.note=x").unwrap())];
    let objects = CopyOptions::new(Where::parse("param=10u").unwrap()).with_unit(Unit::Objects);
    type Work<'a> = (&'static str, Box<dyn Fn() + 'a>);
    let works: [Work<'_>; 5] = [
        (
            "set",
            Box::new(|| {
                set(&input, Target::new_file(&at("set.tgm")), &changes, &SetOptions::default()).unwrap();
            }),
        ),
        ("copy", Box::new(|| drop(copy(&input, &names("copy.tgm"), &objects).unwrap()))),
        (
            "merge",
            Box::new(|| {
                let twice = [input, input];
                merge(&twice, Target::new_file(&at("merge.tgm")), &MergeOptions::default()).unwrap();
                std::fs::remove_file(at("merge.tgm")).unwrap();
            }),
        ),
        ("split", Box::new(|| drop(split(&input, &names("part.tgm"), &SplitOptions::default()).unwrap()))),
        (
            "reshuffle",
            Box::new(|| {
                let target = Target::File { path: &at("set.tgm"), existing: Existing::Replace };
                reshuffle(&input, target, &ReshuffleOptions::default()).unwrap();
            }),
        ),
    ];
    for (name, work) in works {
        PEAK.reset_peak_usage();
        let before = PEAK.current_usage();
        work();
        let used = PEAK.peak_usage().saturating_sub(before);
        assert!(used < 8 << 20, "fw {name} held {used} bytes");
    }
    let (whole, part) = (at("copy.tgm"), at("part_0001.tgm"));
    assert_eq!(std::fs::metadata(&whole).unwrap().len(), std::fs::metadata(&part).unwrap().len());
    assert_eq!(TensogramFile::open(&whole).unwrap().decode_metadata(0).unwrap().get("param").as_text(), Some("10u"));
}
