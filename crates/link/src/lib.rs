//! Byte streams of live links, by address.
//!
//! | address | reads | writes |
//! |---|---|---|
//! | `serial:/dev/ttyUSB0?baud=921600` | a serial port | the port |
//! | `tcp:robot:7000` | connects | connects |
//! | `tcp-listen:7000` | waits for a peer, one at a time | waits for a peer |
//! | `udp:0.0.0.0:7000` | binds; joins a multicast group | sends datagrams there |
//! | `ws:robot:8080/data` | WebSocket messages | binary messages |
//! | `ws-listen:8080` | waits for a WebSocket peer | waits for a peer |
//! | `file:flight.bin`, `-` | a file, standard input | a new file, standard output |
//!
//! An [`Input`] reads on a thread of its own into a queue of limited size, and hands out batches of pieces, each with the host
//! time of its arrival. A link that breaks is opened again, with growing pauses. An [`Output`] writes pieces.
//!
//! ```
//! use fw_link::{Address, Batch, Input, InputOptions, Output, OutputOptions, Wait};
//! use std::time::Duration;
//!
//! let mut input = Input::open(&"udp:127.0.0.1:0".parse()?, &InputOptions::default())?;
//! let there: Address = format!("udp:{}", input.local().unwrap()).parse()?;
//! let mut output = Output::open(&there, &OutputOptions::default())?;
//! output.send(b"hello")?;
//! let mut batch = Batch::default();
//! while batch.bytes().is_empty() { // a batch may also tell of events only: that the link is open
//!     assert_eq!(input.next(&mut batch, Some(Duration::from_secs(10)))?, Wait::Data);
//! }
//! assert_eq!(batch.chunks().next().unwrap().bytes, b"hello");
//! # Ok::<(), fw_link::LinkError>(())
//! ```
#![forbid(unsafe_code)]

// Rooms in the order data flows: each uses only those before it.
mod error; // what went wrong, on which link
mod address; // what people write
mod batch; // pieces with their times
mod queue; // between the thread that reads and its consumer
mod transport; // sockets, ports and files
mod input; // reading
mod output; // writing
#[cfg(feature = "testing")]
pub mod testing; // peers that are made of bytes

pub use address::{Address, Endpoint, Parity, Retry, Serial, duration};
pub use batch::{Batch, Chunk, Event};
pub use error::LinkError;
pub use input::{Input, InputOptions, Wait};
pub use output::{Output, OutputOptions};
pub use queue::Statistics;
