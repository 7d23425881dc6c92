//! Code compiled for the vector unit at hand.

use pulp::{Arch, NullaryFnOnce};

/// Runs `work`, compiled a second time for the wider vector unit where the machine has one. `work` must be
/// `#[inline(always)]` all the way down; its result must not depend on how it was compiled (Rust never fuses or
/// reorders floating-point operations by itself).
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnMut() -> R) -> R {
    Arch::new().dispatch(Work(work))
}

/// The name of the vector code that runs on this machine: `x86-64-v3` where the processor has it, else `baseline`, which every
/// processor of the target runs.
pub fn vector_code() -> &'static str {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if pulp::x86::V3::try_new().is_some() {
        return "x86-64-v3";
    }
    "baseline"
}

/// `FnMut`, because a closure called through `FnOnce` may come with a function around it, which nothing forces inline: the
/// work then stays outside of the code for the wider unit, many times slower.
struct Work<F>(F);

impl<R, F: FnMut() -> R> NullaryFnOnce for Work<F> {
    type Output = R;

    #[inline(always)]
    fn call(mut self) -> R {
        (self.0)()
    }
}
