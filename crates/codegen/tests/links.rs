//! Transports of generated code over real links: an operator in one language and a robot in another talk over TCP, UDP, a
//! pair of terminals that stands for a serial cable, and WebSockets. Both sides are the programs in `links/`; the operator
//! subscribes, requests two answers and, where a link can be closed, sees a request end when the robot hangs up.

mod common;

use common::{generated, has, run, skip};
use fw_codegen::Lang;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Who operates, and whose robot: every language in both roles, never with itself.
const PAIRS: [[Peer; 2]; 6] = [
    [Peer::Python, Peer::Cpp],
    [Peer::Asyncio, Peer::Rust],
    [Peer::Node, Peer::Python],
    [Peer::CSharp, Peer::Node],
    [Peer::Cpp, Peer::CSharp],
    [Peer::Rust, Peer::Asyncio],
];

#[test]
fn over_tcp() {
    for [operator, robot] in PAIRS {
        talk(operator, robot, ["tcp"; 2]);
    }
}

#[test]
fn over_udp() {
    for [operator, robot] in PAIRS {
        talk(operator, robot, ["udp"; 2]);
    }
}

#[test]
fn over_a_serial_line() {
    for [operator, robot] in PAIRS {
        talk(operator, robot, ["serial"; 2]);
    }
}

#[test]
fn over_a_port_of_pyserial() {
    let found = Command::new(interpreter()).args(["-c", "import serial"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        return skip("pyserial is not there: ports of pyserial were not tried (FW_PYTHON)");
    }
    talk(Peer::Python, Peer::Cpp, ["pyserial", "serial"]);
}

#[test]
fn over_websockets() {
    if !node_modules().is_some_and(|modules| modules.join("ws").is_dir()) {
        return skip("npm's ws is not beside tsc: WebSockets were not tried (FW_TSC)");
    }
    talk(Peer::CSharp, Peer::Node, ["ws"; 2]);
    talk(Peer::Node, Peer::Node, ["ws"; 2]);
    match websocket_option() {
        Some(_) => talk(Peer::Node, Peer::Node, ["browser", "ws"]),
        None => skip("Node is older than 20.10: the WebSocket of browsers was not tried"),
    }
}

/// What is not there, peers that read nothing or hang up, datagrams for nobody: errors, and never a program that hangs.
#[test]
fn what_goes_wrong_in_python() {
    let Some(folder) = python() else { return skip("Python is not there: faults of links were not tried") };
    let mut python = Command::new(interpreter());
    python.args(["-X", "dev", "-W", "error", "edges.py"]).env("PYTHONUTF8", "1").current_dir(folder);
    assert_eq!(Running::start(&mut python).finish("edges.py"), "done\n");
}

#[test]
fn what_goes_wrong_in_javascript() {
    if !has("node") {
        return skip("Node is not there: faults of links were not tried");
    }
    let folder = folder("links-js");
    fw_codegen::write(&folder.join("generated"), &generated(&schema(), Lang::JavaScript)).unwrap();
    fs::write(folder.join("package.json"), "{ \"private\": true, \"type\": \"module\" }\n").unwrap();
    fs::copy(program("edges.js"), folder.join("edges.js")).unwrap();
    let said = Running::start(Command::new("node").arg("edges.js").current_dir(folder)).finish("edges.js");
    assert_eq!(said, "done\n");
}

#[test]
fn what_goes_wrong_in_cpp() {
    if !has("g++") {
        return skip("g++ is not there: faults of links were not tried");
    }
    let program = compiled_cpp("edges");
    assert_eq!(Running::start(&mut Command::new(program)).finish("edges.cpp"), "done\n");
}

/// A WebSocket of browsers is what the transport takes.
#[test]
fn browsers_have_what_is_needed() {
    let Some(tsc) = tsc() else { return skip("TypeScript is not there: browser types were not tried (FW_TSC)") };
    let folder = folder("links-browser");
    fw_codegen::write(&folder.join("generated"), &generated(&schema(), Lang::TypeScript)).unwrap();
    let program = "import { WebSocketTransport } from \"./generated/runtime/index.js\";\n\
                   export const transport = new WebSocketTransport(new WebSocket(\"wss://robot.local\"));\n";
    fs::write(folder.join("page.ts"), program).unwrap();
    let options = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--target", "es2022"];
    let mut command = Command::new(tsc);
    command.args(options).args(["--lib", "es2022,dom", "--types", "", "--module", "nodenext", "page.ts"]);
    run(command.current_dir(folder));
}

#[test]
fn strict_types_of_python() {
    let found = Command::new(interpreter()).args(["-c", "import mypy"]).output();
    let Some(folder) = python().filter(|_| found.is_ok_and(|output| output.status.success())) else {
        return skip("mypy is not there: programs with links were not checked (FW_PYTHON)");
    };
    let mut mypy = Command::new(interpreter());
    mypy.args(["-m", "mypy", "--strict", "--no-error-summary", "--ignore-missing-imports", "--cache-dir", ".cache"]);
    run(mypy.args(["peer.py", "peer_aio.py", "edges.py"]).current_dir(folder));
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Peer {
    Python,
    Asyncio,
    Node,
    Cpp,
    CSharp,
    Rust,
}

impl Peer {
    /// As the program says it.
    fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Asyncio => "asyncio",
            Self::Node => "node",
            Self::Cpp => "cpp",
            Self::CSharp => "csharp",
            Self::Rust => "rust",
        }
    }

    /// The program, built on first use; `None` where its tools are missing.
    fn command(self) -> Option<Command> {
        static BUILT: [OnceLock<Option<PathBuf>>; 6] = [const { OnceLock::new() }; 6];
        let build = match self {
            Self::Python | Self::Asyncio => python,
            Self::Node => node,
            Self::Cpp => cpp,
            Self::CSharp => csharp,
            Self::Rust => rust,
        };
        let place = if self == Self::Asyncio { Self::Python } else { self };
        let built = BUILT[place as usize].get_or_init(build).clone()?;
        let mut command = match self {
            Self::Python => script(interpreter(), &["-X", "dev", "-W", "error"], built.join("peer.py")),
            Self::Asyncio => script(interpreter(), &["-X", "dev", "-W", "error"], built.join("peer_aio.py")),
            Self::Node => script("node".into(), websocket_option().as_slice(), built),
            Self::CSharp => script("mono".into(), &[], built),
            Self::Cpp | Self::Rust => Command::new(built),
        };
        command.env("FW_NODE_MODULES", node_modules().unwrap_or_default()).env("PYTHONUTF8", "1");
        Some(command)
    }
}

/// What gives Node the WebSocket of browsers; newer ones have it anyway, older ones do not know the option.
fn websocket_option() -> Option<&'static str> {
    const OPTION: &str = "--experimental-websocket";
    let mut node = Command::new("node");
    node.args([OPTION, "-e", "process.exit(globalThis.WebSocket === undefined ? 1 : 0)"]);
    node.output().is_ok_and(|output| output.status.success()).then_some(OPTION)
}

fn script(program: OsString, options: &[&str], path: PathBuf) -> Command {
    let mut command = Command::new(program);
    command.args(options).arg(path);
    command
}

/// Ends a program that a failed test would leave.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).spawn();
        Self(child.unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// The words of the first line; the rest is left unread.
    fn first_line(&mut self) -> Vec<String> {
        let mut line = String::new();
        BufReader::new(self.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    }

    /// Everything that it says, when it ends well and in time.
    fn finish(mut self, who: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(40);
        let status = loop {
            match self.0.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("{who} does not end"),
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        assert!(status.success(), "{who}: {status}");
        let mut words = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut words).unwrap();
        words
    }
}

/// Starts both and compares what the operator heard.
fn talk(operator: Peer, robot: Peer, [kind, kind_of_robot]: [&str; 2]) {
    let who = format!("{} and a robot in {} over {kind}", operator.name(), robot.name());
    let (Some(mut operate), Some(mut serve)) = (operator.command(), robot.command()) else {
        return skip(&format!("the tools of {who} are not there"));
    };
    let mut cable = None;
    let mut ends = Vec::new();
    if kind_of_robot == "serial" {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links/ptys.py");
        if python().is_none() {
            return skip("Python is not there: serial lines were not tried");
        }
        let mut ptys = Running::start(Command::new(interpreter()).arg(script).stdin(Stdio::piped()));
        ends = ptys.first_line();
        cable = Some(ptys);
    }
    let mut robot_runs = Running::start(serve.args(["robot", kind_of_robot]).args(ends.first()));
    let ready = robot_runs.first_line();
    assert_eq!(ready.first().map(String::as_str), Some("ready"), "{who}");
    let place = ends.get(1).or(ready.get(1)).unwrap_or_else(|| panic!("{who}: {ready:?}"));
    let heard = Running::start(operate.args(["operator", kind, place])).finish(&who);
    let end = if matches!(kind, "tcp" | "ws" | "browser") { ", closed" } else { "" };
    assert_eq!(heard, format!("{0}: go, {0}: grüße{end}\n", robot.name()), "{who}");
    robot_runs.finish(&who);
    drop(cable);
}

fn schema() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/struct-frame/robot.proto")
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links").join(name)
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn interpreter() -> OsString {
    std::env::var_os("FW_PYTHON").unwrap_or_else(|| "python3".into())
}

fn tsc() -> Option<OsString> {
    let tsc = std::env::var_os("FW_TSC").unwrap_or_else(|| "tsc".into());
    Command::new(&tsc).arg("--version").output().is_ok_and(|output| output.status.success()).then_some(tsc)
}

/// Where `cargo xtask` put what it installed.
fn node_modules() -> Option<PathBuf> {
    let tsc = tsc()?;
    let modules = Path::new(&tsc).parent().and_then(Path::parent)?;
    modules.join("@types/node").is_dir().then(|| modules.to_owned())
}

fn python() -> Option<PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        let check = ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"];
        let works = Command::new(interpreter()).args(check).output().is_ok_and(|output| output.status.success());
        works.then(|| {
            let folder = folder("links-python");
            fw_codegen::write(&folder.join("generated"), &generated(&schema(), Lang::Python)).unwrap();
            for name in ["peer.py", "peer_aio.py", "edges.py"] {
                fs::copy(program(name), folder.join(name)).unwrap();
            }
            folder
        })
    };
    FOLDER.get_or_init(build).clone()
}

fn node() -> Option<PathBuf> {
    let (tsc, modules) = (tsc()?, node_modules()?);
    if !has("node") {
        return None;
    }
    let folder = folder("links-ts");
    fw_codegen::write(&folder.join("generated"), &generated(&schema(), Lang::TypeScript)).unwrap();
    fs::copy(program("peer.ts"), folder.join("peer.ts")).unwrap();
    fs::write(folder.join("package.json"), "{ \"private\": true, \"type\": \"module\" }\n").unwrap();
    let options = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noUnusedLocals"];
    let mut command = Command::new(tsc);
    command.args(options).args(["--target", "es2022", "--lib", "es2022", "--types", "node", "--typeRoots"]);
    command.arg(modules.join("@types")).args(["--module", "nodenext", "--outDir", "out", "peer.ts"]);
    run(command.current_dir(&folder));
    Some(folder.join("out/peer.js"))
}

fn cpp() -> Option<PathBuf> {
    if !has("g++") {
        return None;
    }
    Some(compiled_cpp("peer"))
}

/// A program in C++, with sanitizers.
fn compiled_cpp(name: &str) -> PathBuf {
    let folder = folder(&format!("links-cpp-{name}"));
    fw_codegen::write(&folder.join("generated"), &generated(&schema(), Lang::Cpp)).unwrap();
    let mut gxx = Command::new("g++");
    gxx.args([
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wconversion",
        "-Wshadow",
        "-Wold-style-cast",
        "-Werror",
    ]);
    gxx.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Igenerated"]);
    run(gxx.arg(program(&format!("{name}.cpp"))).args(["-o", name]).current_dir(&folder));
    folder.join(name)
}

fn csharp() -> Option<PathBuf> {
    if !has("mcs") || !has("mono") {
        return None;
    }
    let folder = folder("links-csharp");
    fw_codegen::write(&folder.join("generated"), &generated(&schema(), Lang::CSharp)).unwrap();
    let mut mcs = Command::new("mcs");
    mcs.args(["-langversion:7.2", "-warnaserror", "-warn:4", "-recurse:generated/*.cs", "-out:peer.exe"]);
    run(mcs.arg(program("Peer.cs")).current_dir(&folder));
    Some(folder.join("peer.exe"))
}

fn rust() -> Option<PathBuf> {
    let folder = folder("links-rust");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fw_codegen::write(&folder.join("src/messages"), &generated(&schema(), Lang::Rust)).unwrap();
    fs::copy(program("peer.rs"), folder.join("src/main.rs")).unwrap();
    let manifest = format!(
        "[package]\nname = \"links-peer\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[features]\nserde = []\n\n\
         [lints.rust]\nwarnings = \"deny\"\n\n\
         [dependencies]\nfw-structframe = {{ path = {:?}, features = [\"std\"] }}\n",
        root.join("crates/structframe").canonicalize().unwrap()
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let target = folder.with_file_name("rust-target");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--quiet"]).current_dir(&folder).env("CARGO_TARGET_DIR", &target);
    run(&mut cargo);
    Some(target.join("debug/links-peer"))
}
