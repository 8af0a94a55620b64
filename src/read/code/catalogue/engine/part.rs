//! Parts of a policy, and how operators join them: `stop_after_attempt(5) | stop_after_delay(30)`.

use super::super::format::{Combining, Is, Library, Says, Target};
use super::spot::Spot;
use super::state::{Got, Said, State};
use super::{Engine, MOST_DEPTH};
use crate::facts::{Nanos, Why};
use crate::read::code::tree::{Id, Kind, Op};

/// Parts in one expression.
const MOST_PARTS: usize = 64;

impl Engine<'_> {
    /// What the parts of one kind say together.
    pub(super) fn part(&self, kind: &str, place: &Spot, library: &Library, depth: u32) -> State {
        let mut left = MOST_PARTS;
        self.parts(kind, place, library, depth, &mut left)
    }

    fn parts(&self, kind: &str, place: &Spot, library: &Library, depth: u32, left: &mut usize) -> State {
        let place = self.definition(place);
        if depth > MOST_DEPTH || *left == 0 {
            return self.unknown_part(kind, &place, library, Why::Other("too many parts".into()));
        }
        *left -= 1;
        let mut all = |ids: &[Id], way: Option<Combining>| -> Option<State> {
            let states = ids.iter().map(|id| self.parts(kind, &place.at(*id), library, depth + 1, left));
            states.collect::<Vec<_>>().into_iter().reduce(|a, b| combined(way, a, b))
        };
        let together = match place.kind() {
            Kind::Operator { op, of } => {
                let way = sign(*op).and_then(|sign| {
                    library.combine.iter().find(|(of, operator, _)| **of == *kind && **operator == *sign)
                });
                way.and_then(|(_, _, way)| all(of, Some(*way)))
            }
            Kind::List(items) => all(items, None),
            _ => None,
        };
        if let Some(state) = together {
            return state;
        }
        let root = self.root(&place, depth + 1).filter(|root| {
            let shape = root.found.shape;
            root.found.library.name == library.name && shape.is == Is::Part && shape.part.as_deref() == Some(kind)
        });
        match root {
            Some(root) => self.state(&root, depth + 1),
            None => self.unknown_part(kind, &place, library, self.not_followed(&place)),
        }
    }

    /// Something that is no known part: whatever parts of its kind may set is unknown. Of layers it is another one.
    fn unknown_part(&self, kind: &str, place: &Spot, library: &Library, why: Why) -> State {
        let mut state = State::default();
        let shapes = library.shapes.iter().filter(|shape| shape.part.as_deref() == Some(kind));
        for shape in shapes {
            let says = shape.all_sayings().flat_map(|says| says.sets.iter().chain(&says.default));
            let is_layer = |says: &Says| says.0.iter().any(|clause| clause.push.is_some());
            let targets: Vec<Target> =
                says.filter(|says| !is_layer(says)).flat_map(Says::settings).map(|setting| setting.target).collect();
            state.blur(targets, &why, place.span());
        }
        state
    }
}

fn sign(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::BitOr => "|",
        Op::BitAnd => "&",
        Op::Add => "+",
        Op::Or => "||",
        Op::And => "&&",
        _ => return None,
    })
}

/// Two parts as one. Without an operator the second adds to the first, and wins where both say something.
fn combined(way: Option<Combining>, a: State, b: State) -> State {
    let mut both: Vec<(Target, Said)> = Vec::new();
    if let Some(way) = way {
        for (target, first) in &a.set {
            if let Some(second) = b.set.get(target) {
                both.push((*target, joined(way, *target, first, second)));
            }
        }
        // Both must have come, and each of them alone may come late or never: no limit of one is one of both.
        if way == Combining::Last {
            let limits = [Target::Attempts, Target::Retries, Target::Total];
            for (target, said) in a.set.iter().chain(&b.set).filter(|(target, _)| limits.contains(target)) {
                let why = Why::Other("ends only when several conditions hold".into());
                both.push((*target, Said { got: Got::Unknown(why), ..said.clone() }));
            }
        }
    }
    let mut state = a;
    state.merge(b);
    for (target, said) in both {
        state.put(target, said);
    }
    state
}

fn joined(way: Combining, target: Target, a: &Said, b: &Said) -> Said {
    let spans: Vec<_> = a.spans.iter().chain(&b.spans).copied().collect();
    let unknown = |why: Why| Said { got: Got::Unknown(why), spans: spans.clone(), ..b.clone() };
    if let Some(why) = a.why().or_else(|| b.why()) {
        return unknown(why.clone());
    }
    let pick = |first: bool| if first { a.clone() } else { b.clone() };
    match (way, &a.got, &b.got) {
        (Combining::First, Got::Int(x), Got::Int(y)) => pick(x <= y),
        (Combining::First, Got::Time(x), Got::Time(y)) => pick(x <= y),
        // What never ends leaves it to the other.
        (Combining::First, Got::Word(_) | Got::None, _) => pick(false),
        (Combining::First, _, Got::Word(_) | Got::None) => pick(true),
        (Combining::Sum, Got::Time(x), Got::Time(y)) if matches!(target, Target::Base | Target::Cap) => {
            Said { got: Got::Time(Nanos(x.0.saturating_add(y.0))), spans, ..b.clone() }
        }
        (Combining::Sum, Got::Word(x), Got::Word(y)) if x == y && &**x == "fixed" => pick(true),
        // Nothing added to something is that.
        (Combining::Sum, Got::None, _) => pick(false),
        (Combining::Sum, _, Got::None) => pick(true),
        (Combining::Sum, Got::Jitter(x), _) if x.is_none() => pick(false),
        (Combining::Sum, _, Got::Jitter(y)) if y.is_none() => pick(true),
        _ => unknown(Why::Other("parts are joined in a way that is not known".into())),
    }
}
