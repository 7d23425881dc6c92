//! The conformance list of struct-frame, a test per row. Each says itself what it proves; the wide sweeps over the shared
//! vectors, random schemas and damaged streams stand beside it in this crate, in `fw-structframe` and in the conformance runner.

use fw_dynamic::columns::Capture;
use fw_dynamic::{Codec, FrameCodec};
use fw_schema::{Schema, check, check_text};
use fw_structframe::{Event, Frames, Framing, Header, MessageInfo, Profile, write};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const DEMO: &str = "package demo;
    enum Mode { OFF = 0; ON = 1; }
    message Go { option msgid = 100; uint8 speed = 1; }
    message Halt { option msgid = 101; uint16 why = 1; uint32 at = 2; }
    message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; Mode mode = 3; }
    message Trace { option msgid = 8; option variable = true; uint8 n = 1; repeated uint16 v = 2 [max_size=4];
        string s = 3 [max_size=5]; repeated string t = 4 [max_size=2, element_size=3]; uint8 end = 5; }
    message Cmd { option msgid = 10; uint8 a = 1; oneof body { Go go = 1; Halt halt = 2; } }
    message Report { option msgid = 14; uint16 id = 1; uint8 code = 2; option extensions_start = 3; uint32 up = 3;
        uint8 lvl = 4 [default = 5]; }";

const OLD_REPORT: &str = "package demo; message Report { option msgid = 14; uint16 id = 1; uint8 code = 2; }";

fn compile(text: &str) -> Schema {
    check_text("demo.sf", text).into_result().unwrap_or_else(|faults| panic!("{faults}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/struct-frame")
}

fn read_json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn encode(schema: &Schema, framing: Framing, name: &str, header: Header, values: &Json) -> Vec<u8> {
    let codec = Codec::new(schema);
    let mut bytes = Vec::new();
    let message = schema.find(name).unwrap();
    FrameCodec::new(&codec, framing).write_json(message, header, values, &mut bytes).unwrap();
    bytes
}

/// What every reader makes of the bytes: the whole buffer, chunks, single bytes. All must tell the same.
fn decode(schema: &Schema, framing: Framing, bytes: &[u8]) -> Vec<String> {
    let codec = Codec::new(schema);
    let frames = FrameCodec::new(&codec, framing);
    let tell = |event: Event<'_>| match event {
        Event::Frame(frame) => serde_json::to_string(&frames.line(&frame)).unwrap(),
        Event::BadChecksum(_) => "bad checksum".to_owned(),
        Event::Skipped(_) => "skipped".to_owned(),
        Event::Truncated(_) => "truncated".to_owned(),
    };
    let whole: Vec<String> = frames.read(bytes).map(tell).collect();
    for len in [1, 2, 3, 7, 64, 1000] {
        let mut stream = frames.stream();
        let mut events = Vec::new();
        bytes.chunks(len).for_each(|chunk| stream.read(chunk, |event| events.push(tell(event))));
        stream.finish(|event| events.push(tell(event)));
        assert_eq!(events, whole, "in chunks of {len}");
    }
    whole
}

fn good(schema: &Schema, framing: Framing, bytes: &[u8]) -> Vec<Json> {
    let parsed = decode(schema, framing, bytes).into_iter().map(|line| serde_json::from_str::<Json>(&line).unwrap());
    parsed.map(|line| line["values"].clone()).collect()
}

#[test]
fn row_1_all_five_profiles_are_byte_exact() {
    let schema = compile(DEMO);
    let header = Header { sequence: 5, system: 1, component: 2 };
    let values = json!({"seq": 0x1234, "ack": true, "mode": "ON"});
    for (profile, bytes) in Profile::ALL.into_iter().zip([
        "90 71 04 07 34 12 01 01 9e 52",
        "70 07 34 12 01 01",
        "07 34 12 01 01",
        "90 74 04 00 00 07 34 12 01 01 9e 5a",
        "90 78 05 01 02 04 00 00 07 34 12 01 01 a6 bd",
    ]) {
        assert_eq!(encode(&schema, profile.framing(), "Ping", header, &values), hex(bytes), "{profile:?}");
        assert_eq!(good(&schema, profile.framing(), &hex(bytes)), std::slice::from_ref(&values));
    }
}

#[test]
fn row_2_fletcher_with_the_magic_of_each_message() {
    // The same payload as two messages of the same size: only the seeds differ.
    let schema = compile("package a; message A { option msgid = 1; uint16 a = 1; }");
    let magic = schema.by_id(1).unwrap().magic;
    let info = MessageInfo { id: 1, max_size: 2, base_size: 2, min_size: 2, magic };
    let mut sums = (0_u8, 0_u8);
    for byte in [2, 1, 7, 8, magic[0], magic[1]] {
        sums.0 = sums.0.wrapping_add(byte);
        sums.1 = sums.1.wrapping_add(sums.0);
    }
    let mut room = [0; 16];
    let standard = Profile::Standard.framing();
    assert_eq!(write(standard, Header::default(), &info, &[7, 8], &mut room).unwrap()[6..], [sums.0, sums.1]);
    let other = MessageInfo { magic: [9, 200], ..info };
    let foreign = write(standard, Header::default(), &other, &[7, 8], &mut room).unwrap();
    assert_eq!(decode(&schema, standard, foreign), ["bad checksum"]);
}

#[test]
fn row_3_magic_is_derived_from_the_types() {
    let of = |text: &str| compile(&format!("package p; {text}")).find("M").unwrap().magic;
    assert_eq!(of("message M { option msgid = 1; uint8 a = 1; }"), [2, 2]);
    assert_eq!(
        of("enum E { A = 0; } message M { option msgid = 1; uint16 a = 1; bool b = 2; E c = 3; }"),
        [0x1d, 0x2e]
    );
    assert_eq!(of("message Inner { uint8 a = 1; } message M { option msgid = 1; Inner a = 1; }"), [253, 253]);
    assert_eq!(of("message Zerokzz { uint8 a = 1; } message M { option msgid = 1; Zerokzz a = 1; }"), [0x5a, 0xa5]);
    assert_eq!(of("message M { option msgid = 1; option magic_bytes = '0x11, 34'; uint8 a = 1; }"), [0x11, 34]);
    let schema = compile(DEMO);
    assert_eq!([schema.by_id(8).unwrap().magic, schema.by_id(10).unwrap().magic], [[0x2c, 0x71], [0x46, 2]]);
}

/// By hand with the smallest message, and then every scenario of the shared vectors.
#[test]
fn row_4_every_negative_scenario_is_rejected() {
    let schema = compile(DEMO);
    let standard = Profile::Standard.framing();
    let ping = hex("90 71 04 07 34 12 01 01 9e 52");
    let change = |at: usize, byte: u8| {
        let mut bytes = ping.clone();
        bytes[at] = byte;
        bytes
    };
    for (bytes, event) in [
        (change(8, 0x9f), "bad checksum"),
        (change(9, 0x53), "bad checksum"),
        (change(2, 0xff), "truncated"),
        (change(3, 0x63), "bad checksum"),
        (change(0, 0x91), "skipped"),
        (change(1, 0x72), "skipped"),
        (ping[..9].to_vec(), "truncated"),
        (ping[..3].to_vec(), "truncated"),
        (b"only noise".to_vec(), "skipped"),
    ] {
        assert_eq!(decode(&schema, standard, &bytes), [event], "{bytes:02x?}");
    }
    assert_eq!(decode(&schema, standard, &[]), Vec::<String>::new());
    assert_eq!(decode(&schema, Profile::Sensor.framing(), &hex("70 07 34 12")), ["truncated"]);
    // Failed frames and noise cost nothing that follows.
    let stream = [change(9, 0), ping.clone(), b"noise".to_vec(), ping.clone(), change(4, 0), ping].concat();
    let events = decode(&schema, standard, &stream);
    assert_eq!(events.iter().filter(|line| line.contains("Ping")).count(), 3, "{events:?}");
    let folder = root().join("13-negative");
    let manifest = read_json(&folder.join("manifest.json"));
    let scenarios = manifest["scenarios"].as_array().unwrap();
    assert_eq!(scenarios.len(), 29);
    scenarios.iter().for_each(|entry| scenario(&folder, &manifest["schema"], entry));
}

/// One negative scenario: the items and counters it lists, by the reader it names, before the end of the input is told; and
/// no frame besides when it is.
fn scenario(folder: &Path, schema: &Json, entry: &Json) {
    let what = entry["scenario"].as_str().unwrap();
    let schema = folder.join(entry["schema"].as_str().or(schema.as_str()).unwrap());
    let schema = check(schema).into_result().unwrap_or_else(|faults| panic!("{faults}"));
    let codec = Codec::new(&schema);
    let frames = FrameCodec::new(&codec, entry["profile"].as_str().unwrap().parse().unwrap());
    let bytes = std::fs::read(folder.join(entry["file"].as_str().unwrap())).unwrap();
    assert_eq!(bytes, hex(entry["hex"].as_str().unwrap()), "{what}");
    let mut items = Vec::new();
    let mut take = |event: Event<'_>| match event {
        Event::Frame(frame) => items.push(format!("Valid {} {}", frame.span.len(), frame.id)),
        Event::BadChecksum(bad) => items.push(format!("CrcFailure {}", bad.span.len())),
        Event::Skipped(_) | Event::Truncated(_) => {}
    };
    let lens: Vec<usize> = match (entry["reader"].as_str().unwrap(), entry["chunks"].as_array()) {
        ("push_byte", _) => vec![1; bytes.len()],
        (_, Some(chunks)) => chunks.iter().map(|len| len.as_u64().unwrap() as usize).collect(),
        _ => vec![bytes.len()],
    };
    assert_eq!(lens.iter().sum::<usize>(), bytes.len(), "{what}");
    let (counters, partial) = if entry["reader"] == "buffer" {
        let mut reader = frames.read(&bytes);
        while let Some(event) = reader.next_event() {
            take(event);
        }
        (reader.counters(), reader.partial_len())
    } else {
        let (mut stream, mut rest) = (frames.stream(), bytes.as_slice());
        for len in lens {
            let (chunk, behind) = rest.split_at(len);
            stream.read(chunk, &mut take);
            rest = behind;
        }
        let found = (stream.counters(), stream.partial_len());
        stream.finish(|event| assert!(!matches!(event, Event::Frame(_)), "{what}: {event:?}"));
        found
    };
    let item = |item: &Json| match item["result"].as_str().unwrap() {
        "Valid" => Some(format!("Valid {} {}", item["frame_size"], item["msg_id"])),
        "CrcFailure" => Some(format!("CrcFailure {}", item["frame_size"])),
        _ => None,
    };
    let expected: Vec<String> = entry["items"].as_array().unwrap().iter().filter_map(item).collect();
    assert_eq!(items, expected, "{what}");
    if let Some(expected) = entry.get("remaining").or(entry.get("partial_size")) {
        assert_eq!(*expected, json!(partial), "{what}");
    }
    for (name, found) in [
        ("crc_failures", counters.crc_failures),
        ("sync_recoveries", counters.sync_recoveries),
        ("failed_bytes", counters.failed_bytes),
        ("len_errors", counters.len_errors),
        ("seq_gaps", counters.seq_gaps),
    ] {
        if let Some(expected) = entry.get("counters").and_then(|counters| counters.get(name)) {
            assert_eq!(*expected, json!(found), "{what}: {name}");
        }
    }
}

#[test]
fn row_5_extensions_split_the_checksum_and_old_and_new_understand_each_other() {
    let (new, old) = (compile(DEMO), compile(OLD_REPORT));
    let standard = Profile::Standard.framing();
    let header = Header::default();
    // The magic comes from the base alone.
    assert_eq!((new.by_id(14).unwrap().magic, old.by_id(14).unwrap().magic), ([7, 11], [7, 11]));
    let values = json!({"id": 0x0102, "code": 3, "up": 0x0a0b_0c0d, "lvl": 9});
    let sent = encode(&new, standard, "Report", header, &values);
    assert_eq!(sent, hex("90 71 08 0e 02 01 03 0d 0c 0b 0a 09 65 51"));
    assert_eq!(good(&old, standard, &sent), [json!({"id": 0x0102, "code": 3})]);
    assert_eq!(good(&new, standard, &sent), [values]);
    // Nothing extends: the plain form, and the new reader fills in defaults.
    let sent = encode(&old, standard, "Report", header, &json!({"id": 0x0102, "code": 3}));
    assert_eq!(sent, hex("90 71 03 0e 02 01 03 29 99"));
    assert_eq!(good(&new, standard, &sent), [json!({"id": 0x0102, "code": 3, "up": 0, "lvl": 5})]);
    // A damaged extension byte is noticed on both sides.
    let damaged = hex("90 71 08 0e 02 01 03 0d 0c 0b 0b 09 65 51");
    assert_eq!(
        (decode(&old, standard, &damaged), decode(&new, standard, &damaged)),
        (vec!["bad checksum".to_owned()], vec!["bad checksum".to_owned()])
    );
}

#[test]
fn row_6_the_package_is_the_high_byte_of_the_id() {
    let schema = compile("package p; option pkgid = 3; message M { option msgid = 7; uint8 a = 1; }");
    assert_eq!(schema.find("M").unwrap().id, Some(0x0307));
    let values = json!({"a": 9});
    let bulk = encode(&schema, Profile::Bulk.framing(), "M", Header::default(), &values);
    assert_eq!(bulk[..7], [0x90, 0x74, 1, 0, 3, 7, 9]);
    let network = encode(&schema, Profile::Network.framing(), "M", Header::default(), &values);
    assert_eq!(network[..10], [0x90, 0x78, 0, 0, 0, 1, 0, 3, 7, 9]);
    assert_eq!(good(&schema, Profile::Bulk.framing(), &bulk), [values]);
    let codec = Codec::new(&schema);
    for profile in [Profile::Standard, Profile::Sensor, Profile::Ipc] {
        let frames = FrameCodec::new(&codec, profile.framing());
        let refused = frames.write_payload(0x0307, Header::default(), &[9], &mut Vec::new()).unwrap_err();
        assert_eq!(refused.code, "id_too_large");
    }
}

#[test]
fn row_7_variable_messages_are_trimmed() {
    let schema = compile(DEMO);
    let values = json!({"n": 3, "v": [1, 0x0203], "s": "hi", "t": ["ab"], "end": 0xee});
    let wire = "03 02 01 00 03 02 02 68 69 01 61 62 00 ee";
    let standard = encode(&schema, Profile::Standard.framing(), "Trace", Header::default(), &values);
    assert_eq!(standard, hex(&format!("90 71 0e 08 {wire} 43 e8")));
    let fixed = "03 02 01 00 03 02 00 00 00 00 02 68 69 00 00 00 01 61 62 00 00 00 00 ee";
    let sensor = encode(&schema, Profile::Sensor.framing(), "Trace", Header::default(), &values);
    assert_eq!(sensor, hex(&format!("70 08 {fixed}")));
    for (profile, bytes) in [(Profile::Standard, standard), (Profile::Sensor, sensor)] {
        assert_eq!(good(&schema, profile.framing(), &bytes), std::slice::from_ref(&values));
    }
    // What comes after the used part may be anything.
    let careless = hex(&format!("70 08 {fixed}")
        .replace("03 02 00 00 00 00 02", "03 02 aa bb cc dd 02")
        .replace("69 00 00 00", "69 ee ff 99")
        .replace("62 00 00 00 00", "62 00 11 22 33"));
    assert_eq!(good(&schema, Profile::Sensor.framing(), &careless), [values]);
}

/// Languages of the reference, generated by its package when this test runs: their frames decode, values as set.
#[test]
fn row_8_frames_of_the_other_languages_decode() {
    let Some(python) = reference() else { return };
    let folder = std::env::temp_dir().join(format!("fw-languages-{}", std::process::id()));
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages");
    std::fs::create_dir_all(&folder).unwrap();
    let run = |command: &mut Command| -> Result<Vec<u8>, String> {
        let output = command.current_dir(&folder).output().map_err(|error| error.to_string())?;
        let words = || String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(output.stdout.clone()) } else { Err(words()) }
    };
    let mut generate = Command::new(&python);
    generate.args([
        "-m",
        "struct_frame",
        "--force",
        "--build_py",
        "--build_c",
        "--build_cpp",
        "--build_js",
        "--build_ts",
        "--build_rust",
    ]);
    run(generate.arg(tests.join("fleet.sf"))).unwrap();
    // It imports what was generated from beside itself.
    std::fs::copy(tests.join("fleet.ts"), folder.join("fleet.ts")).unwrap();
    let text = std::fs::read_to_string(tests.join("fleet.sf")).unwrap();
    let schema = compile(&text);
    let mut spoken = Vec::new();
    let programs: [(&str, Vec<Command>); 6] = [
        ("Python", vec![command(&python, &[&tests.join("fleet.py")])]),
        (
            "C",
            vec![
                command(
                    Path::new("gcc"),
                    &[
                        Path::new("-std=c11"),
                        Path::new("-Igenerated/c"),
                        &tests.join("fleet.c"),
                        Path::new("-ofleet_c"),
                    ],
                ),
                command(&folder.join("fleet_c"), &[]),
            ],
        ),
        (
            "C++",
            vec![
                command(
                    Path::new("g++"),
                    &[
                        Path::new("-std=c++20"),
                        Path::new("-Igenerated/cpp"),
                        &tests.join("fleet.cpp"),
                        Path::new("-ofleet_cpp"),
                    ],
                ),
                command(&folder.join("fleet_cpp"), &[]),
            ],
        ),
        (
            "Rust",
            vec![
                command(
                    Path::new("rustc"),
                    &[
                        Path::new("--edition=2021"),
                        Path::new("--cap-lints=allow"),
                        Path::new("--crate-type=rlib"),
                        Path::new("--crate-name=struct_frame_sdk"),
                        Path::new("generated/rust/lib.rs"),
                    ],
                ),
                command(
                    Path::new("rustc"),
                    &[
                        Path::new("--edition=2021"),
                        Path::new("-L."),
                        &tests.join("fleet.rs"),
                        Path::new("-o"),
                        Path::new("fleet_rs"),
                    ],
                ),
                command(&folder.join("fleet_rs"), &[]),
            ],
        ),
        ("JavaScript", vec![command(Path::new("node"), &[&tests.join("fleet.js")])]),
        ("TypeScript", vec![typescript(), command(Path::new("node"), &[Path::new("built/fleet.js")])]),
    ];
    for (language, commands) in programs {
        let mut last = Ok(Vec::new());
        for mut command in commands {
            let tool = command.get_program().to_string_lossy().into_owned();
            if Command::new(&tool).arg("--version").output().is_err() && !tool.contains("fleet") {
                last = Err(format!("no {tool} here"));
                break;
            }
            last = Ok(run(&mut command).unwrap_or_else(|words| panic!("{language}: {words}")));
        }
        match last {
            Err(why) => skip(&format!("{language}: {why}")),
            Ok(bytes) => {
                let expected = [
                    json!({"stamp": 3_000_000_000_u32, "x": -1.5, "ok": true, "status": 513}),
                    json!({"n": 2, "v": [258, 65535], "s": "hey"}),
                ];
                assert_eq!(good(&schema, Profile::Standard.framing(), &bytes), expected, "{language}");
                spoken.push(language);
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(spoken.contains(&"Python"), "{spoken:?}");
}

#[test]
fn row_9_output_is_deterministic() {
    let bytes = |_: usize| {
        let schema = compile(DEMO);
        let values = json!({"a": 1, "body": {"which": "halt", "value": {"why": 2, "at": 3}}});
        let frame = encode(&schema, Profile::Standard.framing(), "Cmd", Header::default(), &values);
        let codec = Codec::new(&schema);
        let (capture, _): (Capture<'_>, _) =
            FrameCodec::new(&codec, Profile::Standard.framing()).columns(&frame).unwrap();
        (frame, serde_json::to_string(schema.messages()).unwrap(), capture.tables[0].columns.clone())
    };
    let first = bytes(0);
    assert_eq!(first.0, hex("90 71 09 0a 01 65 00 02 00 03 00 00 00 c6 9a"));
    assert!((1..20).all(|round| bytes(round) == first));
}

/// SEQ, SYS and COMP are covered by the checksum: any other value of any of them fails.
#[test]
fn sequence_system_and_component_are_protected() {
    let schema = compile(DEMO);
    for framing in ["network", "basic+seq", "basic+syscomp", "basic+multisystemstream", "tiny+seq", "none+syscomp"] {
        let framing: Framing = framing.parse().unwrap();
        let header = Header { sequence: 5, system: 1, component: 2 };
        let frame = encode(&schema, framing, "Ping", header, &json!({"seq": 7}));
        let fields = usize::from(framing.has_sequence()) + 2 * usize::from(framing.has_system());
        for at in framing.start_len()..framing.start_len() + fields {
            for flip in 1..=255 {
                let mut damaged = frame.clone();
                damaged[at] ^= flip;
                let infos = fw_dynamic::message_infos(&schema);
                let mut events = Frames::new(framing, infos.as_slice(), &damaged);
                assert!(matches!(events.next(), Some(Event::BadChecksum(_))), "{framing}: byte {at} ^ {flip:#x}");
            }
        }
    }
}

/// The canonical files of the original, when they are at hand: every file decodes and re-encodes to its bytes.
#[test]
fn the_canonical_files_come_back_byte_for_byte() {
    let Some(golden) = std::env::var_os("FW_GOLDEN").map(PathBuf::from) else {
        return skip("FW_GOLDEN is not set, the canonical files were not checked");
    };
    let index = read_json(&golden.join("README.json"));
    for file in index["files"].as_array().unwrap() {
        let suite = &index["schemas"][file["suite"].as_str().unwrap()];
        let schema = check(golden.join(suite["schema"].as_str().unwrap())).into_result().unwrap();
        let codec = Codec::new(&schema);
        let framing: Framing = file["profile"].as_str().unwrap().parse().unwrap();
        let frames = FrameCodec::new(&codec, framing);
        let bytes = std::fs::read(golden.join(file["file"].as_str().unwrap())).unwrap();
        let mut again = Vec::new();
        for event in frames.read(&bytes) {
            let Event::Frame(frame) = event else { panic!("{}: {event:?}", file["file"]) };
            let value = frames.decode(&frame).unwrap();
            frames.write(schema.by_id(frame.id).unwrap(), frame.header, &value, &mut again).unwrap();
        }
        assert!(again == bytes, "{}", file["file"]);
    }
}

/// The compiler in `FW_TSC`, with the types of node that are installed beside it, or the one on the path.
fn typescript() -> Command {
    let compiler = std::env::var_os("FW_TSC").map_or_else(|| PathBuf::from("tsc"), PathBuf::from);
    let words =
        ["--target", "es2020", "--module", "commonjs", "--skipLibCheck", "--types", "node", "--outDir", "built"];
    let mut command = Command::new(&compiler);
    command.args(words).arg("fleet.ts");
    if let Some(packages) = compiler.parent().and_then(Path::parent) {
        command.arg("--typeRoots").arg(packages.join("@types"));
    }
    command
}

fn command(program: &Path, arguments: &[&Path]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn reference() -> Option<PathBuf> {
    let python = std::env::var_os("FW_PYTHON").map(PathBuf::from);
    let works = |path: &PathBuf| {
        Command::new(path).args(["-c", "import struct_frame"]).output().is_ok_and(|output| output.status.success())
    };
    let found = python.filter(works);
    if found.is_none() {
        skip("FW_PYTHON does not name an interpreter with struct-frame");
    }
    found
}

/// Says so on the terminal, and in the file that the project's test command gathers skips from.
fn skip(why: &str) {
    let line = format!("SKIPPED: {}: {why}", module_path!());
    eprintln!("{line}");
    if let Some(log) = std::env::var_os("FW_SKIPPED") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
        std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).unwrap();
    }
}
