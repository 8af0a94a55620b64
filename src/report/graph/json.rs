//! `graph --format json` (contracts.md D-19).

use std::collections::BTreeMap;
use std::io::Write;

use petgraph::graph::NodeIndex;
use serde::{Serialize, Serializer};

use super::{Shown, View};
use crate::facts::{CallSource, Class, Facts, Nanos, PolicyId};
use crate::graph::amount::Amount;
use crate::graph::handover::possible;
use crate::graph::paths::BestPaths;
use crate::graph::{Edge, Hop, Layer, System};
use crate::report::json;
use crate::report::summary::policies_of;

/// Hops that are listed of one path. Real ones are far shorter; of a chain of thousands of services, each of which lists all
/// that lies above it, the output would grow with the square.
const HOPS: usize = 64;

/// Writes the graph as JSON, with a line break at the end. Services and calls are made as they are written.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write(views: &[View<'_>], facts: &Facts, out: impl Write) -> std::io::Result<()> {
    let document = Document {
        version: json::VERSION,
        environments: views.iter().filter_map(|view| view.system.net.environment.as_deref()).collect(),
        class: views.first().and_then(|view| view.class),
        services: Services(views, facts),
        calls: Calls(views),
        notes: views.iter().flat_map(|view| &view.system.net.notes).map(String::as_str).collect(),
    };
    json::write(&document, out)
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    environments: Vec<&'a str>,
    /// The only failure that is counted, if one was asked for; of `connect` and `unsent` loads are connection attempts.
    class: Option<Class>,
    services: Services<'a>,
    calls: Calls<'a>,
    notes: Vec<&'a str>,
}

/// A list of [`ServiceJson`].
struct Services<'a>(&'a [View<'a>], &'a Facts);

impl Serialize for Services<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Services(views, facts) = *self;
        serializer.collect_seq(views.iter().flat_map(|view| {
            let mut best = BestPaths::new(view.system, 1);
            view.nodes.iter().filter_map(move |node| service(view, *node, &mut best, facts))
        }))
    }
}

/// A list of [`CallJson`].
struct Calls<'a>(&'a [View<'a>]);

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let calls = self.0.iter().flat_map(|view| view.calls().map(move |shown| call(&shown, view)));
        serializer.collect_seq(calls)
    }
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
    /// The last [`HOPS`] of the path, callers first.
    hops: Vec<HopJson<'a>>,
    /// How many hops stand above those; `factor` counts them too.
    hops_left_out: usize,
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
    let best = if load.worst > Amount::ONE { best.end_of_worst(node, HOPS) } else { None };
    let (last, hops_left_out) = best.unwrap_or_default();
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
        worst_path: WorstJson { factor: load.worst, class: load.class, hops: hops(view.system, &last), hops_left_out },
        bounded_amplification: load.bounded.map(Amount::from_f64),
        lower_bound: load.is_lower_bound,
        about: load.about,
        rate: load.rate.map(Amount::from_f64),
        rate_worst: load.rate_worst,
        slowest_answer_ms: time.map(Nanos::as_millis_f64),
        unknown_factors: unknown.collect(),
    })
}

fn hops<'a>(system: &'a System<'_>, hops: &[Hop]) -> Vec<HopJson<'a>> {
    let name = |node| system.net.graph.node_weight(node).map(|node| &*node.display);
    let hop = |hop: &Hop| {
        let (from, to) = system.net.graph.edge_endpoints(hop.edge)?;
        Some(HopJson { from: name(from)?, to: name(to)?, tries: hop.factor.tries, class: hop.class })
    };
    hops.iter().filter_map(hop).collect()
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
    let alone = Edge { calls: Vec::new(), operation: None, one_of: None, layers: vec![layer.clone()], ..*edge };
    let policies: Vec<PolicyId> = policies_of(&alone, view.system.facts).map(|(id, _)| id).collect();
    if policies.is_empty() {
        return None;
    }
    let protocol = edge.protocol.unwrap_or(crate::facts::Protocol::Http);
    let tries = possible(protocol)
        .iter()
        .map(|class| (class.name(), view.most_tries(&alone, class)))
        .filter(|(_, tries)| *tries > Amount::ONE)
        .collect();
    Some(PositionJson { position: layer.position.name(), policies, tries })
}
