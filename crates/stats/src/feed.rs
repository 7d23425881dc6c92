//! Chunks of any size into blocks. Only the bytes of an unfinished block are kept.

use crate::BLOCK;

#[derive(Clone, Debug)]
pub(crate) struct Feed {
    width: usize,
    carry: Vec<u8>,
}

impl Feed {
    /// Of elements of `width` bytes.
    pub(crate) const fn new(width: usize) -> Self {
        Self { width, carry: Vec::new() }
    }

    /// Hands every block that is complete to `sink`.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut sink: impl FnMut(&[u8])) {
        let block = BLOCK * self.width;
        if !self.carry.is_empty() {
            let (head, tail) = bytes.split_at(bytes.len().min(block - self.carry.len()));
            self.carry.extend_from_slice(head);
            bytes = tail;
            if self.carry.len() < block {
                return;
            }
            sink(&self.carry);
            self.carry.clear();
        }
        let mut blocks = bytes.chunks_exact(block);
        blocks.by_ref().for_each(&mut sink);
        self.carry.extend_from_slice(blocks.remainder());
    }

    /// The bytes of the unfinished block: whole elements, and what is left over.
    pub(crate) fn rest(&self) -> (&[u8], usize) {
        let over = self.carry.len() % self.width;
        (&self.carry[..self.carry.len() - over], over)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.carry.is_empty()
    }
}
