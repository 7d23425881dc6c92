//! Types that the format does not have, where the file contradicts itself.

use fw_bintensors::validate::{ValidateOptions, validate};
use fw_bintensors::{BinTensors, Dtype, Profile, TensorView, WriteOptions, logical, serialize_with};
use fw_tensor::DType;
use std::collections::BTreeMap;

/// BT-9.4: readers ignore an entry that the stored bytes contradict, and the validator reports it.
#[test]
fn entries_that_contradict_the_bytes() {
    let data = [1u8, 2, 3, 4, 5, 6, 7, 8];
    let file = |type_name: &str| {
        let metadata = BTreeMap::from([("bt.dtype/t".to_owned(), type_name.to_owned())]);
        let view = TensorView::new(Dtype::U8, [data.len() as u64], &data).unwrap();
        serialize_with([("t", view)], &WriteOptions::new().with_metadata(metadata)).unwrap()
    };
    for (type_name, expected, findings) in [
        ("C64", (DType::Complex64, vec![1]), 0),
        ("C128", (DType::UInt8, vec![8]), 1),
        ("F9", (DType::UInt8, vec![8]), 1),
    ] {
        let bytes = file(type_name);
        let opened = BinTensors::deserialize(&bytes).unwrap();
        let metadata = opened.metadata();
        let user = metadata.metadata().unwrap();
        let found = logical(&metadata.info("t").unwrap(), |key| user.get(key));
        assert_eq!(found, expected, "{type_name}");
        let report = validate(&bytes[..], &ValidateOptions::new(Profile::Default)).unwrap();
        let reported = report.findings().iter().filter(|finding| finding.code == "invalid_carried_type").count();
        assert_eq!((reported, report.is_ok()), (findings, true), "{type_name}");
    }
}
