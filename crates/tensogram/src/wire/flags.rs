//! Flag words, kept whole so that unknown bits survive and can be reported.

use std::fmt;
use std::ops::BitOr;

macro_rules! flag_word {
    ($(#[$doc:meta])* $name:ident { $($(#[$bit_doc:meta])* $bit:ident = $value:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub u16);

        impl $name {
            $($(#[$bit_doc])* pub const $bit: Self = Self($value);)*
            /// Every bit that has a meaning.
            pub const KNOWN: Self = Self(0 $(| $value)*);
            /// The bits and their names, in bit order.
            pub const NAMES: &'static [(Self, &'static str)] = &[$((Self($value), stringify!($bit)),)*];

            /// True when every bit of `other` is set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// The bits without a meaning.
            pub const fn unknown(self) -> u16 {
                self.0 & !Self::KNOWN.0
            }

            /// `self` when `condition` holds, nothing otherwise.
            #[must_use]
            pub const fn when(self, condition: bool) -> Self {
                if condition { self } else { Self(0) }
            }
        }

        impl BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "0x{:04x}", self.0)?;
                let mut separator = " = ";
                for (_, name) in Self::NAMES.iter().filter(|(bit, _)| self.contains(*bit)) {
                    write!(f, "{separator}{name}")?;
                    separator = " | ";
                }
                if self.unknown() != 0 {
                    write!(f, "{separator}unknown 0x{:04x}", self.unknown())?;
                }
                Ok(())
            }
        }
    };
}

flag_word! {
    /// The flags of a message, in its preamble (TG-2.2).
    MessageFlags {
        /// A metadata frame stands before the objects.
        HEADER_METADATA = 0x0001;
        /// A metadata frame stands after the objects.
        FOOTER_METADATA = 0x0002;
        /// An index frame stands before the objects.
        HEADER_INDEX = 0x0004;
        /// An index frame stands after the objects.
        FOOTER_INDEX = 0x0008;
        /// A hash frame stands before the objects.
        HEADER_HASHES = 0x0010;
        /// A hash frame stands after the objects.
        FOOTER_HASHES = 0x0020;
        /// Objects may be preceded by metadata of their own.
        PRECEDER_METADATA = 0x0040;
        /// Frames carry digests.
        HASHES_PRESENT = 0x0080;
    }
}

flag_word! {
    /// The flags of a frame, in its header (TG-4.1).
    FrameFlags {
        /// The descriptor comes after the payload (data objects only).
        CBOR_AFTER_PAYLOAD = 0x0001;
        /// The hash slot holds a digest.
        HASH_PRESENT = 0x0002;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_print_their_names() {
        assert_eq!(
            MessageFlags(0x0095).to_string(),
            "0x0095 = HEADER_METADATA | HEADER_INDEX | HEADER_HASHES | HASHES_PRESENT"
        );
        assert_eq!(FrameFlags(0).to_string(), "0x0000");
        assert_eq!(FrameFlags(0x8001).to_string(), "0x8001 = CBOR_AFTER_PAYLOAD | unknown 0x8000");
    }
}
