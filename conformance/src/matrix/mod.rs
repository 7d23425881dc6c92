//! Generated code in every language against the vectors and against each other.
//!
//! For each language and each group of vectors, an [`Adapter`] writes and builds a program that holds the group's messages
//! as literals of that language. The program encodes them; what it writes must be the bytes of the vectors. It then
//! decodes what every other language wrote, through every reader, and compares with its literals. Last it is fed
//! damaged frames, and frames around payloads that lie, and must find in them what our own runtime finds, and make of them
//! what the dynamic codec makes. One more group is the schema made to hurt, with random values.
//!
//! What the reference package generates takes part as peers: they read and are read by our languages and the vectors, but
//! not by each other, and are spared the damaged frames. Their known defects are exceptions by number; an exception that
//! nothing needed is a failure.
//!
//! - `suite` a group of vectors as cases, and the damaged frames made from them
//! - `program` the programs' common command line
//! - `table` who read whom, as a table
//! - `reference` the reference package's languages
//! - one file per language of ours

mod c;
mod cpp;
mod csharp;
mod program;
mod python;
mod reference;
mod rust;
mod script;
mod suite;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};
use fw_codegen::Lang;

pub use program::{Findings, Program};
pub use suite::{Case, Suite};
pub use table::Table;

/// A language in the matrix: how a program for one suite is made.
pub trait Adapter: Sync {
    /// Its name in the table.
    fn name(&self) -> &'static str;

    /// Why it cannot run on this machine; `None` when it can. Names what to install.
    fn missing(&self) -> Option<String>;

    /// Writes the program into the empty `folder`, builds it, and returns the command that starts it.
    ///
    /// # Errors
    /// When generated code does not build: the compiler's words.
    fn build(&self, suite: &Suite, folder: &Path) -> Result<Vec<OsString>>;

    /// True for a peer from elsewhere: it is not read by other peers, and not fed damaged frames.
    fn is_peer(&self) -> bool {
        false
    }

    /// Why a peer cannot be built for a suite at all; only for known defects. Building must then fail.
    fn unusable(&self, _suite: &Suite) -> Option<String> {
        None
    }

    /// A case that this adapter cannot take part in, with the reason; only for peers with known defects.
    fn exception(&self, _suite: &Suite, _case: &Case) -> Option<String> {
        None
    }
}

/// Every language of the generators' table, and the peers.
pub fn adapters() -> Vec<Box<dyn Adapter>> {
    let mut adapters: Vec<Box<dyn Adapter>> = Lang::ALL.iter().flat_map(|lang| adapters_of(*lang)).collect();
    adapters.extend(peers());
    adapters
}

/// How the code of a language is built and run; dissectors and documents have nothing to run.
fn adapters_of(lang: Lang) -> Vec<Box<dyn Adapter>> {
    match lang {
        Lang::Rust => vec![Box::new(rust::Rust::default())],
        Lang::C => vec![Box::new(c::C::PACKED), Box::new(c::C::ALIGNED), Box::new(c::C::BIG_ENDIAN)],
        Lang::Cpp => vec![Box::new(cpp::Cpp)],
        Lang::Python => vec![Box::new(python::Python)],
        Lang::TypeScript => vec![Box::new(script::TypeScript)],
        Lang::JavaScript => vec![Box::new(script::JavaScript)],
        Lang::CSharp => vec![Box::new(csharp::CSharp)],
        Lang::GraphQl | Lang::Wireshark | Lang::Markdown => Vec::new(),
    }
}

/// What the reference package generates.
fn peers() -> Vec<Box<dyn Adapter>> {
    vec![
        Box::new(reference::Reference::Python),
        Box::new(reference::Reference::JavaScript),
        Box::new(reference::Reference::TypeScript),
        Box::new(reference::Reference::C),
        Box::new(reference::Reference::Cpp),
        Box::new(reference::Reference::Rust),
    ]
}

/// What came out.
pub struct Outcome {
    /// Who read whom.
    pub table: Table,
    /// Checks that held.
    pub passed: usize,
    /// Checks that did not, each with what was found.
    pub failures: Vec<String>,
    /// Languages that could not run here, and exceptions of peers.
    pub skipped: Vec<String>,
}

/// Runs the matrix over every group of vectors below `vectors`; programs are made below `work`.
///
/// # Errors
/// When the vectors cannot be read, or nothing is there to run.
pub fn run(vectors: &Path, work: &Path, only: &[String]) -> Result<Outcome> {
    let mut suites = suite::load(vectors)?;
    ensure!(!suites.is_empty(), "no struct-frame vectors below {}", vectors.display());
    suites.push(suite::torture(&Path::new(env!("CARGO_MANIFEST_DIR")).join(TORTURE))?);
    let mut outcome = Outcome { table: Table::default(), passed: 0, failures: Vec::new(), skipped: Vec::new() };
    let mut adapters = adapters();
    if !only.is_empty() {
        let chosen = chosen(only, &adapters)?;
        adapters.retain(|adapter| chosen.contains(adapter.name()));
    }
    adapters.retain(|adapter| match adapter.missing() {
        Some(reason) => {
            outcome.skipped.push(format!("matrix: {}: {reason}", adapter.name()));
            false
        }
        None => true,
    });

    adapters.iter().filter(|adapter| adapter.is_peer()).for_each(|adapter| outcome.table.peer(adapter.name()));
    let built = build_all(&adapters, &suites, work, &mut outcome);
    for (at, suite) in suites.iter().enumerate() {
        run_suite(suite, at, &adapters, &built, work, &mut outcome).with_context(|| format!("group {}", suite.name))?;
    }
    Ok(outcome)
}

/// The names of the adapters that `--lang` asked for: their own, or any word for a language.
fn chosen(only: &[String], adapters: &[Box<dyn Adapter>]) -> Result<BTreeSet<&'static str>> {
    let name_of = |word: &String| {
        let word: &str = word.parse().map_or(word, |lang: Lang| lang.name());
        let names = adapters.iter().map(|adapter| adapter.name());
        names.clone().find(|name| *name == word).with_context(|| {
            format!("unknown language `{word}`: the matrix has {}", names.collect::<Vec<_>>().join(", "))
        })
    };
    only.iter().map(name_of).collect()
}

/// Every trap for a generator that we know of.
const TORTURE: &str = "../crates/codegen/tests/schemas/torture.sf";

type Built = BTreeMap<(usize, usize), Program>;

/// A frame per case, or a refusal.
type Frames = Vec<Option<Vec<u8>>>;

/// A verdict per case.
type Verdicts = Vec<Result<(), String>>;

/// Compilers run side by side, one per processor.
fn build_all(adapters: &[Box<dyn Adapter>], suites: &[Suite], work: &Path, outcome: &mut Outcome) -> Built {
    let asked = |&(language, suite): &(usize, usize)| !adapters[language].is_peer() || suites[suite].peers;
    let jobs = (0..adapters.len()).flat_map(|language| (0..suites.len()).map(move |suite| (language, suite)));
    let jobs: Vec<(usize, usize)> = jobs.filter(asked).collect();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(&(language, suite)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (adapter, of) = (&adapters[language], &suites[suite]);
                    let folder = work.join(adapter.name()).join(&of.name);
                    let made = empty(&folder).and_then(|()| adapter.build(of, &folder));
                    results.lock().expect("no worker panics with the lock").push(((language, suite), folder, made));
                }
            });
        }
    });
    let mut built = Built::new();
    for ((language, suite), folder, made) in results.into_inner().expect("all workers are done") {
        let who = format!("{} {}", adapters[language].name(), suites[suite].name);
        match (made, adapters[language].unusable(&suites[suite])) {
            (Err(_), Some(reason)) => outcome.skipped.push(format!("matrix: {who}: all: {reason}")),
            (Ok(_), Some(reason)) => outcome.failures.push(format!("{who}: not needed: the exception {reason}")),
            (Ok(command), None) => drop(built.insert((language, suite), Program { command, folder })),
            (Err(error), None) => outcome.failures.push(format!("{who}: {error:#}")),
        }
    }
    built
}

fn run_suite(
    suite: &Suite,
    at: usize,
    adapters: &[Box<dyn Adapter>],
    built: &Built,
    work: &Path,
    outcome: &mut Outcome,
) -> Result<()> {
    let folder = work.join("exchange").join(&suite.name);
    empty(&folder)?;
    let hostile = folder.join("hostile.bin");
    fs::write(&hostile, suite.hostile_records())?;

    // What everyone writes; the vectors themselves are one more writer.
    let expected: Frames = suite.cases.iter().map(|case| case.frame.clone()).collect();
    let mut written = vec![Written { name: "vectors", peer: false, records: expected.clone() }];
    let mut needed = BTreeSet::new();
    for (language, adapter) in adapters.iter().enumerate() {
        let Some(program) = built.get(&(language, at)) else { continue };
        match program.encode(&folder.join(format!("{}.bin", adapter.name())), suite.cases.len()) {
            Ok(mut records) => {
                let mut good = 0;
                for (at, (case, expected)) in suite.cases.iter().zip(&expected).enumerate() {
                    let record = &mut records[at];
                    if record == expected {
                        good += 1;
                    } else if adapter.exception(suite, case).is_some() {
                        needed.insert((language, at));
                        *record = None; // nobody is asked to read it
                    } else {
                        let what = suite::difference(expected.as_deref(), record.as_deref());
                        outcome.failures.push(format!("{} encodes {}/{}: {what}", adapter.name(), suite.name, case.id));
                    }
                }
                outcome.passed += good;
                outcome.table.add(adapter.name(), "vectors", good, suite.cases.len());
                written.push(Written { name: adapter.name(), peer: adapter.is_peer(), records });
            }
            Err(error) => outcome.failures.push(format!("{} encodes {}: {error:#}", adapter.name(), suite.name)),
        }
    }

    for (language, adapter) in adapters.iter().enumerate() {
        let Some(program) = built.get(&(language, at)) else { continue };
        let failed = read_all(suite, adapter.as_ref(), program, &written, &folder, outcome)?;
        needed.extend(failed.into_iter().map(|case| (language, case)));
        tell_exceptions(suite, adapter.as_ref(), |case| needed.contains(&(language, case)), outcome);
        if adapter.is_peer() {
            continue;
        }
        match program.hostile(&hostile) {
            Ok(found) if found == suite.hostile_expected() => outcome.passed += 1,
            Ok(found) => outcome.failures.push(format!(
                "{} finds {found:?} in the damaged frames of {}, expected {:?}",
                adapter.name(),
                suite.name,
                suite.hostile_expected()
            )),
            Err(error) => outcome.failures.push(format!("{} damaged {}: {error:#}", adapter.name(), suite.name)),
        }
    }
    Ok(())
}

/// What one writer wrote; cases that it is excepted from are as if refused.
struct Written<'a> {
    name: &'a str,
    peer: bool,
    records: Frames,
}

/// Exceptions that were needed, by reason; one that was not is a failure.
fn tell_exceptions(suite: &Suite, adapter: &dyn Adapter, needed: impl Fn(usize) -> bool, outcome: &mut Outcome) {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (at, case) in suite.cases.iter().enumerate() {
        let Some(reason) = adapter.exception(suite, case) else { continue };
        if needed(at) {
            *reasons.entry(reason).or_default() += 1;
        } else {
            let (who, group) = (adapter.name(), &suite.name);
            outcome.failures.push(format!("{who} {group}/{}: not needed: the exception {reason}", case.id));
        }
    }
    for (reason, count) in reasons {
        outcome.skipped.push(format!("matrix: {} {}: {count} frames: {reason}", adapter.name(), suite.name));
    }
}

/// One reader against every writer; gives the places of the cases that failed where that was expected. Writers that wrote
/// the same bytes are read once.
fn read_all(
    suite: &Suite,
    adapter: &dyn Adapter,
    program: &Program,
    written: &[Written<'_>],
    folder: &Path,
    outcome: &mut Outcome,
) -> Result<BTreeSet<usize>> {
    let mut verdicts: Vec<(&Frames, Verdicts)> = Vec::new();
    let (mut reported, mut failed) = (BTreeSet::new(), BTreeSet::new());
    for Written { name: writer, peer, records } in written {
        if *peer && adapter.is_peer() {
            continue;
        }
        let known = verdicts.iter().position(|(bytes, _)| *bytes == records);
        let at = match known {
            Some(at) => at,
            None => {
                let path: PathBuf = folder.join(format!("{writer}-for-{}.bin", adapter.name()));
                fs::write(&path, program::records(records))?;
                let verdict = match program.decode(&path, suite.cases.len()) {
                    Ok(verdict) => verdict,
                    Err(error) => {
                        let who = adapter.name();
                        outcome.failures.push(format!("{who} decodes {writer}'s {}: {error:#}", suite.name));
                        continue;
                    }
                };
                verdicts.push((records, verdict));
                verdicts.len() - 1
            }
        };
        let mut good = 0;
        for (place, (case, verdict)) in suite.cases.iter().zip(&verdicts[at].1).enumerate() {
            match verdict {
                // Left out by a writer with an exception: not read, so not counted as good.
                Ok(()) if records[place].is_none() && case.frame.is_some() => {}
                Ok(()) => good += 1,
                Err(_) if adapter.exception(suite, case).is_some() => drop(failed.insert(place)),
                Err(why) => {
                    // The same bytes fail the same way for every writer: once is enough.
                    if reported.insert((at, case.id.clone())) {
                        let who = adapter.name();
                        outcome.failures.push(format!("{who} decodes {writer}'s {}/{}: {why}", suite.name, case.id));
                    }
                }
            }
        }
        outcome.passed += good;
        outcome.table.add(writer, adapter.name(), good, suite.cases.len());
    }
    Ok(failed)
}

fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fw_codegen::LangKind;

    #[test]
    fn every_language_with_code_is_in_the_matrix_under_its_name() {
        for &lang in Lang::ALL {
            let names: Vec<&str> = adapters_of(lang).iter().map(|adapter| adapter.name()).collect();
            assert_eq!(names.contains(&lang.name()), lang.kind() == LangKind::Code, "{lang}: {names:?}");
        }
    }

    #[test]
    fn a_language_is_chosen_by_any_of_its_words() {
        let choose = |word: &str| chosen(&[word.to_owned()], &adapters());
        assert_eq!(choose("typescript").unwrap(), BTreeSet::from(["ts"]));
        assert_eq!(choose("c-aligned").unwrap(), BTreeSet::from(["c-aligned"]));
        assert!(choose("markdown").unwrap_err().to_string().contains("the matrix has rust, c, "));
    }
}
