//! What a value is, told once: how a message and a schema describe it ([`Is`]), and how it is read ([`Kind`]).

use std::borrow::Cow;
use std::fmt::Debug;

use super::Form;
use super::table::Table;
use crate::facts::Position;
use crate::facts::words::either;
use crate::read::data::tree::Node;

/// A kind of value: what it looks like, and what reads it.
#[derive(Debug)]
pub struct Kind<T: 'static> {
    /// What it looks like.
    pub is: Is,
    parse: Parse<T>,
}

#[derive(Debug)]
enum Parse<T: 'static> {
    /// None: it is no such value.
    By(fn(Node<'_>) -> Option<T>),
    /// What each of the words means.
    Words(&'static [(&'static str, T)]),
}

impl<T: Clone> Kind<T> {
    /// What is read by a function: none says that it is no such value.
    pub const fn new(is: Is, parse: fn(Node<'_>) -> Option<T>) -> Kind<T> {
        Kind { is, parse: Parse::By(parse) }
    }

    /// The value of a node; none if it is no such value.
    pub fn parse(&self, node: Node<'_>) -> Option<T> {
        match self.parse {
            Parse::By(parse) => parse(node),
            Parse::Words(words) => {
                let text = node.text()?;
                words.iter().find(|(word, _)| *word == text).map(|(_, value)| value.clone())
            }
        }
    }
}

impl<T: Debug + Sync> Kind<T> {
    /// One of some words, each with what it means.
    pub const fn words<const N: usize>(words: &'static [(&'static str, T); N]) -> Kind<T> {
        Kind { is: Is::Words(words), parse: Parse::Words(words) }
    }
}

/// What a value looks like. All of it is constant, so that a table of keys costs nothing until a message needs it.
#[derive(Clone, Copy, Debug)]
pub enum Is {
    /// A whole number that is not below this.
    Whole(u8),
    /// A number that is not below this.
    Number(u8),
    /// `true` or `false`.
    Switch,
    /// A length of time.
    Duration,
    /// A length of time above zero.
    Time,
    /// Requests in some time.
    Rate,
    /// A share, from none to all.
    Share,
    /// An amount of data above zero.
    Size,
    /// A day.
    Date,
    /// A version of Istio.
    IstioVersion,
    /// Any text that is not empty, as a message calls it.
    Text(&'static str),
    /// The path of a TOML file.
    TomlFile,
    /// A text that says why.
    Reason,
    /// The name of a service.
    Host,
    /// A failure class in any of its spellings.
    Class,
    /// The id of a rule.
    Rule,
    /// Just this number.
    Only(u8),
    /// One of these words.
    Words(&'static dyn Names),
    /// One of these, as a message calls them together.
    Either(&'static [Is], &'static str),
    /// One or a list of them, as a message calls it.
    Some(&'static Is, &'static str),
    /// A list of them.
    List(&'static Is),
    /// A list of at least one of them.
    Series(&'static Is),
    /// A table with keys that are known.
    Table(&'static Table),
    /// A table of names, and what stands behind each.
    Map(&'static Is, &'static Is),
    /// What a schema defines under this name elsewhere.
    Defined(&'static str),
    /// This, or nothing at all.
    OrNothing(&'static Is),
}

impl Is {
    /// What it looks like, for a message: behind "should be".
    pub fn expected(self, form: Form) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Is::Whole(0) => "a whole number",
            Is::Whole(_) => "a whole number from 1 on",
            Is::Number(0) => "a number that is not negative",
            Is::Number(_) => "a number from 1 on",
            Is::Switch => "`true` or `false`",
            Is::Duration => "a time such as `250ms`, `1.5s` or `1m30s`",
            Is::Time => "a time above zero such as `250ms`, `1.5s` or `1m30s`",
            Is::Rate => "a rate such as `500/s` or `30/m`",
            Is::Share => "a share such as `0.1` or `10%`",
            Is::Size => "a size above zero such as `\"10 MB\"`, or a number of bytes",
            Is::Date => crate::facts::DATE,
            Is::IstioVersion => "a version of Istio 1 in quotes such as `\"1.24\"`",
            Is::TomlFile => "the path of a retrylint.toml",
            Is::Reason => "a text that says why",
            Is::Host => "the name of a service",
            Is::Class => "a failure class, an HTTP status or a gRPC code",
            Is::Rule => "the id of a rule",
            Is::Only(_) => "`1`, the only version there is",
            Is::Words(words) => {
                let quoted = |word| match form {
                    Form::Manifest => format!("`{word}`"),
                    Form::Settings => format!("`\"{word}\"`"),
                };
                return Cow::Owned(either(&words.names().into_iter().map(quoted).collect::<Vec<_>>()));
            }
            Is::Text(expected) | Is::Either(_, expected) | Is::Some(_, expected) => expected,
            Is::OrNothing(is) => return is.expected(form),
            Is::Table(table) => table.shape,
            Is::List(_) | Is::Series(_) => "a list",
            Is::Map(..) => "a table",
            Is::Defined(_) => "a value",
        })
    }
}

/// Words in an order.
pub trait Names: Debug + Sync {
    /// All of them.
    fn names(&self) -> Vec<&'static str>;
}

impl<T: Debug + Sync, const N: usize> Names for [(&'static str, T); N] {
    fn names(&self) -> Vec<&'static str> {
        self.iter().map(|(word, _)| *word).collect()
    }
}

impl<const N: usize> Names for [&'static str; N] {
    fn names(&self) -> Vec<&'static str> {
        self.to_vec()
    }
}

impl<const N: usize> Names for [Position; N] {
    fn names(&self) -> Vec<&'static str> {
        self.iter().map(|position| position.name()).collect()
    }
}
