//! What all objects of a message are, asked for together.

use super::{ObjectHead, ReadHead, ReadMachine};
use crate::error::Result;
use crate::frame::Lookup;
use fw_bytes::{Span, Step};

/// Reads many heads side by side: a poll asks for what all of them need, so that neighbours share a request.
///
/// A head that cannot be read is an error of its own and does not keep the others from being read.
#[derive(Debug)]
pub struct ReadHeads {
    heads: Vec<Head>,
}

#[derive(Debug)]
enum Head {
    Reading(Box<ReadHead>),
    Read(Box<Result<ObjectHead>>),
}

impl ReadHeads {
    /// For heads to read; what cannot be read to begin with stays the error it is.
    pub fn new(heads: impl IntoIterator<Item = Result<ReadHead>>) -> Self {
        let reading = |head: Result<ReadHead>| match head {
            Ok(head) => Head::Reading(Box::new(head)),
            Err(error) => Head::Read(Box::new(Err(error))),
        };
        Self { heads: heads.into_iter().map(reading).collect() }
    }
}

/// One result per head, in the order given.
impl ReadMachine for ReadHeads {
    type Output = Vec<Result<ObjectHead>>;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Self::Output>> {
        let mut needed: Vec<Span> = Vec::new();
        for head in &mut self.heads {
            let Head::Reading(reading) = head else { continue };
            match reading.poll(have) {
                Ok(Step::Need(spans)) => needed.extend(spans),
                Ok(Step::Done(read)) => *head = Head::Read(Box::new(Ok(read))),
                Err(error) => *head = Head::Read(Box::new(Err(error))),
            }
        }
        if !needed.is_empty() {
            return Ok(Step::Need(needed));
        }
        let read = std::mem::take(&mut self.heads).into_iter().filter_map(|head| match head {
            Head::Read(result) => Some(*result),
            // Nothing is needed: all are read.
            Head::Reading(_) => None,
        });
        Ok(Step::Done(read.collect()))
    }
}
