//! Level 4: are the decoded values what the descriptor promises, and finite where no mask says otherwise?

use super::bytes::FrameBytes;
use super::metadata::descriptor_of;
use super::structure::{ObjectEntry, Structure};
use super::{FIDELITY, ValidateOptions, object_path};
use crate::access::{AtHand, ObjectHead};
use crate::describe::DataObjectDescriptor;
use crate::error::Result;
use crate::frame::Lookup;
use crate::options::DecodeOptions;
use crate::pipeline;
use fw_bytes::Step;
use fw_report::{Finding, Report};

/// # Errors
/// When reading fails.
pub(super) fn check<L: Lookup + ?Sized>(
    structure: &Structure<'_, L>,
    bytes: &(impl FrameBytes + ?Sized),
    options: &ValidateOptions,
    report: &mut Report,
) -> Result<()> {
    for (index, object) in structure.objects.iter().enumerate() {
        let Ok(descriptor) = descriptor_of(structure, object, options) else { continue };
        let found = bytes.with(&object.frame, |have| check_object(have, index, object, &descriptor, options))?;
        if let Err((code, text)) = found {
            let finding = Finding::error(code, text).at(object.frame.span()).on(object_path(index));
            report.push(finding.object(index as u64).level(FIDELITY));
        }
    }
    Ok(())
}

fn check_object(
    have: &dyn Lookup,
    index: usize,
    object: &ObjectEntry,
    descriptor: &DataObjectDescriptor,
    options: &ValidateOptions,
) -> std::result::Result<(), (&'static str, String)> {
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
    let head = match ObjectHead::read(have, object.frame, index, &options.limits).map_err(failed)? {
        Step::Done(head) => head,
        // The whole frame is at hand.
        Step::Need(_) => return Err(("decode_object_failed", "the frame is cut short".to_owned())),
    };
    let held = AtHand::new(&head, have);
    // Masked elements stand as zeros here, and are so exempt.
    let plain = DecodeOptions { restore_non_finite: false, limits: options.limits, ..DecodeOptions::default() };
    let bytes = pipeline::decode_to_vec(&held, &plain).map_err(failed)?;
    // A mask has a bit per element: the claimed number of elements must be credible before memory is taken for it.
    let masks = pipeline::checked_pipeline(&held, &DecodeOptions::default()).and_then(|_| pipeline::read_masks(&held));
    masks.map_err(|error| ("decode_object_failed", error.to_string()))?;
    match fw_codec::finite::first_non_finite(&bytes, descriptor.dtype, fw_tensor::ByteOrder::NATIVE, 1) {
        Some((element, kind)) => {
            let code = if kind == crate::MaskKind::Nan { "nan_detected" } else { "inf_detected" };
            Err((code, format!("element {element} is not finite and no mask covers it")))
        }
        None => Ok(()),
    }
}
