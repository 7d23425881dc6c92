//! Where the package's C, C++ and Rust are known to be wrong.

use fw_dynamic::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Extent, Message, Type, UnionWire};
use fw_structframe::{HeaderKind, PayloadKind};

use super::super::super::{Case, Suite};
use super::{python_group, refusal};

const R1: &str = "R1: a count or length over 255 is written as one byte";
const R8: &str = "R8: where all messages of a package are variable, structs are copied with their padding";
const R9: &str = "R9: prefixed unions have no fixed layout";
const R15: &str = "R15: the start byte that tells the payload kind is 0 unless the header is that of a profile";
const ARRAYS: &str = "16.4: arrays of messages do not compile";
const BLOBS: &str = "16.4: bounded bytes do not compile";
const MEMBERS: &str = "16.4: union members that are no messages do not compile";

/// A group that neither C nor C++ compile: as Python, they want types declared before they are used.
pub(in super::super) fn native_group(suite: &Suite) -> Option<String> {
    python_group(suite)
}

/// A message that Rust does not compile, or that contains one.
pub(in super::super) fn rust_message(schema: &Schema, message: &Message) -> Option<&'static str> {
    let own = message.fields.iter().find_map(|field| match field.ty {
        Type::Array { element: Element::Message(_), extent: Extent::Fixed(count) | Extent::Bounded(count) } => {
            (count > 1).then_some(ARRAYS)
        }
        Type::One(Element::Bytes(Extent::Bounded(_))) => Some(BLOBS),
        _ => None,
    });
    let members = || message.unions.iter().flat_map(|union| union.members.iter().map(|member| member.element));
    let plain = || members().any(|element| !matches!(element, Element::Message(_))).then_some(MEMBERS);
    let inside = || {
        let elements = message.fields.iter().map(|field| field.ty.element()).chain(members());
        let mut nested = elements.filter_map(|element| match element {
            Element::Message(index) => Some(&schema[index]),
            _ => None,
        });
        nested.find_map(|nested| rust_message(schema, nested))
    };
    own.or_else(plain).or_else(inside)
}

pub(in super::super) fn c(suite: &Suite, case: &Case) -> Option<String> {
    let minimal = case.framing.payload == PayloadKind::Minimal;
    let odd = match case.framing.header {
        HeaderKind::None => false,
        HeaderKind::Tiny => !minimal,
        HeaderKind::Basic => minimal,
    };
    let found = refusal(case).or(odd.then_some(R15)).or_else(|| padding(suite, case).then_some(R8));
    found.map(str::to_owned)
}

pub(in super::super) fn cpp(suite: &Suite, case: &Case) -> Option<String> {
    let message = suite.message(case);
    let trimmed = message.variable && case.framing.has_length();
    let wide = trimmed && message.fields.iter().any(|field| field.ty.prefix_len() > 1);
    let found = refusal(case).or(wide.then_some(R1)).or_else(|| untailed(case, message));
    found.or_else(|| padding(suite, case).then_some(R8)).map(str::to_owned)
}

pub(in super::super) fn rust(suite: &Suite, case: &Case) -> Option<String> {
    let message = suite.message(case);
    rust_message(&suite.schema, message).or_else(|| untailed(case, message)).map(str::to_owned)
}

fn untailed(case: &Case, message: &Message) -> Option<&'static str> {
    let prefixed = message.unions.iter().any(|union| union.wire == UnionWire::Prefixed);
    (prefixed && !case.framing.has_length()).then_some(R9)
}

/// True when padding of a struct gets among the bytes: that of a nested message or of a union's member. (That of the
/// message itself would as well in the fixed layout, but there is none without the others in a group.)
fn padding(suite: &Suite, case: &Case) -> bool {
    let message = suite.message(case);
    let of_package = || suite.schema.messages().iter().filter(|other| other.package == message.package);
    if !of_package().all(|message| message.variable) {
        return false;
    }
    let nested = message.fields.iter().any(|field| matches!(field.ty.element(), Element::Message(_)));
    let value = suite.value(case);
    let is_set = |union: &str| match value.get(union) {
        Some(Value::Union(value)) => matches!(**value, UnionValue::Member { .. }),
        _ => false,
    };
    nested || message.unions.iter().any(|union| is_set(&union.name))
}
