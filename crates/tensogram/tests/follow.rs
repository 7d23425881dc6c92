//! Local files from asynchronous code are what they are from any other: followed while they grow, scanned again when they
//! change, with nothing remembered that no longer holds.

use futures_util::StreamExt;
use fw_tensogram::MessageIndex;
use fw_tensogram::*;
use std::future::Future;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn message(number: u64, len: usize) -> Vec<u8> {
    let values = vec![number as u8; len];
    MessageBuilder::new().extra("n", number).tensor(&[len as u64], &values).unwrap().encode().unwrap()
}

fn run(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(work);
}

/// Both ways to read a file must say the same.
struct Both {
    blocking: TensogramFile,
    awaited: AsyncTensogramFile,
}

impl Both {
    async fn open(path: &Path) -> Self {
        Self { blocking: TensogramFile::open(path).unwrap(), awaited: AsyncTensogramFile::open(path).await.unwrap() }
    }

    /// The numbers of the messages, after their metadata, and what their objects hold.
    async fn numbers(&self) -> Vec<u64> {
        let layouts = self.awaited.message_layouts().await.unwrap();
        assert_eq!(layouts.to_vec(), self.blocking.message_layouts().unwrap());
        assert_eq!(self.awaited.message_count().await.unwrap(), layouts.len());
        let mut numbers = Vec::new();
        for index in 0..layouts.len() {
            let number = self.awaited.metadata(index).await.unwrap().extra["n"].as_integer().unwrap() as u64;
            let head = self.awaited.object_head(index, 0).await.unwrap();
            let DecodedObject { descriptor, bytes: data } =
                self.awaited.decode_object(index, 0, &DecodeOptions::default()).await.unwrap();
            assert_eq!((head.descriptor.shape[0], data.len() as u64), (descriptor.shape[0], descriptor.shape[0]));
            assert!(data.iter().all(|byte| u64::from(*byte) == number), "message {number}");
            let from_end = MessageIndex::FromEnd(layouts.len() - 1 - index);
            assert_eq!(self.awaited.message_span(from_end).await.unwrap(), layouts[index]);
            assert_eq!(self.awaited.read_message(index).await.unwrap(), self.blocking.read_message(index).unwrap());
            numbers.push(number);
        }
        numbers
    }
}

#[test]
fn growth_is_followed_and_a_cut_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grow.tgm");
    let writer = TensogramFile::create(&path).unwrap();
    run(async {
        let both = Both::open(&path).await;
        assert!(both.numbers().await.is_empty());
        for count in 1..6u64 {
            writer.append_message(&message(count, 100)).unwrap();
            assert_eq!(both.numbers().await, (1..=count).collect::<Vec<_>>());
        }
        let streamed: Vec<_> = both.awaited.read_messages().map(|bytes| bytes.unwrap()).collect().await;
        assert_eq!(streamed.len(), 5);
        let error = both.awaited.message_span(5usize).await.unwrap_err();
        assert_eq!((error.class(), error.code()), ("Framing", "message_index_out_of_range"), "{error}");
        assert!(error.to_string().contains("grow.tgm has 5"), "{error}");

        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let len = file.metadata().unwrap().len();
        file.set_len(len - 1).unwrap();
        let error = both.awaited.metadata(4usize).await.unwrap_err();
        assert_eq!(error.class(), "Io", "{error}");
        assert!(error.to_string().contains(&format!("had {len} bytes and has {}", len - 1)), "{error}");
        assert_eq!(both.numbers().await, [1, 2, 3, 4]);
    });
}

#[test]
fn what_was_learnt_of_an_old_state_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.tgm");
    std::fs::write(&path, [message(1, 10), message(2, 10)].concat()).unwrap();
    run(async {
        let both = Both::open(&path).await;
        assert_eq!(both.numbers().await, [1, 2]);
        // In place, as long as before; the clock of the file system may be coarse.
        std::thread::sleep(Duration::from_millis(20));
        std::fs::write(&path, [message(3, 10), message(4, 10)].concat()).unwrap();
        assert_eq!(both.numbers().await, [3, 4]);
        // Anew, and longer.
        std::fs::write(&path, [message(5, 5000), message(6, 10), message(7, 10)].concat()).unwrap();
        assert_eq!(both.numbers().await, [5, 6, 7]);
        // By another file of the same name: the one that was opened stays what it is.
        std::fs::write(folder.path().join("new"), message(9, 10)).unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert_eq!(both.numbers().await, [5, 6, 7]);
    });
}

#[test]
fn a_message_inside_one_that_is_being_written_is_no_message_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nested.tgm");
    let (before, inner) = (message(1, 10), message(7, 100));
    let outer = MessageBuilder::new().extra("n", 2).tensor(&[inner.len() as u64], &inner).unwrap().encode().unwrap();
    std::fs::write(&path, &before).unwrap();
    run(async {
        let both = Both::open(&path).await;
        let mut writer = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        let until = memchr::memmem::find(&outer, &inner).unwrap() + inner.len() + 1;
        for piece in [&outer[..30], &outer[30..until], &outer[until..outer.len() - 1]] {
            writer.write_all(piece).unwrap();
            assert_eq!(both.numbers().await, [1]);
        }
        writer.write_all(&outer[outer.len() - 1..]).unwrap();
        assert_eq!(both.awaited.message_count().await.unwrap(), 2);
        assert_eq!(both.awaited.read_message(1usize).await.unwrap(), outer);
    });
}

/// Readers on several threads follow a writer that does not wait for them.
#[test]
fn many_readers_follow_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("busy.tgm");
    let file = Arc::new(TensogramFile::create(&path).unwrap());
    let writer = Arc::clone(&file);
    const COUNT: u64 = 200;
    run(async {
        let awaited = AsyncTensogramFile::open(&path).await.unwrap();
        // And one that shares what a blocking reader knows.
        let shared = AsyncTensogramFile::following(Arc::clone(&file));
        let readers: Vec<_> = [awaited.clone(), awaited, shared.clone(), shared]
            .into_iter()
            .map(|reader| {
                tokio::spawn(async move {
                    let mut seen = 0;
                    while seen < COUNT {
                        let count = reader.message_count().await.unwrap() as u64;
                        assert!(count >= seen, "{count} after {seen}");
                        seen = count;
                        if let Some(last) = count.checked_sub(1) {
                            let metadata = reader.metadata(last as usize).await.unwrap();
                            assert_eq!(metadata.extra["n"].as_integer(), Some(last.into()));
                            let data =
                                reader.decode_object(last as usize, 0, &DecodeOptions::default()).await.unwrap().bytes;
                            assert!(data.iter().all(|byte| *byte == last as u8));
                        }
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        let writing = tokio::task::spawn_blocking(move || {
            for number in 0..COUNT {
                writer.append_message(&message(number, 50 + number as usize % 7)).unwrap();
            }
        });
        writing.await.unwrap();
        for reader in readers {
            reader.await.unwrap();
        }
    });
}
