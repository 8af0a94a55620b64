//! `graph --format json` (contracts.md D-19).

use std::collections::BTreeMap;
use std::io::Write;

use petgraph::graph::NodeIndex;
use serde::{Serialize, Serializer};

use super::{Shown, View};
use crate::facts::{CallSource, Class, Nanos, PolicyId};
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
pub fn write(views: &[View<'_>], out: impl Write) -> std::io::Result<()> {
    let document = Document {
        version: json::VERSION,
        environments: views.iter().filter_map(|view| view.system.net.environment.as_deref()).collect(),
        class: views.first().and_then(|view| view.class),
        services: Services(views),
        calls: Calls(views),
        notes: views.iter().flat_map(|view| &view.system.net.notes).map(String::as_str).collect(),
    };
    json::write(&document, out)
}

/// The call graph with tries, deadlines and amplification, one system for each environment. Fields are added in later versions, never
/// changed or taken away: ignore what you do not know.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Document<'a> {
    /// Version of this format.
    #[cfg_attr(test, schemars(extend("const" = json::VERSION)))]
    version: u32,
    /// Empty if the tree has none.
    environments: Vec<&'a str>,
    /// The only failure that is counted, if `--class` asks for one; of `connect` and `unsent` loads are connection attempts.
    class: Option<Class>,
    /// One after another, environment by environment.
    #[cfg_attr(test, schemars(with = "Vec<ServiceJson<'static>>"))]
    services: Services<'a>,
    /// The same of calls.
    #[cfg_attr(test, schemars(with = "Vec<CallJson<'static>>"))]
    calls: Calls<'a>,
    /// What was left out or assumed.
    notes: Vec<&'a str>,
}

/// A list of [`ServiceJson`].
struct Services<'a>(&'a [View<'a>]);

impl Serialize for Services<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Services(views) = *self;
        serializer.collect_seq(views.iter().flat_map(|view| {
            let mut best = BestPaths::new(view.system, 1);
            view.nodes.iter().filter_map(move |node| service(view, *node, &mut best))
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

/// A service, and what arrives at it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ServiceJson<'a> {
    /// Its name.
    name: &'a str,
    /// Its namespace, where it is known.
    namespace: Option<&'a str>,
    /// What calls and paths name it by: `name`, or `name.namespace` where two would look alike.
    display: &'a str,
    /// The environment that it belongs to.
    environment: Option<&'a str>,
    /// Whether it lies outside the described system.
    external: bool,
    /// Requests that arrive if every root gets one and everything fails.
    load: Amount,
    /// The same if nothing fails.
    base: Amount,
    /// `load` by `base`.
    amplification: Amount,
    /// The path on which one request becomes most here.
    worst_path: WorstJson<'a>,
    /// What budgets leave: the greatest over all paths that end here, which need not be the one with most tries. Null if a
    /// layer on one of them has neither a known number of tries nor a budget.
    bounded_amplification: Option<Amount>,
    /// Whether an unknown factor is part of the numbers.
    lower_bound: bool,
    /// Whether tries bounded by time are part of the numbers.
    about: bool,
    /// Requests per second, from the rates that are stated; null if one is missing.
    rate: Option<Amount>,
    /// The same while everything fails.
    rate_worst: Option<Amount>,
    /// Null if nothing bounds it.
    #[cfg_attr(test, schemars(range(min = 0)))]
    slowest_answer_ms: Option<f64>,
    /// Policies of which it is not known how often they try, or whether they stand on the way here.
    unknown_factors: Vec<UnknownJson>,
}

/// The path on which one request becomes most.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct WorstJson<'a> {
    /// The greatest product of tries over all paths that end here. Levels go by it, unless budgets bound every layer of a path.
    factor: Amount,
    /// The failure that it holds for; null if nothing multiplies.
    class: Option<Class>,
    /// The last of the path, callers first.
    hops: Vec<HopJson<'a>>,
    /// How many hops stand above those; `factor` counts them too.
    hops_left_out: usize,
}

/// A call on a path.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HopJson<'a> {
    /// The caller.
    from: &'a str,
    /// Whom it calls.
    to: &'a str,
    /// The tries of that call.
    tries: Amount,
    /// The failure that they hold for.
    class: Class,
}

/// A policy of which it is not known how often it tries, or whose it is.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct UnknownJson {
    /// Its id in `policies --format json`.
    policy: PolicyId,
    /// Why it is not known.
    why: String,
}

/// A call from one service to another.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CallJson<'a> {
    /// Null if the callers are unknown.
    from: Option<&'a str>,
    /// Who is called.
    to: &'a str,
    /// The environment that it belongs to.
    environment: Option<&'a str>,
    /// Calls for each request that the caller handles.
    #[cfg_attr(test, schemars(range(min = 0)))]
    per_request: f64,
    /// What says that the call exists.
    source: CallSource,
    /// Whether nobody waits for the answer.
    #[serde(rename = "async")]
    is_async: bool,
    /// The greatest number of tries, all positions together; null if nothing is tried.
    tries: Option<Amount>,
    /// Whether an unknown number of tries is part of them, and counted as 1.
    lower_bound: bool,
    /// The failure that they hold for.
    class: Option<Class>,
    /// Outermost first.
    positions: Vec<PositionJson>,
    /// Policies that retry calls to this service and whose callers nobody knows: some may stand here, and `tries` is a lower
    /// bound. Ids in `policies --format json`, the first of them.
    unclaimed: Vec<PolicyId>,
}

/// What is tried at one position of a call.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PositionJson {
    /// Where it stands on the way from caller to callee.
    #[cfg_attr(test, schemars(extend("enum" = crate::facts::Position::ALL.map(crate::facts::Position::name))))]
    position: &'static str,
    /// Their ids in `policies --format json`. Several are alternatives, or nested.
    policies: Vec<PolicyId>,
    /// Whether any of them stands here by inference: a name that is alike, an assumed member of the mesh, a gateway that no
    /// caller names.
    inferred: bool,
    /// Of this position alone, by failure; only what is tried more than once.
    #[cfg_attr(test, schemars(with = "BTreeMap<Class, Amount>", extend("propertyNames" = { "$ref": "#/$defs/Class" })))]
    tries: BTreeMap<&'static str, Amount>,
}

fn service<'a>(view: &View<'a>, node: NodeIndex, best: &mut BestPaths<'_, '_>) -> Option<ServiceJson<'a>> {
    let weight = view.node(node)?;
    let load = view.system.amplification.nodes.get(node.index())?;
    let time = view.system.deadlines.nodes.get(node.index()).and_then(|time| time.slowest);
    let best = if load.worst > Amount::ONE { best.end_of_worst(node, HOPS) } else { None };
    let (last, hops_left_out) = best.unwrap_or_default();
    let unknown = load.unknown.iter().map(|id| UnknownJson { policy: *id, why: view.system.why_unknown(*id) });
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
        lower_bound: tries.as_ref().is_some_and(|(_, factor)| !factor.unknown.is_empty()),
        class: tries.map(|(class, _)| class),
        positions: shown.edge.layers.iter().filter_map(|layer| position(layer, shown.edge, view)).collect(),
        unclaimed: shown.edge.unclaimed.clone(),
    }
}

/// The tries of one layer alone, by what it retries; none if nothing in it is about retrying.
fn position(layer: &Layer, edge: &Edge, view: &View<'_>) -> Option<PositionJson> {
    let alone = Edge {
        calls: Vec::new(),
        operation: None,
        one_of: None,
        layers: vec![layer.clone()],
        unclaimed: Vec::new(),
        ..*edge
    };
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
    let inferred = layer.alternatives.iter().any(|nest| nest.is_inferred);
    Some(PositionJson { position: layer.position.name(), policies, inferred, tries })
}
