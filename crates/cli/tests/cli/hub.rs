//! `hf://` URLs and `--header` against servers on loopback: redirects are followed, and secrets stay with the server they are for.

use super::loopback::{Reply, serve};
use super::{fine, fw, fw_with};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A file of two tensors, the second far behind the first.
fn file(folder: &Path) -> Arc<Vec<u8>> {
    let json = r#"{"a":{"dtype":"F32","shape":[100000],"data_offsets":[0,400000]},"b":{"dtype":"F32","shape":[2],"data_offsets":[400000,400008]}}"#;
    let mut bytes = [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &[0; 400_000]].concat();
    bytes.extend([1.5f32, -2.0].map(f32::to_le_bytes).concat());
    std::fs::write(folder.join("m.safetensors"), &bytes).expect("written");
    Arc::new(bytes)
}

#[test]
fn a_token_stays_with_its_hub() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = file(folder.path());
    let (store, stored) = serve(move |_| Reply::File(Arc::clone(&bytes)));
    let (hub, asked) = serve(move |head| match head.contains("\r\nauthorization: bearer hf_secret\r\n") {
        true => Reply::Redirect(format!("http://{store}/blob?signature=1")),
        false => Reply::Status(401),
    });
    let endpoint = format!("http://{hub}");
    let with = [("HF_ENDPOINT", endpoint.as_str()), ("HF_TOKEN", "hf_secret")];
    let url = "hf://org/repo@v1/m.safetensors";
    let local = fine(folder.path(), "ls m.safetensors");
    let listed = fw_with(folder.path(), &format!("ls {url}"), &with);
    assert_eq!((listed.code, listed.err.as_str(), listed.text()), (0, "", local.text()));
    let part = fw_with(folder.path(), &format!("cat {url} -t b --text"), &with);
    assert_eq!((part.code, part.err.as_str(), part.text()), (0, "", "1.5 -2.0\n"));
    let (asked, stored) = (asked.lock().expect("the log"), stored.lock().expect("the log"));
    assert!(
        asked.iter().all(|head| head.starts_with("get /org/repo/resolve/v1/m.safetensors http/1.1\r\n")),
        "{asked:?}"
    );
    // The store is asked directly once its address is known.
    assert!(asked.len() == 2 && stored.len() >= 3, "{asked:?} {stored:?}");
    for head in stored.iter() {
        assert!(!head.contains("hf_secret") && !head.contains("authorization"), "{head}");
    }
    drop((asked, stored));
    let refused =
        fw_with(folder.path(), &format!("ls {url} --json"), &[("HF_ENDPOINT", endpoint.as_str()), ("HF_TOKEN", "")]);
    let error = refused.json()["error"].clone();
    assert_eq!(error["code"], "remote_denied", "{error}");
    let wrong = fw(folder.path(), "ls hf://repo");
    assert!(wrong.code != 0 && wrong.err.contains("hf://ORG/REPO@REVISION/FILE"), "{}", wrong.err);
}

/// Addresses with a signature end: the hub is asked for another one.
#[test]
fn an_address_that_ended_is_asked_for_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = file(folder.path());
    let count = Arc::new(Mutex::new(0));
    let (store, stored) = serve(move |_| {
        let mut count = count.lock().expect("a count");
        *count += 1;
        if *count == 2 { Reply::Status(403) } else { Reply::File(Arc::clone(&bytes)) }
    });
    let (hub, asked) = serve(move |_| Reply::Redirect(format!("http://{store}/blob")));
    let line = format!("cat hf://org/repo/m.safetensors -t b --text --store-option endpoint=http://{hub}");
    let part = fw(folder.path(), &line);
    assert_eq!((part.code, part.text()), (0, "1.5 -2.0\n"), "{}", part.err);
    assert_eq!(asked.lock().expect("the log").len(), 2);
    assert!(stored.lock().expect("the log").len() >= 3);
}

#[test]
fn headers_stay_with_their_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = file(folder.path());
    let (store, stored) = serve(move |_| Reply::File(Arc::clone(&bytes)));
    let (server, asked) =
        serve(move |head| match head.contains("\r\nx-key: 7\r\n") && head.contains("\r\nx-other: y\r\n") {
            true => Reply::Redirect(format!("http://{store}/m.safetensors")),
            false => Reply::Status(403),
        });
    let url = format!("http://{server}/m.safetensors");
    let refused = fw(folder.path(), &format!("ls {url} --header X-Key:7 --header X-Other:y"));
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("redirects to another server"), "{}", refused.err);
    assert!(refused.err.contains("hint: add --allow-redirects to follow it"), "{}", refused.err);
    let listed = fw(folder.path(), &format!("ls {url} --header X-Key:7 --header X-Other:y --allow-redirects"));
    assert_eq!((listed.code, listed.err.as_str()), (0, ""));
    assert!(!asked.lock().expect("the log").is_empty());
    for head in stored.lock().expect("the log").iter() {
        assert!(!head.contains("x-key") && !head.contains("x-other"), "{head}");
    }
    let denied = fw(folder.path(), &format!("ls {url} --json")).json();
    assert_eq!(denied["error"]["code"], "remote_denied", "{denied}");
    for (words, what) in [
        (format!("ls {url} --header nonsense"), "NAME: VALUE"),
        ("ls s3://bucket/m.safetensors --header X-Key:7".to_owned(), "headers are for http, https and hf URLs"),
    ] {
        let run = fw(folder.path(), &words);
        assert!(run.code != 0 && run.err.contains(what), "{words}: {}", run.err);
    }
    // A circle ends.
    let (circle, _) = serve(|_| Reply::Redirect("/again".to_owned()));
    let run = fw(folder.path(), &format!("ls http://{circle}/m.safetensors --header X-Key:7"));
    assert!(run.code != 0 && run.err.contains("redirects more than 8 times"), "{}", run.err);
}
