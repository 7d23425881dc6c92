//! Parquet and Arrow tables: a row per frame, nested as the message is.
//!
//! | in the schema | in the table |
//! |---|---|
//! | numbers, bool | the same type |
//! | enum | text: the name, or the number where it has none; `uint8` on request |
//! | string | `utf8`; text that is not UTF-8 has replacement characters, which is listed as lost |
//! | bytes, oneof without a discriminator | `binary` |
//! | message | `struct`; one without fields is left out |
//! | array | `list`; an array of fixed length of numbers is a `fixed_size_list` |
//! | oneof | `struct` of `which` (null when unset), the members (null but for one) and `unknown_tag` |

mod build; // values to arrays
mod layout; // a message as a table
mod arrow; // Arrow files
mod parquet; // Parquet files

pub use self::arrow::ArrowFile;
pub use self::parquet::Parquet;
