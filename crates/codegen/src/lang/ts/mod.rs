//! TypeScript.

use super::{Error, File, Lang, Options};
use fw_schema::Schema;

pub(super) fn files(schema: &Schema, _: &Options) -> Result<Vec<File>, Error> {
    Err(Error::Unsupported { lang: Lang::TypeScript, what: format!("{} messages yet", schema.messages().len()) })
}
