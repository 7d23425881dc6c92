//! The fuzz target `link_websocket`: any bytes from a WebSocket peer.

use fw_link::testing::{WsPeer, websocket};

/// The first byte says how the peer is met, the others are what it sends. It cannot make more of them than it sent.
pub(crate) fn run(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let peer = [WsPeer::Connected, WsPeer::Answered, WsPeer::Connects, WsPeer::Answers][usize::from(kind % 4)];
    let messages = websocket(peer, bytes);
    let received: usize = messages.iter().map(Vec::len).sum();
    // A frame has a head of two bytes at least.
    assert!(received + 2 * messages.len() <= bytes.len(), "{received} bytes in {} messages", messages.len());
}
