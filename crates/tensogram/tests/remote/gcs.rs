//! A store that speaks as Google's does: its XML API, as far as objects are read and written.

use super::emulator::{Answer, Objects, Request, elements, serve};
use super::proxy::Proxy;
use super::quick;
use super::suite::{self, Served};
use fw_source::remote::StoreOptions;
use std::sync::Arc;
use std::time::Duration;

fn started() -> (Served, StoreOptions) {
    let objects = Arc::<Objects>::default();
    let held = Arc::clone(&objects);
    let proxy = Proxy::new(serve(move |request| answer(&held, &request)), Duration::ZERO);
    let base = format!("http://{}", proxy.address);
    // Nothing is signed: what `disable_oauth` is for.
    let account = r#"{"client_email": "", "private_key": "", "private_key_id": "", "disable_oauth": true}"#;
    let options = quick().with_setting("google_base_url", &base).with_setting("google_service_account_key", account);
    let nobody = quick().with_setting("google_base_url", &base).with_setting("google_skip_signature", "true");
    (Served { proxy, options, base: "gs://bucket".to_owned(), objects, requests_to_begin: 1 }, nobody)
}

fn answer(objects: &Objects, request: &Request) -> Answer {
    if !request.path.starts_with("/bucket/") {
        return Answer::new(404);
    }
    // Objects of this folder are for those who say who they are. Who writes always does; without OAuth, who reads does not.
    if request.path.contains("/private/") && !request.headers.contains_key("authorization") {
        return Answer::new(401);
    }
    let path = &request.path;
    match (request.method.as_str(), request.query("uploadId"), request.query("partNumber")) {
        ("GET" | "HEAD", None, None) => objects.read(request),
        ("PUT", None, None) => Answer::new(200).with("ETag", objects.put(path, request.body.clone())),
        ("POST", None, None) if request.query("uploads").is_some() => {
            let name = objects.new_name();
            Answer::new(200).body(format!(
                "<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
            ))
        }
        ("PUT", Some(upload), Some(part)) => {
            Answer::new(200).with("ETag", objects.put_part(upload, part, request.body.clone()))
        }
        ("POST", Some(upload), None) => {
            let parts = elements(std::str::from_utf8(&request.body).unwrap(), "PartNumber");
            match objects.complete(path, upload, &parts) {
                Some(tag) => Answer::new(200)
                    .body(format!("<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>")),
                None => Answer::new(400),
            }
        }
        ("DELETE", Some(upload), None) => {
            objects.forget(upload);
            Answer::new(204)
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
fn an_abandoned_upload_leaves_nothing() {
    let (served, _) = started();
    suite::abandoned(&served);
    // Told to the store without waiting.
    for _ in 0..200 {
        if served.objects.loose_parts() == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} parts are still in the store", served.objects.loose_parts());
}

#[test]
fn public_objects_need_no_credentials_and_private_ones_do() {
    let (served, nobody) = started();
    suite::credentials(&served, &nobody);
}
