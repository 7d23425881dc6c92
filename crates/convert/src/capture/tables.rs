//! A file of rows for each message type.

use super::{CaptureInput, CaptureOptions, FrameRow, each_row};
use crate::{ConvertError, Loss};
use fw_dynamic::{EnumStyle, shown_name};
use fw_schema::Schema;
use fw_schema::layout::Message;
use fw_source::AtomicFile;
use fw_structframe::Framing;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A format that holds tables.
pub trait TableFormat {
    /// Starts a table.
    ///
    /// # Errors
    /// When the format cannot hold the message, or writing fails.
    fn create<'t>(
        &'t self,
        file: AtomicFile,
        layout: TableLayout<'t>,
    ) -> Result<Box<dyn TableWriter + 't>, ConvertError>;
}

/// What the rows of a table have.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TableLayout<'t> {
    /// The schema.
    pub schema: &'t Schema,
    /// The message.
    pub message: &'t Message,
    /// Its name.
    pub name: &'t str,
    /// Which of sequence, system and component there are.
    pub framing: Framing,
    /// True when rows have times.
    pub timed: bool,
    /// How enums are written.
    pub enums: EnumStyle,
}

/// A table under construction.
pub trait TableWriter {
    /// Appends a row.
    ///
    /// # Errors
    /// When writing fails.
    fn row(&mut self, row: &FrameRow<'_, '_>) -> Result<(), ConvertError>;

    /// Completes the file, which its caller puts in place.
    ///
    /// # Errors
    /// When writing fails.
    fn finish(self: Box<Self>) -> Result<(AtomicFile, Vec<Loss>), ConvertError>;
}

/// A finished conversion to tables.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TablesConverted {
    /// The files written, with their message and number of rows.
    pub files: Vec<(PathBuf, String, u64)>,
    /// The framing of the capture.
    pub framing: Framing,
    /// Good frames in the capture.
    pub frames: u64,
    /// Frames written.
    pub selected: u64,
    /// Bytes of the frames written.
    pub bytes: u64,
    /// What could not be kept.
    pub losses: Vec<Loss>,
}

/// The files that tables of these messages would be written to. One message goes to `output` itself; of several, each goes to a
/// file beside it that has the message's name before the extension: `flight.Pose.csv`.
pub fn table_files(output: &Path, schema: &Schema, messages: &[u16]) -> Vec<(u16, PathBuf)> {
    let wanted: Vec<_> = schema.ids().filter(|(id, _)| messages.is_empty() || messages.contains(id)).collect();
    let [(id, _)] = wanted[..] else {
        return wanted.into_iter().map(|(id, message)| (id, beside(output, &shown_name(schema, message)))).collect();
    };
    vec![(id, output.to_path_buf())]
}

fn beside(output: &Path, message: &str) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let name = match output.extension() {
        Some(extension) => format!("{stem}.{message}.{}", extension.to_string_lossy()),
        None => format!("{stem}.{message}"),
    };
    output.with_file_name(name)
}

/// Writes the frames of a capture as tables, a row per frame and a file per message type ([`table_files`]). A message that
/// does not occur gets a file only when it was the only one asked for. All files are put in place at the end.
///
/// # Errors
/// As [`each_row`], and when writing fails. No output is left behind then.
pub fn frames_to_tables(
    mut input: CaptureInput<'_>,
    output: impl AsRef<Path>,
    schema: &Schema,
    options: &CaptureOptions,
    enums: EnumStyle,
    format: &dyn TableFormat,
) -> Result<TablesConverted, ConvertError> {
    let framing = input.framing(options.framing, schema)?;
    let timed = options.clock.is_some() || input.has_times()?;
    let files: BTreeMap<u16, PathBuf> = table_files(output.as_ref(), schema, &options.messages).into_iter().collect();
    let names: BTreeMap<u16, String> = schema.ids().map(|(id, one)| (id, shown_name(schema, one))).collect();
    let create = |id: u16| {
        let (path, name, message) = (files.get(&id), names.get(&id), schema.by_id(id));
        let (Some(path), Some(name), Some(message)) = (path, name, message) else { return Ok(None) };
        let layout = TableLayout { schema, message, name, framing, timed, enums };
        format.create(AtomicFile::create(path)?, layout).map(|writer| Some((writer, 0)))
    };
    let mut tables: BTreeMap<u16, (Box<dyn TableWriter + '_>, u64)> = BTreeMap::new();
    let totals = each_row(input, schema, &options.clone().with_framing(framing), &mut |row| {
        let (table, rows) = match tables.entry(row.id) {
            std::collections::btree_map::Entry::Occupied(table) => table.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => match create(row.id)? {
                Some(table) => place.insert(table),
                None => return Ok(()),
            },
        };
        *rows = rows.saturating_add(1);
        table.row(row)
    })?;
    if let (true, Some(id)) = (files.len() == 1 && tables.is_empty(), files.keys().next())
        && let Some(empty) = create(*id)?
    {
        tables.insert(*id, empty);
    }
    let mut losses = totals.losses;
    let mut complete = Vec::new();
    for (id, (table, rows)) in tables {
        let (file, lost) = table.finish()?;
        losses.extend(lost);
        complete.push((id, file, rows));
    }
    let mut written = Vec::new();
    for (id, file, rows) in complete {
        file.commit()?;
        let name = names.get(&id).cloned().unwrap_or_default();
        written.push((files.get(&id).cloned().unwrap_or_default(), name, rows));
    }
    Ok(TablesConverted {
        files: written,
        framing,
        frames: totals.frames,
        selected: totals.selected,
        bytes: totals.bytes,
        losses,
    })
}
