//! `fw plot`: a tensor as a heat map, line or histogram.

use super::print_done;
use crate::args::{Plot, PlotFormat, PlotKind, PlotScale, PlotTheme};
use crate::exit::{self, Outcome, Usage, aside, is_closed_pipe};
use crate::inputs::{Answers, Inputs};
use crate::opened::{Opened, look_failure};
use crate::render::Progress;
use crate::screen;
use crate::selected::KeyNotes;
use anyhow::{Context, Result};
use framewright::draw::{Scale, Size, Terminal, Theme};
use framewright::look::{FileRecord, Picture, PictureKind, PictureOptions, Style};
use framewright::query::{OneObject, Template};
use framewright::report::visible;
use serde_json::json;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(crate) fn run(args: &Plot) -> Result<Outcome> {
    let format = format(args)?;
    let target = Target::of(args)?;
    let is_picture = |word: &PathBuf| {
        let ending = word.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        matches!(ending.as_deref(), Some("png" | "svg")) && !word.exists()
    };
    if let Some(word) = args.files.iter().find(|word| is_picture(word)) {
        let name = word.display();
        return Err(Usage(format!("{name}: does not exist\nhint: name the picture with --output {name}")).into());
    }
    let inputs = Inputs::of(&args.files)?;
    let mut answers = Answers::new("plot", args.json, &inputs);
    let progress = Progress::of("plot");
    let mut notes = KeyNotes::new(args.select.filter().paths());
    let (mut files, mut chosen, mut others) = (Vec::new(), Vec::new(), 0);
    for word in &inputs.words {
        match choose(args, word, &target, (files.len(), &mut chosen), &mut notes) {
            Ok((opened, more)) => {
                files.push(opened);
                others += more;
            }
            Err(error) if !inputs.several => return Err(error),
            // The other files can be drawn.
            Err(error) => answers.fail(word, &error),
        }
    }
    notes.tell(args.json);
    if chosen.is_empty() && !answers.has_failed() {
        return Err(Usage("no object is selected\nhint: run fw ls to list the objects of the files".to_owned()).into());
    }
    unclaimed(args, &chosen)?;
    for (number, one) in chosen.iter().enumerate() {
        progress.show_items(number as u64, chosen.len() as u64, one.record.file());
        match draw(args, format, &files[one.file], one) {
            Ok(Some(report)) if args.json => answers.add(report),
            Ok(Some(report)) => {
                print_done(&format!("wrote {}\n", visible(report["path"].as_str().unwrap_or_default())))?;
            }
            Ok(None) => {}
            Err(error) if chosen.len() == 1 && !answers.has_failed() || is_closed_pipe(&error) => return Err(error),
            Err(error) => answers.fail(Path::new(one.record.file()), &error),
        }
    }
    if others > 0 && !args.json {
        let how = match target {
            Target::Screen => "choose with --where, --tensor or --message",
            _ => "choose with --where, --tensor or --message, or write them all with -o '[name]-[msg.index].png'",
        };
        aside(format_args!("fw: note: the first of {} selected objects is drawn; {how}\n", others + 1));
    }
    answers.finish_list()
}

/// Chooses the objects of a file that are drawn; how many more are selected than can be drawn.
fn choose(
    args: &Plot,
    word: &Path,
    target: &Target,
    (file, chosen): (usize, &mut Vec<Chosen>),
    notes: &mut KeyNotes,
) -> Result<(Opened, usize)> {
    let opened = Opened::trusted(word, &args.store, "plot", (&args.trust, args.json))?;
    let (mut found, mut others) = (Vec::new(), 0);
    let filter = args.select.filter();
    for record in opened.catalog.records_where(&filter) {
        let record = Rc::new(record.map_err(look_failure).map_err(|error| opened.retold(error))?);
        notes.see(&record);
        for object in selected(args, &record) {
            let is_first = chosen.is_empty() && found.is_empty();
            if !is_first && !matches!(target, Target::Many(_)) {
                others += 1;
                continue;
            }
            let path = target.path(&record, object)?;
            found.push(Chosen { file, record: Rc::clone(&record), object, path });
        }
    }
    chosen.extend(found);
    Ok((opened, others))
}

/// An object that is drawn, and where its picture goes.
struct Chosen {
    /// Position among the open files.
    file: usize,
    record: Rc<FileRecord>,
    object: usize,
    path: Option<PathBuf>,
}

impl Chosen {
    /// The file to write; none for standard output.
    fn output(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| *path != Path::new("-"))
    }
}

/// Refuses outputs that exist, and two objects in one file, before anything is written.
fn unclaimed(args: &Plot, chosen: &[Chosen]) -> Result<()> {
    let mut taken = HashSet::new();
    let inputs: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    for path in chosen.iter().filter_map(Chosen::output) {
        if !taken.insert(path) {
            let text =
                format!("{}: two objects would be written to this file; use more keys in --output", path.display());
            return Err(Usage(text).into());
        }
        super::unclaimed(path, args.force, &inputs)?;
    }
    Ok(())
}

/// Draws one object; what was written, where that is a file.
fn draw(args: &Plot, format: PlotFormat, opened: &Opened, chosen: &Chosen) -> Result<Option<serde_json::Value>> {
    let Chosen { record, object, .. } = chosen;
    let picture = Picture::of(&opened.catalog, record, *object, &options(args))
        .map_err(|error| opened.retold(look_failure(error).context(record.file().to_owned())))?;
    let bytes = bytes(args, format, &picture)?;
    if !args.json {
        for note in picture.notes() {
            aside(format_args!("fw: note: {note}\n"));
        }
    }
    let Some(path) = chosen.output() else {
        exit::print(&bytes)?;
        return Ok(None);
    };
    write(path, &bytes)?;
    Ok(Some(json!({
        "path": path.display().to_string(),
        "file": record.file(),
        "message": record.index(),
        "object": object,
        "name": record.name(*object),
        "kind": picture.kind().name(),
        "verified": picture.is_verified(),
        "coastlines": picture.grid().is_some() && !args.no_coast,
        "notes": picture.notes(),
    })))
}

/// Where pictures go.
enum Target {
    /// Standard output, as text or sixels.
    Screen,
    /// One file, or standard output for `-`.
    One(PathBuf),
    /// A file per object.
    Many(Template),
}

impl Target {
    fn of(args: &Plot) -> Result<Self> {
        let Some(output) = &args.output else { return Ok(Self::Screen) };
        match output.to_str().filter(|text| text.contains('[')) {
            None => Ok(Self::One(output.clone())),
            Some(text) => {
                let template = Template::parse(text).map_err(|error| Usage(format!("--output {text}: {error}")))?;
                Ok(Self::Many(template))
            }
        }
    }

    fn path(&self, record: &FileRecord, object: usize) -> Result<Option<PathBuf>> {
        match self {
            Self::Screen => Ok(None),
            Self::One(path) => Ok(Some(path.clone())),
            Self::Many(template) => match template.expand(&OneObject(record, object)) {
                Ok(path) => Ok(Some(path)),
                Err(error) => {
                    let place = match record.survey() {
                        Some(_) => format!("message {}, object {object}", record.index()),
                        None => format!("tensor {:?}", record.name(object)),
                    };
                    Err(Usage(format!("{}: {place}: {error}", record.file())).into())
                }
            },
        }
    }
}

/// What is made: as asked, by the name of the output, or for the screen.
fn format(args: &Plot) -> Result<PlotFormat> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(output) = &args.output else {
        return Ok(if screen::shows_sixels() { PlotFormat::Sixel } else { PlotFormat::Text });
    };
    match output.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("png") => Ok(PlotFormat::Png),
        Some("svg") => Ok(PlotFormat::Svg),
        Some("txt") => Ok(PlotFormat::Text),
        _ => {
            let text = format!("{}: use a name that ends in .png or .svg, or --format", output.display());
            Err(Usage(text).into())
        }
    }
}

/// The objects of a message that are meant.
fn selected(args: &Plot, record: &FileRecord) -> Vec<usize> {
    if args.message.is_some_and(|message| message != record.index()) {
        return Vec::new();
    }
    let mut objects = record.selected(&args.select.filter());
    objects.retain(|object| args.object.is_none_or(|wanted| wanted == *object));
    if let Some(name) = &args.tensor {
        objects.retain(|object| {
            let known = record.name(*object);
            known == name.as_str() || name.split_once('/') == Some((&record.index().to_string(), &known))
        });
    }
    objects
}

fn options(args: &Plot) -> PictureOptions {
    let mut options = PictureOptions::default();
    options.kind = args.kind.map(|kind| match kind {
        PlotKind::Heatmap => PictureKind::HeatMap,
        PlotKind::Line => PictureKind::Lines,
        PlotKind::Histogram => PictureKind::Histogram,
    });
    options.selection = args.slice.clone();
    options.area = args.area;
    options.bins = args.bins;
    options
}

fn bytes(args: &Plot, format: PlotFormat, picture: &Picture) -> Result<Vec<u8>> {
    let mut style = Style::default();
    style.map = args.map.unwrap_or_default();
    style.range = args.range.unwrap_or_default().scale(match args.spread {
        PlotScale::Linear => Scale::Linear,
        PlotScale::Log => Scale::Log,
        PlotScale::Symmetric => Scale::Symmetric,
    });
    style.coast = !args.no_coast;
    style.title = args.title.clone();
    let theme = match args.theme {
        PlotTheme::Light => Theme::Light,
        PlotTheme::Dark => Theme::Dark,
        PlotTheme::Transparent => Theme::Clear,
    };
    let pixels = |width: u32, height: u32| {
        let size = Size::new(args.width.unwrap_or(width), args.height.unwrap_or(height));
        size.scale(args.scale).theme(theme)
    };
    let drawn = match format {
        PlotFormat::Png => picture.draw(&style, |figure| figure.png(&pixels(960, 540))),
        PlotFormat::Svg => picture.draw(&style, |figure| Ok(figure.svg(&pixels(960, 540))?.into_bytes())),
        PlotFormat::Sixel => picture.draw(&style, |figure| Ok(figure.sixel(&pixels(800, 450))?.into_bytes())),
        PlotFormat::Text => {
            let (columns, rows, colour) = screen::size_and_colour();
            let side =
                |asked: Option<u32>, usual: u16| asked.map_or(usual, |asked| asked.try_into().unwrap_or(u16::MAX));
            let terminal = Terminal::new(side(args.width, columns), side(args.height, rows)).colour(colour);
            picture.draw(&style, |figure| Ok(figure.text(&terminal)?.into_bytes()))
        }
    };
    drawn.map_err(look_failure)
}

/// Writes a picture whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = framewright::source::AtomicFile::create(path).with_context(|| path.display().to_string())?;
    file.write_all(bytes).with_context(|| path.display().to_string())?;
    file.commit().with_context(|| path.display().to_string())?;
    Ok(())
}
