//! Bytes of a message that are borrowed, or shared.

use bytes::Bytes;
use std::borrow::Borrow;
use std::fmt::Debug;
use std::sync::Arc;

/// What a message can stand in: a slice that is borrowed (`&[u8]`), or bytes that are shared ([`Bytes`]).
///
/// Sealed: other containers turn into [`Bytes`] without a copy.
pub trait MessageBytes: Clone + Debug + AsRef<[u8]> + sealed::Sealed {
    /// How something that was read from the message is held: as it is for borrowed messages, shared for owned ones, so
    /// that clones are cheap.
    #[doc(hidden)]
    type Held<T: Clone + Debug>: Borrow<T> + From<T> + Clone + Debug;

    /// Takes it out.
    #[doc(hidden)]
    fn into_inner<T: Clone + Debug>(held: Self::Held<T>) -> T;
}

impl MessageBytes for &[u8] {
    type Held<T: Clone + Debug> = T;

    fn into_inner<T: Clone + Debug>(held: T) -> T {
        held
    }
}

impl MessageBytes for Bytes {
    type Held<T: Clone + Debug> = Arc<T>;

    fn into_inner<T: Clone + Debug>(held: Arc<T>) -> T {
        Arc::unwrap_or_clone(held)
    }
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for &[u8] {}
    impl Sealed for bytes::Bytes {}
}
