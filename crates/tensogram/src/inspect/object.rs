//! The body of a data object frame as leaves.

use super::cbor;
use crate::describe::DataObjectDescriptor;
use crate::frame::{FrameRef, object_parts, on_slice};
use crate::message::ObjectView;
use fw_bytes::{Limits, Span};
use fw_report::Tree;
use fw_tensor::{ByteOrder, DType, swap_in_place};
use half::{bf16, f16};

pub(super) fn push_body(message: &[u8], frame: &FrameRef, index: usize, tree: &mut Tree) {
    let slot = frame.cbor_offset_slot();
    let Ok(parts) = on_slice(message, |bytes| object_parts(frame, bytes)) else {
        tree.push(Tree::new("payload and descriptor that cannot be told apart", frame.body()));
        return tree.push(Tree::new("cbor_offset", slot).value("outside the body"));
    };
    let after = parts.descriptor.start >= parts.region.end;
    if after {
        push_region(message, frame, index, parts.region, tree);
    } else if frame.body().start < parts.descriptor.start {
        tree.push(Tree::new("gap before the descriptor", frame.body().start..parts.descriptor.start));
    }
    cbor::push_items(message, parts.descriptor, tree);
    if !after {
        push_region(message, frame, index, parts.region, tree);
    }
    let offset = parts.descriptor.start - frame.start();
    let value = format!("{offset} (descriptor starts at {}+{offset})", frame.start());
    tree.push(Tree::new("cbor_offset", slot).value(value));
}

fn push_region(message: &[u8], frame: &FrameRef, index: usize, region: Span, tree: &mut Tree) {
    let Ok(object) = ObjectView::read(message, *frame, index, &Limits::default()) else {
        if !region.is_empty() {
            tree.push(Tree::new("payload region", region).value(format!("({} bytes)", region.len())));
        }
        return;
    };
    let payload = Span::new(region.start, region.start + object.payload().len() as u64);
    push_payload(object.descriptor(), object.payload(), payload, tree);
    let mut position = payload.end;
    let mut masks: Vec<_> = object.masks().collect();
    masks.sort_by_key(|(_, mask, _)| mask.offset);
    for (kind, mask, blob) in masks {
        let start = (region.start + mask.offset).max(position);
        let end = (region.start + mask.offset + mask.length).max(start);
        if position < start {
            tree.push(Tree::new("unused bytes", position..start));
        }
        let bits = blob.iter().take(4).map(|byte| format!("{byte:08b}")).collect::<Vec<_>>().join(" ");
        let value = match mask.method.as_str() {
            "none" if blob.len() <= 4 => format!("(method none): bits {bits}"),
            method => format!("(method {method}), {} bytes", blob.len()),
        };
        if start < end {
            tree.push(Tree::new(format!("mask {:?}", kind.key()), start..end).value(value));
        }
        position = end;
    }
    if position < region.end {
        tree.push(Tree::new("unused bytes", position..region.end));
    }
}

/// Few elements are shown one by one, many as one range.
fn push_payload(descriptor: &DataObjectDescriptor, payload: &[u8], span: Span, tree: &mut Tree) {
    if span.is_empty() {
        return;
    }
    let width = descriptor.dtype.byte_width();
    let whole = descriptor.decoded_len().is_ok_and(|len| len == span.len());
    match width {
        Some(width) if descriptor.is_raw() && whole && payload.len() / width <= SHOWN_ELEMENTS => {
            for (i, element) in payload.chunks_exact(width).enumerate() {
                let start = span.start + (i * width) as u64;
                let value = format!("= {}", element_text(descriptor.dtype, descriptor.byte_order, element));
                tree.push(Tree::new(format!("payload element {i}"), start..start + width as u64).value(value));
            }
        }
        _ => {
            let stages = [&descriptor.encoding, &descriptor.filter, &descriptor.compression];
            let stages: Vec<_> = stages.into_iter().filter(|name| *name != "none").map(String::as_str).collect();
            let stages = if stages.is_empty() { "raw".to_owned() } else { stages.join(" + ") };
            let value = format!("{} bytes, {} {:?}, {stages}", span.len(), descriptor.dtype, descriptor.shape);
            tree.push(Tree::new("payload", span).value(value));
        }
    }
}

/// One element as text.
fn element_text(dtype: DType, order: ByteOrder, bytes: &[u8]) -> String {
    let mut native = [0u8; 16];
    let Some(native) = native.get_mut(..bytes.len()) else { return String::new() };
    native.copy_from_slice(bytes);
    if order != ByteOrder::NATIVE {
        swap_in_place(native, dtype.swap_unit());
    }
    macro_rules! show {
        ($type:ty) => {
            native.as_chunks().0.first().map_or_else(String::new, |b| format!("{:?}", <$type>::from_ne_bytes(*b)))
        };
    }
    macro_rules! pair {
        ($type:ty) => {
            match native.as_chunks().0 {
                [re, im] => format!("({:?}, {:?})", <$type>::from_ne_bytes(*re), <$type>::from_ne_bytes(*im)),
                _ => String::new(),
            }
        };
    }
    match dtype {
        DType::Float16 => show!(f16),
        DType::BFloat16 => show!(bf16),
        DType::Float32 => show!(f32),
        DType::Float64 => show!(f64),
        DType::Complex64 => pair!(f32),
        DType::Complex128 => pair!(f64),
        DType::Int8 => show!(i8),
        DType::Int16 => show!(i16),
        DType::Int32 => show!(i32),
        DType::Int64 => show!(i64),
        DType::UInt8 | DType::Bool => show!(u8),
        DType::UInt16 => show!(u16),
        DType::UInt32 => show!(u32),
        DType::UInt64 => show!(u64),
        // Not part of the format, or smaller than a byte.
        DType::Float8E4M3 | DType::Float8E5M2 | DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz => {
            format!("{bytes:02x?}")
        }
        DType::Float8E8M0 | DType::Float6E2M3 | DType::Float6E3M2 | DType::Float4 => format!("{bytes:02x?}"),
        DType::Bitmask => format!("{bytes:02x?}"),
    }
}

const SHOWN_ELEMENTS: usize = 64;
