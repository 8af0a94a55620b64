//! Products of tries with what budgets make of them (contracts.md D-5, D-13).
//!
//! A budget bounds a path only if every layer that multiplies on it has one, so the path with most tries need not be the
//! one that counts: 16 tries that budgets hold at 1.21 are harmless beside 12 that nothing holds. Whoever looks for the
//! greatest keeps both.

use super::amount::Amount;

/// One product of tries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Product {
    /// Tries; unknown layers count 1.
    pub tries: Amount,
    /// The same with budgets; infinite if something has neither a count nor a budget.
    pub bounded: f64,
    /// Whether every layer that multiplies has a budget.
    pub all_bounded: bool,
}

impl Product {
    /// Nothing multiplies.
    pub const ONE: Product = Product { tries: Amount::ONE, bounded: 1.0, all_bounded: true };

    /// What levels go by (D-13): the bounded number if every layer has a budget, else the tries.
    pub fn figure(&self) -> f64 {
        if self.all_bounded { self.bounded } else { self.tries.as_f64() }
    }

    /// The order by tries: of equals the greater figure.
    pub fn by_tries(&self) -> (Amount, Amount) {
        (self.tries, if self.all_bounded { Amount::from_f64(self.bounded) } else { self.tries })
    }

    /// The order by figure: of equals the more tries.
    pub fn by_figure(&self) -> (Amount, Amount) {
        let (tries, figure) = self.by_tries();
        (figure, tries)
    }

    /// The bounded number, if there is one.
    pub fn bounded(&self) -> Option<f64> {
        self.bounded.is_finite().then_some(self.bounded)
    }
}

impl std::ops::Mul for Product {
    type Output = Product;
    fn mul(self, other: Product) -> Product {
        Product {
            tries: self.tries * other.tries,
            bounded: self.bounded * other.bounded,
            all_bounded: self.all_bounded && other.all_bounded,
        }
    }
}

/// The greatest of many products, by each measure by which one of them may come out greatest further down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Greatest {
    /// The most tries.
    pub tries: Amount,
    /// The greatest bounded number.
    bounded: f64,
    /// The most tries of those in which a layer has no budget; zero if there is none.
    open: Amount,
    /// The greatest bounded number of those in which every layer has one, with its tries; zero if there is none.
    held: (f64, Amount),
}

impl Greatest {
    /// Of none.
    pub const NONE: Greatest =
        Greatest { tries: Amount::ZERO, bounded: 0.0, open: Amount::ZERO, held: (0.0, Amount::ZERO) };
    /// Of [`Product::ONE`].
    pub const ONE: Greatest =
        Greatest { tries: Amount::ONE, bounded: 1.0, open: Amount::ZERO, held: (1.0, Amount::ONE) };
    /// Of tries that go on for ever.
    pub const UNBOUNDED: Greatest = Greatest {
        tries: Amount::Unbounded,
        bounded: f64::INFINITY,
        open: Amount::Unbounded,
        held: (0.0, Amount::ZERO),
    };

    /// Each of them times another one.
    #[must_use]
    pub fn times(&self, product: &Product) -> Greatest {
        if self.tries == Amount::ZERO {
            return Greatest::NONE;
        }
        let tries = self.tries * product.tries;
        let bounded = self.bounded * product.bounded;
        match product.all_bounded {
            true => Greatest {
                tries,
                bounded,
                open: self.open * product.tries,
                held: (self.held.0 * product.bounded, self.held.1 * product.tries),
            },
            false => Greatest { tries, bounded, open: tries, held: (0.0, Amount::ZERO) },
        }
    }

    /// Takes others in. Returns whether any measure has grown.
    pub fn take(&mut self, other: &Greatest) -> bool {
        let before = *self;
        self.tries = self.tries.max(other.tries);
        self.bounded = self.bounded.max(other.bounded);
        self.open = self.open.max(other.open);
        if other.held > self.held {
            self.held = other.held;
        }
        *self != before
    }

    /// What levels go by (see [`Product::figure`]), and the tries of that product.
    pub fn figure(&self) -> (f64, Amount) {
        let open = self.open.as_f64();
        if self.held.0 > open { self.held } else { (open, self.open) }
    }

    /// The greatest bounded number, if all of them have one.
    pub fn bounded(&self) -> Option<f64> {
        self.bounded.is_finite().then_some(self.bounded)
    }

    /// Each measure by itself.
    pub fn measures(&self) -> [f64; 4] {
        [self.tries.as_f64(), self.bounded, self.open.as_f64(), self.held.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(tries: u128) -> Product {
        Product { tries: Amount::Exact(tries), bounded: tries as f64, all_bounded: false }
    }

    fn held(tries: u128, bounded: f64) -> Product {
        Product { tries: Amount::Exact(tries), bounded, all_bounded: true }
    }

    #[test]
    fn a_product_counts_by_its_budgets_only_if_every_layer_has_one() {
        assert_eq!((held(4, 1.1) * held(4, 1.1)).figure(), 1.1 * 1.1);
        let partly = held(4, 1.25) * open(3);
        assert_eq!((partly.tries, partly.bounded, partly.figure()), (Amount::Exact(12), 3.75, 12.0));
        assert_eq!((Product::ONE * held(4, 1.1)).figure(), 1.1);
    }

    /// 16 of which budgets leave 1.5625, beside 12 of which they leave all.
    #[test]
    fn of_many_the_greatest_by_each_measure_are_kept() {
        let mut most = Greatest::ONE.times(&held(4, 1.25)).times(&held(4, 1.25));
        assert_eq!((most.figure(), most.bounded()), ((1.5625, Amount::Exact(16)), Some(1.5625)));
        assert!(most.take(&Greatest::ONE.times(&open(12))));
        assert_eq!((most.tries, most.figure()), (Amount::Exact(16), (12.0, Amount::Exact(12))));
        assert_eq!(most.bounded(), Some(12.0));
        assert!(!most.take(&Greatest::ONE.times(&open(11))));
        // A layer without a budget behind them makes the 16 count again.
        assert_eq!(most.times(&open(2)).figure(), (32.0, Amount::Exact(32)));
        assert_eq!(most.times(&held(2, 1.0)).figure(), (24.0, Amount::Exact(24)));
    }

    #[test]
    fn of_none_nothing_comes() {
        let unknown = Product { tries: Amount::ONE, bounded: f64::INFINITY, all_bounded: false };
        assert_eq!(Greatest::NONE.times(&unknown), Greatest::NONE);
        assert_eq!(Greatest::ONE.times(&unknown).bounded(), None);
    }
}
