//! What commands that look at files may be told.

use super::select::{Columns, Select, keys};
use clap::{Args, ValueEnum};
use framewright::convert::CatFormat;
use framewright::query::Keys;
use framewright::tensor::Selection;
use std::path::PathBuf;

/// How files in stores are reached; nothing where stores are not part of the build.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Store {
    /// Set an option of the object store; may be repeated
    ///
    /// For example endpoint=http://localhost:9000, skip_signature=true or root_certificate=ca.pem. Credentials are read from
    /// the environment (AWS_..., GOOGLE_..., AZURE_...) by default.
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "KEY=VALUE", help_heading = "For URLs")]
    pub(crate) store_option: Vec<String>,
    /// Send a header to the server of an http(s) or hf URL, and to no other; may be repeated
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "NAME:VALUE", help_heading = "For URLs")]
    pub(crate) header: Vec<String>,
    /// Follow redirects of an http(s) server to another server
    #[cfg(feature = "remote")]
    #[arg(long, help_heading = "For URLs")]
    pub(crate) allow_redirects: bool,
    /// Allow downloading a whole file where reading parts is not enough
    #[cfg(feature = "remote")]
    #[arg(long, help_heading = "For URLs")]
    pub(crate) allow_full_read: bool,
}

/// What every command that reads files may be told.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: Store,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A Tensogram stream on standard input is listed as it arrives, in bounded memory; any other format, and a \
                        stream with --where, --keys, --sort, --count or --messages, is read to its end first. fw dump FILE --message 0 shows which keys there are.\n\nExamples:\n  \
                        fw ls forecast.tgm\n  fw ls runs/ -w mars.param=2t -w 'mars.step<=12' --sort mars.step\n  \
                        fw ls *.tgm -p mars.param --count\n  curl -s https://example.org/run.tgm | fw ls -\n  \
                        tail -c +1 -f growing.tgm | fw ls -"
)]
pub(crate) struct Ls {
    #[arg(help = FILES, required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) columns: Columns,
    /// Count what is selected instead of listing it, for each combination of the keys that --keys names
    #[arg(long)]
    pub(crate) count: bool,
    /// List messages, one line each, instead of objects
    #[arg(long)]
    pub(crate) messages: bool,
    /// Print JSON; for a Tensogram stream, one object per tensor as it arrives
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: Store,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Values are separated by one space; a key that is missing ends the command with exit code 1 unless --default is \
                        given. With --json every line is an object whose values keep their types. fw dump FILE --message 0 shows which keys there \
                        are.\n\nExamples:\n  \
                        fw get forecast.tgm -p mars.param,mars.step\n  \
                        fw get forecast.tgm -p mars.param | sort | uniq -c\n  \
                        fw get model.safetensors -p name,shape -w 'name=*.weight'"
)]
pub(crate) struct Get {
    #[arg(help = FILES, required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The keys to print, such as mars.param,mars.step,shape
    #[arg(long, short = 'p', value_name = "KEYS", value_parser = keys, required = true)]
    pub(crate) keys: Option<Keys>,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Print one line per message instead of one per object; the first object that has a key answers
    #[arg(long)]
    pub(crate) messages: bool,
    /// Print this for a key that is missing
    #[arg(long, value_name = "TEXT")]
    pub(crate) default: Option<String>,
    /// Print a line of JSON instead of a line of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: Store,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Minimum, maximum, mean, standard deviation and norm are of the finite values. Tensors are read one by one per thread. \
                        Digests of weights are compared; those of Tensogram objects are not (fw validate does).\n\nExamples:\n  fw stats forecast.tgm\n  \
                        fw stats runs/*.tgm -w mars.param=2t --histogram\n  fw stats model.bt -w 'name=*.bias' --json"
)]
pub(crate) struct Stats {
    #[arg(help = FILES, required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) columns: Columns,
    /// Show only this message of a Tensogram file (from 0)
    #[arg(long, short, value_name = "M")]
    pub(crate) message: Option<usize>,
    /// Show how values are distributed
    #[arg(long)]
    pub(crate) histogram: bool,
    /// The number of bins of the histogram
    #[arg(long, value_name = "N", default_value_t = 20, requires = "histogram")]
    pub(crate) bins: usize,
    /// The range of the histogram [default: that of the values]
    #[arg(long, value_name = "LOW:HIGH", value_parser = range, allow_hyphen_values = true, requires = "histogram")]
    pub(crate) range: Option<(f64, f64)>,
    #[command(flatten)]
    pub(crate) trust: super::Trust,
    #[command(flatten)]
    pub(crate) threads: super::Threads,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without --output the picture is drawn in the terminal. Of more than two axes the last two are shown, at the first \
                        index of the others; --slice chooses. Coastlines are drawn where the grid is known: by objects named latitude \
                        and longitude, mars.area, or --area.\n\nExamples:\n  fw plot forecast.tgm -w mars.param=2t\n  \
                        fw plot forecast.tgm -m 3 -o t.png --width 1200\n  fw plot era5.tgm --slice '0,:,180' -o profile.svg\n  \
                        fw plot forecast.tgm -o '[mars.param]-[mars.step].png' --map balance\n  \
                        fw plot model.bt -t layer.0.weight --kind histogram"
)]
pub(crate) struct Plot {
    #[arg(help = FILES, required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Which tensor, by its name as fw ls shows it
    #[arg(long, short, value_name = "NAME")]
    pub(crate) tensor: Option<String>,
    /// Which message of a Tensogram file (counting from 0)
    #[arg(long, short, value_name = "M")]
    pub(crate) message: Option<usize>,
    /// Which object of the message (counting from 0)
    #[arg(long, value_name = "O", conflicts_with = "tensor")]
    pub(crate) object: Option<usize>,
    /// Which part of the tensor: for each axis INDEX, START:END or START:END:STEP as in NumPy, or ... for the axes between
    #[arg(long, short, value_name = "SLICE", value_parser = crate::selection::parse, allow_hyphen_values = true)]
    pub(crate) slice: Option<Selection>,
    /// What to draw [default: a heat map of two axes, a line of one]
    #[arg(long, value_enum)]
    pub(crate) kind: Option<PlotKind>,
    /// Write a .png or .svg file; keys in brackets, as in '[mars.param]-[mars.step].png', make one file per object
    #[arg(long, short, value_name = "FILE", value_parser = super::output::file_or_pipe())]
    pub(crate) output: Option<PathBuf>,
    /// What to make [default: by the name of the output; in a terminal sixel graphics if it has them, else text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PlotFormat>,
    /// Replace files that exist
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Width in pixels, or in characters for text
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<u32>,
    /// Height in pixels, or in characters for text
    #[arg(long, value_name = "N")]
    pub(crate) height: Option<u32>,
    /// Draw every pixel of a PNG as N by N, for screens with small pixels
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) scale: u32,
    /// The colours of a heat map
    #[arg(long, value_name = "NAME", value_parser = colours())]
    pub(crate) map: Option<framewright::draw::ColourMap>,
    /// The values that the colours or the axis span; 2%:98% are percentiles [default: all]
    #[arg(long, value_name = "LOW:HIGH", value_parser = bounds, allow_hyphen_values = true)]
    pub(crate) range: Option<framewright::draw::Range>,
    /// How values are spread over the range
    #[arg(long, value_enum, default_value_t = PlotScale::Linear)]
    pub(crate) spread: PlotScale,
    /// The area of a regular grid, where the metadata does not have it: the outermost points in degrees
    #[arg(long, value_name = "N/W/S/E", value_parser = area, allow_hyphen_values = true)]
    pub(crate) area: Option<[f64; 4]>,
    /// Draw no coastlines
    #[arg(long)]
    pub(crate) no_coast: bool,
    /// Another title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// The bins of a histogram [default: 40]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) bins: usize,
    /// The colours of paper and ink in a PNG or SVG
    #[arg(long, value_enum, default_value_t = PlotTheme::Light)]
    pub(crate) theme: PlotTheme,
    /// Print JSON about the files that were written
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) trust: super::Trust,
    #[command(flatten)]
    pub(crate) threads: super::Threads,
    #[command(flatten)]
    pub(crate) store: Store,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotKind {
    /// Two axes in colours
    Heatmap,
    /// One axis as a line, or up to eight rows as lines
    Line,
    /// How often values occur
    Histogram,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    /// Portable Network Graphics
    Png,
    /// Scalable Vector Graphics
    Svg,
    /// Graphics for terminals that show them
    Sixel,
    /// Characters, in colour on a terminal
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotScale {
    /// Evenly
    Linear,
    /// By their logarithm
    Log,
    /// Evenly, with zero in the middle
    Symmetric,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotTheme {
    /// Dark ink on white
    Light,
    /// Light ink on black
    Dark,
    /// Dark ink on nothing
    Transparent,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fw info forecast.tgm\n  fw info runs/\n  fw info flight.bin --schema robot.sf\n  \
                        fw info flight.bin --schema robot.sf --profile network --time stamp_us:us\n  \
                        fw info flight.bin --schema robot.sf --fields --where 'Gps.fix>=3'\n  \
                        fw info tcp:robot:7000 --schema robot.sf --live"
)]
pub(crate) struct Info {
    #[arg(help = FILES, required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The schema of a struct-frame capture [default: the one in the recording]
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) packing: super::Packing,
    #[command(flatten)]
    pub(crate) profile: super::Profile,
    /// Compute rates from this field, in UNIT: s (default), ms, us or ns
    #[arg(long, value_name = "FIELD[:UNIT]")]
    pub(crate) time: Option<String>,
    /// Show rates, gaps and damage of a capture or a link while data arrives
    #[arg(long, conflicts_with = "time")]
    pub(crate) live: bool,
    /// Refresh --live this often
    #[arg(long, value_name = "DURATION", requires = "live", default_value = "1s", value_parser = super::duration)]
    pub(crate) every: std::time::Duration,
    /// Stop --live after this long
    #[arg(long = "for", value_name = "DURATION", requires = "live", value_parser = super::duration)]
    pub(crate) limit: Option<std::time::Duration>,
    #[command(flatten)]
    pub(crate) select: super::FrameSelect,
    /// Show statistics of every field of a capture
    #[arg(long)]
    pub(crate) fields: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl Info {
    /// An option that only captures take, where one was given.
    pub(crate) fn capture_option(&self) -> Option<&'static str> {
        let given = [
            ("--no-packed", self.packing.no_packed),
            ("--include", !self.packing.include.is_empty()),
            ("--where", !self.select.is_empty()),
            ("--profile", self.profile.profile.is_some()),
            ("--time", self.time.is_some()),
            ("--fields", self.fields),
        ];
        given.into_iter().find_map(|(option, given)| given.then_some(option))
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fw dump forecast.tgm --message 0\n  fw dump forecast.tgm -w mars.param=2t -p mars,shape\n  fw dump forecast.tgm --frames\n  \
                        fw dump model.safetensors --hex | less"
)]
pub(crate) struct Dump {
    #[arg(help = FILES, required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Show only these keys of each object, such as mars,shape
    #[arg(long, short = 'p', value_name = "KEYS", value_parser = keys, conflicts_with = "hex")]
    pub(crate) keys: Option<Keys>,
    /// Show only this message of a Tensogram file (from 0)
    #[arg(long, short, value_name = "M")]
    pub(crate) message: Option<usize>,
    /// Show the first and last elements of every tensor too
    #[arg(long, conflicts_with = "hex")]
    pub(crate) data: bool,
    /// Show long lists of the metadata in full
    #[arg(long)]
    pub(crate) all: bool,
    /// List the frames of Tensogram messages: offset, length, type, digest
    #[arg(long, conflicts_with_all = ["hex", "keys", "data", "clauses"])]
    pub(crate) frames: bool,
    /// Show every byte: range, hex, meaning
    #[arg(long)]
    pub(crate) hex: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  fw validate forecast.tgm\n  fw validate --mode full runs/ && echo complete")]
pub(crate) struct Validate {
    #[arg(help = FILES, required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// What to check
    #[arg(long, value_enum, default_value_t = Mode::Decode)]
    pub(crate) mode: Mode,
    /// Require exactly N messages in a Tensogram file
    #[arg(long, value_name = "N")]
    pub(crate) expect_messages: Option<usize>,
    /// Require that the manifest of all tensors has this digest (see fw digest)
    #[arg(long, value_name = "SHA256", value_parser = super::trust::manifest)]
    pub(crate) expect: Option<String>,
    /// How strictly to judge BinTensors headers and Tensogram CBOR [default: default]
    #[arg(long, value_enum, value_name = "RULES")]
    pub(crate) rules: Option<super::Rules>,
    #[command(flatten)]
    pub(crate) threads: super::Threads,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Structure only
    Quick,
    /// Structure and digests, nothing decoded
    Checksum,
    /// Structure, metadata, digests; compressed payloads decoded
    Default,
    /// The same, and every object must decode
    Decode,
    /// Everything, decoded values included
    Full,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  fw cat forecast.tgm -w mars.param=2t -w mars.step=6 --npy > 2t.npy\n  \
                        fw cat forecast.tgm --message 1 --object 0 --slice '40:50,::2' --text\n  \
                        fw cat model.bt --tensor layer.0.weight --text | head\n  \
                        fw cat https://host/era5.tgm -m 3 --slice '0,100:200,::4' --npy > corner.npy")]
pub(crate) struct Cat {
    /// The file or a URL, or - for standard input
    pub(crate) file: PathBuf,
    /// Which tensor, by its name in fw ls
    ///
    /// In a Tensogram file of several messages, use M/NAME or add --message M. Where several objects of a message have the
    /// same name, NAME#2 is object 2.
    #[arg(long, short, value_name = "NAME", conflicts_with_all = ["object", "clauses"])]
    pub(crate) tensor: Option<String>,
    /// Which message of a Tensogram file, from 0 [default: 0]
    #[arg(long, short, value_name = "M")]
    pub(crate) message: Option<usize>,
    /// Which object of the message, from 0 [default: 0]
    #[arg(long, short, value_name = "O", value_parser = place, conflicts_with = "clauses")]
    pub(crate) object: Option<usize>,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Only part of the tensor, with a NumPy-style slice for each axis
    ///
    /// INDEX, START:END, START:END:STEP, or ... for the axes between. Only the bytes that are needed are read where format and
    /// codec allow.
    #[arg(long, short, value_name = "SLICE", value_parser = crate::selection::parse, allow_hyphen_values = true)]
    pub(crate) slice: Option<Selection>,
    /// Write elements as another type that holds them exactly
    ///
    /// f32 takes floats of 16 bits or fewer (also F8, F6, F4 and the scales E8M0) and integers of 16 bits or fewer.
    #[arg(long = "as", value_name = "TYPE")]
    pub(crate) widen: Option<Widened>,
    /// Write a NumPy file instead of raw little-endian elements
    #[arg(long, conflicts_with = "text")]
    pub(crate) npy: bool,
    /// Write numbers, one line per row of the last axis
    #[arg(long)]
    pub(crate) text: bool,
    /// Print JSON: type, shape, and values as nested lists
    #[arg(long, conflicts_with_all = ["npy", "text"])]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) trust: super::Trust,
    #[command(flatten)]
    pub(crate) threads: super::Threads,
    #[command(flatten)]
    pub(crate) store: Store,
}

/// Types that elements are written as.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Widened {
    /// 32-bit floats.
    F32,
}

impl Cat {
    /// How to write what was read.
    pub(crate) const fn form(&self) -> CatFormat {
        match (self.npy, self.text, self.json) {
            (true, ..) => CatFormat::Npy,
            (_, true, _) => CatFormat::Text,
            (.., true) => CatFormat::Json,
            _ => CatFormat::Raw,
        }
    }

    /// The part that was asked for; everything, unless one was.
    pub(crate) fn selection(&self) -> Selection {
        self.slice.clone().unwrap_or_default()
    }
}

/// The number of an object. Elsewhere -o names an output, so this is where people try to name one.
fn place(text: &str) -> Result<usize, String> {
    let wrong = "expected the number of an object; fw cat writes to standard output, which > FILE puts into a file";
    text.parse().map_err(|_| wrong.to_owned())
}

/// What commands that look at many files take.
const FILES: &str =
    "Files, directories (every tensor file in them), patterns such as 'run-*.tgm', or URLs; - is standard input";

/// `LOW:HIGH`.
fn range(text: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let ends = text.split_once(':').and_then(|(low, high)| Some((number(low)?, number(high)?)));
    match ends {
        Some((low, high)) if low < high => Ok((low, high)),
        Some(_) => Err("the lower end must be below the upper end".to_owned()),
        None => Err("expected two numbers, such as 250:310".to_owned()),
    }
}

/// `LOW:HIGH`, where an end may be absent or a percentile.
fn bounds(text: &str) -> Result<framewright::draw::Range, String> {
    use framewright::draw::{Bound, Range};
    let wrong = || "expected LOW:HIGH, such as 250:310, 0: or 2%:98%".to_owned();
    let bound = |text: &str| match (text.trim(), text.trim().strip_suffix('%')) {
        ("", _) => Ok(Bound::Data),
        (_, Some(percent)) => percent.parse().map(Bound::Percentile).map_err(|_| wrong()),
        (number, None) => number.parse().map(Bound::Value).map_err(|_| wrong()),
    };
    let (low, high) = text.split_once(':').ok_or_else(wrong)?;
    Ok(Range::default().low(bound(low)?).high(bound(high)?))
}

/// `N/W/S/E`.
fn area(text: &str) -> Result<[f64; 4], String> {
    let numbers: Option<Vec<f64>> = text.split('/').map(|part| part.trim().parse().ok()).collect();
    numbers
        .and_then(|numbers| <[f64; 4]>::try_from(numbers).ok())
        .ok_or_else(|| "expected north/west/south/east in degrees, such as 90/0/-90/359.75".to_owned())
}

/// The colour maps by their names.
fn colours() -> impl clap::builder::TypedValueParser<Value = framewright::draw::ColourMap> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    use framewright::draw::ColourMap;
    PossibleValuesParser::new(ColourMap::ALL.iter().map(|map| map.name()))
        .try_map(|name| ColourMap::ALL.iter().copied().find(|map| map.name() == name).ok_or("not a colour map"))
}
