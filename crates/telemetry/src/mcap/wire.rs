//! The fields of a protobuf message: which there are, and their bytes.

/// The content of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content<'m> {
    Varint(u64),
    Fixed64([u8; 8]),
    Delimited(&'m [u8]),
    Fixed32([u8; 4]),
    /// A group, without its end.
    Group(&'m [u8]),
}

/// What is wrong in a message, and at which of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) at: usize,
}

/// Reads fields first to last.
#[derive(Clone, Debug)]
pub(super) struct Reader<'m> {
    message: &'m [u8],
    at: usize,
}

impl<'m> Reader<'m> {
    pub(super) const fn new(message: &'m [u8]) -> Self {
        Self { message, at: 0 }
    }

    /// The next field: its number and content.
    pub(super) fn next_field(&mut self) -> Result<Option<(u32, Content<'m>)>, Fault> {
        if self.at >= self.message.len() {
            return Ok(None);
        }
        let begin = self.at;
        let (number, wire_type) = self.key()?;
        let content = match wire_type {
            0 => Content::Varint(self.varint()?),
            1 => Content::Fixed64(self.array()?),
            2 => {
                let len = self.varint()?;
                Content::Delimited(self.take(len)?)
            }
            3 => Content::Group(self.group(number)?),
            5 => Content::Fixed32(self.array()?),
            other => {
                return Err(Fault { message: format!("field {number} has the unknown wire type {other}"), at: begin });
            }
        };
        Ok(Some((number, content)))
    }

    /// The next varint.
    pub(super) fn varint(&mut self) -> Result<u64, Fault> {
        let begin = self.at;
        let mut value = 0u64;
        for place in 0..10u32 {
            let [byte] = self.array::<1>()?;
            value |= u64::from(byte & 0x7f).checked_shl(place * 7).unwrap_or(0);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Fault { message: "a varint has more than 10 bytes".to_owned(), at: begin })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.at >= self.message.len()
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        Ok(self.take(N as u64)?.first_chunk().copied().unwrap_or([0; N]))
    }

    fn key(&mut self) -> Result<(u32, u8), Fault> {
        let begin = self.at;
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|number| (1..1 << 29).contains(number));
        let number =
            number.ok_or_else(|| Fault { message: format!("field number {} is out of range", key >> 3), at: begin })?;
        Ok((number, (key & 7) as u8))
    }

    /// Everything up to the end of a group; groups in it are passed over without recursion.
    fn group(&mut self, number: u32) -> Result<&'m [u8], Fault> {
        let begin = self.at;
        let mut open = vec![number];
        while let Some(current) = open.last().copied() {
            let end = self.at;
            let (number, wire_type) = self.key()?;
            match wire_type {
                0 => {
                    self.varint()?;
                }
                1 => {
                    self.array::<8>()?;
                }
                2 => {
                    let len = self.varint()?;
                    self.take(len)?;
                }
                3 if open.len() < DEEPEST => open.push(number),
                4 if number == current => {
                    open.pop();
                    if open.is_empty() {
                        return Ok(self.message.get(begin..end).unwrap_or_default());
                    }
                }
                5 => {
                    self.array::<4>()?;
                }
                other => {
                    let message = format!("field {number} with wire type {other} in the group {current}");
                    return Err(Fault { message, at: end });
                }
            }
        }
        Ok(&[])
    }

    fn take(&mut self, len: u64) -> Result<&'m [u8], Fault> {
        let end = usize::try_from(len).ok().and_then(|len| self.at.checked_add(len));
        match end.and_then(|end| self.message.get(self.at..end)) {
            Some(taken) => {
                self.at = self.at.saturating_add(taken.len());
                Ok(taken)
            }
            None => {
                let have = self.message.len().saturating_sub(self.at);
                Err(Fault { message: format!("need {len} bytes, the message has {have} more"), at: self.at })
            }
        }
    }
}

/// Groups in groups, and messages in messages.
pub(super) const DEEPEST: usize = 100;
