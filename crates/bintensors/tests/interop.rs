//! The published package as a black box: byte equality, one reading, one verdict. Runs when `FW_PYTHON` names a Python
//! interpreter that has `bintensors` 0.2.0 and `numpy`; says loudly that it was skipped otherwise.

mod common;

use common::{Random, vectors};
use fw_bintensors::{
    BinTensors, Dtype, Profile, ReadOptions, Shape, TensorView, WriteOptions, budget_exceeded_at,
    serialize_to_file_with, serialize_with,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// BT-6: ≥ 1 000 random files; the reference reads each and writes the same bytes.
#[test]
fn the_reference_writes_the_same_bytes() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(1);
    let mut batch = Vec::new();
    let count = 1500;
    for _ in 0..count {
        let (tensors, options) = random_file(&mut random);
        let views = tensors.iter().map(|(name, (dtype, shape, data))| {
            (name.as_str(), TensorView::new(*dtype, Shape::from(&shape[..]), data).unwrap())
        });
        let bytes = serialize_with(views, &options).unwrap();
        put_chunk(&mut batch, serde_json::to_string(&options.metadata).unwrap().as_bytes());
        put_chunk(&mut batch, &bytes);
    }
    let answers = run_batch(&python, "rewrite", &batch, folder.path());
    assert_eq!(answers.len(), count);
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer, "same", "file {number}");
    }
}

/// BT-7: on mutated files, verdict, error class and (where accepted) content equal the reference's in `compat`.
#[test]
fn the_reference_gives_the_same_verdict_on_mutations() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let seeds = seeds();
    let mut random = Random::new(2);
    let mut files: Vec<Vec<u8>> = Vec::new();
    let mut batch = Vec::new();
    while files.len() < MUTATIONS {
        let file = mutate(&seeds, &mut random);
        put_chunk(&mut batch, &file);
        files.push(file);
    }
    let answers = run_batch(&python, "verdicts", &batch, folder.path());
    assert_eq!(answers.len(), files.len());
    let options = ReadOptions::new().with_profile(Profile::Compat);
    let mut tally: BTreeMap<String, usize> = BTreeMap::new();
    for (file, answer) in files.iter().zip(&answers) {
        let ours = match BinTensors::deserialize_with(file, &options) {
            Ok(parsed) => format!("ok {}", summary(&parsed)),
            Err(error) => error.class().to_owned(),
        };
        // BT-7.8: the one difference. Where the reference's memory budget stops it, so does ours say, for its own reason.
        if answer == "LimitExceeded" {
            let header = file.get(8..).unwrap_or_default();
            let len = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
            assert!(budget_exceeded_at(&header[..len]).is_some(), "{}", hex(file));
            assert!(!ours.starts_with("ok"), "{}", hex(file));
        } else {
            assert_eq!(&ours, answer, "{}", hex(file));
        }
        *tally.entry(answer.split(' ').next().unwrap_or_default().to_owned()).or_default() += 1;
    }
    println!("verdicts on {} mutations: {tally:?}", files.len());
    assert!(tally.len() >= 10, "too few kinds of verdict to mean anything: {tally:?}");
    assert!(tally["ok"] > MUTATIONS / 100, "too few accepted mutations: {tally:?}");
}

/// Files of the numpy front end, as we read them.
#[test]
fn files_of_the_numpy_front_end_are_read() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    run(&python, &["numpy_files", folder.path().to_str().unwrap(), "60"]);
    for number in 0..60 {
        let bytes = std::fs::read(folder.path().join(format!("{number}.bt"))).unwrap();
        let described: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder.path().join(format!("{number}.json"))).unwrap()).unwrap();
        let canonical = ReadOptions::new().with_profile(Profile::Canonical);
        let file = BinTensors::deserialize_with(&bytes, &canonical).unwrap();
        let tensors = described["tensors"].as_object().unwrap();
        assert_eq!(file.len(), tensors.len());
        for (name, expected) in tensors {
            let view = file.tensor(name).unwrap();
            assert_eq!(view.dtype().common().name(), expected["dtype"].as_str().unwrap());
            assert_eq!(serde_json::to_value(view.shape()).unwrap(), expected["shape"]);
            assert_eq!(hex(view.data()), expected["data"].as_str().unwrap());
        }
        let user = file.metadata().metadata().map(|user| user.to_map());
        assert_eq!(serde_json::to_value(user).unwrap(), described["metadata"]);
    }
}

/// Files of ours, aligned and with carried types, as the numpy front end (and torch's, where installed) reads them.
#[test]
fn our_files_are_read_by_the_front_ends() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(3);
    let count = 60;
    for number in 0..count {
        let (mut tensors, mut options) = random_file(&mut random);
        // The numpy front end cannot load these (a defect of its own).
        tensors.retain(|_, (dtype, ..)| !matches!(dtype, Dtype::BF16 | Dtype::F8_E4M3 | Dtype::F8_E5M2));
        options.metadata = Some([("made".to_owned(), "here".to_owned())].into());
        options.align = fw_bintensors::HeaderAlignment::new(8 << (number % 10)).unwrap();
        let views = tensors.iter().map(|(name, (dtype, shape, data))| {
            (name.as_str(), TensorView::new(*dtype, Shape::from(&shape[..]), data).unwrap())
        });
        serialize_to_file_with(views, &options, folder.path().join(format!("{number}.bt"))).unwrap();
        let described: serde_json::Map<_, _> = tensors
            .iter()
            .map(|(name, (dtype, shape, data))| {
                let value = serde_json::json!({"dtype": dtype.common().name(), "shape": shape, "data": hex(data)});
                (name.clone(), value)
            })
            .collect();
        std::fs::write(folder.path().join(format!("{number}.json")), serde_json::to_vec(&described).unwrap()).unwrap();
    }
    let out = run(&python, &["numpy_load", folder.path().to_str().unwrap(), &count.to_string()]);
    match out.trim() {
        "same" => {}
        "same, without torch" => drop(skip("torch is not installed: its front end did not read our files")),
        other => panic!("{other}"),
    }
}

const MUTATIONS: usize = 40_000;

type Tensors = BTreeMap<String, (Dtype, Vec<u64>, Vec<u8>)>;

fn random_file(random: &mut Random) -> (Tensors, WriteOptions) {
    let mut tensors = Tensors::new();
    for _ in 0..random.below(8) {
        let dtype = Dtype::ALL[random.below(15) as usize];
        let shape: Vec<u64> =
            (0..random.below(5)).map(|_| random.below(6) * if random.chance(12) { 60 } else { 1 }).collect();
        let len = shape.iter().product::<u64>() * dtype.size();
        if len > 40_000 {
            continue;
        }
        let data = (0..len).map(|_| if dtype == Dtype::BOOL { random.below(2) as u8 } else { random.next() as u8 });
        let data = data.collect();
        tensors.insert(random_text(random), (dtype, shape, data));
    }
    let mut options = WriteOptions::new();
    if random.chance(2) {
        options.metadata = Some((0..random.below(6)).map(|_| (random_text(random), random_text(random))).collect());
    }
    (tensors, options)
}

fn random_text(random: &mut Random) -> String {
    let alphabet = ['a', 'b', '.', '_', '0', '\0', '\n', '"', '\u{e9}', '\u{ffff}', '\u{10000}', '\u{1f30e}'];
    let len = if random.chance(20) { random.below(400) } else { random.below(12) };
    (0..len).map(|_| alphabet[random.below(alphabet.len() as u64) as usize]).collect()
}

/// Small files of the manifest: they are what mutations begin from.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for folder in ["valid", "noncanonical"] {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(vectors().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        seeds.extend(paths.iter().map(|path| std::fs::read(path).unwrap()).filter(|bytes| bytes.len() < 700));
    }
    assert!(seeds.len() > 30);
    seeds
}

/// One to three changes, mostly inside the header, where they matter.
fn mutate(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut file = seeds[random.below(seeds.len() as u64) as usize].clone();
    for _ in 0..1 + random.below(3) {
        let header_len = u64::from_le_bytes(file.get(..8).map_or([0; 8], |size| size.try_into().unwrap()));
        let end = header_len.saturating_add(8).min(file.len() as u64);
        let place =
            (if random.chance(8) { random.below(file.len() as u64) } else { 8 + random.below(end.saturating_sub(8)) })
                as usize;
        if place >= file.len() {
            continue;
        }
        match random.below(9) {
            0 => file[place] = random.next() as u8,
            1 => file[place] ^= 1 << random.below(8),
            2 => file[place] = [0, 1, 2, 15, 250, 251, 252, 253, 254, 255][random.below(10) as usize],
            3 => file[place] = file[place].wrapping_add(1),
            4 => _ = file.remove(place),
            5 => file.insert(place, random.next() as u8),
            6 => file.truncate(place),
            7 => {
                // A removed or doubled byte with a size field that agrees again.
                if random.chance(2) {
                    _ = file.remove(place);
                } else {
                    file.insert(place, file[place]);
                }
                let changed =
                    header_len.wrapping_add(if file.len() > place { 1 } else { 0 }).wrapping_sub(random.below(3));
                if let Some(size) = file.get_mut(..8) {
                    size.copy_from_slice(&changed.to_le_bytes());
                }
            }
            _ => {
                let other = &seeds[random.below(seeds.len() as u64) as usize];
                let from = random.below(other.len() as u64) as usize;
                let len = random.below(12).min((other.len() - from) as u64).min((file.len() - place) as u64) as usize;
                file[place..place + len].copy_from_slice(&other[from..from + len]);
            }
        }
    }
    file
}

/// The same digest as `summary` in reference.py.
fn summary(file: &BinTensors<'_>) -> String {
    let mut tensors = file.tensors();
    tensors.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    let mut digest = Sha256::new();
    for (name, view) in tensors {
        digest.update(name);
        digest.update([0]);
        digest.update(view.dtype().name());
        digest.update([0]);
        digest.update(format!("{:?}", view.shape()));
        digest.update([0]);
        digest.update(Sha256::digest(view.data()));
    }
    hex(&digest.finalize())
}

fn put_chunk(batch: &mut Vec<u8>, bytes: &[u8]) {
    batch.extend((bytes.len() as u32).to_le_bytes());
    batch.extend(bytes);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn python() -> Option<PathBuf> {
    let wanted = "an interpreter with bintensors==0.2.0 and numpy";
    let Some(found) = std::env::var_os("FW_PYTHON").map(PathBuf::from) else {
        return skip(&format!("FW_PYTHON does not name {wanted}"));
    };
    let imports = Command::new(&found).args(["-c", "import bintensors, numpy"]).output();
    if imports.is_ok_and(|output| output.status.success()) {
        return Some(found);
    }
    skip(&format!("{} is not {wanted}", found.display()))
}

/// Says so on the terminal, and in the file that the project's test command gathers skips from.
fn skip(why: &str) -> Option<PathBuf> {
    let line = format!("SKIPPED: {}: {why}", module_path!());
    eprintln!("{line}");
    if let Some(log) = std::env::var_os("FW_SKIPPED") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
        std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).unwrap();
    }
    None
}

fn run(python: &Path, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/reference.py");
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn run_batch(python: &Path, command: &str, batch: &[u8], folder: &Path) -> Vec<String> {
    let (input, answers) = (folder.join("batch"), folder.join("answers"));
    std::fs::write(&input, batch).unwrap();
    run(python, &[command, input.to_str().unwrap(), answers.to_str().unwrap()]);
    std::fs::read_to_string(answers).unwrap().lines().map(str::to_owned).collect()
}
