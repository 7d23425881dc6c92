//! Where each column stands in the fixed layout of a message.

use crate::error::Error;
use fw_schema::Schema;
use fw_schema::layout::{Element, Extent, Message, Scalar, Type, Union};
use fw_tensor::DType;

/// Most columns of a message, and most places of one column together: alternatives of unions multiply.
const MAX_COLUMNS: usize = 1 << 14;
const MAX_PLACES: usize = 1 << 22;

/// What a column holds. Complete: files of columns name each role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Values of a field.
    Value,
    /// How many elements of a bounded array are used.
    Count,
    /// How many bytes of a text or blob are used.
    Length,
    /// Which member of a union is set.
    Tag,
    /// Whether this member of a union is set.
    Valid,
}

/// One column, and where its bytes stand in an image.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) path: String,
    pub(super) role: Role,
    pub(super) dtype: DType,
    pub(super) dims: Vec<usize>,
    /// Contiguous bytes at each place.
    pub(super) run: usize,
    /// Where the runs begin.
    pub(super) places: Vec<u32>,
    /// Which members must be set for the bytes to mean this.
    pub(super) guards: Vec<Guard>,
    /// How the bytes of the column come from those of the image.
    pub(super) source: Source,
}

/// How a column's bytes come from the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// As they are.
    Copy,
    /// As they are, 0 or 1.
    Bool,
    /// A count, at most this.
    Clamp(usize),
    /// Bytes up to the first zero among this many: the length of fixed text, two bytes wide.
    UpToZero(usize),
    /// 1: the guards decide.
    Guards,
}

/// A tag that must have a value; one offset per place.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    pub(super) len: usize,
    pub(super) tag: u16,
    pub(super) offsets: Vec<u32>,
}

/// Bytes that no column holds: what follows a member in its region, and tails.
#[derive(Clone, Debug)]
pub(super) struct Blank {
    pub(super) guards: Vec<Guard>,
    pub(super) places: Vec<u32>,
    pub(super) kind: BlankKind,
}

#[derive(Clone, Debug)]
pub(super) enum BlankKind {
    /// This many zero bytes.
    Zero(usize),
    /// A tagged region: tag bytes, region bytes, and the size of each known member.
    Region { tag_len: usize, region: usize, members: Vec<(u16, usize)> },
}

/// All columns of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) leaves: Vec<Leaf>,
    pub(super) blanks: Vec<Blank>,
    places: usize,
}

impl Plan {
    /// Plans the columns of a message.
    pub(super) fn new(schema: &Schema, message: &Message) -> Result<Self, Error> {
        let mut plan = Self::default();
        plan.message(
            schema,
            message,
            &At { path: String::new(), dims: Vec::new(), places: vec![0], guards: Vec::new() },
        )?;
        Ok(plan)
    }

    fn leaf(&mut self, at: &At, suffix: &str, cells: Cells<'_>) -> Result<(), Error> {
        self.places += at.places.len() * (1 + at.guards.len());
        if self.leaves.len() >= MAX_COLUMNS || self.places > MAX_PLACES {
            let words = format!("more than {MAX_COLUMNS} columns or {MAX_PLACES} places");
            return Err(Error::new("too_many_columns", words).inside(&at.path));
        }
        let Cells { role, dtype, dims, run, source } = cells;
        self.leaves.push(Leaf {
            path: format!("{}{suffix}", at.path),
            role,
            dtype,
            dims: at.dims.iter().chain(dims).copied().collect(),
            run,
            places: at.places.clone(),
            guards: at.guards.clone(),
            source,
        });
        Ok(())
    }

    fn message(&mut self, schema: &Schema, message: &Message, at: &At) -> Result<(), Error> {
        for field in &message.fields {
            self.field(schema, field.ty, field.unit, &at.child(&field.name, field.offset))?;
        }
        for union in &message.unions {
            self.union(schema, union, &at.child(&union.name, union.offset))?;
        }
        if message.fixed_tail > 0 {
            let end = at.child("", message.sizes.max - message.fixed_tail);
            let kind = BlankKind::Zero(message.fixed_tail);
            self.blanks.push(Blank { guards: end.guards, places: end.places, kind });
        }
        Ok(())
    }

    fn field(&mut self, schema: &Schema, ty: Type, unit: usize, at: &At) -> Result<(), Error> {
        let Type::Array { element, extent } = ty else { return self.element(schema, ty.element(), at) };
        let count = extent.limit();
        let mut at = at.clone();
        if let Extent::Bounded(_) = extent {
            self.prefix(extent, "@count", Role::Count, &at)?;
            at = at.moved(extent.prefix_len());
        }
        match element {
            Element::Scalar(scalar) => self.scalar(scalar, &at, &[count], count),
            Element::Enum(_) => self.leaf(&at, "", Cells::bytes(&[count], count)),
            Element::String(_) | Element::Bytes(_) => self.leaf(&at, "", Cells::bytes(&[count, unit], count * unit)),
            Element::Message(index) => self.message(schema, &schema[index], &at.repeated(count, unit)),
        }
    }

    fn prefix(&mut self, extent: Extent, suffix: &str, role: Role, at: &At) -> Result<(), Error> {
        let len = extent.prefix_len();
        let dtype = if len == 1 { DType::UInt8 } else { DType::UInt16 };
        let source = Source::Clamp(extent.limit());
        self.leaf(at, suffix, Cells { role, dtype, dims: &[], run: len, source })
    }

    fn scalar(&mut self, scalar: Scalar, at: &At, dims: &[usize], count: usize) -> Result<(), Error> {
        let source = if scalar == Scalar::Bool { Source::Bool } else { Source::Copy };
        let run = count * scalar.size();
        self.leaf(at, "", Cells { role: Role::Value, dtype: dtype_of(scalar), dims, run, source })
    }

    fn element(&mut self, schema: &Schema, element: Element, at: &At) -> Result<(), Error> {
        match element {
            Element::Scalar(scalar) => self.scalar(scalar, at, &[], 1),
            Element::Enum(_) => self.leaf(at, "", Cells::bytes(&[], 1)),
            Element::Message(index) => self.message(schema, &schema[index], at),
            Element::String(extent) | Element::Bytes(extent) => {
                let limit = extent.limit();
                let mut at = at.clone();
                if let Extent::Bounded(_) = extent {
                    self.prefix(extent, "@len", Role::Length, &at)?;
                    at = at.moved(extent.prefix_len());
                } else if matches!(element, Element::String(_)) {
                    let source = Source::UpToZero(limit);
                    let cells = Cells { role: Role::Length, dtype: DType::UInt16, dims: &[], run: 2, source };
                    self.leaf(&at, "@len", cells)?;
                }
                self.leaf(&at, "", Cells::bytes(&[limit], limit))
            }
        }
    }

    fn union(&mut self, schema: &Schema, union: &Union, at: &At) -> Result<(), Error> {
        if union.members.is_empty() {
            return Ok(());
        }
        let tag_len = union.discriminator.len();
        if tag_len == 0 {
            let region = union.region;
            return self.leaf(at, "", Cells::bytes(&[region], region));
        }
        let dtype = if tag_len == 1 { DType::UInt8 } else { DType::UInt16 };
        self.leaf(at, "@tag", Cells { role: Role::Tag, dtype, dims: &[], run: tag_len, source: Source::Copy })?;
        let members = union.members.iter().map(|member| (member.tag.unwrap_or(0), member.size)).collect();
        let kind = BlankKind::Region { tag_len, region: union.region, members };
        self.blanks.push(Blank { guards: at.guards.clone(), places: at.places.clone(), kind });
        for member in &union.members {
            let mut inner = at.child(&member.name, tag_len);
            let guard = Guard { len: tag_len, tag: member.tag.unwrap_or(0), offsets: at.places.clone() };
            inner.guards.push(guard);
            let cells = Cells { role: Role::Valid, dtype: DType::Bool, dims: &[], run: 1, source: Source::Guards };
            self.leaf(&inner, "@valid", cells)?;
            self.element(schema, member.element, &inner)?;
        }
        Ok(())
    }
}

/// What stands at each place of a leaf.
struct Cells<'d> {
    role: Role,
    dtype: DType,
    dims: &'d [usize],
    run: usize,
    source: Source,
}

impl<'d> Cells<'d> {
    /// Bytes as they are.
    const fn bytes(dims: &'d [usize], run: usize) -> Self {
        Self { role: Role::Value, dtype: DType::UInt8, dims, run, source: Source::Copy }
    }
}

/// Where we are while walking a message: a path, and the places at which it occurs.
#[derive(Clone)]
struct At {
    path: String,
    dims: Vec<usize>,
    places: Vec<u32>,
    guards: Vec<Guard>,
}

impl At {
    fn child(&self, name: &str, offset: usize) -> Self {
        let joint = if self.path.is_empty() || name.is_empty() { "" } else { "." };
        let mut child = self.moved(offset);
        child.path = format!("{}{joint}{name}", self.path);
        child
    }

    fn moved(&self, by: usize) -> Self {
        let places = self.places.iter().map(|place| place + by as u32).collect();
        Self { path: self.path.clone(), dims: self.dims.clone(), places, guards: self.guards.clone() }
    }

    /// The elements of an array of messages: each place becomes `count` places, `unit` bytes apart.
    fn repeated(&self, count: usize, unit: usize) -> Self {
        let spread = |place: &u32| {
            let place = *place;
            (0..count).map(move |index| place + (index * unit) as u32)
        };
        let guards = self.guards.iter().map(|guard| Guard {
            offsets: guard.offsets.iter().flat_map(|offset| std::iter::repeat_n(*offset, count)).collect(),
            ..*guard
        });
        let mut dims = self.dims.clone();
        dims.push(count);
        Self {
            path: self.path.clone(),
            dims,
            places: self.places.iter().flat_map(spread).collect(),
            guards: guards.collect(),
        }
    }
}

fn dtype_of(scalar: Scalar) -> DType {
    match scalar {
        Scalar::Uint8 => DType::UInt8,
        Scalar::Int8 => DType::Int8,
        Scalar::Uint16 => DType::UInt16,
        Scalar::Int16 => DType::Int16,
        Scalar::Uint32 => DType::UInt32,
        Scalar::Int32 => DType::Int32,
        Scalar::Uint64 => DType::UInt64,
        Scalar::Int64 => DType::Int64,
        Scalar::Float => DType::Float32,
        Scalar::Double => DType::Float64,
        Scalar::Bool => DType::Bool,
    }
}
