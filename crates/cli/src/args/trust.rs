//! What commands do with the digests that files keep of their tensors.

use crate::exit::aside;
use clap::Args;
use framewright::convert::{Checked, StoredUse, TensorFile, check_spelling, stored_digests};
use framewright::report::visible;

/// Whether digests are compared.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Trust {
    /// Read tensors without comparing them with the digests in the file
    #[arg(long)]
    pub(crate) ignore_digests: bool,
}

impl Trust {
    /// The same choice for functions of the library.
    pub(crate) const fn stored(&self) -> StoredUse {
        if self.ignore_digests { StoredUse::Ignore } else { StoredUse::Verify }
    }

    /// Wraps a file so that digests are compared, or says that those it has are not.
    pub(crate) fn open(&self, file: Box<dyn TensorFile>, name: &str, json: bool) -> Box<dyn TensorFile> {
        if self.ignore_digests {
            Self::tell(&*file, name, json);
            return file;
        }
        Box::new(Checked::new(file))
    }

    /// Says so, where that makes a difference; JSON has a key for it.
    fn tell(file: &dyn TensorFile, name: &str, json: bool) {
        if !json {
            Self::told(stored_digests(file).count(), name);
        }
    }

    /// Says that so many digests were not looked at.
    pub(crate) fn told(count: usize, name: &str) {
        if count > 0 {
            let tensors = if count == 1 { "1 tensor".to_owned() } else { format!("{count} tensors") };
            aside(format_args!("fw: {}: digests of {tensors} were not compared (--ignore-digests)\n", visible(name)));
        }
    }
}

/// `sha256:<64 hexadecimal digits>`.
pub(super) fn manifest(text: &str) -> Result<String, String> {
    check_spelling(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}
