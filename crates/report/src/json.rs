//! The one JSON form of findings, reports and trees, written and read (feature `serde`).
//!
//! ```
//! use fw_report::{Finding, Report};
//!
//! let mut report = Report::new();
//! report.push(Finding::error("hash_mismatch", "stored 00, computed 2d").at(16..24));
//! let text = serde_json::to_string(&report)?;
//! assert_eq!(serde_json::from_str::<Report>(&text)?, report);
//! # Ok::<(), serde_json::Error>(())
//! ```

use crate::{Finding, Report, Severity, Tree};
use fw_bytes::Span;
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `code`, `severity`, `message`, and where known `span` (`[start, end]`), `path`, `level`, `object_index`.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", &self.code)?;
        map.serialize_entry("severity", &self.severity)?;
        map.serialize_entry("message", &self.message)?;
        if let Some(span) = self.span {
            map.serialize_entry("span", &[span.start, span.end])?;
        }
        if !self.path.is_empty() {
            map.serialize_entry("path", &self.path)?;
        }
        if let Some(level) = &self.level {
            map.serialize_entry("level", level)?;
        }
        if let Some(index) = self.object_index {
            map.serialize_entry("object_index", &index)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            code: String,
            severity: Severity,
            message: String,
            span: Option<[u64; 2]>,
            #[serde(default)]
            path: String,
            level: Option<String>,
            object_index: Option<u64>,
        }
        let Fields { code, severity, message, span, path, level, object_index } = Fields::deserialize(deserializer)?;
        let span = span.map(ordered).transpose()?;
        Ok(Self { span, path, level: level.map(Into::into), object_index, ..Self::new(severity, code, message) })
    }
}

/// `ok` and `findings`.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("ok", &self.is_ok())?;
        map.serialize_entry("findings", self.findings())?;
        map.end()
    }
}

/// Reads `findings`; whether the report is `ok` follows from them.
impl<'de> Deserialize<'de> for Report {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            findings: Vec<Finding>,
        }
        Ok(Fields::deserialize(deserializer)?.findings.into_iter().collect())
    }
}

/// `label`, `span` (`[start, end]`), and where there are any `value` and `children`.
impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("label", &self.label)?;
        if !self.value.is_empty() {
            map.serialize_entry("value", &self.value)?;
        }
        map.serialize_entry("span", &[self.span.start, self.span.end])?;
        if !self.children.is_empty() {
            map.serialize_entry("children", &self.children)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            label: String,
            #[serde(default)]
            value: String,
            span: [u64; 2],
            #[serde(default)]
            children: Vec<Tree>,
        }
        let Fields { label, value, span, children } = Fields::deserialize(deserializer)?;
        Ok(Self { label, value, span: ordered(span)?, children })
    }
}

/// A span whose end is not before its start.
fn ordered<E: Error>([start, end]: [u64; 2]) -> Result<Span, E> {
    if end < start {
        return Err(E::custom(format_args!("span ends at byte {end}, before its start at byte {start}")));
    }
    Ok(Span::new(start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, from_value, json, to_value};

    fn examples() -> Report {
        let findings = [
            Finding::warning("non_zero_padding", "0x01 between frames").at(196..200),
            Finding::error("missing_end_marker", "no ENDF").object(2).level("structure").on("message[0].object[2]"),
            Finding::new(Severity::Note, "odd", "").at(7..7),
        ];
        findings.into_iter().collect()
    }

    #[test]
    fn reports_and_findings_come_back() {
        let report = examples();
        let json = to_value(&report).unwrap();
        assert_eq!(json["ok"], false);
        assert_eq!(json["findings"][0]["span"], json!([196, 200]));
        assert_eq!(json["findings"][1]["object_index"], 2);
        assert_eq!(json["findings"][2], json!({"code": "odd", "severity": "note", "message": "", "span": [7, 7]}));
        assert_eq!(from_value::<Report>(json).unwrap(), report);
    }

    #[test]
    fn trees_come_back() {
        let inner = Tree::new("a", 0..4).with(Tree::new("a1", 0..2)).with(Tree::new("a2", 2..4).value("0x00"));
        let tree = Tree::new("message", 0..10).with(inner).with(Tree::new("b", 4..10).value("6 bytes"));
        let json = to_value(&tree).unwrap();
        assert_eq!(json["children"][1], json!({"label": "b", "value": "6 bytes", "span": [4, 10]}));
        assert_eq!(from_value::<Tree>(json).unwrap(), tree);
    }

    #[test]
    fn what_is_not_a_report_is_an_error() {
        let with = |key: &str, value: serde_json::Value| {
            let mut finding = json!({"code": "c", "severity": "error", "message": "m"});
            finding[key] = value;
            from_value::<Finding>(finding)
        };
        assert!(with("path", json!("p")).is_ok());
        for (key, value) in [
            ("severity", json!("fatal")),
            ("severity", json!(null)),
            ("code", json!(1)),
            ("span", json!([5, 4])),
            ("span", json!([5])),
            ("span", json!([-1, 4])),
            ("object_index", json!(-1)),
            ("level", json!(7)),
        ] {
            assert!(with(key, value.clone()).is_err(), "{key} {value}");
        }
        assert!(from_str::<Report>(r#"{"ok":true}"#).is_err());
        assert!(from_str::<Tree>(r#"{"label":"x"}"#).is_err());
        assert!(
            from_str::<Tree>(r#"{"label":"x","span":[9,3]}"#).unwrap_err().to_string().contains("before its start")
        );
        // The verdict follows from the findings, whatever the text claims.
        assert!(
            !from_str::<Report>(r#"{"ok":true,"findings":[{"code":"c","severity":"error","message":""}]}"#)
                .unwrap()
                .is_ok()
        );
    }
}
