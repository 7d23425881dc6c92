//! A store that speaks as Azure's blob service does, as far as blobs are read and written.

use super::emulator::{Answer, Objects, Request, elements, serve};
use super::proxy::Proxy;
use super::quick;
use super::suite::{self, Served};
use fw_source::remote::StoreOptions;
use fw_tensogram::open_source;
use std::sync::Arc;
use std::time::Duration;

fn started() -> (Served, StoreOptions) {
    let objects = Arc::<Objects>::default();
    let held = Arc::clone(&objects);
    let proxy = Proxy::new(serve(move |request| answer(&held, &request)), Duration::ZERO);
    let nobody = quick()
        .with_setting("azure_storage_endpoint", format!("http://{}", proxy.address))
        .with_setting("azure_storage_account_name", "account")
        .with_setting("azure_skip_signature", "true");
    let options = quick()
        .with_setting("azure_storage_endpoint", format!("http://{}", proxy.address))
        .with_setting("azure_storage_account_name", "account")
        .with_setting("azure_storage_account_key", "c2VjcmV0LXNlY3JldA==");
    // Blocks come without an announcement.
    (Served { proxy, options, base: "az://container".to_owned(), objects, requests_to_begin: 0 }, nobody)
}

fn answer(objects: &Objects, request: &Request) -> Answer {
    if !request.path.starts_with("/container/") {
        return Answer::new(404);
    }
    let is_signed = request.header("authorization").starts_with("SharedKey account:")
        && !request.header("date").is_empty()
        && !request.header("x-ms-version").is_empty();
    let is_read = matches!(request.method.as_str(), "GET" | "HEAD");
    if !is_signed && (!is_read || request.path.contains("/private/")) {
        return Answer::new(403);
    }
    let path = &request.path;
    match (request.method.as_str(), request.query("comp")) {
        ("GET" | "HEAD", None) => objects.read(request),
        ("PUT", None) if request.header("x-ms-blob-type") == "BlockBlob" => {
            Answer::new(201).with("ETag", objects.put(path, request.body.clone()))
        }
        ("PUT", Some("block")) => match request.query("blockid") {
            Some(block) => {
                objects.put_part(path, block, request.body.clone());
                Answer::new(201)
            }
            None => Answer::new(400),
        },
        ("PUT", Some("blocklist")) => {
            let blocks = elements(std::str::from_utf8(&request.body).unwrap(), "Uncommitted");
            match objects.complete(path, path, &blocks) {
                Some(tag) => Answer::new(201).with("ETag", tag),
                None => Answer::new(400),
            }
        }
        _ => Answer::new(400),
    }
}

#[test]
fn small_objects_are_one_request_each_way() {
    suite::small_objects(&started().0);
}

#[test]
fn listings_objects_and_slices_cost_what_they_need() {
    suite::costs(&started().0);
}

#[test]
fn streams_leave_in_parts_and_are_read_in_ranges() {
    suite::parts(&started().0);
}

#[test]
fn replaced_missing_and_empty_objects_are_told_apart() {
    suite::versions(&started().0);
}

#[test]
fn trouble_is_gone_through_or_told() {
    suite::trouble(&started().0);
}

#[test]
fn an_abandoned_upload_leaves_no_object() {
    // Its blocks stay: the service drops them after a week, and knows no other way.
    suite::abandoned(&started().0);
}

#[test]
fn public_objects_need_no_credentials_and_private_ones_do() {
    let (served, nobody) = started();
    suite::credentials(&served, &nobody);
    let private = open_source("az://container/private/secret.tgm", &served.options).unwrap();
    assert_eq!(private.message_count().unwrap(), 1);
}
