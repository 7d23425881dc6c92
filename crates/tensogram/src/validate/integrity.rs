//! Level 3: do digests match, and do encoded payloads decode?

use super::bytes::FrameBytes;
use super::metadata::descriptor_of;
use super::structure::Structure;
use super::{INTEGRITY, ValidateOptions, from_error, object_path};
use crate::access::{AtHand, ObjectHead, verify_frame_hash};
use crate::describe::{HashList, digest_text};
use crate::error::{Result, TensogramError};
use crate::frame::{FrameRef, Lookup};
use crate::options::DecodeOptions;
use crate::pipeline;
use crate::wire::{FrameContent, MessageFlags};
use fw_bytes::Step;
use fw_report::{Finding, Report};

/// Whether payloads are decoded to prove that they can be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Payloads {
    Leave,
    Decode,
}

/// Returns whether every object's digest was compared and matched.
///
/// # Errors
/// When reading fails.
pub(super) fn check<L: Lookup + ?Sized>(
    structure: &Structure<'_, L>,
    bytes: &(impl FrameBytes + ?Sized),
    options: &ValidateOptions,
    payloads: Payloads,
    report: &mut Report,
) -> Result<bool> {
    let mut checker = Checker { structure, bytes, options, report };
    let verified = checker.object_digests(payloads)?;
    checker.other_digests();
    checker.hash_lists();
    if payloads == Payloads::Decode {
        checker.payloads()?;
    }
    Ok(verified)
}

struct Checker<'s, 'm, L: ?Sized, B: ?Sized> {
    structure: &'s Structure<'m, L>,
    bytes: &'s B,
    options: &'s ValidateOptions,
    report: &'s mut Report,
}

impl<L: Lookup + ?Sized, B: FrameBytes + ?Sized> Checker<'_, '_, L, B> {
    fn push(&mut self, finding: Finding) {
        self.report.push(finding.level(INTEGRITY));
    }

    fn object_digests(&mut self, payloads: Payloads) -> Result<bool> {
        let promised = self.structure.preamble.flags.contains(MessageFlags::HASHES_PRESENT);
        let mut verified = true;
        for (index, object) in self.structure.objects.iter().enumerate() {
            let place = |finding: Finding| finding.at(object.frame.span()).on(object_path(index)).object(index as u64);
            if !promised {
                let text = "message carries no digests (flag HASHES_PRESENT is clear)";
                self.push(place(Finding::warning("no_hash_available", text)));
                verified = false;
            } else if !object.frame.has_hash() {
                let text = "the message declares digests, but this object has none (flag HASH_PRESENT is clear)";
                self.push(place(Finding::error("hash_verification_error", text)));
                verified = false;
            }
            match self.bytes.verify(&object.frame, Some(index)) {
                Ok(()) => {}
                Err(error) if error.is_io() => return Err(error),
                Err(error) => {
                    self.push(place(Finding::error("hash_mismatch", mismatch_text(&error))));
                    verified = false;
                }
            }
            if payloads == Payloads::Leave
                && promised
                && let Err(error) = descriptor_of(self.structure, object, self.options)
            {
                let text = format!("descriptor cannot be read: {error}");
                self.push(place(Finding::error("hash_verification_error", text)));
                verified = false;
            }
        }
        Ok(verified)
    }

    /// Metadata, index, hash and preceder frames have digests of their own.
    fn other_digests(&mut self) {
        for frame in &self.structure.others {
            if let Err(error) = verify_frame_hash(self.structure.message, frame, None) {
                let text = format!("{}: {}", frame.frame_type(), mismatch_text(&error));
                self.push(Finding::error("hash_mismatch", text).at(frame.span()));
            }
        }
    }

    /// The gathered digests, against those of the objects and against each other.
    fn hash_lists(&mut self) {
        let mut first: Option<(FrameRef, HashList)> = None;
        for frame in &self.structure.others {
            if frame.content() != Some(FrameContent::Hashes) {
                continue;
            }
            let body = frame.body();
            let bytes = self.structure.message.lookup(body).unwrap_or(&[]);
            let list = match HashList::from_cbor(bytes, body.start, &self.options.limits) {
                Ok(list) => list,
                Err(error) => {
                    self.push(from_error(FrameContent::Hashes.unreadable_code(), &error, INTEGRITY).at(frame.span()));
                    continue;
                }
            };
            if list.algorithm != "xxh3" {
                let text = format!("hash list was made with {:?}, only \"xxh3\" is supported", list.algorithm);
                self.push(Finding::warning("unknown_hash_algorithm", text).at(frame.span()));
            } else {
                self.compare_list(&list);
            }
            match &first {
                Some((other, earlier)) if earlier.hashes != list.hashes => {
                    let text = format!("hash lists at bytes {} and {} differ", other.start(), frame.start());
                    self.push(Finding::error("hash_mismatch", text).at(frame.span()));
                }
                Some(_) => {}
                None => first = Some((*frame, list)),
            }
        }
    }

    fn compare_list(&mut self, list: &HashList) {
        for (index, (object, entry)) in self.structure.objects.iter().zip(&list.hashes).enumerate() {
            let slot = self.structure.message.lookup(object.frame.hash_slot());
            let Some(Ok(slot)) = slot.map(<[u8; 8]>::try_from) else { continue };
            let stored = digest_text(u64::from_be_bytes(slot));
            if object.frame.has_hash() && *entry != stored {
                let text = format!("the hash list has {entry}, the object's own slot has {stored}");
                let finding = Finding::error("hash_mismatch", text).at(object.frame.span());
                self.push(finding.on(object_path(index)).object(index as u64));
            }
        }
    }

    fn payloads(&mut self) -> Result<()> {
        let limits = self.options.limits;
        let decode = DecodeOptions { limits, ..DecodeOptions::default() };
        for (index, object) in self.structure.objects.iter().enumerate() {
            // What needs no codec is not fetched.
            match descriptor_of(self.structure, object, self.options) {
                Ok(descriptor) if !descriptor.is_raw() => {}
                _ => continue,
            }
            let found = self.bytes.with(&object.frame, |have| {
                let Ok(Step::Done(head)) = ObjectHead::read(have, object.frame, index, &limits) else { return None };
                if let Err(error) = pipeline::pipeline_of(&head.descriptor) {
                    return Some(Finding::error("pipeline_config_failed", error.to_string()));
                }
                let error = pipeline::decode_to_vec(&AtHand::new(&head, have), &decode).err()?;
                Some(match error.code() {
                    // What this build cannot decode may well be right.
                    code @ "codec_not_built" => Finding::warning(code, error.to_string()),
                    _ => Finding::error("decode_pipeline_failed", error.to_string()),
                })
            })?;
            let place = |finding: Finding| finding.at(object.frame.span()).on(object_path(index)).object(index as u64);
            found.into_iter().for_each(|finding| self.push(place(finding)));
        }
        Ok(())
    }
}

fn mismatch_text(error: &TensogramError) -> String {
    match error {
        TensogramError::HashMismatch { expected, actual, .. } => format!("stored {expected}, computed {actual}"),
        other => other.to_string(),
    }
}
