//! Symbols back from bits, several per table look-up.

use super::super::fault;
use super::Count;
use super::tree::{Node, Tree};
use crate::CodecError;
use fw_bytes::{Cursor, Detail};

/// Decodes the symbols of one section in order, a buffer at a time.
#[derive(Debug)]
pub(in super::super) struct Decoder<'a> {
    tree: Tree,
    tables: Tables,
    bits: Bits<'a>,
    /// Symbols not yet decoded.
    left: u64,
    /// Decoded symbols; those before `taken` are used up.
    buffer: Vec<u32>,
    taken: usize,
}

impl<'a> Decoder<'a> {
    /// Reads a section that must hold `symbol_count` symbols.
    pub(in super::super) fn parse(
        cursor: &mut Cursor<'a>,
        symbol_count: u64,
        count: Count,
    ) -> Result<Self, CodecError> {
        let tree = Tree::parse(cursor)?;
        if count == Count::Stored {
            let at = cursor.position();
            let found = cursor.u64_le("number of codes").map_err(fault::inner)?;
            if found != symbol_count {
                let (expected, found) = (Detail::Number(symbol_count), Detail::Number(found));
                return Err(fault::wrong_inside("code_count_mismatch", "number of codes", expected, found, at));
            }
        }
        let len = cursor.u64_le("length of the codes").map_err(fault::inner)?;
        let bits = Bits::new(cursor.take_u64(len, "codes").map_err(fault::inner)?);
        let tables = Tables::new(&tree);
        Ok(Self { tree, tables, bits, left: symbol_count, buffer: Vec::with_capacity(BUFFER), taken: 0 })
    }

    /// The next `count` symbols; at most [`Decoder::MAX_TAKE`] at once.
    #[inline]
    pub(in super::super) fn take(&mut self, count: usize) -> Result<&[u32], CodecError> {
        if self.buffer.len() - self.taken < count {
            self.refill()?;
        }
        let start = self.taken;
        self.taken += count;
        self.buffer.get(start..self.taken).ok_or_else(|| fault::exhausted("codes"))
    }

    /// The most symbols [`Decoder::take`] gives at once.
    pub(in super::super) const MAX_TAKE: usize = 64;

    #[cold]
    fn refill(&mut self) -> Result<(), CodecError> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let kept = self.buffer.len();
        let fresh = (BUFFER - kept).min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= fresh as u64;
        self.buffer.resize(kept + fresh, 0);
        let Some(target) = self.buffer.get_mut(kept..) else { return Ok(()) };
        match &self.tables {
            Tables::Constant(symbol) => target.fill(*symbol),
            Tables::Walk => {
                for symbol in target {
                    *symbol = self.bits.walk(&self.tree, 0);
                }
            }
            Tables::Fast { width, single, multi } => fill(&mut self.bits, &self.tree, *width, single, multi, target),
        }
        if self.bits.overrun { Err(fault::exhausted("code bits")) } else { Ok(()) }
    }
}

/// How symbols are found.
#[derive(Debug)]
enum Tables {
    /// The tree is a single leaf: no bits at all.
    Constant(u32),
    /// Bit by bit through the tree, for symbols too wide for the packed table.
    Walk,
    /// By looking at `width` bits at once.
    Fast {
        width: u32,
        /// Symbol << 8 | code length; for longer codes, node << 8 of the subtree the bits lead to.
        single: Vec<u32>,
        /// Up to three symbols in the upper 48 bits, bits used in the low byte, symbol count in the second byte.
        multi: Vec<u64>,
    },
}

impl Tables {
    fn new(tree: &Tree) -> Self {
        if let Node::Leaf(symbol) = tree.node(0) {
            return Self::Constant(symbol);
        }
        // Wider tables only where many leaves make long codes common; the usual ones stay in the first-level cache.
        let width = match tree.leaf_count() {
            0..=1024 => 11,
            1025..=4096 => 13,
            _ => 15,
        };
        let mut single = vec![0u32; 1 << width];
        let mut widest = 0;
        tree.visit_to_depth(width, |number, node, depth, bits| {
            let first = (bits << (width - depth)) as usize;
            let entry = match node {
                Node::Leaf(symbol) => {
                    widest = widest.max(symbol);
                    symbol << 8 | depth
                }
                Node::Branch(..) if depth == width => {
                    widest = widest.max(subtree_maximum(tree, number));
                    number << 8
                }
                Node::Branch(..) => return,
            };
            single[first..first + (1 << (width - depth))].fill(entry);
        });
        if widest > u32::from(u16::MAX) {
            return Self::Walk;
        }
        let multi = (0..1u32 << width).map(|index| pack_entry(&single, width, index)).collect();
        Self::Fast { width, single, multi }
    }
}

/// As many whole codes as `width` bits hold, up to three.
fn pack_entry(single: &[u32], width: u32, index: u32) -> u64 {
    let (mut used, mut count, mut symbols) = (0, 0, 0u64);
    while count < 3 {
        // Bits shifted in from the right are unknown; a code only counts when it ends before them.
        let entry = single[(index << used & ((1 << width) - 1)) as usize];
        let len = entry & 0xff;
        if len == 0 || used + len > width {
            break;
        }
        symbols |= u64::from(entry >> 8) << (16 + 16 * count);
        used += len;
        count += 1;
    }
    symbols | u64::from(count << 8 | used)
}

fn subtree_maximum(tree: &Tree, root: u32) -> u32 {
    let mut stack = vec![root];
    let mut maximum = 0;
    while let Some(number) = stack.pop() {
        match tree.node(number) {
            Node::Leaf(symbol) => maximum = maximum.max(symbol),
            Node::Branch(left, right) => stack.extend([left, right]),
        }
    }
    maximum
}

fn fill(bits: &mut Bits<'_>, tree: &Tree, width: u32, single: &[u32], multi: &[u64], target: &mut [u32]) {
    let shift = 64 - width;
    let mut done = 0;
    // A refill holds at least 56 bits; each look-up uses at most `width` of them and yields at most three symbols.
    let rounds = (56 / width) as usize;
    while done + 3 * rounds <= target.len() && bits.refill() {
        for _ in 0..rounds {
            let entry = multi[(bits.window >> shift) as usize];
            let count = (entry >> 8 & 3) as usize;
            if count == 0 {
                target[done] = bits.long_code(tree, width, single);
                done += 1;
                break;
            }
            let Some(slots) = target.get_mut(done..).and_then(|rest| rest.first_chunk_mut::<3>()) else { return };
            *slots = [(entry >> 16) as u16, (entry >> 32) as u16, (entry >> 48) as u16].map(u32::from);
            done += count;
            bits.skip((entry & 0xff) as u32);
        }
    }
    for slot in &mut target[done..] {
        bits.refill();
        let entry = single[(bits.window >> shift) as usize];
        if entry & 0xff == 0 {
            *slot = bits.long_code(tree, width, single);
        } else {
            *slot = entry >> 8;
            bits.skip(entry & 0xff);
        }
    }
}

/// Bits from the most significant down. Past the end come zeros, and `overrun` is raised.
#[derive(Debug)]
struct Bits<'a> {
    rest: &'a [u8],
    window: u64,
    /// Valid bits at the top of `window`.
    held: u32,
    overrun: bool,
}

impl<'a> Bits<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, window: 0, held: 0, overrun: false }
    }

    /// Tops the window up to at least 56 bits; false when the bytes no longer suffice for that.
    #[inline(always)]
    fn refill(&mut self) -> bool {
        if let Some(next) = self.rest.first_chunk::<8>() {
            self.window |= u64::from_be_bytes(*next) >> self.held;
            let bytes = (63 - self.held) / 8;
            self.rest = &self.rest[bytes as usize..];
            self.held += bytes * 8;
            return true;
        }
        while self.held <= 56
            && let Some((byte, rest)) = self.rest.split_first()
        {
            self.window |= u64::from(*byte) << (56 - self.held);
            self.held += 8;
            self.rest = rest;
        }
        false
    }

    #[inline(always)]
    fn skip(&mut self, count: u32) {
        self.window <<= count;
        let (held, overrun) = self.held.overflowing_sub(count);
        self.overrun |= overrun;
        self.held = if overrun { 0 } else { held };
    }

    /// A code longer than the table is wide: past the table's bits, then bit by bit.
    #[cold]
    fn long_code(&mut self, tree: &Tree, width: u32, single: &[u32]) -> u32 {
        self.refill();
        let node = single[(self.window >> (64 - width)) as usize] >> 8;
        self.skip(width);
        self.walk(tree, node)
    }

    fn walk(&mut self, tree: &Tree, mut number: u32) -> u32 {
        loop {
            match tree.node(number) {
                Node::Leaf(symbol) => return symbol,
                // Once the bits are gone, the answer no longer matters and must come quickly.
                Node::Branch(..) if self.overrun => return 0,
                Node::Branch(left, right) => {
                    if self.held == 0 {
                        self.refill();
                    }
                    number = if self.window >> 63 == 0 { left } else { right };
                    self.skip(1);
                }
            }
        }
    }
}

/// Symbols decoded at a time.
const BUFFER: usize = 4096;

const _: () = assert!(Decoder::MAX_TAKE <= BUFFER);
