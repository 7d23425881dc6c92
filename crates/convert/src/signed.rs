//! Checkpoints that are signed, and verified.

use crate::convert::write_tensors;
use crate::digests::{check_manifest, manifest, stored_digests};
use crate::formats::detect;
use crate::model::TensorFile;
use crate::shards::sign_index;
use crate::sign::{PublicKey, SigningKey};
use crate::{ConvertError, ConvertOptions, Converted, DigestsDone, Existing, Format, Progress, Transport};
use fw_bintensors::{HeaderAlignment, Manifest, ReadOptions};
use std::path::Path;

/// Signs a BinTensors or safetensors file, or an index of shards: digests of all tensors, the digest of their manifest and its
/// signature become part of the metadata. The digests that the file keeps are compared with its data first.
///
/// The output may be the input, which is then replaced when the new file is complete. Of a checkpoint in several files only the
/// index is written.
///
/// # Errors
/// `not_signable` for other formats, `checksum_mismatch`, `manifest_mismatch`, `output_exists`; when reading or writing fails.
pub fn sign(
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    key: &SigningKey,
    options: &ConvertOptions,
) -> Result<Converted, ConvertError> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let format = detect(input)?;
    let in_input = |error: ConvertError| error.in_file(input);
    if format == Format::ShardIndex {
        let file = format.open(input, &ReadOptions::default()).map_err(in_input)?;
        let tell = |progress: Progress<'_>| {
            if let Some(told) = &options.progress {
                told(progress);
            }
        };
        let found = manifest(&*file, &tell).map_err(in_input)?;
        sign_index(input, output, (&found, &key.sign(&found.digest())), options.existing).map_err(in_input)?;
        let sizes = file.entries().iter().map(|entry| entry.byte_len().unwrap_or(0));
        return Ok(Converted {
            files: vec![output.to_owned()],
            removed: Vec::new(),
            tensors: file.entries().len(),
            bytes: sizes.fold(0, u64::saturating_add),
            losses: Vec::new(),
            notes: Vec::new(),
            transport: Transport::Copied,
            digests: DigestsDone::of(stored_digests(&*file).count(), &found),
        });
    }
    if !format.keeps_digests() {
        let kept = Format::listed(Format::keeps_digests, "or");
        let message = format!("{format} files cannot be signed, only {kept}");
        return Err(ConvertError::unsupported("not_signable", message).in_file(input));
    }
    let file = format.open(input, &ReadOptions::default()).map_err(in_input)?;
    check_manifest(&*file).map_err(in_input)?;
    let mut options = options.clone();
    if options.align == HeaderAlignment::default() {
        options.align = file.alignment();
    }
    (options.format, options.sign_with) = (Some(format), Some(key.clone()));
    if fw_source::same_file(input, output) {
        options.existing = Existing::Replace;
    }
    write_tensors(&*file, input, output, &options)
}

/// The manifest of a file from its data, once a signature by `key` was found to be one of it. The digests that the file keeps are
/// compared on the way.
///
/// # Errors
/// `missing_signature`, `signature_mismatch`, `invalid_signature`, `checksum_mismatch`, `manifest_mismatch`; when the file fails or
/// is wrong.
pub fn verify_signature(
    file: &dyn TensorFile,
    key: &PublicKey,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Manifest, ConvertError> {
    let stored = stored_digests(file);
    let missing = || ConvertError::format("missing_signature", "the file has no signature", None);
    let signature = stored.signature().ok_or_else(missing)?;
    // Before everything is read: a signature of another manifest than the one that is kept will not fit in the end either.
    if let Some(kept) = stored.manifest() {
        key.verify(kept, signature)?;
    }
    let found = manifest(file, progress)?;
    key.verify(&found.digest(), signature)?;
    Ok(found)
}
