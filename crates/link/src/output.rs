//! Writing a link.

use crate::address::{Address, Retry};
use crate::error::LinkError;
use crate::input::Pauses;
use crate::queue::Statistics;
use crate::transport::{Opener, Transport, Way};
use std::io;
use std::net::SocketAddr;
use tokio::runtime::Runtime;

/// How to write a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutputOptions {
    /// What happens when the link breaks, unless the address says it.
    pub retry: Retry,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self { retry: Retry::Never }
    }
}

impl OutputOptions {
    /// Chooses what happens when the link breaks.
    #[must_use]
    pub const fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }
}

/// A link that is written.
pub struct Output {
    address: Address,
    retry: Retry,
    runtime: Runtime,
    opener: Opener,
    transport: Option<Transport>,
    statistics: Statistics,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("address", &self.address).field("statistics", &self.statistics).finish()
    }
}

impl Output {
    /// Opens a link; what waits for peers binds its socket, and waits with the first piece.
    ///
    /// # Errors
    /// When the link cannot be opened, and the address has no `retry` that allows for it.
    pub fn open(address: &Address, options: &OutputOptions) -> Result<Self, LinkError> {
        let failed = |error| LinkError::Open { address: address.text().to_owned(), error };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let opener = runtime.block_on(Opener::new(address, Way::Out)).map_err(failed)?;
        let retry = address.retry.unwrap_or(options.retry);
        let listens = opener.local().is_some();
        let statistics = Statistics::default();
        let mut output = Self { address: address.clone(), retry, runtime, opener, transport: None, statistics };
        if !listens {
            output.connect(None, address.retry.unwrap_or(Retry::Never))?;
        }
        Ok(output)
    }

    /// The socket address that peers connect to, where there is one.
    pub fn local(&self) -> Option<SocketAddr> {
        self.opener.local()
    }

    /// Opens the link, again and again as far as `retry` allows.
    fn connect(&mut self, broken: Option<io::Error>, retry: Retry) -> Result<(), LinkError> {
        let address = self.address.text().to_owned();
        let mut pauses = Pauses::new(retry);
        let mut failure = broken;
        loop {
            if let Some(error) = failure {
                match pauses.next() {
                    None if self.statistics.connections > 0 => return Err(LinkError::Lost { address, error }),
                    None => return Err(LinkError::Open { address, error }),
                    Some(pause) => std::thread::sleep(pause),
                }
            }
            match self.runtime.block_on(self.opener.open()) {
                Ok((transport, _)) => {
                    self.transport = Some(transport);
                    self.statistics.connections += 1;
                    return Ok(());
                }
                Err(error) => failure = Some(error),
            }
        }
    }

    /// Sends a piece: a datagram or a message where the link has them. After the link broke it is opened again, as far as
    /// `retry` allows, and the whole piece is sent again.
    ///
    /// # Errors
    /// When the link broke for good.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        loop {
            let Some(transport) = &mut self.transport else {
                self.connect(None, self.retry)?;
                continue;
            };
            match self.runtime.block_on(transport.write(bytes)) {
                Ok(()) => {
                    self.statistics.bytes += bytes.len() as u64;
                    self.statistics.chunks += 1;
                    return Ok(());
                }
                Err(error) => {
                    self.transport = None;
                    self.connect(Some(error), self.retry)?;
                }
            }
        }
    }

    /// What was sent so far.
    pub const fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Hands everything to the other side and closes the link.
    ///
    /// # Errors
    /// When that fails.
    pub fn finish(mut self) -> Result<Statistics, LinkError> {
        if let Some(transport) = self.transport.take() {
            let address = self.address.text().to_owned();
            self.runtime.block_on(transport.finish()).map_err(|error| LinkError::Lost { address, error })?;
        }
        Ok(self.statistics)
    }
}
