//! A field that holds the time.

use crate::ConvertError;
use fw_dynamic::Value;

/// Which field of a message holds the time, and its unit: `stamp_us:us`, `header.time`.
///
/// ```
/// use fw_convert::Clock;
/// use fw_dynamic::Value;
///
/// let clock: Clock = "stamp:ms".parse()?;
/// let pose = Value::Message(vec![("stamp", Value::Unsigned64(1500))]);
/// assert_eq!(clock.nanoseconds(&pose), Some(1_500_000_000));
/// assert_eq!(clock.seconds(&pose), Some(1.5));
/// # Ok::<(), fw_convert::ConvertError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    field: String,
    /// Nanoseconds of one tick.
    tick: u64,
}

impl Clock {
    /// The field, as it was given.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The time in a message, in nanoseconds; `None` when it has no such field, or one that is not a time from 1970 to 2554.
    pub fn nanoseconds(&self, message: &Value<'_>) -> Option<u64> {
        match self.find(message)? {
            Value::Unsigned(ticks) | Value::Unsigned64(ticks) => ticks.checked_mul(self.tick),
            Value::Signed(ticks) | Value::Signed64(ticks) => u64::try_from(*ticks).ok()?.checked_mul(self.tick),
            Value::Float(ticks) => whole(f64::from(*ticks) * self.tick as f64),
            Value::Double(ticks) => whole(ticks * self.tick as f64),
            _ => None,
        }
    }

    /// The time in a message, in seconds.
    pub fn seconds(&self, message: &Value<'_>) -> Option<f64> {
        let ticks = match self.find(message)? {
            Value::Unsigned(ticks) | Value::Unsigned64(ticks) => *ticks as f64,
            Value::Signed(ticks) | Value::Signed64(ticks) => *ticks as f64,
            Value::Float(ticks) => f64::from(*ticks),
            Value::Double(ticks) => *ticks,
            _ => return None,
        };
        // Units are powers of ten: a division is exact where a multiplication by 1e-6 is not.
        Some(ticks / (1_000_000_000 / self.tick.max(1)) as f64)
    }

    fn find<'v, 's>(&self, message: &'v Value<'s>) -> Option<&'v Value<'s>> {
        self.field.split('.').try_fold(message, |value, name| value.get(name))
    }
}

impl std::str::FromStr for Clock {
    type Err = ConvertError;

    fn from_str(text: &str) -> Result<Self, ConvertError> {
        let (field, unit) = text.rsplit_once(':').unwrap_or((text, "s"));
        let tick = match unit {
            "s" => 1_000_000_000,
            "ms" => 1_000_000,
            "us" => 1_000,
            "ns" => 1,
            other => {
                let message = format!("{text}: unknown unit {other:?}; use s, ms, us or ns");
                return Err(ConvertError::unsupported("unknown_unit", message));
            }
        };
        Ok(Self { field: field.to_owned(), tick })
    }
}

fn whole(nanoseconds: f64) -> Option<u64> {
    // Comparisons with NaN are false.
    (nanoseconds >= 0.0 && nanoseconds < u64::MAX as f64).then(|| nanoseconds.round() as u64)
}
