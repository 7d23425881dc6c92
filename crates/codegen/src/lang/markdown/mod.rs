//! A protocol reference.

use super::{Error, File, Lang, Options};
use fw_schema::Schema;

pub(super) fn files(schema: &Schema, _: &Options) -> Result<Vec<File>, Error> {
    Err(Error::Unsupported { lang: Lang::Markdown, what: format!("{} messages yet", schema.messages().len()) })
}
