//! Ranges that overlap, leave holes, repeat, or leave the file (BT-5, BT-7.5 to BT-7.7).

use crate::{class, file, header, record};

#[test]
fn overlaps_holes_and_order() {
    let rows: &[(&str, &[Vec<u8>], usize, &str)] = &[
        ("hole at the start", &[record("a", 1, &[4], 1, 5)], 5, "InvalidOffset"),
        ("hole between", &[record("a", 1, &[4], 0, 4), record("b", 1, &[4], 5, 9)], 9, "InvalidOffset"),
        ("overlap", &[record("a", 1, &[4], 0, 4), record("b", 1, &[4], 3, 7)], 7, "InvalidOffset"),
        ("one range twice", &[record("a", 1, &[4], 0, 4), record("b", 1, &[4], 0, 4)], 4, "InvalidOffset"),
        ("tiling out of order", &[record("b", 1, &[4], 4, 8), record("a", 1, &[4], 0, 4)], 8, "InvalidOffset"),
        ("end before start", &[record("a", 1, &[4], 0, 4), record("b", 1, &[4], 4, 0)], 4, "InvalidOffset"),
        (
            "a short range hides a later overlap",
            &[record("a", 1, &[9], 0, 9), record("b", 1, &[0], 9, 9), record("c", 1, &[4], 5, 9)],
            9,
            "InvalidOffset",
        ),
        ("shape above range", &[record("a", 1, &[5], 0, 4)], 4, "TensorInvalidInfo"),
        ("shape below range", &[record("a", 1, &[3], 0, 4)], 4, "TensorInvalidInfo"),
        ("width forgotten", &[record("a", 12, &[4], 0, 4)], 4, "TensorInvalidInfo"),
        ("a byte too many", &[record("a", 1, &[4], 0, 4)], 5, "MetadataIncompleteBuffer"),
        ("a byte too few", &[record("a", 1, &[4], 0, 4)], 3, "MetadataIncompleteBuffer"),
        ("a name twice", &[record("a", 1, &[4], 0, 4), record("a", 1, &[4], 4, 8)], 8, "ValidationMismatch"),
        ("a name in two types", &[record("a", 2, &[4], 0, 4), record("a", 1, &[4], 4, 8)], 8, "ValidationMismatch"),
    ];
    for (what, records, data_len, expected) in rows {
        assert_eq!(class(&file(&header(records), &vec![0; *data_len])), *expected, "{what}");
    }
}

/// BT-7.6: names are compared before layouts, layouts before the length of the data.
#[test]
fn the_first_check_wins() {
    let both = header(&[record("a", 1, &[4], 1, 5), record("a", 1, &[4], 0, 9)]);
    assert_eq!(class(&file(&both, &[])), "ValidationMismatch");
    let broken_later = [header(&[record("a", 1, &[4], 1, 5)]), vec![]].concat();
    let mut two = broken_later.clone();
    two[1] = 2;
    two.extend([1, b'b', 15]);
    assert_eq!(class(&file(&two, &[])), "UnexpectedVariant", "the grammar comes before the layout");
}

/// BT-5.4: the product is taken left to right, and stays at zero once it is there.
#[test]
fn products_overflow_left_to_right() {
    let big = [0xfd, 0, 0, 0, 0, 0, 1, 0, 0];
    let shaped = |dims: [&[u8]; 3]| {
        let mut bytes = vec![0, 1, 1, b'x', 1, 3];
        dims.iter().for_each(|dim| bytes.extend_from_slice(dim));
        bytes.extend([0, 0]);
        bytes.resize(bytes.len().next_multiple_of(8), 0x20);
        file(&bytes, &[])
    };
    assert_eq!(class(&shaped([&big, &big, &[0]])), "ValidationOverflow");
    assert_eq!(class(&shaped([&[0], &big, &big])), "ok");
    assert_eq!(class(&shaped([&big, &[0], &big])), "ok");
}

/// BT-7.7: an end near 2^64 does not wrap.
#[test]
fn ends_near_the_top_do_not_wrap() {
    let top = [0xfd, 255, 255, 255, 255, 255, 255, 255, 255];
    let mut bytes = vec![0, 1, 1, b'x', 1, 1];
    bytes.extend(top);
    bytes.push(0);
    bytes.extend(top);
    assert_eq!(class(&file(&bytes, &[])), "MetadataIncompleteBuffer");
}
