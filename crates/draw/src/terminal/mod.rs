//! Figures as text: half blocks, Braille dots or plain characters, with axes.

mod cells; // characters with colours
mod frame; // titles and axes around them

pub(crate) use cells::{Cell, Cells, columns_of};
pub(crate) use frame::{Frame, plain_text, render};

use crate::error::{DrawError, Result};

/// The terminal that text is made for. Text is never wider or longer.
///
/// ```
/// use fw_draw::{Field, Figure, HeatMap, Terminal, TerminalColour};
///
/// let map = HeatMap::new(Field::new(2, 2, &[0.0f32, 1.0, 2.0, f32::NAN])?);
/// let plain = map.text(&Terminal::new(40, 12).colour(TerminalColour::None))?;
/// assert!(plain.is_ascii());
/// let colour = map.text(&Terminal::new(40, 12).colour(TerminalColour::True))?;
/// assert!(colour.contains("\x1b[38;2;"));
/// # Ok::<(), fw_draw::DrawError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    pub(crate) columns: u16,
    rows: u16,
    colour: TerminalColour,
}

/// Colours of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TerminalColour {
    /// None: plain characters, readable in a log file.
    #[default]
    None,
    /// 256 colours.
    Indexed,
    /// 24-bit colours.
    True,
}

impl Terminal {
    /// The smallest terminal, in characters.
    pub const MIN: (u16, u16) = (24, 8);
    /// The largest terminal, in characters per side.
    pub const MAX: u16 = 1000;

    /// A terminal without colours.
    #[must_use]
    pub const fn new(columns: u16, rows: u16) -> Self {
        Self { columns, rows, colour: TerminalColour::None }
    }

    /// With colours.
    #[must_use]
    pub const fn colour(self, colour: TerminalColour) -> Self {
        Self { colour, ..self }
    }

    fn check(&self) -> Result<()> {
        let fits = |value: u16, least: u16| (least..=Self::MAX).contains(&value);
        if fits(self.columns, Self::MIN.0) && fits(self.rows, Self::MIN.1) {
            return Ok(());
        }
        Err(DrawError::Size {
            width: self.columns.into(),
            height: self.rows.into(),
            unit: "characters",
            least: format!("{} x {}", Self::MIN.0, Self::MIN.1),
            most: format!("{max} x {max}", max = Self::MAX),
        })
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.colour == TerminalColour::None
    }
}
