//! Random schemas and values: what a protobuf library reads is what the schema said.

use fw_dynamic::testing::value as grow;
use fw_dynamic::{UnionValue, Value};
use fw_schema::check_text;
use fw_schema::testing::{self, Entropy};
use fw_telemetry::Protobuf;
use proptest::prelude::*;
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage, Value as Read};

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_survive_protobuf(text in prop::collection::vec(any::<u8>(), 0..400), seed in prop::collection::vec(any::<u8>(), 0..600)) {
        let schema = check_text("grown.sf", &testing::schema(&text)).into_result().unwrap();
        let protobuf = Protobuf::new(&schema);
        let mut entropy = Entropy::new(&seed);
        for (_, message) in schema.ids() {
            let value = grow(&schema, message, &mut entropy);
            let pool = DescriptorPool::decode(protobuf.descriptors(message).as_slice()).unwrap();
            let descriptor = pool.get_message_by_name(protobuf.name(message)).unwrap();
            let mut bytes = Vec::new();
            prop_assert!(protobuf.encode(message, &value, &mut bytes).is_whole());
            let read = DynamicMessage::decode(descriptor, bytes.as_slice()).unwrap();
            prop_assert_eq!(read.unknown_fields().count(), 0);
            same(&value, &Read::Message(read))?;
        }
    }
}

/// Compares by position: names may have been changed to be unique.
fn same(ours: &Value<'_>, read: &Read) -> Result<(), TestCaseError> {
    match (ours, read) {
        (Value::Bool(a), Read::Bool(b)) => prop_assert_eq!(a, b),
        (Value::Unsigned(a), Read::U32(b)) => prop_assert_eq!(*a, u64::from(*b)),
        (Value::Signed(a), Read::I32(b)) => prop_assert_eq!(*a, i64::from(*b)),
        (Value::Unsigned64(a), Read::U64(b)) => prop_assert_eq!(a, b),
        (Value::Signed64(a), Read::I64(b)) => prop_assert_eq!(a, b),
        (Value::Float(a), Read::F32(b)) => prop_assert_eq!(a.to_bits(), b.to_bits()),
        (Value::Double(a), Read::F64(b)) => prop_assert_eq!(a.to_bits(), b.to_bits()),
        (Value::Enum(a, _), Read::EnumNumber(b)) => prop_assert_eq!(i32::from(*a), *b),
        (Value::Text(a), Read::String(b)) => prop_assert_eq!(a, b),
        (Value::Bytes(a), Read::Bytes(b)) => prop_assert_eq!(a.as_slice(), &b[..]),
        (Value::List(a), Read::List(b)) => {
            prop_assert_eq!(a.len(), b.len());
            for (a, b) in a.iter().zip(b) {
                same(a, b)?;
            }
        }
        (Value::Message(entries), Read::Message(message)) => {
            let descriptor = message.descriptor();
            // Fields of the schema first, then the members of each oneof in turn, as the descriptor lists them.
            let mut by_name = descriptor.fields().collect::<Vec<_>>();
            by_name.sort_by_key(prost_reflect::FieldDescriptor::number);
            let plain: Vec<_> = by_name.iter().filter(|field| field.containing_oneof().is_none()).collect();
            let mut plain = plain.into_iter();
            let mut oneofs = descriptor.oneofs();
            for (_, value) in entries {
                match value {
                    Value::Union(union) => match &**union {
                        UnionValue::Untagged(bytes) => {
                            let field = plain.next().expect("a field of bytes");
                            let read = message.get_field(field);
                            prop_assert_eq!(read.as_bytes().map(|read| &read[..]), Some(bytes.as_slice()));
                        }
                        held => {
                            let Some(oneof) = oneofs.next() else {
                                prop_assert_eq!(held, &UnionValue::Unset);
                                continue;
                            };
                            let set: Vec<_> = oneof.fields().filter(|field| message.has_field(field)).collect();
                            match held {
                                UnionValue::Member { name, value } => {
                                    prop_assert_eq!(set.len(), 1);
                                    prop_assert!(set[0].name().ends_with(name), "{} for {name}", set[0].name());
                                    same(value, &message.get_field(&set[0]))?;
                                }
                                _ => prop_assert!(set.is_empty()),
                            }
                        }
                    },
                    value => same(value, &message.get_field(plain.next().expect("a field")))?,
                }
            }
        }
        (ours, read) => return Err(TestCaseError::fail(format!("{ours:?} is {read:?}"))),
    }
    Ok(())
}
