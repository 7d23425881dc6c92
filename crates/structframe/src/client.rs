//! A small client over a transport of yours: send, hand on, wait for an answer. No allocator, no clock.

use crate::frame::{Counters, Event, Frame, Stream};
use crate::message::{Message, MessageError, read_message, write_message};
use crate::wire::{Framing, Header, Lookup};
use core::fmt;

/// What a client talks through: a socket, a serial port, a pipe.
pub trait Transport {
    /// Why it fails.
    type Error;

    /// Sends all of these bytes.
    ///
    /// # Errors
    /// Its own.
    fn send(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Waits a little for bytes, stores them at the beginning of `buffer` and returns how many there are; 0 when none came.
    ///
    /// # Errors
    /// Its own; also when the other side is gone.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error>;
}

/// Sends messages and reads what comes back.
///
/// `B` are three buffers: one that holds incomplete frames between two chunks (see [`Stream`]), one for a chunk, and one
/// for a frame that is sent.
#[derive(Debug)]
pub struct Client<T, L, B> {
    transport: T,
    framing: Framing,
    stream: Stream<L, B>,
    chunk: B,
    out: B,
    header: Header,
}

impl<T: Transport, L: Lookup, B: AsRef<[u8]> + AsMut<[u8]>> Client<T, L, B> {
    /// A client for messages of this lookup, usually the generated `MESSAGES`.
    pub fn new(transport: T, framing: Framing, lookup: L, [partial, chunk, out]: [B; 3]) -> Self {
        let stream = Stream::new(framing, lookup, partial);
        Self { transport, framing, stream, chunk, out, header: Header::default() }
    }

    /// Says who sends: SYS and COMP of frames to come.
    #[must_use]
    pub fn with_sender(mut self, system: u8, component: u8) -> Self {
        (self.header.system, self.header.component) = (system, component);
        self
    }

    /// Sends a message; sequence numbers count up by themselves.
    ///
    /// # Errors
    /// When the framing cannot carry the message, the buffer is too short, or the transport fails.
    pub fn send<M: Message>(&mut self, message: &M) -> Result<(), ClientError<T::Error>> {
        let frame = write_message(self.framing, self.header, message, self.out.as_mut());
        self.transport.send(frame.map_err(ClientError::Message)?).map_err(ClientError::Transport)?;
        self.header.sequence = self.header.sequence.wrapping_add(1);
        Ok(())
    }

    /// Receives once and tells of every good frame; returns how many those were.
    ///
    /// # Errors
    /// When the transport fails.
    pub fn poll(&mut self, mut tell: impl FnMut(&Frame<'_>)) -> Result<usize, ClientError<T::Error>> {
        let len = self.transport.receive(self.chunk.as_mut()).map_err(ClientError::Transport)?;
        let chunk = self.chunk.as_ref();
        let mut frames = 0;
        self.stream.read(chunk.get(..len).unwrap_or(chunk), |event| {
            if let Event::Frame(frame) = event {
                frames += 1;
                tell(&frame);
            }
        });
        Ok(frames)
    }

    /// Sends a message and waits for the first answer that `accept` takes. Every other frame goes to `other`. After each
    /// time of receiving, `patient` says whether to go on: that is where a clock comes in.
    ///
    /// # Errors
    /// As [`send`](Self::send) and [`poll`](Self::poll), and [`ClientError::NoAnswer`] when patience ran out.
    pub fn request<Q: Message, A: Message>(
        &mut self,
        request: &Q,
        mut accept: impl FnMut(&A) -> bool,
        mut other: impl FnMut(&Frame<'_>),
        mut patient: impl FnMut() -> bool,
    ) -> Result<A, ClientError<T::Error>> {
        self.send(request)?;
        let framing = self.framing;
        let mut answer = None;
        loop {
            self.poll(|frame| {
                let message = (answer.is_none() && frame.id == A::MSG_ID).then(|| read_message::<A>(framing, frame));
                match message {
                    Some(Ok(message)) if accept(&message) => answer = Some(message),
                    _ => other(frame),
                }
            })?;
            if let Some(answer) = answer {
                return Ok(answer);
            }
            if !patient() {
                return Err(ClientError::NoAnswer { id: A::MSG_ID });
            }
        }
    }

    /// What the reader has counted.
    pub fn counters(&self) -> Counters {
        self.stream.counters()
    }

    /// The transport.
    pub fn transport_mut(&mut self) -> &mut T {
        &mut self.transport
    }
}

/// Up to `N` handlers, each for the frames of one id.
///
/// ```
/// use fw_structframe::{Event, Frame, Frames, MessageInfo, Profile, Subscribers};
///
/// const PING: MessageInfo = MessageInfo { id: 7, max_size: 4, base_size: 4, min_size: 4, magic: [0x1d, 0x2e] };
/// let mut pings = 0;
/// let mut count = |_: &Frame<'_>| pings += 1;
/// let mut subscribers = Subscribers::<2>::new();
/// assert!(subscribers.subscribe(7, &mut count));
/// for event in Frames::new(Profile::Ipc.framing(), [PING], &[7, 0, 0, 0, 0]) {
///     if let Event::Frame(frame) = event {
///         subscribers.dispatch(&frame);
///     }
/// }
/// assert_eq!(pings, 1);
/// ```
pub struct Subscribers<'h, const N: usize> {
    slots: [Option<(u16, Handler<'h>)>; N],
}

type Handler<'h> = &'h mut dyn FnMut(&Frame<'_>);

impl<'h, const N: usize> Subscribers<'h, N> {
    /// None yet.
    pub fn new() -> Self {
        Self { slots: core::array::from_fn(|_| None) }
    }

    /// Calls `handler` for every frame with this id from now on; false when there is no room.
    pub fn subscribe(&mut self, id: u16, handler: Handler<'h>) -> bool {
        match self.slots.iter_mut().find(|slot| slot.is_none()) {
            Some(slot) => {
                *slot = Some((id, handler));
                true
            }
            None => false,
        }
    }

    /// Forgets the handlers for this id.
    pub fn unsubscribe(&mut self, id: u16) {
        for slot in &mut self.slots {
            if slot.as_ref().is_some_and(|(of, _)| *of == id) {
                *slot = None;
            }
        }
    }

    /// Calls the handlers for a frame and returns how many there were.
    pub fn dispatch(&mut self, frame: &Frame<'_>) -> usize {
        let mut called = 0;
        for (id, handler) in self.slots.iter_mut().flatten() {
            if *id == frame.id {
                handler(frame);
                called += 1;
            }
        }
        called
    }
}

impl<const N: usize> Default for Subscribers<'_, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> fmt::Debug for Subscribers<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.slots.iter().flatten().map(|(id, _)| id)).finish()
    }
}

/// Two lookups as one; where ids collide, the first one's message counts.
impl<A: Lookup, B: Lookup> Lookup for (A, B) {
    fn message_info(&self, id: u16) -> Option<crate::MessageInfo> {
        self.0.message_info(id).or_else(|| self.1.message_info(id))
    }
}

/// Why a client could not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientError<E> {
    /// The transport failed.
    Transport(E),
    /// The message cannot be written.
    Message(MessageError),
    /// No answer that was accepted.
    NoAnswer {
        /// The id waited for.
        id: u16,
    },
}

impl<E> ClientError<E> {
    /// Stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Transport(_) => "transport",
            Self::Message(error) => error.code(),
            Self::NoAnswer { .. } => "no_answer",
        }
    }
}

impl<E: fmt::Display> fmt::Display for ClientError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::Message(error) => error.fmt(f),
            Self::NoAnswer { id } => write!(f, "no answer with message id {id}"),
        }
    }
}

impl<E: core::error::Error> core::error::Error for ClientError<E> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, MessageInfo, Profile, field};
    use std::collections::VecDeque;
    use std::vec::Vec;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Number<const ID: u16>(u32);

    impl<const ID: u16> Message for Number<ID> {
        const INFO: MessageInfo = MessageInfo { id: ID, max_size: 4, base_size: 4, min_size: 4, magic: [1, 2] };
        fn encode(&self, _: Layout, out: &mut [u8]) -> Result<usize, MessageError> {
            field::write_fixed(&self.0, out)
        }
        fn decode(_: Layout, payload: &[u8]) -> Result<Self, MessageError> {
            Ok(Self(field::read_fixed::<u32, 4>(payload)))
        }
    }

    type Ask = Number<1>;
    type Answer = Number<2>;

    /// Answers every question, in pieces, after an answer to another one and a byte of noise.
    #[derive(Default)]
    struct Echo {
        waiting: VecDeque<u8>,
        sent: Vec<Vec<u8>>,
    }

    impl Transport for Echo {
        type Error = core::convert::Infallible;
        fn send(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
            self.sent.push(bytes.to_vec());
            let mut out = [0; 32];
            for number in [41, 42] {
                self.waiting.push_back(0xaa);
                let frame =
                    write_message(Profile::Network.framing(), Header::default(), &Number::<2>(number), &mut out);
                self.waiting.extend(frame.unwrap());
            }
            Ok(())
        }
        fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
            let len = self.waiting.len().min(5);
            buffer.iter_mut().zip(self.waiting.drain(..len)).for_each(|(to, from)| *to = from);
            Ok(len)
        }
    }

    #[test]
    fn the_accepted_answer_comes_back_and_others_go_on() {
        let infos = ([Ask::INFO], [Answer::INFO]);
        let buffers = [[0; 64]; 3];
        let mut client = Client::new(Echo::default(), Profile::Network.framing(), infos, buffers).with_sender(3, 4);
        let mut others = 0;
        let answer =
            client.request(&Number::<1>(7), |answer: &Answer| answer.0 == 42, |_| others += 1, || true).unwrap();
        assert_eq!((answer, others), (Number(42), 1));
        client.send(&Number::<1>(8)).unwrap();
        let sequences: Vec<_> = client.transport_mut().sent.iter().map(|frame| frame[2..5].to_vec()).collect();
        assert_eq!(sequences, [[0, 3, 4], [1, 3, 4]]);
        let mut patience = 20;
        let nothing = client.request(
            &Number::<1>(7),
            |answer: &Answer| answer.0 == 43,
            |_| {},
            || {
                patience -= 1;
                patience > 0
            },
        );
        assert_eq!(nothing.unwrap_err().code(), "no_answer");
    }
}
