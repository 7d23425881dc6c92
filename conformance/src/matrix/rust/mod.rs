//! Rust.

mod literal; // values as Rust expressions

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use anyhow::{Context as _, Result, ensure};
use fw_codegen::lang::rust::Names;
use fw_codegen::{Lang, Options, generate};
use fw_structframe::{HeaderKind, PayloadKind};

use super::{Adapter, Suite};

/// Programs are built with `rustc` against the runtime crate, which is built once.
#[derive(Default)]
pub(super) struct Rust {
    runtime: OnceLock<Result<Runtime, String>>,
    building: Mutex<()>,
}

/// Where the compiled runtime lies.
struct Runtime {
    library: PathBuf,
    dependencies: PathBuf,
}

impl Adapter for Rust {
    fn name(&self) -> &'static str {
        Lang::Rust.name()
    }

    fn missing(&self) -> Option<String> {
        let found = Command::new("rustc").arg("--version").output().is_ok_and(|output| output.status.success());
        (!found).then(|| "needs rustc".to_owned())
    }

    fn build(&self, suite: &Suite, folder: &Path) -> Result<Vec<OsString>> {
        let runtime = self.runtime(folder.parent().context("the folder lies in the language's")?)?;
        for file in generate(&suite.schema, Lang::Rust, &Options::default())? {
            let path = folder.join("messages").join(&file.path);
            fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
            fs::write(path, &file.text)?;
        }
        fs::write(folder.join("driver.rs"), include_str!("driver.rs"))?;
        fs::write(folder.join("main.rs"), program(suite))?;
        let program = folder.join("program");
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "--crate-name", "program", "-C", "opt-level=0"]).arg(folder.join("main.rs"));
        rustc.arg("--extern").arg(format!("fw_structframe={}", runtime.library.display()));
        rustc.arg("-L").arg(format!("dependency={}", runtime.dependencies.display())).arg("-o").arg(&program);
        let output = rustc.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(vec![program.into()])
    }
}

impl Rust {
    fn runtime(&self, folder: &Path) -> Result<&Runtime> {
        // Others wait here instead of building the same thing.
        let _building = self.building.lock().expect("nobody panics while building");
        let built = self.runtime.get_or_init(|| runtime(&folder.join("runtime")).map_err(|error| format!("{error:#}")));
        built.as_ref().map_err(|error| anyhow::anyhow!("{error}"))
    }
}

fn runtime(folder: &Path) -> Result<Runtime> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--offline", "-p", "fw-structframe", "--target-dir"]).arg(folder);
    // Flags of the surrounding build would need dependencies of their own.
    let output = cargo.current_dir(root).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let library = folder.join("debug/libfw_structframe.rlib");
    ensure!(library.is_file(), "{} was not built", library.display());
    Ok(Runtime { library, dependencies: folder.join("debug/deps") })
}

fn program(suite: &Suite) -> String {
    let names = Names::new(&suite.schema);
    let mut text = "mod driver;\n#[allow(dead_code)]\nmod messages;\n\n\
                    use driver::{Case, Typed, framing};\n#[allow(unused_imports)]\nuse fw_structframe as rt;\n\n"
        .to_owned();
    let framing = |framing: fw_structframe::Framing| {
        let header = HeaderKind::ALL.iter().position(|kind| *kind == framing.header).unwrap_or_default();
        let payload = PayloadKind::ALL.iter().position(|kind| *kind == framing.payload).unwrap_or_default();
        format!("framing({header}, {payload})")
    };
    // Values of one message in several framings are written once.
    let mut written: Vec<(String, String)> = Vec::new();
    let mut cases = String::new();
    for case in &suite.cases {
        let message = suite.message(case);
        let ty = literal::message_type(&names, message);
        let value = literal::message(&suite.schema, &names, message, &suite.value(case));
        let at = written.iter().position(|known| known.0 == ty && known.1 == value).unwrap_or_else(|| {
            let at = written.len();
            let _ = writeln!(text, "fn value{at}() -> Result<{ty}, rt::FitError> {{\n    Ok({value})\n}}");
            written.push((ty.clone(), value));
            at
        });
        let rt = &case.header;
        let _ = writeln!(
            cases,
            "    Case {{ framing: {}, header: rt::Header {{ sequence: {}, system: {}, component: {} }}, \
             message: &Typed(value{at}) }},",
            framing(case.framing),
            rt.sequence,
            rt.system,
            rt.component
        );
    }
    let framings: Vec<_> = suite.framings.iter().map(|of| framing(*of)).collect();
    let _ = write!(
        text,
        "\nstatic CASES: &[Case] = &[\n{cases}];\n\nfn main() {{\n    driver::main(CASES, &[{}]);\n}}\n",
        framings.join(", ")
    );
    text
}
