//! What a loop is for: somebody waits for its answer, or it connects, starts up or works in the background.

use super::Candidate;
use super::classify::Verdict;
use crate::facts::{Attempts, Purpose};
use crate::read::code::tree::{Id, Kind};
use crate::read::code::words::loops::{has, parts};

/// The purpose of a loop, by what it calls, where it stands and what that is called.
pub fn purpose(candidate: &Candidate, verdict: &Verdict, attempts: Option<&Attempts>, is_cancelled: bool) -> Purpose {
    let names = &candidate.words.loops.names;
    let function = candidate.function_name();
    let operations: Vec<String> = verdict.hearts.iter().map(|heart| candidate.callee(*heart)).collect();
    let is_endless = matches!(attempts, Some(Attempts::Unbounded | Attempts::ByTime));
    if candidate.is_waiting() || has(&names.starts, function) && is_endless {
        return Purpose::Startup;
    }
    if operations.iter().any(|name| has(&names.connects, name)) || is_endless && has(&names.connects, function) {
        return Purpose::Reconnect;
    }
    let works = |name: &str| has(&names.background, name);
    let ends_nothing = candidate.returns_nothing();
    if is_endless && (candidate.is_spawned() || operations.iter().any(|name| works(name)) || is_cancelled)
        || ends_nothing && candidate.is_spawned()
        || is_endless && ends_nothing && works(function)
    {
        return Purpose::Background;
    }
    Purpose::Request
}

impl Candidate<'_> {
    /// Whether the function around says that it waits for something to be so.
    pub fn is_waiting(&self) -> bool {
        let names = &self.words.loops.names;
        let function = self.function_name();
        if has(&names.retries, function) {
            return false;
        }
        let mut all = parts(function);
        let first = all.next();
        first.is_some_and(|first| names.waiting.contains(&first))
            || parts(function).any(|part| names.waiting_anywhere.contains(&part))
    }

    /// Whether the loop leaves the request path: it stands in something that is spawned.
    fn is_spawned(&self) -> bool {
        self.unit.around(self.id).any(|around| matches!(self.unit.kind(around), Kind::Spawn(_)))
    }

    /// Whether nobody gets anything of the function around.
    fn returns_nothing(&self) -> bool {
        match self.function.map(|function| self.unit.kind(function)) {
            Some(Kind::Function { returns, .. }) => returns.is_none(),
            _ => true,
        }
    }

    /// The name of what a call calls.
    pub fn callee(&self, id: Id) -> String {
        match self.unit.kind(id) {
            Kind::Call { of, .. } => self.unit.callee(*of).map(|name| name.last().to_owned()).unwrap_or_default(),
            Kind::Method { name, .. } => name.to_string(),
            Kind::Await(of) => self.callee_of(*of),
            _ => String::new(),
        }
    }

    fn callee_of(&self, id: Id) -> String {
        match self.unit.kind(id) {
            Kind::Call { .. } | Kind::Method { .. } => self.callee(id),
            Kind::Name(name) => name.last().to_owned(),
            _ => String::new(),
        }
    }
}
