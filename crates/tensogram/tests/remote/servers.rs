//! Real servers, started and stopped by the tests.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server process; stopped when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// A file server with ranges on `folder`; `None`, with a line in the list of skipped tests, where Python lacks it.
    pub(crate) fn files(folder: &Path) -> Option<Self> {
        let python = interpreter("RangeHTTPServer", "rangehttpserver")?;
        let address = free_address();
        let mut command = Command::new(python);
        command.args(["-m", "RangeHTTPServer", &address.port().to_string(), "--bind", "127.0.0.1"]).current_dir(folder);
        Some(Self::start(command, address))
    }

    /// A file server that knows no ranges.
    pub(crate) fn plain(folder: &Path) -> Option<Self> {
        let python = interpreter("http.server", "http.server")?;
        let address = free_address();
        let mut command = Command::new(python);
        command.args(["-m", "http.server", &address.port().to_string(), "--bind", "127.0.0.1"]).current_dir(folder);
        Some(Self::start(command, address))
    }

    /// An S3-compatible server.
    pub(crate) fn s3() -> Option<Self> {
        let python = interpreter("moto.server", "moto[server]")?;
        let address = free_address();
        let mut command = Command::new(python);
        command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &address.port().to_string()]);
        Some(Self::start(command, address))
    }

    pub(crate) fn stop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }

    fn start(mut command: Command, address: SocketAddr) -> Self {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the interpreter runs");
        let mut server = Self { child, address };
        let begun = Instant::now();
        while TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_err() {
            assert!(server.child.try_wait().unwrap().is_none(), "the server ended at once");
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn interpreter(module: &str, package: &str) -> Option<std::ffi::OsString> {
    let Some(python) = std::env::var_os("FW_PYTHON") else {
        skip("remote files: FW_PYTHON is not set");
        return None;
    };
    let found = Command::new(&python).args(["-c", &format!("import {module}")]).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        skip(&format!("remote files: the Python environment has no {package}"));
        return None;
    }
    Some(python)
}

/// The harness hides what passing tests print: the run gathers these lines instead.
fn skip(reason: &str) {
    eprintln!("SKIPPED {reason}");
    if let Some(path) = std::env::var_os("FW_SKIPPED")
        && let Ok(mut file) = OpenOptions::new().append(true).create(true).open(path)
    {
        _ = writeln!(file, "{reason}");
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}
