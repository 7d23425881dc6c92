//! Parameters by key and type (TG-C1.2).

use super::Key;

/// The value of a parameter, however a format stores it. Complete: a format that stores parameters handles every form.
#[derive(Clone, Debug, PartialEq)]
pub enum Param<'a> {
    /// An integer.
    Integer(i128),
    /// A float.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// An array of integers, each 0 or greater.
    UnsignedList(Vec<u64>),
    /// Anything else, in words such as `a map`.
    Other(&'static str),
}

impl Param<'_> {
    /// What it is, in words.
    const fn kind(&self) -> &'static str {
        match self {
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Text(_) => "text",
            Self::UnsignedList(_) => "an array",
            Self::Other(kind) => kind,
        }
    }
}

/// Where parameters are looked up.
pub trait ParamSource {
    /// The value of a key, if there is one.
    fn param(&self, key: &str) -> Option<Param<'_>>;
}

/// A parameter or a name that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamError {
    /// The key, or the stage whose codec is unknown.
    pub key: &'static str,
    /// What is wrong.
    pub problem: ParamProblem,
}

/// What is wrong with a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParamProblem {
    /// The codec needs it, and it is not given.
    Missing,
    /// Its value has the wrong type or is out of range; in words.
    Unusable(String),
    /// It names something that does not exist.
    UnknownName(String),
}

impl ParamError {
    pub(crate) fn unknown(key: &'static str, name: &str) -> Self {
        Self { key, problem: ParamProblem::UnknownName(name.to_owned()) }
    }

    pub(crate) fn unusable(key: &Key, problem: impl Into<String>) -> Self {
        Self { key: key.name, problem: ParamProblem::Unusable(problem.into()) }
    }
}

/// The typed look-ups that codecs read their settings with.
pub(crate) struct Params<'a>(pub(crate) &'a dyn ParamSource);

impl Params<'_> {
    /// A value that must be given.
    pub(crate) fn required<T>(&self, key: &Key, value: Option<T>) -> Result<T, ParamError> {
        value.ok_or(ParamError { key: key.name, problem: ParamProblem::Missing })
    }

    /// An integer; a float such as 16.0 is not one.
    pub(crate) fn integer<T: TryFrom<i128>>(&self, key: &Key) -> Result<Option<T>, ParamError> {
        match self.0.param(key.name) {
            None => Ok(None),
            Some(Param::Integer(number)) => match T::try_from(number) {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(ParamError::unusable(key, format!("{number} is out of range"))),
            },
            Some(other) => Err(ParamError::unusable(key, format!("expected an integer, found {}", other.kind()))),
        }
    }

    /// A float, or an integer that a double holds exactly.
    pub(crate) fn float(&self, key: &Key) -> Result<Option<f64>, ParamError> {
        match self.0.param(key.name) {
            None => Ok(None),
            Some(Param::Float(number)) => Ok(Some(number)),
            Some(Param::Integer(number)) if number.unsigned_abs() <= 1 << 53 => Ok(Some(number as f64)),
            Some(Param::Integer(number)) => Err(ParamError::unusable(key, format!("{number} is beyond 2^53"))),
            Some(other) => Err(ParamError::unusable(key, format!("expected a number, found {}", other.kind()))),
        }
    }

    /// A name of a closed set.
    pub(crate) fn name<T>(&self, key: &Key, from_name: impl Fn(&str) -> Option<T>) -> Result<Option<T>, ParamError> {
        match self.0.param(key.name) {
            None => Ok(None),
            Some(Param::Text(name)) => match from_name(name) {
                Some(value) => Ok(Some(value)),
                None => Err(ParamError::unknown(key.name, name)),
            },
            Some(other) => Err(ParamError::unusable(key, format!("expected text, found {}", other.kind()))),
        }
    }

    /// A list of integers, each 0 or greater.
    pub(crate) fn unsigned_list(&self, key: &Key) -> Result<Option<Vec<u64>>, ParamError> {
        match self.0.param(key.name) {
            None => Ok(None),
            Some(Param::UnsignedList(numbers)) => Ok(Some(numbers)),
            Some(other) => {
                let problem = format!("expected an array of unsigned integers, found {}", other.kind());
                Err(ParamError::unusable(key, problem))
            }
        }
    }
}
