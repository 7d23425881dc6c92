//! Golden BinTensors files.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use fw_bintensors::{
    Algorithm, BinTensors, Dtype, Profile, ReadOptions, Shape, TensorView, View, WriteOptions, serialize_with,
};

use super::Golden;

/// Every golden file.
pub fn all() -> Vec<Golden> {
    let golden = |path, tensors: &[Tensor], metadata: Option<&[(&str, &str)]>| {
        let mut options = WriteOptions::new();
        options.metadata = metadata.map(text_map);
        let views = tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.view()));
        Golden { path, bytes: serialize_with(views, &options).expect("golden files serialise") }
    };
    let every_dtype: Vec<Tensor> =
        Dtype::ALL.into_iter().map(|dtype| Tensor::new(&dtype.name().to_lowercase(), dtype, &[3])).collect();
    let shapes = [
        Tensor::new("scalar", Dtype::F32, &[]),
        Tensor::new("empty", Dtype::I16, &[2, 0, 3]),
        Tensor::new("four", Dtype::U8, &[1, 2, 3, 4]),
        Tensor::new("wide", Dtype::U8, &[251]),
    ];
    let names = ["b", "a", "B", "é", "日本語", "a.b", "a.10", "a.2"].map(|name| Tensor::new(name, Dtype::U16, &[1]));
    let digested = WriteOptions::new().with_metadata(text_map(&[("bt.dtype/scales", "F8_E8M0"), ("format", "pt")]));
    let digested = digested.with_tensor_digests(Algorithm::Sha256);
    let tensors = [Tensor::new("scales", Dtype::U8, &[4]), Tensor::new("w\n%", Dtype::BF16, &[2, 3])];
    let views = tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.view()));
    let bytes = serialize_with(views, &digested).expect("golden files serialise");
    vec![
        Golden { path: "bintensors/digests.bt", bytes },
        golden("bintensors/nothing.bt", &[], None),
        golden("bintensors/metadata.bt", &[], Some(&[("format", "pt"), ("note", "é日"), ("", "")])),
        golden("bintensors/every-dtype.bt", &every_dtype, None),
        golden("bintensors/shapes.bt", &shapes, None),
        golden("bintensors/names.bt", &names, Some(&[("k", "v")])),
    ]
}

/// Whether a file reads in the strictest profile and comes out the same when written again.
///
/// # Errors
/// It does not.
pub fn read(bytes: &[u8]) -> Result<()> {
    let file = BinTensors::deserialize_with(bytes, &ReadOptions::new().with_profile(Profile::Canonical))?;
    let mut options = WriteOptions::new();
    options.metadata = file.metadata().metadata().map(|user| user.to_map());
    ensure!(serialize_with(file.tensors(), &options)? == bytes, "written again, it has other bytes");
    Ok(())
}

struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<u64>,
    data: Vec<u8>,
}

impl Tensor {
    fn new(name: &str, dtype: Dtype, shape: &[u64]) -> Self {
        let len = shape.iter().product::<u64>() * dtype.size();
        let largest = if dtype == Dtype::BOOL { 2 } else { 59 };
        let data = (0..len).map(|index| (index * 7 % largest) as u8).collect();
        Self { name: name.to_owned(), dtype, shape: shape.to_vec(), data }
    }

    fn view(&self) -> impl View {
        TensorView::new(self.dtype, Shape::from(self.shape.as_slice()), &self.data).expect("the data fits the shape")
    }
}

fn text_map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
