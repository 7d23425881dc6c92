//! Text that is safe to show: names come from files and may hold anything.

use std::borrow::Cow;

/// Text with control characters, direction marks and invisible characters spelled out, as every output shows it.
///
/// ```
/// assert_eq!(fw_report::visible("2t \x1b[31m"), "2t \\u{1b}[31m");
/// assert_eq!(fw_report::visible("two\nlines"), "two\\nlines");
/// assert_eq!(fw_report::visible("m s⁻¹"), "m s⁻¹");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |character, out| match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ => out.extend(character.escape_unicode()),
    })
}

/// The same for text of several lines: line feeds stay as they are.
///
/// ```
/// assert_eq!(fw_report::visible_lines("two\nlines\u{7}\n"), "two\nlines\\u{7}\n");
/// ```
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character, out| match character {
        '\n' => out.push('\n'),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ => out.extend(character.escape_unicode()),
    })
}

/// The same for JSON: what is hidden is spelled `\u202e`, so the text stands for the same values.
///
/// ```
/// assert_eq!(fw_report::visible_json("{\"name\": \"a\u{9b}31m\"}"), "{\"name\": \"a\\u009b31m\"}");
/// ```
#[must_use]
pub fn visible_json(json: &str) -> Cow<'_, str> {
    escaped(json, |character, out| {
        // Outside of strings JSON has no hidden characters but these, and in strings they are escaped already.
        if matches!(character, '\n' | '\r' | '\t') {
            return out.push(character);
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

fn escaped(text: &str, mut escape: impl FnMut(char, &mut String)) -> Cow<'_, str> {
    // Most text is plain, and there is much of it.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let Some(first) = text.find(is_hidden) else { return Cow::Borrowed(text) };
    let (clean, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len().saturating_add(16));
    out.push_str(clean);
    for character in rest.chars() {
        if is_hidden(character) {
            escape(character, &mut out);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// Characters that change how others are shown, that show nothing, or that XML does not allow.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}')
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
        || matches!(character, '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_gets_through() {
        let all: String = (0..=0x10_ffff).filter_map(char::from_u32).collect();
        assert!(!visible(&all).chars().any(is_hidden));
        assert!(!visible_lines(&all).chars().any(|character| is_hidden(character) && character != '\n'));
        assert!(matches!(visible("plain ° text"), Cow::Borrowed(_)));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn json_stands_for_the_same_values() {
        let all: String = (0..=0x10_ffff).filter_map(char::from_u32).collect();
        let value = serde_json::json!({ "name": all });
        let text = visible_json(&format!("{value:#}")).into_owned();
        assert!(!text.chars().any(|character| is_hidden(character) && character != '\n'));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
