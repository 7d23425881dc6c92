//! Which messages and objects a command works on; every command that selects takes the same options.

use clap::Args;
use framewright::query::{Keys, QueryError, SortKeys, Where};

/// Conditions on keys.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Select {
    /// Select objects by a key, such as 'mars.param=2t/10u' or 'mars.step<=12'; repeat for more conditions (all must hold).
    /// Operators are = != < <= > >=; values may be lists (a/b), ranges (0..12) and patterns (10?)
    #[arg(long = "where", short = 'w', value_name = "CLAUSE", value_parser = clause)]
    clauses: Vec<Where>,
}

impl Select {
    /// All conditions.
    pub(crate) fn filter(&self) -> Where {
        self.clauses.iter().flat_map(|one| one.clauses().iter().cloned()).collect()
    }
}

/// Keys to show, and in which order.
#[derive(Clone, Debug, Args)]
pub(crate) struct Columns {
    /// Show these keys, such as mars.param,mars.step,shape
    #[arg(long, short = 'p', value_name = "KEYS", value_parser = keys)]
    pub(crate) keys: Option<Keys>,
    /// Sort by these keys; KEY:desc sorts downwards
    #[arg(long, value_name = "KEYS", value_parser = sort_keys)]
    pub(crate) sort: Option<SortKeys>,
}

/// A condition.
pub(super) fn clause(text: &str) -> Result<Where, String> {
    Where::parse(text).map_err(usage_text)
}

/// A list of keys.
pub(super) fn keys(text: &str) -> Result<Keys, String> {
    Keys::parse(text).map_err(usage_text)
}

fn sort_keys(text: &str) -> Result<SortKeys, String> {
    SortKeys::parse(text).map_err(usage_text)
}

/// What is wrong, and what to write instead.
fn usage_text(error: QueryError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}
