//! Messages and objects that own their bytes outlive the call, and cross threads.

use bytes::Bytes;
use fw_tensogram::{DecodeOptions, Message, MessageBuilder, MessageView, Object, TensogramFile};

fn message() -> Vec<u8> {
    MessageBuilder::new().tensor(&[2, 2], &[1.5f32, -2.0, 3.0, 0.25]).unwrap().base("param", "2t").encode().unwrap()
}

#[test]
fn owned_messages_and_objects_cross_threads() {
    fn check<T: Send + Sync + Clone + 'static>() {}
    check::<Message>();
    check::<Object>();
    let object = Message::from_bytes(message()).unwrap().object(0).unwrap();
    let other = object.clone();
    let values = std::thread::spawn(move || other.to_vec::<f32>(&DecodeOptions::default()).unwrap()).join().unwrap();
    assert_eq!(values, [1.5, -2.0, 3.0, 0.25]);
    assert_eq!(object.bytes().unwrap().len(), 16);
}

#[test]
fn owned_messages_share_their_bytes() {
    let bytes = Bytes::from(message());
    let opened = Message::from_bytes(bytes.clone()).unwrap();
    let payload = opened.object(0).unwrap().payload();
    let (outer, inner) = (bytes.as_ptr_range(), payload.as_ptr_range());
    assert!(outer.start <= inner.start && inner.end <= outer.end, "the payload is a copy");
    assert_eq!(opened.bytes(), bytes);
    let view = MessageView::open(&bytes).unwrap();
    assert_eq!(view.metadata().unwrap(), opened.metadata().unwrap());
    assert_eq!(view.object(0).unwrap().bytes(), Some(&payload[..]));
}

#[test]
fn objects_of_a_mapped_file_outlive_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tgm");
    std::fs::write(&path, [message(), message()].concat()).unwrap();
    // SAFETY: nothing writes to this file while it is mapped.
    #[allow(unsafe_code)]
    let file = TensogramFile::open_mmap(&path, unsafe { fw_source::LeftAlone::promised() }).unwrap();
    let object = file.message(1).unwrap().object(0).unwrap();
    drop(file);
    drop(directory);
    assert_eq!(object.values::<f32>(), Some(&[1.5f32, -2.0, 3.0, 0.25][..]));
}
