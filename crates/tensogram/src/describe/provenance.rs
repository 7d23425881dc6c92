//! Who wrote a message, and when (TG-6.2).

use super::cbor::Value;
use super::metadata::MetadataMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The four values an encoder writes into the message-level `_reserved_` map.
///
/// Fixing all four makes the output of an encoder reproducible byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Name of the encoder.
    pub encoder_name: String,
    /// Version of the encoder.
    pub encoder_version: String,
    /// UTC, `YYYY-MM-DDThh:mm:ssZ`.
    pub time: String,
    /// Version-4 UUID, lower case with hyphens.
    pub uuid: String,
}

impl Provenance {
    /// This library, this second, a fresh random UUID.
    pub fn now() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        Self {
            encoder_name: "framewright".to_owned(),
            encoder_version: env!("CARGO_PKG_VERSION").to_owned(),
            time: utc_text(seconds),
            uuid: uuid::Uuid::new_v4().hyphenated().to_string(),
        }
    }

    /// The message-level `_reserved_` map that says so.
    pub fn to_map(&self) -> MetadataMap {
        let encoder: Value =
            [("name", self.encoder_name.as_str()), ("version", self.encoder_version.as_str())].into_iter().collect();
        MetadataMap::from([
            ("encoder".to_owned(), encoder),
            ("time".to_owned(), Value::from(self.time.as_str())),
            ("uuid".to_owned(), Value::from(self.uuid.as_str())),
        ])
    }
}

/// Seconds since 1970 as UTC text.
fn utc_text(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Civil date from a day count, counting years from March so that leap days come last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_civil() {
        assert_eq!(utc_text(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc_text(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc_text(1_700_000_000), "2023-11-14T22:13:20Z");
        assert_eq!(utc_text(4_107_542_399), "2100-02-28T23:59:59Z");
        assert_eq!(utc_text(4_107_542_400), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn every_message_gets_its_own_uuid() {
        let (a, b) = (Provenance::now(), Provenance::now());
        assert_ne!(a.uuid, b.uuid);
        assert_eq!((a.uuid.len(), a.time.len()), (36, 20));
        assert_eq!(a.uuid.as_bytes()[14], b'4');
    }
}
