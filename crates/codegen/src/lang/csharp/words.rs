//! Words that are taken in C#. All our names begin with a capital, so that keywords are no concern.

use crate::names::Taken;

/// Types of a package: what generated code uses by its bare name, and members, which must not be called like their class.
pub(super) const TYPES: Taken = Taken { words: &[MEMBERS_OF_MESSAGES, BARE], suffix: "_" };

/// Namespaces: `System` would hide the one of the framework.
pub(super) const NAMESPACES: Taken = Taken { words: &[&["System"]], suffix: "_" };

/// Properties of a message.
pub(super) const PROPERTIES: Taken = Taken { words: &[MEMBERS_OF_MESSAGES], suffix: "_" };

/// Members of a union.
pub(super) const MEMBERS: Taken = Taken { words: &[&["Unknown", "Unset"]], suffix: "_" };

/// Values of an enum.
pub(super) const VALUES: Taken = Taken { words: &[&["value__"]], suffix: "_" };

/// What every message and every object has.
const MEMBERS_OF_MESSAGES: &[&str] = &[
    "BaseSize",
    "Decode",
    "DefaultBytes",
    "Descriptor",
    "Encode",
    "Equals",
    "Finalize",
    "GetHashCode",
    "GetType",
    "MaxSize",
    "MemberwiseClone",
    "MinSize",
    "MsgId",
    "ReadFields",
    "ReadFrom",
    "ReferenceEquals",
    "ToString",
    "Wrap",
    "WriteFields",
    "WriteTo",
    "Zero",
];

/// What generated code uses by its bare name.
const BARE: &[&str] =
    &["Action", "Func", "IEquatable", "Kind", "Kinds", "List", "Messages", "Region", "Rt", "Tag", "Value"];
