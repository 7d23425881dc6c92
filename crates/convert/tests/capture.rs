//! Captures as rows: any split of the input gives the same rows, damage is listed, conditions and tables agree.

use fw_convert::{
    Arrival, CaptureInput, CaptureOptions, Chunks, ConvertError, Csv, FrameFilter, each_row, frames_to_tables,
    table_files,
};
use fw_dynamic::{Codec, EnumStyle, FrameCodec};
use fw_query::Where;
use fw_schema::{Schema, check_text};
use fw_structframe::{Header, Profile};
use proptest::prelude::*;
use serde_json::json;

const TEXT: &str = "package d;
    enum Mode { OFF = 0; ON = 1; }
    message A { option msgid = 1; uint32 n = 1; Mode mode = 2; repeated int8 v = 3 [max_size=4]; }
    message B { option msgid = 2; uint64 t = 1; bytes raw = 2 [size=3]; string long = 3 [max_size=200]; }
    message C { option msgid = 3; repeated uint8 many = 1 [max_size=100]; }";

fn schema() -> Schema {
    check_text("d.sf", TEXT).into_result().unwrap_or_else(|faults| panic!("{faults}"))
}

fn capture(schema: &Schema, count: u32) -> Vec<u8> {
    let codec = Codec::new(schema);
    let frames = FrameCodec::new(&codec, Profile::Network.framing());
    let mut bytes = Vec::new();
    for n in 0..count {
        let line = match n % 4 {
            0 | 1 => json!({"message": "A", "values": {"n": n, "mode": n % 3, "v": vec![-1; (n % 5) as usize]}}),
            2 => {
                json!({"message": "B", "values": {"t": (n * 10).to_string(), "raw": {"hex": "00ff10"}, "long": "a\r\nb"}})
            }
            _ => json!({"message": "C", "values": {"many": [1, 2, 3]}}),
        };
        frames.write_line(&line, Header { sequence: n as u8, system: 3, component: 4 }, &mut bytes).unwrap();
    }
    bytes
}

/// Pieces of these lengths, each a nanosecond after the one before.
struct Pieces {
    bytes: Vec<u8>,
    lens: Vec<usize>,
    at: usize,
    number: u64,
}

impl Chunks for Pieces {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> Result<Arrival, ConvertError> {
        let len = self.lens.get(self.number as usize % self.lens.len().max(1)).copied().unwrap_or(1).max(1);
        let end = (self.at + len).min(self.bytes.len());
        *chunk = self.bytes[self.at..end].to_vec();
        self.at = end;
        self.number += 1;
        Ok(Arrival { time: Some(self.number), stream: 0 })
    }
}

type Shown = Vec<(u64, u64, String, String)>;

fn rows(input: CaptureInput<'_>, schema: &Schema, options: &CaptureOptions) -> (Shown, u64, usize) {
    let mut rows = Vec::new();
    let totals = each_row(input, schema, options, &mut |row| {
        let values = serde_json::to_string(&row.values).unwrap();
        rows.push((row.arrival, row.at, row.name.to_owned(), values));
        Ok(())
    });
    let totals = totals.unwrap();
    assert_eq!(totals.selected, rows.len() as u64);
    (rows, totals.frames, totals.losses.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_rows(lens in prop::collection::vec(1usize..400, 1..8), broken in prop::option::of(0usize..2000)) {
        let schema = schema();
        let mut bytes = capture(&schema, 60);
        if let Some(at) = broken {
            let at = at % bytes.len();
            bytes[at] ^= 0x10;
        }
        let options = CaptureOptions::new().with_framing(Profile::Network.framing());
        let whole = rows(CaptureInput::from_bytes("whole", bytes.clone()), &schema, &options);
        let pieces = Pieces { bytes, lens, at: 0, number: 0 };
        prop_assert_eq!(rows(CaptureInput::from_chunks("pieces", pieces), &schema, &options), whole);
    }
}

#[test]
fn conditions_and_messages_select() {
    let schema = schema();
    let bytes = capture(&schema, 200);
    let count = |clauses: &[&str], messages: &[u16]| {
        let filter = FrameFilter::new(&schema, Where::parse_all(clauses.iter().copied()).unwrap()).unwrap();
        let options = CaptureOptions::new().with_filter(filter).with_messages(messages.iter().copied());
        let (rows, frames, losses) = rows(CaptureInput::from_bytes("a", bytes.clone()), &schema, &options);
        assert_eq!((frames, losses), (200, 0));
        rows.len()
    };
    assert_eq!(count(&[], &[]), 200);
    assert_eq!(count(&["A.n<8"], &[]), 4);
    assert_eq!(count(&["A.mode=ON", "A.n<12"], &[]), 2);
    assert_eq!(count(&["A.mode!=ON"], &[2, 3]), 100);
    assert_eq!(count(&["A.v[3]=-1"], &[]), count(&["A.v[-1]=-1", "A.v[3]>=-128"], &[]));
    assert_eq!(count(&["B.raw=00ff10"], &[]), 50);
    assert_eq!(count(&["sequence=0..9", "system=3", "component=4"], &[]), 10);
    assert_eq!(count(&["message=B/C", "id=2"], &[]), 50);
    for wrong in ["A.x=1", "Z.n=1", "A=1", "nonsense=1", "A.n.m=1", "A.v.x=1", "A.n[0]=1"] {
        let error = FrameFilter::new(&schema, Where::parse(wrong).unwrap()).unwrap_err();
        assert_eq!(error.code(), "unknown_key", "{wrong}");
    }
}

#[test]
fn tables_are_written_whole_or_not_at_all() {
    let schema = schema();
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.csv");
    let names: Vec<_> = table_files(&output, &schema, &[])
        .into_iter()
        .map(|(id, path)| (id, path.file_name().unwrap().to_owned()))
        .collect();
    assert_eq!(names, [(1, "t.A.csv".into()), (2, "t.B.csv".into()), (3, "t.C.csv".into())]);
    assert_eq!(table_files(&output, &schema, &[2]), [(2, output.clone())]);
    let options = CaptureOptions::new();
    let bytes = capture(&schema, 8);
    let done = frames_to_tables(
        CaptureInput::from_bytes("a", bytes.clone()),
        &output,
        &schema,
        &options,
        EnumStyle::Names,
        &Csv::default(),
    );
    assert_eq!(done.unwrap().files.len(), 3);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(
        read("t.A.csv")
            .starts_with("@at,@sequence,@system,@component,n,mode,v[0],v[1],v[2],v[3]\r\n0,0,3,4,0,OFF,,,,\r\n")
    );
    assert!(read("t.B.csv").contains(",20,00ff10,\"a\r\nb\"\r\n"), "{}", read("t.B.csv"));
    // A long array is one cell.
    assert!(read("t.C.csv").contains(",\"[1,2,3]\"\r\n"), "{}", read("t.C.csv"));

    struct Broken(Option<Vec<u8>>);
    impl Chunks for Broken {
        fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> Result<Arrival, ConvertError> {
            *chunk = self.0.take().ok_or_else(|| std::io::Error::other("the disk is gone"))?;
            Ok(Arrival::default())
        }
    }
    let other = folder.path().join("broken.csv");
    let options = options.with_framing(Profile::Network.framing());
    let input = CaptureInput::from_chunks("broken", Broken(Some(bytes)));
    frames_to_tables(input, &other, &schema, &options, EnumStyle::Names, &Csv::default()).unwrap_err();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    // Nothing selected: one table is empty, several are none.
    let none = CaptureOptions::new().with_messages([2]).with_framing(Profile::Network.framing());
    let done = frames_to_tables(
        CaptureInput::from_bytes("a", Vec::new()),
        &other,
        &schema,
        &none,
        EnumStyle::Names,
        &Csv::default(),
    );
    assert_eq!(done.unwrap().files.len(), 1);
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "@at,@sequence,@system,@component,t,raw,long\r\n");
}
