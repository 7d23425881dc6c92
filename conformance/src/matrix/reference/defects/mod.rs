//! Where the reference package is known to be wrong, by language; the numbers are those of the list of its defects.
//!
//! Each rule asks schema and value, so that it holds for exactly the frames that show the defect.
//!
//! - this file: the languages that are interpreted
//! - [`compiled`] C, C++ and Rust

mod compiled;

use fw_dynamic::{Codec, Layout, UnionValue, Value};
use fw_schema::layout::{Element, Message, Scalar, Type, UnionWire};

use super::super::{Case, Suite};

pub(super) use compiled::{c, cpp, native_group, rust, rust_message};

const R2: &str = "R2: a nested variable message is trimmed";
const R3: &str = "R3: arrays of text, messages or bools of a variable message are not written";
const R4: &str = "R4: bytes are treated as UTF-8 text";
const R7: &str = "R7: union members that are no messages cannot be written";
const R14: &str = "R14: ids over 255 are cut where the framing has no package";
const FORWARD: &str = "16.4: types that are used before their declaration do not load";

const GUESSED: &str = "section 6: a wire payload as long as the fixed layout is read as that";

/// A whole group that cannot be loaded.
pub(super) fn python_group(suite: &Suite) -> Option<String> {
    let refers_forward = |message: &Message| {
        let plain = message.fields.iter().map(|field| field.ty.element());
        let members = message.unions.iter().flat_map(|union| union.members.iter().map(|member| member.element));
        let ahead = |element| {
            let Element::Message(index) = element else { return false };
            index > message.index && suite.schema[index].package == message.package
        };
        plain.chain(members).any(ahead)
    };
    suite.schema.messages().iter().any(refers_forward).then(|| FORWARD.to_owned())
}

pub(super) fn python(suite: &Suite, case: &Case) -> Option<String> {
    let (message, value) = (suite.message(case), suite.value(case));
    let codec = Codec::new(&suite.schema);
    let mut found = refusal(case);
    let prefixed = message.unions.iter().any(|union| union.wire == UnionWire::Prefixed);
    let wire = codec.encode(message, Layout::Wire, &value).expect("it was decoded from such bytes");
    if prefixed && case.framing.has_length() && wire.len() == message.sizes.max {
        found = Some(GUESSED);
    }
    walk(suite, message, &value, &mut |element, value, place| match (element, place) {
        (Element::Message(index), _) => {
            let nested = &suite.schema[index];
            let [mut trimmed, whole] = [Layout::Wire, Layout::Fixed]
                .map(|layout| codec.encode(nested, layout, value).expect("it was decoded from such bytes"));
            if place == Place::Member && !case.framing.has_length() {
                trimmed.resize(whole.len(), 0); // the region is filled up
            }
            if nested.variable && trimmed != whole {
                found = Some(R2);
            }
        }
        (_, Place::Member) => found = Some(R7),
        _ => {}
    });
    found.map(str::to_owned)
}

pub(super) fn javascript(suite: &Suite, case: &Case) -> Option<String> {
    let (message, value) = (suite.message(case), suite.value(case));
    let trimmed = message.variable && case.framing.has_length();
    for field in message.fields.iter().filter(|_| trimmed) {
        if let Some(Value::List(items)) = value.get(&field.name)
            && !items.is_empty()
            && matches!(
                field.ty.element(),
                Element::String(_) | Element::Bytes(_) | Element::Message(_) | Element::Scalar(Scalar::Bool)
            )
            && field.ty.prefix_len() > 0
        {
            return Some(R3.to_owned());
        }
    }
    typescript(suite, case)
}

pub(super) fn typescript(suite: &Suite, case: &Case) -> Option<String> {
    let (message, value) = (suite.message(case), suite.value(case));
    let mut found = refusal(case);
    walk(suite, message, &value, &mut |element, value, place| {
        // Members of unions are written as raw regions.
        if let (Element::Bytes(_), Value::Bytes(content), Place::Field) = (element, value, place)
            && std::str::from_utf8(content).is_err()
        {
            found = Some(R4);
        }
    });
    found.map(str::to_owned)
}

/// A frame that must be refused is written by all peers.
fn refusal(case: &Case) -> Option<&'static str> {
    case.frame.is_none().then_some(R14)
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Field,
    Member,
}

/// Every single value in a message, nested ones included.
fn walk<'v>(
    suite: &Suite,
    message: &Message,
    value: &'v Value<'v>,
    visit: &mut dyn FnMut(Element, &'v Value<'v>, Place),
) {
    for field in &message.fields {
        match (field.ty, value.get(&field.name)) {
            (Type::Array { element, .. }, Some(Value::List(items))) => {
                items.iter().for_each(|item| single(suite, element, item, Place::Field, visit));
            }
            (ty, Some(value)) => single(suite, ty.element(), value, Place::Field, visit),
            (_, None) => {}
        }
    }
    for union in &message.unions {
        if let Some(Value::Union(value)) = value.get(&union.name)
            && let UnionValue::Member { name, value } = &**value
            && let Some(member) = union.member(name)
        {
            single(suite, member.element, value, Place::Member, visit);
        }
    }
}

fn single<'v>(
    suite: &Suite,
    element: Element,
    value: &'v Value<'v>,
    place: Place,
    visit: &mut dyn FnMut(Element, &'v Value<'v>, Place),
) {
    visit(element, value, place);
    if let Element::Message(index) = element {
        walk(suite, &suite.schema[index], value, visit);
    }
}
