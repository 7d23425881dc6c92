//! Host times: nanoseconds since 1970-01-01T00:00:00Z, and their text.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time of this moment in nanoseconds since the epoch, by the clock of this machine.
pub fn now() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

/// A host time as text of RFC 3339 with nanoseconds; texts sort as their times do.
///
/// ```
/// assert_eq!(fw_recording::utc(1_700_000_000_000_250_000), "2023-11-14T22:13:20.000250000Z");
/// ```
pub fn utc(time: i64) -> String {
    let (seconds, nanos) = (time.div_euclid(NANOS), time.rem_euclid(NANOS));
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}

/// The same to the second, as file names have it: `20231114T221320Z`.
pub(crate) fn stamp(time: i64) -> String {
    let text = utc(time);
    let whole = text.split_once('.').map_or(text.as_str(), |(whole, _)| whole);
    whole.chars().filter(|char| !matches!(char, '-' | ':')).chain(['Z']).collect()
}

/// Year, month and day of a day since the epoch, in the Gregorian calendar (Howard Hinnant, `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

const NANOS: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_every_kind() {
        for (time, text) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400 * NANOS, "2000-02-29T00:00:00.000000000Z"),
            (4_107_542_399 * NANOS + 5, "2100-02-28T23:59:59.000000005Z"),
            (i64::MAX, "2262-04-11T23:47:16.854775807Z"),
            (i64::MIN, "1677-09-21T00:12:43.145224192Z"),
        ] {
            assert_eq!(utc(time), text);
        }
        assert_eq!(stamp(0), "19700101T000000Z");
    }
}
