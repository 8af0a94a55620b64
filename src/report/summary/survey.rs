//! From the analysed environments to the numbers of the summary.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use super::{Coverage, Extra, Slowest, Step, Summary, WorstPath};
use crate::facts::{Callee, Facts, Policy, PolicyId, PolicyKind, Purpose, Role, Why, words};
use crate::graph::amount::Amount;
use crate::graph::deadlines::{Inversion, inversion};
use crate::graph::paths::{By, k_best};
use crate::graph::{Edge, Factor, Part, System};
use crate::report::Counts;
use crate::scan;
use crate::source::FileId;

/// The summary of a run. Where several environments disagree, the worst one speaks.
pub fn survey(facts: &Facts, looked: &scan::Counts, systems: &[System<'_>], findings: Counts) -> Summary {
    let services: BTreeSet<(&str, Option<&str>)> = systems
        .iter()
        .flat_map(|system| system.net.graph.node_weights())
        .map(|node| (&*node.name, node.namespace.as_deref()))
        .collect();
    let calls = calls(systems);
    let policies = || policies_in(facts, systems).map(|(_, policy)| policy);
    let count = |state: State| calls.values().filter(|known| **known == state).count();
    let mut notes: Vec<String> = systems.iter().flat_map(|system| system.net.notes.iter().cloned()).collect();
    notes.sort();
    notes.dedup();
    notes.extend(unread(facts));
    if policies().any(|policy| is_listed(policy) && is_of_template(policy)) {
        notes.push(UNRENDERED.into());
    }
    Summary {
        findings,
        files: looked.files.clone(),
        test_files: looked.tests,
        left_out: looked.left_out.iter().map(ToString::to_string).collect(),
        unread: looked.unread.clone(),
        services: services.len(),
        calls: calls.len(),
        policies: policies().filter(|policy| is_listed(policy)).count(),
        without_retries: policies().filter(|policy| is_time_limit(policy)).count(),
        coverage: Coverage {
            calls_known: count(State::Known),
            calls_inferred: count(State::Inferred),
            calls_with_unknown_factor: count(State::UnknownFactor),
            calls_without_policy: count(State::NoPolicy),
            unknown_callees: unknown_callees(facts, systems),
            unknown_callers: unknown_callers(facts, systems),
        },
        worst_path: worst_path(systems),
        slowest_answer: slowest(systems),
        extra_requests: extra_requests(systems),
        notes,
    }
}

/// What is said where values are holes of templates.
const UNRENDERED: &str = "Values that templates fill in are unknown here: read what is rendered, for example \
    `helm template . | retrylint - --stdin-filename chart.yaml`";

/// Whether something of a policy is filled in by a template: its values, or whom it calls.
fn is_of_template(policy: &Policy) -> bool {
    let is_hole = |why: &Why| matches!(why, Why::Template(_));
    policy.unknowns().into_iter().any(is_hole) || matches!(&policy.callee, Callee::Unknown(why) if is_hole(why))
}

/// `Retries of 3 objects are not read yet: BackendTrafficPolicy, HTTPRoute`.
fn unread(facts: &Facts) -> Option<String> {
    let is_counted = |file: FileId| facts.file(file).is_none_or(|file| file.role != Role::Test);
    let all = || facts.unread.iter().filter(|one| is_counted(one.span.file));
    let kinds: BTreeSet<&str> = all().map(|one| &*one.kind).collect();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    match all().count() {
        0 => None,
        1 => Some(format!("Retries of one object are not read yet: {}", kinds.join(", "))),
        n => Some(format!("Retries of {} objects are not read yet: {}", words::grouped(n as u128), kinds.join(", "))),
    }
}

/// The policies of the environments that are looked at.
pub fn policies_in<'a>(
    facts: &'a Facts,
    systems: &'a [System<'_>],
) -> impl Iterator<Item = (PolicyId, &'a Policy)> + use<'a> {
    let is_in = |id: PolicyId| systems.iter().any(|it| it.net.in_environment.get(id.0 as usize) == Some(&true));
    facts.policies().filter(move |(id, _)| systems.is_empty() || is_in(*id))
}

/// Whether it is a route or call that never retries.
fn is_time_limit(policy: &Policy) -> bool {
    policy.kind == PolicyKind::TimeLimit && !policy.test_code
}

/// Whether a policy is one that `policies` lists: it retries, and not in test code.
pub fn is_listed(policy: &Policy) -> bool {
    policy.kind != PolicyKind::TimeLimit && !policy.test_code
}

/// The policies on a call that say something about retrying, outermost position first; mere time limits are none.
pub fn policies_of<'a>(edge: &'a Edge, facts: &'a Facts) -> impl Iterator<Item = (PolicyId, &'a Policy)> {
    let all = edge.layers.iter().flat_map(|layer| &layer.alternatives).flat_map(|nest| &nest.policies);
    all.filter_map(|id| Some((*id, facts.policy(*id)?))).filter(|(_, policy)| policy.kind != PolicyKind::TimeLimit)
}

/// What is known of a call; the greatest over the environments counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    NoPolicy,
    Known,
    Inferred,
    UnknownFactor,
}

/// Whether something that multiplies stands on a call by inference only.
fn rests_on_inference(edge: &Edge, factor: &Factor) -> bool {
    let is_inferred = |part: &Part| {
        let mut nests =
            edge.layers.iter().filter(|layer| layer.position == part.position).flat_map(|it| &it.alternatives);
        nests.any(|nest| nest.is_inferred && nest.policies.contains(&part.policy))
    };
    factor.multiplying().any(is_inferred)
}

/// Every call once, however many environments it belongs to.
fn calls<'a>(systems: &'a [System<'_>]) -> BTreeMap<(&'a str, &'a str, crate::source::Span), State> {
    let mut calls = BTreeMap::new();
    for system in systems {
        for edge in system.net.graph.edge_references() {
            let (from, to) = (system.net.graph.node_weight(edge.source()), system.net.graph.node_weight(edge.target()));
            let (Some(from), Some(to)) = (from, to) else { continue };
            let load = system.amplification.edges.get(edge.id().index());
            let state = if load.is_some_and(|load| !load.factor.unknown.is_empty()) {
                State::UnknownFactor
            } else if load.is_some_and(|load| rests_on_inference(edge.weight(), &load.factor)) {
                State::Inferred
            } else if policies_of(edge.weight(), system.facts).next().is_some() {
                State::Known
            } else {
                State::NoPolicy
            };
            let known = calls.entry((&*from.display, &*to.display, edge.weight().span)).or_insert(state);
            *known = state.max(*known);
        }
    }
    calls
}

/// Policies that retry and whose callee no environment could tell; those that ask this machine alone have none.
fn unknown_callees(facts: &Facts, systems: &[System<'_>]) -> usize {
    policies_in(facts, systems)
        .filter(|(id, policy)| {
            is_listed(policy)
                && policy.kind != PolicyKind::Default
                && policy.purpose != Purpose::Local
                && policy.may_retry()
                && !systems.iter().any(|system| {
                    system.net.resolved.get(id.0 as usize).is_some_and(|resolved| resolved.callee.is_some())
                })
        })
        .count()
}

/// Policies that retry calls to a known service and whose caller no environment could tell; those that stand around one
/// another are one.
fn unknown_callers(facts: &Facts, systems: &[System<'_>]) -> usize {
    let nobodys = systems.iter().flat_map(|system| system.net.unclaimed.iter().copied());
    let mut nobodys: BTreeSet<PolicyId> = nobodys.collect();
    let is_known = |id: &PolicyId| {
        let ends = |system: &System<'_>| system.net.resolved.get(id.0 as usize).and_then(|ends| ends.caller);
        systems.iter().any(|system| ends(system).is_some())
    };
    nobodys.retain(|id| facts.policy(*id).is_some_and(is_listed) && !is_known(id));
    let stands_alone = |id: &&PolicyId| {
        let inside = facts.policy(**id).and_then(|policy| policy.inside);
        inside.is_none_or(|outer| !nobodys.contains(&outer))
    };
    nobodys.iter().filter(stands_alone).count()
}

/// The path to the service with the greatest figure that levels go by; of equals that with most tries, then the first by
/// name.
fn worst_path(systems: &[System<'_>]) -> Option<WorstPath> {
    let mut worst: Option<(&System<'_>, NodeIndex)> = None;
    let measure = |(system, node): (&System<'_>, NodeIndex)| {
        let load = system.amplification.nodes.get(node.index());
        load.map_or((0.0, Amount::ZERO), |load| (load.figure, load.figure_tries))
    };
    let name = |(system, node): (&System<'_>, NodeIndex)| {
        system.net.graph.node_weight(node).map(|node| node.display.clone()).unwrap_or_default()
    };
    for system in systems {
        for node in system.net.graph.node_indices() {
            let this = (system, node);
            let is_worse = worst.is_none_or(|worst| {
                measure(this) > measure(worst) || (measure(this) == measure(worst) && name(this) < name(worst))
            });
            if is_worse && measure(this).1 > Amount::ONE {
                worst = Some(this);
            }
        }
    }
    let (system, node) = worst?;
    let load = system.amplification.nodes.get(node.index())?;
    let path = k_best(system, node, 1, By::Figure).into_iter().next()?;
    let hops = path
        .hops
        .iter()
        .filter_map(|hop| {
            let (from, _) = system.net.graph.edge_endpoints(hop.edge)?;
            let from = system.net.graph.node_weight(from)?;
            Some(Step { from: from.display.to_string(), tries: hop.factor.tries })
        })
        .collect();
    Some(WorstPath {
        hops,
        to: system.net.graph.node_weight(node)?.display.to_string(),
        factor: load.requests(&path),
        class: path.hops.last()?.class.name(),
        lower_bound: load.is_lower_bound,
        about: path.hops.iter().any(|hop| hop.factor.about),
        bounded: (path.product.figure() < path.product.tries.as_f64())
            .then(|| Amount::from_f64(path.product.bounded))
            .filter(|_| !load.goes_round(&path)),
        environment: (systems.len() > 1).then(|| system.net.environment.as_ref().map(ToString::to_string)).flatten(),
    })
}

/// The caller that gives up soonest before its callee's slowest answer, by the length of that answer; if all callers wait
/// long enough, the slowest call. Only what rests on a written number counts.
fn slowest(systems: &[System<'_>]) -> Option<Slowest> {
    let mut inverted: Option<Slowest> = None;
    let mut longest: Option<Slowest> = None;
    for system in systems {
        for edge in system.net.graph.edge_references() {
            let Some((from, to)) = ends(system, edge.id()) else { continue };
            let Some(time) = system.deadlines.edges.get(edge.id().index()) else { continue };
            if let Some(Inversion { gives_up, slowest, .. }) = inversion(system, edge.id())
                && inverted.as_ref().is_none_or(|worst| worst.takes < slowest)
            {
                inverted = Some(Slowest::new(from.clone(), to.clone(), Some(gives_up), slowest));
            }
            if let Some(takes) = time.slowest
                && time.is_written
                && longest.as_ref().is_none_or(|worst| worst.takes < takes)
            {
                longest = Some(Slowest::new(from, to, None, takes));
            }
        }
    }
    inverted.or(longest)
}

/// Clients × retries for every call of a service whose clients are counted (contracts.md D-20).
fn extra_requests(systems: &[System<'_>]) -> Vec<Extra> {
    let mut all: BTreeMap<(String, String), Extra> = BTreeMap::new();
    for system in systems {
        for edge in system.net.graph.edge_references() {
            let Some((from, to)) = ends(system, edge.id()) else { continue };
            let service = system.net.graph.node_weight(edge.source()).map(|node| &node.service);
            let clients = service.and_then(|service| service.clients.as_ref()?.known().copied());
            let load = system.amplification.edges.get(edge.id().index());
            let tries = load.map_or(1.0, |load| load.factor.tries.as_f64());
            let Some(clients) = clients else { continue };
            if !tries.is_finite() || tries < 2.0 {
                continue;
            }
            let retries = tries as u64 - 1;
            let extra = Extra { service: from, clients, to, retries, requests: clients.saturating_mul(retries) };
            let slot = all.entry((extra.service.clone(), extra.to.clone())).or_insert_with(|| extra.clone());
            if slot.requests < extra.requests {
                *slot = extra;
            }
        }
    }
    all.into_values().collect()
}

/// Caller and callee of a call, as shown.
fn ends(system: &System<'_>, edge: EdgeIndex) -> Option<(String, String)> {
    let (from, to) = system.net.graph.edge_endpoints(edge)?;
    let name = |node| Some(system.net.graph.node_weight(node)?.display.to_string());
    Some((name(from)?, name(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Caller, Dialect, FileKind, Nanos, Position};
    use crate::graph::amount::Amount;
    use crate::graph::fixtures::{Tree, callee, reference};
    use crate::graph::link::{environments, link};
    use crate::limits::Limits;
    use crate::read::{ReadSettings, read_file};
    use crate::source::FileId;

    fn summary(text: &str) -> Summary {
        let facts = read_file(FileId(0), "services.yaml", FileKind::Yaml, text, &ReadSettings::default());
        let limits = Limits::default();
        let systems: Vec<System<'_>> = environments(&facts)
            .into_iter()
            .map(|environment| System::new(&facts, &limits, link(&facts, environment)))
            .collect();
        survey(&facts, &scan::Counts::default(), &systems, Counts::default())
    }

    #[test]
    fn calls_are_counted_by_what_is_known_of_them() {
        let summary = summary(
            "services:\n  web:\n    calls:\n      - { to: a, retry: { attempts: 3 } }\n      - { to: b, retry: { attempts: \
             \"${N}\" } }\n      - { to: c }\n      - { to: d }\n",
        );
        assert_eq!((summary.services, summary.calls, summary.policies), (5, 4, 2));
        assert_eq!(
            summary.coverage,
            Coverage { calls_known: 1, calls_with_unknown_factor: 1, calls_without_policy: 2, ..Coverage::default() }
        );
    }

    #[test]
    fn a_retried_call_to_nobody_known_is_counted_apart() {
        let summary = summary("job:\n  retry:\n    attempts: 3\n    backoff: 1s\n");
        assert_eq!((summary.calls, summary.policies), (0, summary.coverage.unknown_callees));
    }

    #[test]
    fn a_call_that_somebody_unknown_retries_is_not_without_a_policy() {
        let mut tree = Tree::default();
        tree.call("cart", "stock");
        tree.call("cart", "audit");
        for (at, to) in ["stock", "ledger"].into_iter().enumerate() {
            let policy = tree.policy("appsettings.json", Dialect::Dotnet, Position::CallerCode, 4);
            policy.callee = callee(to);
            // A loop around a client's retries is one retried call.
            policy.inside = (at == 0).then_some(PolicyId(2));
        }
        tree.policy("appsettings.json", Dialect::Dotnet, Position::CallerCode, 2).callee = callee("stock");
        let limits = Limits::default();
        let systems = [System::new(&tree.facts, &limits, link(&tree.facts, None))];
        let summary = survey(&tree.facts, &scan::Counts::default(), &systems, Counts::default());
        let coverage = Coverage {
            calls_with_unknown_factor: 1,
            calls_without_policy: 1,
            unknown_callers: 2,
            ..Coverage::default()
        };
        assert_eq!(summary.coverage, coverage);
        let said = "2 calls: 1 with an unknown factor, 1 without any policy; 2 retried calls have unknown callers and are in no \
                    number above: `paths` under [services.NAME] in retrylint.toml says whose they are";
        assert_eq!(summary.lines(None)[1], said);
    }

    #[test]
    fn a_call_whose_gateway_is_inferred_is_not_called_known() {
        let mut tree = Tree::default();
        tree.call("cart", "stock");
        tree.sidecar("deploy/envoy.yaml", "stock", 3);
        tree.call("cart", "audit");
        tree.policy("all.yaml", Dialect::Manifest, Position::CallerCode, 2).callee = callee("audit");
        tree.facts.policies[1].caller = Caller::Service(reference("cart"));
        let limits = Limits::default();
        let systems = [System::new(&tree.facts, &limits, link(&tree.facts, None))];
        let summary = survey(&tree.facts, &scan::Counts::default(), &systems, Counts::default());
        assert_eq!(summary.coverage, Coverage { calls_known: 1, calls_inferred: 1, ..Coverage::default() });
        assert_eq!(summary.lines(None)[2], "2 calls: 1 with every factor known, 1 with an inferred one");
    }

    #[test]
    fn clients_times_retries_are_extra_requests() {
        let with = |clients: &str, retry: &str| {
            summary(&format!("services:\n  app:\n    {clients}\n    calls: [{{ to: api, retry: {retry} }}]\n"))
        };
        let extra = with("clients: 500", "{ retries: 5 }").extra_requests;
        assert_eq!(
            extra,
            [Extra { service: "app".into(), clients: 500, to: "api".into(), retries: 5, requests: 2500 }]
        );
        assert!(with("clients: 500", "{ retries: 0 }").extra_requests.is_empty());
        assert!(with("clients: 500", "{ attempts: unbounded }").extra_requests.is_empty());
        assert!(with("rate: 5/s", "{ retries: 5 }").extra_requests.is_empty());
    }

    #[test]
    fn the_worst_path_is_the_one_to_the_service_that_gets_most() {
        let hop = |from: &str, to: &str, tries: &str| {
            format!("  {from}:\n    calls: [{{ to: {to}, retry: {{ attempts: {tries}, on: [overload] }} }}]\n")
        };
        let chain = |last: &str| {
            format!("services:\n{}{}{}", hop("web", "mid", "3"), hop("mid", "leaf", last), hop("cron", "leaf", "8"))
        };
        let worst = summary(&chain("3")).worst_path.unwrap();
        let step = |from: &str| Step { from: from.into(), tries: Amount::Exact(3) };
        assert_eq!((worst.hops, worst.to.as_str()), (vec![step("web"), step("mid")], "leaf"));
        assert_eq!((worst.factor, worst.class, worst.lower_bound), (Amount::Exact(9), "overload", false));
        let worst = summary(&chain("\"${N}\"")).worst_path.unwrap();
        // What is unknown of the other path may make that one the worse.
        assert_eq!((worst.hops.len(), worst.factor, worst.lower_bound), (1, Amount::Exact(8), true));
        assert_eq!(summary(&chain("1").replace(['8', '3'], "1")).worst_path, None);
    }

    #[test]
    fn the_worst_path_is_the_one_of_which_budgets_leave_most() {
        let text = |budget: &str| {
            format!(
                "services:\n  web:\n    calls:\n      - {{ to: a, retry: {{ attempts: 4 }}, budget: {{ ratio: 0.1 }} }}\n      - {{ to: b, \
                 retry: {{ attempts: 3 }}{budget} }}\n  a: {{ calls: [{{ to: db, retry: {{ attempts: 4 }}, budget: {{ ratio: 0.1 \
                 }} }}] }}\n  b: {{ calls: [{{ to: db, retry: {{ attempts: 4 }}{budget} }}] }}\n"
            )
        };
        let worst = summary(&text("")).worst_path.unwrap();
        assert_eq!((worst.hops[0].tries, worst.factor, worst.bounded), (Amount::Exact(3), Amount::Exact(12), None));
        // 1.5 × 1.5 is more than 1.1 × 1.1.
        let worst = summary(&text(", budget: { ratio: 0.5 }")).worst_path.unwrap();
        assert_eq!((worst.factor, worst.bounded), (Amount::Exact(12), Some(Amount::Real(2.25))));
    }

    #[test]
    fn the_slowest_answer_is_the_one_that_nobody_waits_for() {
        let text = |wait: &str| {
            format!(
                "services:\n  web:\n    calls: [{{ to: mid, timeout: {{ total: {wait} }} }}]\n  mid:\n    calls: [{{ to: leaf, \
                 retry: {{ attempts: 3, backoff: none }}, timeout: {{ attempt: 2s }} }}]\n"
            )
        };
        // Three tries of 2 s without a delay between them.
        let six = Nanos::from_secs(6);
        let slowest = |wait: &str| summary(&text(wait)).slowest_answer.unwrap();
        assert_eq!(slowest("5s"), Slowest::new("web".into(), "mid".into(), Some(Nanos::from_secs(5)), six));
        // Who waits exactly as long as it takes hears the answer: nothing but the longest call is left to say.
        assert_eq!(slowest("6s").waits_ms, None);
        assert_eq!(slowest("6s").takes_ms, 6000.0);
    }
}
