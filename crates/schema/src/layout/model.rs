//! The checked model: every decision about bytes, made once, for every consumer.
//!
//! Generators, the dynamic codec, column decoders and printers read this and decide nothing themselves.

use crate::source::Span;
use serde::Serialize;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Position in the schema's list.
            pub const fn get(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// Which package of a schema.
    PackageIndex
}
index! {
    /// Which enum of a schema.
    EnumIndex
}
index! {
    /// Which message of a schema.
    MessageIndex
}

/// A package: what the files that name it declare together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its id, given or inherited (SF-2.13).
    pub id: Option<u8>,
    /// True when the id comes from an importing package.
    pub inherited: bool,
    /// Packages it imports directly, in order.
    pub imports: Vec<PackageIndex>,
    /// Enums declared in it, nested ones included, in order.
    pub enums: Vec<EnumIndex>,
    /// Messages declared in it, in order.
    pub messages: Vec<MessageIndex>,
}

/// An enum: always one byte (SF-2.7).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// The package that declares it.
    pub package: PackageIndex,
    /// The message it is nested in.
    pub parent: Option<MessageIndex>,
    /// Its values, in order.
    pub values: Vec<EnumValue>,
    /// First number marked as a later addition (SF-3.5); no effect on bytes.
    pub extensions_start: Option<u8>,
    /// Comment lines in front.
    pub docs: Vec<String>,
    /// Where its name stands.
    #[serde(skip)]
    pub span: Span,
}

impl Enum {
    /// The name of a number, if it has one.
    pub fn name_of(&self, number: u8) -> Option<&str> {
        self.values.iter().find(|value| value.number == number).map(|value| value.name.as_str())
    }
}

/// A value of an enum.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EnumValue {
    /// Its name.
    pub name: String,
    /// Its byte.
    pub number: u8,
    /// Comment lines in front.
    pub docs: Vec<String>,
}

/// Which messages have a trimmed wire layout (SF-8.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Variable {
    /// Those that say `option variable = true`.
    #[default]
    AsDeclared,
    /// All of them, as with the original's `--no_packed`.
    All,
}

/// Sizes of a message's payload (SF-5.4, SF-5.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// `MAX_SIZE`: the fixed layout, and the longest wire layout.
    pub max: usize,
    /// `BASE_SIZE`: the part without extensions, at full width; where the checksum is split.
    pub base: usize,
    /// `MIN_SIZE`: the shortest legal wire payload.
    pub min: usize,
}

/// A message and its layout.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Message {
    /// Its place in the schema.
    pub index: MessageIndex,
    /// Its name.
    pub name: String,
    /// The package that declares it.
    pub package: PackageIndex,
    /// Its `msgid`; a message without one can only be nested.
    pub msgid: Option<u16>,
    /// Its effective id: package id in the high byte, if the package has one (SF-1.2).
    pub id: Option<u16>,
    /// Its seed for the checksum (SF-11).
    pub magic: [u8; 2],
    /// Sizes of its payload.
    pub sizes: Sizes,
    /// True when its wire layout is trimmed (SF-8).
    pub variable: bool,
    /// True when it is an envelope (SF-7.6).
    pub envelope: bool,
    /// First extension field number (SF-9.1).
    pub extensions_start: Option<u32>,
    /// Plain fields in wire order, which is declaration order.
    pub fields: Vec<Field>,
    /// Unions in wire order: declaration order, after all plain fields (SF-5.3).
    pub unions: Vec<Union>,
    /// Zero bytes at the end of the fixed layout, two for each length-prefixed union (SF-6.1).
    pub fixed_tail: usize,
    /// Enums nested in it.
    pub enums: Vec<EnumIndex>,
    /// Comment lines in front.
    pub docs: Vec<String>,
    /// Where its name stands.
    #[serde(skip)]
    pub span: Span,
}

impl Message {
    /// True when some bytes are not part of the base: an extension field, or a union widened by an extension member.
    pub fn is_extended(&self) -> bool {
        self.fields.iter().any(|field| field.extension)
            || self.unions.iter().any(|union| union.members.iter().any(|member| member.extension))
    }

    /// The plain field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The union of this name.
    pub fn union(&self, name: &str) -> Option<&Union> {
        self.unions.iter().find(|union| union.name == name)
    }
}

/// A plain field.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its number, from 1.
    pub number: u32,
    /// What it holds.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Where it begins in the fixed layout.
    pub offset: usize,
    /// Bytes in the fixed layout, prefix included.
    pub size: usize,
    /// Bytes per counted unit: of an array element, 1 for text and blobs, else `size`.
    pub unit: usize,
    /// Not part of the base (SF-9.1).
    pub extension: bool,
    /// Presented with its fields in the parent's place (SF-3.6); no effect on bytes.
    pub flatten: bool,
    /// Initial value, and what fills bytes that a shorter payload lacks (SF-10).
    pub default: Option<DefaultValue>,
    /// Comment lines in front.
    pub docs: Vec<String>,
    /// Where its name stands.
    #[serde(skip)]
    pub span: Span,
}

/// A field's type. Complete: the language has no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// One value.
    One(Element),
    /// An array; its elements never have a length of their own: text elements are [`Extent::Fixed`].
    Array {
        /// What each element is.
        element: Element,
        /// How many.
        extent: Extent,
    },
}

impl Type {
    /// What one element is.
    pub const fn element(self) -> Element {
        match self {
            Self::One(element) | Self::Array { element, .. } => element,
        }
    }

    /// How many units: elements of an array, bytes of text. `None` for single values.
    pub const fn extent(self) -> Option<Extent> {
        match self {
            Self::Array { extent, .. } | Self::One(Element::String(extent) | Element::Bytes(extent)) => Some(extent),
            Self::One(_) => None,
        }
    }

    /// Bytes of the count or length in front of the content; 0 when there is none.
    pub const fn prefix_len(self) -> usize {
        match self.extent() {
            Some(extent) => extent.prefix_len(),
            None => 0,
        }
    }

    /// True for an array.
    pub const fn is_array(self) -> bool {
        matches!(self, Self::Array { .. })
    }
}

/// What a single value or an array element is. Complete: the language has no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// A number or bool.
    Scalar(Scalar),
    /// An enum: one byte.
    Enum(EnumIndex),
    /// A message in its fixed layout, even if that message is variable.
    Message(MessageIndex),
    /// UTF-8 text.
    String(Extent),
    /// Raw bytes.
    Bytes(Extent),
}

/// How many units something has. Complete: the language has no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Always this many, padded.
    Fixed(u16),
    /// Up to this many, with a count in front.
    Bounded(u16),
}

impl Extent {
    /// The number declared.
    pub const fn limit(self) -> usize {
        match self {
            Self::Fixed(limit) | Self::Bounded(limit) => limit as usize,
        }
    }

    /// Bytes of the count: one up to a bound of 255, else two (SF-5.2).
    pub const fn prefix_len(self) -> usize {
        match self {
            Self::Fixed(_) => 0,
            Self::Bounded(limit) => 1 + (limit > 255) as usize,
        }
    }
}

/// Numbers and bool. Complete: the language has no other (SF-2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the types")]
pub enum Scalar {
    Uint8,
    Int8,
    Uint16,
    Int16,
    Uint32,
    Int32,
    Uint64,
    Int64,
    Float,
    Double,
    Bool,
}

impl Scalar {
    /// Every scalar.
    pub const ALL: [Self; 11] = [
        Self::Uint8,
        Self::Int8,
        Self::Uint16,
        Self::Int16,
        Self::Uint32,
        Self::Int32,
        Self::Uint64,
        Self::Int64,
        Self::Float,
        Self::Double,
        Self::Bool,
    ];

    /// The word in the schema.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uint8 => "uint8",
            Self::Int8 => "int8",
            Self::Uint16 => "uint16",
            Self::Int16 => "int16",
            Self::Uint32 => "uint32",
            Self::Int32 => "int32",
            Self::Uint64 => "uint64",
            Self::Int64 => "int64",
            Self::Float => "float",
            Self::Double => "double",
            Self::Bool => "bool",
        }
    }

    /// The scalar of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scalar| scalar.name() == name)
    }

    /// Bytes (SF-5.1).
    pub const fn size(self) -> usize {
        match self {
            Self::Uint8 | Self::Int8 | Self::Bool => 1,
            Self::Uint16 | Self::Int16 => 2,
            Self::Uint32 | Self::Int32 | Self::Float => 4,
            Self::Uint64 | Self::Int64 | Self::Double => 8,
        }
    }

    /// Smallest and largest value of an integer; `None` for `float`, `double` and `bool`.
    pub const fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Uint8 => (0, u8::MAX as i128),
            Self::Int8 => (i8::MIN as i128, i8::MAX as i128),
            Self::Uint16 => (0, u16::MAX as i128),
            Self::Int16 => (i16::MIN as i128, i16::MAX as i128),
            Self::Uint32 => (0, u32::MAX as i128),
            Self::Int32 => (i32::MIN as i128, i32::MAX as i128),
            Self::Uint64 => (0, u64::MAX as i128),
            Self::Int64 => (i64::MIN as i128, i64::MAX as i128),
            Self::Float | Self::Double | Self::Bool => return None,
        })
    }
}

/// A default (SF-10). Complete: one per kind of field that can have one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DefaultValue {
    /// Of a `bool`.
    Bool(bool),
    /// Of an integer; within the range of the field.
    Integer(i128),
    /// Of a `float` or `double`.
    Real(f64),
    /// Of an enum.
    Enum {
        /// The value's name.
        name: String,
        /// The value's byte.
        number: u8,
    },
    /// Of text or a blob: the bytes of the literal.
    Text(String),
}

/// A union (`oneof`).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Union {
    /// Its name.
    pub name: String,
    /// What tells the member (SF-7.1).
    pub discriminator: Discriminator,
    /// How it is written in the wire layout of its message (SF-8.2, SF-8.3).
    pub wire: UnionWire,
    /// Where its tag begins in the fixed layout; the region follows the tag.
    pub offset: usize,
    /// Bytes of the region in the fixed layout (`U`).
    pub region: usize,
    /// Bytes of the region that belong to the base (`U_base`).
    pub base_region: usize,
    /// `min_size`: fewest member bytes in a trimmed or prefixed encoding; 0 if not given.
    pub min_size: usize,
    /// `max_size` as declared.
    pub max_size: Option<usize>,
    /// First extension member number (SF-9.3).
    pub extensions_start: Option<u32>,
    /// Its members, in order.
    pub members: Vec<Member>,
    /// Comment lines in front.
    pub docs: Vec<String>,
    /// Where its name stands.
    #[serde(skip)]
    pub span: Span,
}

impl Union {
    /// Where the region begins in the fixed layout.
    pub const fn region_offset(&self) -> usize {
        self.offset + self.discriminator.len()
    }

    /// The member with this tag.
    pub fn member_by_tag(&self, tag: u16) -> Option<&Member> {
        self.members.iter().find(|member| member.tag == Some(tag))
    }

    /// The member of this name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }
}

/// What tells which member of a union is set. Complete: the language has no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Discriminator {
    /// One byte: the member's number.
    FieldOrder,
    /// Two bytes: the effective id of the member's message.
    MsgId,
    /// Nothing: the application knows.
    None,
}

impl Discriminator {
    /// Bytes of the tag.
    pub const fn len(self) -> usize {
        match self {
            Self::FieldOrder => 1,
            Self::MsgId => 2,
            Self::None => 0,
        }
    }

    /// True when there is no tag.
    pub const fn is_empty(self) -> bool {
        matches!(self, Self::None)
    }

    /// The word in the schema.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FieldOrder => "field_order",
            Self::MsgId => "msgid",
            Self::None => "none",
        }
    }
}

/// How a union is written in the wire layout. Complete: the language has no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnionWire {
    /// Tag and the whole region, as in the fixed layout.
    Full,
    /// Tag and the member's own bytes, zero-padded to `min_size`.
    Trimmed,
    /// Tag, a two-byte length, and that many bytes: the member, zero-padded to `min_size`.
    Prefixed,
}

/// A member of a union.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its number, from 1.
    pub number: u32,
    /// The tag that announces it; `None` when the union has no discriminator.
    pub tag: Option<u16>,
    /// What it holds.
    #[serde(rename = "type")]
    pub element: Element,
    /// Bytes in the fixed layout, prefix included.
    pub size: usize,
    /// Not part of the base (SF-9.3).
    pub extension: bool,
    /// Comment lines in front.
    pub docs: Vec<String>,
    /// Where its name stands.
    #[serde(skip)]
    pub span: Span,
}
