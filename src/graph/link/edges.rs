//! Calls into edges: one for each caller, callee and operation; calls from several sources unite (contracts.md D-7, D-8).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};

use super::identity::Id;
use crate::facts::{Call, CallId, CallSource, Confidence, Evidence, Operation, Sourced};
use crate::graph::{Edge, Node};
use crate::source::FileId;

/// A call with the services that it was resolved to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends<'f> {
    pub caller: NodeIndex,
    pub callee: NodeIndex,
    pub id: CallId,
    pub call: &'f Call,
    /// How well caller and callee are known.
    pub evidence: Evidence,
    /// The host that is asked for, where a proxy on the way decides who answers.
    pub asked: Option<Id>,
}

/// Where calls ended up.
#[derive(Debug, Default)]
pub(super) struct Edges {
    /// By caller and callee: the first edge and how many follow it.
    pairs: HashMap<(u32, u32), (u32, u32)>,
    /// By call: its edge.
    of_call: HashMap<CallId, EdgeIndex>,
    /// Further edges of calls of which the operation is not known, so that they may be any of several.
    further: HashMap<CallId, Vec<EdgeIndex>>,
    /// Calls whose callee is merely called like the service that they were resolved to.
    inferred: HashSet<CallId>,
    /// The hosts that are asked for over an edge, none for the callee itself; of edges without an entry it is the callee.
    asked: HashMap<EdgeIndex, Vec<Option<Id>>>,
    /// Edges by who asks and for whom, where that is not the callee.
    sent_on: HashMap<(NodeIndex, Id), Vec<EdgeIndex>>,
}

/// A call with an unknown operation is taken for each of several known ones, up to this much work; past it, it has an
/// edge of its own.
const MOST_JOINS: usize = 4096;

impl Edges {
    /// Adds the edges of all calls, in the order in which their first calls stand in the facts. `with_policy`: those that
    /// bring a policy of their own.
    pub fn link(graph: &mut DiGraph<Node, Edge>, mut ends: Vec<Ends<'_>>, with_policy: &HashSet<CallId>) -> Edges {
        let is_inferred = |end: &&Ends| end.evidence != Evidence::Written;
        let inferred = ends.iter().filter(is_inferred).map(|end| end.id).collect();
        let mut edges = Edges { inferred, ..Edges::default() };
        ends.sort_unstable_by_key(|end| (end.caller, end.callee, end.id));
        let mut groups: Vec<&[Ends]> = ends.chunk_by(|a, b| (a.caller, a.callee) == (b.caller, b.callee)).collect();
        groups.sort_unstable_by_key(|group| group.first().map(|end| end.id));
        for group in groups {
            let Some(first) = group.first() else { continue };
            for part in split(group, with_policy) {
                let Some(edge) = unite(&part) else { continue };
                let edge = edges.add(graph, first.caller, first.callee, edge);
                for end in part.counted.iter().chain(&part.joined) {
                    edges.ask(edge, first.caller, end.asked);
                    match edges.of_call.entry(end.id) {
                        std::collections::hash_map::Entry::Vacant(slot) => {
                            slot.insert(edge);
                        }
                        std::collections::hash_map::Entry::Occupied(_) => {
                            edges.further.entry(end.id).or_default().push(edge);
                        }
                    }
                }
            }
        }
        edges
    }

    /// Adds an edge. Those of one pair are added one after the other, or a pair has just one.
    pub fn add(
        &mut self,
        graph: &mut DiGraph<Node, Edge>,
        caller: NodeIndex,
        callee: NodeIndex,
        edge: Edge,
    ) -> EdgeIndex {
        let edge = graph.add_edge(caller, callee, edge);
        let index = edge.index() as u32;
        self.pairs.entry((caller.index() as u32, callee.index() as u32)).or_insert((index, 0)).1 += 1;
        edge
    }

    /// The edges between two services.
    pub fn between(&self, caller: NodeIndex, callee: NodeIndex) -> impl Iterator<Item = EdgeIndex> + use<> {
        let pair = (caller.index() as u32, callee.index() as u32);
        let (first, count) = self.pairs.get(&pair).copied().unwrap_or_default();
        (first..first + count).map(|index| EdgeIndex::new(index as usize))
    }

    /// Notes for whom an edge asks.
    pub fn ask(&mut self, edge: EdgeIndex, caller: NodeIndex, host: Option<Id>) {
        let asked = self.asked.entry(edge).or_default();
        if !asked.contains(&host) {
            asked.push(host);
            if let Some(host) = host {
                self.sent_on.entry((caller, host)).or_default().push(edge);
            }
        }
    }

    /// The hosts that are asked for over an edge, `own` for its callee.
    pub fn asked(&self, edge: EdgeIndex, own: Option<Id>) -> impl Iterator<Item = Id> {
        let asked = self.asked.get(&edge).map_or(&[None][..], Vec::as_slice);
        asked.iter().filter_map(move |host| host.or(own))
    }

    /// Edges of a caller that asks for a host and is sent on.
    pub fn sent_on(&self, caller: NodeIndex, host: Id) -> impl Iterator<Item = EdgeIndex> {
        self.sent_on.get(&(caller, host)).into_iter().flatten().copied()
    }

    /// How well the services of a call are known.
    pub fn is_inferred(&self, call: CallId) -> bool {
        self.inferred.contains(&call)
    }

    /// The edges of a call.
    pub fn of_call(&self, call: CallId) -> impl Iterator<Item = EdgeIndex> {
        self.of_call.get(&call).copied().into_iter().chain(self.further.get(&call).into_iter().flatten().copied())
    }
}

/// How sure a call is: the least of what its reader says and of how its services are known.
fn confidence(end: &Ends) -> Confidence {
    end.call.confidence.min(of_evidence(end.evidence))
}

/// How sure a reference is.
pub(super) fn of_evidence(evidence: Evidence) -> Confidence {
    if evidence == Evidence::Written { Confidence::High } else { Confidence::Medium }
}

/// The calls of one edge.
struct Part<'a> {
    operation: Option<Operation>,
    /// Calls that add to calls per request.
    counted: Vec<Ends<'a>>,
    /// Calls that may be this operation or another one: their policies stand here, their number does not count.
    joined: Vec<Ends<'a>>,
}

/// Splits the calls of one pair by operation. What is not known may be any of the known ones.
fn split<'a>(group: &[Ends<'a>], with_policy: &HashSet<CallId>) -> Vec<Part<'a>> {
    if let [only] = group {
        return vec![Part { operation: known_operation(only.call).cloned(), counted: vec![*only], joined: Vec::new() }];
    }
    // What is called in one place in code says nothing about whether other places are reached by the same request: as long
    // as nobody else tells operations apart, they are one call, made as often as the others say.
    let is_told = |end: &&Ends| end.call.source != CallSource::Code && known_operation(end.call).is_some();
    let tells_apart = group.iter().any(|end| is_told(&end));
    let (stated, silent): (Vec<Ends>, Vec<Ends>) =
        group.iter().copied().partition(|end| tells_apart && known_operation(end.call).is_some());
    let mut parts = by_operation(stated);
    let files: HashSet<FileId> =
        group.iter().filter(|end| is_list(end.call) && known_operation(end.call).is_some()).map(file).collect();
    match parts.as_mut_slice() {
        [] => parts.push(Part { operation: common(&silent), counted: silent, joined: Vec::new() }),
        [one] => one.counted.extend(silent),
        several => {
            // A list that states some operations and not this one speaks of a further call.
            let room = silent.len().saturating_mul(several.len()) <= MOST_JOINS;
            let (further, joined): (Vec<Ends>, Vec<Ends>) =
                silent.into_iter().partition(|end| !room || (is_list(end.call) && files.contains(&file(end))));
            several.iter_mut().for_each(|part| part.joined.extend(&joined));
            if !further.is_empty() {
                parts.push(Part { operation: None, counted: further, joined: Vec::new() });
            }
        }
    }
    let mut parts: Vec<Part> = parts.into_iter().flat_map(|part| entries_apart(part, with_policy)).collect();
    for part in &mut parts {
        part.counted.sort_unstable_by_key(|end| end.id);
    }
    parts
}

/// Entries of one list are calls of their own: each may have its own retries, and one that does not wait says nothing
/// about the others. Those that differ in nothing stay one call, made so many times. What code or a route says of the pair
/// may be any of them. Where several lists speak of the pair, which entry is which cannot be told, and they stay together.
fn entries_apart<'a>(part: Part<'a>, with_policy: &HashSet<CallId>) -> Vec<Part<'a>> {
    let (entries, others): (Vec<Ends>, Vec<Ends>) = part.counted.iter().copied().partition(|end| is_list(end.call));
    let lists: HashSet<FileId> = entries.iter().map(file).collect();
    let joins = entries.len().saturating_mul(others.len() + part.joined.len());
    let kinds: HashSet<_> = entries.iter().map(|end| (end.call.protocol, end.call.is_async)).collect();
    let differ = kinds.len() > 1 || entries.iter().any(|end| with_policy.contains(&end.id));
    if entries.len() < 2 || lists.len() != 1 || !differ || joins > MOST_JOINS {
        return vec![part];
    }
    let joined: Vec<Ends> = others.into_iter().chain(part.joined).collect();
    let apart = |entry| Part { operation: part.operation.clone(), counted: vec![entry], joined: joined.clone() };
    entries.into_iter().map(apart).collect()
}

/// One part for each operation; `POST` alone or `/charge` alone is part of the only `POST /charge` that it fits.
fn by_operation<'a>(stated: Vec<Ends<'a>>) -> Vec<Part<'a>> {
    let mut at: HashMap<&Operation, usize> = HashMap::new();
    let mut parts: Vec<Part> = Vec::new();
    let mut half: Vec<Ends> = Vec::new();
    for end in stated {
        match known_operation(end.call) {
            Some(operation) if operation.method.is_some() && operation.path.is_some() => {
                let index = *at.entry(operation).or_insert(parts.len());
                if index == parts.len() {
                    parts.push(Part { operation: Some(operation.clone()), counted: Vec::new(), joined: Vec::new() });
                }
                if let Some(part) = parts.get_mut(index) {
                    part.counted.push(end);
                }
            }
            _ => half.push(end),
        }
    }
    let mut by_method: HashMap<&str, Option<usize>> = HashMap::new();
    let mut by_path: HashMap<&str, Option<usize>> = HashMap::new();
    for (operation, index) in &at {
        for (map, key) in [(&mut by_method, &operation.method), (&mut by_path, &operation.path)] {
            if let Some(key) = key {
                map.entry(key).and_modify(|slot| *slot = None).or_insert(Some(*index));
            }
        }
    }
    for end in half {
        let Some(operation) = known_operation(end.call) else { continue };
        let whole = match (&operation.method, &operation.path) {
            (Some(method), None) => by_method.get(&**method).copied().flatten(),
            (None, Some(path)) => by_path.get(&**path).copied().flatten(),
            _ => None,
        };
        let index = whole.unwrap_or_else(|| *at.entry(operation).or_insert(parts.len()));
        if index == parts.len() {
            parts.push(Part { operation: Some(operation.clone()), counted: Vec::new(), joined: Vec::new() });
        }
        if let Some(part) = parts.get_mut(index) {
            part.counted.push(end);
        }
    }
    parts
}

/// The operation of all places in code that call.
fn common(ends: &[Ends<'_>]) -> Option<Operation> {
    let mut places = ends.iter().filter(|end| end.call.source == CallSource::Code);
    let operation = known_operation(places.next()?.call)?;
    places.all(|end| known_operation(end.call) == Some(operation)).then(|| operation.clone())
}

fn known_operation(call: &Call) -> Option<&Operation> {
    call.operation.as_ref().filter(|operation| operation.method.is_some() || operation.path.is_some())
}

/// Whether its source lists calls one by one, so that two entries are two calls.
fn is_list(call: &Call) -> bool {
    call.source >= CallSource::Manifest
}

fn file(end: &Ends<'_>) -> FileId {
    end.call.span.file
}

/// Whose value counts where sources disagree: the user's answer to us, then what was read from code, then a manifest,
/// then a route.
fn weight(source: CallSource) -> u8 {
    match source {
        CallSource::Route => 0,
        CallSource::Manifest => 1,
        CallSource::Code => 2,
        CallSource::Settings => 3,
    }
}

/// One edge of several calls.
fn unite(part: &Part<'_>) -> Option<Edge> {
    let mut calls: Vec<Ends> = part.counted.iter().chain(&part.joined).copied().collect();
    let best = calls.iter().copied().reduce(|best, end| if end.call.source > best.call.source { end } else { best })?;
    let ids = calls.iter().map(|end| end.id).collect();
    let confidence = calls.iter().map(confidence).max().unwrap_or(Confidence::High);
    // Stable, so that the first of equals speaks.
    calls.sort_by_key(|end| std::cmp::Reverse(weight(end.call.source)));
    let calls: Vec<&Call> = calls.iter().map(|end| end.call).collect();
    let known = |value: fn(&Call) -> Option<&Sourced<bool>>| {
        calls.iter().find_map(|call| value(call).and_then(Sourced::known)).copied()
    };
    Some(Edge {
        calls: ids,
        source: best.call.source,
        span: best.call.span,
        per_request: per_request(&part.counted),
        protocol: calls.iter().find_map(|call| call.protocol),
        operation: part.operation.clone(),
        one_of: choice(part),
        is_async: calls.iter().any(|call| call.is_async),
        idempotent: known(|call| call.idempotent.as_ref()),
        propagates_deadline: known(|call| call.propagates_deadline.as_ref()).unwrap_or(false),
        confidence,
        layers: Vec::new(),
        unclaimed: Vec::new(),
    })
}

/// The group that the whole edge belongs to: none if some of its calls are outside it.
fn choice(part: &Part<'_>) -> Option<Arc<str>> {
    let group = |end: &Ends| end.call.one_of.clone().or_else(|| Some(sent_on(end.asked?, part.operation.as_ref())));
    let groups: Vec<Option<Arc<str>>> = part
        .counted
        .iter()
        .filter(|end| is_list(end.call) || end.call.one_of.is_some() || end.asked.is_some())
        .map(group)
        .collect();
    let first = groups.first()?;
    groups.iter().all(|group| group == first).then(|| first.clone()).flatten()
}

/// The choice that a proxy makes between the destinations of a host.
pub(super) fn sent_on(host: Id, operation: Option<&Operation>) -> Arc<str> {
    let word = |part: fn(&Operation) -> Option<&Arc<str>>| operation.and_then(part).map_or("", |word| &**word);
    let (method, path) = (word(|operation| operation.method.as_ref()), word(|operation| operation.path.as_ref()));
    format!("routes to {host} {method} {path}").into()
}

/// Calls per request. Entries of one list add up, but for those that exclude one another; several lists, and several
/// places in code, speak of the same calls, and the greatest of the best source counts. What cannot be told counts one.
fn per_request(counted: &[Ends<'_>]) -> f64 {
    #[derive(Default)]
    struct List<'a> {
        sum: f64,
        choices: BTreeMap<&'a str, f64>,
        is_known: bool,
        is_said: bool,
        entries: u32,
    }
    if let [only] = counted {
        return number(&only.call.per_request);
    }
    let mut lists: HashMap<(CallSource, FileId), List> = HashMap::new();
    for end in counted {
        let call = end.call;
        let list = lists.entry((call.source, call.span.file)).or_default();
        let times = number(&call.per_request);
        match &call.one_of {
            _ if !is_list(call) => list.sum = list.sum.max(times),
            None => list.sum += times,
            Some(group) => {
                let most = list.choices.entry(group).or_default();
                *most = most.max(times);
            }
        }
        list.entries += u32::from(is_list(call));
        list.is_known |= call.per_request.known().is_some();
        // Two entries say "twice" even if neither gives a number.
        list.is_said |= call.per_request.is_written() || list.entries > 1;
    }
    let ranked = lists.into_iter().map(|((source, _), list)| {
        ((list.is_known, list.is_said, weight(source)), list.sum + list.choices.values().sum::<f64>())
    });
    ranked.max_by(|(rank, times), (other, more)| rank.cmp(other).then(times.total_cmp(more))).map_or(1.0, |(_, n)| n)
}

fn number(value: &Sourced<f64>) -> f64 {
    value.known().copied().filter(|times| times.is_finite() && *times >= 0.0).unwrap_or(1.0)
}

#[cfg(test)]
mod tests;
