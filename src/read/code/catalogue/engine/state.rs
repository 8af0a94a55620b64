//! What is known of a policy while its construct is read: what was set so far, by target.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::format::{Layer, Target};
use super::spot::Spot;
use crate::facts::{Classes, Confidence, Jitter, Methods, Nanos, Sourced, Why};
use crate::source::Span;

/// A value that came of an entry and of what stands in code.
#[derive(Clone, Debug)]
pub(super) enum Got {
    /// Something decides it that is not known.
    Unknown(Why),
    /// Known to be absent.
    None,
    /// A word of a target, or a text.
    Word(Arc<str>),
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A switch.
    Bool(bool),
    /// A length of time.
    Time(Nanos),
    /// The floor of a budget, per second and instance.
    PerSecond(f64),
    /// The floor of a budget, in flight per instance.
    InFlight(u64),
    /// A jitter.
    Jitter(Jitter),
    /// Failure classes, and those of them that the user wrote out.
    Classes(Classes, Classes),
    /// Methods.
    Methods(Methods),
    /// Parts by name: of a budget, breaker or hedge.
    Fields(Vec<(Arc<str>, Said)>),
    /// Values in a row.
    List(Vec<Said>),
    /// Code.
    Code(Spot),
}

/// A value and who says so.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) got: Got,
    /// Where it is written; empty for a default.
    pub(super) spans: Vec<Span>,
    /// The library whose default it is.
    pub(super) by: &'static str,
    /// What would set it.
    pub(super) reference: &'static str,
    /// The method, field or argument that set it, where one did.
    pub(super) key: Option<Arc<str>>,
}

/// A setting that does nothing.
#[derive(Clone, Debug)]
pub(super) struct Inert {
    pub(super) at: Span,
    /// The method or construct.
    pub(super) key: Arc<str>,
    pub(super) why: Arc<str>,
    /// What to write instead, where that is more than the reason turned round.
    pub(super) help: Option<String>,
}

impl Inert {
    pub(super) fn new(at: Span, key: &Arc<str>, why: &str) -> Self {
        Inert { at, key: Arc::clone(key), why: why.into(), help: None }
    }
}

/// One layer of a stack.
#[derive(Clone, Debug)]
pub(super) struct Laid {
    pub(super) kind: Layer,
    pub(super) state: State,
    /// The code that laid it.
    pub(super) at: Span,
}

/// Everything that was set so far.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) set: BTreeMap<Target, Said>,
    /// In the order in which they were added.
    pub(super) layers: Vec<Laid>,
    /// Whether the last layer that was added is the outermost.
    pub(super) is_last_outermost: bool,
    /// Advice by rule.
    pub(super) help: Vec<(Arc<str>, Arc<str>)>,
    /// Settings that do nothing.
    pub(super) inert: Vec<Inert>,
    /// The constructs that it was read from.
    pub(super) uses: Vec<Span>,
    /// What stands in for a policy, and is none of a library's: an object of the project's own.
    pub(super) objects: Vec<Span>,
    /// The policy that was given to it, with all that was done to it there.
    pub(super) given: Option<Spot>,
    /// The least confidence of what it rests on.
    pub(super) confidence: Option<Confidence>,
    /// Whether the library can spread delays at all.
    pub(super) has_jitter_switch: bool,
}

impl State {
    /// What was set for a target.
    pub(super) fn get(&self, target: Target) -> Option<&Said> {
        self.set.get(&target)
    }

    /// Whether it says how often something is tried.
    pub(super) fn retries(&self) -> bool {
        self.set.contains_key(&Target::Attempts) || self.set.contains_key(&Target::Retries)
    }

    /// Sets a target. `attempts` and `retries` are one thing, said in two ways; delays one by one are no series.
    pub(super) fn put(&mut self, target: Target, said: Said) {
        match target {
            Target::Attempts => _ = self.set.remove(&Target::Retries),
            Target::Retries => _ = self.set.remove(&Target::Attempts),
            Target::Backoff => _ = self.set.remove(&Target::Schedule),
            Target::Schedule => _ = self.set.remove(&Target::Backoff),
            _ => {}
        }
        self.set.insert(target, said);
    }

    /// Takes over everything that another one says; what both say is said by the other.
    pub(super) fn merge(&mut self, other: State) {
        for (target, said) in other.set {
            self.put(target, said);
        }
        self.layers.extend(other.layers);
        // The other one was said nearer to the values: its advice comes first.
        let mut help = other.help;
        help.append(&mut self.help);
        self.help = help;
        self.inert.extend(other.inert);
        self.uses.extend(other.uses);
        self.objects.extend(other.objects);
        self.given = other.given.or_else(|| self.given.take());
        self.doubt(other.confidence);
        self.has_jitter_switch |= other.has_jitter_switch;
    }

    /// It rests on something that is not sure.
    pub(super) fn doubt(&mut self, confidence: Option<Confidence>) {
        self.confidence = match (self.confidence, confidence) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// These targets are decided by something that is not known.
    pub(super) fn blur(&mut self, targets: impl IntoIterator<Item = Target>, why: &Why, span: Span) {
        for target in targets {
            self.put(target, Said::unknown(why.clone(), vec![span]));
        }
    }
}

impl Said {
    /// Something that is not known, and where that is decided.
    pub(super) fn unknown(why: Why, spans: Vec<Span>) -> Said {
        Said { got: Got::Unknown(why), spans, by: "", reference: "", key: None }
    }

    /// A value that stands in code.
    pub(super) fn written(got: Got, spans: Vec<Span>) -> Said {
        Said { got, spans, by: "", reference: "", key: None }
    }

    /// Why it is not known, if it is not.
    pub(super) fn why(&self) -> Option<&Why> {
        match &self.got {
            Got::Unknown(why) => Some(why),
            _ => None,
        }
    }

    /// As a fact: `read` says what the value means; none where it means nothing.
    pub(super) fn sourced<T>(&self, read: impl FnOnce(&Got) -> Result<T, Why>) -> Sourced<T> {
        use crate::facts::{Origin, Value};
        let value = match &self.got {
            Got::Unknown(why) => Value::Unknown(Box::new(why.clone())),
            got => match read(got) {
                Ok(value) => Value::Known(value),
                Err(why) => Value::Unknown(Box::new(why)),
            },
        };
        let origin = match self.spans.as_slice() {
            [] => Origin::Default { by: self.by, reference: self.reference },
            [one] => Origin::Written(*one),
            several => Origin::Derived(several.to_vec()),
        };
        Sourced { value, origin }
    }
}
