//! Numbers of which a part is not known: `share * symbol + rest`. Enough to say that a delay of unknown length has so much
//! of itself added to it.

use std::sync::Arc;

use crate::source::Span;

/// Something whose value is not known, and is the same wherever it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    /// Where it is declared, else where it stands.
    pub at: Span,
    /// The path to it from there: `config.retry.base`.
    pub path: Arc<str>,
}

/// `share * symbol + rest`; of a length of time in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Linear {
    /// What is not known; none if all is.
    pub symbol: Option<Symbol>,
    /// How much of it.
    pub share: f64,
    /// What is known.
    pub rest: f64,
}

impl Linear {
    /// A known number.
    pub fn number(rest: f64) -> Self {
        Linear { symbol: None, share: 0.0, rest }
    }

    /// What is not known, as it is.
    pub fn symbol(symbol: Symbol) -> Self {
        Linear { symbol: Some(symbol), share: 1.0, rest: 0.0 }
    }

    /// The number, if all of it is known.
    pub fn known(&self) -> Option<f64> {
        (self.symbol.is_none() || self.share == 0.0).then_some(self.rest)
    }

    /// So many times as much.
    pub fn scaled(&self, by: f64) -> Self {
        Linear { symbol: self.symbol.clone(), share: self.share * by, rest: self.rest * by }
    }

    /// The sum. None if two unknowns would stand in it.
    pub fn plus(&self, other: &Linear) -> Option<Self> {
        let symbol = match (&self.symbol, &other.symbol) {
            (Some(one), Some(two)) if one != two => return None,
            (Some(one), _) | (None, Some(one)) => Some(one.clone()),
            (None, None) => None,
        };
        Some(Linear { symbol, share: self.share + other.share, rest: self.rest + other.rest })
    }

    /// The product. None if two unknowns would be multiplied.
    pub fn times(&self, other: &Linear) -> Option<Self> {
        match (self.known(), other.known()) {
            (_, Some(by)) => Some(self.scaled(by)),
            (Some(by), None) => Some(other.scaled(by)),
            (None, None) => None,
        }
    }

    /// Whether it is zero or more, taking what is not known to be above zero. None if that cannot be told.
    pub fn is_positive(&self) -> Option<bool> {
        let (share, rest) = (if self.symbol.is_some() { self.share } else { 0.0 }, self.rest);
        if share >= 0.0 && rest >= 0.0 {
            Some(true)
        } else if share <= 0.0 && rest <= 0.0 {
            Some(false)
        } else {
            None
        }
    }

    /// Whether it is at most as great as another. None if that cannot be told.
    pub fn is_at_most(&self, other: &Linear) -> Option<bool> {
        other.plus(&self.scaled(-1.0))?.is_positive()
    }

    /// How many times `other` it is. None if it is not a multiple of it.
    pub fn ratio(&self, other: &Linear) -> Option<f64> {
        if let (Some(one), Some(two)) = (self.known(), other.known()) {
            return (two != 0.0).then(|| one / two);
        }
        // Whatever the unknown is, it must come out the same.
        if self.symbol.is_some() && other.symbol.is_some() && self.symbol != other.symbol || other.share == 0.0 {
            return None;
        }
        let ratio = self.share / other.share;
        let is_multiple = (self.rest - ratio * other.rest).abs() <= 1e-9 * self.rest.abs().max(1.0);
        is_multiple.then_some(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn unknown(path: &str) -> Linear {
        Linear::symbol(Symbol { at: Span { file: FileId(0), start: 0, end: 1 }, path: path.into() })
    }

    #[test]
    fn one_unknown_is_carried_along_and_two_are_not() {
        let base = unknown("base");
        let half_more = base.plus(&base.scaled(0.5)).unwrap();
        assert_eq!(half_more.ratio(&base), Some(1.5));
        assert_eq!(base.is_at_most(&half_more), Some(true));
        assert_eq!(half_more.is_at_most(&base), Some(false));
        // 100 more than unknown: not a multiple of it, and what is left after it is taken off is known.
        let shifted = base.plus(&Linear::number(100.0)).unwrap();
        assert_eq!(shifted.ratio(&base), None);
        assert_eq!(shifted.plus(&base.scaled(-1.0)).unwrap().known(), Some(100.0));
        assert_eq!(base.plus(&unknown("cap")), None);
        assert_eq!(base.times(&unknown("cap")), None);
        assert_eq!(base.is_at_most(&Linear::number(100.0)), None);
    }
}
