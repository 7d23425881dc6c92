//! Words that are taken in C#. All our names begin with a capital, so that keywords are no concern.

use crate::names::Taken;

/// Types of a package.
pub(super) const TYPES: Taken =
    Taken { keywords: &[], runtime: &["Action", "Func", "IEquatable", "List", "Messages", "Rt"], suffix: "_" };

/// Namespaces: `System` would hide the one of the framework.
pub(super) const NAMESPACES: Taken = Taken { keywords: &[], runtime: &["System"], suffix: "_" };

/// Properties of a message, beside what every message and every object has.
pub(super) const PROPERTIES: Taken = Taken {
    keywords: &[],
    runtime: &[
        "BaseSize",
        "Decode",
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
    ],
    suffix: "_",
};

/// Members of a union.
pub(super) const MEMBERS: Taken = Taken { keywords: &[], runtime: &["Unknown", "Unset"], suffix: "_" };

/// Values of an enum.
pub(super) const VALUES: Taken = Taken { keywords: &[], runtime: &["value__"], suffix: "_" };
