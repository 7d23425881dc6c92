//! Schema to descriptors.

use fw_schema::Schema;
use fw_schema::layout::{Element, Enum, EnumIndex, Message, MessageIndex, PackageIndex, Scalar, Type};
use prost_types::field_descriptor_proto::{Label, Type as Kind};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet, OneofDescriptorProto,
};
use std::collections::{BTreeSet, HashSet};

/// Everything that protobuf calls differently from the schema.
#[derive(Debug)]
pub(super) struct Names {
    /// Full name of each message, by index.
    pub(super) messages: Vec<String>,
    /// Full name of each enum.
    enums: Vec<String>,
    /// Name of the message around each enum.
    wrappers: Vec<String>,
    /// Number of each union member, by message, union and member.
    pub(super) members: Vec<Vec<Vec<u32>>>,
    /// Number of each untagged union's field, by message and union.
    pub(super) regions: Vec<Vec<u32>>,
    /// Number of each field, by message.
    pub(super) fields: Vec<Vec<u32>>,
}

impl Names {
    pub(super) fn new(schema: &Schema) -> Self {
        let mut taken: Vec<HashSet<String>> = schema
            .packages()
            .iter()
            .map(|package| package.messages.iter().map(|index| schema[*index].name.clone()).collect())
            .collect();
        let package = |index: PackageIndex| schema[index].name.as_str();
        let messages = schema.messages().iter().map(|one| format!("{}.{}", package(one.package), one.name)).collect();
        let mut wrappers = Vec::new();
        for one in schema.enums() {
            let mut name = match one.parent {
                Some(parent) => format!("{}_{}", schema[parent].name, one.name),
                None => one.name.clone(),
            };
            if let Some(taken) = taken.get_mut(one.package.get()) {
                name = free(name, taken);
                taken.insert(name.clone());
            }
            wrappers.push(name);
        }
        let enums =
            schema.enums().iter().zip(&wrappers).map(|(one, name)| format!("{}.{name}.Value", package(one.package)));
        let enums = enums.collect();
        let (mut fields, mut members, mut regions) = (Vec::new(), Vec::new(), Vec::new());
        for message in schema.messages() {
            let own: Vec<u32> = message.fields.iter().map(|field| legal(field.number)).collect();
            let mut next = own.iter().copied().max().unwrap_or(0);
            let mut number = || {
                next = legal(next.saturating_add(1));
                next
            };
            let mut of_unions = Vec::new();
            let mut of_regions = Vec::new();
            for union in &message.unions {
                if union.discriminator.is_empty() {
                    of_regions.push(number());
                    of_unions.push(Vec::new());
                } else {
                    of_regions.push(0);
                    of_unions.push(union.members.iter().map(|_| number()).collect());
                }
            }
            fields.push(own);
            members.push(of_unions);
            regions.push(of_regions);
        }
        Self { messages, enums, wrappers, members, regions, fields }
    }
}

/// Protobuf keeps these numbers for itself.
const fn legal(number: u32) -> u32 {
    if number >= 19_000 { number.saturating_add(1_000) } else { number }
}

fn free(name: String, taken: &HashSet<String>) -> String {
    let mut name = name;
    while taken.contains(&name) {
        name.push('_');
    }
    name
}

/// The descriptors of a message and everything it contains, dependencies first. Every message is a file of its own: packages may
/// refer to each other in both directions, messages and files cannot.
pub(super) fn descriptors(schema: &Schema, names: &Names, root: MessageIndex) -> FileDescriptorSet {
    let mut files = FileDescriptorSet::default();
    add_message(schema, names, root, &mut HashSet::new(), &mut files);
    files
}

fn add_message(
    schema: &Schema,
    names: &Names,
    index: MessageIndex,
    done: &mut HashSet<String>,
    files: &mut FileDescriptorSet,
) {
    let one = &schema[index];
    if !done.insert(message_file(schema, index)) {
        return;
    }
    let mut dependency = BTreeSet::new();
    for element in elements(one) {
        match element {
            Element::Message(inner) => {
                add_message(schema, names, inner, done, files);
                dependency.insert(message_file(schema, inner));
            }
            Element::Enum(inner) => {
                let name = enum_file(schema, names, inner);
                if done.insert(name.clone()) {
                    let wrapper = names.wrappers.get(inner.get()).map_or("", String::as_str);
                    let package = schema[inner].package;
                    files.file.push(file(
                        schema,
                        name.clone(),
                        package,
                        BTreeSet::new(),
                        enumeration(&schema[inner], wrapper),
                    ));
                }
                dependency.insert(name);
            }
            _ => {}
        }
    }
    files.file.push(file(schema, message_file(schema, index), one.package, dependency, message(names, one)));
}

fn elements(message: &Message) -> impl Iterator<Item = Element> + '_ {
    let fields = message.fields.iter().map(|field| field.ty.element());
    let tagged = message.unions.iter().filter(|union| !union.discriminator.is_empty());
    fields.chain(tagged.flat_map(|union| union.members.iter().map(|member| member.element)))
}

fn message_file(schema: &Schema, index: MessageIndex) -> String {
    let message = &schema[index];
    format!("{}/{}.proto", schema[message.package].name, message.name)
}

fn enum_file(schema: &Schema, names: &Names, index: EnumIndex) -> String {
    let wrapper = names.wrappers.get(index.get()).map_or("", String::as_str);
    format!("{}/{wrapper}.proto", schema[schema[index].package].name)
}

fn file(
    schema: &Schema,
    name: String,
    package: PackageIndex,
    dependency: BTreeSet<String>,
    content: DescriptorProto,
) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some(name),
        package: Some(schema[package].name.clone()),
        dependency: dependency.into_iter().collect(),
        message_type: vec![content],
        syntax: Some("proto3".to_owned()),
        ..FileDescriptorProto::default()
    }
}

/// An enum in a message of its own.
fn enumeration(one: &Enum, name: &str) -> DescriptorProto {
    let value = |name: &str, number: u8| EnumValueDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number.into()),
        options: None,
    };
    // The first value of a proto3 enum is zero.
    let zero = one.values.iter().find(|value| value.number == 0);
    let mut taken: HashSet<String> = one.values.iter().map(|value| value.name.clone()).collect();
    taken.insert("Value".to_owned());
    let first = zero.map_or_else(|| free("UNNAMED_0".to_owned(), &taken), |zero| zero.name.clone());
    let mut values = vec![value(&first, 0)];
    let mut numbers = BTreeSet::from([0]);
    for other in &one.values {
        // Two names of one number would need an option; a value called like its enum would be in its way.
        if numbers.insert(other.number) {
            values.push(value(&other.name, other.number));
        }
    }
    if let Some(clash) = values.iter_mut().find(|value| value.name.as_deref() == Some("Value")) {
        clash.name = Some(free("Value_".to_owned(), &taken));
    }
    DescriptorProto {
        name: Some(name.to_owned()),
        enum_type: vec![EnumDescriptorProto {
            name: Some("Value".to_owned()),
            value: values,
            ..EnumDescriptorProto::default()
        }],
        ..DescriptorProto::default()
    }
}

fn message(names: &Names, message: &Message) -> DescriptorProto {
    let at = message.index.get();
    // Fields, members and oneofs share one scope.
    let mut taken: HashSet<String> = message.fields.iter().map(|field| field.name.clone()).collect();
    let mut descriptor = DescriptorProto { name: Some(message.name.clone()), ..DescriptorProto::default() };
    let numbers = names.fields.get(at).into_iter().flatten();
    for (field, number) in message.fields.iter().zip(numbers) {
        let label = if matches!(field.ty, Type::Array { .. }) { Label::Repeated } else { Label::Optional };
        descriptor.field.push(descriptor_of(names, &field.name, *number, field.ty.element(), label));
    }
    let numbers = names.members.get(at).into_iter().flatten();
    let regions = names.regions.get(at).into_iter().flatten();
    for ((union, numbers), region) in message.unions.iter().zip(numbers).zip(regions) {
        if union.discriminator.is_empty() {
            let name = free(union.name.clone(), &taken);
            taken.insert(name.clone());
            let bytes = Element::Bytes(fw_schema::layout::Extent::Fixed(0));
            descriptor.field.push(descriptor_of(names, &name, *region, bytes, Label::Optional));
            continue;
        }
        if union.members.is_empty() {
            continue;
        }
        let oneof = i32::try_from(descriptor.oneof_decl.len()).ok();
        for (member, number) in union.members.iter().zip(numbers) {
            let bare = member.name.clone();
            let name = if taken.contains(&bare) { free(format!("{}_{bare}", union.name), &taken) } else { bare };
            taken.insert(name.clone());
            let mut field = descriptor_of(names, &name, *number, member.element, Label::Optional);
            field.oneof_index = oneof;
            descriptor.field.push(field);
        }
        let name = free(union.name.clone(), &taken);
        taken.insert(name.clone());
        descriptor.oneof_decl.push(OneofDescriptorProto { name: Some(name), options: None });
    }
    descriptor
}

fn descriptor_of(names: &Names, name: &str, number: u32, element: Element, label: Label) -> FieldDescriptorProto {
    let (kind, type_name) = match element {
        Element::Scalar(scalar) => (kind(scalar), None),
        Element::Enum(index) => (Kind::Enum, names.enums.get(index.get())),
        Element::Message(index) => (Kind::Message, names.messages.get(index.get())),
        Element::String(_) => (Kind::String, None),
        Element::Bytes(_) => (Kind::Bytes, None),
    };
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: i32::try_from(number).ok(),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        type_name: type_name.map(|name| format!(".{name}")),
        // As it is, so that two names cannot become one.
        json_name: Some(name.to_owned()),
        ..FieldDescriptorProto::default()
    }
}

const fn kind(scalar: Scalar) -> Kind {
    match scalar {
        Scalar::Uint8 | Scalar::Uint16 | Scalar::Uint32 => Kind::Uint32,
        Scalar::Int8 | Scalar::Int16 | Scalar::Int32 => Kind::Sint32,
        Scalar::Uint64 => Kind::Uint64,
        Scalar::Int64 => Kind::Sint64,
        Scalar::Float => Kind::Float,
        Scalar::Double => Kind::Double,
        Scalar::Bool => Kind::Bool,
    }
}
