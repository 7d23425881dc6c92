//! The reference Python package on the same files. Runs when `FW_PYTHON` names an interpreter that has it; says loudly that it was
//! skipped otherwise.

use super::fine;
use std::path::PathBuf;
use std::process::Command;

/// Keys, descriptors and statistics are those that the reference and NumPy report.
#[test]
fn what_is_listed_is_what_the_reference_reads() {
    let Some(python) = std::env::var_os("FW_PYTHON").map(PathBuf::from) else {
        #[cfg(unix)]
        super::skipped("SKIPPED: cli::reference: FW_PYTHON is not set");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("reference.py"), REFERENCE).unwrap();
    let run = Command::new(python).arg("reference.py").current_dir(folder.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let expected: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let lines = |line: &str| -> Vec<String> { fine(folder.path(), line).text().lines().map(str::to_owned).collect() };
    let texts = |key: &str| -> Vec<String> {
        expected[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(lines("get fields.tgm -p mars.param,mars.step,shape,dtype"), texts("get"));
    assert_eq!(lines("get fields.tgm -p mars.step -w mars.param=2t/msl"), texts("equal"));
    assert_eq!(lines("get fields.tgm -p mars.param -w mars.param!=2t -w mars.step>=6"), texts("unequal"));
    assert_eq!(lines("get fields.tgm -p _extra_.n -w version=3 --messages"), texts("extra"));
    assert_eq!(lines("ls fields.tgm --count -w mars.param=2t"), texts("count"));
    let info = fine(folder.path(), "info fields.tgm --json").json();
    assert_eq!(info["tensogram"]["message_count"], expected["messages"]);
    assert_eq!(info["file_bytes"], expected["bytes"]);
    let stats = fine(folder.path(), "stats fields.tgm --json").json();
    for (found, expected) in stats["tensors"].as_array().unwrap().iter().zip(expected["stats"].as_array().unwrap()) {
        for key in ["min", "max", "mean", "std"] {
            let (a, b) = (found[key].as_f64().unwrap(), expected[key].as_f64().unwrap());
            assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{key}: {a} {b}");
        }
        assert_eq!(found["nan"], expected["nan"]);
    }
}

/// Writes messages with the reference and prints what it and NumPy say about them.
const REFERENCE: &str = r#"
import json, os
import numpy as np
import tensogram

random = np.random.default_rng(7)
messages = []
for number, (param, step) in enumerate([("2t", 0), ("10u", 0), ("2t", 6), ("msl", 6), ("10v", 12)]):
    field = random.normal(280.0, 10.0, (12, 7))
    descriptor = {"type": "ntensor", "shape": [12, 7], "dtype": "float64"}
    if number % 2:
        descriptor |= {"encoding": "simple_packing", "sp_bits_per_value": 16}
    else:
        field[3, 4] = np.nan
    meta = {"base": [{"mars": {"param": param, "step": step}}], "n": number}
    messages.append(tensogram.encode(meta, [(descriptor, field)], allow_nan=True))
open("fields.tgm", "wb").write(b"".join(messages))

get, stats, keys = [], [], []
for message in messages:
    meta, descriptors = tensogram.decode_descriptors(message)
    mars = meta.base[0]["mars"]
    shape = "[" + ",".join(str(side) for side in descriptors[0].shape) + "]"
    get.append(f"{mars['param']} {mars['step']} {shape} {descriptors[0].dtype}")
    keys.append(mars)
    array = tensogram.decode(message).objects[0][1]
    stats.append({"min": np.nanmin(array), "max": np.nanmax(array), "mean": np.nanmean(array), "std": np.nanstd(array),
                  "nan": int(np.isnan(array).sum())})
print(json.dumps({
    "get": get,
    "equal": [str(mars["step"]) for mars in keys if mars["param"] in ("2t", "msl")],
    "unequal": [mars["param"] for mars in keys if mars["param"] != "2t" and mars["step"] >= 6],
    "extra": [str(number) for number in range(len(messages))],
    "count": [str(sum(mars["param"] == "2t" for mars in keys))],
    "messages": len(tensogram.TensogramFile.open("fields.tgm")),
    "bytes": os.path.getsize("fields.tgm"),
    "stats": stats,
}))
"#;
