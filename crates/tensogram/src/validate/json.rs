//! Reports as JSON and back (feature `serde`). Verdicts (`ok`) are written for readers and follow from the findings: they
//! are not read.

use super::{FileReport, MessageReport};
use fw_bytes::Span;
use fw_report::{Finding, Report};
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `ok`, `object_count`, `hash_verified`, `decoded` and `findings`.
impl Serialize for MessageReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(5))?;
        write_fields(self, &mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for MessageReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            object_count: usize,
            hash_verified: bool,
            /// Reports of earlier versions do not say.
            #[serde(default)]
            decoded: bool,
            findings: Vec<Finding>,
        }
        let Fields { object_count, hash_verified, decoded, findings } = Fields::deserialize(deserializer)?;
        Ok(Self { report: findings.into_iter().collect(), object_count, hash_verified, decoded })
    }
}

/// `ok`, `messages` and `unreadable` (message reports with their `offset` and `length`), and `file_findings`.
impl Serialize for FileReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("ok", &self.is_ok())?;
        for (key, list) in [("messages", &self.messages), ("unreadable", &self.unreadable)] {
            let entries: Vec<_> = list.iter().map(|(span, report)| Placed { span, report }).collect();
            map.serialize_entry(key, &entries)?;
        }
        map.serialize_entry("file_findings", self.report.findings())?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for FileReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Entry {
            offset: u64,
            length: u64,
            object_count: usize,
            hash_verified: bool,
            /// Reports of earlier versions do not say.
            #[serde(default)]
            decoded: bool,
            findings: Vec<Finding>,
        }
        #[derive(Deserialize)]
        struct Fields {
            messages: Vec<Entry>,
            unreadable: Vec<Entry>,
            file_findings: Vec<Finding>,
        }
        let placed = |Entry { offset, length, object_count, hash_verified, decoded, findings }| {
            let span = Span::sized(offset, length).ok_or_else(|| {
                D::Error::custom(format_args!("{length} bytes from byte {offset} end beyond 64 bits"))
            })?;
            Ok((span, MessageReport { report: findings.into_iter().collect(), object_count, hash_verified, decoded }))
        };
        let Fields { messages, unreadable, file_findings } = Fields::deserialize(deserializer)?;
        Ok(Self {
            messages: messages.into_iter().map(placed).collect::<Result<_, _>>()?,
            report: file_findings.into_iter().collect::<Report>(),
            unreadable: unreadable.into_iter().map(placed).collect::<Result<_, _>>()?,
        })
    }
}

struct Placed<'a> {
    span: &'a Span,
    report: &'a MessageReport,
}

impl Serialize for Placed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(7))?;
        map.serialize_entry("offset", &self.span.start)?;
        map.serialize_entry("length", &self.span.len())?;
        write_fields(self.report, &mut map)?;
        map.end()
    }
}

fn write_fields<M: SerializeMap>(report: &MessageReport, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry("ok", &report.is_ok())?;
    map.serialize_entry("object_count", &report.object_count)?;
    map.serialize_entry("hash_verified", &report.hash_verified)?;
    map.serialize_entry("decoded", &report.decoded)?;
    map.serialize_entry("findings", report.report.findings())
}
