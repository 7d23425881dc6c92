//! Does a frame of one peer verify at the other? (SF-12.2)

use super::{Reason, Weight, say};
use crate::layout::{Message, UnionWire};

/// Compares seeds, and where the checksum is split.
pub(super) fn compare(old: &Message, new: &Message, reasons: &mut Vec<Reason>) {
    let ([a, b], [c, d]) = (old.magic, new.magic);
    if old.magic != new.magic {
        let words = format!("magic changed from {a:02x} {b:02x} to {c:02x} {d:02x}: checksums do not verify");
        say(reasons, Weight::Break, words);
    } else if old.sizes.base != new.sizes.base && (differs(old, new) || differs(new, old)) {
        let (before, after) = (old.sizes.base, new.sizes.base);
        let words = format!("the base changed from {before} to {after} bytes: checksums are split elsewhere");
        say(reasons, Weight::Break, words);
    }
}

/// True when some payload of the sender has another checksum at the reader: the seeds follow the base part, and moving
/// them by n bytes adds n times their sum to the second sum.
fn differs(sender: &Message, reader: &Message) -> bool {
    let seeds = usize::from(sender.magic[0]) + usize::from(sender.magic[1]);
    let shortest = if sender.variable { sender.sizes.min } else { sender.sizes.max };
    (shortest..=longest(sender)).any(|len| {
        let moved = sender.sizes.base.min(len).abs_diff(reader.sizes.base.min(len));
        moved * seeds % 256 != 0
    })
}

/// The longest payload that a sender writes: a oneof that `max_size` widens is not written at that width when trimmed.
fn longest(message: &Message) -> usize {
    let fields: usize = message.fields.iter().map(|field| field.size).sum();
    let unions = message.unions.iter().map(|union| {
        let largest = union.members.iter().map(|member| member.size).max().unwrap_or(0).max(union.min_size);
        union.discriminator.len()
            + match union.wire {
                UnionWire::Full => union.region,
                UnionWire::Trimmed => largest,
                UnionWire::Prefixed => 2 + largest,
            }
    });
    fields + unions.sum::<usize>()
}
