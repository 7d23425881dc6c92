//! Where the bytes of a file come from: a path, a URL, a buffer, a file object of Python.

use crate::buffer;
use crate::promise::left_alone;
use crate::value::type_name;
use bytes::Bytes;
use framewright::convert::{self, ConvertError, Format, MAX_INDEX, TensorFile};
use framewright::source::remote::{StoreOptions, StoreSource, open_source, sibling_url};
use framewright::source::{FileSource, MappedFile, ReadAt};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Where the bytes are.
pub(super) enum Source {
    /// A local path, and the files behind it: the one of that name, or the shards of an index.
    Path(PathBuf, Vec<LocalFile>),
    /// A file in a store, with the settings of the store.
    Url(String, Vec<(String, String)>),
    /// Bytes of an object of Python.
    Buffer(Bytes),
    /// A file that Python has open, by what it is called.
    Object(String, Option<MappedFile>),
}

impl Source {
    /// All bytes in place, where they are on this machine: those of a shard where the file is an index.
    ///
    /// # Errors
    /// When the file cannot be mapped.
    pub(super) fn in_place(&self, shard: Option<&Path>) -> io::Result<Option<Bytes>> {
        match self {
            Self::Url(..) => Ok(None),
            Self::Buffer(bytes) => Ok(Some(bytes.clone())),
            Self::Object(_, map) => Ok(map.as_ref().map(MappedFile::bytes)),
            Self::Path(_, files) => {
                let holds = |file: &&LocalFile| shard.is_none_or(|shard| file.source.path() == shard);
                files.iter().find(holds).map(LocalFile::bytes).transpose()
            }
        }
    }

    /// How it is shown.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Path(path, _) => path.display().to_string(),
            Self::Url(url, _) => url.clone(),
            Self::Buffer(bytes) => format!("<{} bytes>", bytes.len()),
            Self::Object(name, _) => name.clone(),
        }
    }
}

/// A local file that is open, mapped when a view of it is first asked for.
pub(super) struct LocalFile {
    source: FileSource,
    map: OnceLock<MappedFile>,
}

impl LocalFile {
    fn new(source: FileSource) -> Self {
        Self { source, map: OnceLock::new() }
    }

    fn bytes(&self) -> io::Result<Bytes> {
        if let Some(map) = self.map.get() {
            return Ok(map.bytes());
        }
        let made = MappedFile::map_file(&self.source, left_alone())?;
        // Another thread may have been faster; its map is as good.
        Ok(self.map.get_or_init(|| made).bytes())
    }
}

/// Opens a local file, or an index of shards with the files beside it.
///
/// # Errors
/// When a file cannot be read, or is wrong.
pub(super) fn open_path(path: &Path) -> Result<(Box<dyn TensorFile>, Vec<LocalFile>), ConvertError> {
    if Format::of_name(path) != Some(Format::ShardIndex) && !path.is_dir() {
        let source = FileSource::open(path)?;
        // The same open file twice: a view is of what was opened, whatever the name stands for by then.
        let same = FileSource::of(source.file().try_clone()?, path);
        return Ok((convert::open_source(same, &path.to_string_lossy())?, vec![LocalFile::new(source)]));
    }
    let index = convert::open(path)?;
    let shards: BTreeSet<&Path> = (0..index.entries().len()).filter_map(|entry| Some(index.shard(entry)?.0)).collect();
    // Shards that cannot be opened a second time are read through the index.
    let files = shards.into_iter().filter_map(|shard| FileSource::open(shard).ok()).map(LocalFile::new).collect();
    Ok((index, files))
}

/// Opens a file in a store; an index of shards with the files beside it.
///
/// # Errors
/// When the store cannot be read, or the file is wrong.
pub(super) fn open_url(url: &str, settings: &[(String, String)]) -> Result<Box<dyn TensorFile>, ConvertError> {
    let options = settings.iter().fold(StoreOptions::new(), |options, (name, value)| options.with_setting(name, value));
    let source = open_source(url, &options)?;
    let place = url.split(['?', '#']).next().unwrap_or(url);
    if Format::of_name(Path::new(place)) != Some(Format::ShardIndex) {
        return convert::open_source(source, place);
    }
    let shard = |file: &str| -> Result<Box<dyn TensorFile>, ConvertError> {
        convert::open_source(open_source(&sibling_url(url, file), &options)?, file)
    };
    convert::open_index(&whole(&source)?, url, &shard)
}

/// All bytes of an index, which is text.
fn whole(source: &StoreSource) -> io::Result<Vec<u8>> {
    let len = source.object_len();
    if len > MAX_INDEX {
        let words = format!("an index of {len} bytes is above the limit of {MAX_INDEX}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, words));
    }
    let mut text = vec![0; len as usize];
    source.read_exact_at(0, &mut text)?;
    Ok(text)
}

/// An object of Python as a source: something with a buffer, or a binary file.
pub(super) enum Given {
    /// Bytes that are at hand.
    Bytes(Bytes),
    /// A regular file that is read by its descriptor.
    File(PathBuf, String),
    /// A file that is asked for parts.
    Object(ObjectSource),
}

impl Given {
    /// # Errors
    /// `TypeError` for an object that is neither; what its methods raise.
    pub(super) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if !object.hasattr(intern!(py, "read"))? {
            return buffer::shared(object).map(Self::Bytes).map_err(|_| {
                let name = type_name(object);
                PyTypeError::new_err(format!("cannot open '{name}': a path, a URL, bytes or a binary file is needed"))
            });
        }
        let at = match object.call_method0(intern!(py, "tell")) {
            Ok(at) => at.extract::<u64>()?,
            Err(_) => return rest_of(object),
        };
        if at == 0
            && let Some(descriptor) = descriptor(object)?
        {
            let path = PathBuf::from(format!("/proc/self/fd/{descriptor}"));
            if path.is_file() {
                return Ok(Self::File(path, shown(object)));
            }
        }
        // A buffer that is at hand is shared; anything else that can be searched is read as far as it is asked for.
        if object.hasattr(intern!(py, "getbuffer"))? {
            let bytes = buffer::shared(&object.call_method0(intern!(py, "getbuffer"))?)?;
            let start = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
            return Ok(Self::Bytes(bytes.slice(start..)));
        }
        let seekable =
            object.call_method0(intern!(py, "seekable")).is_ok_and(|truth| truth.is_truthy().unwrap_or(false));
        if !seekable || at != 0 {
            return rest_of(object);
        }
        let len = object.call_method1(intern!(py, "seek"), (0, 2))?.extract::<u64>()?;
        object.call_method1(intern!(py, "seek"), (0,))?;
        // A file of text is searched, too; what it reads tells.
        if !object.call_method1(intern!(py, "read"), (0,))?.is_instance_of::<PyBytes>() {
            return rest_of(object);
        }
        Ok(Self::Object(ObjectSource { object: Mutex::new(object.clone().unbind()), len, name: shown(object) }))
    }
}

/// Everything that is left of a stream.
fn rest_of(object: &Bound<'_, PyAny>) -> PyResult<Given> {
    let read = object.call_method0(intern!(object.py(), "read"))?;
    buffer::shared(&read).map(Given::Bytes).map_err(|_| {
        let (name, found) = (type_name(object), type_name(&read));
        PyTypeError::new_err(format!(
            "cannot open '{name}': it reads '{found}', bytes are needed; open it in binary mode"
        ))
    })
}

/// The descriptor of a file of this machine that Python reads as it is: others have one too (a gzip file that of what is
/// compressed).
fn descriptor(object: &Bound<'_, PyAny>) -> PyResult<Option<i32>> {
    let io = object.py().import("io")?;
    let raw = match object.getattr("raw") {
        Ok(raw) if object.get_type().is(&io.getattr("BufferedReader")?) => raw,
        _ => object.clone(),
    };
    if !raw.get_type().is(&io.getattr("FileIO")?) {
        return Ok(None);
    }
    Ok(raw.call_method0("fileno").and_then(|number| number.extract()).ok())
}

fn shown(object: &Bound<'_, PyAny>) -> String {
    let name = object.getattr("name").and_then(|name| name.extract::<PathBuf>());
    name.map_or_else(|_| format!("<{}>", type_name(object)), |name| name.display().to_string())
}

/// A file object that can be searched, one request at a time.
pub(super) struct ObjectSource {
    object: Mutex<Py<PyAny>>,
    len: u64,
    name: String,
}

impl ObjectSource {
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl ReadAt for ObjectSource {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        // The lock comes before the interpreter: its holder needs that to go on.
        let object = self.object.lock().unwrap_or_else(PoisonError::into_inner);
        Python::attach(|py| {
            let object = object.bind(py);
            object.call_method1(intern!(py, "seek"), (offset,))?;
            let mut done = 0;
            while done < buffer.len() {
                let read = object.call_method1(intern!(py, "read"), (buffer.len() - done,))?;
                let bytes = crate::buffer::shared(&read)?;
                if bytes.is_empty() || bytes.len() > buffer.len() - done {
                    let words = format!("{}: need {} bytes at byte {offset}, have {done}", self.name, buffer.len());
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, words));
                }
                buffer[done..done + bytes.len()].copy_from_slice(&bytes);
                done += bytes.len();
            }
            Ok(())
        })
    }
}
