//! Tensors under other names.

use super::draft::{Command, DigestsKept, Draft, Finished, WeightsOptions};
use super::rule::RenameRule;
use crate::error::Result;
use crate::target::{Input, Target};
use fw_convert::Loss;
use serde::Serialize;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RenameReport {
    /// Tensors in the output.
    pub tensors: usize,
    /// Those that have another name, in the order of the input.
    pub renamed: Vec<Renamed>,
    /// Rules that no tensor has a name for.
    pub unused_rules: Vec<String>,
    /// Bytes of the output.
    pub bytes: u64,
    /// What became of digests.
    pub digests: DigestsKept,
    /// What the format could not keep.
    pub losses: Vec<Loss>,
}

/// A tensor and its new name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Renamed {
    /// Its name in the input.
    pub from: String,
    /// Its name in the output.
    pub to: String,
}

/// Gives tensors new names: each by the first rule whose pattern its name matches. Data stays as it is, and what the metadata keeps about a
/// tensor goes with it.
///
/// ```
/// use fw_bintensors::{Dtype, TensorView, serialize_to_file};
/// use fw_edit::{Input, RenameRule, Target, WeightsOptions, rename};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.bt");
/// serialize_to_file([("h.0.gamma", TensorView::new(Dtype::F32, [1], &[0; 4])?)], &None, &path)?;
/// let input = Input { path: &path, format: fw_convert::Format::BinTensors, name: "model.bt" };
/// let rules = [RenameRule::new("h.*.gamma", "h.*.weight")?];
/// let done = rename(&input, Target::InPlace, &rules, &WeightsOptions::default())?;
/// assert_eq!(done.renamed[0].to, "h.0.weight");
/// assert_eq!(fw_convert::open(&path)?.entries()[0].name, "h.0.weight");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `not_weights` for other formats than BinTensors and safetensors, `name_collision` when two tensors would have one name,
/// `checksum_mismatch` when data differs from its digest; files that cannot be read, outputs that may not be written.
pub fn rename(
    input: &Input<'_>,
    target: Target<'_>,
    rules: &[RenameRule],
    options: &WeightsOptions,
) -> Result<RenameReport> {
    let command = Command { name: "rename", tensogram: "use fw set -w name=OLD -s name=NEW" };
    let mut draft = Draft::open(input, &target, command, options)?;
    let mut used = vec![false; rules.len()];
    let mut renamed = Vec::new();
    let names: Vec<String> = draft.entries().iter().map(|entry| entry.name.clone()).collect();
    for (index, from) in names.into_iter().enumerate() {
        let new = rules.iter().zip(&mut used).find_map(|(rule, used)| {
            let new = rule.apply(&from)?;
            *used = true;
            Some(new)
        });
        if let Some(to) = new.filter(|to| *to != from) {
            draft.rename(index, to.clone());
            renamed.push(Renamed { from, to });
        }
    }
    let unused_rules = rules.iter().zip(&used).filter(|(_, used)| !**used).map(|(rule, _)| rule.to_string()).collect();
    let Finished { tensors, bytes, digests, losses, .. } = draft.finish(target, options)?;
    Ok(RenameReport { tensors, renamed, unused_rules, bytes, digests, losses })
}
