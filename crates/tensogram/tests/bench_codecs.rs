//! Every pipeline that `cargo xtask bench codecs` times, once, on small objects and without the peer: a bench that has
//! rotted would otherwise show only on the machine of whoever wants figures.

#[path = "../../../benches/codecs/src/ours.rs"]
mod ours;
#[path = "../../../benches/codecs/src/rows.rs"]
mod rows;

use ours::Ours;
use rows::{Operation, ROWS, is_close, middle};

const SHAPE: [u64; 2] = [24, 100];

#[test]
fn every_row_works() {
    for row in ROWS {
        let data = row.data.bytes(SHAPE);
        let width = if row.data.is_double() { 8 } else { 4 };
        assert!(row.data.shape().iter().product::<u64>() * width > 4_000_000, "{}: too small to time", row.name);
        for &threads in row.threads {
            let label = format!("{}, {}, {threads} threads", row.name, row.data.name());
            let ours = Ours::new(row, SHAPE, threads);
            let message = ours.encode(&data);
            let whole = ours.decode(&message);
            assert!(is_close(row, &data, &whole), "{label}");
            assert!(Ours::payload_len(&message) > 0, "{label}");
            for operation in row.operations {
                let label = format!("{label}: {}", operation.name());
                match operation {
                    Operation::Encode | Operation::Decode => {}
                    Operation::DecodeInto => {
                        let mut out = vec![1; data.len()];
                        ours.decode_into(&message, &mut out);
                        assert_eq!(out, whole, "{label}");
                    }
                    Operation::View => assert_eq!(Ours::view(&message), Some(&whole[..]), "{label}"),
                    Operation::Range => {
                        let (first, count) = middle(SHAPE);
                        let bytes = (first * width) as usize..((first + count) * width) as usize;
                        assert_eq!(ours.decode_range(&message, (first, count)), whole[bytes], "{label}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_wrong_value_is_noticed() {
    for row in ROWS {
        let data = row.data.bytes(SHAPE);
        let mut wrong = data.clone();
        let last = wrong.len() - 1;
        wrong[last] ^= 0x80;
        assert!(!is_close(row, &data, &wrong), "{}: the sign of the last value", row.name);
        assert!(!is_close(row, &data, &data[1..]), "{}: a byte missing", row.name);
    }
}
