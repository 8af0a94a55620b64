//! `graph --format json` (contracts.md D-19).

use std::collections::BTreeMap;

use petgraph::graph::NodeIndex;
use serde::Serialize;

use super::{Shown, View};
use crate::facts::{CallSource, Class, Facts, Nanos, PolicyId};
use crate::graph::amount::Amount;
use crate::graph::handover::possible;
use crate::graph::paths::BestPaths;
use crate::graph::{Edge, Layer, Path, System};
use crate::report::json::{VERSION, print};
use crate::report::summary::policies_of;

/// The graph as JSON, with a line break at the end.
pub fn render(views: &[View<'_>], facts: &Facts) -> String {
    let mut document = Document {
        version: VERSION,
        environments: views.iter().filter_map(|view| view.system.net.environment.as_deref()).collect(),
        class: views.first().and_then(|view| view.class),
        services: Vec::new(),
        calls: Vec::new(),
        notes: Vec::new(),
    };
    for view in views {
        let mut best = BestPaths::new(view.system, 1);
        document.services.extend(view.nodes.iter().filter_map(|node| service(view, *node, &mut best, facts)));
        document.calls.extend(view.calls().map(|shown| call(&shown, view)));
        document.notes.extend(view.system.net.notes.iter().map(String::as_str));
    }
    print(&document)
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    environments: Vec<&'a str>,
    /// The only failure that is counted, if one was asked for; of `connect` and `unsent` loads are connection attempts.
    class: Option<Class>,
    services: Vec<ServiceJson<'a>>,
    calls: Vec<CallJson<'a>>,
    notes: Vec<&'a str>,
}

#[derive(Serialize)]
struct ServiceJson<'a> {
    name: &'a str,
    namespace: Option<&'a str>,
    display: &'a str,
    environment: Option<&'a str>,
    external: bool,
    load: Amount,
    base: Amount,
    amplification: Amount,
    worst_path: WorstJson<'a>,
    bounded_amplification: Option<Amount>,
    lower_bound: bool,
    about: bool,
    rate: Option<Amount>,
    rate_worst: Option<Amount>,
    slowest_answer_ms: Option<f64>,
    unknown_factors: Vec<UnknownJson>,
}

#[derive(Serialize)]
struct WorstJson<'a> {
    factor: Amount,
    class: Option<Class>,
    hops: Vec<HopJson<'a>>,
}

#[derive(Serialize)]
struct HopJson<'a> {
    from: &'a str,
    to: &'a str,
    tries: Amount,
    class: Class,
}

#[derive(Serialize)]
struct UnknownJson {
    policy: PolicyId,
    why: String,
}

#[derive(Serialize)]
struct CallJson<'a> {
    from: Option<&'a str>,
    to: &'a str,
    environment: Option<&'a str>,
    per_request: f64,
    source: CallSource,
    #[serde(rename = "async")]
    is_async: bool,
    tries: Option<Amount>,
    class: Option<Class>,
    positions: Vec<PositionJson>,
}

#[derive(Serialize)]
struct PositionJson {
    position: &'static str,
    policies: Vec<PolicyId>,
    /// Only classes that are tried more than once.
    tries: BTreeMap<&'static str, Amount>,
}

fn service<'a>(
    view: &View<'a>,
    node: NodeIndex,
    best: &mut BestPaths<'_, '_>,
    facts: &Facts,
) -> Option<ServiceJson<'a>> {
    let weight = view.node(node)?;
    let load = view.system.amplification.nodes.get(node.index())?;
    let time = view.system.deadlines.nodes.get(node.index()).and_then(|time| time.slowest);
    let best = if load.worst > Amount::ONE { best.to(node) } else { Vec::new() };
    let unknown = load.unknown.iter().map(|id| UnknownJson {
        policy: *id,
        why: facts.policy(*id).and_then(|policy| policy.attempts.why()).map_or_else(String::new, ToString::to_string),
    });
    Some(ServiceJson {
        name: &weight.name,
        namespace: weight.namespace.as_deref(),
        display: &weight.display,
        environment: view.system.net.environment.as_deref(),
        external: weight.external,
        load: load.load,
        base: load.base,
        amplification: Amount::from_f64(load.amplification),
        worst_path: WorstJson {
            factor: load.worst,
            class: load.class,
            hops: best.first().map(|path| hops(view.system, path)).unwrap_or_default(),
        },
        bounded_amplification: load.bounded.map(Amount::from_f64),
        lower_bound: load.is_lower_bound,
        about: load.about,
        rate: load.rate.map(Amount::from_f64),
        rate_worst: load.rate_worst,
        slowest_answer_ms: time.map(Nanos::as_millis_f64),
        unknown_factors: unknown.collect(),
    })
}

fn hops<'a>(system: &'a System<'_>, path: &Path) -> Vec<HopJson<'a>> {
    let name = |node| system.net.graph.node_weight(node).map(|node| &*node.display);
    let hop = |hop: &crate::graph::Hop| {
        let (from, to) = system.net.graph.edge_endpoints(hop.edge)?;
        Some(HopJson { from: name(from)?, to: name(to)?, tries: hop.factor.tries, class: hop.class })
    };
    path.hops.iter().filter_map(hop).collect()
}

fn call<'a>(shown: &Shown<'a>, view: &View<'a>) -> CallJson<'a> {
    let tries = shown.tries(view);
    CallJson {
        from: shown.from.map(|node| &*node.display),
        to: &shown.to.display,
        environment: view.system.net.environment.as_deref(),
        per_request: shown.edge.per_request,
        source: shown.edge.source,
        is_async: shown.edge.is_async,
        tries: tries.as_ref().map(|(_, factor)| factor.tries),
        class: tries.map(|(class, _)| class),
        positions: shown.edge.layers.iter().filter_map(|layer| position(layer, shown.edge, view)).collect(),
    }
}

/// The tries of one layer alone, by what it retries; none if nothing in it is about retrying.
fn position(layer: &Layer, edge: &Edge, view: &View<'_>) -> Option<PositionJson> {
    let alone = Edge { layers: vec![layer.clone()], ..edge.clone() };
    let policies: Vec<PolicyId> = policies_of(&alone, view.system.facts).map(|(id, _)| id).collect();
    if policies.is_empty() {
        return None;
    }
    let protocol = edge.protocol.unwrap_or(crate::facts::Protocol::Http);
    let tries = possible(protocol)
        .iter()
        .map(|class| (class.name(), view.most(&alone, class).tries))
        .filter(|(_, tries)| *tries > Amount::ONE)
        .collect();
    Some(PositionJson { position: layer.position.name(), policies, tries })
}
