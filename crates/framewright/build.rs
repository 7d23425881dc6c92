//! Tells the crate which target and profile it is built for, and by which compiler: `framewright::doctor` reports them.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["TARGET", "PROFILE"] {
        let value = std::env::var(name).unwrap_or_else(|_| "unknown".to_owned());
        println!("cargo::rustc-env=FRAMEWRIGHT_{name}={value}");
    }
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output().ok().and_then(|done| {
        let text = String::from_utf8(done.stdout).ok()?;
        Some(text.split(' ').nth(1)?.to_owned())
    });
    println!("cargo::rustc-env=FRAMEWRIGHT_RUST={}", version.as_deref().unwrap_or("unknown"));
}
