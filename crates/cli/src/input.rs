//! Where files come from: opened by path, told apart by content; what comes from elsewhere is copied first.

use crate::args::{Store, Trust};
use crate::budget::{is_trusted, most_kept};
use crate::exit::{Failure, Retold, Usage};
use crate::render::{Progress, size};
use anyhow::{Context, Result};
use framewright::bintensors::ReadOptions;
use framewright::convert::{Format, TensorFile, checkpoint_in};
use framewright::recording::is_recording;
#[cfg(feature = "remote")]
use framewright::source::TemporaryDirectory;
use framewright::source::{FileSource, ReadAt, TemporaryFile};
use framewright::tensogram::{TensogramFile, ValidateMode, ValidateOptions, scan_source, validate_file};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A file that a command reads: where it lies, and what people call it.
pub(crate) struct Input {
    path: PathBuf,
    name: String,
    /// A copy, which goes when it is no longer looked at.
    copy: Option<Kept>,
    /// The format, once it was looked for.
    format: OnceCell<Format>,
}

/// Where a copy is.
enum Kept {
    /// Under a name, which tells its format.
    #[cfg(feature = "remote")]
    Directory {
        _directory: TemporaryDirectory,
    },
    File {
        _file: TemporaryFile,
    },
}

impl Input {
    /// What `word` stands for, all of it: a path, `-` for standard input, or a URL.
    ///
    /// # Errors
    /// When standard input or a store cannot be read, or a store would be read whole without leave.
    pub(crate) fn of(word: &Path, store: &Store, command: &str) -> Result<Self> {
        if word.as_os_str() == "-" {
            return Self::piped(io::stdin().lock());
        }
        #[cfg(feature = "remote")]
        if let Some(url) = crate::remote::url(word) {
            return crate::remote::whole(url, store, command);
        }
        let _ = (store, command);
        Self::local(word)
    }

    /// A capture: what [`Input::of`] takes, a recording in a directory, or all that a link delivers until it ends.
    ///
    /// # Errors
    /// As [`Input::of`]; when the link cannot be opened.
    pub(crate) fn capture(file: &Path, store: &Store, command: &str) -> Result<Self> {
        let path = match word(file) {
            Word::Link(address) => {
                #[cfg(feature = "link")]
                return crate::links::spool(&address).and_then(|recording| {
                    let recorded = recording.path().join(crate::links::SPOOL);
                    Self::copied("link", address.into_owned(), |copy| Ok(std::fs::rename(recorded, copy)?))
                });
                #[cfg(not(feature = "link"))]
                return Err(no_links(&address));
            }
            Word::Path(path) => path,
        };
        if path.is_dir() && is_recording(path) {
            let (path, name) = (path.to_owned(), path.display().to_string());
            return Ok(Self { path, name, copy: None, format: OnceCell::new() });
        }
        Self::of(path, store, command)
    }

    /// A file on disk.
    ///
    /// # Errors
    /// When it is a folder, or named as if it were in a store that there is not.
    pub(crate) fn local(word: &Path) -> Result<Self> {
        if let Some((scheme, rest)) = word.to_str().and_then(|text| text.split_once("://"))
            && !word.exists()
        {
            #[cfg(feature = "remote")]
            if let Some(path) = framewright::source::remote::file_path(&format!("{scheme}://{rest}")) {
                return Self::at(path);
            }
            let known = match (cfg!(feature = "remote"), scheme) {
                (true, "file") => "a local file URL has three slashes: file:///tmp/x.tgm",
                (true, _) => "supported: http, https, hf, s3, gs, az, abfs and file",
                (false, _) => "this build has no support for URLs (feature remote)",
            };
            return Err(Usage(format!("{scheme}://{rest}: unsupported URL scheme {scheme}://; {known}")).into());
        }
        Self::at(word.to_owned())
    }

    fn at(path: PathBuf) -> Result<Self> {
        let name = path.display().to_string();
        let found = std::fs::metadata(&path);
        match found.as_ref().map(|found| Kind::of(found.file_type())) {
            Ok(Kind::Directory) => return Self::checkpoint(path, name),
            Ok(Kind::Device) => {
                let text = format!("{name}: is a device, not a file; to read from a device, pipe it: fw … - < {name}");
                return Err(Usage(text).into());
            }
            // As `<(command)` makes them: read once, from the beginning to the end.
            Ok(Kind::Pipe) => {
                let mut pipe = File::open(&path).with_context(|| name.clone())?;
                return Self::kept("pipe", name, &mut pipe);
            }
            // A missing file is reported when it is opened.
            Ok(Kind::File) | Err(_) => {}
        }
        if let Some((len, stored)) = found.ok().as_ref().and_then(holes).filter(|_| !is_trusted()) {
            let text = format!(
                "{name}: the file is sparse: of {} only {} are stored; it is probably an incomplete copy or download\nhint: add \
                 --trust to read it all the same",
                size(len),
                size(stored)
            );
            return Err(Failure::new("sparse_file", text).into());
        }
        Ok(Self { path, name, copy: None, format: OnceCell::new() })
    }

    /// The checkpoint in a directory.
    fn checkpoint(folder: PathBuf, name: String) -> Result<Self> {
        match checkpoint_in(&folder) {
            Ok(path) => {
                let name = if path == folder { name } else { path.display().to_string() };
                Ok(Self { path, name, copy: None, format: OnceCell::from(Format::ShardIndex) })
            }
            Err(error) if error.code() == "no_checkpoint" => {
                Err(Usage(format!("{name}: is a directory, not a file")).into())
            }
            Err(error) => Err(Usage(error.to_string()).into()),
        }
    }

    /// Bytes of the file; 0 of a directory.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn file_len(&self) -> Result<u64> {
        if self.path.is_dir() { Ok(0) } else { Ok(FileSource::open(&self.path)?.len()?) }
    }

    /// Standard input, of which `rest` is what is left to read, put into a file.
    ///
    /// # Errors
    /// When it cannot be read, or written down.
    pub(crate) fn piped(mut rest: impl Read) -> Result<Self> {
        Self::kept("standard-input", "standard input".to_owned(), &mut rest)
    }

    /// Everything that comes from a pipe, which people call `name`, put into a file.
    fn kept(file_name: &str, name: String, from: &mut impl Read) -> Result<Self> {
        let (kept, file) = TemporaryFile::new(file_name)?;
        spool(from, &name, file)?;
        let path = kept.path().to_owned();
        Ok(Self { path, name, copy: Some(Kept::File { _file: kept }), format: OnceCell::new() })
    }

    /// Something that people call `name`, put into a file `file_name` by `write`.
    ///
    /// # Errors
    /// Those of `write`, or when there is no place for it.
    #[cfg(feature = "remote")]
    pub(crate) fn copied(file_name: &str, name: String, write: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let folder = TemporaryDirectory::new()?;
        let path = folder.path().join(file_name);
        write(&path)?;
        Ok(Self { path, name, copy: Some(Kept::Directory { _directory: folder }), format: OnceCell::new() })
    }

    /// Whether it is a copy of what came from elsewhere.
    pub(crate) const fn is_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What people call it: its path, or where it came from.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// An error about it under the name that people know.
    pub(crate) fn retold(&self, error: anyhow::Error) -> anyhow::Error {
        match &self.copy {
            None => error,
            Some(_) => Retold::new(error, self.path.display().to_string(), self.name.clone()).into(),
        }
    }

    /// Puts the path before an error that does not have it yet.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn named<T>(&self, error: impl Into<anyhow::Error>) -> Result<T> {
        let (error, path) = (error.into(), self.path.display().to_string());
        Err(if error.to_string().contains(&path) { error } else { error.context(path) })
    }

    /// The format: by its bytes, else by its name. It is looked for once.
    ///
    /// # Errors
    /// When it cannot be read, or no format fits.
    pub(crate) fn format(&self) -> Result<Format> {
        if let Some(known) = self.format.get() {
            return Ok(*known);
        }
        let found = self.detected()?;
        Ok(*self.format.get_or_init(|| found))
    }

    fn detected(&self) -> Result<Format> {
        let source = FileSource::open(&self.path)?;
        let len = source.len()?;
        if len == 0 {
            return Err(Failure::new("empty_file", format!("{}: the file is empty", self.name)).into());
        }
        if let Some(format) = Format::of_source(&source, &self.path)? {
            return Ok(format);
        }
        // Junk before the first message hides its magic; a scan finds it all the same.
        if !scan_source(&source, &Default::default())?.is_empty() {
            return Ok(Format::Tensogram);
        }
        let mut head = vec![0; len.min(16) as usize];
        source.read_exact_at(0, &mut head)?;
        let hex: Vec<_> = head.iter().map(|byte| format!("{byte:02x}")).collect();
        let unknown = Format::unknown(&self.path);
        let text = format!("{unknown}; found {} at byte 0{}", hex.join(" "), self.guess(&head));
        Err(Failure::new("unknown_format", text).at(0).into())
    }

    /// The format for commands that look and want nothing in particular: an empty file that is named as one of Tensogram is one,
    /// without messages.
    ///
    /// # Errors
    /// As [`Input::format`].
    pub(crate) fn looked_format(&self) -> Result<Format> {
        let named = Format::of_name(Path::new(&self.name)) == Some(Format::Tensogram);
        match named && self.file_len()? == 0 {
            true => Ok(Format::Tensogram),
            false => self.format(),
        }
    }

    /// A Tensogram file with at least one message, unless it is empty.
    ///
    /// # Errors
    /// When it cannot be opened, or holds no message that can be read; then what stands there instead is named.
    pub(crate) fn tensogram(&self) -> Result<TensogramFile> {
        let file = TensogramFile::open(&self.path).with_context(|| self.name.clone())?;
        if file.message_count()? == 0 && std::fs::metadata(&self.path)?.len() > 0 {
            let report = validate_file(&self.path, &ValidateOptions::mode(ValidateMode::Quick))?;
            let findings = report.findings().map(ToString::to_string).collect::<Vec<_>>();
            let text = format!("{}: no readable message\n{}", self.name, findings.join("\n"));
            return Err(Failure::new("no_message", text).into());
        }
        Ok(file)
    }

    /// A file of named tensors, whose digests nobody looks at.
    ///
    /// # Errors
    /// When it cannot be opened or is wrong; the message names it.
    pub(crate) fn unchecked_tensors(&self) -> Result<Box<dyn TensorFile>> {
        self.format()?.open(&self.path, &ReadOptions::default()).or_else(|error| self.named(error))
    }

    /// A file of named tensors. One that is read as a whole is compared with the digest that the file keeps of it, unless `trust` says
    /// otherwise, which is told where there are digests.
    ///
    /// # Errors
    /// As [`Input::unchecked_tensors`].
    pub(crate) fn tensors(&self, trust: &Trust, json: bool) -> Result<Box<dyn TensorFile>> {
        Ok(trust.open(self.unchecked_tensors()?, &self.name, json))
    }

    /// What bytes that no format fits may be.
    fn guess(&self, head: &[u8]) -> &'static str {
        let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
        match Path::new(&self.name).extension().and_then(|end| end.to_str()) {
            Some("sf" | "proto") => "\nhint: check a struct-frame schema with fw schema check",
            _ if head.starts_with(MCAP) => {
                "\nhint: this is an MCAP file; fw convert reads it: fw convert FILE.mcap FILE.tgm"
            }
            _ if head.iter().all(is_text) => "",
            _ => "\nhint: for a struct-frame capture, add --schema FILE to fw info",
        }
    }
}

/// The first bytes of MCAP files.
pub(crate) const MCAP: &[u8; 8] = b"\x89MCAP0\r\n";

/// What a word for a capture stands for.
pub(crate) enum Word<'a> {
    /// A file or directory.
    Path(&'a Path),
    /// The address of a link.
    Link(Cow<'a, str>),
}

/// Tells addresses of links from paths; `file:x` is the path `x`, and the path of a serial port is its address.
pub(crate) fn word(word: &Path) -> Word<'_> {
    // As `fw_link::Address::is_link`, which is not there without the feature.
    let Some(text) = word.to_str() else { return Word::Path(word) };
    match text.split_once(':') {
        Some(("file", path)) if !path.starts_with("//") => Word::Path(Path::new(path)),
        Some(("serial" | "tcp" | "tcp-listen" | "udp" | "ws" | "ws-listen", _)) => Word::Link(text.into()),
        _ if cfg!(feature = "link") && is_serial_port(word) && !text.contains('?') => {
            Word::Link(format!("serial:{text}?baud=keep&retry=never").into())
        }
        _ => Word::Path(word),
    }
}

/// The address that a word stands for where nothing but a link will do.
#[cfg(feature = "link")]
pub(crate) fn address(text: &str) -> Cow<'_, str> {
    match word(Path::new(text)) {
        Word::Link(address) => address,
        Word::Path(_) => text.into(),
    }
}

/// Whether a path leads to a serial port or another terminal, which must not be read line by line. By name: to open a port may
/// reset the board behind it.
fn is_serial_port(path: &Path) -> bool {
    let is_device =
        |path: &Path| std::fs::metadata(path).is_ok_and(|found| matches!(Kind::of(found.file_type()), Kind::Device));
    // Names such as /dev/serial/by-id/… are links.
    let Some(path) = path.canonicalize().ok().filter(|path| is_device(path)) else { return false };
    let starts = |name: &str| ["tty", "cu.", "rfcomm"].iter().any(|start| name.starts_with(start));
    path.starts_with("/dev/pts") || path.file_name().and_then(|name| name.to_str()).is_some_and(starts)
}

/// This build knows no links.
#[cfg(not(feature = "link"))]
pub(crate) fn no_links(address: &str) -> anyhow::Error {
    Usage(format!("{address}: this build has no support for links (feature link)")).into()
}

/// What lies at a path.
enum Kind {
    File,
    Directory,
    Pipe,
    Device,
}

impl Kind {
    fn of(found: std::fs::FileType) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt;
            if found.is_fifo() || found.is_socket() {
                return Self::Pipe;
            }
            if found.is_char_device() || found.is_block_device() {
                return Self::Device;
            }
        }
        if found.is_dir() { Self::Directory } else { Self::File }
    }
}

/// Length and stored bytes of a large file that is nearly all holes: to look for something in it would take hours.
#[cfg(unix)]
fn holes(found: &std::fs::Metadata) -> Option<(u64, u64)> {
    let stored = std::os::unix::fs::MetadataExt::blocks(found).saturating_mul(512);
    let is_sparse = found.len() >= LARGE && stored < found.len() / MOSTLY;
    is_sparse.then_some((found.len(), stored))
}

#[cfg(not(unix))]
fn holes(_: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// Files below this are looked through whatever they are.
#[cfg(unix)]
const LARGE: u64 = 4 << 30;
/// No file system packs data that well.
#[cfg(unix)]
const MOSTLY: u64 = 64;

/// Puts everything that comes from a pipe into a file, unless it is more than may be kept.
fn spool(from: &mut impl Read, name: &str, mut copy: File) -> Result<()> {
    let (progress, most) = (Progress::of(name), most_kept());
    let (mut buffer, mut done) = (vec![0; 1 << 16], 0u64);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(len) if done.saturating_add(len as u64) > most => {
                let text = format!(
                    "{name}: more than {} came, which is the most that is kept in {}\nhint: add --limit SIZE or --trust to keep \
                     more; TMPDIR names another place",
                    size(most),
                    std::env::temp_dir().display()
                );
                return Err(Failure::new("limit_standard_input", text).into());
            }
            Ok(len) => {
                copy.write_all(&buffer[..len])?;
                done += len as u64;
                progress.show(done, 0, name);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(|| name.to_owned()),
        }
    }
}

/// Opens a file that a command reads as it comes.
///
/// # Errors
/// When it cannot be opened, is none, or is elsewhere.
pub(crate) fn file(path: &Path, command: &str) -> Result<File> {
    #[cfg(feature = "remote")]
    if let Some(url) = crate::remote::url(path) {
        let text = format!("{url}: fw {command} cannot read URLs\nhint: curl -s {url} | fw {command} - …");
        return Err(Usage(text).into());
    }
    let _ = command;
    // Pipes and devices, such as a serial port, are read as they come.
    if let Ok(found) = std::fs::metadata(path)
        && matches!(Kind::of(found.file_type()), Kind::Pipe | Kind::Device)
    {
        return File::open(path).with_context(|| path.display().to_string());
    }
    let input = Input::local(path)?;
    File::open(input.path()).with_context(|| input.name().to_owned())
}
