//! Our side of the struct-frame bench runs once, on little data and without the peers, so that it does not rot.

#[path = "../../../benches/structframe/src/ours.rs"]
mod ours;

use fw_dynamic::Codec;
use fw_structframe::{Message, Profile};

#[test]
fn everything_that_is_measured_works() {
    let text = include_str!("../../../benches/structframe/bench.sf");
    let schema = fw_schema::check_text("bench.sf", text).into_result().unwrap();
    let codec = Codec::new(&schema);
    // What the bench carries is what the schema says.
    let infos = fw_dynamic::message_infos(&schema);
    assert_eq!(infos, ours::INFOS);
    let (small, large) = (ours::small_messages(9), ours::large_messages(3));
    let mut bytes = vec![0; 9 * 26];
    assert_eq!(ours::encode_small(&small, &mut bytes), bytes.len());
    let sum: u64 = small.iter().map(|message| u64::from(message.stamp) + u64::from(message.status)).sum();
    assert_eq!((ours::parse_small(&bytes), ours::bytewise_small(&bytes)), (sum, sum));
    let capture = ours::columns(&codec, Profile::Standard, &bytes);
    assert_eq!(capture.tables[0].rows, 9);
    let stamps: Vec<u8> = small.iter().flat_map(|message| message.stamp.to_le_bytes()).collect();
    let status: Vec<u8> = small.iter().flat_map(|message| message.status.to_le_bytes()).collect();
    assert_eq!((ours::column(&capture, "stamp"), ours::column(&capture, "status")), (&stamps[..], &status[..]));
    assert_eq!(ours::Small::decode(fw_dynamic::Layout::Wire, &bytes[4..24]), Ok(small[0].clone()));

    let mut bytes = vec![0; 3 * 2068];
    assert_eq!(ours::encode_large(&large, &mut bytes), bytes.len());
    let sum: u64 = large.iter().map(|message| u64::from(message.stamp) + u64::from(message.body[2047])).sum();
    assert_eq!(ours::parse_large(&bytes), sum);
    let ends: u64 = large.iter().map(|message| u64::from(message.stamp & 0xff) + u64::from(message.body[2047])).sum();
    assert_eq!(ours::frames_large(&bytes), ends);
    let capture = ours::columns(&codec, Profile::Bulk, &bytes);
    assert_eq!(capture.tables[0].rows, 3);
    let bodies: Vec<u8> = large.iter().flat_map(|message| message.body.to_vec()).collect();
    assert!(ours::column(&capture, "body") == bodies);
    assert_eq!(ours::fletcher(&[4, 7, 0x34, 0x12, 1, 1, 0x1d, 0x2e]), [0x9e, 0x52]);
}
