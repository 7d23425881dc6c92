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
        tree.push(Tree::new("bytes behind the CBOR item", read..span.end));
    }
}

struct Walker<'b> {
    decoder: Decoder<'b>,
    base: u64,
}

impl Walker<'_> {
    fn item(&mut self, role: &str, depth: u32) -> Result<Tree, Error> {
        let start = self.decoder.position();
        let depth = depth.checked_sub(1).ok_or_else(|| Error::message("nested too deeply"))?;
        let leaf = |walker: &Self, text: String| Tree::new(format!("{role}{text}"), walker.span(start));
        Ok(match self.decoder.datatype()? {
            Type::Map | Type::MapIndef => {
                let count = self.decoder.map()?;
                let mut tree = self.container(role, "map", count, start);
                self.members(count, &mut tree, |walker, tree| {
                    tree.push(walker.item("key: ", depth)?);
                    tree.push(walker.item("value: ", depth)?);
                    Ok(())
                })?;
                tree.span = self.span(start);
                tree
            }
            Type::Array | Type::ArrayIndef => {
                let count = self.decoder.array()?;
                let mut tree = self.container(role, "array", count, start);
                self.members(count, &mut tree, |walker, tree| {
                    tree.push(walker.item("", depth)?);
                    Ok(())
                })?;
                tree.span = self.span(start);
                tree
            }
            Type::Tag => {
                let tag = self.decoder.tag()?.as_u64();
                let head = leaf(self, format!("tag({tag})"));
                let mut tree = Tree::new(format!("{role}tag({tag})"), self.span(start)).with(head);
                tree.push(self.item("", depth)?);
                tree.span = self.span(start);
                tree
            }
            Type::String => {
                let text = self.decoder.str()?.to_owned();
                leaf(self, format!("text({}) {text:?}", text.len()))
            }
            Type::Bytes => {
                let len = self.decoder.bytes()?.len();
                leaf(self, format!("bytes({len})"))
            }
            Type::Bool => {
                let truth = self.decoder.bool()?;
                leaf(self, truth.to_string())
            }
            Type::Null | Type::Undefined => {
                self.decoder.skip()?;
                leaf(self, "null".to_owned())
            }
            Type::F16 => {
                let number = self.decoder.f16()?;
                leaf(self, format!("half {number:?}"))
            }
            Type::F32 => {
                let number = self.decoder.f32()?;
                leaf(self, format!("single {number:?}"))
            }
            Type::F64 => {
                let number = self.decoder.f64()?;
                leaf(self, format!("double {number:?}"))
            }
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => {
                let number = self.decoder.u64()?;
                leaf(self, format!("unsigned {number}"))
            }
            Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::Int => {
                let number = i128::from(self.decoder.int()?);
                leaf(self, format!("negative {number}"))
            }
            other => {
                self.decoder.skip()?;
                leaf(self, other.to_string())
            }
        })
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
