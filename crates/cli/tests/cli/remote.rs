//! Files in stores, by URL, from a real server on loopback; skipped where `FW_PYTHON` has no `rangehttpserver`.

use super::{fine, fw};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Server(Child, String);

impl Server {
    fn start(folder: &Path) -> Option<Self> {
        let python = std::env::var_os("FW_PYTHON")?;
        let found = Command::new(&python).args(["-c", "import RangeHTTPServer"]).stderr(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            return None;
        }
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = Command::new(python)
            .args(["-m", "RangeHTTPServer", &address.port().to_string(), "--bind", "127.0.0.1"])
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the interpreter runs");
        let (server, begun) = (Self(child, format!("http://{address}")), Instant::now());
        while TcpStream::connect(address).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn skip() {
    let reason = "fw on URLs: FW_PYTHON is not set or has no rangehttpserver";
    eprintln!("SKIPPED {reason}");
    if let Some(path) = std::env::var_os("FW_SKIPPED")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        _ = writeln!(file, "{reason}");
    }
}

#[test]
fn urls_are_read_like_paths() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fw(path, "tour");
    std::fs::rename(path.join("fw-tour/forecast.tgm"), path.join("f.tgm")).unwrap();
    fw(path, "convert f.tgm f.bt");
    fw(path, "convert f.tgm f.safetensors");
    let Some(server) = Server::start(path) else { return skip() };
    let tensors = |name: &str| fine(path, &format!("ls {name} --json")).json()["tensors"].clone();
    for name in ["f.tgm", "f.bt", "f.safetensors"] {
        let url = format!("{}/{name}", server.1);
        for command in ["info", "ls"] {
            let (local, remote) = (fine(path, &format!("{command} {name}")), fine(path, &format!("{command} {url}")));
            assert_eq!(remote.text().replace(&url, name), local.text(), "fw {command} {name}");
        }
        assert_eq!(tensors(&url), tensors(name));
        let first = tensors(name)[0]["name"].as_str().unwrap().to_owned();
        let which = if name == "f.tgm" { "--message 2 --object 1".to_owned() } else { format!("--tensor {first}") };
        for form in ["", "--npy"] {
            let local = fine(path, &format!("cat {name} {which} {form}"));
            assert_eq!(fine(path, &format!("cat {url} {which} {form}")).out, local.out, "fw cat {name} {which} {form}");
        }
        let refused = fw(path, &format!("validate {url}"));
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains("--allow-full-read") && refused.err.contains(&url), "{}", refused.err);
        let validated = fine(path, &format!("validate {url} --allow-full-read"));
        assert!(validated.text().ends_with("valid\n"), "{}", validated.text());
    }
    let (local, remote) = (fine(path, "dump f.tgm -m 1"), fine(path, &format!("dump {}/f.tgm -m 1", server.1)));
    assert_eq!(remote.text(), local.text());
    let hex = fw(path, &format!("dump {}/f.tgm --hex", server.1));
    assert!(hex.code == 2 && hex.err.contains("--allow-full-read"), "{}", hex.err);
    let absent = fw(path, &format!("ls {}/absent.tgm", server.1));
    assert!(absent.code != 0 && absent.err.contains("absent.tgm: there is no such object"), "{}", absent.err);
    let misspelt = fw(path, &format!("ls {}/f.tgm --store-option regoin=x", server.1));
    assert!(misspelt.code != 0 && misspelt.err.contains("\"regoin\""), "{}", misspelt.err);
}
