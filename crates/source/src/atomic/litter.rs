//! Temporary files that have names, and their removal when a signal ends the process.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// From now on `SIGINT`, `SIGTERM` and `SIGHUP` remove every temporary file of this process before they end it.
///
/// For programs, at their start; a library must not take signals from the program that uses it. Signals that the process
/// ignores stay ignored. Handlers are installed with the first temporary file, so a program that makes none is left alone.
pub fn remove_temporary_files_on_signals() {
    WANTED.store(true, Ordering::Relaxed);
}

/// A directory for temporary files, removed with all that is in it when it is dropped, or when a signal ends a program that
/// called [`remove_temporary_files_on_signals`].
#[derive(Debug)]
pub struct TemporaryDirectory {
    // Removed before it is taken off the list.
    directory: tempfile::TempDir,
    _listed: Listed,
}

impl TemporaryDirectory {
    /// A new directory where the system keeps temporary files, for its owner alone.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> io::Result<Self> {
        let mut builder = builder();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        Self::made(&builder, &std::env::temp_dir())
    }

    /// A new directory inside another.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn inside(parent: impl AsRef<Path>) -> io::Result<Self> {
        Self::made(&builder(), parent.as_ref())
    }

    fn made(builder: &tempfile::Builder<'_, '_>, parent: &Path) -> io::Result<Self> {
        let (directory, listed) = list(|| {
            let directory = builder.tempdir_in(parent)?;
            let path = directory.path().to_owned();
            Ok((directory, path))
        })?;
        Ok(Self { directory, _listed: listed })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(super::PREFIX);
    builder
}

/// A path on the list, until it is dropped.
#[derive(Debug)]
pub(super) struct Listed(PathBuf);

impl Listed {
    #[cfg(target_os = "linux")]
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        paths().remove(&self.0);
    }
}

/// Makes something that has a path, and lists it in the same moment: no signal comes between the two.
pub(super) fn list<T>(make: impl FnOnce() -> io::Result<(T, PathBuf)>) -> io::Result<(T, Listed)> {
    watch();
    let mut paths = paths();
    let (made, path) = make()?;
    // A program that changes its directory must still find the file.
    let path = std::path::absolute(&path).unwrap_or(path);
    paths.insert(path.clone());
    Ok((made, Listed(path)))
}

fn paths() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

static PATHS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static WANTED: AtomicBool = AtomicBool::new(false);

/// Starts the thread that waits for signals, once, where it is wanted.
#[cfg(unix)]
fn watch() {
    static STARTED: std::sync::Once = std::sync::Once::new();
    if WANTED.load(Ordering::Relaxed) {
        STARTED.call_once(signals::start);
    }
}

/// Here a signal ends the process at once.
#[cfg(not(unix))]
fn watch() {}

#[cfg(unix)]
mod signals {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    pub(super) fn start() {
        let ignored = ignored();
        let taken = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored.contains(signal));
        // Without the thread the files are as they would be without this module.
        let Ok(mut signals) = Signals::new(taken) else { return };
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // Held to the end: nothing new is made after this.
                let paths = super::paths();
                for path in paths.iter() {
                    let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
                }
                let _ = emulate_default_handler(signal);
                std::process::exit(128 + signal);
            }
        });
    }

    /// Signals that are ignored, as `nohup` arranges: they are none of our business.
    fn ignored() -> Vec<i32> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
        (1..=63).filter(|signal| mask >> (signal - 1) & 1 == 1).collect()
    }
}
