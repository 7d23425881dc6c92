//! Peers that are made of bytes, for fuzzing.

use crate::batch::Batch;
use crate::queue::{Queue, Taken};
use crate::transport::read_peer;
use std::time::Duration;
use tokio_tungstenite::tungstenite::protocol::Role;

/// How a link meets a WebSocket peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WsPeer {
    /// It connects to us and sends its handshake first.
    Connects,
    /// We connect to it, and its answer comes first.
    Answers,
    /// It has connected to us, and its frames follow.
    Connected,
    /// We have connected to it, and its frames follow.
    Answered,
}

/// The messages that a link hands on when a WebSocket peer sends these bytes and leaves.
///
/// # Panics
/// When the link waits for more although the peer has left.
pub fn websocket(peer: WsPeer, bytes: &[u8]) -> Vec<Vec<u8>> {
    let queue = Queue::new(usize::MAX);
    let (role, greet) = match peer {
        WsPeer::Connects => (Role::Server, true),
        WsPeer::Answers => (Role::Client, true),
        WsPeer::Connected => (Role::Server, false),
        WsPeer::Answered => (Role::Client, false),
    };
    read_peer(role, greet, bytes, &queue);
    queue.end(Ok(()));
    let (mut batch, mut messages) = (Batch::default(), Vec::new());
    while let Ok(Taken::Data) = queue.take(&mut batch, Some(Duration::ZERO)) {
        messages.extend(batch.chunks().map(|chunk| chunk.bytes.to_vec()));
    }
    messages
}
