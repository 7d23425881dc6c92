//! Large messages are changed in little memory: payloads never pass through it whole.

use fw_convert::Format;
use fw_edit::{
    Change, CopyOptions, Edit, Existing, Input, MergeOptions, Names, ReshuffleOptions, SetOptions, SplitOptions,
    Target, Unit, copy, merge, reshuffle, set, split,
};
use fw_query::Where;
use fw_tensogram::{EncodeOptions, GlobalMetadata, MetadataMap, Pipe, StreamingEncoder, TensogramFile, Value};
use peak_alloc::PeakAlloc;
use std::io::BufWriter;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

/// Two objects of 128 MiB each, streamed to a file.
#[test]
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
