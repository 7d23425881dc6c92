//! What the terminal can show: its size, its colours, and whether it says that it draws sixels.

use framewright::draw::TerminalColour;
use std::io::IsTerminal;

/// Columns, rows and colours of the terminal; those of a plain page where standard output is none.
pub(crate) fn size_and_colour() -> (u16, u16, TerminalColour) {
    let asked = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
    let (columns, rows) =
        terminal_size::terminal_size_of(std::io::stdout()).map_or((80, 24), |(width, height)| (width.0, height.0));
    // The last line is left to the prompt.
    let rows = asked("LINES").unwrap_or(rows).saturating_sub(1);
    (asked("COLUMNS").unwrap_or(columns), rows, colour())
}

fn colour() -> TerminalColour {
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    let wanted = crate::terminal::Terminal::current().colour;
    match (wanted, set("COLORTERM").as_str(), set("TERM")) {
        (false, ..) => TerminalColour::None,
        (true, "truecolor" | "24bit", _) => TerminalColour::True,
        (true, _, term) if term.ends_with("-direct") => TerminalColour::True,
        (true, ..) => TerminalColour::Indexed,
    }
}

/// Whether standard output is a terminal that says that it draws sixels.
pub(crate) fn shows_sixels() -> bool {
    std::io::stdout().is_terminal() && colour() != TerminalColour::None && asks_for_sixels()
}

/// Asks the terminal what it is (primary device attributes) and looks for sixel graphics, number 4, in its answer.
#[cfg(unix)]
fn asks_for_sixels() -> bool {
    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
    use std::io::{Read, Write};
    let Ok(mut terminal) = std::fs::File::options().read(true).write(true).open("/dev/tty") else { return false };
    let Ok(usual) = tcgetattr(&terminal) else { return false };
    let mut asking = usual.clone();
    asking.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    // An answer is awaited for a fifth of a second, and never for a key.
    asking.special_codes[SpecialCodeIndex::VMIN] = 0;
    asking.special_codes[SpecialCodeIndex::VTIME] = 2;
    if tcsetattr(&terminal, OptionalActions::Now, &asking).is_err() {
        return false;
    }
    let mut answer = Vec::new();
    if terminal.write_all(b"\x1b[c").and_then(|()| terminal.flush()).is_ok() {
        let mut byte = [0];
        while answer.len() < 128 && terminal.read(&mut byte).is_ok_and(|count| count == 1) {
            answer.push(byte[0]);
            if byte[0] == b'c' {
                break;
            }
        }
    }
    let _ = tcsetattr(&terminal, OptionalActions::Flush, &usual);
    has_sixels(&answer)
}

#[cfg(not(unix))]
fn asks_for_sixels() -> bool {
    false
}

/// Whether an answer such as `ESC [ ? 62 ; 4 ; 6 c` has the number 4.
#[cfg(any(unix, test))]
fn has_sixels(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let numbers = text.strip_prefix("\u{1b}[?").and_then(|rest| rest.strip_suffix('c'));
    numbers.is_some_and(|numbers| numbers.split(';').skip(1).any(|number| number == "4"))
}

#[cfg(test)]
mod tests {
    use super::has_sixels;

    #[test]
    fn answers_of_terminals() {
        assert!(has_sixels(b"\x1b[?62;4;6;22c"));
        assert!(has_sixels(b"\x1b[?63;1;2;4c"));
        assert!(!has_sixels(b"\x1b[?4;6c"), "the first number is the class of the terminal");
        assert!(!has_sixels(b"\x1b[?62;22c"));
        assert!(!has_sixels(b""));
    }
}
