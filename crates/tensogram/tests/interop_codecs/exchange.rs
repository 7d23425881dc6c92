//! The other side: one Python process that answers line by line.

use crate::cases::Case;
use fw_tensogram::{EncodeOptions, Value};
use serde_json::{Map, Value as Json, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Stdio};

/// What the reference makes of one case.
pub(crate) struct Answer {
    pub(crate) ours: Reading,
    /// Its own message, and what it reads from that.
    pub(crate) theirs: Option<(Vec<u8>, Reading)>,
}

/// What the reference reads from a message.
pub(crate) struct Reading {
    pub(crate) native: Vec<u8>,
    pub(crate) wire: Vec<u8>,
    pub(crate) ranges: Result<Vec<Vec<u8>>, String>,
}

/// Asks the reference about every case (object, our message, whether to encode it too), or says loudly that it is not
/// there.
pub(crate) fn ask(codec: &str, requests: &[(&Case, &[u8], bool)]) -> Option<Vec<Answer>> {
    let Some(python) = std::env::var_os("FW_PYTHON") else {
        skip(&format!("tensogram interop of {codec}: FW_PYTHON is not set (cargo xtask test sets it)"));
        return None;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop_codecs/reference.py");
    let mut child =
        Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("FW_PYTHON runs");
    let mut stdin = child.stdin.take().expect("standard input was piped");
    let lines: Vec<String> = requests.iter().map(request).collect();
    let feeder = std::thread::spawn(move || lines.iter().try_for_each(|line| writeln!(stdin, "{line}")));
    let output = child.wait_with_output().expect("the reference ends");
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    let answers: Vec<&str> = text.lines().collect();
    if let Some((case, ..)) = requests.get(answers.len()) {
        panic!("the reference died ({}) at {codec} {}: {}", output.status, answers.len(), case.label());
    }
    feeder.join().expect("feeding does not panic").expect("the reference reads all its input");
    let pairs = answers.iter().zip(requests).enumerate();
    Some(pairs.map(|(number, (line, (case, ..)))| read(line, &format!("{codec} {number}: {}", case.label()))).collect())
}

fn request((case, ours, encode): &(&Case, &[u8], bool)) -> String {
    json!({
        "descriptor": descriptor(case),
        "data": hex(&case.data),
        "options": options(&case.options),
        "ranges": case.ranges,
        "ours": hex(ours),
        "encode": encode,
    })
    .to_string()
}

fn descriptor(case: &Case) -> Json {
    let descriptor = &case.descriptor;
    let mut map = Map::new();
    map.insert("type".to_owned(), json!(descriptor.obj_type));
    map.insert("shape".to_owned(), json!(descriptor.shape));
    map.insert("dtype".to_owned(), json!(descriptor.dtype.name()));
    map.insert("byte_order".to_owned(), json!(descriptor.byte_order.name()));
    map.insert("encoding".to_owned(), json!(descriptor.encoding));
    map.insert("filter".to_owned(), json!(descriptor.filter));
    map.insert("compression".to_owned(), json!(descriptor.compression));
    for (key, value) in &descriptor.params {
        let value = match value {
            Value::Integer(number) => json!(i64::try_from(*number).unwrap()),
            Value::Float(number) => json!(number),
            Value::Text(text) => json!(text),
            other => panic!("{key} is {other:?}"),
        };
        map.insert(key.clone(), value);
    }
    Json::Object(map)
}

fn options(options: &EncodeOptions) -> Json {
    if !options.allow_nan {
        return json!({});
    }
    json!({
        "allow_nan": true,
        "allow_inf": options.allow_inf,
        "nan_mask_method": options.nan_mask_method.name(),
        "pos_inf_mask_method": options.pos_inf_mask_method.name(),
        "neg_inf_mask_method": options.neg_inf_mask_method.name(),
        "small_mask_threshold_bytes": options.small_mask_threshold_bytes,
    })
}

fn read(line: &str, what: &str) -> Answer {
    let json: Json = serde_json::from_str(line).expect("one JSON per line");
    assert!(json["error"].is_null(), "{} at {what}", json["error"]);
    let theirs = json.get("message").map(|message| (unhex(message), reading(&json["theirs"])));
    Answer { ours: reading(&json["ours"]), theirs }
}

fn reading(json: &Json) -> Reading {
    let ranges = match &json["ranges"] {
        Json::Array(parts) => Ok(parts.iter().map(unhex).collect()),
        Json::String(error) => Err(error.clone()),
        _ => Ok(Vec::new()),
    };
    Reading { native: unhex(&json["native"]), wire: unhex(&json["wire"]), ranges }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn unhex(json: &Json) -> Vec<u8> {
    let text = json.as_str().expect("hex text").as_bytes();
    let digit = |byte: u8| if byte <= b'9' { byte - b'0' } else { byte - b'a' + 10 };
    text.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// The harness hides what passing tests print: the run gathers these lines instead.
pub(crate) fn skip(reason: &str) {
    eprintln!("SKIPPED {reason}");
    if let Some(path) = std::env::var_os("FW_SKIPPED")
        && let Ok(mut file) = OpenOptions::new().append(true).create(true).open(path)
    {
        _ = writeln!(file, "{reason}");
    }
}
