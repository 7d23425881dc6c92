//! Our side of every row that `cargo xtask bench bintensors` times, once and without the peers: a bench that has rotted would
//! otherwise show only on the machine of whoever wants figures.

#[path = "../../../benches/bintensors/src/ours.rs"]
mod ours;

use fw_bintensors::{BinTensors, Profile, ReadOptions};
use ours::{Model, ZEROS, open, write};

#[test]
fn every_row_works() {
    for count in [10, 1_000] {
        let model = Model::new(count);
        open(&model.file, model.middle());
        let strict = ReadOptions::new().with_profile(Profile::Canonical);
        let file = BinTensors::deserialize_with(&model.file, &strict).unwrap();
        assert_eq!(file.len(), count);
        for place in &model.asked {
            let (name, dims, len) = &model.tensors[*place];
            let view = file.tensor(name).unwrap();
            assert!(view.shape().iter().map(|dim| *dim as usize).eq(dims.iter().copied()), "{name}");
            assert_eq!(view.data(), &ZEROS[..*len], "{name}");
        }
        // Whatever the order they come in.
        let mut views = model.views();
        views.reverse();
        assert!(write(&views) == model.file);
    }
}
