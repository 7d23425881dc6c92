//! Messages that a filter cannot select, told by a glance at their keys.

use super::value::cbor;
use fw_query::{Clause, MESSAGE_FIELDS, Path, Segment, Where};
use fw_tensogram::access::Glance;

/// The clauses of a filter that a glance can answer.
pub(super) struct Quick<'w> {
    clauses: Vec<(&'w Clause, Vec<&'w str>)>,
}

impl<'w> Quick<'w> {
    /// Of a filter.
    pub(super) fn of(filter: &'w Where) -> Self {
        let clauses = filter.clauses().iter().filter_map(|clause| Some((clause, keys(clause.path())?)));
        Self { clauses: clauses.collect() }
    }

    /// Whether nothing can be ruled out.
    pub(super) fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// False when a clause does not hold for any object. An object without the key rules nothing out: it may have it elsewhere,
    /// and a message without it is what a misspelt key is told by.
    pub(super) fn may_match(&self, glance: &Glance<'_>) -> bool {
        let objects = glance.object_count();
        let fails = |(clause, keys): &(&Clause, Vec<&str>), object| {
            glance.value(object, keys).is_some_and(|value| !clause.matches(Some(&cbor(value.untagged()))))
        };
        objects == 0 || !self.clauses.iter().any(|clause| (0..objects).all(|object| fails(clause, object)))
    }
}

/// The keys of a path into the metadata of objects; `None` for paths that are answered from elsewhere.
fn keys(path: &Path) -> Option<Vec<&str>> {
    let keys = path.segments().iter().map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    let keys = keys.collect::<Option<Vec<_>>>()?;
    match keys.as_slice() {
        [] | ["version"] | ["_extra_" | "extra" | "_reserved_" | "objects", ..] => None,
        ["msg", field] if MESSAGE_FIELDS.contains(field) => None,
        _ => Some(keys),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;
    use fw_tensogram::{MessageBuilder, value};

    /// What is ruled out is what no full record would have been selected by, whatever the filter.
    #[test]
    fn a_glance_selects_what_the_records_select() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("many.tgm");
        let mut file = Vec::new();
        for step in 0..700i64 {
            // Some are too large to be read with their neighbours.
            let values = vec![step as f32; if step % 50 == 7 { 20_000 } else { 3 }];
            let shape = [values.len() as u64];
            let param = ["2t", "10u", "tp"][step as usize % 3];
            let mars = value!({ "param": param, "step": step, "levels": [1, 2] });
            let builder = MessageBuilder::new().extra("run", "00Z").tensor(&shape, &values).unwrap().base("mars", mars);
            let builder = if step % 5 == 0 {
                builder.tensor(&shape, &values).unwrap().base("mars", value!({ "param": "sp", "step": step }))
            } else {
                builder
            };
            file.extend(builder.encode().unwrap());
        }
        std::fs::write(&path, &file).unwrap();
        let catalog = Catalog::open(&path).unwrap();
        for clauses in [
            &["mars.param=2t"][..],
            &["mars.param=2t/sp", "mars.step<=12"],
            &["mars.step=250"],
            &["mars.step!=3"],
            &["mars.param=s*"],
            &["mars.levels[0]=1", "mars.step>600"],
            &["run=00Z", "mars.step=5"],
            &["shape[0]=20000"],
            &["dtype=float32", "mars.param=tp"],
            &["msg.index=4"],
            &["objects[1].mars.param=sp"],
            &["mars.parm=2t"],
            &[],
        ] {
            let filter = Where::parse_all(clauses.iter().copied()).unwrap();
            let selected = |records: crate::Records<'_>| {
                let mut found = Vec::new();
                let mut seen = 0;
                for record in records {
                    let record = record.unwrap();
                    seen += 1;
                    found.extend(record.selected(&filter).into_iter().map(|object| (record.index(), object)));
                }
                (found, seen)
            };
            let (expected, all) = selected(catalog.records());
            let (found, seen) = selected(catalog.records_where(&filter));
            assert_eq!((found, all), (expected, 700), "{clauses:?}");
            if clauses == ["mars.step=250"] {
                assert_eq!(seen, 2, "the first message, and the one that is selected");
            }
        }
    }
}
