//! Compilers and tools of other languages, for the tests of generated code.

use anyhow::Result;

use crate::context::Context;
use crate::debian;
use crate::outcome::Outcome;

/// What each Debian package is for. `gcc`, `g++`, Python and Node are taken for granted.
const DEBIAN: &[(&str, &[&str])] = &[
    ("generated C# is compiled and run", &["mono-mcs", "mono-runtime", "libmono-system-core4.0-cil"]),
    ("generated C runs on a big-endian machine", &["gcc-s390x-linux-gnu", "libc6-dev-s390x-cross", "qemu-user"]),
    ("generated C is measured on a Cortex-M4", &["gcc-arm-none-eabi", "libnewlib-arm-none-eabi", "qemu-system-arm"]),
    ("generated C++ is measured on a Cortex-M4", &["libstdc++-arm-none-eabi-newlib"]),
    ("the dissector runs in tshark", &["tshark"]),
];

/// Installs what is missing where that is allowed, and names the rest.
pub(crate) fn ensure(_: &mut Context) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for (purpose, packages) in DEBIAN {
        match debian::ensure(packages) {
            Ok(()) => outcome.add(Outcome::from_success(true)),
            Err(reason) => outcome.skipped.push(format!("{purpose}: {reason}")),
        }
    }
    Ok(outcome)
}
