//! A view of a large raw object is a view: into the message, and next to no memory of its own.

use fw_tensogram::*;
use fw_tensor::DType;
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const LEN: usize = 64 << 20;

/// One test only: the counter is shared by the whole process.
#[test]
fn raw_objects_are_not_copied() {
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &[LEN as u64]).unwrap();
    let mut data = vec![0; LEN];
    data[LEN - 1] = 7;
    let unhashed = EncodeOptions { hashing: false, ..EncodeOptions::default() };
    let message = encode(&GlobalMetadata::default(), &[(&descriptor, &data)], &unhashed).unwrap();
    drop(data);

    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    let view = MessageView::open(&message).unwrap();
    let object = view.object(0).unwrap();
    let bytes = object.bytes().unwrap();
    let held = HEAP.peak_usage().saturating_sub(before);

    assert_eq!((bytes.len(), bytes.last()), (LEN, Some(&7)));
    let (outer, inner) = (message.as_ptr_range(), bytes.as_ptr_range());
    assert!(outer.start <= inner.start && inner.end <= outer.end, "the bytes are a copy");
    assert!(held > 0, "the counter counts");
    assert!(held <= 8 << 10, "a view of {LEN} bytes took {held}");
}
