//! Checkpoints made by hand: opcodes, storages and the zip around them.

use std::io::Write;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Opcodes on their way, protocol 2.
#[derive(Clone)]
pub(crate) struct Pickle(pub(crate) Vec<u8>);

impl Pickle {
    pub(crate) fn new() -> Self {
        Self(b"\x80\x02".to_vec())
    }

    pub(crate) fn op(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend(bytes);
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.op(b"X").op(&(text.len() as u32).to_le_bytes()).op(text.as_bytes())
    }

    pub(crate) fn int(&mut self, number: u64) -> &mut Self {
        self.op(&[0x8a, 9]).op(&number.to_le_bytes()).op(&[0])
    }

    pub(crate) fn tuple(&mut self, numbers: &[u64]) -> &mut Self {
        self.op(b"(");
        for number in numbers {
            self.int(*number);
        }
        self.op(b"t")
    }

    /// `("storage", torch.<kind>, key, "cpu", count)`, handed to the reader of storages.
    pub(crate) fn storage(&mut self, kind: &str, key: &str, count: u64) -> &mut Self {
        self.op(b"(").text("storage").op(format!("ctorch\n{kind}\n").as_bytes());
        self.text(key).text("cpu").int(count).op(b"tQ")
    }

    /// A tensor on a storage of its own type.
    pub(crate) fn tensor(
        &mut self,
        (kind, key, count): (&str, &str, u64),
        offset: u64,
        shape: &[u64],
        strides: &[u64],
    ) -> &mut Self {
        self.op(b"ctorch._utils\n_rebuild_tensor_v2\n(").storage(kind, key, count).int(offset);
        self.tuple(shape).tuple(strides).op(b"\x89ccollections\nOrderedDict\n)RtR")
    }

    pub(crate) fn end(&mut self) -> Vec<u8> {
        self.op(b".").0.clone()
    }
}

/// An archive of entries: stored, or as they say.
pub(crate) fn archive(entries: &[(&str, &[u8])], large: bool) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let method = if name.ends_with(".deflated") { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .large_file(large)
            .last_modified_time(zip::DateTime::default());
        zip.start_file(name.strip_suffix(".deflated").unwrap_or(name), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A checkpoint with one pickle and some storages.
pub(crate) fn checkpoint(pickle: &[u8], storages: &[(&str, &[u8])]) -> Vec<u8> {
    let names: Vec<String> = storages.iter().map(|(key, _)| format!("m/data/{key}")).collect();
    let mut entries = vec![("m/data.pkl", pickle)];
    entries.extend(names.iter().zip(storages).map(|(name, (_, bytes))| (name.as_str(), *bytes)));
    entries.push(("m/version", b"3\n"));
    archive(&entries, false)
}

/// `{"w": a matrix by columns, "v": part of it, "n": {"epoch": 7, "name": "tiny", "list": [1.5, None]}}`
pub(crate) fn sample() -> Vec<u8> {
    let data: Vec<u8> = (0..24u32).flat_map(|number| (number as f32).to_le_bytes()).collect();
    let mut pickle = Pickle::new();
    pickle.op(b"}q\x00(").text("w").tensor(("FloatStorage", "0", 24), 0, &[4, 6], &[1, 4]);
    pickle.text("v").tensor(("FloatStorage", "0", 24), 2, &[3], &[1]).text("n").op(b"}(");
    pickle.text("epoch").op(b"K\x07").text("name").text("tiny").text("list").op(b"](G\x3f\xf8\0\0\0\0\0\0Neu");
    let pickle = pickle.op(b"u").end();
    checkpoint(&pickle, &[("0", &data)])
}
