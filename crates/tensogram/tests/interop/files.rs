//! Files that both write to read the same in both; what we recover, the reference reads.

use crate::packed::{hex, same_map, unhex, unpack_map, unpack_maps};
use crate::random::{Random, Sample};
use crate::{Request, assert_same_object, native_order, reference, without_reserved};
use fw_bytes::Span;
use fw_tensogram::{
    AppendOptions, DataObjectDescriptor, DecodeOptions, DecodedMessage, MessageState, MetadataMap, RecoverOptions,
    StreamingEncoder, TailPolicy, TensogramFile, recover_file,
};
use serde_json::Value as Json;
use std::path::Path;

/// What a message holds, whoever wrote it.
struct Held {
    extra: MetadataMap,
    base: Vec<MetadataMap>,
    objects: Vec<(DataObjectDescriptor, Vec<u8>)>,
}

impl From<Sample> for Held {
    fn from(sample: Sample) -> Self {
        let base = sample.preceders.into_iter().enumerate().map(|(index, preceder)| {
            let mut entry = sample.metadata.base.get(index).cloned().unwrap_or_default();
            entry.extend(preceder.unwrap_or_default());
            entry
        });
        Self { base: base.collect(), extra: sample.metadata.extra.clone(), objects: sample.objects }
    }
}

impl From<Request> for Held {
    fn from(request: Request) -> Self {
        let mut base = request.metadata.base;
        base.resize(request.objects.len(), MetadataMap::new());
        Self { base, extra: request.metadata.extra, objects: request.objects }
    }
}

/// Round after round, three messages of ours and three of the reference; nothing earlier changes, and both tell the same.
#[test]
fn files_that_both_append_to_read_the_same_in_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.tgm");
    let file = TensogramFile::create(&path).unwrap();
    let (mut random, mut held) = (Random(515), Vec::new());
    for round in 0..6 {
        let before = std::fs::read(&path).unwrap();
        if round % 2 == 0 {
            append_ours(&file, &mut random, &mut held);
        }
        let Some(output) = reference(&["append", &(900 + round).to_string(), path.to_str().unwrap()], "") else {
            return;
        };
        held.extend(output.lines().map(|line| Held::from(Request::read(&serde_json::from_str(line).unwrap()))));
        if round % 2 == 1 {
            append_ours(&file, &mut random, &mut held);
        }
        assert!(std::fs::read(&path).unwrap().starts_with(&before), "round {round} touched earlier bytes");
        // The open handle saw what the other one added.
        assert_eq!(file.message_count().unwrap(), held.len(), "round {round}");
    }
    assert_eq!(held.len(), 36);
    check(&path, &held);
    check_values(&file, &held);

    // A writer of either side died: the reference's message is cut, ours follows where it began.
    let whole = std::fs::metadata(&path).unwrap().len();
    assert!(reference(&["append", "7", path.to_str().unwrap()], "").is_some());
    let torn = file.message_span(36).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(torn.end - 5).unwrap();
    let error = file.appender(&AppendOptions::default()).unwrap_err();
    assert!(error.to_string().contains(&format!("torn tail at byte {whole}")), "{error}");
    let sample = random.sample();
    let mut appender = file.appender(&AppendOptions::default().with_tail(TailPolicy::Truncate)).unwrap();
    appender.append_message(&sample.message).unwrap();
    held.push(sample.into());
    check(&path, &held);
    check_values(&file, &held);
}

/// Damage at many places: what is recovered, the reference reads as we do, and its validator finds nothing wrong with it.
#[test]
fn the_reference_reads_recovered_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.tgm");
    let mut random = Random(61);
    let samples: Vec<_> = std::iter::repeat_with(|| random.sample()).filter(|s| s.hashed).take(12).collect();
    let original: Vec<u8> = samples.iter().flat_map(|sample| sample.message.iter().copied()).collect();
    let (mut partial, mut rebuilt) = (0, 0);
    for round in 0..8u64 {
        let mut damaged = original.clone();
        let place = |random: &mut Random| random.sample().message.len() as u64 * 7919 * (round + 1);
        for _ in 0..=round {
            let at = place(&mut random) as usize % damaged.len();
            let until = (at + 1 + round as usize * 5).min(damaged.len());
            damaged[at..until].iter_mut().for_each(|byte| *byte ^= 0x5a);
        }
        if round == 7 {
            damaged.truncate(original.len() - samples.last().unwrap().message.len() / 3);
        }
        std::fs::write(&path, &damaged).unwrap();
        let good = folder.path().join(format!("good{round}.tgm"));
        let recovery = recover_file(&path, &good, &RecoverOptions::default()).unwrap();
        partial += recovery.messages.iter().filter(|message| message.state == MessageState::Partial).count();
        rebuilt += recovery.messages.iter().filter(|message| message.state == MessageState::Rebuilt).count();

        let Some(output) = reference(&["file", good.to_str().unwrap()], "") else { return };
        let ours = TensogramFile::open(&good).unwrap();
        let found: Vec<Json> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((found.len(), ours.message_count().unwrap()), (recovery.messages.len(), recovery.messages.len()));
        for (index, (found, message)) in found.iter().zip(&recovery.messages).enumerate() {
            let what = format!("round {round}, message {index}");
            let issues = found["issues"].as_array().unwrap();
            assert!(issues.iter().all(|issue| issue.as_str().unwrap().starts_with("warning")), "{what}: {issues:?}");
            let DecodedMessage { metadata, objects } = ours.decode_message(index, &DecodeOptions::default()).unwrap();
            assert_eq!(objects.len(), message.object_count, "{what}");
            assert!(same_map(&unpack_map(&found["extra"]), &metadata.extra), "{what}: {}", found["extra"]);
            let base = unpack_maps(&found["base"]);
            assert!(base.iter().zip(&metadata.base).all(|(theirs, ours)| same_map(theirs, ours)), "{what}: {base:?}");
            let values: Vec<_> = objects.iter().map(|object| Json::from(hex(&object.bytes))).collect();
            assert_eq!(found["file"], Json::Array(values), "{what}");
        }
    }
    assert!(partial > 0 && rebuilt > 0, "{partial} messages lost objects, {rebuilt} lost none");
}

/// Three messages: through a handle of our own, through one that stays locked for two of them, the last one streamed.
fn append_ours(file: &TensogramFile, random: &mut Random, held: &mut Vec<Held>) {
    let samples = [random.sample(), random.sample(), random.sample()];
    file.append_message(&samples[0].message).unwrap();
    let mut appender = file.appender(&AppendOptions::default().synced()).unwrap();
    appender.append_message(&samples[1].message).unwrap();
    let options = fw_tensogram::EncodeOptions { allow_nan: true, allow_inf: true, ..Default::default() };
    let mut encoder = StreamingEncoder::new(&mut appender, &samples[2].metadata, &options).unwrap();
    for ((descriptor, data), preceder) in samples[2].objects.iter().zip(&samples[2].preceders) {
        preceder.iter().for_each(|entries| encoder.write_preceder(entries).unwrap());
        encoder.write_object(descriptor, data).unwrap();
    }
    encoder.finish().unwrap();
    held.extend(samples.map(Held::from));
}

/// What the reference tells of the file, through its file API and from the bytes.
fn check(path: &Path, held: &[Held]) {
    let output = reference(&["file", path.to_str().unwrap()], "").unwrap();
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(output.lines().count(), held.len());
    let mut position = 0;
    for (number, (line, held)) in output.lines().zip(held).enumerate() {
        let found: Json = serde_json::from_str(line).unwrap();
        let message = unhex(&found["message"]);
        let span = Span::new(position, position + message.len() as u64);
        assert_eq!(span.slice_of(&bytes, 0), Some(&message[..]), "{number}: not the bytes at {span}");
        position = span.end;
        assert!(same_map(&unpack_map(&found["extra"]), &held.extra), "{number}: {}", found["extra"]);
        check_base(&unpack_maps(&found["base"]), held, number);
        let objects = found["objects"].as_array().unwrap();
        assert_eq!(objects.len(), held.objects.len(), "{number}");
        for (index, (object, (descriptor, data))) in objects.iter().zip(&held.objects).enumerate() {
            let what = format!("{number}: object {index}");
            assert_same_object(object, descriptor, &what);
            assert_eq!(object["wire"], hex(data), "{what}");
            assert_eq!(found["file"][index], hex(&native_order(descriptor, data)), "{what}");
        }
    }
    assert_eq!(position, bytes.len() as u64);
}

/// What we tell of it: every object by itself, and every message as a whole.
fn check_values(file: &TensogramFile, held: &[Held]) {
    assert_eq!(file.message_count().unwrap(), held.len());
    for (number, held) in held.iter().enumerate() {
        let DecodedMessage { metadata, objects } = file.decode_message(number, &DecodeOptions::default()).unwrap();
        assert!(same_map(&metadata.extra, &held.extra), "{number}: {:?}", metadata.extra);
        // Not by equality: there may be NaN among the values.
        let alone = file.metadata(number).unwrap();
        assert!(same_map(&alone.extra, &metadata.extra) && same_map(&alone.reserved, &metadata.reserved), "{number}");
        check_base(&alone.base, held, number);
        check_base(&metadata.base, held, number);
        assert_eq!(objects.len(), held.objects.len(), "{number}");
        for (index, (given, data)) in held.objects.iter().enumerate() {
            let object = file.decode_object(number, index, &DecodeOptions::default()).unwrap();
            assert_eq!(object, objects[index], "{number}: object {index}");
            crate::assert_same_descriptor(&object.descriptor, given, &format!("{number}: object {index}"));
            assert_eq!(hex(&object.bytes), hex(&native_order(given, data)), "{number}: object {index}");
        }
    }
}

fn check_base(base: &[MetadataMap], held: &Held, number: usize) {
    assert_eq!(base.len(), held.base.len(), "{number}: base entries");
    for (index, (entry, given)) in base.iter().zip(&held.base).enumerate() {
        assert!(same_map(&without_reserved(entry), given), "{number}: base[{index}] {entry:?}");
    }
}
