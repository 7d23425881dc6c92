//! What is summed over pairs of finite values.

use crate::tree::Merge;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) count: u64,
    /// Of second minus first.
    pub(super) difference: f64,
    /// Of its squares.
    pub(super) squares: f64,
    /// Of the squares of the first values.
    pub(super) first: f64,
    /// Of the squares of the second values.
    pub(super) second: f64,
    /// Of the products of both.
    pub(super) product: f64,
}

impl Sums {
    /// Adds one pair.
    pub(super) fn add(&mut self, first: f64, second: f64, difference: f64) {
        self.count += 1;
        self.difference += difference;
        self.squares += difference * difference;
        self.first += first * first;
        self.second += second * second;
        self.product += first * second;
    }
}

impl Merge for Sums {
    fn merge(self, next: Self) -> Self {
        Self {
            count: self.count + next.count,
            difference: self.difference + next.difference,
            squares: self.squares + next.squares,
            first: self.first + next.first,
            second: self.second + next.second,
            product: self.product + next.product,
        }
    }
}
