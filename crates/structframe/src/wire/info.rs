//! What readers look up by id (SF-13.4).

/// Sizes and checksum seeds of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageInfo {
    /// Effective id.
    pub id: u16,
    /// `MAX_SIZE`.
    pub max_size: u16,
    /// `BASE_SIZE`.
    pub base_size: u16,
    /// `MIN_SIZE`.
    pub min_size: u16,
    /// Seeds of the checksum.
    pub magic: [u8; 2],
}

/// Knows messages by their effective id.
///
/// Slices and arrays must be sorted by id. A function `fn(u16) -> Option<MessageInfo>` is a lookup too.
pub trait Lookup {
    /// The message with this id.
    fn message_info(&self, id: u16) -> Option<MessageInfo>;
}

impl Lookup for [MessageInfo] {
    #[inline]
    fn message_info(&self, id: u16) -> Option<MessageInfo> {
        // Few messages are found sooner one after the other.
        if self.len() <= 8 {
            return self.iter().find(|info| info.id == id).copied();
        }
        let at = self.binary_search_by_key(&id, |info| info.id).ok()?;
        self.get(at).copied()
    }
}

impl<const N: usize> Lookup for [MessageInfo; N] {
    #[inline]
    fn message_info(&self, id: u16) -> Option<MessageInfo> {
        self.as_slice().message_info(id)
    }
}

impl Lookup for fn(u16) -> Option<MessageInfo> {
    #[inline]
    fn message_info(&self, id: u16) -> Option<MessageInfo> {
        self(id)
    }
}

impl<L: Lookup + ?Sized> Lookup for &L {
    #[inline]
    fn message_info(&self, id: u16) -> Option<MessageInfo> {
        (**self).message_info(id)
    }
}
