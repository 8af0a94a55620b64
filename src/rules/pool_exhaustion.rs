//! Retries that fill a caller's pool. Page: `rules/pool-exhaustion.md`.
//!
//! Little's law: slots in use = calls per second × time that a call holds one. While a callee hangs, every try holds its
//! slot until its limit, one after the other; the delays between them hold none (math.md section 12).

use petgraph::Direction;
use petgraph::visit::EdgeRef as _;

use super::{EdgeRef, Findings, advice};
use crate::facts::{Confidence, Limit, Nanos, Policy, PolicyId, words};
use crate::graph::{Edge, System};
use crate::source::Span;

/// What one call holds while its callee hangs.
struct Hold<'s> {
    edge: EdgeRef,
    policy: PolicyId,
    told: &'s Policy,
    /// Where the tries are set.
    site: Span,
    callee: &'s str,
    per_request: f64,
    tries: u64,
    limit: Nanos,
    /// All tries together, a total limit applied.
    held: Nanos,
    confidence: Confidence,
}

impl Hold<'_> {
    fn slots(&self, rate: f64) -> f64 {
        rate * self.per_request * self.held.as_secs_f64()
    }
}

pub(super) fn check(system: &System, findings: &mut Findings) {
    let graph = &system.net.graph;
    for caller in graph.node_indices() {
        let Some(node) = graph.node_weight(caller) else { continue };
        let (Some(pool), Some(rate)) = (&node.service.pool, &node.service.rate) else { continue };
        let (Some(&slots), Some(&per_second)) = (pool.known(), rate.known()) else { continue };
        let mut holds: Vec<Hold> = graph
            .edges_directed(caller, Direction::Outgoing)
            .filter_map(|edge| {
                let callee = &graph.node_weight(edge.target())?.display;
                hold(system, EdgeRef::Net(edge.id()), edge.weight(), callee)
            })
            .collect();
        keep_greatest_of_each_choice(system, &mut holds, per_second);
        holds.sort_by(|a, b| b.slots(per_second).total_cmp(&a.slots(per_second)).then(a.edge.cmp(&b.edge)));
        let needed: f64 = holds.iter().map(|hold| hold.slots(per_second)).sum();
        let Some(worst) = holds.first().filter(|_| slots > 0 && needed >= slots as f64) else { continue };
        report(worst, &holds, &Numbers { caller: &node.display, slots, per_second, needed, pool: pool.span() }, findings);
    }
}

struct Numbers<'s> {
    caller: &'s str,
    slots: u64,
    per_second: f64,
    needed: f64,
    pool: Option<Span>,
}

/// What a call over this edge holds; none if its limit is unknown or missing, so that the sum is a lower bound.
fn hold<'s>(system: &'s System, at: EdgeRef, edge: &'s Edge, callee: &'s str) -> Option<Hold<'s>> {
    // The outermost layer's tries are what the caller's connections see; what is behind them happens within one try.
    let outermost = edge.layers.first()?;
    let alternatives = outermost.alternatives.iter().filter_map(|nest| {
        let id = *nest.policies.first()?;
        let policy = system.facts.policy(id)?;
        let tries = policy.tries()?;
        let total = policy.total.limit.limit().copied();
        let (tries, limit) = match policy.attempt_limit()? {
            Limit::At(limit) => (tries, limit),
            // Without a limit of its own a try that hangs uses up all the time there is.
            Limit::None => (1, total?),
        };
        let all = limit.times(tries);
        Some(Hold {
            edge: at,
            policy: id,
            told: policy,
            site: advice::site(policy, policy.attempts.span()),
            callee,
            per_request: edge.per_request,
            tries,
            limit,
            held: total.map_or(all, |total| total.min(all)),
            confidence: nest.confidence.min(edge.confidence),
        })
    });
    alternatives.max_by_key(|hold| hold.held)
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
            if hold.slots(rate) > best.1 {
                *best = (hold.edge, hold.slots(rate));
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
        worst.site,
        format!(
            "when `{}` hangs, `{caller}` needs {} connections and its pool has {}: its calls stop, also those to others",
            worst.callee,
            whole(*needed),
            words::grouped(u128::from(*slots))
        ),
    );
    draft.about(worst.policy, worst.told).on_edge(worst.edge).confidence(worst.confidence).weight(*needed).label(format!(
        "{} of {} hold a connection for {}",
        words::tries(worst.tries),
        worst.limit,
        worst.held
    ));
    if let Some(pool) = pool {
        draft.related(*pool, format!("a pool of {slots}"));
    }
    for hold in holds.iter().skip(1).take(2) {
        draft.related(hold.site, format!("`{}`: {} of {}", hold.callee, words::tries(hold.tries), hold.limit));
    }
    let sum: Vec<String> = holds
        .iter()
        .map(|hold| {
            let fan_out =
                if hold.per_request == 1.0 { String::new() } else { format!(" × {}", words::factor(hold.per_request)) };
            format!("{rate}/s{fan_out} × {}", hold.held)
        })
        .take(4)
        .collect();
    draft.note(format!("{} = {} connections in use; the pool is full after {} s", sum.join(" + "), whole(*needed),
        words::factor(*slots as f64 / per_second)));
    let single: f64 = holds.iter().map(|hold| per_second * hold.per_request * hold.limit.as_secs_f64()).sum();
    if single < *slots as f64 {
        draft.note(format!("with one try each it would be {}: the retries fill the pool, not the slow answers", whole(single)));
    }
    let fits = *slots as f64 / (per_second * worst.per_request * worst.tries as f64);
    draft.help(format!(
        "shorten the attempt timeout (below {} s here), retry less, or give the pool more than {} connections",
        words::factor((fits * 100.0).floor() / 100.0),
        whole(*needed)
    ));
}
