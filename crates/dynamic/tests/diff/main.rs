//! The verdict of `fw_schema::diff` is what happens: frames of one schema, read with the other, values compared by name.

mod compare; // did the reader understand the sender?
mod mutate; // schemas that changed a little
mod values; // values that show differences

use compare::{Missing, understood};
use fw_dynamic::{Codec, FrameCodec};
use fw_schema::layout::{Discriminator, Element, Message};
use fw_schema::testing::{self, Entropy};
use fw_schema::{Schema, Verdict, check_text, diff};
use fw_structframe::{Event, Header, Profile};
use proptest::prelude::*;

/// Values that are tried in each direction.
const TRIES: usize = 128;

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_are_what_happens(
        bytes in prop::collection::vec(any::<u8>(), 0..160),
        changes in prop::collection::vec(any::<u8>(), 1..24),
        seed in any::<u64>(),
    ) {
        let mut entropy = Entropy::new(&changes);
        let text = mutate::seeded(&testing::schema(&bytes), &mut entropy);
        let changed = mutate::mutated(&text, &mut entropy);
        let compile = |text: &str| check_text("grown.sf", text).into_result().ok();
        // Not every change gives a schema that can be compiled.
        let (Some(old), Some(new)) = (compile(&text), compile(&changed)) else { return Ok(()) };
        let found = diff(&old, &new);
        for message in &found.messages {
            let (Some(before), Some(after)) = (old.by_id(message.id), new.by_id(message.id)) else { continue };
            let failure = fails(&old, before, &new, seed).or_else(|| fails(&new, after, &old, seed));
            let shown = || format!("{found}\n--- old\n{text}\n--- new\n{changed}");
            match (&failure, message.verdict) {
                (Some(failure), Verdict::Broken) => prop_assert!(!failure.is_empty()),
                (Some(failure), _) => prop_assert!(false, "{}: {failure}\n{}", message.name, shown()),
                // Without a tag there are only bytes, which carry no names to compare.
                (None, Verdict::Broken) if is_untagged(&old, before) || is_untagged(&new, after) => {}
                (None, Verdict::Broken) => prop_assert!(false, "{}: nothing failed\n{}", message.name, shown()),
                (None, _) => {}
            }
        }
    }
}

/// What went wrong first, if anything does.
fn fails(sender: &Schema, message: &Message, reader: &Schema, seed: u64) -> Option<String> {
    let (sender_codec, reader_codec) = (Codec::new(sender), Codec::new(reader));
    let bulk = Profile::Bulk.framing();
    let (send, receive) = (FrameCodec::new(&sender_codec, bulk), FrameCodec::new(&reader_codec, bulk));
    let read_as = reader.by_id(message.id?)?;
    let mut random = values::Random::new(seed);
    (0..TRIES).find_map(|round| {
        let message = &sender[message.index];
        let value = values::value(sender, message, round, &mut random);
        let mut bytes = Vec::new();
        send.write(message, Header::default(), &value, &mut bytes).expect("values fit their message");
        let mut events = receive.read(&bytes);
        let Some(Event::Frame(frame)) = events.next() else { return Some(format!("no frame for {value:?}")) };
        match receive.decode(&frame) {
            Ok(read) => {
                let default = reader_codec.default_value(read_as);
                understood((sender, message, &value), (reader, read_as, &read), Missing::Default(&default))
                    .err()
                    .map(|what| format!("{what}: sent {value:?}, read {read:?}"))
            }
            Err(error) => Some(format!("{error} for {value:?}")),
        }
    })
}

fn is_untagged(schema: &Schema, message: &Message) -> bool {
    let elements = message.fields.iter().map(|field| field.ty.element());
    let members = message.unions.iter().flat_map(|union| union.members.iter().map(|member| member.element));
    message.unions.iter().any(|union| union.discriminator == Discriminator::None && !union.members.is_empty())
        || elements.chain(members).any(|element| match element {
            Element::Message(index) => is_untagged(schema, &schema[index]),
            _ => false,
        })
}
