//! Live data over a WebSocket, as the Foxglove app and its protocol's other clients read it.

use crate::error::TelemetryError;
use crate::mcap::{PROTOBUF, topic};
use crate::proto::Protobuf;
use foxglove::{ChannelBuilder, Context, PartialMetadata, RawChannel, Schema as MessageSchema, WebSocketServerHandle};
use fw_convert::FrameRow;
use fw_schema::Schema;
use std::collections::HashMap;
use std::sync::Arc;

/// A server to which Foxglove connects. Each message type is a channel of protobuf messages, and each system and component has
/// its own where the framing has them. A client that is too slow loses the oldest messages; it does not slow down the others.
///
/// ```
/// use fw_telemetry::Bridge;
///
/// let text = "package demo; message Ping { option msgid = 7; uint16 seq = 1; }";
/// let schema = fw_schema::check_text("demo.sf", text).into_result().unwrap();
/// let bridge = Bridge::start(&schema, "127.0.0.1", 0)?;
/// assert!(bridge.url().starts_with("ws://127.0.0.1:"));
/// bridge.stop();
/// # Ok::<(), fw_telemetry::TelemetryError>(())
/// ```
pub struct Bridge<'s> {
    protobuf: Protobuf<'s>,
    context: Arc<Context>,
    server: WebSocketServerHandle,
    host: String,
    channels: HashMap<(u16, u8, u8), Arc<RawChannel>>,
    bytes: Vec<u8>,
}

impl std::fmt::Debug for Bridge<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl<'s> Bridge<'s> {
    /// Starts a server; port 0 takes one that is free.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn start(schema: &'s Schema, host: &str, port: u16) -> Result<Self, TelemetryError> {
        // A context of its own: channels of another bridge in the process are not served.
        let context = Context::new();
        let server = context
            .websocket_server()
            .name(concat!("framewright ", env!("CARGO_PKG_VERSION")))
            .bind(host, port)
            .message_backlog_size(BACKLOG)
            .start_blocking()
            .map_err(|error| TelemetryError::unsupported("cannot_bind", format!("{host}:{port}: {error}")))?;
        Ok(Self {
            protobuf: Protobuf::new(schema),
            context,
            server,
            host: host.to_owned(),
            channels: HashMap::new(),
            bytes: Vec::new(),
        })
    }

    /// Where clients connect.
    pub fn url(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("ws://{host}:{}", self.server.port())
    }

    /// How many clients are connected.
    pub fn client_count(&self) -> usize {
        self.server.client_count()
    }

    /// Sends a message to every client that subscribed to its channel; a channel is announced with its first message.
    ///
    /// # Errors
    /// When the channel cannot be made.
    pub fn send(&mut self, row: &FrameRow<'_, '_>) -> Result<(), TelemetryError> {
        let key = (row.id, row.header.system, row.header.component);
        let channel = match self.channels.get(&key) {
            Some(channel) => Arc::clone(channel),
            None => {
                let channel = self.channel(row)?;
                self.channels.insert(key, Arc::clone(&channel));
                channel
            }
        };
        // Nobody listens: nothing to encode.
        if !channel.has_sinks() {
            return Ok(());
        }
        self.bytes.clear();
        self.protobuf.encode(row.message, &row.values, &mut self.bytes);
        channel.log_with_meta(&self.bytes, PartialMetadata { log_time: row.time });
        Ok(())
    }

    fn channel(&self, row: &FrameRow<'_, '_>) -> Result<Arc<RawChannel>, TelemetryError> {
        let descriptors = self.protobuf.descriptors(row.message);
        let schema = MessageSchema::new(self.protobuf.name(row.message), PROTOBUF, descriptors);
        let builder = ChannelBuilder::new(topic(row)).context(&self.context).message_encoding(PROTOBUF).schema(schema);
        builder.build_raw().map_err(|error| TelemetryError::unsupported("foxglove", error.to_string()))
    }

    /// Closes all connections and waits until that is done.
    pub fn stop(self) {
        self.server.stop().wait_blocking();
    }
}

/// Messages that wait for a client.
const BACKLOG: usize = 4096;
