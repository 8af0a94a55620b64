//! The format of the catalogue (contracts.md, "The library catalogue", schema 1): what a file of `rules/libraries/` or a
//! `[[library]]` of retrylint.toml may say. The vocabulary is closed: whatever is not understood is a fault with its place,
//! and with what was probably meant.
//!
//! ```toml
//! schema = 1                                   # files only; `packages` and `source` may be left out in retrylint.toml
//! name = "acme"                                # the file's name
//! language = "…"
//! packages = ["cargo:acme@>=1.0,<2"]           # kind:name@versions; one of them must be a dependency; `acme-*` for a family
//! roots = ["acme"]                             # every path below begins with a root or an alias
//! aliases = { "other::acme" = "acme" }         # re-exports: path prefix = what it really is; `acme_*` for all that begin so
//! source = "acme 1.6.0 src/retry.rs"
//! combine = { stop = { "|" = "first" } }       # first, last, sum
//!
//! [[shape]]
//! id = "exponential"                           # what `on` and `shape` of others may name
//! is = "policy"                                # policy, run, stack, part, client, predicate, inner
//! call = ["acme::Policy::new"]                 # or method (+ on), method_of, record, mark, const: one path or a list
//! on = ["exponential", "send", "acme::New"]    # in the receiver: a shape's id, a method, a path
//! params = ["first", "times=3"]                # names of positions, and defaults
//! operation = "$self"                          # also policy, name, config, env
//! default = { retries = 3 }                    # says: a table, or a list of tables with `if`, of which the first that holds
//! sets = { observed = true }
//! method.with_max = { cap = "$0" }             # `chain.with_max` where `method` is the list of names to match
//! field.Delay = { base = "$value" }
//! argument.times = { retries = "$value" }      # a name, a position, or `*` for each of the others
//! callback."$0.Retry.Delay" = { base = "$value" }
//! order = "first-outermost"                    # or last-outermost
//! layers = [{ push = "timeout", limit = "30s" }]
//! help = { missing-jitter = "…" }
//! when = [{ versions = "<1.4", method = { with_max = { cap = "none" } } }]
//!
//! [[example]]
//! name = "the default"
//! file = "src/main.rs"
//! code = "…"
//! version = "1.3.0"                            # of the library; the newest if it is left out
//! expect = { attempts = 4, delays = ["1s", "2s", "4s"], jitter = "none", line = 3 } # or a list; [] for nothing
//! ```
//!
//! Beside targets a clause takes `if`, `push` (retry, timeout, breaker, limiter, hedging, other), `layer`, `part` with
//! `from`, `shape`. Values: see [`Value`], [`Ref`] and [`Kind`]; units are ns, us, ms, s, min, h, d, `%`, `/s`, `in flight`.

mod example;
pub mod keys;
mod library;
mod says;
#[cfg(test)]
pub mod schema;
mod shape;
mod targets;
#[cfg(test)]
mod tests;
mod values;
mod versions;

use std::sync::Arc;

pub use example::{Example, Expect, ExpectKey};
pub use library::{Combining, Library, Origin, library};
pub use says::{Callback, Clause, Layer, Says, Setting, Table};
pub use shape::{Is, On, Order, Param, Sayings, Shape};
pub use targets::{Kind, Target};
pub use values::{Fold, Ref, Root, Step, Unit, Value, classes};
pub use versions::{PackageRef, Versions};

use crate::read::data::toml;
use crate::read::vocabulary::{Fault, Faults};
use crate::source::FileId;

/// Reads a file of the catalogue. `rules` are the ids that `help` may name; without them, none is checked. Spans of faults
/// are in file 0.
///
/// # Errors
/// Everything that is not understood, in the order of the text.
pub fn parse(text: &str, rules: Option<&[&str]>) -> Result<Library, Vec<Fault>> {
    let tree = toml::parse(FileId(0), text);
    let mut faults = Faults::default();
    for error in &tree.errors {
        faults.add(error.span, format!("not valid TOML: {}", error.message), None);
    }
    if faults.list.is_empty() {
        let read = tree.documents().next().and_then(|document| library(document, Origin::File, rules, &mut faults));
        if let Some(library) = read.filter(|_| faults.list.is_empty()) {
            return Ok(library);
        }
    }
    faults.list.sort_by_key(|fault| fault.span);
    Err(faults.list)
}

/// A path with `::` between its parts, as names in code have it. Whatever stands before the last `/` is one part: modules
/// that are called like an address.
fn path(text: &str) -> Arc<str> {
    if text.contains("::") || !text.contains('.') {
        return text.into();
    }
    match text.rsplit_once('/') {
        Some((before, last)) => format!("{before}/{}", last.replace('.', "::")).into(),
        None => text.replace('.', "::").into(),
    }
}

/// Whether a path is `root` or lies below it.
pub fn is_within(path: &str, root: &str) -> bool {
    behind(path, root).is_some()
}

/// What of a path lies behind `root`: nothing, or `::` and the rest. `aws_sdk_*` stands for all names that begin so.
pub fn behind<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let rest = match root.split_once('*') {
        None => path.strip_prefix(root)?,
        Some((before, after)) => {
            let name = path.strip_prefix(before)?;
            name.get(name.find("::").unwrap_or(name.len())..)?.strip_prefix(after)?
        }
    };
    (rest.is_empty() || rest.starts_with("::")).then_some(rest)
}
