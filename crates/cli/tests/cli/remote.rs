//! Files in stores, by URL, from real servers on loopback; skipped where `FW_PYTHON` has no `rangehttpserver`, or no
//! `moto[server]`.

use super::proxy::Proxy;
use super::{fine, fw, fw_with};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(super) struct Server(Child, pub(super) SocketAddr);

impl Server {
    /// Runs a Python program that needs `module` and listens on the address it is given.
    fn start(folder: &Path, module: &str, program: impl Fn(&SocketAddr) -> Vec<String>) -> Option<Self> {
        let python = std::env::var_os("FW_PYTHON")?;
        let found = Command::new(&python).args(["-c", &format!("import {module}")]).stderr(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            return None;
        }
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = Command::new(python)
            .args(program(&address))
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the interpreter runs");
        let (mut server, begun) = (Self(child, address), Instant::now());
        while TcpStream::connect(address).is_err() {
            assert!(server.0.try_wait().unwrap().is_none(), "the server ended at once");
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    /// Files of a folder, range by range.
    pub(super) fn files(folder: &Path) -> Option<Self> {
        Self::start(folder, "RangeHTTPServer", |address| {
            ["-m", "RangeHTTPServer", &address.port().to_string(), "--bind", "127.0.0.1"].map(str::to_owned).into()
        })
    }

    /// The same over TLS; the certificate of its authority is in `ca.pem` of the folder.
    fn files_over_tls(folder: &Path) -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/https_server.py");
        Self::start(folder, "RangeHTTPServer, cryptography", |address| {
            vec![script.to_owned(), address.port().to_string()]
        })
    }

    /// An S3-compatible server with a bucket named `bucket`.
    fn s3(folder: &Path) -> Option<Self> {
        let server = Self::start(folder, "moto.server", |address| {
            ["-m", "moto.server", "-H", "127.0.0.1", "-p", &address.port().to_string()].map(str::to_owned).into()
        })?;
        server.put("/bucket", b"");
        Some(server)
    }

    /// A bare PUT; the server checks no signatures.
    fn put(&self, path: &str, body: &[u8]) {
        let mut stream = TcpStream::connect(self.1).unwrap();
        let (host, len) = (self.1, body.len());
        write!(stream, "PUT {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n")
            .unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

pub(super) fn skip() {
    let reason = "fw on URLs: FW_PYTHON is not set, or has no rangehttpserver or moto[server]";
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
    let Some(server) = Server::files(path) else { return skip() };
    let host = format!("http://{}", server.1);
    let tensors = |name: &str| fine(path, &format!("ls {name} --json")).json()["tensors"].clone();
    // The files that an index names are beside it there, too.
    fine(path, "convert f.safetensors s.safetensors --max-shard-size 100kB -q");
    assert_eq!(tensors(&format!("{host}/s.safetensors.index.json")), tensors("s.safetensors.index.json"));
    for name in ["f.tgm", "f.bt", "f.safetensors"] {
        let url = format!("{host}/{name}");
        for command in ["info", "ls"] {
            let (local, remote) = (fine(path, &format!("{command} {name}")), fine(path, &format!("{command} {url}")));
            assert_eq!(remote.text().replace(&url, name), local.text(), "fw {command} {name}");
        }
        for words in
            ["get -p name,shape,nbytes", "stats -w shape[0]=91", "stats --histogram", "ls --count", "plot -t 0/2t"]
        {
            let (command, rest) = words.split_once(' ').unwrap();
            let (local, remote) =
                (fine(path, &format!("{command} {name} {rest}")), fine(path, &format!("{command} {url} {rest}")));
            assert_eq!(remote.text(), local.text(), "fw {words} {name}");
        }
        let both = fine(path, &format!("ls {name} {url} -p file --count --json")).json();
        assert_eq!(both["files"][0]["count"], both["files"][1]["count"]);
        let (mut local, mut remote) =
            (fine(path, &format!("info {name} --json")).json(), fine(path, &format!("info {url} --json")).json());
        assert_eq!((local["file"].take(), remote["file"].take()), (name.into(), url.as_str().into()));
        assert_eq!(local, remote, "fw info {name} --json");
        assert_eq!(tensors(&url), tensors(name));
        let first = tensors(name)[0]["name"].as_str().unwrap().to_owned();
        let which = if name == "f.tgm" { "--message 2 --object 1".to_owned() } else { format!("--tensor {first}") };
        for form in ["", "--npy", "--text"] {
            let named = if name == "f.tgm" { format!("--tensor 0/{first}") } else { format!("--tensor {first}") };
            for which in [&which, &named] {
                for slice in ["", "--slice ...,-3:", "-s [::2]"] {
                    let words = format!("{which} {slice} {form}");
                    let local = fine(path, &format!("cat {name} {words}"));
                    assert_eq!(fine(path, &format!("cat {url} {words}")).out, local.out, "fw cat {name} {words}");
                }
            }
        }
        for wrong in ["--tensor nonesuch", &format!("--tensor {first} --slice 1000000"), "--slice 1,2,3,4,5,6"] {
            let (local, remote) = (fw(path, &format!("cat {name} {wrong}")), fw(path, &format!("cat {url} {wrong}")));
            assert_eq!((local.code, remote.code), (2, 2), "{name} {wrong}: {} {}", local.err, remote.err);
            assert!(remote.err.contains(&url), "{wrong}: {}", remote.err);
        }
        let refused = fw(path, &format!("validate {url}"));
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains("--allow-full-read") && refused.err.contains(&url), "{}", refused.err);
        let validated = fine(path, &format!("validate {url} --allow-full-read"));
        assert!(validated.text().ends_with("valid\n") && validated.text().contains(&url), "{}", validated.text());
        let validated = fine(path, &format!("validate {url} --allow-full-read --json"));
        assert_eq!(validated.json()["file"], url.as_str());
    }
    let (local, remote) = (fine(path, "dump f.tgm -m 1"), fine(path, &format!("dump {host}/f.tgm -m 1")));
    assert_eq!(remote.text(), local.text());
    let hex = fw(path, &format!("dump {host}/f.tgm --hex"));
    assert!(hex.code == 2 && hex.err.contains("--allow-full-read"), "{}", hex.err);
    let absent = fw(path, &format!("ls {host}/absent.tgm"));
    assert!(absent.code != 0 && absent.err.contains("absent.tgm: no such object"), "{}", absent.err);
    std::fs::write(path.join("words.tgm"), b"no message in here, whatever the name says").unwrap();
    std::fs::write(path.join("empty.tgm"), b"").unwrap();
    for command in ["info", "ls", "dump", "cat"] {
        let run = fw(path, &format!("{command} {host}/words.tgm"));
        assert_eq!((run.code, run.text()), (1, ""), "fw {command} words.tgm: {}", run.err);
        let (local, remote) =
            (fw(path, &format!("{command} empty.tgm")), fw(path, &format!("{command} {host}/empty.tgm")));
        assert_eq!(remote.code, local.code, "fw {command} empty.tgm: {}", remote.err);
        assert!((remote.err + &String::from_utf8_lossy(&remote.out)).contains("the file is empty"), "fw {command}");
    }
    assert_eq!(fw(path, &format!("ls {host}/words.tgm --json")).json()["error"]["code"], "no_message");
    // What reads whole files does so with leave.
    fw(path, "convert f.tgm f.npz -f");
    std::fs::write(path.join("f.npy"), fine(path, "cat f.tgm --npy").out).unwrap();
    for line in ["convert {} g.npz", "diff {} f.npz", "recover {} -o g.tgm", "dump --hex {host}/f.npz"] {
        let line = line.replace("{host}", &host).replace("{}", &format!("{host}/f.tgm"));
        let refused = fw(path, &line);
        assert_eq!((refused.code, refused.text()), (2, ""), "fw {line}");
        let words = format!("must download the whole file ({} bytes)\nhint: add --allow-full-read to allow it", {
            let name = line.split(&host).nth(1).unwrap().split(' ').next().unwrap();
            std::fs::metadata(path.join(&name[1..])).unwrap().len()
        });
        assert!(refused.err.contains(&words), "fw {line}: {}", refused.err);
        let run = fw(path, &format!("{line} --allow-full-read"));
        assert!(matches!(run.code, 0 | 3), "fw {line}: {}", run.err);
    }
    assert_eq!(std::fs::read(path.join("g.tgm")).unwrap(), std::fs::read(path.join("f.tgm")).unwrap());
    assert_eq!(std::fs::read(path.join("g.npz")).unwrap(), std::fs::read(path.join("f.npz")).unwrap());
    for (line, file) in [("ls", "f.npz"), ("ls", "f.npy"), ("cat --npy", "f.npy"), ("stats", "f.npz")] {
        let (local, remote) = (fine(path, &format!("{line} {file}")), fine(path, &format!("{line} {host}/{file}")));
        assert_eq!(local.out, remote.out, "fw {line} {file}");
    }
    let wrong = fw(path, &format!("convert {host}/words.tgm w.bt --allow-full-read --json"));
    let message = wrong.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(&format!("{host}/words.tgm")) && !message.contains("/tmp"), "{message}");
    let misspelt = fw(path, &format!("ls {host}/f.tgm --store-option regoin=x"));
    assert!(misspelt.code != 0 && misspelt.err.contains("\"regoin\""), "{}", misspelt.err);
}

/// A server that knows no ranges is asked for everything, with leave.
#[test]
fn servers_without_ranges_are_read_whole_with_leave() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fw(path, "tour");
    std::fs::rename(path.join("fw-tour/forecast.tgm"), path.join("f.tgm")).unwrap();
    let server = Server::start(path, "http.server", |address| {
        ["-m", "http.server", &address.port().to_string(), "--bind", "127.0.0.1"].map(str::to_owned).into()
    });
    let Some(server) = server else { return skip() };
    let url = format!("http://{}/f.tgm", server.1);
    for line in ["info", "ls", "dump", "validate", "cat", "diff f.tgm"] {
        let refused = fw(path, &format!("{line} {url}"));
        assert!(
            refused.code == 2 && refused.err.contains("does not support range requests"),
            "{line}: {}",
            refused.err
        );
        assert!(refused.err.contains("hint: add --allow-full-read to let fw"), "{line}: {}", refused.err);
        let (local, remote) =
            (fine(path, &format!("{line} f.tgm")), fine(path, &format!("{line} {url} --allow-full-read")));
        let text = String::from_utf8_lossy(&remote.out).replace(&url, "f.tgm");
        assert_eq!(text, String::from_utf8_lossy(&local.out), "fw {line}");
    }
    let absent = fw(path, &format!("ls {url}.absent --allow-full-read"));
    assert!(absent.code == 2 && absent.err.contains("no such object"), "{}", absent.err);
}

#[test]
fn a_tensor_in_a_store_costs_its_own_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let message = |number: usize| {
        let values: Vec<f32> = (0..100_000).map(|i| (number * 1000 + i) as f32).collect();
        let mut named = framewright::tensogram::MessageBuilder::new().tensor(&[100, 1000], &values).unwrap();
        named = named.base("name", if number == 7 { "lone" } else { "field" });
        named.encode().unwrap()
    };
    std::fs::write(path.join("many.tgm"), (0..20).flat_map(message).collect::<Vec<u8>>()).unwrap();
    let Some(server) = Server::files(path) else { return skip() };
    let proxy = Proxy::new(server.1, Duration::ZERO);
    let url = proxy.url("many.tgm");
    for (words, most) in [
        ("--tensor lone --text", 400_000 + (300 << 10)),
        ("--tensor 7/lone --slice 3,10:12 --text", 300 << 10),
        ("-m 7 --slice 3,10:12 --text", 100 << 10),
    ] {
        proxy.counted();
        let found = fine(path, &format!("cat {url} {words}"));
        let (requests, bytes) = proxy.counted();
        assert!(bytes <= most, "{words}: {bytes} bytes in {requests} requests");
        assert_eq!(found.out, fine(path, &format!("cat many.tgm {words}")).out, "{words}");
    }
    assert_eq!(fine(path, &format!("cat {url} -m 7 --slice 3,10:12 --text")).text(), "10010.0 10011.0\n");
    let several = fw(path, &format!("cat {url} --tensor field"));
    assert!(several.code == 2 && several.err.contains("19 messages"), "{}", several.err);
}

#[test]
fn credentials_come_from_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fw(path, "tour");
    let Some(server) = Server::s3(path) else { return skip() };
    server.put("/bucket/deep/f.tgm", &std::fs::read(path.join("fw-tour/forecast.tgm")).unwrap());
    let proxy = Proxy::new(server.1, Duration::ZERO);
    let endpoint = format!("http://{}", proxy.address);
    let environment = [
        ("AWS_ACCESS_KEY_ID", "FROMTHEENVIRONMENT"),
        ("AWS_SECRET_ACCESS_KEY", "a-secret-of-the-environment"),
        ("AWS_SESSION_TOKEN", "a-token-of-the-environment"),
        ("AWS_REGION", "eu-central-1"),
        ("AWS_ENDPOINT_URL", &endpoint),
    ];
    let listed = fw_with(path, "ls s3://bucket/deep/f.tgm", &environment);
    assert_eq!((listed.code, listed.err.as_str()), (0, ""));
    assert_eq!(listed.text(), fine(path, "ls fw-tour/forecast.tgm").text());
    let log = proxy.log();
    assert!(!log.is_empty());
    for request in &log {
        assert!(
            request.contains("Credential=FROMTHEENVIRONMENT/") && request.contains("/eu-central-1/s3/"),
            "{request}"
        );
        assert!(request.contains("a-token-of-the-environment"), "{request}");
    }
    // An option wins over the environment; secrets are not listing.
    let line = "info s3://bucket/absent.tgm --json --store-option aws_access_key_id=FROMANOPTION";
    let absent = fw_with(path, line, &environment);
    assert_eq!(absent.json()["error"]["code"], "remote_not_found", "{}", absent.text());
    assert!(!absent.text().contains("secret") && absent.text().contains("s3://bucket/absent.tgm"), "{}", absent.text());
    assert!(proxy.log().iter().any(|request| request.contains("Credential=FROMANOPTION/")));
}

#[test]
fn servers_with_a_certificate_of_their_own_are_trusted_when_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fw(path, "tour");
    let Some(server) = Server::files_over_tls(path) else { return skip() };
    let url = format!("https://localhost:{}/fw-tour/forecast.tgm", server.1.port());
    let expected = fine(path, "ls fw-tour/forecast.tgm");
    let unknown = fw_with(path, &format!("ls {url} --json"), &[]);
    assert_eq!((unknown.code, &unknown.json()["error"]["code"]), (1, &"remote_failed".into()), "{}", unknown.text());
    let words = unknown.json()["error"]["message"].to_string();
    assert!(words.contains(&url) && words.to_lowercase().contains("certificate"), "{words}");
    let listing = fine(path, &format!("ls {url} --store-option root_certificate=ca.pem"));
    assert_eq!(listing.text(), expected.text());
    let authority = path.join("ca.pem");
    let from_environment = fw_with(path, &format!("ls {url}"), &[("SSL_CERT_FILE", authority.to_str().unwrap())]);
    assert_eq!((from_environment.code, from_environment.text()), (0, expected.text()), "{}", from_environment.err);
    let missing = fw(path, &format!("ls {url} --store-option root_certificate=nonesuch.pem"));
    assert!(missing.code == 2 && missing.err.contains("nonesuch.pem"), "{}", missing.err);
}

#[test]
fn a_store_that_nobody_serves_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{nobody}/a.tgm");
    let refused = fw(folder.path(), &format!("ls {url} --json"));
    let error = &refused.json()["error"];
    assert_eq!((refused.code, &error["code"]), (1, &"remote_failed".into()), "{}", refused.text());
    assert!(error["message"].as_str().unwrap().contains(&url), "{}", refused.text());
}
