//! Our side of every row: the model that is opened, looked up and written.

use fw_bintensors::{BinTensors, Dtype, TensorView, serialize};
use std::hint::black_box;

/// Names and shapes of a gpt2-like model, with a few bytes of data each.
pub(crate) struct Model {
    /// Name, dimensions, bytes of data.
    pub(crate) tensors: Vec<(String, Vec<usize>, usize)>,
    /// The model as a BinTensors file.
    pub(crate) file: Vec<u8>,
    /// Places of the tensors that lookups ask for.
    pub(crate) asked: Vec<usize>,
}

/// Data for every tensor.
pub(crate) static ZEROS: [u8; 64] = [0; 64];

impl Model {
    /// A model of so many tensors.
    pub(crate) fn new(count: usize) -> Self {
        const BLOCK: [(&str, &[usize]); 13] = [
            ("ln_1.weight", &[2]),
            ("ln_1.bias", &[2]),
            ("attn.bias", &[1, 1, 2, 2]),
            ("attn.c_attn.weight", &[2, 3]),
            ("attn.c_attn.bias", &[3]),
            ("attn.c_proj.weight", &[2, 2]),
            ("attn.c_proj.bias", &[2]),
            ("ln_2.weight", &[2]),
            ("ln_2.bias", &[2]),
            ("mlp.c_fc.weight", &[2, 4]),
            ("mlp.c_fc.bias", &[4]),
            ("mlp.c_proj.weight", &[4, 2]),
            ("mlp.c_proj.bias", &[2]),
        ];
        let tensors: Vec<_> = (0..count)
            .map(|place| {
                let (name, shape) = BLOCK[place % 13];
                (format!("h.{}.{name}", place / 13), shape.to_vec(), shape.iter().product::<usize>() * 4)
            })
            .collect();
        let mut model = Self { tensors, file: Vec::new(), asked: Vec::new() };
        model.file = write(&model.views());
        model.asked = (0..10_000).map(|step| step * 7919 % count).collect();
        model
    }

    /// The tensors, for the writer.
    pub(crate) fn views(&self) -> Vec<(&str, TensorView<'_>)> {
        let shape = |shape: &[usize]| shape.iter().map(|dim| *dim as u64).collect::<Vec<_>>();
        let view = |dims: &[usize], len: usize| TensorView::new(Dtype::F32, shape(dims), &ZEROS[..len]).unwrap();
        self.tensors.iter().map(|(name, dims, len)| (name.as_str(), view(dims, *len))).collect()
    }

    /// The name that opening looks up.
    pub(crate) fn middle(&self) -> &str {
        &self.tensors[self.tensors.len() / 2].0
    }
}

/// Parses, checks, and finds one tensor.
pub(crate) fn open(file: &[u8], name: &str) {
    let file = BinTensors::deserialize(black_box(file)).unwrap();
    black_box(file.tensor(name).unwrap());
}

/// Writes a whole file to memory.
pub(crate) fn write(views: &[(&str, TensorView<'_>)]) -> Vec<u8> {
    serialize(views.iter().map(|(name, view)| (*name, view)), &None).unwrap()
}
