//! More ways than are gone side by side. Ways on which the same was tried and waited for are taken for one, of whose variables is
//! known what they have in common: five options that a request may be made with are thirty-two ways to the same call.

use super::value::Val;
use super::{Flow, Machine, Out, State};

/// Ways that are gone side by side at most; what comes beyond is left out.
pub(super) const WAYS: usize = 48;

/// A way, or how it goes on.
pub(super) trait Way {
    /// Takes in another way, if nothing that a loop is known by is lost by that.
    fn take_in(&mut self, other: &Self) -> bool;
}

impl Way for State {
    fn take_in(&mut self, other: &State) -> bool {
        self.widen(other)
    }
}

impl Way for (State, Val) {
    fn take_in(&mut self, other: &Self) -> bool {
        may_be_one(&self.1, &other.1) && self.0.take_in(&other.0) && {
            self.1 = joined(&self.1, &other.1);
            true
        }
    }
}

impl Way for (State, Vec<Val>) {
    fn take_in(&mut self, other: &Self) -> bool {
        let may_be_one = self.1.iter().zip(&other.1).all(|(one, other)| may_be_one(one, other));
        may_be_one && self.0.take_in(&other.0) && {
            self.1.iter_mut().zip(&other.1).for_each(|(one, other)| *one = joined(one, other));
            true
        }
    }
}

impl Way for Out {
    fn take_in(&mut self, other: &Out) -> bool {
        let flow = match (&self.flow, &other.flow) {
            (Flow::Value(one), Flow::Value(another)) if may_be_one(one, another) => Flow::Value(joined(one, another)),
            (Flow::Leave(how, label, one), Flow::Leave(same, target, another))
                if how == same && label == target && may_be_one(one, another) =>
            {
                Flow::Leave(*how, label.clone(), joined(one, another))
            }
            _ => return false,
        };
        let is_one = self.state.take_in(&other.state);
        if is_one {
            self.flow = flow;
        }
        is_one
    }
}

/// Whether two values are alike, or of neither more is known than where it comes from.
fn may_be_one(one: &Val, other: &Val) -> bool {
    match (one, other) {
        (Val::Good(one), Val::Good(other)) | (Val::Bad(one), Val::Bad(other)) => may_be_one(one, other),
        (Val::Unknown(_) | Val::Try(_), Val::Unknown(_) | Val::Try(_)) => true,
        _ => one == other,
    }
}

/// What is known of a value that is one of two.
pub(super) fn joined(one: &Val, other: &Val) -> Val {
    match (one, other) {
        _ if one == other => one.clone(),
        (Val::Good(one), Val::Good(other)) => Val::Good(joined(one, other).into()),
        (Val::Bad(one), Val::Bad(other)) => Val::Bad(joined(one, other).into()),
        _ => Val::Unknown(one.origin().and(&other.origin())),
    }
}

impl Machine<'_> {
    /// As many ways as are gone side by side; that some are left out is noted.
    pub(super) fn limited<T: Way>(&self, ways: Vec<T>) -> Vec<T> {
        if ways.len() <= WAYS {
            return ways;
        }
        let mut few: Vec<T> = Vec::with_capacity(WAYS);
        for way in ways {
            if few.iter_mut().any(|known| known.take_in(&way)) {
                continue;
            }
            if few.len() == WAYS {
                self.is_cut.set(true);
                break;
            }
            few.push(way);
        }
        few
    }
}
