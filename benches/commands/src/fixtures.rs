//! Files to measure on, written by our encoder; the reference reads them too.

use fw_tensogram::{MessageBuilder, Pipe, Value};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file to measure on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fixture {
    /// A forecast of 20 000 small messages: eight parameters, a step for every eighth message.
    Small,
    /// 500 fields of one degree, packed to 16 bits and compressed by szip; the step counts up.
    Packed,
    /// One message of a GiB.
    Large,
    /// One small message: what a command takes on it is its start-up.
    Least,
}

impl Fixture {
    const ALL: [Self; 4] = [Self::Small, Self::Packed, Self::Large, Self::Least];

    /// The file; it is made when it is first asked for, by a process of its own. A process starts with the high-water mark of
    /// the one that started it, so this one must stay small for `fw` to be measured.
    pub(crate) fn file(self, folder: &Path) -> PathBuf {
        let path = folder.join(format!("{}.tgm", self.name()));
        if !path.exists() {
            let program = std::env::current_exe().expect("this program");
            let made = Command::new(program).args([MAKE, self.name()]).arg(&path).status().expect("starts");
            assert!(made.success(), "the file {} was not made", self.name());
        }
        path
    }

    /// Makes the file that the arguments ask for, if they do.
    pub(crate) fn make_if_asked(mut words: impl Iterator<Item = String>) -> bool {
        if words.next().as_deref() != Some(MAKE) {
            return false;
        }
        let name = words.next();
        let fixture = Self::ALL.into_iter().find(|fixture| Some(fixture.name()) == name.as_deref());
        fixture.expect("the name of a file").write(Path::new(&words.next().expect("a path")));
        true
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Packed => "packed",
            Self::Large => "large",
            Self::Least => "least",
        }
    }

    fn write(self, path: &Path) {
        let mut file = BufWriter::with_capacity(4 << 20, std::fs::File::create(path).expect("a file"));
        let mut put = |message: Vec<u8>| file.write_all(&message).expect("written");
        match self {
            Self::Small => (0..20_000).for_each(|at| put(message(at % 8, at / 8, &[4, 6], None))),
            Self::Packed => (0..500).for_each(|at| put(message(0, at, &[181, 360], Some(Pipe::pack(16).szip())))),
            Self::Large => put(message(0, 0, &[11_586, 11_585], None)),
            Self::Least => put(message(0, 0, &[4, 6], None)),
        }
        file.flush().expect("written");
    }
}

/// The argument that asks for a file.
const MAKE: &str = "make";

fn message(param: usize, step: usize, shape: &[u64; 2], pipe: Option<Pipe>) -> Vec<u8> {
    const PARAMS: [&str; 8] = ["2t", "10u", "10v", "msl", "tp", "sp", "tcc", "skt"];
    let [rows, columns] = *shape;
    let wave =
        |at: u64| 280.0 + 20.0 * ((at % columns) as f64 / 57.0 + (at / columns + step as u64) as f64 / 31.0).sin();
    let values: Vec<f64> = (0..rows * columns).map(wave).collect();
    let mars = Value::map([
        ("class", Value::from("od")),
        ("param", Value::from(PARAMS[param])),
        ("step", Value::from(step as i64)),
    ]);
    let builder = MessageBuilder::new().tensor(shape, &values).expect("the shape fits");
    let builder = match pipe {
        Some(pipe) => builder.pipeline(pipe),
        None => builder,
    };
    builder.base("mars", mars).encode().expect("encodes")
}
