//! The fuzz target `link_address`: any text as the address of a link.

use fw_link::{Address, duration};

/// An address is shown as it was written, and reads again as itself; what is refused is named.
pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match text.parse::<Address>() {
        Ok(address) => {
            assert_eq!(address.to_string(), text);
            assert_eq!(text.parse::<Address>().expect("it was read before"), address);
            assert!(
                text == "-"
                    || Address::is_link(text)
                    || Address::file_path(text).is_some()
                    || text.starts_with("file:")
            );
        }
        Err(error) => {
            assert_eq!(error.code(), "invalid_address");
            assert!(error.to_string().starts_with(text), "{error}");
        }
    }
    if let Some(found) = duration(text) {
        assert!(found.as_secs() <= 366 * 86_400, "{text}");
    }
}
