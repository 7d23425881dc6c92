//! Opcodes to values. The stack, the marks and the memo hold places of values only, so that memory follows the bytes read.

use super::globals::{Global, global};
use super::reader::Reader;
use super::value::{Dict, Pickle, Ref, Storage, Value};
use crate::ConvertError;
use std::collections::HashMap;

/// Runs a pickle. `base` is where it begins in the file, when it lies there as it is.
///
/// # Errors
/// When it is damaged, or does anything but make tensors and plain containers.
pub(in crate::torch) fn run(bytes: &[u8], base: Option<u64>) -> Result<Pickle, ConvertError> {
    let copies = bytes.len().saturating_mul(4).saturating_add(1 << 16);
    let mut machine = Machine {
        reader: Reader::new(bytes, base),
        pickle: Pickle::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        copies,
        op: 0,
    };
    while !machine.step()? {}
    Ok(machine.pickle)
}

pub(super) struct Machine<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) pickle: Pickle,
    stack: Vec<Ref>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: HashMap<u32, Ref>,
    /// Bytes that may still be copied from values at hand: a few bytes that name a large value must not make many of it.
    copies: usize,
    /// Where the opcode stands.
    op: usize,
}

impl Machine<'_> {
    /// One opcode; true at the end.
    fn step(&mut self) -> Result<bool, ConvertError> {
        self.op = self.reader.at();
        let code = self.reader.u8("an opcode")?;
        match code {
            // Frames only say how much to read ahead.
            PROTO => {
                let version = self.reader.u8("the protocol")?;
                if version > 5 {
                    return Err(self.fault("unknown_version", format_args!("has protocol {version}, expected 0 to 5")));
                }
            }
            FRAME => drop(self.reader.bytes(8, "a frame")?),
            b'.' => {
                self.pickle.root = self.pop()?;
                return Ok(true);
            }
            b'(' => self.marks.push(self.stack.len()),
            b'0' => match self.marks.last() {
                Some(mark) if *mark == self.stack.len() => drop(self.marks.pop()),
                _ => drop(self.pop()?),
            },
            b'1' => drop(self.since_mark()?),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            b'N' => self.push(Value::None),
            NEWTRUE => self.push(Value::Bool(true)),
            NEWFALSE => self.push(Value::Bool(false)),
            b'I' | b'L' | b'F' | b'J' | b'K' | b'M' | LONG1 | LONG4 | b'G' => self.number(code)?,
            b'S' | b'V' | b'T' | b'U' | b'X' | SHORT_UNICODE | UNICODE8 | b'B' | b'C' | BYTES8 | BYTEARRAY8 => {
                self.text(code)?;
            }
            b']'
            | b'l'
            | b'a'
            | b'e'
            | b')'
            | b't'
            | TUPLE1..=TUPLE3
            | b'}'
            | b'd'
            | b's'
            | b'u'
            | EMPTY_SET
            | ADDITEMS
            | FROZENSET => self.container(code)?,
            b'g' | b'h' | b'j' | b'p' | b'q' | b'r' | MEMOIZE => self.memo(code)?,
            b'c' => {
                let (module, name) = (self.reader.line()?, self.reader.line()?);
                self.global(module, name)?;
            }
            STACK_GLOBAL => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (module, name) = (self.words(module)?.to_owned(), self.words(name)?.to_owned());
                self.global(&module, &name)?;
            }
            b'R' | NEWOBJ => {
                let (arguments, callable) = (self.pop()?, self.pop()?);
                let made = self.call(callable, arguments)?;
                self.stack.push(made);
            }
            b'b' => self.build()?,
            b'Q' => {
                let id = self.pop()?;
                let storage = self.storage(id)?;
                self.push(Value::Storage(Box::new(storage)));
            }
            b'i' => {
                let (module, name) = (self.reader.line()?, self.reader.line()?);
                return Err(self.refused(module, name));
            }
            b'o' | NEWOBJ_EX => return Err(self.unsafe_fault("makes an object of a class")),
            EXT1..=EXT4 => return Err(self.unsafe_fault("uses the registry of extensions")),
            b'P' => return Err(self.unsafe_fault("names something outside the file by text")),
            NEXT_BUFFER | READONLY_BUFFER => return Err(self.unsafe_fault("uses buffers outside of the file")),
            other => {
                return Err(self.fault("invalid_pickle", format_args!("has the unknown opcode 0x{other:02x}")));
            }
        }
        Ok(false)
    }

    fn number(&mut self, code: u8) -> Result<(), ConvertError> {
        let value = match code {
            b'I' | b'L' => {
                let line = self.reader.line()?;
                match line {
                    "00" if code == b'I' => Value::Bool(false),
                    "01" if code == b'I' => Value::Bool(true),
                    digits => {
                        let digits = digits.strip_suffix('L').unwrap_or(digits);
                        let number = digits.parse().ok();
                        Value::Int(
                            number.ok_or_else(|| self.fault("invalid_pickle", "has text that is not an integer"))?,
                        )
                    }
                }
            }
            b'F' => {
                let number = self.reader.line()?.parse().ok();
                Value::Float(number.ok_or_else(|| self.fault("invalid_pickle", "has text that is not a float"))?)
            }
            b'J' => Value::Int(i32::from_le_bytes(self.reader.array("an integer")?).into()),
            b'K' => Value::Int(self.reader.u8("an integer")?.into()),
            b'M' => Value::Int(u16::from_le_bytes(self.reader.array("an integer")?).into()),
            LONG1 | LONG4 => {
                let len = match code {
                    LONG1 => self.reader.u8("a length")?.into(),
                    _ => self.reader.u32("a length")?,
                };
                let bytes = self.reader.bytes(len.into(), "an integer")?;
                if bytes.len() > 16 {
                    return Err(self.fault(
                        "number_too_large",
                        format_args!("has an integer of {len} bytes, at most 16 are read"),
                    ));
                }
                // The sign goes on to the left.
                let mut wide = [if bytes.last().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 }; 16];
                wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                Value::Int(i128::from_le_bytes(wide))
            }
            _ => Value::Float(f64::from_be_bytes(self.reader.array("a float")?)),
        };
        self.push(value);
        Ok(())
    }

    fn text(&mut self, code: u8) -> Result<(), ConvertError> {
        let len = match code {
            b'S' | b'V' => {
                let line = self.reader.line()?;
                let line = match code {
                    b'S' => line.trim_matches(['\'', '"']),
                    _ => line,
                };
                if line.contains('\\') {
                    return Err(self.fault("invalid_pickle", "has text with escapes, which only protocol 0 has"));
                }
                self.push(Value::Text(line.into()));
                return Ok(());
            }
            b'U' | b'C' | SHORT_UNICODE => self.reader.u8("a length")?.into(),
            b'T' | b'X' | b'B' => self.reader.u32("a length")?.into(),
            _ => u64::from_le_bytes(self.reader.array("a length")?),
        };
        let bytes = self.reader.bytes(len, "text")?;
        let value = match code {
            b'C' | b'B' | BYTES8 | BYTEARRAY8 => Value::Bytes(bytes.into()),
            // Python 2 had no other kind of text.
            b'T' | b'U' if std::str::from_utf8(bytes).is_err() => Value::Bytes(bytes.into()),
            _ => Value::Text(self.reader.text(bytes, self.op)?.into()),
        };
        self.push(value);
        Ok(())
    }

    fn container(&mut self, code: u8) -> Result<(), ConvertError> {
        match code {
            b']' => self.push(Value::List(Vec::new())),
            b')' => self.push(Value::Tuple(Vec::new())),
            b'}' => self.push(Value::Dict(Box::default())),
            EMPTY_SET => self.push(Value::Set(Vec::new())),
            b'l' => {
                let items = self.since_mark()?;
                self.push(Value::List(items));
            }
            b't' => {
                let items = self.since_mark()?;
                self.push(Value::Tuple(items));
            }
            FROZENSET => {
                let items = self.since_mark()?;
                self.push(Value::Set(items));
            }
            TUPLE1..=TUPLE3 => {
                let count = usize::from(code - TUPLE1) + 1;
                let items = self.last(count)?;
                self.push(Value::Tuple(items));
            }
            b'd' => {
                let items = self.since_mark()?;
                let items = self.pairs(&items)?;
                self.push(Value::Dict(Box::new(Dict { items, attributes: None })));
            }
            b'a' => {
                let item = self.pop()?;
                self.extend(&[item])?;
            }
            b'e' | ADDITEMS => {
                let items = self.since_mark()?;
                self.extend(&items)?;
            }
            b's' => {
                let items = self.last(2)?;
                self.set_items(&items)?;
            }
            _ => {
                let items = self.since_mark()?;
                self.set_items(&items)?;
            }
        }
        Ok(())
    }

    fn memo(&mut self, code: u8) -> Result<(), ConvertError> {
        let index = match code {
            b'h' | b'q' => self.reader.u8("a place of the memo")?.into(),
            b'j' | b'r' => self.reader.u32("a place of the memo")?,
            MEMOIZE => self.memo.len() as u32,
            _ => {
                let place = self.reader.line()?.parse().ok();
                place.ok_or_else(|| self.fault("invalid_pickle", "has a memo index that is not a number"))?
            }
        };
        if matches!(code, b'g' | b'h' | b'j') {
            let known = self.memo.get(&index).copied();
            let missing =
                || self.fault("invalid_pickle", format_args!("reads entry {index} of the memo, which is not set"));
            let known = known.ok_or_else(missing)?;
            self.stack.push(known);
        } else {
            let top = self.top()?;
            self.memo.insert(index, top);
        }
        Ok(())
    }

    fn extend(&mut self, items: &[Ref]) -> Result<(), ConvertError> {
        let to = self.top()?;
        match self.pickle.get_mut(to) {
            Some(Value::List(list) | Value::Set(list)) => list.extend_from_slice(items),
            _ => return Err(self.misfit("appends to", to)),
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[Ref]) -> Result<(), ConvertError> {
        let pairs = self.pairs(items)?;
        let to = self.top()?;
        match self.pickle.get_mut(to) {
            Some(Value::Dict(dict)) => dict.items.extend(pairs),
            _ => return Err(self.misfit("sets an item of", to)),
        }
        Ok(())
    }

    fn pairs(&self, items: &[Ref]) -> Result<Vec<(Ref, Ref)>, ConvertError> {
        let (pairs, rest) = items.as_chunks();
        if !rest.is_empty() {
            return Err(self.fault("invalid_pickle", "has a key without a value"));
        }
        Ok(pairs.iter().map(|[key, value]| (*key, *value)).collect())
    }

    fn global(&mut self, module: &str, name: &str) -> Result<(), ConvertError> {
        let known = global(module, name).ok_or_else(|| self.refused(module, name))?;
        self.push(Value::Global(known));
        Ok(())
    }

    /// Attributes of a dictionary, such as the versions that PyTorch keeps in `_metadata`.
    fn build(&mut self) -> Result<(), ConvertError> {
        let (state, to) = (self.pop()?, self.top()?);
        if !matches!(self.pickle.get(state), Value::Dict(_) | Value::None) {
            return Err(self.misfit("takes for attributes", state));
        }
        match self.pickle.get_mut(to) {
            Some(Value::Dict(dict)) => dict.attributes = Some(state),
            _ => return Err(self.misfit("sets attributes of", to)),
        }
        Ok(())
    }

    /// `("storage", type, key, device, count)`.
    fn storage(&self, id: Ref) -> Result<Storage, ConvertError> {
        let wrong = || self.fault("unsafe_pickle", "names something outside of it that is not a storage");
        let Value::Tuple(parts) = self.pickle.get(id) else { return Err(wrong()) };
        let (&[what, kind, key, _device, count] | &[what, kind, key, _device, count, _]) = &parts[..] else {
            return Err(wrong());
        };
        let Value::Int(count) = self.pickle.get(count) else { return Err(wrong()) };
        let count = u64::try_from(*count).map_err(|_| wrong())?;
        let dtype = match self.pickle.get(kind) {
            Value::Global(Global::Storage(dtype)) => *dtype,
            Value::Global(Global::Untyped) => fw_tensor::DType::UInt8,
            _ => return Err(wrong()),
        };
        if self.words(what)? != "storage" {
            return Err(wrong());
        }
        Ok(Storage { key: self.words(key)?.into(), dtype, count })
    }

    /// A value that has to be text.
    pub(super) fn words(&self, place: Ref) -> Result<&str, ConvertError> {
        match self.pickle.get(place) {
            Value::Text(text) => Ok(text),
            _ => Err(self.misfit("takes for a name", place)),
        }
    }

    /// Takes so many bytes or places of what may be copied.
    pub(super) fn copy(&mut self, len: usize) -> Result<(), ConvertError> {
        let left = self.copies.checked_sub(len);
        self.copies = left.ok_or_else(|| self.fault("too_many_copies", "makes many copies of a large value"))?;
        Ok(())
    }

    pub(super) fn push(&mut self, value: Value) {
        let place = self.pickle.keep(value);
        self.stack.push(place);
    }

    /// Where the values after the last mark begin: opcodes do not reach below.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Ref, ConvertError> {
        match self.stack.len() > self.floor() {
            true => self.stack.pop().ok_or_else(|| self.underflow()),
            false => Err(self.underflow()),
        }
    }

    fn top(&self) -> Result<Ref, ConvertError> {
        let top = self.stack.last().copied().filter(|_| self.stack.len() > self.floor());
        top.ok_or_else(|| self.underflow())
    }

    /// The last values of the stack.
    fn last(&mut self, count: usize) -> Result<Vec<Ref>, ConvertError> {
        match self.stack.len().checked_sub(count) {
            Some(at) if at >= self.floor() => Ok(self.stack.split_off(at)),
            _ => Err(self.underflow()),
        }
    }

    fn since_mark(&mut self) -> Result<Vec<Ref>, ConvertError> {
        let mark = self.marks.pop().ok_or_else(|| self.fault("invalid_pickle", "needs a mark, has none"))?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn underflow(&self) -> ConvertError {
        self.fault("invalid_pickle", "needs a value, its stack has none")
    }

    pub(super) fn fault(&self, code: &'static str, what: impl std::fmt::Display) -> ConvertError {
        self.reader.fault(code, self.op, what)
    }

    fn misfit(&self, doing: &str, place: Ref) -> ConvertError {
        self.fault("invalid_pickle", format_args!("{doing} {}", self.pickle.get(place).kind()))
    }

    pub(super) fn unsafe_fault(&self, what: &str) -> ConvertError {
        self.fault("unsafe_pickle", format_args!("{what}, which is never done here: {ONLY}"))
    }

    fn refused(&self, module: &str, name: &str) -> ConvertError {
        let (module, name) = (module.escape_debug(), name.escape_debug());
        self.fault("unsafe_pickle", format_args!("refers to {module}.{name}, which is refused: {ONLY}"))
    }
}

/// What is read, and what to do with a file that holds more.
const ONLY: &str = "only tensors and plain containers are read, and no code is run; if you trust the file, save its tensors again: \
                    torch.save(torch.load(FILE, weights_only=False)[\"state_dict\"], NEW)";

const PROTO: u8 = 0x80;
const NEWOBJ: u8 = 0x81;
const EXT1: u8 = 0x82;
const EXT4: u8 = 0x84;
const TUPLE1: u8 = 0x85;
const TUPLE3: u8 = 0x87;
const NEWTRUE: u8 = 0x88;
const NEWFALSE: u8 = 0x89;
const LONG1: u8 = 0x8a;
const LONG4: u8 = 0x8b;
const SHORT_UNICODE: u8 = 0x8c;
const UNICODE8: u8 = 0x8d;
const BYTES8: u8 = 0x8e;
const EMPTY_SET: u8 = 0x8f;
const ADDITEMS: u8 = 0x90;
const FROZENSET: u8 = 0x91;
const NEWOBJ_EX: u8 = 0x92;
const STACK_GLOBAL: u8 = 0x93;
const MEMOIZE: u8 = 0x94;
const FRAME: u8 = 0x95;
const BYTEARRAY8: u8 = 0x96;
const NEXT_BUFFER: u8 = 0x97;
const READONLY_BUFFER: u8 = 0x98;
