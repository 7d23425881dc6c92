//! One clause: key, operator, and what it is held against.

use super::operand::{Alternative, Bound};
use crate::{Path, Value};
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

/// How a clause compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `=`: present and equal to one of the alternatives.
    Equal,
    /// `!=`: absent, or different from all alternatives.
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Operator {
    /// As it is written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    fn allows(self, ordering: Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        }
    }
}

/// One parsed clause of a [`Where`](crate::Where).
#[derive(Clone, Debug)]
pub struct Clause {
    pub(super) path: Path,
    pub(super) operator: Operator,
    pub(super) test: Test,
    pub(super) text: String,
    pub(super) key_span: Range<usize>,
}

/// What a value is held against.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Alternatives(Vec<Alternative>),
    Bound(Bound),
}

impl Clause {
    /// The key.
    pub const fn path(&self) -> &Path {
        &self.path
    }

    /// The operator.
    pub const fn operator(&self) -> Operator {
        self.operator
    }

    /// The clause as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of [`Clause::text`] that are the key.
    pub fn key_span(&self) -> Range<usize> {
        self.key_span.clone()
    }

    /// True when a value, or the absence of one, satisfies the clause.
    pub fn matches(&self, value: Option<&Value<'_>>) -> bool {
        match (&self.test, value) {
            (Test::Bound(bound), Some(value)) => {
                bound.order_of(value).is_some_and(|ordering| self.operator.allows(ordering))
            }
            (Test::Bound(_), None) => false,
            (Test::Alternatives(alternatives), value) => {
                let found =
                    value.is_some_and(|value| alternatives.iter().any(|alternative| alternative.matches(value)));
                found == (self.operator == Operator::Equal)
            }
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}
