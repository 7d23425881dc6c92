//! Objects as they arrive from an asynchronous stream of bytes, before their message ends.

use crate::error::{Result, TensogramError};
use crate::options::DecodeOptions;
use crate::read::{StreamDecoder, StreamEvent};
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use fw_source::nonblocking::off_runtime;
use std::collections::VecDeque;
use std::io;

/// Decodes what `pieces` bring, as it comes; at most one frame and one piece are held. Decoding runs off the runtime, and
/// the next piece is asked for only when the events of the last one were taken.
///
/// After a fault of one message the stream goes on with the next; after an error of `pieces` it ends.
pub fn decode_stream<P>(pieces: P, options: DecodeOptions) -> impl Stream<Item = Result<StreamEvent>> + Send
where
    P: Stream<Item = io::Result<Bytes>> + Send + Unpin,
{
    let state = State { pieces, decoder: Some(StreamDecoder::new(options)), events: VecDeque::new(), ended: false };
    stream::unfold(state, |mut state| async move {
        loop {
            if let Some(event) = state.events.pop_front() {
                return Some((event, state));
            }
            if state.ended {
                return None;
            }
            let piece = match state.pieces.next().await {
                Some(Ok(piece)) => Some(piece),
                None => None,
                Some(Err(error)) => {
                    state.ended = true;
                    return Some((Err(error.into()), state));
                }
            };
            state.ended = piece.is_none();
            let mut decoder = state.decoder.take()?;
            let worked = off_runtime(move || {
                match piece {
                    Some(piece) => decoder.push(&piece),
                    None => decoder.end_of_input(),
                }
                let mut found = VecDeque::new();
                while let Some(event) = decoder.poll().transpose() {
                    found.push_back(event);
                }
                Ok::<_, TensogramError>((decoder, found))
            })
            .await;
            match worked {
                Ok((decoder, found)) => (state.decoder, state.events) = (Some(decoder), found),
                Err(error) => {
                    state.ended = true;
                    return Some((Err(error), state));
                }
            }
        }
    })
}

struct State<P> {
    pieces: P,
    /// With the worker while a piece is decoded.
    decoder: Option<StreamDecoder>,
    events: VecDeque<Result<StreamEvent>>,
    ended: bool,
}
