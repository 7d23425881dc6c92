//! Every command of `docs/cookbook.md`, `docs/weights.md` and of the tables of `docs/cli.md` runs, and prints what the page says.

use super::{fine, remote};
use framewright::convert::{ConvertOptions, Format, MemoryTensors, write_tensors};
use framewright::tensor::DType;
use std::path::Path;
use std::process::{Command, Stdio};

/// One command of a page, and what it prints where the page says.
#[derive(Debug, Default)]
struct Recipe {
    title: String,
    command: String,
    output: Option<String>,
}

impl Recipe {
    /// The exit code that a comment after the command states.
    fn code(&self) -> i32 {
        let stated = self.command.split_once("# exit code ").map(|(_, code)| code.trim().parse());
        stated.map_or(0, |code| code.expect("a number"))
    }
}

fn recipes(page: &str) -> Vec<Recipe> {
    let (mut found, mut title, mut lines) = (Vec::<Recipe>::new(), String::new(), page.lines());
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("## ") {
            title = text.to_owned();
        }
        let mut block =
            || lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect::<String>();
        match line {
            "```sh" => found.push(Recipe { title: title.clone(), command: block(), output: None }),
            "```text" => found.last_mut().expect("a command comes first").output = Some(block()),
            _ => {}
        }
    }
    found
}

/// A folder with the files of the tour, and `fw` on the path.
fn kitchen() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fine(folder.path(), "tour");
    for entry in std::fs::read_dir(folder.path().join("fw-tour")).expect("a folder") {
        let entry = entry.expect("an entry");
        std::fs::rename(entry.path(), folder.path().join(entry.file_name())).expect("moved");
    }
    std::fs::remove_dir(folder.path().join("fw-tour")).expect("empty");
    folder
}

fn cooked(folder: &Path, line: &str) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_fw")).parent().expect("a folder").display().to_string();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    bash.args(["-ec", line]).current_dir(folder).env("PATH", path).env("COLUMNS", "80").env_remove("FW_THREADS");
    bash.stdin(Stdio::null()).output().expect("bash runs")
}

/// Runs a recipe, and compares what it prints.
fn cook(folder: &Path, recipe: &Recipe) {
    // A file that grows is watched until somebody has seen enough.
    let mut line = recipe.command.trim().replace("tail -c +1 -f ", "timeout 2 tail -c +1 -f ");
    let server;
    if line.contains("https://example.org") {
        let Some(found) = remote::Server::files(folder) else {
            remote::skip();
            return;
        };
        server = found;
        line = line.replace("https://example.org", &format!("http://{}", server.1));
    }
    let output = cooked(folder, &line);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(recipe.code()), "{}: {line}\n{out}{err}", recipe.title);
    if let Some(expected) = &recipe.output {
        assert_eq!(out, expected.as_str(), "{}: {line}", recipe.title);
    }
}

/// A model of two layers, and one that was made from it.
fn models() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, change) in [("model.safetensors", 0.0f32), ("tuned.safetensors", 0.25)] {
        let mut tensors = MemoryTensors::new();
        let mut push = |name: &str, shape: &[u64], change: f32| {
            let count = shape.iter().product::<u64>();
            let values = (0..count).flat_map(|place| (place as f32 / 8.0 + 0.1 + change).to_le_bytes());
            tensors.push(name, DType::Float32, shape, values.collect::<Vec<u8>>()).expect("a tensor");
        };
        push("embed.weight", &[8, 2], 0.0);
        for layer in 0..2 {
            push(&format!("model.layers.{layer}.attn.weight"), &[4, 4], change);
            push(&format!("model.layers.{layer}.norm.weight"), &[7], 0.0);
        }
        push("model.norm.weight", &[16], 0.0);
        push("head.weight", &[2, 16], 0.0);
        tensors.set_metadata("notes", "made by a test");
        let mut options = ConvertOptions::new();
        options.format = Some(Format::SafeTensors);
        write_tensors(&tensors, "memory", folder.path().join(name), &options).expect("written");
    }
    folder
}

/// The recipes for checkpoints, from top to bottom.
#[test]
fn weights() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/weights.md"));
    let recipes = recipes(&page.expect("the page"));
    assert!(recipes.len() >= 17, "{recipes:#?}");
    let folder = models();
    for recipe in recipes {
        cook(folder.path(), &recipe);
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(read("joined.safetensors") == read("merged.safetensors"));
    for name in ["renamed.bt", "small.safetensors", "swapped.safetensors", "half.safetensors", "model.safetensors"] {
        fine(folder.path(), &format!("validate {name} --mode full"));
    }
}

/// Issue after issue, people ask for these sixteen things.
#[test]
fn sixteen_tasks_are_one_command_each() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cookbook.md"));
    let recipes = recipes(&page.expect("the page"));
    assert_eq!(recipes.len(), 16, "{recipes:#?}");
    let folder = kitchen();
    for recipe in recipes {
        assert_eq!(recipe.command.trim().lines().count(), 1, "{}: one command", recipe.title);
        cook(folder.path(), &recipe);
    }
    let at = |name: &str| folder.path().join(name);
    let read = |name: &str| std::fs::read(at(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(read("2t.npy").starts_with(b"\x93NUMPY"));
    assert!(read("temperature.png").starts_with(b"\x89PNG"));
    assert_eq!(std::fs::read_dir(at("fields")).expect("made").count(), 9);
    for name in ["changed.tgm", "both.tgm", "temperature.tgm", "packed.tgm", "saved.tgm"] {
        fine(folder.path(), &format!("validate {name}"));
    }
    assert!(read("packed.tgm").len() < read("forecast.tgm").len());
}

/// Each command of the reference has an equivalent here, which runs on the same kind of file and gives what the reference's package
/// reads from it. The script is for machines that have the package; the commands run anywhere.
#[test]
fn what_the_reference_does_is_done_here() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md")).expect("the page");
    let section = page.split("## For users of the tensogram command").nth(1).expect("a section");
    let rows: Vec<Vec<String>> = section
        .lines()
        .filter(|line| line.starts_with("| `tensogram "))
        .map(|line| {
            line.trim_matches('|').split(" | ").take(2).map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
        })
        .collect();
    assert!(rows.len() >= 20, "{rows:#?}");
    let folder = kitchen();
    let Some(python) = std::env::var_os("FW_PYTHON") else {
        #[cfg(unix)]
        super::skipped("SKIPPED: cli::cookbook: the table of docs/cli.md beside the reference: FW_PYTHON is not set");
        for row in rows {
            let output = cooked(folder.path(), &row[1]);
            let told =
                format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!(output.status.code(), Some(0), "{}: {told}", row[1]);
        }
        return;
    };
    let input = folder.path().join(".rows.json");
    std::fs::write(&input, serde_json::to_vec(&rows).expect("JSON")).expect("written");
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/reference_table.py"))
        .current_dir(folder.path())
        .env("FW_PROGRAM", env!("CARGO_BIN_EXE_fw"))
        .stdin(std::fs::File::open(input).expect("there"))
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), rows.len());
}
