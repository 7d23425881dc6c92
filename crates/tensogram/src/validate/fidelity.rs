//! Level 4: are the decoded values what the descriptor promises, and finite where no mask says otherwise?

use super::metadata::descriptor_of;
use super::structure::{ObjectEntry, Structure};
use super::{FIDELITY, ValidateOptions, object_path};
use crate::describe::DataObjectDescriptor;
use crate::message::ObjectView;
use crate::options::DecodeOptions;
use crate::pipeline;
use fw_report::{Finding, Report};

pub(super) fn check(structure: &Structure<'_>, options: &ValidateOptions, report: &mut Report) {
    for (index, object) in structure.objects.iter().enumerate() {
        let Ok(descriptor) = descriptor_of(structure, object, options) else { continue };
        if let Err((code, text)) = check_object(structure, index, object, &descriptor, options) {
            let finding = Finding::error(code, text).at(object.frame.span()).on(object_path(index));
            report.push(finding.object(index as u64).level(FIDELITY));
        }
    }
}

fn check_object(
    structure: &Structure<'_>,
    index: usize,
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
    let failed = |error: crate::TensogramError| match error.code() {
        "decoded_length_mismatch" => ("decoded_size_mismatch", error.to_string()),
        _ => ("decode_object_failed", error.to_string()),
    };
    let view = ObjectView::read(structure.message, object.frame, index, &options.limits).map_err(failed)?;
    // Masked elements stand as zeros here, and are so exempt.
    let plain = DecodeOptions { restore_non_finite: false, limits: options.limits, ..DecodeOptions::default() };
    let bytes = view.decode(&plain).map_err(failed)?;
    view.decode_masks().map_err(|error| ("decode_object_failed", error.to_string()))?;
    match fw_codec::finite::first_non_finite(&bytes, descriptor.dtype, fw_tensor::ByteOrder::NATIVE, 1) {
        Some((element, kind)) => {
            let code = if kind == crate::MaskKind::Nan { "nan_detected" } else { "inf_detected" };
            Err((code, format!("element {element} is not finite and no mask covers it")))
        }
        None => Ok(()),
    }
}
