//! Properties: random valid schemas compile, survive the formatter, and obey the size rules; arbitrary input never panics.

use fw_schema::layout::{Element, Type, UnionWire};
use fw_schema::{Schema, check_text, format, testing};
use proptest::prelude::*;

fn grown(bytes: &[u8]) -> (String, Schema) {
    let text = testing::schema(bytes);
    match check_text("grown.sf", &text).into_result() {
        Ok(schema) => (text, schema),
        Err(diagnostics) => panic!("{text}\n{diagnostics}"),
    }
}

fn facts(schema: &Schema) -> serde_json::Value {
    serde_json::to_value(schema).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is formatted says the same, and formatting again changes nothing; also with comments in every gap.
    #[test]
    fn formatting_is_faithful(bytes in prop::collection::vec(any::<u8>(), 0..300), noise in prop::collection::vec(any::<u8>(), 0..600)) {
        let (text, schema) = grown(&bytes);
        let noisy = testing::noisy(&text, &noise);
        let formatted = format("n.sf", &noisy).unwrap();
        prop_assert_eq!(&format("f.sf", &formatted).unwrap(), &formatted);
        // Positions do not count, comments do: `docs` are part of the facts.
        let from_noise = check_text("n.sf", &noisy).into_result().unwrap();
        let from_format = check_text("f.sf", &formatted).into_result().unwrap();
        prop_assert_eq!(facts(&from_noise), facts(&from_format));
        prop_assert_eq!(facts(&schema), facts(&check_text("p.sf", &format("p.sf", &text).unwrap()).into_result().unwrap()));
        prop_assert_eq!(fw_schema::parse_text("n.sf", &noisy).unwrap(), fw_schema::parse_text("f.sf", &formatted).unwrap());
    }

    /// SF-5.3, SF-5.4: parts follow one another without gaps and add up.
    #[test]
    fn parts_add_up(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let (text, schema) = grown(&bytes);
        for message in schema.messages() {
            let mut at = 0;
            let mut base = 0;
            for field in &message.fields {
                prop_assert_eq!(field.offset, at, "{}", text);
                at += field.size;
                base += if field.extension { 0 } else { field.size };
                let element = schema.element_size(field.ty.element());
                let size = match field.ty {
                    Type::Array { extent, .. } => extent.prefix_len() + extent.limit() * element,
                    Type::One(_) => element,
                };
                prop_assert_eq!(field.size, size);
                prop_assert_eq!(field.size, field.ty.prefix_len() + field.ty.extent().map_or(1, |extent| extent.limit()) * field.unit);
            }
            for union in &message.unions {
                prop_assert_eq!(union.offset, at);
                at += union.discriminator.len() + union.region;
                base += union.discriminator.len() + union.base_region;
                for member in &union.members {
                    prop_assert_eq!(member.size, schema.element_size(member.element));
                    prop_assert!(member.size <= union.region);
                    prop_assert!(member.extension || member.size <= union.base_region);
                }
                if union.wire == UnionWire::Prefixed {
                    base += 2;
                }
            }
            prop_assert_eq!(at + message.fixed_tail, message.sizes.max);
            prop_assert_eq!(base, message.sizes.base);
            // `min_size` may ask for more than the base of an extended union has.
            prop_assert!(message.sizes.min <= message.sizes.max && message.sizes.base <= message.sizes.max);
            prop_assert!(message.sizes.min <= message.sizes.base || message.unions.iter().any(|union| union.extensions_start.is_some()));
            prop_assert!(message.magic[0] != 0 && message.magic[1] != 0);
            prop_assert_eq!(schema.default_image(message).len(), message.sizes.max);
        }
    }

    /// What a message contains comes before it.
    #[test]
    fn dependencies_come_first(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let (_, schema) = grown(&bytes);
        let order: Vec<_> = schema.in_dependency_order().collect();
        prop_assert_eq!(order.len(), schema.messages().len());
        for (at, index) in order.iter().enumerate() {
            let message = &schema[*index];
            let fields = message.fields.iter().map(|field| field.ty.element());
            let members = message.unions.iter().flat_map(|union| &union.members).map(|member| member.element);
            for element in fields.chain(members) {
                if let Element::Message(inner) = element {
                    prop_assert!(order[..at].contains(&inner));
                }
            }
        }
    }

    /// A schema is the same as itself.
    #[test]
    fn no_difference_to_itself(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let (_, schema) = grown(&bytes);
        let diff = fw_schema::diff(&schema, &schema);
        prop_assert!(diff.messages.iter().all(|message| message.verdict == fw_schema::Verdict::Same && message.reasons.is_empty()));
        let text = fw_schema::layout_text(&schema);
        prop_assert!(schema.messages().iter().all(|message| text.contains(&schema.qualified(message))));
    }

    /// SF-4.1: arbitrary bytes are refused or accepted, never a panic; every fault has a place in the text.
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let loader = fw_schema::Memory::new().with("a.sf", bytes);
        let compiled = fw_schema::check_with(&loader, std::path::Path::new("a.sf"), &fw_schema::Options::default());
        prop_assert_eq!(compiled.schema.is_some(), compiled.diagnostics.is_ok());
        let _ = compiled.diagnostics.to_string();
    }

    /// The same for words of the language in any order.
    #[test]
    fn arbitrary_words_never_panic(words in prop::collection::vec(0_usize..WORDS.len(), 0..200)) {
        let text = format!("package p;\n{}", words.into_iter().map(|word| WORDS[word]).collect::<Vec<_>>().join(" "));
        let compiled = check_text("a.sf", &text);
        let shown = compiled.diagnostics.to_string();
        prop_assert!(compiled.schema.is_some() || shown.contains("error["));
        let _ = serde_json::to_string(&compiled.diagnostics).unwrap();
        let _ = format("a.sf", &text);
    }

    /// The same for a valid schema with a piece cut out or doubled.
    #[test]
    fn damaged_schemas_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), double in any::<bool>()) {
        let (text, _) = grown(&bytes);
        let (a, b) = (from.index(text.len()), to.index(text.len()));
        let (a, b) = (a.min(b), a.max(b));
        let damaged = if double { format!("{}{}", &text[..b], &text[a..]) } else { format!("{}{}", &text[..a], &text[b..]) };
        let compiled = check_text("a.sf", &damaged);
        prop_assert_eq!(compiled.schema.is_some(), compiled.diagnostics.is_ok());
    }
}

const WORDS: &[&str] = &[
    "message",
    "enum",
    "oneof",
    "option",
    "repeated",
    "uint8",
    "string",
    "bytes",
    "M",
    "N",
    "a",
    "b",
    "msgid",
    "variable",
    "extensions_start",
    "discriminator",
    "none",
    "=",
    "1",
    "2",
    "-1",
    "70000",
    "{",
    "}",
    "{",
    "}",
    "[",
    "]",
    ";",
    ";",
    ",",
    "size",
    "max_size",
    "default",
    "true",
    "'x'",
    "\"y\"",
    "// Extension::\n",
    "/* c */",
    ".",
    "(",
    ")",
    "import",
    "package",
    "reserved",
    "map",
    "<",
    ">",
    "group",
    "extend",
    "service",
    "1.5",
    "inf",
    "0x",
    "\"",
    "is_envelope",
    "flatten",
    "\n",
];
