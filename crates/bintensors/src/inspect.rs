//! A file as a tree of named byte ranges: what a hex map or an explorer shows. Broken files are shown as far as they
//! can be read, and the rest is named as such.

use crate::Dtype;
use crate::wire::{Fault, PADDING, SIZE_LEN, Scan};
use fw_bytes::Span;
use fw_report::Tree;

/// Names every byte range of a file. `bytes` holds at least the header; `file_len` is the length of the whole file.
pub fn inspect(bytes: &[u8], file_len: u64) -> Tree {
    let mut root = Tree::new("bintensors", 0..file_len);
    let Some(size) = bytes.first_chunk::<SIZE_LEN>() else {
        root.push(Tree::new("unreadable", 0..file_len).value("shorter than the size field"));
        return root;
    };
    let len = u64::from_le_bytes(*size);
    root.push(Tree::new("header size", 0..SIZE_LEN as u64).value(len.to_string()));
    let end = len.saturating_add(SIZE_LEN as u64);
    let header = bytes.get(SIZE_LEN..).and_then(|rest| rest.get(..usize::try_from(len).ok()?));
    let Some(header) = header.filter(|_| len <= crate::MAX_HEADER_LEN && end <= file_len) else {
        root.push(Tree::new("unreadable", SIZE_LEN as u64..file_len).value("the header size cannot be right"));
        return root;
    };
    let mut walk = Walk { scan: Scan::new(header), tensors: Vec::new() };
    let mut tree = Tree::new("header", SIZE_LEN as u64..end);
    let readable = walk.header(&mut tree).is_ok();
    if walk.scan.remaining() > 0 {
        let spaces = walk.scan.rest().iter().all(|byte| *byte == PADDING);
        let label = if readable { "padding" } else { "unreadable" };
        let value = match (readable, spaces) {
            (true, true) => format!("{} spaces", walk.scan.remaining()),
            (true, false) => format!("{} bytes, not all of them spaces", walk.scan.remaining()),
            (false, _) => "cannot be parsed".to_owned(),
        };
        tree.push(Tree::new(label, walk.at()..end).value(value));
    }
    root.push(tree);
    root.push(data_section(end, file_len, &walk.tensors));
    root
}

fn data_section(start: u64, file_len: u64, tensors: &[(String, String, u64, u64)]) -> Tree {
    let mut data = Tree::new("data", start..file_len).value(format!("{} bytes", file_len.saturating_sub(start)));
    let mut reached = start;
    for (name, what, from, to) in tensors {
        let span = (start.checked_add(*from), start.checked_add(*to));
        // Ranges that overlap or leave the file are shown by their records alone: a tree's ranges nest.
        if let (Some(from), Some(to)) = span
            && from >= reached
            && to >= from
            && to <= file_len
        {
            data.push(Tree::new(name.clone(), from..to).value(what.clone()));
            reached = to;
        }
    }
    if reached < file_len && reached > start {
        data.push(Tree::new("trailing bytes", reached..file_len).value("not part of any tensor"));
    }
    data
}

struct Walk<'a> {
    scan: Scan<'a>,
    /// Name, description, start, end.
    tensors: Vec<(String, String, u64, u64)>,
}

impl Walk<'_> {
    fn at(&self) -> u64 {
        (self.scan.consumed() as u64).saturating_add(SIZE_LEN as u64)
    }

    fn header(&mut self, tree: &mut Tree) -> Result<(), Fault> {
        let start = self.at();
        match self.scan.byte()? {
            0 => tree.push(Tree::new("metadata", start..self.at()).value("absent")),
            1 => {
                let mut user = Tree::new("metadata", start..start);
                user.push(Tree::new("option tag", start..self.at()).value("present"));
                let result = self.user(&mut user);
                user.span = Span::new(start, self.at());
                tree.push(user);
                result?;
            }
            _ => {
                tree.push(Tree::new("option tag", start..self.at()).value("neither 0 nor 1"));
                return Err(Fault::Integer);
            }
        }
        let count = self.number(tree, "tensor count")?;
        for index in 0..count {
            let start = self.at();
            let mut record = Tree::new(format!("record {index}"), start..start);
            let result = self.record(&mut record);
            record.span = Span::new(start, self.at());
            if !record.children.is_empty() {
                tree.push(record);
            }
            result?;
        }
        Ok(())
    }

    fn user(&mut self, tree: &mut Tree) -> Result<(), Fault> {
        let count = self.number(tree, "count")?;
        for _ in 0..count {
            let start = self.at();
            let key = self.scan.text()?;
            let middle = self.at();
            let value = self.scan.text()?;
            let entry = Tree::new("entry", start..self.at())
                .with(Tree::new("key", start..middle).value(key))
                .with(Tree::new("value", middle..self.at()).value(value));
            tree.push(entry);
        }
        Ok(())
    }

    fn record(&mut self, tree: &mut Tree) -> Result<(), Fault> {
        let start = self.at();
        let name = self.scan.text()?;
        tree.value = name.to_owned();
        tree.push(Tree::new("name", start..self.at()).value(name));
        let start = self.at();
        let number = self.scan.varint32()?;
        let dtype = Dtype::from_number(number).map_or_else(|| format!("{number}, unknown"), |dtype| dtype.to_string());
        tree.push(Tree::new("dtype", start..self.at()).value(dtype.clone()));
        if Dtype::from_number(number).is_none() {
            return Err(Fault::Integer);
        }
        let rank = self.number(tree, "ndim")?;
        let start = self.at();
        let mut dims = Vec::new();
        for _ in 0..rank {
            dims.push(self.scan.varint()?);
        }
        let shape = format!("{dims:?}");
        if rank > 0 {
            tree.push(Tree::new("shape", start..self.at()).value(shape.clone()));
        }
        let from = self.number(tree, "start")?;
        let to = self.number(tree, "end")?;
        self.tensors.push((name.to_owned(), format!("{dtype} {shape}"), from, to));
        Ok(())
    }

    fn number(&mut self, tree: &mut Tree, label: &str) -> Result<u64, Fault> {
        let start = self.at();
        let value = self.scan.varint()?;
        tree.push(Tree::new(label, start..self.at()).value(value.to_string()));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TensorView, serialize};

    #[test]
    fn every_byte_of_a_file_is_named_once() {
        let data = [0u8; 4];
        let user = Some([("format".to_owned(), "pt".to_owned())].into());
        let bytes = serialize([("w", TensorView::new(Dtype::U8, [4], &data).unwrap())], &user).unwrap();
        let tree = inspect(&bytes, bytes.len() as u64);
        let mut reached = 0;
        for (_, leaf) in tree.leaves() {
            assert_eq!(leaf.span.start, reached, "{}", leaf.label);
            reached = leaf.span.end;
        }
        assert_eq!(reached, bytes.len() as u64);
        let labels: Vec<_> = tree.leaves().iter().map(|(_, leaf)| leaf.label.clone()).collect();
        assert_eq!(labels[..4], ["header size", "option tag", "count", "key"]);
        assert_eq!(labels.last().map(String::as_str), Some("w"));
    }

    #[test]
    fn broken_files_are_shown_as_far_as_they_go() {
        for bytes in [
            &b""[..],
            b"\x05\0\0\0\0\0\0\0\0\x02\x01",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\0",
            b"\x03\0\0\0\0\0\0\0\0\x01\xff",
        ] {
            let tree = inspect(bytes, bytes.len() as u64);
            assert!(tree.leaves().iter().any(|(_, leaf)| leaf.label == "unreadable"), "{tree:?}");
        }
    }
}
