//! A file of many messages costs at most 32 bytes each.

use fw_tensogram::*;
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// One test only: the counter is shared by the whole process.
#[test]
fn a_list_of_messages_is_small() {
    const COUNT: usize = 20_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.tgm");
    let message = MessageBuilder::new().tensor(&[3], &[1u8, 2, 3]).unwrap().encode().unwrap();
    std::fs::write(&path, message.repeat(COUNT)).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    let before = HEAP.current_usage();
    assert_eq!(file.message_count().unwrap(), COUNT);
    let held = HEAP.current_usage().saturating_sub(before);
    assert!(held <= COUNT * 32, "{held} bytes for {COUNT} messages");

    // The same when the file grew message by message.
    let mut appender = file.appender(&AppendOptions::default()).unwrap();
    for _ in 0..100 {
        appender.append_message(&message).unwrap();
        file.message_count().unwrap();
    }
    let held = HEAP.current_usage().saturating_sub(before);
    let count = file.message_count().unwrap();
    assert_eq!(count, COUNT + 100);
    assert!(held <= count * 32 + 4096, "{held} bytes for {count} messages");
}
