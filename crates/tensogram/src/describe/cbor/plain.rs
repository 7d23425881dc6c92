//! CBOR in its usual form, read without a tree of values in between.
//!
//! Everything here answers `None` for whatever is unusual, broken or cut short; the general reader then takes over, which
//! knows every form and has the words for what is wrong.

use super::Value;
use super::read::read_prefix;

/// What is still to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain<'b> {
    rest: &'b [u8],
}

impl<'b> Plain<'b> {
    /// Reads from the first of these bytes on.
    pub(crate) const fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether all was read.
    pub(crate) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The head of a map: how many entries it claims.
    pub(crate) fn map(&mut self) -> Option<u64> {
        self.argument(MAP)
    }

    /// The head of an array: how many items it claims. Every item takes a byte at least, so the claim is checked before
    /// anybody takes memory for it.
    pub(crate) fn array(&mut self) -> Option<usize> {
        usize::try_from(self.argument(ARRAY)?).ok().filter(|count| *count <= self.rest.len())
    }

    /// A text.
    pub(crate) fn text(&mut self) -> Option<&'b str> {
        std::str::from_utf8(self.text_bytes()?).ok()
    }

    /// The bytes of a text, which may not be UTF-8.
    fn text_bytes(&mut self) -> Option<&'b [u8]> {
        let len = usize::try_from(self.argument(TEXT)?).ok()?;
        let (text, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(text)
    }

    /// Passes over a text. Most are short and plain ASCII, which is found out sooner than that they are UTF-8.
    fn skip_text(&mut self) -> Option<&'b [u8]> {
        let text = self.text_bytes()?;
        (text.is_ascii() || std::str::from_utf8(text).is_ok()).then_some(text)
    }

    /// An unsigned integer.
    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        self.argument(UNSIGNED)
    }

    /// An array of unsigned integers.
    pub(crate) fn unsigned_list(&mut self) -> Option<Vec<u64>> {
        let count = self.array()?;
        let mut list = Vec::with_capacity(count);
        self.unsigned_blocks(count, |numbers| {
            list.extend_from_slice(numbers);
            Some(())
        })?;
        Some(list)
    }

    /// `count` unsigned integers, some at a time. Neighbours mostly are of the same width, so the usual widths have loops
    /// of their own.
    pub(crate) fn unsigned_blocks(&mut self, count: usize, mut put: impl FnMut(&[u64]) -> Option<()>) -> Option<()> {
        let mut block = [0; BLOCK];
        let mut left = count;
        while left > 0 {
            let room = block.get_mut(..left.min(BLOCK))?;
            let taken = match self.rest.first()? {
                0x18 => self.alike(room, |[_, byte]| byte.into()),
                0x19 => self.alike(room, |[_, a, b]| u16::from_be_bytes([a, b]).into()),
                0x1a => self.alike(room, |[_, a, b, c, d]| u32::from_be_bytes([a, b, c, d]).into()),
                0x1b => self.alike(room, |[_, a, b, c, d, e, f, g, h]| u64::from_be_bytes([a, b, c, d, e, f, g, h])),
                _ => {
                    *room.first_mut()? = self.unsigned()?;
                    1
                }
            };
            // None at all: the last one is cut short.
            put(block.get(..taken).filter(|numbers| !numbers.is_empty())?)?;
            left -= taken;
        }
        Some(())
    }

    /// Any value, nested at most `depth` deep.
    pub(crate) fn value(&mut self, depth: u32) -> Option<Value> {
        let (value, len) = read_prefix(self.rest, depth)?;
        self.rest = self.rest.get(len..)?;
        Some(value)
    }

    /// The next item, nested at most `depth` deep, as it stands.
    pub(crate) fn item(&mut self, depth: u32) -> Option<&'b [u8]> {
        let all = self.rest;
        self.skip(depth)?;
        all.get(..all.len().checked_sub(self.rest.len())?)
    }

    /// Passes over the next item, nested at most `depth` deep.
    pub(crate) fn skip(&mut self, depth: u32) -> Option<()> {
        let deeper = depth.checked_sub(1)?;
        let first = *self.rest.first()?;
        match first & 0xe0 {
            UNSIGNED | NEGATIVE => drop(self.argument(first & 0xe0)?),
            BYTES => {
                let len = usize::try_from(self.argument(BYTES)?).ok()?;
                self.rest = self.rest.get(len..)?;
            }
            TEXT => drop(self.skip_text()?),
            ARRAY => (0..self.argument(ARRAY)?).try_for_each(|_| self.skip(deeper))?,
            MAP => (0..self.map()?).try_for_each(|_| {
                self.skip_text()?;
                self.skip(deeper)
            })?,
            _ => {
                let len = match first {
                    FALSE..=NULL => 1,
                    HALF => 3,
                    SINGLE => 5,
                    DOUBLE => 9,
                    // Tags, and whatever else is rare.
                    _ => return None,
                };
                self.rest = self.rest.get(len..)?;
            }
        }
        Some(())
    }

    /// The value of a key of the map that is next; `None` also when the key comes twice.
    pub(crate) fn member(mut self, key: &str) -> Option<Self> {
        let mut found = None;
        for _ in 0..self.map()? {
            if self.skip_text()? == key.as_bytes() && found.replace(self).is_some() {
                return None;
            }
            self.skip(u32::MAX)?;
        }
        found
    }

    /// Items of `N` bytes that begin as the next one does, as long as they follow one another and there is room.
    fn alike<const N: usize>(&mut self, room: &mut [u64], number: impl Fn([u8; N]) -> u64) -> usize {
        let (items, _) = self.rest.as_chunks::<N>();
        let head = self.rest.first();
        let taken = items.iter().take(room.len()).take_while(|item| item.first() == head).count();
        for (place, item) in room.iter_mut().zip(items.iter().take(taken)) {
            *place = number(*item);
        }
        self.rest = self.rest.get(taken * N..).unwrap_or_default();
        taken
    }

    /// The number in the head of an item of this major type.
    fn argument(&mut self, major: u8) -> Option<u64> {
        let (&first, tail) = self.rest.split_first()?;
        let short = first.checked_sub(major)?;
        let (number, tail) = match short {
            0..=23 => (u64::from(short), tail),
            24 => tail.split_first_chunk::<1>().map(|([byte], tail)| (u64::from(*byte), tail))?,
            25 => tail.split_first_chunk().map(|(bytes, tail)| (u64::from(u16::from_be_bytes(*bytes)), tail))?,
            26 => tail.split_first_chunk().map(|(bytes, tail)| (u64::from(u32::from_be_bytes(*bytes)), tail))?,
            27 => tail.split_first_chunk().map(|(bytes, tail)| (u64::from_be_bytes(*bytes), tail))?,
            _ => return None,
        };
        self.rest = tail;
        Some(number)
    }
}

/// Numbers read at a time.
const BLOCK: usize = 64;
const UNSIGNED: u8 = 0x00;
const NEGATIVE: u8 = 0x20;
const BYTES: u8 = 0x40;
const TEXT: u8 = 0x60;
const ARRAY: u8 = 0x80;
const MAP: u8 = 0xa0;
const FALSE: u8 = 0xf4;
const NULL: u8 = 0xf6;
const HALF: u8 = 0xf9;
const SINGLE: u8 = 0xfa;
const DOUBLE: u8 = 0xfb;
