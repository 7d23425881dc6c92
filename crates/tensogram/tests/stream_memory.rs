//! A stream of any length costs a bounded amount of memory: one object where payloads are decoded, a descriptor's room
//! where they are only listed.

use fw_tensogram::*;
use peak_alloc::PeakAlloc;
use std::io::Read;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// The same bytes over and over, in pieces as a pipe brings them.
struct Repeated<'b> {
    bytes: &'b [u8],
    at: usize,
    left: usize,
}

impl Read for Repeated<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.bytes.len() {
            (self.at, self.left) = (0, self.left - 1);
        }
        if self.left == 0 {
            return Ok(0);
        }
        let piece = &self.bytes[self.at..];
        let len = piece.len().min(out.len()).min(48_000);
        out[..len].copy_from_slice(&piece[..len]);
        self.at += len;
        Ok(len)
    }
}

/// Every descriptor moved before its payload.
fn descriptors_first(mut message: Vec<u8>) -> Vec<u8> {
    let outline = frame::Outline::of(&message, &fw_bytes::Limits::default()).unwrap();
    for object in &outline.objects {
        let frame::ObjectParts { descriptor, region } =
            frame::on_slice(&message, |bytes| frame::object_parts(&object.frame, bytes)).unwrap();
        let start = object.frame.start() as usize;
        message[start + 7] &= !1;
        message[region.start as usize..descriptor.end as usize].rotate_right(descriptor.len() as usize);
        let slot = object.frame.cbor_offset_slot();
        message[slot.start as usize..slot.end as usize].copy_from_slice(&16u64.to_be_bytes());
    }
    let plain = decode(&message, &DecodeOptions::default()).unwrap().objects;
    assert!(plain.iter().all(|object| object.bytes.iter().all(|byte| *byte == 7)));
    message
}

fn peak(call: impl FnOnce()) -> usize {
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    call();
    HEAP.peak_usage().saturating_sub(before)
}

/// One test only: the counter is shared by the whole process.
#[test]
fn streams_take_bounded_memory() {
    const LARGE: usize = 40 << 20;
    let large = vec![7u8; LARGE];
    let mut builder = MessageBuilder::new().tensor(&[LARGE as u64], &large).unwrap();
    for _ in 0..20 {
        builder = builder.tensor(&[1 << 20], &large[..1 << 20]).unwrap();
    }
    let message = builder.encode().unwrap();
    drop(large);
    let stream = |times| Repeated { bytes: &message, at: 0, left: times };

    let mut listed = 0;
    let held = peak(|| {
        for event in StreamReader::without_payloads(stream(4), DecodeOptions::default()) {
            listed += usize::from(matches!(event.unwrap(), StreamEvent::Listed { .. }));
        }
    });
    assert_eq!(listed, 4 * 21);
    let total = 4 * message.len();
    assert!(total > 200_000_000 && held < 10 << 20, "{held} bytes were held while {total} passed");

    // The same objects with their descriptors in front, as other writers may have them.
    let fronted = descriptors_first(message.clone());
    let held = peak(|| {
        let events = StreamReader::without_payloads(Repeated { bytes: &fronted, at: 0, left: 4 }, Default::default());
        let listed = events.filter(|event| matches!(event, Ok(StreamEvent::Listed { .. }))).count();
        assert_eq!(listed, 4 * 21);
    });
    assert!(held < 16 << 20, "{held} bytes were held while {total} passed, descriptors first");
    drop(fronted);

    let mut decoded = 0;
    let held = peak(|| {
        for event in StreamReader::new(stream(2), DecodeOptions::default()) {
            decoded += usize::from(matches!(event.unwrap(), StreamEvent::Object { .. }));
        }
    });
    assert_eq!(decoded, 2 * 21);
    // The frame, twice while its buffer grows, and what it decodes to.
    assert!(held < 3 * LARGE + (8 << 20), "{held} bytes were held for objects of {LARGE}");

    // Megabytes of no message at all.
    let junk = vec![b'T'; 1 << 20];
    let mut passed = 0;
    let held = peak(|| {
        for event in StreamReader::without_payloads(Repeated { bytes: &junk, at: 0, left: 200 }, Default::default()) {
            let StreamEvent::Skipped(span) = event.unwrap() else { panic!("there is no message") };
            passed += span.len();
        }
    });
    assert_eq!(passed, 200 << 20);
    assert!(held < 1 << 20, "{held} bytes were held for junk");
}
