//! Where clauses: which items are selected.

mod clause; // one clause: key, operator, what it is held against
mod operand; // alternatives, ranges and bounds
mod parse; // text to clauses

pub use clause::{Clause, Operator};

use crate::{Item, Path, QueryError, closest};

/// Clauses that must all hold. Without clauses every item is selected. The grammar is in the [crate's](crate)
/// documentation.
#[derive(Clone, Debug, Default)]
pub struct Where {
    clauses: Vec<Clause>,
}

impl Where {
    /// Parses one clause, as one `--where` option holds it. Blanks inside the value belong to it.
    ///
    /// # Errors
    /// `empty_key`, `missing_operator`, `unknown_operator`, `joined_clauses`, `missing_value`, `empty_range`,
    /// `mixed_range`, `unclosed_class`, `not_comparable`, and those of [`Path::parse`].
    ///
    /// ```
    /// use fw_query::Where;
    ///
    /// let error = Where::parse("mars.param=2t,mars.step=0").unwrap_err();
    /// assert_eq!(error.code(), "joined_clauses");
    /// assert_eq!(error.span(), 13..14);
    /// assert!(Where::parse("units=kg m-2").is_ok());
    /// ```
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Ok(Self { clauses: vec![parse::clause(text)?] })
    }

    /// Parses several clauses, one per text.
    ///
    /// # Errors
    /// As [`Where::parse`]; [`QueryError::text`] is the clause that is wrong.
    pub fn parse_all<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, QueryError> {
        Ok(Self { clauses: texts.into_iter().map(parse::clause).collect::<Result<_, _>>()? })
    }

    /// Parses clauses with blanks between them, as in a search box. Values with blanks are quoted; blanks around
    /// operators are allowed. Text without clauses selects every item.
    ///
    /// # Errors
    /// As [`Where::parse`], and `unquoted_operator`.
    ///
    /// ```
    /// use fw_query::Where;
    ///
    /// assert_eq!(Where::parse_line("param=2t step <= 12")?.clauses().len(), 2);
    /// assert_eq!(Where::parse_line("units=kg m-2").unwrap_err().code(), "missing_operator");
    /// # Ok::<(), fw_query::QueryError>(())
    /// ```
    pub fn parse_line(text: &str) -> Result<Self, QueryError> {
        Ok(Self { clauses: parse::line(text)? })
    }

    /// Everything that both select.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.clauses.extend(other.clauses.iter().cloned());
        self
    }

    /// True when every clause holds.
    pub fn matches(&self, item: &(impl Item + ?Sized)) -> bool {
        self.clauses.iter().all(|clause| clause.matches(item.lookup(clause.path()).as_ref()))
    }

    /// The clauses, in order.
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// True without clauses.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// The keys that are looked up, so that a format reads no more than it needs.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.clauses.iter().map(Clause::path)
    }

    /// One error (`unknown_key`) per key that is not among `known`, with the closest known key as its hint. An absent
    /// key is legal, so it is up to the caller whether this is a warning: typically when nothing was selected.
    ///
    /// ```
    /// use fw_query::Where;
    ///
    /// let errors = Where::parse("mars.parm=2t")?.unknown_keys(&["mars.param", "mars.step"]);
    /// assert_eq!(errors[0].code(), "unknown_key");
    /// assert_eq!(errors[0].hint(), Some("did you mean mars.param?"));
    /// # Ok::<(), fw_query::QueryError>(())
    /// ```
    pub fn unknown_keys(&self, known: &[&str]) -> Vec<QueryError> {
        let unknown = self.clauses.iter().filter(|clause| !known.contains(&clause.path().as_str()));
        unknown
            .map(|clause| {
                let key = clause.path().as_str();
                let error = QueryError::new(
                    "unknown_key",
                    clause.text(),
                    clause.key_span(),
                    format!("no item has the key {key}"),
                );
                match closest(key, known.iter().copied()) {
                    Some(near) => error.with_hint(format!("did you mean {near}?")),
                    None => error,
                }
            })
            .collect()
    }
}

impl FromIterator<Clause> for Where {
    fn from_iter<I: IntoIterator<Item = Clause>>(clauses: I) -> Self {
        Self { clauses: clauses.into_iter().collect() }
    }
}
