//! Loops over one block that compile to vector instructions: a fixed number of independent accumulators, reduced in a
//! fixed order, so that results do not depend on the vector width of the machine.

/// Few enough that three sums stay in registers, many enough to hide the latency of an addition.
const LANES: usize = 8;

/// Types that widen to a double exactly.
pub(crate) trait Wide: Copy + PartialOrd {
    fn wide(self) -> f64;
}

macro_rules! wide {
    ($($type:ty)*) => { $(impl Wide for $type {
        #[inline(always)]
        fn wide(self) -> f64 { f64::from(self) }
    })* };
}
wide!(f32 f64 i8 i16 i32 u8 u16 u32);

/// Sum of `map(value)`.
#[inline(always)]
pub(crate) fn sum<T: Copy>(values: &[T], map: impl Fn(T) -> f64) -> f64 {
    let [sum] = sums(values, |value| [map(value)]);
    sum
}

/// Sums of the `N` numbers `map(value)`, in one pass.
#[inline(always)]
pub(crate) fn sums<T: Copy, const N: usize>(values: &[T], map: impl Fn(T) -> [f64; N]) -> [f64; N] {
    let (groups, tail) = values.as_chunks::<LANES>();
    let mut lanes = [[0.0; LANES]; N];
    for group in groups {
        for lane in 0..LANES {
            for (sum, term) in lanes.iter_mut().zip(map(group[lane])) {
                sum[lane] += term;
            }
        }
    }
    for (lane, value) in tail.iter().enumerate() {
        for (sum, term) in lanes.iter_mut().zip(map(*value)) {
            sum[lane] += term;
        }
    }
    lanes.map(reduce)
}

/// Sums of the `N` numbers `map(a, b)` over pairs, in one pass.
#[inline(always)]
pub(crate) fn sum_pairs<T: Copy, const N: usize>(a: &[T], b: &[T], map: impl Fn(T, T) -> [f64; N]) -> [f64; N] {
    let (groups_a, tail_a) = a.as_chunks::<LANES>();
    let (groups_b, tail_b) = b.as_chunks::<LANES>();
    let mut lanes = [[0.0; LANES]; N];
    for (group_a, group_b) in groups_a.iter().zip(groups_b) {
        for lane in 0..LANES {
            let terms = map(group_a[lane], group_b[lane]);
            for (sum, term) in lanes.iter_mut().zip(terms) {
                sum[lane] += term;
            }
        }
    }
    for (lane, (a, b)) in tail_a.iter().zip(tail_b).enumerate() {
        for (sum, term) in lanes.iter_mut().zip(map(*a, *b)) {
            sum[lane] += term;
        }
    }
    lanes.map(reduce)
}

/// The greatest `map(a, b)` over pairs, at least 0. NaN is passed over.
#[inline(always)]
pub(crate) fn max_pairs<T: Copy>(a: &[T], b: &[T], map: impl Fn(T, T) -> f64) -> f64 {
    let (groups_a, tail_a) = a.as_chunks::<LANES>();
    let (groups_b, tail_b) = b.as_chunks::<LANES>();
    let mut lanes = [0.0f64; LANES];
    let raise = |lane: &mut f64, value: f64| *lane = if value > *lane { value } else { *lane };
    for (group_a, group_b) in groups_a.iter().zip(groups_b) {
        for (lane, (a, b)) in lanes.iter_mut().zip(group_a.iter().zip(group_b)) {
            raise(lane, map(*a, *b));
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(tail_a.iter().zip(tail_b)) {
        raise(lane, map(*a, *b));
    }
    lanes.into_iter().fold(0.0, f64::max)
}

/// The least and the greatest value. NaN must not be among them.
#[inline(always)]
pub(crate) fn min_max<T: Copy + PartialOrd>(values: &[T]) -> Option<(T, T)> {
    let first = *values.first()?;
    let (groups, tail) = values.as_chunks::<LANES>();
    let (mut low, mut high) = ([first; LANES], [first; LANES]);
    for group in groups {
        for ((low, high), value) in low.iter_mut().zip(&mut high).zip(group) {
            *low = if *value < *low { *value } else { *low };
            *high = if *value > *high { *value } else { *high };
        }
    }
    let (mut least, mut greatest) = (first, first);
    for value in low.iter().chain(&high).chain(tail) {
        least = if *value < least { *value } else { least };
        greatest = if *value > greatest { *value } else { greatest };
    }
    Some((least, greatest))
}

/// How many values satisfy `test`.
#[inline(always)]
pub(crate) fn count<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> u64 {
    values.iter().map(|value| u32::from(test(*value))).sum::<u32>().into()
}

/// How many pairs satisfy `test`.
#[inline(always)]
pub(crate) fn count_pairs<T: Copy>(a: &[T], b: &[T], test: impl Fn(T, T) -> bool) -> u64 {
    a.iter().zip(b).map(|(a, b)| u32::from(test(*a, *b))).sum::<u32>().into()
}

#[inline(always)]
fn reduce(lanes: [f64; LANES]) -> f64 {
    let mut lanes = lanes;
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}
