//! Retries that fill a caller's pool. Page: `rules/pool-exhaustion.md`.
//!
//! Little's law: slots in use = calls per second × time that a call holds one. While a callee hangs, every try holds its
//! slot until its limit, one after the other; the delays between them hold none (math.md section 12).

use petgraph::Direction;
use petgraph::visit::EdgeRef as _;

use super::{EdgeRef, Findings, advice};
use crate::facts::{Confidence, Limit, Nanos, Policy, PolicyId, words};
use crate::graph::load::slots;
use crate::graph::slowest::{Held, held};
use crate::graph::{Edge, System};
use crate::source::Span;

/// What one call holds while its callee hangs.
struct Hold<'s> {
    edge: EdgeRef,
    /// The policy with most tries on the edge, where the finding points.
    policy: (PolicyId, &'s Policy),
    callee: &'s str,
    per_request: f64,
    held: Held,
    confidence: Confidence,
}

impl Hold<'_> {
    /// Slots in use when every try hangs.
    fn all(&self, rate: f64) -> f64 {
        slots(rate * self.per_request, self.held.all)
    }

    /// Slots in use when the first try hangs and no other follows.
    fn once(&self, rate: f64) -> f64 {
        slots(rate * self.per_request, self.held.once)
    }

    fn site(&self) -> Span {
        advice::site(self.policy.1, self.policy.1.attempts.span())
    }
}

pub(super) fn check(system: &System, findings: &mut Findings) {
    let graph = &system.net.graph;
    for caller in graph.node_indices() {
        let Some(node) = graph.node_weight(caller) else { continue };
        let Some(pool) = &node.service.pool else { continue };
        let rate = system.amplification.nodes.get(caller.index()).and_then(|load| load.rate);
        // Where requests go round without an end, retry-cycle has said so; no pool is large enough then.
        let rate = rate.filter(|rate| rate.is_finite());
        let (Some(&slots), Some(per_second)) = (pool.known(), rate) else { continue };
        let mut holds: Vec<Hold> = graph
            .edges_directed(caller, Direction::Outgoing)
            .filter_map(|edge| {
                let callee = &graph.node_weight(edge.target())?.display;
                hold(system, EdgeRef::Net(edge.id()), edge.weight(), callee)
            })
            .collect();
        keep_greatest_of_each_choice(system, &mut holds, per_second);
        holds.sort_by(|a, b| b.all(per_second).total_cmp(&a.all(per_second)).then(a.edge.cmp(&b.edge)));
        let needed: f64 = holds.iter().map(|hold| hold.all(per_second)).sum();
        let Some(worst) = holds.first().filter(|_| slots > 0 && needed >= slots as f64) else { continue };
        report(
            worst,
            &holds,
            &Numbers { caller: &node.display, slots, per_second, needed, pool: pool.span() },
            findings,
        );
    }
}

struct Numbers<'s> {
    caller: &'s str,
    slots: u64,
    per_second: f64,
    needed: f64,
    pool: Option<Span>,
}

/// What a call over this edge holds; none if nothing ends it or nobody waits, so that the sum is a lower bound.
fn hold<'s>(system: &'s System, at: EdgeRef, edge: &'s Edge, callee: &'s str) -> Option<Hold<'s>> {
    if edge.is_async {
        return None;
    }
    let nests = edge.layers.iter().flat_map(|layer| &layer.alternatives);
    let policies = nests.flat_map(|nest| nest.policies.iter().map(move |id| (nest, *id)));
    let (nest, id, policy) = policies
        .filter_map(|(nest, id)| Some((nest, id, system.facts.policy(id)?)))
        .max_by_key(|(_, id, policy)| (policy.tries(), std::cmp::Reverse(*id)))?;
    Some(Hold {
        edge: at,
        policy: (id, policy),
        callee,
        per_request: edge.per_request,
        held: held(system.facts, edge)?,
        confidence: nest.confidence.min(edge.confidence),
    })
}

/// Calls that exclude one another never hold slots at the same time.
fn keep_greatest_of_each_choice(system: &System, holds: &mut Vec<Hold>, rate: f64) {
    let choice = |hold: &Hold| match hold.edge {
        EdgeRef::Net(edge) => system.net.graph.edge_weight(edge).and_then(|edge| edge.one_of.clone()),
        EdgeRef::Open(_) => None,
    };
    let mut greatest = std::collections::HashMap::new();
    for hold in holds.iter() {
        if let Some(group) = choice(hold) {
            let best = greatest.entry(group).or_insert((hold.edge, f64::MIN));
            if hold.all(rate) > best.1 {
                *best = (hold.edge, hold.all(rate));
            }
        }
    }
    holds.retain(|hold| choice(hold).is_none_or(|group| greatest.get(&group).is_none_or(|best| best.0 == hold.edge)));
}

fn report(worst: &Hold, holds: &[Hold], numbers: &Numbers, findings: &mut Findings) {
    let Numbers { caller, slots, per_second, needed, pool } = numbers;
    let rate = words::factor(*per_second);
    let whole = |x: f64| words::grouped(x.round() as u128);
    let draft = findings.report(
        worst.site(),
        format!(
            "when `{}` hangs, `{caller}` needs {} connections and its pool has {}: its calls stop, also those to others",
            worst.callee,
            whole(*needed),
            words::grouped(u128::from(*slots))
        ),
    );
    let (id, policy) = worst.policy;
    draft.about(id, policy).on_edge(worst.edge).confidence(worst.confidence).weight(*needed);
    draft.label(format!("{}: a call holds its connection for {}", advice::layer(policy), worst.held.all));
    if let Some(pool) = pool {
        draft.related(*pool, format!("a pool of {slots}"));
    }
    for hold in holds.iter().skip(1).take(2) {
        draft.related(hold.site(), format!("a call to `{}` holds one for {}", hold.callee, hold.held.all));
    }
    let mut sum: Vec<String> = holds
        .iter()
        .map(|hold| {
            let fan_out = if hold.per_request == 1.0 {
                String::new()
            } else {
                format!(" × {}", words::factor(hold.per_request))
            };
            format!("{rate}/s{fan_out} × {}", hold.held.all)
        })
        .take(4)
        .collect();
    if holds.len() > sum.len() {
        sum.push("…".to_owned());
    }
    draft.note(format!(
        "{} = {} connections in use; the pool is full after {}",
        sum.join(" + "),
        whole(*needed),
        Nanos::from_secs_f64(*slots as f64 / per_second)
    ));
    let once: f64 = holds.iter().map(|hold| hold.once(*per_second)).sum();
    if once < *slots as f64 {
        draft.note(format!(
            "with one try each it would be {}: the retries fill the pool, not the slow answers",
            whole(once)
        ));
    }
    let shorter = match policy.attempt_limit() {
        Some(Limit::At(limit)) => {
            // What the other calls leave, for each try of this one, without what a try needs besides its limit (connecting).
            let others = needed - worst.all(*per_second);
            let all = (*slots as f64 - others) / (per_second * worst.per_request);
            let besides = worst.held.once.as_secs_f64() - limit.as_secs_f64();
            let tries = worst.held.all.as_secs_f64() / worst.held.once.as_secs_f64().max(1e-9);
            let fits = ((all / tries - besides) * 100.0).floor() / 100.0;
            (fits > 0.0).then(|| format!("shorten the attempt timeout (below {} s here), ", words::factor(fits)))
        }
        _ => Some("shorten the timeout, ".to_owned()),
    };
    draft.help(format!(
        "{}retry less, or give the pool more than {} connections",
        shorter.unwrap_or_default(),
        whole(*needed)
    ));
}
