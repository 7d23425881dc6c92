//! What commands for struct-frame captures and schemas may be told.

use clap::{Args, Subcommand};
use framewright::codegen::Lang;
use framewright::query::{Path, Segment, Where};
use framewright::schema::Variable;
use std::path::PathBuf;

/// Which framing a capture has.
#[derive(Debug, Args)]
pub(crate) struct Profile {
    /// standard, sensor, ipc, bulk, network, or any HEADER+PAYLOAD such as tiny+seq [default: found by content]
    #[arg(long, short, value_name = "PROFILE")]
    pub(crate) profile: Option<framewright::structframe::Framing>,
}

/// Which frames of a capture, by their fields.
#[derive(Clone, Debug, Args)]
pub(crate) struct FrameSelect {
    /// Select frames by a field, such as 'Gps.fix>=3' or 'Pose.mode=HOLD'; repeat for more conditions (all must hold). Keys are
    /// MESSAGE.FIELD, or message, id, at, time, sequence, system or component; operators are = != < <= > >=
    #[arg(long = "where", short = 'w', value_name = "CLAUSE", value_parser = super::select::clause, id = "frame_where")]
    clauses: Vec<Where>,
}

impl FrameSelect {
    /// All conditions.
    pub(crate) fn filter(&self) -> Where {
        self.clauses.iter().flat_map(|one| one.clauses().iter().cloned()).collect()
    }

    /// Whether a condition is about the time of arrival.
    pub(crate) fn asks_for_times(&self) -> bool {
        let is_time = |path: &Path| matches!(path.segments(), [Segment::Key(name)] if name == "time");
        self.clauses.iter().any(|one| one.clauses().iter().any(|clause| is_time(clause.path())))
    }

    /// True without conditions.
    pub(crate) fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }
}

/// How a schema is compiled.
#[derive(Clone, Debug, Args)]
pub(crate) struct Packing {
    /// Make every message variable in length, as --no_packed of the original does; this changes the wire format, so both peers
    /// must use it
    #[arg(long)]
    pub(crate) no_packed: bool,
    /// Look for imports of the schema in this directory too; imports may be nowhere else than there and below the schema's directory
    #[arg(long, value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
}

impl Packing {
    /// The same for the compiler.
    pub(crate) fn options(&self) -> framewright::schema::Options {
        let variable = if self.no_packed { Variable::All } else { Variable::AsDeclared };
        framewright::schema::Options::default().with_variable(variable).with_include(&self.include)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each line has at (the frame's first byte), id, message, sequence, system and component where the \
                        profile has them, and values: 64-bit integers as strings, enums by name, bytes as {\"hex\": \"…\"}, oneofs as \
                        {\"which\": …, \"value\": …}. Frames of unknown ids and payloads that cannot be read have payload \
                        instead of values. Damaged frames and bytes between frames go to standard error, with their \
                        place.\n\nExit codes: 0 every byte was understood, 1 failed, 2 usage, 3 some bytes were not.\n\n\
                        Examples:\n  fw decode flight.bin --schema robot.sf\n  \
                        fw decode flight.bin -s robot.sf --message Pose --table\n  \
                        fw decode flight.bin -s robot.sf --where 'Gps.fix>=3'\n  \
                        fw decode tcp:robot:7000 -s robot.sf --fields --for 10s\n  \
                        fw decode 'serial:/dev/ttyUSB0?baud=921600' -s robot.sf | jq .values\n  \
                        fw decode tcp:robot:7000 -s robot.sf --host-time\n  fw decode flight/ --message Pose"
)]
pub(crate) struct Decode {
    /// The capture, a recording, the address of a link such as tcp:robot:7000, or - for standard input
    ///
    /// Pipes, devices and links are read as data arrives.
    #[arg(value_name = "CAPTURE")]
    pub(crate) file: PathBuf,
    /// The schema [default: the one in the recording]
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) packing: Packing,
    #[command(flatten)]
    pub(crate) profile: Profile,
    /// Print only this message, by name or id; may be repeated
    #[arg(long, short, value_name = "NAME")]
    pub(crate) message: Vec<String>,
    #[command(flatten)]
    pub(crate) select: FrameSelect,
    /// Print one table per message type at the end of the input
    #[arg(long)]
    pub(crate) table: bool,
    /// Print statistics of every field at the end of the input, instead of frames
    #[arg(long, conflicts_with_all = ["table", "host_time", "enum_numbers"])]
    pub(crate) fields: bool,
    /// Stop reading a link or a pipe after this long
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration)]
    pub(crate) limit: Option<std::time::Duration>,
    /// Reject payloads whose length or counts do not match the schema
    #[arg(long)]
    pub(crate) strict: bool,
    /// Show enums as numbers instead of names
    #[arg(long)]
    pub(crate) enum_numbers: bool,
    /// Show when each frame arrived, by the clock of the host: of recordings and live input
    #[arg(long)]
    pub(crate) host_time: bool,
    /// Print JSON: lines (the default), or a report with --fields
    #[arg(long, conflicts_with = "table")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each line is an object: message (or id), values (missing fields take their defaults) or payload, and \
                        where wanted sequence, system and component. What fw decode prints is such lines.\n\n\
                        Examples:\n  echo '{\"message\": \"Ping\", \"values\": {\"seq\": 1}}' > ping.jsonl\n  \
                        fw encode ping.jsonl -s robot.sf -p standard -o ping.bin\n  fw decode flight.bin -s robot.sf | fw encode - -s robot.sf -p bulk > bulk.bin\n  \
                        fw encode commands.jsonl -s robot.sf -p standard -o tcp:robot:7000"
)]
pub(crate) struct Encode {
    /// The lines of JSON, or - for standard input
    pub(crate) file: PathBuf,
    /// The schema
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: PathBuf,
    #[command(flatten)]
    pub(crate) packing: Packing,
    /// standard, sensor, ipc, bulk, network, or any HEADER+PAYLOAD such as tiny+seq
    #[arg(long, short, value_name = "PROFILE")]
    pub(crate) profile: framewright::structframe::Framing,
    /// The file to write, the address of a link such as tcp:robot:7000, or - for standard output [default: -]
    #[arg(long, short, value_name = "OUTPUT", value_parser = super::output::file_or_pipe())]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Number frames without a sequence: 0, 1, … 255, 0
    #[arg(long)]
    pub(crate) number: bool,
    /// Print a JSON report of what was written
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Clients connect to the URL that the command prints: in Foxglove, Open connection, Foxglove WebSocket. Each message \
                        type is a topic of protobuf messages; where the profile has systems and components, each of them has topics of its \
                        own. The time of a message is that of its arrival, or the field that --time names.\n\n\
                        Examples:\n  fw bridge 'serial:/dev/ttyUSB0?baud=921600' --foxglove -s robot.sf\n  fw bridge tcp:robot:7000 --foxglove -s robot.sf\n  \
                        nc robot 7000 | fw bridge - --foxglove -s robot.sf --where 'Gps.fix>=3'"
)]
pub(crate) struct Bridge {
    /// The capture, a recording, the address of a link such as tcp:robot:7000, or - for standard input
    #[arg(value_name = "CAPTURE")]
    pub(crate) file: PathBuf,
    /// Serve the Foxglove WebSocket protocol
    #[arg(long, required = true)]
    pub(crate) foxglove: bool,
    /// The schema [default: the one in the recording]
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) packing: Packing,
    #[command(flatten)]
    pub(crate) profile: Profile,
    /// Serve only this message, by name or id; may be repeated
    #[arg(long, short, value_name = "NAME")]
    pub(crate) message: Vec<String>,
    #[command(flatten)]
    pub(crate) select: FrameSelect,
    /// Take times from this field, in UNIT: s (default), ms, us or ns
    #[arg(long, value_name = "FIELD[:UNIT]")]
    pub(crate) time: Option<String>,
    /// The address to listen on; 0.0.0.0 accepts connections from other machines
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub(crate) host: String,
    /// The port to listen on; 0 takes one that is free
    #[arg(long, value_name = "PORT", default_value_t = 8765)]
    pub(crate) port: u16,
    /// Wait for the first client before reading
    #[arg(long)]
    pub(crate) wait: bool,
    /// Print a line of JSON with the URL, and one with the totals at the end
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Schema {
    /// Check a schema and its imports; print every error with its position
    Check(SchemaCheck),
    /// Print a schema in canonical form
    Fmt(SchemaFmt),
    /// Print the offset of every field of every message
    Layout(SchemaLayout),
    /// Check whether peers with the old and the new schema stay compatible
    Diff(SchemaDiff),
}

#[derive(Debug, Args)]
pub(crate) struct SchemaCheck {
    /// The schema
    pub(crate) file: PathBuf,
    /// The profile in use: warns about ids that it cannot carry
    #[arg(long, short, value_name = "PROFILE")]
    pub(crate) profile: Option<framewright::structframe::Framing>,
    #[command(flatten)]
    pub(crate) packing: Packing,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaFmt {
    /// The schema
    pub(crate) file: PathBuf,
    /// Rewrite the file instead of printing
    #[arg(long, short, conflicts_with = "check")]
    pub(crate) write: bool,
    /// Check only; exit 1 when the file is not in canonical form
    #[arg(long)]
    pub(crate) check: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaLayout {
    /// The schema
    pub(crate) file: PathBuf,
    /// Only these messages, by name or id; in JSON also the messages they contain
    #[arg(value_name = "MESSAGE")]
    pub(crate) messages: Vec<String>,
    #[command(flatten)]
    pub(crate) packing: Packing,
    /// Print the complete model as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaDiff {
    /// The schema in use
    pub(crate) old: PathBuf,
    /// The schema that replaces it
    pub(crate) new: PathBuf,
    #[command(flatten)]
    pub(crate) packing: Packing,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = generate_help())]
pub(crate) struct Gen {
    /// The schemas (.proto or .sf); imports are generated too
    #[arg(required = true, value_name = "SCHEMA")]
    pub(crate) schemas: Vec<PathBuf>,
    /// Languages to generate, separated by commas
    #[arg(long, short, value_name = "LANG", value_delimiter = ',', required = true)]
    pub(crate) lang: Vec<String>,
    /// The output directory; several languages get a subdirectory each
    #[arg(long, short, value_name = "DIR", value_parser = super::output::file())]
    pub(crate) output: PathBuf,
    /// Write nothing; exit 1 when a file is missing or out of date
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) packing: Packing,
    /// Root namespace of C# code [default: StructFrame]
    #[arg(long, value_name = "NAME")]
    pub(crate) csharp_namespace: Option<String>,
    /// Rust: derive serde traits, which a feature `serde` of your crate enables
    #[arg(long)]
    pub(crate) serde: bool,
    /// Rust: write the runtime next to the code, which then needs no other crate
    #[arg(long, conflicts_with = "serde")]
    pub(crate) standalone: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The languages as the table of generators has them, and examples.
fn generate_help() -> String {
    let languages = Lang::ALL.iter().map(|lang| match lang.aliases() {
        [] => format!("  {:<10} {}\n", lang.name(), lang.title()),
        aliases => format!("  {:<10} {} (also: {})\n", lang.name(), lang.title(), aliases.join(", ")),
    });
    let languages: String = languages.collect();
    format!(
        "Languages:\n{languages}\nA file is rewritten only when its content changes. Rust, Python, TypeScript and JavaScript list \
         all packages of a directory in one file: later runs into the same directory keep the packages of earlier ones, whose \
         schemas are listed in structframe.schemas there.\n\nExamples:\n  fw gen robot.proto --lang c,python -o generated\n  \
         fw gen robot.proto dock.proto --lang rust -o src/generated --standalone\n  \
         fw gen robot.proto --lang rust -o src/generated --check"
    )
}
