//! Decoding holds up no other task of the runtime.

use fw_tensogram::decode_stream;
use fw_tensogram::{AsyncTensogramFile, DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, encode};
use fw_tensor::DType;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Wakes up every millisecond, and notes the longest time it was not let to.
struct Heart {
    longest: Arc<Mutex<Duration>>,
    beats: Arc<AtomicU64>,
}

impl Heart {
    fn start() -> Self {
        let (longest, beats) = (Arc::<Mutex<Duration>>::default(), Arc::<AtomicU64>::default());
        let (pause, count) = (Arc::clone(&longest), Arc::clone(&beats));
        tokio::spawn(async move {
            loop {
                let begun = Instant::now();
                tokio::time::sleep(Duration::from_millis(1)).await;
                count.fetch_add(1, Ordering::Relaxed);
                let mut pause = pause.lock().unwrap();
                *pause = pause.max(begun.elapsed());
            }
        });
        Self { longest, beats }
    }

    /// Whether it beat all the while that `work` took.
    async fn beats_during<T>(&self, work: impl Future<Output = T>) -> (bool, Duration, Duration) {
        tokio::time::sleep(Duration::from_millis(5)).await;
        *self.longest.lock().unwrap() = Duration::ZERO;
        let (before, begun) = (self.beats.load(Ordering::Relaxed), Instant::now());
        work.await;
        let took = begun.elapsed();
        // A pause that lasts until now has not been noted.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let (beats, longest) = (self.beats.load(Ordering::Relaxed) - before, *self.longest.lock().unwrap());
        (beats >= 5 && longest * 2 < took, longest, took)
    }
}

#[test]
fn decoding_runs_off_the_runtime() {
    let values: Vec<u8> = (0..2_000_000u32).flat_map(|i| (f64::from(i) * 1e-3).sin().to_ne_bytes()).collect();
    let descriptor = DataObjectDescriptor::new(DType::Float64, &[2_000_000]).unwrap().with_compression("zfp");
    let descriptor = descriptor.with_param("zfp_mode", "fixed_rate").with_param("zfp_rate", 24.0);
    let message = encode(&GlobalMetadata::default(), &[(&descriptor, &values)], &EncodeOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heavy.tgm");
    std::fs::write(&path, &message).unwrap();
    // One thread: work on it stops everything.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let heart = Heart::start();
        let options = DecodeOptions { threads: 1, ..DecodeOptions::default() };
        let file = AsyncTensogramFile::open(&path).await.unwrap();
        for what in ["decode_message", "decode_object", "slice", "decode_stream"] {
            let mut said = String::new();
            // The machine may have had other things to do just then.
            let beat = 'tries: {
                for _ in 0..3 {
                    let (beat, longest, took) = heart
                        .beats_during(async {
                            match what {
                                "decode_message" => drop(file.decode_message(0usize, &options).await.unwrap()),
                                "decode_object" => drop(file.decode_object(0usize, 0, &options).await.unwrap()),
                                "slice" => {
                                    let all = fw_tensor::Selection::new().stepped(.., 2);
                                    drop(file.slice(0usize, 0, &all, &options).await.unwrap());
                                }
                                _ => {
                                    use futures_util::StreamExt;
                                    let whole = Ok(bytes::Bytes::from(message.clone()));
                                    let pieces = futures_util::stream::iter([whole]);
                                    decode_stream(pieces, options.clone()).for_each(|_| std::future::ready(())).await;
                                }
                            }
                        })
                        .await;
                    if beat {
                        break 'tries true;
                    }
                    said = format!("{what} took {took:?}, and other tasks waited for {longest:?} of it");
                }
                false
            };
            assert!(beat, "{said}");
        }
    });
}
