//! [`Sourced`]: a value together with where it comes from, and whether it is known at all (contracts.md D-11).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize};

use crate::source::Span;

/// A value that is either known, or set by something that was not understood.
///
/// "No limit" is a *known* value (`Limit::None`); absence is not unknown, and unknown is not absence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Sourced_{T}"))]
pub struct Sourced<T> {
    /// The value, or why it is not known.
    pub value: Value<T>,
    /// Where it was said.
    pub origin: Origin,
}

/// Known, or unknown with the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Value_{T}"))]
#[serde(rename_all = "kebab-case")]
pub enum Value<T> {
    /// The value that will be in force.
    Known(T),
    /// Something sets it, and what it sets it to cannot be told from here. Boxed: unknowns are few, and a policy has
    /// more than twenty values.
    Unknown(Box<Why>),
}

/// Where a value was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// In the user's file.
    Written(Span),
    /// Nowhere: it is a default. `by` names whose ("Istio 1.24"), `reference` the setting that it stands in for.
    Default {
        /// Whose default it is, as shown: `Envoy`, `Istio 1.24`, `.NET standard handler`.
        #[serde(deserialize_with = "interned_text")]
        by: Lasting,
        /// What would set it: `num_retries`, `timeout`.
        #[serde(deserialize_with = "interned_text")]
        reference: Lasting,
    },
    /// Computed from several written places.
    Derived(Vec<Span>),
}

/// A text that lives as long as the program.
type Lasting = &'static str;

/// A text that lives as long as the program: facts name whose default a value is by such texts. Each is kept once; there are
/// as many as there are libraries and settings in the catalogue, in retrylint.toml and in the files of facts that are read.
pub(crate) fn interned(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = known.get(text) {
        return text;
    }
    let text: &'static str = Box::leak(text.into());
    known.insert(text);
    text
}

fn interned_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    <Cow<'de, str>>::deserialize(deserializer).map(|text| interned(&text))
}

/// Why a value is unknown; printed as it stands behind "unknown:".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Set from the environment variable of this name.
    Environment(Cow<'static, str>),
    /// A template expression, as written.
    Template(Cow<'static, str>),
    /// A value that its reader cannot take: what stands there, and what would be right.
    Malformed {
        /// What stands there.
        found: Cow<'static, str>,
        /// What it should be: `a whole number`, `a duration such as 0.25s`.
        expected: Cow<'static, str>,
    },
    /// Decided at run time or by something that is not read here.
    Other(Cow<'static, str>),
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Environment(name) => write!(f, "environment variable {name}"),
            Why::Template(text) => write!(f, "template `{text}`"),
            Why::Malformed { found, expected } => write!(f, "`{found}` is not {expected}"),
            Why::Other(text) => f.write_str(text),
        }
    }
}

/// A bound that may be known to be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Limit_{T}"))]
#[serde(rename_all = "kebab-case")]
pub enum Limit<T> {
    /// Bounded by this.
    At(T),
    /// Known to be unbounded.
    None,
}

impl<T> Limit<T> {
    /// The bound, if there is one.
    pub fn at(self) -> Option<T> {
        match self {
            Limit::At(value) => Some(value),
            Limit::None => None,
        }
    }

    /// The same bound, borrowed.
    pub fn as_ref(&self) -> Limit<&T> {
        match self {
            Limit::At(value) => Limit::At(value),
            Limit::None => Limit::None,
        }
    }
}

impl<T> Sourced<T> {
    /// A value written at `span`.
    pub fn written(value: T, span: Span) -> Self {
        Sourced { value: Value::Known(value), origin: Origin::Written(span) }
    }

    /// A default of `by` for the setting `reference`.
    pub fn default_of(value: T, by: &'static str, reference: &'static str) -> Self {
        Sourced { value: Value::Known(value), origin: Origin::Default { by, reference } }
    }

    /// Set at `span` to something that cannot be told.
    pub fn unknown(why: Why, span: Span) -> Self {
        Sourced { value: Value::Unknown(Box::new(why)), origin: Origin::Written(span) }
    }

    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match &self.value {
            Value::Known(value) => Some(value),
            Value::Unknown(_) => None,
        }
    }

    /// Why it is unknown, if it is.
    pub fn why(&self) -> Option<&Why> {
        match &self.value {
            Value::Known(_) => None,
            Value::Unknown(why) => Some(why),
        }
    }

    /// Whether a file of the user says so (rather than a default).
    pub fn is_written(&self) -> bool {
        !matches!(self.origin, Origin::Default { .. })
    }

    /// Where it is written; the first place of a derived value; none for a default.
    pub fn span(&self) -> Option<Span> {
        match &self.origin {
            Origin::Written(span) => Some(*span),
            Origin::Derived(spans) => spans.first().copied(),
            Origin::Default { .. } => None,
        }
    }

    /// Whose default it is, if it is one.
    pub fn default_by(&self) -> Option<&str> {
        match &self.origin {
            Origin::Default { by, .. } => Some(by),
            Origin::Written(_) | Origin::Derived(_) => None,
        }
    }

    /// Which setting a default stands in for, if it is one.
    pub fn default_reference(&self) -> Option<&'static str> {
        match self.origin {
            Origin::Default { reference, .. } => Some(reference),
            Origin::Written(_) | Origin::Derived(_) => None,
        }
    }

    /// The same origin with the known value changed.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Sourced<U> {
        Sourced {
            value: match self.value {
                Value::Known(value) => Value::Known(change(value)),
                Value::Unknown(why) => Value::Unknown(why),
            },
            origin: self.origin,
        }
    }
}

impl<T> Sourced<Limit<T>> {
    /// The bound, if it is known and there is one.
    pub fn limit(&self) -> Option<&T> {
        match self.known() {
            Some(Limit::At(value)) => Some(value),
            _ => None,
        }
    }

    /// The same bound, boxed: for the large and rare ones.
    pub fn boxed(self) -> Sourced<Limit<Box<T>>> {
        self.map(|limit| match limit {
            Limit::At(value) => Limit::At(Box::new(value)),
            Limit::None => Limit::None,
        })
    }

    /// Whether it is *known* that there is no bound.
    pub fn is_none(&self) -> bool {
        matches!(self.known(), Some(Limit::None))
    }
}
