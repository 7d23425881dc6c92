//! Files of a hub and custom headers, from servers on loopback: redirects are followed, and secrets stay where they belong.
#![cfg(feature = "remote")]

mod loopback;

use fw_source::ReadAt;
use fw_source::remote::{RemoteError, RemoteErrorKind, StoreOptions, open_source};
use loopback::{Reply, serve};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn bytes() -> Arc<Vec<u8>> {
    Arc::new((0..200_000u32).map(|number| (number % 251) as u8).collect())
}

fn read(url: &str, options: &StoreOptions) -> std::io::Result<()> {
    let source = open_source(url, options)?;
    let mut part = [0; 100];
    for at in [0, 150_000, 199_900] {
        source.read_exact_at(at, &mut part)?;
        assert_eq!(part[..], bytes()[at as usize..][..100]);
    }
    Ok(())
}

#[test]
fn a_token_stays_with_its_hub() {
    let (store, stored) = serve(|_| Reply::File(bytes()));
    let (hub, asked) = serve(move |head| match head.contains("\r\nauthorization: bearer hf_secret\r\n") {
        true => Reply::Redirect(format!("http://{store}/blob?signature=1")),
        false => Reply::Status(401),
    });
    let options = StoreOptions::new().with_setting("endpoint", format!("http://{hub}"));
    let with_token = options.clone().with_setting("token", "hf_secret");
    read("hf://org/repo@v1/m.safetensors", &with_token).unwrap();
    let (seen, stored) = (asked.lock().unwrap().clone(), stored.lock().unwrap());
    assert_eq!(seen.len(), 1, "the store is asked directly once its address is known: {seen:?}");
    assert!(seen[0].starts_with("get /org/repo/resolve/v1/m.safetensors http/1.1\r\n"), "{seen:?}");
    assert!(stored.len() >= 3, "{stored:?}");
    assert!(stored.iter().all(|head| !head.contains("hf_secret") && !head.contains("authorization")), "{stored:?}");
    assert!(!format!("{with_token:?}").contains("hf_secret"));
    let error = read("hf://org/repo@v1/m.safetensors", &options.with_setting("token", "")).unwrap_err();
    let error = RemoteError::of(&error).unwrap();
    assert_eq!((error.kind, error.url.as_str()), (RemoteErrorKind::Denied, "hf://org/repo@v1/m.safetensors"));
}

/// Addresses with a signature end: the hub is asked for another one.
#[test]
fn an_address_that_ended_is_asked_for_again() {
    let count = Mutex::new(0);
    let (store, stored) = serve(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        if *count == 2 { Reply::Status(403) } else { Reply::File(bytes()) }
    });
    let (hub, asked) = serve(move |_| Reply::Redirect(format!("http://{store}/blob")));
    let options = StoreOptions::new().with_setting("endpoint", format!("http://{hub}"));
    read("hf://org/repo/m.safetensors", &options).unwrap();
    assert_eq!(asked.lock().unwrap().len(), 2);
    assert!(stored.lock().unwrap().len() >= 4);
}

#[test]
fn headers_stay_with_their_server() {
    let (store, stored) = serve(|_| Reply::File(bytes()));
    let (server, _) =
        serve(move |head| match head.contains("\r\nx-key: 7\r\n") && head.contains("\r\nx-other: y\r\n") {
            true => Reply::Redirect(format!("http://{store}/m")),
            false => Reply::Status(403),
        });
    let url = format!("http://{server}/m");
    let options = StoreOptions::new().with_setting("header", "X-Key: 7").with_setting("header", "X-Other:y");
    let refused = read(&url, &options).unwrap_err();
    assert_eq!(RemoteError::of(&refused).unwrap().kind, RemoteErrorKind::Redirected, "{refused}");
    assert!(stored.lock().unwrap().is_empty(), "the other server was not asked");
    let options = options.with_setting("allow_redirects", "true");
    read(&url, &options).unwrap();
    for head in stored.lock().unwrap().iter() {
        assert!(!head.contains("x-key") && !head.contains("x-other"), "{head}");
    }
    let error = read(&url, &StoreOptions::new()).unwrap_err();
    assert_eq!(RemoteError::of(&error).unwrap().kind, RemoteErrorKind::Denied);
    for (url, header) in [(url.as_str(), "nonsense"), (&url, "a b: c"), ("s3://bucket/m", "X-Key: 7")] {
        let error = read(url, &StoreOptions::new().with_setting("header", header)).unwrap_err();
        assert_eq!(RemoteError::of(&error).unwrap().kind, RemoteErrorKind::Request, "{url} {header}");
    }
    // A circle ends.
    let quick = options.with_retries(0);
    let (circle, _) = serve(|_| Reply::Redirect("/again".to_owned()));
    let error = read(&format!("http://{circle}/m"), &quick).unwrap_err();
    assert!(error.to_string().contains("redirects more than 8 times"), "{error}");
}

/// Where a server sends us is not where the user wanted to go.
#[test]
fn other_servers_are_asked_only_when_that_is_allowed() {
    let (store, stored) = serve(|_| Reply::File(bytes()));
    let (server, asked) = serve(move |_| Reply::Redirect(format!("http://{store}/m")));
    let url = format!("http://{server}/m");
    let error = read(&url, &StoreOptions::new()).unwrap_err();
    let error = RemoteError::of(&error).unwrap();
    assert_eq!((error.kind, error.code()), (RemoteErrorKind::Redirected, "remote_redirect"));
    assert!(error.detail.contains("another server") && error.detail.contains("allow_redirects"), "{error}");
    assert_eq!((asked.lock().unwrap().len(), stored.lock().unwrap().len()), (1, 0), "it is not asked again");
    read(&url, &StoreOptions::new().with_setting("Allow_Redirects", "TRUE")).unwrap();
    let wrong = read(&url, &StoreOptions::new().with_setting("allow_redirects", "perhaps")).unwrap_err();
    assert_eq!(RemoteError::of(&wrong).unwrap().kind, RemoteErrorKind::Request);
    // The same server may.
    let (moved, _) = serve(|head| match head.starts_with("get /m ") {
        true => Reply::Redirect("/n".to_owned()),
        false => Reply::File(bytes()),
    });
    read(&format!("http://{moved}/m"), &StoreOptions::new()).unwrap();
}

/// A byte now and then renews every timeout.
#[test]
fn servers_that_drip_are_given_up() {
    let (server, asked) = serve(|_| Reply::Drip(Duration::from_millis(50)));
    let begun = std::time::Instant::now();
    let options = StoreOptions::new().with_patience(Duration::from_millis(800));
    let error = read(&format!("http://{server}/m"), &options).unwrap_err();
    let error = RemoteError::of(&error).unwrap();
    assert_eq!((error.kind, error.code()), (RemoteErrorKind::Slow, "remote_too_slow"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(asked.lock().unwrap().len(), 1, "it is not asked again");
    // Longer reads have no end but that of their pace.
    let options = options.with_probe_len(1 << 20);
    let error = read(&format!("http://{server}/m"), &options).unwrap_err();
    let error = RemoteError::of(&error).unwrap();
    assert!(error.kind == RemoteErrorKind::Slow && error.detail.contains("less than 1024 per second"), "{error}");
}

#[test]
fn malformed_answers_are_not_asked_for_again() {
    for answer in [
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes nonsense\r\nContent-Length: 5\r\nLast-Modified: Wed, 01 Jan 2025 00:00:00 GMT\r\n\r\nhello",
        "SSH-2.0-OpenSSH_9.6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nbad header\u{1}\r\nContent-Length: x\r\n\r\n",
    ] {
        let (server, asked) = serve(move |_| Reply::Raw(answer));
        let error = read(&format!("http://{server}/m"), &StoreOptions::new()).unwrap_err();
        let error = RemoteError::of(&error).unwrap();
        assert_eq!(error.kind, RemoteErrorKind::Malformed, "{answer:?}: {error}");
        assert_eq!(asked.lock().unwrap().len(), 1, "{answer:?}: {error}");
    }
}

/// One request may be tried four times again, all of them together as often as the budget says.
#[test]
fn tries_have_a_budget() {
    let count = Mutex::new(0);
    let (server, asked) = serve(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        if *count % 2 == 0 { Reply::Status(503) } else { Reply::File(bytes()) }
    });
    let options =
        StoreOptions::new().with_backoff(Duration::ZERO, Duration::ZERO).with_cache_len(0).with_retry_budget(3);
    let source = open_source(&format!("http://{server}/m"), &options).unwrap();
    let mut part = [0; 10];
    let mut done = 0;
    let error = loop {
        match source.read_exact_at(100_000 + done * 20_000 % 90_000, &mut part) {
            Ok(()) => done += 1,
            Err(error) => break error,
        }
        assert!(done < 20, "the budget ends");
    };
    assert!(done >= 3, "{error}");
    assert!(error.to_string().contains("3 requests were tried again by now, which is the budget"), "{error}");
    assert!(asked.lock().unwrap().len() < 20);
}
