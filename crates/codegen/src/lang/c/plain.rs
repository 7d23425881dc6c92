//! Parts of a message whose packed struct is the wire on little-endian machines: copied in one piece there.

use super::Of;
use crate::lang::Packing;
use crate::text::Text;
use fw_schema::layout::{Element, Extent, Field, Message, Scalar, Type};

/// True when every byte of a message lies in its packed struct as on the wire, whatever its values are.
pub(super) fn is_plain(of: Of<'_>, message: &Message) -> bool {
    let packed = of.options.packing == Packing::Packed && message.sizes.max > 0;
    packed && message.unions.is_empty() && message.fields.iter().all(|field| is_plain_type(of, field.ty))
}

/// Text is not plain: what stands behind its end must be zeros on the wire. Neither is anything with a count.
fn is_plain_type(of: Of<'_>, ty: Type) -> bool {
    let counted = matches!(ty.extent(), Some(Extent::Bounded(_)));
    !counted
        && match ty.element() {
            Element::Scalar(_) | Element::Enum(_) | Element::Bytes(Extent::Fixed(_)) => true,
            Element::Message(index) => is_plain(of, &of.schema[index]),
            Element::String(_) | Element::Bytes(_) => false,
        }
}

/// The fields of a message, neighbours that can be copied together in one run.
pub(super) fn runs<'m>(of: Of<'_>, message: &'m Message) -> Vec<&'m [Field]> {
    let plain = |field: &Field| of.options.packing == Packing::Packed && is_plain_type(of, field.ty);
    message
        .fields
        .chunk_by(|before, after| plain(before) && plain(after) && before.extension == after.extension)
        .collect()
}

/// True when copying a run is shorter than storing its fields: one number is not.
pub(super) fn is_copied(of: Of<'_>, run: &[Field]) -> bool {
    let single = |field: &Field| matches!(field.ty, Type::One(Element::Scalar(_) | Element::Enum(_)));
    let plain = run.iter().all(|field| is_plain_type(of, field.ty));
    of.options.packing == Packing::Packed && plain && !matches!(run, [field] if single(field))
}

/// Bytes of a run.
pub(super) fn size(run: &[Field]) -> usize {
    run.iter().map(|field| field.size).sum()
}

/// Prints `copy` for little-endian machines and `others` for all others.
pub(super) fn either(text: &mut Text, copy: impl FnOnce(&mut Text), others: impl FnOnce(&mut Text)) {
    text.line("#if SF_LITTLE_ENDIAN");
    copy(text);
    text.line("#else");
    others(text);
    text.line("#endif");
}

/// Makes a 0 or a 1 of every bool that was copied from a payload.
pub(super) fn fix_bools(of: Of<'_>, message: &Message, fields: &[Field], path: &str, depth: usize, text: &mut Text) {
    let names = of.names.message(message.index);
    for field in fields {
        let at = message.fields.iter().position(|other| other.number == field.number).unwrap_or_default();
        fix(of, field.ty, &format!("{path}{}", names.fields[at]), depth, text);
    }
}

fn fix(of: Of<'_>, ty: Type, value: &str, depth: usize, text: &mut Text) {
    if !has_bool(of, ty.element()) {
        return;
    }
    if let Type::Array { element, extent } = ty {
        let index = ["i", "j", "k"].get(depth).map_or_else(|| format!("i{depth}"), |name| (*name).to_owned());
        let open = format!("for (size_t {index} = 0; {index} < {}; {index}++) {{", extent.limit());
        text.block(open, "}", |text| fix(of, Type::One(element), &format!("{value}[{index}]"), depth + 1, text));
        return;
    }
    match ty.element() {
        Element::Message(index) => {
            let message = &of.schema[index];
            fix_bools(of, message, &message.fields, &format!("{value}."), depth, text);
        }
        _ => text.put(format!("sf_fix_bool(&{value});")),
    }
}

fn has_bool(of: Of<'_>, element: Element) -> bool {
    match element {
        Element::Scalar(scalar) => scalar == Scalar::Bool,
        Element::Message(index) => of.schema[index].fields.iter().any(|field| has_bool(of, field.ty.element())),
        _ => false,
    }
}
