//! Files far away, through the library: few requests and rounds, whatever the format.

mod gguf {
    pub(crate) mod maker;
}

use fw_bintensors::ReadOptions;
use fw_bytes::Span;
use fw_convert::{ConvertOptions, Format, TensorFile, convert, open};
use fw_source::ReadAt;
use fw_source::plan::{Cost, plan, split};
use fw_tensogram::MessageBuilder;
use fw_tensor::Selection;
use gguf::maker::Maker;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a source was asked for.
#[derive(Default)]
struct Asked {
    /// Times that a reader waited.
    rounds: AtomicU64,
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Asked {
    /// Requests and bytes since the last call.
    fn taken(&self) -> (u64, u64) {
        (self.requests.swap(0, Ordering::Relaxed), self.bytes.swap(0, Ordering::Relaxed))
    }
}

/// Bytes behind a network: requests are counted as a store sends them.
struct Far {
    bytes: Vec<u8>,
    asked: Arc<Asked>,
}

impl ReadAt for Far {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.asked.rounds.fetch_add(1, Ordering::Relaxed);
        self.request(offset, buffer)
    }

    fn cost(&self) -> Cost {
        Cost::new(Duration::from_millis(50), 32 << 20, 8)
    }

    fn read_many(&self, spans: &[Span]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        self.asked.rounds.fetch_add(1, Ordering::Relaxed);
        let read = |span: &Span| {
            let mut bytes = vec![0; span.len() as usize];
            self.request(span.start, &mut bytes)?;
            Ok((span.start, bytes))
        };
        plan(spans, &self.cost()).iter().map(read).collect()
    }
}

impl Far {
    fn request(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let span = Span::new(offset, offset + buffer.len() as u64);
        self.asked.requests.fetch_add(split(span, &self.cost()).count() as u64, Ordering::Relaxed);
        self.asked.bytes.fetch_add(span.len(), Ordering::Relaxed);
        self.bytes[..].read_exact_at(offset, buffer)
    }
}

/// A file of this machine as one far away.
fn far(path: &Path) -> (Box<dyn TensorFile>, Arc<Asked>) {
    let (bytes, asked) = (std::fs::read(path).unwrap(), Arc::<Asked>::default());
    let format = Format::of_bytes(&bytes).or_else(|| Format::of_name(path)).unwrap();
    let source = Far { bytes, asked: Arc::clone(&asked) };
    (format.open_source(source, path.to_str().unwrap(), &ReadOptions::default()).unwrap(), asked)
}

#[test]
fn a_column_of_4096_rows_costs_at_most_20_requests() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let values: Vec<f32> = (0..4096 * 1024u32).map(|number| number as f32).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let field = MessageBuilder::new().tensor(&[4096, 1024], &values).unwrap().base("name", "field");
    std::fs::write(at("f.tgm"), field.encode().unwrap()).unwrap();
    for to in ["f.bt", "f.safetensors", "f.npy", "f.npz"] {
        convert(at("f.tgm"), at(to), &ConvertOptions::new()).unwrap();
    }
    for (name, big) in [("little.gguf", false), ("big.gguf", true)] {
        let mut maker = Maker::new(big, 3, 32);
        let swapped: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        maker.tensor("field", &[1024, 4096], 0, if big { &swapped } else { &bytes });
        std::fs::write(at(name), maker.build()).unwrap();
    }
    let column = Selection::new().axis(..).axis(70..71);
    let expected: Vec<u8> = values.iter().skip(70).step_by(1024).flat_map(|value| value.to_le_bytes()).collect();
    for name in ["f.tgm", "f.bt", "f.safetensors", "f.npy", "f.npz", "little.gguf", "big.gguf"] {
        let (file, asked) = far(&at(name));
        let (requests, read) = asked.taken();
        assert!(requests <= 8 && read < 1 << 20, "{name}: {requests} requests and {read} bytes to open it");
        assert_eq!(file.slice(0, &column).unwrap(), (vec![4096, 1], expected.clone()), "{name}");
        let (requests, _) = asked.taken();
        assert!(requests <= 20, "{name}: {requests} requests for a column");
        // All of it: side by side, and once.
        assert_eq!(file.data(0).unwrap(), bytes, "{name}");
        let (requests, read) = asked.taken();
        assert!(requests <= 12 && read <= bytes.len() as u64 + (64 << 10), "{name}: {requests} requests, {read} bytes");
    }
}

/// Blocks are read as rows are: those that hold elements of the column, by one plan.
#[test]
fn a_column_of_quantised_blocks_costs_at_most_20_requests() {
    let folder = tempfile::tempdir().unwrap();
    for (code, len, big) in [(8, 34, false), (8, 34, true), (2, 18, false)] {
        let mut state = 7u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        // A scale of 0.5 to 1, then numbers.
        let block = |_| {
            let (scale, mut block) = ([random(), 0x38], vec![0; len]);
            block.iter_mut().for_each(|byte| *byte = random());
            block[..2].copy_from_slice(&if big { [scale[1], scale[0]] } else { scale });
            block
        };
        let data: Vec<u8> = (0..4096 * 32).flat_map(block).collect();
        let mut maker = Maker::new(big, 3, 32);
        maker.tensor("w", &[1024, 4096], code, &data);
        let path = folder.path().join("w.gguf");
        std::fs::write(&path, maker.build()).unwrap();
        let (file, asked) = far(&path);
        let whole = file.data(0).unwrap();
        assert_eq!(whole.len(), 4096 * 1024 * 4);
        let (requests, _) = asked.taken();
        assert!(requests <= 12, "{requests} requests for all of it");
        for selection in [
            Selection::new().axis(..).axis(70..71),
            Selection::new().axis(5).axis(31..97),
            Selection::new().stepped(..10, -3).stepped(.., 300),
            Selection::new().axis(4000..4001),
        ] {
            let plan = selection.plan(&[4096, 1024]).unwrap();
            let runs = plan.runs().map(|run| run.start as usize * 4..run.end as usize * 4);
            let expected: Vec<u8> = runs.flat_map(|run| whole[run].to_vec()).collect();
            assert_eq!(file.slice(0, &selection).unwrap(), (plan.shape().to_vec(), expected), "{selection:?}");
            let (requests, _) = asked.taken();
            assert!(requests <= 20, "{requests} requests for {selection:?}");
        }
        let window = Selection::new().axis(1000..1016).axis(64..80);
        file.slice(0, &window).unwrap();
        let (requests, read) = asked.taken();
        assert!(requests <= 16 && read < 32 << 10, "{requests} requests and {read} bytes for a window");
    }
}

fn same(far: &dyn TensorFile, near: &dyn TensorFile) {
    assert_eq!(far.entries(), near.entries());
    assert_eq!((far.metadata(), far.json_keys()), (near.metadata(), near.json_keys()));
    assert_eq!(far.remarks(), near.remarks());
}

#[test]
fn files_of_500_messages_open_with_at_most_40_requests() {
    let folder = tempfile::tempdir().unwrap();
    for irregular in [0, 1] {
        let message = |number: usize| {
            let values: Vec<f32> =
                (0..17_500 + irregular * (number * 7919 % 503)).map(|i| (number + i) as f32).collect();
            let shape = [values.len() as u64];
            let message = MessageBuilder::new().extra("number", number as u64).tensor(&shape, &values);
            message.unwrap().base("name", format!("step {number}")).encode().unwrap()
        };
        let path = folder.path().join("many.tgm");
        std::fs::write(&path, (0..500).flat_map(message).collect::<Vec<u8>>()).unwrap();
        let (file, asked) = far(&path);
        let (requests, _) = asked.taken();
        assert!(requests <= 40, "{requests} requests for 500 messages");
        let near = open(&path).unwrap();
        same(&*file, &*near);
        assert_eq!(file.data(321).unwrap(), near.data(321).unwrap());
    }
}

/// A file above what is read whole: messages are found from both ends, and described many at a time.
#[test]
fn large_messages_are_described_together() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<f32> = (0..700_000).map(|number| number as f32).collect();
    let one = MessageBuilder::new().tensor(&[700_000], &values).unwrap().base("name", "t").encode().unwrap();
    let path = folder.path().join("large.tgm");
    std::fs::write(&path, one.repeat(40)).unwrap();
    let (file, asked) = far(&path);
    let (requests, read) = asked.taken();
    assert_eq!(file.entries().len(), 40);
    // Three ranges a message, far apart: its end for the scan, its head and its end for what it says.
    assert!(requests <= 3 * 40 + 8 && read < 4 << 20, "{requests} requests and {read} bytes for 40 messages");
    let rounds = asked.rounds.swap(0, Ordering::Relaxed);
    // A round of the scan finds one from each end; then all of them are described together.
    assert!(rounds <= 40 / 2 + 4, "{rounds} rounds for 40 messages");
    same(&*file, &*open(&path).unwrap());
    assert_eq!(file.data(17).unwrap().len(), 2_800_000);
    let (requests, read) = asked.taken();
    assert!(requests <= 2 && read < 2_801_000, "{requests} requests and {read} bytes: digest and data in one go");
}

#[test]
fn a_message_of_10_000_objects_opens_with_at_most_8_requests() {
    let values: Vec<[u32; 4]> = (0..10_000).map(|number| [number, 1, 2, 3]).collect();
    let mut builder = MessageBuilder::new();
    for (number, four) in values.iter().enumerate() {
        builder = builder.tensor(&[4], four).unwrap().base("name", format!("object {number}"));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.tgm");
    std::fs::write(&path, builder.encode().unwrap()).unwrap();
    let (file, asked) = far(&path);
    let (requests, read) = asked.taken();
    assert!(requests <= 8, "{requests} requests and {read} bytes");
    same(&*file, &*open(&path).unwrap());
}
