//! What becomes of digests in a conversion: those of the input are compared with its data before anything is written, those of the
//! output are settled before its header is.

use super::Door;
use crate::contract::{MetadataPlace, Planned, Target};
use crate::digests::{
    Described, Job, Pass, described, digest_algorithm, expect_manifest, is_digest_key, own_digests, stored_digests,
};
use crate::model::TensorFile;
use crate::{ConvertError, ConvertOptions, DigestsDone, Progress, StoredUse};
use fw_bintensors::{Algorithm, DIGEST_KEY_PREFIX, HASH_KEY_PREFIX, Manifest, ManifestEntry, StoredDigests};
use std::collections::BTreeMap;

impl Target {
    /// Compares the digests of the source with its data, and settles those of the output.
    ///
    /// # Errors
    /// `checksum_mismatch`, `manifest_mismatch`; `option_not_applicable` where new digests would hide that old ones do not match.
    pub(super) fn settle(
        &mut self,
        source: &dyn TensorFile,
        options: &ConvertOptions,
        in_shards: bool,
        door: Door,
    ) -> Result<DigestsDone, ConvertError> {
        let stored = stored_digests(source);
        let ignored = options.stored == StoredUse::Ignore;
        if ignored && (options.tensor_digests.is_some() || options.sign_with.is_some()) && stored.count() > 0 {
            let message =
                "new digests cannot be made of tensors whose digests are ignored: they would hide a difference";
            return Err(ConvertError::unsupported("option_not_applicable", message));
        }
        let keeps = self.writable.takes().digests && self.writable.metadata_place() == MetadataPlace::TextMap;
        if keeps && let Some(map) = &mut self.metadata {
            let had = map.len();
            map.retain(|key, _| !is_digest_key(key));
            if had > 0 && map.is_empty() {
                self.metadata = None;
            }
        }
        if !ignored && door == Door::Conversion {
            stored.check_manifest(described(source))?;
        }
        let own = digest_algorithm(&stored).unwrap_or(Algorithm::Sha256);
        let for_all = options.tensor_digests.or_else(|| {
            let is_needed = in_shards || options.expect.is_some() || options.sign_with.is_some();
            is_needed.then_some(own)
        });
        let (mut jobs, mut known) = (Vec::new(), vec![None; self.tensors.len()]);
        let mut done = DigestsDone::default();
        for (place, tensor) in self.tensors.iter().enumerate() {
            let subject = subject(source, tensor);
            let is_stored = stored.keeps(tensor.index);
            // What was compared need not be computed once more.
            let old = stored.of_tensor(tensor.index).filter(|_| !tensor.is_raw);
            if let Some(digest) = old
                && for_all.is_none_or(|algorithm| digest.starts_with(&format!("{algorithm}:")))
            {
                known[place] = Some(digest.to_ascii_lowercase());
            }
            let wanted = for_all.filter(|_| known[place].is_none()).map(|algorithm| (algorithm, subject));
            match is_stored {
                true if ignored => done.ignored = done.ignored.saturating_add(1),
                true => done.checked = done.checked.saturating_add(1),
                false => {}
            }
            if wanted.is_some() || is_stored && !ignored {
                done.bytes = done.bytes.saturating_add(tensor.len);
                jobs.push((place, Job { place: tensor.index, wanted }));
            }
        }
        let (places, jobs): (Vec<usize>, Vec<Job>) = jobs.into_iter().unzip();
        let total = self.tensors.iter().fold(done.bytes, |sum, tensor| sum.saturating_add(tensor.len));
        let tell = |progress: Progress<'_>| {
            if let Some(told) = &options.progress {
                told(Progress { bytes_total: total, ..progress });
            }
        };
        let made = Pass { file: source, stored: (!ignored).then_some(&stored) }.run(jobs, &tell)?;
        for (place, digest) in places.into_iter().zip(made) {
            if let (Some(slot), Some(digest)) = (known.get_mut(place), digest) {
                *slot = Some(digest);
            }
        }
        self.keep(source, &stored, known, options, keeps)?;
        done.manifest = self.seal.manifest.as_ref().filter(|_| self.seal.is_kept || in_shards).map(Manifest::digest);
        Ok(done)
    }

    /// Puts what is known about digests where the output keeps it.
    fn keep(
        &mut self,
        source: &dyn TensorFile,
        stored: &StoredDigests,
        known: Vec<Option<String>>,
        options: &ConvertOptions,
        keeps: bool,
    ) -> Result<(), ConvertError> {
        let asked = options.tensor_digests.is_some() || options.sign_with.is_some();
        // What only an index keeps stays with an index, unless it was signed.
        let own = own_digests(source);
        let is_carried =
            |tensor: &Planned| asked || stored.signature().is_some() || own.of_tensor(tensor.index).is_some();
        let mut entries: BTreeMap<String, String> = BTreeMap::new();
        for (tensor, digest) in self.tensors.iter().zip(&known) {
            if let Some(digest) = digest.as_ref().filter(|_| is_carried(tensor)) {
                entries.insert(format!("{DIGEST_KEY_PREFIX}{}", tensor.name), digest.clone());
            }
            if let Some(digest) = stored.of_data(tensor.index).filter(|_| !asked) {
                entries.insert(format!("{HASH_KEY_PREFIX}{}", tensor.name), digest.to_owned());
            }
        }
        if keeps && !entries.is_empty() {
            self.metadata.get_or_insert_default().extend(entries);
        }
        let entry = |(tensor, digest): (&Planned, Option<String>)| {
            let Described { name, dtype, shape } = subject(source, tensor);
            Some(ManifestEntry { name, dtype, shape, digest: digest? })
        };
        let all: Option<Vec<ManifestEntry>> = self.tensors.iter().zip(known).map(entry).collect();
        let manifest = all.map(Manifest::new).transpose()?;
        if let Some(expected) = &options.expect {
            expect_manifest(manifest.as_ref().unwrap_or(&Manifest::default()), expected)?;
        }
        let digest = manifest.as_ref().map(Manifest::digest);
        // A file whose tensors all have a digest keeps that of all together, too.
        let is_whole = !self.tensors.is_empty() && self.tensors.iter().all(is_carried);
        self.seal.is_kept = keeps && manifest.is_some() && is_whole;
        self.seal.signature = match (&options.sign_with, &digest) {
            (Some(key), Some(digest)) => Some(key.sign(digest)),
            // The same tensors: who signed them has signed these.
            (None, Some(digest)) if stored.manifest().is_some_and(|kept| kept.eq_ignore_ascii_case(digest)) => {
                stored.signature().map(str::to_owned)
            }
            _ => None,
        };
        self.seal.manifest = manifest;
        Ok(())
    }
}

/// The tensor as users of the output see it: a type that is carried as bytes is what it was, one whose bits are kept is not.
fn subject(source: &dyn TensorFile, tensor: &Planned) -> Described {
    match source.entries().get(tensor.index) {
        Some(entry) if !tensor.is_raw => Described { name: tensor.name.clone(), ..Described::of(entry) },
        _ => Described { name: tensor.name.clone(), dtype: tensor.dtype, shape: tensor.shape.clone() },
    }
}
