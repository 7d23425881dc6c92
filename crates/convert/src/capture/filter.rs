//! Which frames, by their fields: the grammar of `fw-query` on decoded messages.

use super::FrameRow;
use crate::ConvertError;
use fw_dynamic::{FrameLine, UnionValue, Value, shown_name};
use fw_query::{Clause, Operator, Path, Segment, Where, closest};
use fw_schema::Schema;
use fw_schema::layout::{Element, Message, MessageIndex, Type};
use fw_structframe::{Frame, Framing};

/// Conditions on frames. `Gps.fix>=3` holds for frames of `Gps` whose field is so; a frame of another message has no such key, and
/// therefore satisfies only `!=`. Nested fields (`Pose.position.x`), elements of arrays (`Scan.ranges[0]`, `[-1]` is the last),
/// members of oneofs (`Command.body.go.speed`, `Command.body=go`) and the frame's own keys (`message`, `id`, `at`, `time`,
/// `sequence`, `system`, `component`) can be named. An enum compares by name with text and by number with numbers.
#[derive(Clone, Debug)]
pub struct FrameFilter {
    clauses: Vec<(Clause, Key)>,
}

/// What a key stands for.
#[derive(Clone, Debug)]
enum Key {
    /// The frame's own.
    Frame(FrameKey),
    /// A field of a message: how many segments name the message.
    Field { message: MessageIndex, skip: usize },
}

#[derive(Clone, Copy, Debug)]
enum FrameKey {
    Message,
    Id,
    At,
    Time,
    Sequence,
    System,
    Component,
}

const FRAME_KEYS: [(&str, FrameKey); 7] = [
    ("message", FrameKey::Message),
    ("id", FrameKey::Id),
    ("at", FrameKey::At),
    ("time", FrameKey::Time),
    ("sequence", FrameKey::Sequence),
    ("system", FrameKey::System),
    ("component", FrameKey::Component),
];

/// What a filter asks of a frame, whoever decoded it.
#[derive(Clone, Copy, Debug)]
pub struct FrameKeys<'r, 's> {
    /// The message; `None` for an unknown id.
    pub message: Option<(&'r str, MessageIndex)>,
    /// Effective id.
    pub id: u16,
    /// The frame's first byte.
    pub at: u64,
    /// Nanoseconds since 1970.
    pub time: Option<u64>,
    /// SEQ, where the framing has it.
    pub sequence: Option<u8>,
    /// SYS, where the framing has it.
    pub system: Option<u8>,
    /// COMP, where the framing has it.
    pub component: Option<u8>,
    /// The message's fields, where they could be read.
    pub values: Option<&'r Value<'s>>,
}

impl<'r, 's> FrameKeys<'r, 's> {
    /// Those of a line that `fw decode` prints; `time` is when its frame arrived.
    pub fn of_line(schema: &Schema, line: &'r FrameLine<'s>, time: Option<u64>) -> Self {
        let message = schema.by_id(line.id).zip(line.message.as_deref());
        Self {
            message: message.map(|(message, name)| (name, message.index)),
            id: line.id,
            at: line.at,
            time,
            sequence: line.sequence,
            system: line.system,
            component: line.component,
            values: line.values.as_ref(),
        }
    }

    /// Those of a frame whose payload has no values: its id is unknown, or it cannot be read.
    pub fn of_frame(
        frame: &Frame<'_>,
        framing: Framing,
        message: Option<(&'r str, MessageIndex)>,
        time: Option<u64>,
    ) -> Self {
        let system = framing.has_system();
        Self {
            message,
            id: frame.id,
            at: frame.span.start,
            time,
            sequence: framing.has_sequence().then_some(frame.header.sequence),
            system: system.then_some(frame.header.system),
            component: system.then_some(frame.header.component),
            values: None,
        }
    }

    fn of_row(row: &'r FrameRow<'_, 's>) -> Self {
        let system = row.framing.has_system();
        Self {
            message: Some((row.name, row.message.index)),
            id: row.id,
            at: row.at,
            time: row.time,
            sequence: row.framing.has_sequence().then_some(row.header.sequence),
            system: system.then_some(row.header.system),
            component: system.then_some(row.header.component),
            values: Some(&row.values),
        }
    }
}

impl FrameFilter {
    /// Checks that the schema has every key.
    ///
    /// # Errors
    /// `unknown_key`, with the closest key that there is.
    pub fn new(schema: &Schema, filter: Where) -> Result<Self, ConvertError> {
        let clauses = filter.clauses().iter().map(|clause| {
            let key = resolve(schema, clause.path()).ok_or_else(|| unknown(schema, clause))?;
            Ok((clause.clone(), key))
        });
        Ok(Self { clauses: clauses.collect::<Result<_, ConvertError>>()? })
    }

    /// True without conditions.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// True when the row satisfies every condition.
    pub fn matches(&self, row: &FrameRow<'_, '_>) -> bool {
        self.matches_keys(&FrameKeys::of_row(row))
    }

    /// True when the keys satisfy every condition.
    pub fn matches_keys(&self, keys: &FrameKeys<'_, '_>) -> bool {
        self.clauses.iter().all(|(clause, key)| match key {
            Key::Frame(key) => clause.matches(frame_value(*key, keys).as_ref()),
            Key::Field { message, skip } => {
                let ours = keys.message.is_some_and(|(_, index)| index == *message);
                let rest = clause.path().segments().get(*skip..).unwrap_or_default();
                let found = keys.values.filter(|_| ours).and_then(|values| find(values, rest));
                holds(clause, found)
            }
        })
    }
}

fn frame_value<'q>(key: FrameKey, keys: &FrameKeys<'q, '_>) -> Option<fw_query::Value<'q>> {
    Some(match key {
        FrameKey::Message => fw_query::Value::from(keys.message?.0),
        FrameKey::Id => keys.id.into(),
        FrameKey::At => keys.at.into(),
        FrameKey::Time => keys.time?.into(),
        FrameKey::Sequence => keys.sequence?.into(),
        FrameKey::System => keys.system?.into(),
        FrameKey::Component => keys.component?.into(),
    })
}

/// What a path leads to.
enum Found<'v, 's> {
    Value(&'v Value<'s>),
    /// The name of the member that a oneof holds.
    Member(&'s str),
}

fn find<'v, 's>(value: &'v Value<'s>, segments: &[Segment]) -> Option<Found<'v, 's>> {
    let Some((segment, rest)) = segments.split_first() else {
        return match value {
            Value::Union(union) => match &**union {
                UnionValue::Member { name, .. } => Some(Found::Member(name)),
                UnionValue::Unset => None,
                _ => Some(Found::Value(value)),
            },
            value => Some(Found::Value(value)),
        };
    };
    match (value, segment) {
        (Value::Message(_), Segment::Key(name)) => find(value.get(name)?, rest),
        (Value::List(list), Segment::Index(index)) => {
            let at = match usize::try_from(*index) {
                Ok(at) => at,
                Err(_) => list.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
            };
            find(list.get(at)?, rest)
        }
        (Value::Union(union), Segment::Key(key)) => match &**union {
            UnionValue::Member { name, value } => match key.as_str() {
                key if key == *name => find(value, rest),
                "which" => rest.is_empty().then_some(Found::Member(name)),
                "value" => find(value, rest),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn holds(clause: &Clause, found: Option<Found<'_, '_>>) -> bool {
    match found {
        None => clause.matches(None),
        Some(Found::Member(name)) => clause.matches(Some(&name.into())),
        Some(Found::Value(Value::Enum(number, name))) => {
            let number = clause.matches(Some(&(*number).into()));
            let Some(name) = name else { return number };
            let name = || clause.matches(Some(&(*name).into()));
            match clause.operator() {
                Operator::Equal => number || name(),
                Operator::NotEqual => number && name(),
                // Names have no order.
                _ => number,
            }
        }
        Some(Found::Value(value)) => clause.matches(Some(&queried(value))),
    }
}

fn queried<'v>(value: &'v Value<'_>) -> fw_query::Value<'v> {
    use fw_query::Value as Query;
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Unsigned(value) | Value::Unsigned64(value) => (*value).into(),
        Value::Signed(value) | Value::Signed64(value) => (*value).into(),
        // As it is shown: 0.1 is 0.1, not the double nearest to its single precision.
        Value::Float(value) => Query::Float(value.to_string().parse().unwrap_or(f64::from(*value))),
        Value::Double(value) => Query::Float(*value),
        Value::Enum(number, None) => (*number).into(),
        Value::Enum(_, Some(name)) => (*name).into(),
        Value::Text(text) => text.as_str().into(),
        Value::Bytes(bytes) => Query::Bytes(bytes.as_slice().into()),
        Value::List(list) => Query::from(list.iter().map(queried).collect::<Vec<_>>()),
        Value::Message(entries) => Query::map(entries.iter().map(|(name, value)| (*name, queried(value)))),
        Value::Union(union) => match &**union {
            UnionValue::Unset => Query::Null,
            UnionValue::Member { name, value } => {
                Query::map([("which", Query::from(*name)), ("value", queried(value))])
            }
            UnionValue::Unknown { tag, .. } => (*tag).into(),
            UnionValue::Untagged(bytes) => Query::Bytes(bytes.as_slice().into()),
        },
        _ => Query::Null,
    }
}

fn resolve(schema: &Schema, path: &Path) -> Option<Key> {
    let segments = path.segments();
    if let [Segment::Key(key)] = segments {
        return FRAME_KEYS.iter().find(|(name, _)| name == key).map(|(_, key)| Key::Frame(*key));
    }
    let names: Vec<&str> = segments
        .iter()
        .map_while(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Index(_) => None,
        })
        .take(2)
        .collect();
    // `Message.field`, or `package.Message.field`.
    (1..=names.len()).find_map(|skip| {
        let message = schema.find(&names.get(..skip)?.join("."))?;
        message.id?;
        let rest = segments.get(skip..).filter(|rest| !rest.is_empty())?;
        has_fields(schema, message, rest).then_some(Key::Field { message: message.index, skip })
    })
}

fn has_fields(schema: &Schema, message: &Message, segments: &[Segment]) -> bool {
    let Some((Segment::Key(name), rest)) = segments.split_first() else { return false };
    if let Some(field) = message.field(name) {
        return match (field.ty, rest) {
            (Type::Array { .. }, []) => true,
            (Type::Array { element, .. }, [Segment::Index(_), rest @ ..]) => has_element(schema, element, rest),
            (Type::Array { .. }, _) => false,
            (Type::One(element), rest) => has_element(schema, element, rest),
        };
    }
    let Some(union) = message.union(name) else { return false };
    match rest {
        [] => true,
        [Segment::Key(key), rest @ ..] => match union.member(key) {
            Some(member) => has_element(schema, member.element, rest),
            None if key == "which" => rest.is_empty(),
            // Which member that is, only a frame tells.
            None => key == "value" && union.members.iter().any(|member| has_element(schema, member.element, rest)),
        },
        _ => false,
    }
}

fn has_element(schema: &Schema, element: Element, segments: &[Segment]) -> bool {
    match element {
        _ if segments.is_empty() => true,
        Element::Message(index) => has_fields(schema, &schema[index], segments),
        _ => false,
    }
}

fn unknown(schema: &Schema, clause: &Clause) -> ConvertError {
    let key = clause.path().as_str();
    let mut known: Vec<String> = FRAME_KEYS.iter().map(|(name, _)| (*name).to_owned()).collect();
    for (_, message) in schema.ids() {
        paths(schema, message, &shown_name(schema, message), 0, &mut known);
    }
    let near = closest(key, known.iter().map(String::as_str));
    // An element of an array is near to the array.
    let hint = near.map_or_else(
        || "a key is MESSAGE.FIELD, such as Pose.position.x or Scan.ranges[0], or one of message, id, at, time, sequence, \
            system and component"
            .to_owned(),
        |near| format!("did you mean {near}?"),
    );
    ConvertError::unsupported("unknown_key", format!("{clause}: no message of the schema has the key {key}; {hint}"))
}

/// The keys that a message has, elements of arrays as `[0]`.
fn paths(schema: &Schema, message: &Message, path: &str, depth: usize, known: &mut Vec<String>) {
    if depth > DEEPEST || known.len() > MOST {
        return;
    }
    let leaf = |path: String, element: Element, known: &mut Vec<String>| {
        if let Element::Message(index) = element {
            paths(schema, &schema[index], &path, depth + 1, known);
        } else {
            known.push(path);
        }
    };
    for field in &message.fields {
        let path = format!("{path}.{}", field.name);
        match field.ty {
            Type::One(element) => leaf(path, element, known),
            Type::Array { element, .. } => leaf(format!("{path}[0]"), element, known),
        }
    }
    for union in &message.unions {
        known.push(format!("{path}.{}", union.name));
        for member in &union.members {
            leaf(format!("{path}.{}.{}", union.name, member.name), member.element, known);
        }
    }
}

/// How deep keys are listed for suggestions, and how many.
const DEEPEST: usize = 16;
const MOST: usize = 10_000;
