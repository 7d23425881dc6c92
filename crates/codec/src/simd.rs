//! Code compiled for the vector unit at hand.

use pulp::{Arch, NullaryFnOnce};

/// Runs `work`, compiled a second time for the wider vector unit where the machine has one. `work` must be
/// `#[inline(always)]` all the way down; its result must not depend on how it was compiled (Rust never fuses or
/// reorders floating-point operations by itself).
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(Work(work))
}

struct Work<F>(F);

impl<R, F: FnOnce() -> R> NullaryFnOnce for Work<F> {
    type Output = R;

    #[inline(always)]
    fn call(self) -> R {
        (self.0)()
    }
}
