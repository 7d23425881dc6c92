//! Values to arrays.

use arrow_array::builder::{
    ArrayBuilder, BinaryBuilder, BooleanBuilder, Float32Builder, Float64Builder, Int8Builder, Int16Builder,
    Int32Builder, Int64Builder, StringBuilder, UInt8Builder, UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, ListArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use fw_dynamic::{EnumStyle, UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Extent, Message, Scalar, Type, Union};
use std::sync::Arc;

/// An array under construction, nested as its field is.
pub(super) enum Builder {
    Bool(BooleanBuilder),
    U8(UInt8Builder),
    U16(UInt16Builder),
    U32(UInt32Builder),
    U64(UInt64Builder),
    I8(Int8Builder),
    I16(Int16Builder),
    I32(Int32Builder),
    I64(Int64Builder),
    F32(Float32Builder),
    F64(Float64Builder),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    List {
        field: FieldRef,
        ends: Vec<i32>,
        nulls: NullBufferBuilder,
        child: Box<Builder>,
    },
    Fixed {
        field: FieldRef,
        len: usize,
        rows: usize,
        child: Box<Builder>,
    },
    Struct {
        fields: Fields,
        nulls: NullBufferBuilder,
        children: Vec<(usize, Builder)>,
    },
    Union {
        fields: Fields,
        nulls: NullBufferBuilder,
        which: StringBuilder,
        members: Vec<(String, Builder)>,
        unknown: UInt16Builder,
    },
}

/// Whether values can be absent: those of oneof members can.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Always,
    Sometimes,
}

impl Builder {
    /// The fields of a message; `None` when it has none that hold anything.
    pub(super) fn message(schema: &Schema, message: &Message, enums: EnumStyle, presence: Presence) -> Option<Self> {
        let nullable = presence == Presence::Sometimes;
        let (mut fields, mut children) = (Vec::new(), Vec::new());
        for (place, field) in message.fields.iter().enumerate() {
            let child = match field.ty {
                Type::One(element) => Self::element(schema, element, enums, presence),
                Type::Array { element, extent } => Self::array(schema, element, extent, enums, presence),
            };
            if let Some(child) = child {
                fields.push(Arc::new(Field::new(&field.name, child.data_type(), nullable)));
                children.push((place, child));
            }
        }
        for (place, union) in message.unions.iter().enumerate() {
            let child = Self::union(schema, union, enums);
            // A oneof can be unset, which its own `which` says.
            fields.push(Arc::new(Field::new(&union.name, child.data_type(), nullable)));
            children.push((message.fields.len().saturating_add(place), child));
        }
        let found = !children.is_empty();
        found.then(|| Self::Struct { fields: fields.into(), nulls: NullBufferBuilder::new(0), children })
    }

    fn array(schema: &Schema, element: Element, extent: Extent, enums: EnumStyle, presence: Presence) -> Option<Self> {
        let fixed = match (element, extent, presence) {
            (Element::Scalar(_), Extent::Fixed(len), Presence::Always) => Some(len),
            _ => None,
        };
        let child = Box::new(Self::element(schema, element, enums, Presence::Always)?);
        let field = Arc::new(Field::new("item", child.data_type(), false));
        Some(match fixed {
            Some(len) => Self::Fixed { field, len: len.into(), rows: 0, child },
            None => Self::List { field, ends: vec![0], nulls: NullBufferBuilder::new(0), child },
        })
    }

    fn element(schema: &Schema, element: Element, enums: EnumStyle, presence: Presence) -> Option<Self> {
        Some(match element {
            Element::Scalar(scalar) => match scalar {
                Scalar::Bool => Self::Bool(BooleanBuilder::new()),
                Scalar::Uint8 => Self::U8(UInt8Builder::new()),
                Scalar::Uint16 => Self::U16(UInt16Builder::new()),
                Scalar::Uint32 => Self::U32(UInt32Builder::new()),
                Scalar::Uint64 => Self::U64(UInt64Builder::new()),
                Scalar::Int8 => Self::I8(Int8Builder::new()),
                Scalar::Int16 => Self::I16(Int16Builder::new()),
                Scalar::Int32 => Self::I32(Int32Builder::new()),
                Scalar::Int64 => Self::I64(Int64Builder::new()),
                Scalar::Float => Self::F32(Float32Builder::new()),
                Scalar::Double => Self::F64(Float64Builder::new()),
            },
            Element::Enum(_) if enums == EnumStyle::Names => Self::Text(StringBuilder::new()),
            Element::Enum(_) => Self::U8(UInt8Builder::new()),
            Element::String(_) => Self::Text(StringBuilder::new()),
            Element::Bytes(_) => Self::Bytes(BinaryBuilder::new()),
            Element::Message(index) => return Self::message(schema, &schema[index], enums, presence),
        })
    }

    fn union(schema: &Schema, union: &Union, enums: EnumStyle) -> Self {
        if union.discriminator.is_empty() {
            return Self::Bytes(BinaryBuilder::new());
        }
        let mut fields = vec![Arc::new(Field::new("which", DataType::Utf8, true))];
        let mut members = Vec::new();
        for member in &union.members {
            // Names of members could be those of the columns beside them.
            let name = match member.name.as_str() {
                own @ ("which" | "unknown_tag") => format!("{own}_"),
                name => name.to_owned(),
            };
            if let Some(child) = Self::element(schema, member.element, enums, Presence::Sometimes) {
                fields.push(Arc::new(Field::new(name, child.data_type(), true)));
                members.push((member.name.clone(), child));
            }
        }
        fields.push(Arc::new(Field::new("unknown_tag", DataType::UInt16, true)));
        Self::Union {
            fields: fields.into(),
            nulls: NullBufferBuilder::new(0),
            which: StringBuilder::new(),
            members,
            unknown: UInt16Builder::new(),
        }
    }

    /// The type of the array.
    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Bool(_) => DataType::Boolean,
            Self::U8(_) => DataType::UInt8,
            Self::U16(_) => DataType::UInt16,
            Self::U32(_) => DataType::UInt32,
            Self::U64(_) => DataType::UInt64,
            Self::I8(_) => DataType::Int8,
            Self::I16(_) => DataType::Int16,
            Self::I32(_) => DataType::Int32,
            Self::I64(_) => DataType::Int64,
            Self::F32(_) => DataType::Float32,
            Self::F64(_) => DataType::Float64,
            Self::Text(_) => DataType::Utf8,
            Self::Bytes(_) => DataType::Binary,
            Self::List { field, .. } => DataType::List(Arc::clone(field)),
            // A schema's arrays have at most 65535 elements.
            Self::Fixed { field, len, .. } => {
                DataType::FixedSizeList(Arc::clone(field), i32::try_from(*len).unwrap_or(0))
            }
            Self::Struct { fields, .. } | Self::Union { fields, .. } => DataType::Struct(fields.clone()),
        }
    }

    /// Appends a value; `None` is null. Counts text that is not UTF-8 in `bad_text`.
    pub(super) fn append(&mut self, value: Option<&Value<'_>>, bad_text: &mut u64) {
        use Value::{Signed, Signed64, Unsigned, Unsigned64};
        macro_rules! integer {
            ($builder:ident, $pattern:pat => $number:expr) => {
                match value {
                    Some($pattern) => $builder.append_value($number),
                    _ => $builder.append_null(),
                }
            };
        }
        match self {
            Self::Bool(builder) => integer!(builder, Value::Bool(bit) => *bit),
            Self::U8(builder) => match value {
                // The layout made sure that it fits.
                Some(Unsigned(number)) => builder.append_value(*number as u8),
                Some(Value::Enum(number, _)) => builder.append_value(*number),
                _ => builder.append_null(),
            },
            Self::U16(builder) => integer!(builder, Unsigned(number) => *number as u16),
            Self::U32(builder) => integer!(builder, Unsigned(number) => *number as u32),
            Self::U64(builder) => integer!(builder, Unsigned(number) | Unsigned64(number) => *number),
            Self::I8(builder) => integer!(builder, Signed(number) => *number as i8),
            Self::I16(builder) => integer!(builder, Signed(number) => *number as i16),
            Self::I32(builder) => integer!(builder, Signed(number) => *number as i32),
            Self::I64(builder) => integer!(builder, Signed(number) | Signed64(number) => *number),
            Self::F32(builder) => integer!(builder, Value::Float(number) => *number),
            Self::F64(builder) => integer!(builder, Value::Double(number) => *number),
            Self::Text(builder) => match value {
                Some(Value::Text(text)) => builder.append_value(text),
                Some(Value::Enum(_, Some(name))) => builder.append_value(name),
                Some(Value::Enum(number, None)) => builder.append_value(number.to_string()),
                Some(Value::Bytes(bytes)) => {
                    *bad_text = bad_text.saturating_add(1);
                    builder.append_value(String::from_utf8_lossy(bytes));
                }
                _ => builder.append_null(),
            },
            Self::Bytes(builder) => match value {
                Some(Value::Bytes(bytes)) => builder.append_value(bytes),
                Some(Value::Union(union)) => match &**union {
                    UnionValue::Untagged(bytes) => builder.append_value(bytes),
                    _ => builder.append_value([]),
                },
                _ => builder.append_null(),
            },
            Self::List { ends, nulls, child, .. } => {
                let list = elements(value);
                nulls.append(value.is_some());
                list.iter().for_each(|value| child.append(Some(value), bad_text));
                let end = ends.last().copied().unwrap_or(0);
                ends.push(end.saturating_add(i32::try_from(list.len()).unwrap_or(0)));
            }
            Self::Fixed { len, rows, child, .. } => {
                *rows = rows.saturating_add(1);
                elements(value).iter().take(*len).for_each(|value| child.append(Some(value), bad_text));
            }
            Self::Struct { nulls, children, .. } => {
                let entries = match value {
                    Some(Value::Message(entries)) => entries.as_slice(),
                    _ => &[],
                };
                nulls.append(value.is_some());
                for (place, child) in children {
                    child.append(entries.get(*place).map(|(_, value)| value), bad_text);
                }
            }
            Self::Union { nulls, which, members, unknown, .. } => {
                nulls.append(value.is_some());
                let union = match value {
                    Some(Value::Union(union)) => Some(&**union),
                    _ => None,
                };
                let (mut set, mut tag) = (None, None);
                match union {
                    Some(UnionValue::Member { name, value }) => set = Some((*name, value)),
                    Some(UnionValue::Unknown { tag: given, .. }) => tag = Some(*given),
                    _ => {}
                }
                which.append_option(set.map(|(name, _)| name));
                unknown.append_option(tag);
                for (name, child) in members {
                    child.append(set.filter(|(held, _)| held == name).map(|(_, value)| value), bad_text);
                }
            }
        }
    }

    /// The values so far, as an array; the next one starts empty.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Bool(builder) => ArrayBuilder::finish(builder),
            Self::U8(builder) => ArrayBuilder::finish(builder),
            Self::U16(builder) => ArrayBuilder::finish(builder),
            Self::U32(builder) => ArrayBuilder::finish(builder),
            Self::U64(builder) => ArrayBuilder::finish(builder),
            Self::I8(builder) => ArrayBuilder::finish(builder),
            Self::I16(builder) => ArrayBuilder::finish(builder),
            Self::I32(builder) => ArrayBuilder::finish(builder),
            Self::I64(builder) => ArrayBuilder::finish(builder),
            Self::F32(builder) => ArrayBuilder::finish(builder),
            Self::F64(builder) => ArrayBuilder::finish(builder),
            Self::Text(builder) => ArrayBuilder::finish(builder),
            Self::Bytes(builder) => ArrayBuilder::finish(builder),
            Self::List { field, ends, nulls, child } => {
                let ends = OffsetBuffer::new(std::mem::replace(ends, vec![0]).into());
                Arc::new(ListArray::try_new(Arc::clone(field), ends, child.finish()?, nulls.finish())?)
            }
            Self::Fixed { field, len, rows, child } => {
                let len = i32::try_from(*len).unwrap_or(0);
                *rows = 0;
                Arc::new(FixedSizeListArray::try_new(Arc::clone(field), len, child.finish()?, None)?)
            }
            Self::Struct { fields, nulls, children } => {
                let arrays = children.iter_mut().map(|(_, child)| child.finish()).collect::<Result<Vec<_>, _>>()?;
                Arc::new(StructArray::try_new(fields.clone(), arrays, nulls.finish())?)
            }
            Self::Union { fields, nulls, which, members, unknown } => {
                let mut arrays: Vec<ArrayRef> = vec![ArrayBuilder::finish(which)];
                for (_, child) in members {
                    arrays.push(child.finish()?);
                }
                arrays.push(ArrayBuilder::finish(unknown));
                Arc::new(StructArray::try_new(fields.clone(), arrays, nulls.finish())?)
            }
        })
    }

    /// The columns of a message, when that is what this is.
    pub(super) fn columns(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let array = self.finish()?;
        let columns = array.as_any().downcast_ref::<StructArray>().map(|array| array.columns().to_vec());
        Ok(columns.unwrap_or_default())
    }
}

fn elements<'v, 's>(value: Option<&'v Value<'s>>) -> &'v [Value<'s>] {
    match value {
        Some(Value::List(list)) => list,
        _ => &[],
    }
}
