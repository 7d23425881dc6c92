//! What the reference readers would refuse although it is valid (BT-7.8): a running count of claimed memory.

use crate::wire::{Fault, SIZE_LEN, Scan};

/// True when the reference readers can open a file that begins with `bytes` (size field and whole header); false when
/// their hidden memory budget, or the header's own cap, stops them.
pub fn readable_by_reference(bytes: &[u8]) -> bool {
    let header = bytes.get(SIZE_LEN..).unwrap_or(&[]);
    let len = bytes.first_chunk::<SIZE_LEN>().map_or(0, |size| u64::from_le_bytes(*size));
    let header = usize::try_from(len).ok().and_then(|len| header.get(..len)).unwrap_or(header);
    len <= crate::MAX_HEADER_LEN && budget_exceeded_at(header).is_none()
}

/// Where in `header` (the bytes after the size field) the references' budget runs out before anything else is wrong.
pub fn budget_exceeded_at(header: &[u8]) -> Option<u64> {
    let mut walk = Walk { scan: Scan::new(header), claimed: 0 };
    match walk.header() {
        Err(Stop::Budget) => Some((walk.scan.consumed() + SIZE_LEN) as u64),
        Err(Stop::Fault) | Ok(()) => None,
    }
}

/// Claims the references make, in bytes of their own decoded structures.
const BUDGET: u64 = 100_000_000;
const INTEGER: u64 = 8;
const DTYPE: u64 = 4;
const ENTRY: u64 = 48;
const RECORD: u64 = 72;

struct Walk<'a> {
    scan: Scan<'a>,
    claimed: u64,
}

enum Stop {
    Budget,
    Fault,
}

impl From<Fault> for Stop {
    fn from(_: Fault) -> Self {
        Self::Fault
    }
}

impl Walk<'_> {
    fn header(&mut self) -> Result<(), Stop> {
        self.claim(1)?;
        if self.scan.byte()? == 1 {
            let count = self.integer()?;
            self.claim(count.saturating_mul(ENTRY))?;
            for _ in 0..count {
                self.release(ENTRY);
                self.text()?;
                self.text()?;
            }
        }
        let count = self.integer()?;
        self.claim(count.saturating_mul(RECORD))?;
        for _ in 0..count {
            self.release(RECORD);
            self.text()?;
            self.claim(DTYPE)?;
            self.scan.varint32()?;
            let rank = self.integer()?;
            self.claim(rank.saturating_mul(INTEGER))?;
            for _ in 0..rank {
                self.release(INTEGER);
                self.integer()?;
            }
            self.integer()?;
            self.integer()?;
        }
        Ok(())
    }

    fn integer(&mut self) -> Result<u64, Stop> {
        self.claim(INTEGER)?;
        Ok(self.scan.varint()?)
    }

    fn text(&mut self) -> Result<(), Stop> {
        let len = self.integer()?;
        self.claim(len)?;
        self.scan.take(len)?;
        Ok(())
    }

    fn claim(&mut self, bytes: u64) -> Result<(), Stop> {
        self.claimed = self.claimed.saturating_add(bytes);
        if self.claimed > BUDGET { Err(Stop::Budget) } else { Ok(()) }
    }

    fn release(&mut self, bytes: u64) {
        self.claimed = self.claimed.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{put_text, put_varint};

    fn file(header: Vec<u8>) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes
    }

    /// BT-7.8: the three boundaries that were observed.
    #[test]
    fn boundaries_of_the_budget() {
        let tensors = |count: u64| {
            let mut header = vec![0];
            put_varint(&mut header, count);
            for index in 0..count {
                put_text(&mut header, &format!("{index:x}"));
                header.extend([1, 1, 0, 0, 0]);
            }
            file(header)
        };
        assert!(readable_by_reference(&tensors(1_388_888)));
        assert!(!readable_by_reference(&tensors(1_388_889)));

        let rank = |rank: u64| {
            let mut header = vec![0, 1, 1, b'x', 1];
            put_varint(&mut header, rank);
            header.resize(header.len() + rank as usize, 0);
            header.extend([0, 0]);
            file(header)
        };
        assert!(readable_by_reference(&rank(12_499_994)));
        assert!(!readable_by_reference(&rank(12_499_995)));

        let value = |len: usize| {
            let mut header = vec![1, 1, 1, b'k'];
            put_text(&mut header, &" ".repeat(len));
            header.push(0);
            file(header)
        };
        assert!(readable_by_reference(&value(99_999_966)));
        assert!(!readable_by_reference(&value(99_999_967)));
    }
}
