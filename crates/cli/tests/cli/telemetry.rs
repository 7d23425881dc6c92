//! Captures for other tools: conditions on fields, statistics of fields, CSV, MCAP, Parquet, Arrow.

#[cfg(feature = "telemetry")]
use super::fw_words;
use super::{fine, fw};

const SCHEMA: &str = "package demo;
enum Fix { NONE = 0; FIX_2D = 2; FIX_3D = 3; }
message Point { float x = 1; }
message Go { uint16 speed = 1; }
message Gps { option msgid = 1; uint64 stamp_us = 1; Fix fix = 2; repeated uint16 snr = 3 [max_size=3]; Point at = 4; string who = 5 [max_size=8]; }
message Command { option msgid = 2; oneof body { option discriminator = field_order; Go go = 1; uint32 stop = 2; } }
";

const LINES: &str = r#"{"message":"Gps","values":{"stamp_us":"1000","fix":"NONE","snr":[1],"at":{"x":0.1},"who":"a,\"b\""}}
{"message":"Gps","values":{"stamp_us":"2000","fix":"FIX_3D","snr":[5,7,9],"at":{"x":2.5},"who":"c"}}
{"message":"Command","values":{"body":{"which":"go","value":{"speed":3}}}}
{"message":"Gps","values":{"stamp_us":"3000","fix":77,"snr":[],"at":{"x":"NaN"},"who":""}}
{"message":"Command","values":{"body":null}}
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.sf"), SCHEMA).expect("written");
    std::fs::write(folder.path().join("lines.jsonl"), LINES).expect("written");
    fine(folder.path(), "encode lines.jsonl -s s.sf -p standard -o a.bin");
    folder
}

/// The numbers of the lines that a condition selects.
fn selected(folder: &tempfile::TempDir, clauses: &str) -> Vec<usize> {
    let all = fine(folder.path(), "decode a.bin -s s.sf");
    let all: Vec<&str> = all.text().lines().collect();
    let run = fine(folder.path(), &format!("decode a.bin -s s.sf {clauses}"));
    run.text().lines().map(|line| all.iter().position(|one| *one == line).expect("a line of all")).collect()
}

#[test]
fn conditions_on_fields() {
    let folder = folder();
    for (clauses, lines) in [
        ("--where Gps.fix>=3", vec![1, 3]),
        ("-w Gps.fix=FIX_3D", vec![1]),
        ("-w Gps.fix=FIX_*", vec![1]),
        ("-w Gps.fix!=NONE", vec![1, 2, 3, 4]),
        ("-w Gps.fix!=NONE -w message=Gps", vec![1, 3]),
        ("-w Gps.fix=77", vec![3]),
        ("-w Gps.at.x=0.1", vec![0]),
        ("-w Gps.snr[0]=1..5", vec![0, 1]),
        ("-w Gps.snr[-1]=9", vec![1]),
        ("-w demo.Gps.who=c", vec![1]),
        ("-w Command.body=go", vec![2]),
        ("-w Command.body.go.speed>2", vec![2]),
        ("-w Command.body.which=go", vec![2]),
        ("-w id=2", vec![2, 4]),
        ("-w at=0", vec![0]),
    ] {
        assert_eq!(selected(&folder, clauses), lines, "{clauses}");
    }
    let run = fw(folder.path(), "decode a.bin -s s.sf -w Gps.fx>=3");
    assert_eq!(run.code, 2);
    assert_eq!(run.err, "fw: --where Gps.fx>=3: no message of the schema has the key Gps.fx; did you mean Gps.fix?\n");
    let run = fw(folder.path(), "info a.bin -w Gps.fix>=3");
    assert_eq!((run.code, run.err.as_str()), (2, "fw: --where is for struct-frame captures and requires --schema\n"));
    // A capture of what is selected: its columns become these frames again.
    fine(folder.path(), "convert a.bin some.tgm -s s.sf -w Gps.fix>=3");
    fine(folder.path(), "convert some.tgm some.bin");
    assert_eq!(fine(folder.path(), "decode some.bin -s s.sf").text().lines().count(), 2);
}

#[test]
fn statistics_of_fields() {
    let folder = folder();
    let run = fine(folder.path(), "info a.bin -s s.sf --fields --json");
    let fields = &run.json()["fields"];
    let field = |message: usize, path: &str| {
        let fields = fields[message]["fields"].as_array().expect("fields");
        fields
            .iter()
            .find(|field| field["field"] == path)
            .unwrap_or_else(|| panic!("no field {path}: {fields:?}"))
            .clone()
    };
    assert_eq!((&fields[0]["message"], &fields[0]["frames"]), (&"Gps".into(), &3.into()));
    let stamp = field(0, "stamp_us");
    assert_eq!((&stamp["min"], &stamp["max"], &stamp["mean"]), (&1000.into(), &3000.into(), &2000.0.into()));
    let snr = field(0, "snr");
    assert_eq!((&snr["values"], &snr["min"], &snr["max"]), (&4.into(), &1.into(), &9.into()));
    assert_eq!(field(0, "fix")["counts"], serde_json::json!({"NONE": 1, "FIX_3D": 1, "77": 1}));
    assert_eq!(field(0, "at.x")["nan"], 1);
    assert_eq!((field(0, "who")["min_bytes"].clone(), field(0, "who")["max_bytes"].clone()), (0.into(), 5.into()));
    assert_eq!(field(1, "body")["counts"], serde_json::json!({"go": 1, "(unset)": 1}));
    assert_eq!(field(1, "body.go.speed")["max"], 3);
    // With a condition, only what it selects counts.
    let run = fine(folder.path(), "info a.bin -s s.sf --fields --where Gps.fix>=3 --json");
    assert_eq!((&run.json()["left_out"], &run.json()["fields"][0]["frames"]), (&3.into(), &2.into()));
    let text = fine(folder.path(), "info a.bin -s s.sf --fields --where Gps.fix=FIX_3D");
    let wanted = "\
file       a.bin, 127 B
format     struct-frame capture
profile    standard (found by content)
frames     5 good, 0 bad checksums
left out   4 frames that --where does not select

";
    assert!(text.text().starts_with(wanted), "{}", text.text());
    assert!(text.text().contains("\nGps (id 1), 1 frame\n"), "{}", text.text());
}

#[test]
fn comma_separated_values() {
    let folder = folder();
    let run = fine(folder.path(), "convert a.bin a.csv -s s.sf --time stamp_us:us");
    assert_eq!(run.text(), "wrote a.Gps.csv: 3 rows of Gps\nwrote a.Command.csv: 2 rows of Command\n");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("read");
    let gps = read("a.Gps.csv");
    let mut lines = gps.split("\r\n");
    assert_eq!(lines.next(), Some("@at,@time,stamp_us,fix,snr[0],snr[1],snr[2],at.x,who"));
    assert_eq!(lines.next(), Some("0,1000000,1000,NONE,1,,,0.1,\"a,\"\"b\"\"\""));
    assert_eq!(
        lines.next().map(|line| line.split_once(',').expect("cells").1),
        Some("2000000,2000,FIX_3D,5,7,9,2.5,c")
    );
    assert_eq!(lines.next().map(|line| line.split_once(',').expect("cells").1), Some("3000000,3000,77,,,,NaN,"));
    assert_eq!(lines.next(), Some(""));
    let command = read("a.Command.csv");
    let rows: Vec<_> = command.split("\r\n").map(|line| line.split_once(',').map_or("", |(_, rest)| rest)).collect();
    assert_eq!(rows, ["@time,body,body.go.speed,body.stop", "2000000,go,3,", "3000000,,,", ""]);
    // One message goes to the file that was named; nothing is overwritten unasked.
    let run =
        fine(folder.path(), "convert a.bin gps.csv -s s.sf --message Gps --where Gps.fix=FIX_3D --enum-numbers --json");
    assert_eq!(run.json()["tables"], serde_json::json!([{"file": "gps.csv", "message": "Gps", "rows": 1}]));
    assert!(read("gps.csv").contains(",2000,3,5,7,9,2.5,c\r\n"), "{}", read("gps.csv"));
    let run = fw(folder.path(), "convert a.bin a.csv -s s.sf");
    assert_eq!((run.code, run.err.as_str()), (2, "fw: a.Gps.csv: already exists; use --force to overwrite it\n"));
    let run = fw(folder.path(), "convert lines.jsonl b.csv");
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "fw: only struct-frame captures can be converted to CSV, which requires --schema\n")
    );
    let run = fw(folder.path(), "convert a.bin b.bt -s s.sf");
    assert!(
        run.err.starts_with("fw: a capture can only be converted to Tensogram (.tgm), MCAP (.mcap)"),
        "{}",
        run.err
    );
}

/// A capture to MCAP and back to columns; Parquet and Arrow are written.
#[test]
#[cfg(feature = "telemetry")]
fn other_tools() {
    let folder = folder();
    let run = fine(folder.path(), "convert a.bin a.mcap -s s.sf --time stamp_us:us");
    assert_eq!(run.text(), "wrote a.mcap: 5 messages in 2 channels (standard)\n");
    let run = fw(folder.path(), "convert a.bin untimed.mcap -s s.sf --message Gps --json");
    assert_eq!((run.code, &run.json()["selected"], &run.json()["channels"]), (0, &3.into(), &1.into()));
    assert_eq!(run.json()["notes"].as_array().map(Vec::len), Some(1));
    let run = fine(folder.path(), "convert a.mcap back.tgm");
    assert_eq!(run.text(), "wrote back.tgm: 5 messages of 2 channels, 18 columns\n");
    let words = ["cat", "back.tgm", "--tensor", "Gps.stamp_us", "--text"].map(str::to_owned);
    assert_eq!(fw_words(folder.path(), &words).text().split_whitespace().collect::<Vec<_>>(), ["1000", "2000", "3000"]);
    for name in ["t.parquet", "t.arrow", "t.feather"] {
        let run = fine(folder.path(), &format!("convert a.bin {name} -s s.sf --message Command"));
        assert_eq!(run.text(), format!("wrote {name}: 2 rows of Command\n"));
    }
    let run = fw(folder.path(), "convert a.mcap b.npz");
    assert_eq!(run.code, 2);
    std::fs::write(folder.path().join("cut.mcap"), &std::fs::read(folder.path().join("a.mcap")).expect("read")[..300])
        .expect("written");
    let run = fw(folder.path(), "convert cut.mcap b.tgm --json");
    assert_eq!((run.code, &run.json()["error"]["code"]), (1, &"truncated".into()));
    assert!(!folder.path().join("b.tgm").exists());
    let run = fw(folder.path(), "info a.mcap");
    assert!(run.err.contains("hint: this is an MCAP file; fw convert reads it"), "{}", run.err);
}

/// The bridge serves until its input ends, and says where.
#[test]
#[cfg(feature = "telemetry")]
fn a_bridge() {
    let folder = folder();
    let run = fine(folder.path(), "bridge a.bin --foxglove -s s.sf --port 0 --where Gps.fix>=3 --json");
    let lines: Vec<serde_json::Value> =
        run.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines[0]["url"].as_str().is_some_and(|url| url.starts_with("ws://127.0.0.1:")));
    assert_eq!((&lines[1]["frames"], &lines[1]["sent"]), (&5.into(), &2.into()));
    // A link, until the other side closes it.
    let bytes = std::fs::read(folder.path().join("a.bin")).expect("read");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = listener.local_addr().expect("known");
    let sender = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().expect("a peer");
        std::io::Write::write_all(&mut peer, &bytes).expect("sent");
    });
    let run = fine(folder.path(), &format!("bridge tcp:{address}?retry=never --foxglove -s s.sf --port 0 --json"));
    sender.join().expect("sent");
    let last: serde_json::Value = serde_json::from_str(run.text().lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["frames"], &last["sent"]), (&5.into(), &5.into()));
    let run = fw(folder.path(), "bridge a.bin --foxglove -s s.sf --host nowhere.invalid");
    assert_eq!(run.code, 1, "{}", run.err);
}
