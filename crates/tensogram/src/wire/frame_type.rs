//! The frame types of version 3: one table, from which everything else about a frame type is read (TG-4.4).

use super::{FrameFooter, MessageFlags};
use std::fmt;

/// The type code of a frame; codes without a meaning survive and print as numbers (TG-4.4).
///
/// ```
/// use fw_tensogram::wire::{FrameContent, FrameType, KnownFrame, Phase};
///
/// let known = FrameType(7).known().unwrap();
/// assert_eq!(known, KnownFrame::FooterMetadata);
/// assert_eq!((known.phase(), known.content()), (Phase::Footer, FrameContent::Metadata));
/// assert_eq!(FrameType(10).known(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameType(pub u16);

/// The part of a message a frame belongs to; a message only ever moves forward through them (TG-4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Before the objects.
    Header,
    /// Objects and their preceders.
    Body,
    /// After the objects.
    Footer,
}

/// What the body of a frame holds. Types with the same content differ only in where they stand.
///
/// Complete for version 3: a `match` on it has an arm for each, so that a new content is met by the compiler everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameContent {
    /// Metadata of the message (TG-6).
    Metadata,
    /// Positions of the objects (TG-9.1).
    Index,
    /// Digests of the objects (TG-9.3).
    Hashes,
    /// Metadata of the object that follows (TG-10).
    Preceder,
    /// One tensor (TG-8).
    Object,
}

impl FrameContent {
    /// The finding code for CBOR of this content that cannot be read.
    pub const fn unreadable_code(self) -> &'static str {
        match self {
            Self::Metadata => "metadata_cbor_parse_failed",
            Self::Index => "index_cbor_parse_failed",
            Self::Hashes => "hash_frame_cbor_parse_failed",
            Self::Preceder => "preceder_cbor_parse_failed",
            Self::Object => "descriptor_cbor_parse_failed",
        }
    }

    /// The finding code for CBOR of this content that is not in canonical form.
    pub const fn non_canonical_code(self) -> &'static str {
        match self {
            Self::Metadata => "metadata_cbor_non_canonical",
            Self::Index => "index_cbor_non_canonical",
            Self::Hashes => "hash_frame_cbor_non_canonical",
            Self::Preceder => "preceder_cbor_non_canonical",
            Self::Object => "descriptor_cbor_non_canonical",
        }
    }

    /// The fields after the body (TG-4.2).
    pub const fn footer(self) -> FrameFooter {
        match self {
            Self::Metadata | Self::Index | Self::Hashes | Self::Preceder => FrameFooter::Plain,
            Self::Object => FrameFooter::WithDescriptorOffset,
        }
    }
}

/// Makes the closed enum, the open type's constants and every property from one row per frame type.
macro_rules! frame_types {
    ($($(#[$doc:meta])* $code:literal $variant:ident $constant:ident, $name:literal, $phase:ident, $content:ident, $promise:expr;)*) => {
        /// The frame types of version 3. Complete: a `match` on it has an arm for each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum KnownFrame {
            $($(#[$doc])* $variant,)*
        }

        impl KnownFrame {
            /// Every frame type, by ascending code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The type code.
            pub const fn frame_type(self) -> FrameType {
                FrameType(match self { $(Self::$variant => $code,)* })
            }

            /// The name in the words of the specification.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The part of a message it belongs to.
            pub const fn phase(self) -> Phase {
                match self { $(Self::$variant => Phase::$phase,)* }
            }

            /// What its body holds.
            pub const fn content(self) -> FrameContent {
                match self { $(Self::$variant => FrameContent::$content,)* }
            }

            /// The flag of the preamble that announces a frame of this type, if there is one (TG-2.2).
            pub const fn announced_by(self) -> Option<MessageFlags> {
                match self { $(Self::$variant => $promise,)* }
            }
        }

        impl FrameType {
            $($(#[$doc])* pub const $constant: Self = Self($code);)*

            /// The type of version 3 with this code, or `None` when there is none.
            pub const fn known(self) -> Option<KnownFrame> {
                match self.0 {
                    $($code => Some(KnownFrame::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

frame_types! {
    // code, variant and constant, name, phase, content, flag of the preamble

    /// Message metadata before the objects.
    1 HeaderMetadata HEADER_METADATA, "header metadata", Header, Metadata, Some(MessageFlags::HEADER_METADATA);
    /// Positions of the objects, before them.
    2 HeaderIndex HEADER_INDEX, "header index", Header, Index, Some(MessageFlags::HEADER_INDEX);
    /// Digests of the objects, before them.
    3 HeaderHash HEADER_HASH, "header hash", Header, Hashes, Some(MessageFlags::HEADER_HASHES);
    /// Digests of the objects, after them.
    5 FooterHash FOOTER_HASH, "footer hash", Footer, Hashes, Some(MessageFlags::FOOTER_HASHES);
    /// Positions of the objects, after them.
    6 FooterIndex FOOTER_INDEX, "footer index", Footer, Index, Some(MessageFlags::FOOTER_INDEX);
    /// Message metadata after the objects.
    7 FooterMetadata FOOTER_METADATA, "footer metadata", Footer, Metadata, Some(MessageFlags::FOOTER_METADATA);
    /// Metadata of the object that follows.
    8 PrecederMetadata PRECEDER_METADATA, "preceder metadata", Body, Preceder, Some(MessageFlags::PRECEDER_METADATA);
    /// One tensor.
    9 DataObject NTENSOR, "data object (NTensorFrame)", Body, Object, None;
}

impl FrameType {
    /// The data object of version 2, which version 3 refuses by name.
    const VERSION_2_OBJECT: Self = Self(4);

    /// The phase, or `None` for a code that version 3 does not have.
    pub const fn phase(self) -> Option<Phase> {
        match self.known() {
            Some(known) => Some(known.phase()),
            None => None,
        }
    }

    /// What the body holds, or `None` for a code that version 3 does not have.
    pub const fn content(self) -> Option<FrameContent> {
        match self.known() {
            Some(known) => Some(known.content()),
            None => None,
        }
    }

    /// The fields after the body. Every frame ends with a digest and the end marker (TG-4.2), so tools that step over
    /// a code without a meaning find these two.
    pub const fn footer(self) -> FrameFooter {
        match self.known() {
            Some(known) => known.content().footer(),
            None => FrameFooter::Plain,
        }
    }

    /// The smallest length a frame of this type can have.
    pub const fn min_len(self) -> u64 {
        super::FRAME_HEADER_LEN.saturating_add(self.footer().len())
    }

    /// What a reader that met this code expected instead.
    pub(crate) const fn expected_instead(self) -> &'static str {
        match self {
            Self::VERSION_2_OBJECT => "a frame of version 3 (type 4 is the data object of version 2)",
            _ => KNOWN_CODES,
        }
    }

    /// The name in the words of the specification.
    pub const fn name(self) -> &'static str {
        match (self.known(), self) {
            (Some(known), _) => known.name(),
            (None, Self::VERSION_2_OBJECT) => "reserved (version 2 data object)",
            (None, _) => "unknown",
        }
    }
}

impl fmt::Display for FrameType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "type {}, {}", self.0, self.name())
    }
}

/// The codes of the table, for messages.
const KNOWN_CODES: &str = "1..3 or 5..9";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_codes_of_the_table() {
        let ranges = KNOWN_CODES.split(" or ").map(|range| range.split_once("..").unwrap());
        let named = ranges.flat_map(|(first, last)| first.parse::<u16>().unwrap()..=last.parse().unwrap());
        assert!(named.eq(KnownFrame::ALL.iter().map(|known| known.frame_type().0)));
    }

    /// TG-4.4, TG-4.2: the codes and phases of the specification's table, and the shortest frames.
    #[test]
    fn the_table_is_that_of_the_specification() {
        let found: Vec<(u16, Phase)> =
            KnownFrame::ALL.iter().map(|known| (known.frame_type().0, known.phase())).collect();
        let header = [1, 2, 3].map(|code| (code, Phase::Header));
        let footer = [5, 6, 7].map(|code| (code, Phase::Footer));
        let body = [8, 9].map(|code| (code, Phase::Body));
        assert_eq!(found, [&header[..], &footer, &body].concat());
        for known in KnownFrame::ALL {
            assert_eq!(known.frame_type().known(), Some(*known));
            let shortest = if known.content() == FrameContent::Object { 36 } else { 28 };
            assert_eq!(known.frame_type().min_len(), shortest);
        }
        for unknown in [0, 4, 10, u16::MAX].map(FrameType) {
            assert_eq!((unknown.known(), unknown.phase(), unknown.content()), (None, None, None));
        }
    }

    /// TG-2.2: each of the bits 0 to 6 announces exactly one frame type.
    #[test]
    fn every_flag_announces_one_type() {
        let announced = KnownFrame::ALL.iter().filter_map(|known| known.announced_by());
        let mut bits: Vec<u16> = announced.map(|flag| flag.0).collect();
        bits.sort_unstable();
        assert_eq!(bits, (0..7).map(|bit| 1 << bit).collect::<Vec<u16>>());
    }
}
