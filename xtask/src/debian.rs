//! Debian packages that some steps need (compilers of other languages, `tshark`).
//!
//! A missing one is installed only by a CI machine that runs as root; on anybody's own machine it is named and the step
//! is skipped, because nobody expects a test run to change their system.

use std::env;
use std::process::Command;
use std::sync::OnceLock;

use crate::process::quiet;

/// Makes sure that `packages` are installed. What stays missing comes back as one line for the skip list.
pub(crate) fn ensure(packages: &[&str]) -> Result<(), String> {
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if !may_install() {
        return Err(format!("needs Debian packages: apt-get install {names} (CI=true as root installs them itself)"));
    }
    update_once()?;
    println!("$ apt-get install {names}");
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "--no-install-recommends"]).args(&missing);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    quiet(&mut install).map(drop).map_err(|error| format!("apt-get install {names}: {error:#}"))
}

fn is_installed(package: &str) -> bool {
    let mut query = Command::new("dpkg-query");
    quiet(query.args(["-W", "-f=${Status}", package])).is_ok_and(|status| status.ends_with("ok installed"))
}

/// Only a CI machine, and only as root.
fn may_install() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true")
        && quiet(Command::new("id").arg("-u")).is_ok_and(|user| user == "0")
}

fn update_once() -> Result<(), String> {
    static UPDATED: OnceLock<Result<(), String>> = OnceLock::new();
    UPDATED
        .get_or_init(|| {
            println!("$ apt-get update");
            let mut update = Command::new("apt-get");
            quiet(update.arg("update")).map(drop).map_err(|error| format!("apt-get update: {error:#}"))
        })
        .clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_ask_for_is_ready() {
        assert_eq!(ensure(&[]), Ok(()));
    }

    #[test]
    fn a_package_that_cannot_exist_is_named() {
        if may_install() {
            return; // a CI machine would ask the network
        }
        let reason = ensure(&["no-such-package-framewright"]).unwrap_err();
        assert!(reason.contains("no-such-package-framewright"), "{reason}");
    }
}
