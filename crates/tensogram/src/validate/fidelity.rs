//! Level 4: are the decoded values what the descriptor promises, and finite where no mask says otherwise?

use super::held::Held;
use super::integrity::head_of;
use super::structure::{ObjectEntry, Structure};
use super::{FIDELITY, ValidateOptions, object_path};
use crate::describe::DataObjectDescriptor;
use crate::message::ObjectView;
use crate::options::DecodeOptions;
use crate::pipeline;
use fw_report::{Finding, Report};

pub(super) fn check<L: Held + ?Sized>(structure: &Structure<'_, L>, options: &ValidateOptions, report: &mut Report) {
    for (index, object) in structure.objects.iter().enumerate() {
        let Ok(head) = head_of(structure, index, object, options) else { continue };
        if let Err((code, text)) = check_object(structure, object, &head.descriptor, options) {
            let finding = Finding::error(code, text).at(object.frame.span()).on(object_path(index));
            report.push(finding.object(index as u64).level(FIDELITY));
        }
    }
}

fn check_object<L: Held + ?Sized>(
    structure: &Structure<'_, L>,
    object: &ObjectEntry,
    descriptor: &DataObjectDescriptor,
    options: &ValidateOptions,
) -> Result<(), (&'static str, String)> {
    if descriptor.is_raw() {
        let region_len = object.parts.region.len();
        let first_mask = descriptor.masks.as_ref().and_then(|masks| masks.first_offset());
        let payload_len = first_mask.map_or(region_len, |first| first.min(region_len));
        match descriptor.decoded_len() {
            Ok(expected) if expected == payload_len => {}
            Ok(expected) => {
                return Err(("decoded_size_mismatch", format!("expected {expected} bytes, payload has {payload_len}")));
            }
            Err(error) => return Err(("decoded_size_mismatch", error.to_string())),
        }
    } else if pipeline::pipeline_of(descriptor).is_err() {
        // Already reported as a configuration that cannot be followed.
        return Ok(());
    }
    // Positions in errors count from the start of the message.
    let start = object.frame.start();
    let failed = |error: crate::TensogramError| match error.code() {
        "decoded_length_mismatch" => ("decoded_size_mismatch", error.shifted(start).to_string()),
        _ => ("decode_object_failed", error.shifted(start).to_string()),
    };
    let bytes = structure.message.part(object.frame.span());
    let view = ObjectView::read(&bytes[..], object.frame.rebased(start), 0, &options.limits).map_err(failed)?;
    // Masked elements stand as zeros here, and are so exempt.
    let plain = DecodeOptions { restore_non_finite: false, limits: options.limits, ..DecodeOptions::default() };
    let bytes = view.decode(&plain).map_err(failed)?;
    view.decode_masks().map_err(|error| ("decode_object_failed", error.shifted(start).to_string()))?;
    match fw_codec::finite::first_non_finite(&bytes, descriptor.dtype, fw_tensor::ByteOrder::NATIVE, 1) {
        Some((element, kind)) => {
            let code = if kind == crate::MaskKind::Nan { "nan_detected" } else { "inf_detected" };
            Err((code, format!("element {element} is not finite and no mask covers it")))
        }
        None => Ok(()),
    }
}
