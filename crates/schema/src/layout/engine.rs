//! Sizes and offsets, messages in dependency order (SF-5, SF-7, SF-9).

use super::draft::{Draft, DraftField, DraftUnion, WantedTag};
use super::magic;
use super::model::{
    Discriminator, Element, Enum, Field, Member, Message, MessageIndex, Package, PackageIndex, Sizes, Type, Union,
    UnionWire, Variable,
};
use super::schema::Schema;
use crate::diagnose::{Code, Diagnostic, Faults};
use crate::source::{SourceMap, Span};
use std::collections::{BTreeMap, HashMap};

/// How deep messages may stand in messages: consumers walk them recursively.
pub const MAX_NESTING: usize = 64;

/// Largest payload of any framing with a length field.
const MAX_PAYLOAD: usize = 65535;

/// Measures every message. `None` when a layout could not be decided; the fault has been reported.
pub(crate) fn lay_out(
    packages: Vec<Package>,
    enums: Vec<Enum>,
    drafts: Vec<Draft>,
    variable: Variable,
    diagnostics: &mut Faults,
) -> Option<Schema> {
    let order = dependency_order(&drafts, diagnostics);
    let mut engine = Engine { packages: &packages, drafts: &drafts, done: vec![None; drafts.len()], diagnostics };
    for index in &order {
        let measured = engine.message(*index);
        engine.done[index.get()] = measured;
    }
    if order.len() == drafts.len() {
        engine.flatten_collisions(&order);
    }
    let messages: Option<Vec<Message>> = engine.done.into_iter().collect();
    let messages = messages?;
    let ids = ids(&packages, &messages, diagnostics);
    Some(Schema { variable, packages, enums, messages, order, ids, sources: SourceMap::default() })
}

/// Messages such that what they contain comes first. Messages on or above a cycle are reported and left out.
fn dependency_order(drafts: &[Draft], diagnostics: &mut Faults) -> Vec<MessageIndex> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        /// With its depth.
        Done(usize),
        Faulty,
    }
    let uses: Vec<Vec<(MessageIndex, Span)>> = drafts.iter().map(uses).collect();
    let mut marks = vec![Mark::New; drafts.len()];
    let mut order = Vec::new();
    for start in 0..drafts.len() {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut stack = vec![(start, 0)];
        while let Some((at, done)) = stack.pop() {
            let Some((next, span)) = uses[at].get(done).copied() else {
                let mut inner = uses[at].iter().map(|(next, _)| marks[next.get()]);
                let depth = inner.try_fold(0, |deepest, mark| match mark {
                    Mark::Done(depth) => Some(deepest.max(depth + 1)),
                    _ => None,
                });
                marks[at] = match depth {
                    Some(depth) if depth <= MAX_NESTING => {
                        order.push(MessageIndex(at as u32));
                        Mark::Done(depth)
                    }
                    Some(_) => {
                        let message = format!("messages are nested more than {MAX_NESTING} deep");
                        diagnostics.push(Diagnostic::new(Code::NestingTooDeep, drafts[at].name.site.0, message));
                        Mark::Faulty
                    }
                    None => Mark::Faulty,
                };
                continue;
            };
            stack.push((at, done + 1));
            match marks[next.get()] {
                Mark::New => {
                    marks[next.get()] = Mark::Open;
                    stack.push((next.get(), 0));
                }
                Mark::Open => {
                    let (outer, inner) = (&drafts[next.get()].name, &drafts[at].name);
                    let message = if at == next.get() {
                        format!("message `{}` contains itself", outer.text)
                    } else {
                        format!("message `{}` contains itself through `{}`", outer.text, inner.text)
                    };
                    diagnostics.push(
                        Diagnostic::new(Code::Recursion, span, message)
                            .hint("a message has a fixed size; refer to the other by a number"),
                    );
                }
                Mark::Done(_) | Mark::Faulty => {}
            }
        }
    }
    order
}

fn uses(draft: &Draft) -> Vec<(MessageIndex, Span)> {
    let fields = draft.fields.iter().map(|field| (field.ty.element(), field.type_span));
    let members = draft.unions.iter().flat_map(|union| &union.members).map(|member| (member.element, member.type_span));
    fields
        .chain(members)
        .filter_map(|(element, span)| match element {
            Element::Message(index) => Some((index, span)),
            _ => None,
        })
        .collect()
}

struct Engine<'a> {
    packages: &'a [Package],
    drafts: &'a [Draft],
    done: Vec<Option<Message>>,
    diagnostics: &'a mut Faults,
}

impl Engine<'_> {
    fn report(&mut self, code: Code, span: Span, message: String, hint: &str) {
        self.diagnostics.push(Diagnostic::new(code, span, message).hint(hint));
    }

    /// Measures one message; what it contains is measured already.
    fn message(&mut self, index: MessageIndex) -> Option<Message> {
        let draft = &self.drafts[index.get()];
        self.envelope(draft);
        let contained = uses(draft).into_iter().all(|(inner, _)| self.done[inner.get()].is_some());
        if !contained {
            return None;
        }
        let mut sound = draft.sound;
        let mut offset = 0;
        let mut fields = Vec::new();
        for field in &draft.fields {
            sound &= self.has_bytes(field.ty.element(), field.type_span);
            let field = self.field(field, offset);
            offset = offset.saturating_add(field.size);
            fields.push(field);
        }
        let mut sizes = Sizes {
            max: offset,
            base: fields.iter().filter(|field| !field.extension).fold(0, |sum, field| sum.saturating_add(field.size)),
            min: 0,
        };
        let mut unions = Vec::new();
        let mut fixed_tail = 0;
        for (position, union) in draft.unions.iter().enumerate() {
            let last = position + 1 == draft.unions.len();
            let Some(union) = self.union(draft, union, offset, last) else {
                sound = false;
                continue;
            };
            offset = offset.saturating_add(union.discriminator.len() + union.region);
            let length = if union.wire == UnionWire::Prefixed { 2 } else { 0 };
            fixed_tail += length;
            sizes.max = sizes.max.saturating_add(union.discriminator.len() + length + union.region);
            sizes.base = sizes.base.saturating_add(union.discriminator.len() + length + union.base_region);
            unions.push(union);
        }
        if !sound {
            return None;
        }
        if sizes.max > MAX_PAYLOAD {
            let message = format!("message `{}` has up to {} bytes", draft.name.text, sizes.max);
            self.report(Code::MessageTooLarge, draft.name.site.0, message, "no frame carries more than 65535");
            return None;
        }
        if fields.is_empty() && unions.iter().all(|union| union.members.is_empty()) {
            let message = format!("message `{}` has no fields", draft.name.text);
            let hint = "the original's languages disagree about empty messages; here its payload has no bytes";
            self.report(Code::EmptyMessage, draft.name.site.0, message, hint);
        }
        sizes.min = if draft.variable { trimmed_min(&fields, &unions) } else { sizes.base };
        let magic = draft.magic.unwrap_or_else(|| self.magic(&fields, &unions));
        Some(Message {
            index,
            name: draft.name.text.clone(),
            package: draft.package,
            msgid: draft.msgid,
            id: self.effective_id(draft),
            magic,
            sizes,
            variable: draft.variable,
            envelope: draft.envelope.is_some(),
            extensions_start: draft.extensions_start,
            fields,
            unions,
            fixed_tail,
            enums: draft.enums.clone(),
            docs: draft.docs.clone(),
            span: draft.name.site.0,
        })
    }

    /// A message without bytes cannot be a field: any number of them would take no room (SF-4.10).
    fn has_bytes(&mut self, element: Element, span: Span) -> bool {
        let empty = self.element_size(element) == 0;
        if empty {
            let message = "a message without bytes cannot be a field".to_owned();
            self.report(Code::EmptyMessageField, span, message, "give it a field, or remove this one");
        }
        !empty
    }

    fn element_size(&self, element: Element) -> usize {
        match element {
            Element::Scalar(scalar) => scalar.size(),
            Element::Enum(_) => 1,
            Element::Message(index) => self.done[index.get()].as_ref().map_or(0, |message| message.sizes.max),
            Element::String(extent) | Element::Bytes(extent) => extent.prefix_len() + extent.limit(),
        }
    }

    fn field(&self, field: &DraftField, offset: usize) -> Field {
        let element = self.element_size(field.ty.element());
        let (unit, size) = match field.ty {
            // Saturated sizes are far beyond what a message may have and are reported as such.
            Type::Array { extent, .. } => {
                (element, extent.limit().saturating_mul(element).saturating_add(extent.prefix_len()))
            }
            Type::One(Element::String(_) | Element::Bytes(_)) => (1, element),
            Type::One(_) => (element, element),
        };
        Field {
            name: field.name.text.clone(),
            number: field.number,
            ty: field.ty,
            offset,
            size,
            unit,
            extension: field.extension,
            flatten: field.flatten,
            default: field.default.clone(),
            docs: field.docs.clone(),
            span: field.name.site.0,
        }
    }

    fn effective_id(&self, draft: &Draft) -> Option<u16> {
        let package = self.packages[draft.package.get()].id.map_or(0, u16::from);
        draft.msgid.map(|id| (package << 8) | id)
    }

    fn member_id(&self, element: Element) -> Option<u16> {
        match element {
            Element::Message(index) => self.effective_id(&self.drafts[index.get()]),
            _ => None,
        }
    }

    /// What tells the members apart (SF-7.1).
    fn discriminator(&self, union: &DraftUnion) -> Discriminator {
        match union.wanted {
            WantedTag::FieldOrder => Discriminator::FieldOrder,
            WantedTag::MsgId => Discriminator::MsgId,
            WantedTag::None => Discriminator::None,
            WantedTag::Auto => {
                let ids = union.members.iter().all(|member| self.member_id(member.element).is_some());
                if ids && !union.members.is_empty() { Discriminator::MsgId } else { Discriminator::FieldOrder }
            }
        }
    }

    fn union(&mut self, draft: &Draft, union: &DraftUnion, offset: usize, last: bool) -> Option<Union> {
        let discriminator = self.discriminator(union);
        let members = self.members(union, discriminator)?;
        let largest = members.iter().map(|member| member.size).max().unwrap_or(0);
        let largest_base =
            members.iter().filter(|member| !member.extension).map(|member| member.size).max().unwrap_or(0);
        let wire = match (draft.variable, union.prefixed, discriminator) {
            (true, Some(_), _) => UnionWire::Prefixed,
            (true, None, Discriminator::FieldOrder | Discriminator::MsgId) => UnionWire::Trimmed,
            _ => UnionWire::Full,
        };
        if let Some((max, span)) = union.max_size
            && max < largest
        {
            let message = format!("`max_size` is {max}, but a member has {largest} bytes");
            self.report(Code::OneofMaxSize, span, message, "raise it, or leave it out");
            return None;
        }
        let mut region = largest.max(union.max_size.map_or(0, |(max, _)| max));
        let min_size = union.min_size.map_or(0, |(min, _)| min);
        if wire == UnionWire::Prefixed {
            if let Some((min, span)) = union.min_size
                && min > region
            {
                let message = format!("`min_size` is {min}, but the union has room for {region} bytes");
                self.report(Code::OneofMinSize, span, message, "lower it, or raise `max_size`");
                return None;
            }
        } else {
            region = region.max(min_size);
        }
        let base_region = if union.extensions_start.is_some() { largest_base } else { region };
        if union.extensions_start.is_some() && !last {
            let message = format!("oneof `{}` has extension members but is not the last", union.name.text);
            let hint = "only the last oneof can be extended: what older peers know must come first";
            self.report(Code::ExtensionNotLast, union.name.site.0, message, hint);
            return None;
        }
        if members.is_empty() {
            // An empty oneof contributes nothing: no tag, no region (SF-7.1).
            return Some(self.measured(union, Discriminator::None, UnionWire::Full, offset, (0, 0), 0, members));
        }
        Some(self.measured(union, discriminator, wire, offset, (region, base_region), min_size, members))
    }

    #[expect(clippy::too_many_arguments, reason = "the decided values, each used once")]
    fn measured(
        &self,
        union: &DraftUnion,
        discriminator: Discriminator,
        wire: UnionWire,
        offset: usize,
        (region, base_region): (usize, usize),
        min_size: usize,
        members: Vec<Member>,
    ) -> Union {
        Union {
            name: union.name.text.clone(),
            discriminator,
            wire,
            offset,
            region,
            base_region,
            min_size,
            max_size: union.max_size.map(|(max, _)| max),
            extensions_start: union.extensions_start,
            members,
            docs: union.docs.clone(),
            span: union.name.site.0,
        }
    }

    fn members(&mut self, union: &DraftUnion, discriminator: Discriminator) -> Option<Vec<Member>> {
        let mut sound = true;
        let mut tags: HashMap<u16, Span> = HashMap::new();
        if discriminator == Discriminator::FieldOrder && union.members.len() > 255 {
            let message = format!("oneof `{}` has {} members", union.name.text, union.members.len());
            self.report(Code::OneofTooManyMembers, union.name.site.0, message, "a one-byte tag has room for 255");
            return None;
        }
        let mut out = Vec::new();
        for member in &union.members {
            let span = member.type_span;
            let tag = match discriminator {
                Discriminator::FieldOrder => Some(member.number as u16),
                Discriminator::MsgId => self.member_id(member.element),
                Discriminator::None => None,
            };
            let name = &member.name.text;
            if discriminator == Discriminator::None {
                sound &= self.has_bytes(member.element, span);
            }
            if discriminator == Discriminator::MsgId {
                let fault = match tag {
                    None => Some((Code::OneofMemberWithoutId, format!("member `{name}` has no message id"))),
                    Some(0) => {
                        Some((Code::OneofMemberIdZero, format!("member `{name}` has message id 0, which means unset")))
                    }
                    Some(tag) => tags.insert(tag, span).map(|_| {
                        (Code::OneofDuplicateTag, format!("member `{name}` has the message id {tag} of another member"))
                    }),
                };
                if let Some((code, message)) = fault {
                    self.report(code, span, message, "use `option discriminator = field_order;`");
                    sound = false;
                }
            }
            out.push(Member {
                name: name.clone(),
                number: member.number,
                tag,
                element: member.element,
                size: self.element_size(member.element),
                extension: member.extension,
                docs: member.docs.clone(),
                span: member.name.site.0,
            });
        }
        sound.then_some(out)
    }

    fn magic(&self, fields: &[Field], unions: &[Union]) -> [u8; 2] {
        let fields = fields.iter().filter(|field| !field.extension).map(|field| field.ty.element());
        let members = unions.iter().flat_map(|union| &union.members).filter(|member| !member.extension);
        magic::magic(fields.chain(members.map(|member| member.element)).map(|element| {
            magic::code(element, || match element {
                Element::Message(index) => &self.drafts[index.get()].name.text,
                _ => "",
            })
        }))
    }

    /// An envelope wraps exactly one message (SF-4.8).
    fn envelope(&mut self, draft: &Draft) {
        let Some(span) = draft.envelope.filter(|_| draft.sound) else { return };
        if draft.unions.len() != 1 {
            let message = format!("envelope `{}` has {} oneofs", draft.name.text, draft.unions.len());
            self.report(Code::EnvelopeOneof, span, message, "an envelope has exactly one, which holds the payload");
            return;
        }
        for member in draft.unions.iter().flat_map(|union| &union.members) {
            if !matches!(member.element, Element::Message(_)) {
                let message = format!("member `{}` of an envelope is not a message", member.name.text);
                self.report(Code::EnvelopeMember, member.type_span, message, "wrap it in a message");
            }
        }
    }

    /// A flattened field's own fields take the place of its name (SF-4.2).
    fn flatten_collisions(&mut self, order: &[MessageIndex]) {
        // Per message, the names it presents; only kept for messages that something flattens.
        let mut presented: HashMap<MessageIndex, Vec<String>> = HashMap::new();
        let flattened: std::collections::HashSet<MessageIndex> = self
            .drafts
            .iter()
            .flat_map(|draft| &draft.fields)
            .filter(|field| field.flatten)
            .filter_map(|field| match field.ty {
                Type::One(Element::Message(inner)) => Some(inner),
                _ => None,
            })
            .collect();
        for index in order {
            let draft = &self.drafts[index.get()];
            if !flattened.contains(index) && draft.fields.iter().all(|field| !field.flatten) {
                continue;
            }
            let mut names: HashMap<String, Span> = HashMap::new();
            for field in draft.fields.iter().filter(|field| !field.flatten) {
                names.insert(field.name.text.clone(), field.name.site.0);
            }
            for union in &draft.unions {
                names.insert(union.name.text.clone(), union.name.site.0);
            }
            for field in draft.fields.iter().filter(|field| field.flatten) {
                let Type::One(Element::Message(inner)) = field.ty else { continue };
                for name in presented.get(&inner).cloned().unwrap_or_default() {
                    if let Some(other) = names.get(&name) {
                        let message =
                            format!("flattening `{}` brings in `{name}`, which already exists", field.name.text);
                        self.diagnostics.push(
                            Diagnostic::new(Code::FlattenCollision, field.name.site.0, message)
                                .related(*other, "the other is")
                                .hint("rename one of them, or do not flatten"),
                        );
                    } else if names.len() < MAX_PAYLOAD {
                        names.insert(name, field.name.site.0);
                    }
                }
            }
            if flattened.contains(index) {
                presented.insert(*index, names.into_keys().collect());
            }
        }
    }
}

/// Fewest bytes of a trimmed payload (SF-5.5).
fn trimmed_min(fields: &[Field], unions: &[Union]) -> usize {
    let fields = fields.iter().filter(|field| !field.extension).map(|field| match field.ty.prefix_len() {
        0 => field.size,
        prefix => prefix,
    });
    let unions = unions.iter().map(|union| {
        union.discriminator.len()
            + match union.wire {
                UnionWire::Prefixed => 2 + union.min_size,
                UnionWire::Trimmed => union.min_size,
                UnionWire::Full => union.region,
            }
    });
    fields.chain(unions).sum()
}

/// Messages by effective id; on a collision the first package keeps it, with a warning (SF-2.14).
fn ids(packages: &[Package], messages: &[Message], diagnostics: &mut Faults) -> BTreeMap<u16, MessageIndex> {
    let mut ids: BTreeMap<u16, MessageIndex> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        let Some(id) = message.id else { continue };
        let Some(first) = ids.get(&id) else {
            ids.insert(id, MessageIndex(at as u32));
            continue;
        };
        let first = &messages[first.get()];
        // Within a package this is an error of its own, and so is a package without its id among those it is used with.
        let without_id = |index: PackageIndex| {
            let used = packages.iter().any(|other| other.imports.contains(&index));
            packages[index.get()].id.is_none() && (used || !packages[index.get()].imports.is_empty())
        };
        if first.package == message.package || without_id(first.package) || without_id(message.package) {
            continue;
        }
        let owner = &packages[first.package.get()].name;
        let words =
            format!("effective id {id} (0x{id:04x}) of `{}` is also that of `{owner}.{}`", message.name, first.name);
        diagnostics.push(
            Diagnostic::new(Code::IdCollision, message.span, words)
                .related(first.span, "the other is")
                .hint("frames with this id are read as the other message; give the packages ids of their own"),
        );
    }
    ids
}
