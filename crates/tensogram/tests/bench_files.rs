//! Our side of every row that `cargo xtask bench files` times, once, on small files and without the peer: a bench that has
//! rotted would otherwise show only on the machine of whoever wants figures.
#![cfg(feature = "mmap")]
#![allow(unsafe_code, reason = "mapping a file takes a promise about it")]

#[path = "../../../benches/files/src/fixtures.rs"]
mod fixtures;
#[path = "../../../benches/files/src/ours.rs"]
mod ours;

use fw_source::LeftAlone;
use fw_tensogram::DecodeOptions;
use fw_tensor::Selection;

#[test]
fn every_row_works() {
    let folder = tempfile::tempdir().unwrap();
    let options = DecodeOptions::default();
    for shape in [&[][..], &[8_192]] {
        let [many, one_by_one] = [fixtures::many, fixtures::one_by_one].map(|write| write(folder.path(), 20, shape));
        assert_eq!((ours::count(&many), ours::count(&one_by_one)), (20, 20));
    }
    assert_eq!(ours::count(&fixtures::gap(folder.path(), 100_000)), 2);

    let path = fixtures::single(folder.path(), 16, &[64, 32]);
    assert_eq!(ours::metadata(&path).base.len(), 16);
    let window = ours::window(&path, 9, &Selection::from([20..22, 10..13]), &options);
    assert_eq!(window.view().to_vec::<f32>().unwrap(), [650.0, 651.0, 652.0, 682.0, 683.0, 684.0]);
    // SAFETY: nobody else knows the file, which lies in this test's own folder, and nothing writes to it below.
    let last = ours::mapped(&path, unsafe { LeftAlone::promised() }, |bytes| bytes[bytes.len() - 4..].to_vec());
    assert_eq!(last, 2047.0f32.to_le_bytes());

    let message = fixtures::message(50, &[3]);
    let values: Vec<u8> = [0.0f32, 1.0, 2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(ours::object(&message, 49, &options), values);
    let mut out = [1; 12];
    ours::copied(&message, &options, &mut out);
    assert_eq!(out, values[..]);
}
