//! Level 3: do digests match, and do encoded payloads decode?

use super::held::{Held, Payload, mismatch, stored_digest};
use super::metadata::descriptor_of;
use super::structure::{ObjectEntry, Structure};
use super::{INTEGRITY, ValidateOptions, from_error, object_path};
use crate::access::{ObjectHead, check_masks};
use crate::describe::{HashList, digest_text};
use crate::error::Result;
use crate::frame::FrameRef;
use crate::options::DecodeOptions;
use crate::pipeline;
use crate::wire::{FrameContent, MessageFlags};
use fw_report::{Finding, Report};

/// Whether payloads are decoded to prove that they can be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Payloads {
    Leave,
    /// Those that went through a codec.
    Decode,
    /// Every one.
    DecodeAll,
}

/// Returns whether every object's digest was compared and matched.
pub(super) fn check<L: Held + ?Sized>(
    structure: &Structure<'_, L>,
    options: &ValidateOptions,
    payloads: Payloads,
    report: &mut Report,
) -> bool {
    let mut checker = Checker { structure, options, report };
    let verified = checker.object_digests(payloads);
    checker.other_digests();
    checker.hash_lists();
    if payloads != Payloads::Leave {
        checker.payloads(payloads);
    }
    verified
}

struct Checker<'s, 'm, L: ?Sized> {
    structure: &'s Structure<'m, L>,
    options: &'s ValidateOptions,
    report: &'s mut Report,
}

impl<L: Held + ?Sized> Checker<'_, '_, L> {
    fn push(&mut self, finding: Finding) {
        self.report.push(finding.level(INTEGRITY));
    }

    fn object_digests(&mut self, payloads: Payloads) -> bool {
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
            if let Some(digests) = mismatch(self.structure.message, &object.frame) {
                self.push(place(Finding::error("hash_mismatch", mismatch_text(digests))));
                verified = false;
            }
            if payloads == Payloads::Leave
                && let Err(error) = descriptor_of(self.structure, object, self.options)
            {
                let text = format!("descriptor cannot be read: {error}");
                self.push(place(Finding::error("hash_verification_error", text)));
                verified = false;
            }
        }
        verified
    }

    /// Metadata, index, hash and preceder frames have digests of their own.
    fn other_digests(&mut self) {
        for frame in &self.structure.others {
            if let Some(digests) = mismatch(self.structure.message, frame) {
                let text = format!("{}: {}", frame.frame_type(), mismatch_text(digests));
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
            let list = match HashList::from_cbor(&self.structure.message.part(body), body.start, &self.options.limits) {
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
            let Some(stored) = stored_digest(self.structure.message, &object.frame) else { continue };
            let stored = digest_text(stored);
            if object.frame.has_hash() && *entry != stored {
                let text = format!("the hash list has {entry}, the object's own slot has {stored}");
                let finding = Finding::error("hash_mismatch", text).at(object.frame.span());
                self.push(finding.on(object_path(index)).object(index as u64));
            }
        }
    }

    fn payloads(&mut self, which: Payloads) {
        let decode = DecodeOptions { limits: self.options.limits, ..DecodeOptions::default() };
        for (index, object) in self.structure.objects.iter().enumerate() {
            let place = |finding: Finding| finding.at(object.frame.span()).on(object_path(index)).object(index as u64);
            // Level 2 has said why a descriptor cannot be read.
            let Ok(head) = head_of(self.structure, index, object, self.options) else { continue };
            if head.descriptor.is_raw() && which == Payloads::Decode {
                continue;
            }
            if let Err(error) = check_masks(&head.descriptor, &head.parts) {
                if which == Payloads::DecodeAll {
                    self.push(place(Finding::error("decode_pipeline_failed", error.to_string())));
                }
                continue;
            }
            if let Err(error) = pipeline::pipeline_of(&head.descriptor) {
                self.push(place(Finding::error("pipeline_config_failed", error.to_string())));
                continue;
            }
            if let Err(error) = pipeline::check_decodes(&Payload::of(self.structure.message, &head), &decode) {
                self.push(place(match error.code() {
                    // What this build cannot decode may well be right.
                    code @ "codec_not_built" => Finding::warning(code, error.to_string()),
                    _ => Finding::error("decode_pipeline_failed", error.to_string()),
                }));
            }
        }
    }
}

/// What an object is, as far as its descriptor can be read.
pub(super) fn head_of<L: Held + ?Sized>(
    structure: &Structure<'_, L>,
    index: usize,
    object: &ObjectEntry,
    options: &ValidateOptions,
) -> Result<ObjectHead> {
    let descriptor = descriptor_of(structure, object, options)?;
    Ok(ObjectHead { index, frame: object.frame, parts: object.parts, descriptor })
}

fn mismatch_text((stored, computed): (u64, u64)) -> String {
    format!("stored {}, computed {}", digest_text(stored), digest_text(computed))
}
