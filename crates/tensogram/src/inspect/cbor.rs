//! CBOR items as leaves: heads, keys and values.

use fw_bytes::Span;
use fw_report::Tree;
use minicbor::data::Type;
use minicbor::decode::{Decoder, Error};

/// Adds the items that fill `span`; what is not well-formed becomes one leaf.
pub(super) fn push_items(message: &[u8], span: Span, tree: &mut Tree) {
    let Some(bytes) = span.slice_of(message, 0) else { return };
    let mut walker = Walker { decoder: Decoder::new(bytes), base: span.start };
    let result = walker.item("", MAX_DEPTH);
    let read = match result {
        Ok(item) => {
            tree.push(item);
            span.start + walker.decoder.position() as u64
        }
        Err(error) => {
            return tree.push(Tree::new("unreadable CBOR", span).value(error.to_string()));
        }
    };
    if read < span.end {
        tree.push(Tree::new("bytes after the CBOR item", read..span.end));
    }
}

struct Walker<'b> {
    decoder: Decoder<'b>,
    base: u64,
}

// Items nest up to `MAX_DEPTH` deep: what is on the stack at each level stays small, so each kind is a function that is not
// inlined into `item`.
impl Walker<'_> {
    fn item(&mut self, role: &str, depth: u32) -> Result<Tree, Error> {
        let depth = depth.checked_sub(1).ok_or_else(|| Error::message("nested too deeply"))?;
        match self.decoder.datatype()? {
            Type::Map | Type::MapIndef => self.map(role, depth),
            Type::Array | Type::ArrayIndef => self.array(role, depth),
            Type::Tag => self.tag(role, depth),
            scalar => self.scalar(role, scalar),
        }
    }

    #[inline(never)]
    fn map(&mut self, role: &str, depth: u32) -> Result<Tree, Error> {
        let start = self.decoder.position();
        let count = self.decoder.map()?;
        let mut tree = self.container(role, "map", count, start);
        self.members(count, &mut tree, |walker, tree| {
            tree.push(walker.item("key: ", depth)?);
            tree.push(walker.item("value: ", depth)?);
            Ok(())
        })?;
        tree.span = self.span(start);
        Ok(tree)
    }

    #[inline(never)]
    fn array(&mut self, role: &str, depth: u32) -> Result<Tree, Error> {
        let start = self.decoder.position();
        let count = self.decoder.array()?;
        let mut tree = self.container(role, "array", count, start);
        self.members(count, &mut tree, |walker, tree| {
            tree.push(walker.item("", depth)?);
            Ok(())
        })?;
        tree.span = self.span(start);
        Ok(tree)
    }

    #[inline(never)]
    fn tag(&mut self, role: &str, depth: u32) -> Result<Tree, Error> {
        let start = self.decoder.position();
        let tag = self.decoder.tag()?.as_u64();
        let label = format!("{role}tag({tag})");
        let head = Tree::new(label.clone(), self.span(start));
        let mut tree = Tree::new(label, self.span(start)).with(head);
        tree.push(self.item("", depth)?);
        tree.span = self.span(start);
        Ok(tree)
    }

    #[inline(never)]
    fn scalar(&mut self, role: &str, scalar: Type) -> Result<Tree, Error> {
        let start = self.decoder.position();
        let text = match scalar {
            Type::String => {
                let text = self.decoder.str()?;
                format!("text({}) {text:?}", text.len())
            }
            Type::Bytes => format!("bytes({})", self.decoder.bytes()?.len()),
            Type::Bool => self.decoder.bool()?.to_string(),
            Type::Null | Type::Undefined => {
                self.decoder.skip()?;
                "null".to_owned()
            }
            Type::F16 => format!("half {:?}", self.decoder.f16()?),
            Type::F32 => format!("single {:?}", self.decoder.f32()?),
            Type::F64 => format!("double {:?}", self.decoder.f64()?),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => format!("unsigned {}", self.decoder.u64()?),
            Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::Int => {
                format!("negative {}", i128::from(self.decoder.int()?))
            }
            other => {
                self.decoder.skip()?;
                other.to_string()
            }
        };
        Ok(Tree::new(format!("{role}{text}"), self.span(start)))
    }

    /// A container with its head as the first leaf; the span grows when its members are known.
    fn container(&self, role: &str, kind: &str, count: Option<u64>, start: usize) -> Tree {
        let label = match count {
            Some(count) => format!("{role}{kind}({count})"),
            None => format!("{role}{kind}(indefinite)"),
        };
        Tree::new(label.clone(), self.span(start)).with(Tree::new(label, self.span(start)))
    }

    fn members(
        &mut self,
        count: Option<u64>,
        tree: &mut Tree,
        mut member: impl FnMut(&mut Self, &mut Tree) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut done = 0;
        loop {
            match count {
                Some(count) if done == count => return Ok(()),
                None if self.decoder.datatype()? == Type::Break => {
                    let start = self.decoder.position();
                    self.decoder.set_position(start + 1);
                    tree.push(Tree::new("break", self.span(start)));
                    return Ok(());
                }
                _ => member(self, tree)?,
            }
            done += 1;
        }
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.base + start as u64, self.base + self.decoder.position() as u64)
    }
}

const MAX_DEPTH: u32 = 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the stack that threads usually have is enough for arrays, maps and tags as deep as they may be.
    #[test]
    fn deep_nesting_takes_little_stack() {
        for level in [&[0x81u8][..], &[0xa1, 0x00], &[0xc1]] {
            let deep = (0..MAX_DEPTH - 1).fold(vec![0x00], |inner, _| [level, &inner].concat());
            let walk = move || {
                let mut tree = Tree::new("root", 0..0);
                push_items(&deep, Span::new(0, deep.len() as u64), &mut tree);
                (tree.leaves().len(), deep.len())
            };
            let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(walk).unwrap();
            let (leaves, len) = thread.join().unwrap();
            assert_eq!(leaves, len, "each byte is a head or a number");
        }
    }
}
