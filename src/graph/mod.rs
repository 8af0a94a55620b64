//! Facts linked into a call graph, one per environment, and what follows from it.
//!
//! ```text
//! Facts ─► link ─► Net (petgraph: services, edges, layers) ─► amplification, deadlines, load ─► System
//! ```
//!
//! Rules and reports see a [`System`]: the facts, the graph and everything computed from it.

pub mod alike;
pub mod amount;
pub mod amplification;
pub mod budgets;
mod choices;
pub mod cycles;
pub mod deadlines;
pub mod fitting;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod handover;
pub mod link;
pub mod load;
#[cfg(test)]
pub(crate) mod nets;
#[cfg(test)]
mod oracle_tests;
pub mod order;
pub mod outage;
pub mod paths;
pub mod product;
pub mod slowest;
pub mod tries;

use std::sync::Arc;

use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};

use crate::facts::{
    CallId, CallSource, Class, Confidence, Facts, Nanos, Operation, Policy, PolicyId, Position, Protocol, Service,
};
use crate::limits::Limits;
use crate::source::Span;
use amount::Amount;
use product::Product;

/// One environment, linked and analysed.
#[derive(Debug)]
pub struct System<'a> {
    /// All facts, those of other environments included; `net` holds only those of this one.
    pub facts: &'a Facts,
    /// What is too much.
    pub limits: &'a Limits,
    /// The call graph.
    pub net: Net,
    /// Load and amplification.
    pub amplification: Amplification,
    /// Who waits how long.
    pub deadlines: Deadlines,
    /// The policies of `facts`, looked up once.
    pub tries: tries::Tries<'a>,
    /// Failure classes that behave alike in `net`.
    pub alike: alike::Alike,
    /// Callers before callees.
    pub order: order::Order,
}

impl<'a> System<'a> {
    /// Computes everything that follows from a graph, in time linear in its services and calls.
    pub fn new(facts: &'a Facts, limits: &'a Limits, net: Net) -> Self {
        Self::caused_by(facts, limits, net, None)
    }

    /// The same if services fail in one way only; none for every way in which a request can fail that has arrived
    /// (contracts.md D-5). Of classes in which nothing arrives, loads and paths count connection attempts.
    pub fn caused_by(facts: &'a Facts, limits: &'a Limits, net: Net, class: Option<Class>) -> Self {
        let order = order::Order::new(&net);
        let tries = tries::Tries::new(facts);
        let alike = alike::Alike::new(&tries, &net);
        let alike = match class {
            Some(class) => alike.caused_by(class),
            None => alike,
        };
        let rates = load::rates(&net, &tries, &alike, &order);
        let amplification = amplification::amplification_of(&net, (&tries, &alike, &order), &rates);
        let deadlines = deadlines::deadlines_of(&net, facts, &order);
        System { facts, limits, net, amplification, deadlines, tries, alike, order }
    }

    /// Why a policy counts one try where it counts at all.
    pub fn why_unknown(&self, id: PolicyId) -> String {
        if self.net.unclaimed.contains(&id) {
            return "nothing says whose it is".to_string();
        }
        let why = self.facts.policy(id).and_then(|policy| policy.attempts.why());
        why.map_or_else(|| "not told".to_string(), ToString::to_string)
    }
}

/// The call graph of one environment.
#[derive(Debug, Default)]
pub struct Net {
    /// The environment; none if the tree has none.
    pub environment: Option<Arc<str>>,
    /// Services and calls. Two edges between the same services are two different operations.
    pub graph: DiGraph<Node, Edge>,
    /// Route objects whose callers are unknown: `(any) -> callee`. Checked like edges, part of no path, no load (D-15). One
    /// for each callee and position: who comes through a gateway and who through a sidecar are not the same callers.
    pub open: Vec<(NodeIndex, Edge)>,
    /// For each policy of the facts (by index): where it ended up.
    pub resolved: Vec<Resolved>,
    /// Policies that retry calls to a known service and whose callers nobody knows, in order: on no call, in no number, but
    /// not absent (D-4).
    pub unclaimed: Vec<PolicyId>,
    /// Whether a policy or call of the facts belongs to this environment at all (by index of policy).
    pub in_environment: Vec<bool>,
    /// What the linker wants said: observed edges that were dropped to open cycles, and the like.
    pub notes: Vec<String>,
}

/// A service in the graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: Arc<str>,
    /// Its namespace.
    pub namespace: Option<Arc<str>>,
    /// As shown: `name`, or `name.namespace` where two would look alike.
    pub display: Arc<str>,
    /// Whether it lies outside the described system (`api.stripe.com`).
    pub external: bool,
    /// Everything declared about it, merged by precedence (D-8); span and source are those of the best declaration, or
    /// of the first reference.
    pub service: Service,
    /// Whether a file declares it (rather than merely calls it).
    pub declared: bool,
    /// Whether it is in the mesh (D-9).
    pub mesh: Membership,
    /// Index of its settings as a callee in [`Facts::upstreams`], those of this environment.
    pub upstreams: Vec<u32>,
}

/// Whether a service is in the mesh (D-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// Its workload or namespace says so.
    Member,
    /// It says the opposite.
    Outside,
    /// Nothing shows its workload, and a mesh object names its callee.
    Assumed,
    /// Nothing is known and no mesh is in sight.
    Unknown,
}

/// One service calls another.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The calls behind it; empty for an open edge, and for one that only a policy of a known caller proves.
    pub calls: Vec<CallId>,
    /// What says so, the best source.
    pub source: CallSource,
    /// Where it is said.
    pub span: Span,
    /// Calls per request that the caller handles.
    pub per_request: f64,
    /// What it is spoken in.
    pub protocol: Option<Protocol>,
    /// What is called.
    pub operation: Option<Operation>,
    /// Edges of one caller with the same group exclude one another.
    pub one_of: Option<Arc<str>>,
    /// Whether the caller does not wait.
    pub is_async: bool,
    /// Whether the operation is declared to be idempotent.
    pub idempotent: Option<bool>,
    /// Whether the caller's deadline reaches the callee.
    pub propagates_deadline: bool,
    /// How sure the call is: inferred callees are medium.
    pub confidence: Confidence,
    /// Retrying parties, outermost first, at most one for each position.
    pub layers: Vec<Layer>,
    /// The first of [`Net::unclaimed`] that retry calls to the callee at a position where no layer stands: they may be this
    /// caller's, so what is known of the tries is a lower bound.
    pub unclaimed: Vec<PolicyId>,
}

impl Edge {
    /// Whether a policy may send again what goes over it: of what has a method that the policy leaves alone, there is one
    /// try. An RPC is a POST.
    pub fn may_repeat(&self, policy: &Policy) -> bool {
        let method = self.operation.as_ref().and_then(|operation| operation.method.as_deref());
        let method = method.or_else(|| (self.protocol == Some(Protocol::Grpc)).then_some("POST"));
        match (method, policy.methods.known()) {
            (Some(method), Some(methods)) => methods.covers(method),
            // What is not known may be any of them.
            _ => true,
        }
    }
}

/// Everything that may retry at one position: alternatives, of which the greatest counts (D-6).
#[derive(Clone, Debug)]
pub struct Layer {
    /// Where.
    pub position: Position,
    /// Alternatives; in each, enclosing policies from outermost to innermost. Never empty.
    pub alternatives: Vec<Nest>,
}

/// Policies that enclose one another, with what brought them to this edge.
#[derive(Clone, Debug)]
pub struct Nest {
    /// Outermost first; never empty.
    pub policies: Vec<PolicyId>,
    /// What findings about this layer point to: the policy itself, or for a default without text of its own the route,
    /// else the call, else the workload.
    pub site: Span,
    /// Index in [`Facts::upstreams`] of the settings that bound it (budget, breaker, pool), if any.
    pub upstream: Option<u32>,
    /// The least of policy, callee and membership.
    pub confidence: Confidence,
    /// Whether it stands here by inference: a name that is alike, an assumed member of the mesh, a gateway that no caller
    /// names.
    pub is_inferred: bool,
}

impl Nest {
    /// What findings about one of its policies point to: of policies within each other each has its own place.
    pub fn site_of(&self, id: PolicyId, facts: &Facts) -> Span {
        let own = if self.policies.len() > 1 { facts.policy(id).map(crate::facts::Policy::site) } else { None };
        own.unwrap_or(self.site)
    }
}

/// Where a policy ended up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// Its caller, if known.
    pub caller: Option<NodeIndex>,
    /// Its callee, if known.
    pub callee: Option<NodeIndex>,
    /// Whether the callee is inferred from a name.
    pub inferred: bool,
    /// Where it stands after all, if it was placed: a sidecar's file that no service owns is a gateway's (D-3).
    pub position: Option<Position>,
    /// Whether it is a route for requests where none can be told apart: all ports of its hosts are declared to be TCP, TLS
    /// or the like.
    pub takes_nothing: bool,
}

/// The tries of one edge for one failure class.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// Tries; unknown layers count 1.
    pub tries: Amount,
    /// The policies that multiply, outermost first, each with its own tries.
    pub parts: Vec<Part>,
    /// Policies with unknown tries that counted 1.
    pub unknown: Vec<PolicyId>,
    /// Tries with every budget applied; none if some multiplying layer has neither a count nor a bound.
    pub bounded: Option<f64>,
    /// Whether *every* multiplying layer has a budget that bounds it.
    pub all_bounded: bool,
    /// Whether a by-time policy was counted ("about").
    pub about: bool,
}

impl Default for Factor {
    /// One try, nothing multiplies.
    fn default() -> Self {
        Factor {
            tries: Amount::ONE,
            parts: Vec::new(),
            unknown: Vec::new(),
            bounded: Some(1.0),
            all_bounded: true,
            about: false,
        }
    }
}

impl Factor {
    /// As a product.
    pub fn product(&self) -> Product {
        let bounded = self.bounded.unwrap_or(f64::INFINITY);
        Product { tries: self.tries, bounded, all_bounded: self.all_bounded }
    }

    /// What levels go by (D-13): the bounded number if every multiplying layer has a budget, else the tries.
    pub fn figure(&self) -> f64 {
        self.product().figure()
    }

    /// The layers that multiply, outermost first.
    pub fn multiplying(&self) -> impl DoubleEndedIterator<Item = &Part> {
        self.parts.iter().filter(|part| part.tries > Amount::ONE)
    }

    /// The layer with most tries; of equals the one nearest the callee.
    pub fn greatest(&self) -> Option<&Part> {
        self.multiplying().fold(None, |best: Option<&Part>, part| match best {
            Some(best) if best.tries > part.tries => Some(best),
            _ => Some(part),
        })
    }
}

/// One layer's contribution to an edge's factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The policy.
    pub policy: PolicyId,
    /// Where it stands.
    pub position: Position,
    /// What findings point to.
    pub site: Span,
    /// Its tries.
    pub tries: Amount,
    /// Its budget's bound, if it has one.
    pub bound: Option<f64>,
}

/// Load and amplification of every service (D-5).
#[derive(Debug, Default)]
pub struct Amplification {
    /// By node index.
    pub nodes: Vec<NodeLoad>,
    /// By edge index: the greatest tries of the edge over the classes that arrive, with the class.
    pub edges: Vec<EdgeLoad>,
    /// By index of [`Net::open`].
    pub open: Vec<EdgeLoad>,
    /// Cycles: strongly connected components with more than one service, and self-calls.
    pub cycles: Vec<Cycle>,
}

/// Load of one service.
#[derive(Clone, Debug, Default)]
pub struct NodeLoad {
    /// Requests that arrive for one request into every root.
    pub load: Amount,
    /// The same with every tries count 1.
    pub base: Amount,
    /// `load / base`.
    pub amplification: f64,
    /// The greatest product of tries over all paths, fan-out left out, and the class it holds for. One for a root.
    pub worst: Amount,
    /// The class of `load` and `worst`.
    pub class: Option<Class>,
    /// What budgets leave: the greatest over all paths; none if a multiplying layer on any has neither count nor bound.
    pub bounded: Option<f64>,
    /// What levels go by: the greatest over all paths, each by its budgets if every layer that multiplies on it has one,
    /// else by its tries (D-13).
    pub figure: f64,
    /// The product of tries of that path.
    pub figure_tries: Amount,
    /// Whether an unknown factor lies somewhere above: then load and worst are lower bounds.
    pub is_lower_bound: bool,
    /// Policies with unknown tries above it, at most eight, in order of id.
    pub unknown: Vec<PolicyId>,
    /// Whether a by-time policy is among the factors ("about").
    pub about: bool,
    /// Requests per second while all is well; none where a root without a rate reaches it.
    pub rate: Option<f64>,
    /// Requests per second if everything fails.
    pub rate_worst: Option<Amount>,
}

impl NodeLoad {
    /// Whether the rounds of a cycle on the way make more of the greatest path to the service than its hops do.
    pub fn goes_round(&self, path: &Path) -> bool {
        self.figure > path.product.figure()
    }

    /// What one request becomes on the greatest path to the service.
    pub fn requests(&self, path: &Path) -> Amount {
        if self.goes_round(path) { self.figure_tries } else { path.product.tries }
    }
}

/// Tries of one edge.
#[derive(Clone, Debug)]
pub struct EdgeLoad {
    /// The class with the most tries among those that arrive at the callee.
    pub class: Class,
    /// The tries for it.
    pub factor: Factor,
    /// The same for what levels go by, where budgets make that another one: fewer tries, which nothing holds.
    pub unheld: Option<(Class, Factor)>,
    /// The class with the most connection attempts among those that never arrive (`connect`, `unsent`); none if they are no
    /// more than the tries of `factor`.
    pub unsent: Option<(Class, Factor)>,
}

impl EdgeLoad {
    /// The class and the tries that levels go by.
    pub fn deciding(&self) -> (Class, &Factor) {
        self.unheld.as_ref().map_or((self.class, &self.factor), |(class, factor)| (*class, factor))
    }
}

/// One hop of a path.
#[derive(Clone, Debug)]
pub struct Hop {
    /// The edge.
    pub edge: EdgeIndex,
    /// The class that this hop's layers see.
    pub class: Class,
    /// Its factor for that class.
    pub factor: Factor,
}

/// A path with the product of its tries.
#[derive(Clone, Debug)]
pub struct Path {
    /// From the root on.
    pub hops: Vec<Hop>,
    /// The product of tries.
    pub product: Product,
}

/// A cycle of calls (D-15).
#[derive(Clone, Debug)]
pub struct Cycle {
    /// The services in it, in the order of one way round.
    pub nodes: Vec<NodeIndex>,
    /// The edges of that way round.
    pub edges: Vec<EdgeIndex>,
    /// Requests that one request becomes on one way round (spectral radius of the component).
    pub gain: f64,
    /// The hop limit that ends it, if one is declared.
    pub max_hops: Option<u64>,
    /// What one request that enters becomes in total at its first service.
    pub total: Amount,
}

/// Who waits how long (D-14).
#[derive(Debug, Default)]
pub struct Deadlines {
    /// By node index.
    pub nodes: Vec<NodeTime>,
    /// By edge index.
    pub edges: Vec<EdgeTime>,
    /// By index of [`Net::open`].
    pub open: Vec<EdgeTime>,
}

/// How long a service may take to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeTime {
    /// Slowest answer; none if it has no finite bound.
    pub slowest: Option<Nanos>,
    /// Whether a retry layer that repeats slow tries stands anywhere in the calls that it makes.
    pub retries_below: bool,
    /// Whether a written number is among what it rests on.
    pub is_written: bool,
}

/// How long a call may take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EdgeTime {
    /// Slowest answer of the whole call, all layers folded; none if it has no finite bound.
    pub slowest: Option<Nanos>,
    /// When somebody on the caller's side first stops waiting for a try: the least of its layers' attempt limits, or of
    /// their totals where they have none. None: never.
    pub gives_up: Option<Nanos>,
    /// Whose limit that is.
    pub gives_up_by: Option<PolicyId>,
    /// Whether a written number is among what `slowest` rests on.
    pub is_written: bool,
}
