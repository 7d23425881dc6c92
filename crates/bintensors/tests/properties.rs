//! Properties: round trips, and inputs that mean nothing.

use fw_bintensors::validate::{ValidateOptions, validate};
use fw_bintensors::{
    BinTensors, Dtype, Profile, ReadOptions, Reader, Shape, TensorView, WriteOptions, inspect, serialize_with,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, (Dtype, Vec<u64>, Vec<u8>)>;

fn tensor() -> impl Strategy<Value = (Dtype, Vec<u64>, Vec<u8>)> {
    (prop::sample::select(Dtype::ALL.to_vec()), prop::collection::vec(0u64..5, 0..4)).prop_flat_map(|(dtype, shape)| {
        let len = (shape.iter().product::<u64>() * dtype.size()) as usize;
        (Just(dtype), Just(shape), prop::collection::vec(any::<u8>(), len))
    })
}

fn content() -> impl Strategy<Value = (Tensors, WriteOptions)> {
    let user = prop::option::of(prop::collection::btree_map(".{0,6}", ".{0,300}", 0..4));
    (prop::collection::btree_map(".{0,9}", tensor(), 0..7), user).prop_map(|(tensors, user)| {
        let mut options = WriteOptions::new();
        options.metadata = user;
        (tensors, options)
    })
}

fn write(tensors: &Tensors, options: &WriteOptions) -> Vec<u8> {
    let views = tensors
        .iter()
        .map(|(name, (dtype, shape, data))| (name, TensorView::new(*dtype, Shape::from(&shape[..]), data).unwrap()));
    serialize_with(views, options).unwrap()
}

/// Opens in every profile, every way; whatever opens can be walked to its end.
fn open_every_way(bytes: &[u8]) -> Vec<bool> {
    let tree = inspect(bytes, bytes.len() as u64);
    assert!(tree.leaves().iter().all(|(_, leaf)| leaf.span.end <= bytes.len() as u64));
    let verdicts: Vec<bool> = Profile::ALL
        .into_iter()
        .map(|profile| {
            let options = ReadOptions::new().with_profile(profile);
            let opened = BinTensors::deserialize_with(bytes, &options);
            let read = Reader::new(bytes, &options);
            match (&opened, &read) {
                (Ok(opened), Ok(read)) => {
                    for (name, view) in opened.iter() {
                        assert_eq!(read.tensor(name).unwrap(), view.data());
                        assert_eq!(opened.tensor(name).unwrap().data(), view.data());
                    }
                    assert_eq!(opened.iter().map(|(_, view)| view.data().len()).sum::<usize>(), opened.data().len());
                }
                (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
                (a, b) => panic!("{a:?} and {b:?}"),
            }
            let report = validate(bytes, &ValidateOptions::new(profile)).unwrap();
            assert_eq!(report.is_ok(), opened.is_ok(), "{:?}", report.findings());
            opened.is_ok()
        })
        .collect();
    // What a strict profile takes, the lenient ones take too.
    assert!(verdicts.windows(2).all(|pair| pair[0] >= pair[1]), "{verdicts:?}");
    verdicts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// BT-6: content comes back; the bytes are canonical; writing what was read gives the same bytes.
    #[test]
    fn round_trip((tensors, options) in content()) {
        let bytes = write(&tensors, &options);
        prop_assert_eq!(open_every_way(&bytes), [true; 3]);
        let opened = BinTensors::deserialize(&bytes).unwrap();
        prop_assert_eq!(opened.metadata().metadata().map(|user| user.to_map()), options.metadata.clone());
        prop_assert_eq!(opened.len(), tensors.len());
        let mut again = Tensors::new();
        for (name, view) in opened.iter() {
            let (dtype, shape, data) = &tensors[name];
            prop_assert_eq!((view.dtype(), view.shape(), view.data()), (*dtype, &shape[..], &data[..]));
            // BT-5.7: each tensor begins at a multiple of its element size.
            let offset = view.data().as_ptr() as usize - bytes.as_ptr() as usize;
            prop_assert_eq!(offset as u64 % dtype.size(), 0);
            again.insert(name.to_owned(), (view.dtype(), view.shape().to_vec(), view.data().to_vec()));
        }
        prop_assert_eq!(write(&again, &options), bytes);
    }

    /// Arbitrary bytes behind a believable size field: never a panic, one verdict from every door.
    #[test]
    fn arbitrary_bytes(header in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..5, Just(0x20)], 0..60), data in 0usize..20) {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(&header);
        bytes.resize(bytes.len() + data, 0);
        open_every_way(&bytes);
    }

    #[test]
    fn arbitrary_bytes_without_a_frame(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        open_every_way(&bytes);
    }

    /// One changed byte of a canonical header is refused or means something else that is itself canonical; it never
    /// reads as the same content.
    #[test]
    fn changed_headers_never_mean_the_same((tensors, options) in content(), place in any::<prop::sample::Index>(), value in any::<u8>()) {
        let bytes = write(&tensors, &options);
        let header_end = BinTensors::deserialize(&bytes).unwrap().metadata().data_start() as usize;
        let place = place.index(header_end);
        prop_assume!(bytes[place] != value);
        let mut changed = bytes.clone();
        changed[place] = value;
        open_every_way(&changed);
        if let Ok(opened) = BinTensors::deserialize_with(&changed, &ReadOptions::new().with_profile(Profile::Canonical)) {
            let same = opened.len() == tensors.len()
                && opened.iter().all(|(name, view)| {
                    tensors.get(name).is_some_and(|(dtype, shape, data)| {
                        (view.dtype(), view.shape(), view.data()) == (*dtype, &shape[..], &data[..])
                    })
                })
                && opened.metadata().metadata().map(|user| user.to_map()) == options.metadata;
            prop_assert!(!same, "byte {} changed unnoticed", place);
        }
    }
}
