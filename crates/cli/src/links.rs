//! Links, as commands read them.

use crate::exit::aside;
use crate::frames::{Piece, Step};
use crate::render::Progress;
use anyhow::Result;
use framewright::link::{Address, Batch, Event, Input, InputOptions, Retry, Wait};
use framewright::recording::{Recorder, RecorderOptions};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A link that is read as data arrives.
pub(crate) struct LinkFeed {
    address: String,
    input: Input,
    batch: Batch,
    /// Events told so far: that the link is open is news only afterwards.
    told: usize,
}

impl LinkFeed {
    /// Opens a link, which is opened again when it breaks.
    ///
    /// # Errors
    /// When the address is wrong, or the link cannot be opened.
    pub(crate) fn open(address: &str) -> Result<Self> {
        Self::open_with(address, &InputOptions::default())
    }

    /// The same, with options.
    ///
    /// # Errors
    /// When the address is wrong, or the link cannot be opened.
    pub(crate) fn open_with(address: &str, options: &InputOptions) -> Result<Self> {
        let parsed: Address = address.parse()?;
        let input = Input::open(&parsed, options)?;
        if let Some(local) = input.local() {
            aside(format_args!("fw: {address}: waiting for data at {local}\n"));
        }
        Ok(Self { address: address.to_owned(), input, batch: Batch::default(), told: 0 })
    }

    /// The link itself.
    pub(crate) const fn input(&self) -> &Input {
        &self.input
    }

    /// What arrived since the last step, told about on the way.
    ///
    /// # Errors
    /// When the link broke for good.
    pub(crate) fn next(&mut self, timeout: Option<Duration>) -> Result<(Wait, &Batch)> {
        let wait = self.input.next(&mut self.batch, timeout)?;
        for event in self.batch.events() {
            if self.told > 0 || !matches!(event, Event::Connected(_)) {
                aside(format_args!("fw: {}: {event}\n", self.address));
            }
            self.told += 1;
        }
        if self.batch.dropped() > 0 {
            let dropped = self.batch.dropped();
            aside(format_args!("fw: {}: dropped {dropped} bytes, because they arrived too fast\n", self.address));
        }
        Ok((wait, &self.batch))
    }

    /// Hands on what arrived. Pieces of one connection come together, unless each needs its time.
    ///
    /// # Errors
    /// When the link broke for good, and those of `take`.
    pub(crate) fn step(
        &mut self,
        timeout: Option<Duration>,
        timed: bool,
        take: &mut dyn FnMut(Piece<'_>) -> Result<()>,
    ) -> Result<Step> {
        let (wait, batch) = self.next(timeout)?;
        match wait {
            Wait::End => return Ok(Step::End),
            Wait::Timeout => return Ok(Step::Idle),
            _ => {}
        }
        let first = batch.chunks().next().map(|chunk| (chunk.connection, chunk.time));
        let whole = first.filter(|(connection, _)| {
            !timed && batch.chunks().next_back().is_some_and(|last| last.connection == *connection)
        });
        match whole {
            Some((connection, time)) => {
                take(Piece { bytes: batch.bytes(), time: Some(time), stream: connection.into() })?;
            }
            None => batch.chunks().try_for_each(|chunk| {
                take(Piece { bytes: chunk.bytes, time: Some(chunk.time), stream: chunk.connection.into() })
            })?,
        }
        Ok(Step::Data)
    }
}

/// Records everything that a link delivers into [`SPOOL`] of a new directory, until the other side closes it or Ctrl-C is pressed.
///
/// The directory is not one that signals remove: a signal is the end of the link here, and not of the program.
///
/// # Errors
/// When the link cannot be opened or breaks, or the file cannot be written.
pub(crate) fn spool(address: &str) -> Result<tempfile::TempDir> {
    let mut feed = LinkFeed::open_with(address, &InputOptions::default().with_retry(Retry::Never))?;
    let stop = Interrupt::new()?;
    let folder = tempfile::tempdir()?;
    // Blocks are for those who read while others write.
    let options = RecorderOptions::new(address).with_blocks(BLOCK, Duration::MAX);
    let (progress, mut recorder, mut done) =
        (Progress::bytes(), Recorder::create_file(folder.path().join(SPOOL), options)?, 0);
    loop {
        let (wait, batch) = feed.next(Some(PULSE))?;
        take(&mut recorder, batch)?;
        done += batch.bytes().len() as u64;
        progress.show(done, 0, address);
        if wait == Wait::End || stop.came() {
            recorder.finish()?;
            return Ok(folder);
        }
    }
}

/// The recording in the directory of [`spool`].
pub(crate) const SPOOL: &str = "link.tgm";

/// Records what arrived, and what could not be kept of it.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn take(recorder: &mut Recorder, batch: &Batch) -> Result<()> {
    for chunk in batch.chunks() {
        recorder.push(chunk.time, chunk.connection, chunk.bytes)?;
    }
    if batch.dropped() > 0 {
        // After these pieces and before the next ones.
        recorder.flush()?;
        recorder.drop_bytes(batch.dropped());
    }
    Ok(())
}

/// How often a quiet link is looked at.
pub(crate) const PULSE: Duration = Duration::from_millis(100);
/// Bytes of a link that are written down at once.
const BLOCK: usize = 1 << 20;

/// Watches for SIGINT and SIGTERM until it is dropped; then they end the process as before.
struct Interrupt {
    came: std::sync::Arc<std::sync::atomic::AtomicBool>,
    #[cfg(unix)]
    handlers: Vec<signal_hook::SigId>,
}

impl Interrupt {
    #[cfg(unix)]
    fn new() -> Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        let mut found = Self { came: std::sync::Arc::default(), handlers: Vec::new() };
        for signal in [SIGINT, SIGTERM] {
            found.handlers.push(signal_hook::flag::register_conditional_default(signal, found.came.clone())?);
            found.handlers.push(signal_hook::flag::register(signal, found.came.clone())?);
        }
        Ok(found)
    }

    #[cfg(not(unix))]
    fn new() -> Result<Self> {
        Ok(Self { came: std::sync::Arc::default() })
    }

    fn came(&self) -> bool {
        self.came.load(Ordering::Relaxed)
    }
}

#[cfg(unix)]
impl Drop for Interrupt {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            signal_hook::low_level::unregister(handler);
        }
    }
}

/// Whether SIGINT or SIGTERM came: commands that run until then end in good order. A second signal ends the process at once.
#[cfg(unix)]
pub(crate) fn interrupted() -> Result<std::sync::Arc<std::sync::atomic::AtomicBool>> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let flag = std::sync::Arc::<std::sync::atomic::AtomicBool>::default();
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, flag.clone())?;
        signal_hook::flag::register(signal, flag.clone())?;
    }
    Ok(flag)
}

/// Here a signal ends the process at once.
#[cfg(not(unix))]
pub(crate) fn interrupted() -> Result<std::sync::Arc<std::sync::atomic::AtomicBool>> {
    Ok(Default::default())
}
