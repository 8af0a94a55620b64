//! Paths in graphs made by hand, through the real arithmetic.

use super::{SWITCHES, shortened};
use crate::facts::{Accept, Budget, BudgetBase, Class, Classes, Floor, Limit, Policy};
use crate::finding::{Identity, Severity};
use crate::graph::nets::{FIVE_XX, SPAN, Sketch, code, of_unknown_tries, on, sidecar, written};
use crate::rules::{Draft, Findings, find};

fn check(sketch: Sketch) -> Vec<Draft> {
    let rule = find("retry-amplification").unwrap();
    sketch.analysed(|system| Findings::of(std::slice::from_ref(rule), system))
}

/// Message and level of each finding.
fn told(drafts: &[Draft]) -> Vec<(&str, Severity)> {
    drafts.iter().map(|draft| (&*draft.finding.message, draft.finding.severity)).collect()
}

fn chain(calls: &[(&str, &str, u64)]) -> Sketch {
    let mut sketch = Sketch::default();
    for (from, to, tries) in calls {
        sketch.call(from, to, [code(*tries)]);
    }
    sketch
}

const STORM: [(&str, &str, u64); 3] = [("web", "checkout", 3), ("checkout", "payments", 3), ("payments", "ledger", 3)];

#[test]
fn three_tries_at_three_hops_are_one_finding_with_every_factor() {
    let drafts = check(chain(&STORM));
    assert_eq!(told(&drafts), [("one request to `web` can become 27 requests at `ledger`", Severity::Error)]);
    let finding = &drafts[0].finding;
    let labels: Vec<&str> = finding.labels.iter().map(|label| &*label.text).collect();
    // The last hop is where the finding stands; the others follow from the root on.
    assert_eq!(
        labels,
        [
            "payments → ledger: two retries, three tries (×3 = 27)",
            "web → checkout: two retries, three tries (×3)",
            "checkout → payments: two retries, three tries (×3 = 9)",
        ]
    );
    assert_eq!(finding.notes, ["worst for overload (503 at every hop); no layer on this path has a budget"]);
    assert_eq!(finding.identity, Identity::Path { from: "web".into(), to: "ledger".into() });
}

#[test]
fn with_more_calls_than_one_for_a_request_the_figure_is_a_multiple() {
    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "checkout", [code(3)]);
    sketch.call("checkout", "ledger", [code(3)]);
    sketch.net.graph[edge].per_request = 2.0;
    // 2 calls without retries, 18 with them: nine times as many.
    assert_eq!(
        told(&check(sketch)),
        [("one request to `web` can become 9 times as many at `ledger` as without retries", Severity::Warning)]
    );
}

#[test]
fn four_is_not_above_the_limit_and_six_is() {
    assert!(check(chain(&[("web", "cart", 2), ("cart", "store", 2)])).is_empty());
    let drafts = check(chain(&[("web", "cart", 2), ("cart", "store", 3)]));
    assert_eq!(told(&drafts), [("one request to `web` can become 6 requests at `store`", Severity::Warning)]);
    // Ten is not above the second limit either.
    assert_eq!(check(chain(&[("web", "cart", 2), ("cart", "store", 5)]))[0].finding.severity, Severity::Warning);
    assert_eq!(check(chain(&[("web", "cart", 3), ("cart", "store", 4)]))[0].finding.severity, Severity::Error);
}

/// web calls a; a and b call each other with two tries. Three hops from a on: 2 at b, 4 at a, 8 at b.
#[test]
fn the_rounds_of_a_cycle_multiply_also_where_one_hop_of_the_way_does() {
    let cycle = |max_hops| {
        let mut sketch = chain(&[("web", "a", 1), ("a", "b", 2), ("b", "a", 2)]);
        sketch.declared("a").max_hops = Some(written(max_hops));
        check(sketch)
    };
    let drafts = cycle(3);
    assert_eq!(told(&drafts), [("one request to `web` can become 8 requests at `b`", Severity::Warning)]);
    let note = "2 requests without the cycle on the way, whose rounds multiply too";
    assert!(drafts[0].finding.notes.iter().any(|said| said == note), "{:?}", drafts[0].finding.notes);
    // Two hops: 2 at b and 4 at a, which is not above the limit.
    assert!(cycle(2).is_empty());
}

#[test]
fn one_hop_alone_is_no_path_however_often_it_tries() {
    let mut sketch = Sketch::default();
    sketch.call("web", "cart", [code(4), sidecar(4, FIVE_XX)]);
    sketch.call("cart", "store", [code(1)]);
    assert!(check(sketch).is_empty());
}

/// Six tries of one call are within the limits, and hide nothing beside them.
#[test]
fn one_hop_that_tries_more_hides_no_path() {
    let drafts = check(chain(&[("web", "db", 6), ("web", "a", 2), ("a", "db", 3)]));
    assert_eq!(told(&drafts), [("one request to `web` can become 6 requests at `db`", Severity::Warning)]);
    let drafts = check(chain(&[("web", "db", 12), ("web", "a", 2), ("a", "db", 3)]));
    // The level is that of the path, not of the one call.
    assert_eq!(told(&drafts), [("one request to `web` can become 6 requests at `db`", Severity::Warning)]);
    let finding = &drafts[0].finding;
    assert_eq!(finding.notes[1..], ["also by web → db: 12 requests"]);
    let labels: Vec<&str> = finding.labels.iter().map(|label| &*label.text).collect();
    assert_eq!(labels, ["a → db: two retries, three tries (×3 = 6)", "web → a: one retry, two tries (×2)"]);
    assert!(check(chain(&[("web", "db", 12), ("web", "a", 2), ("a", "db", 2)])).is_empty());
}

#[test]
fn the_last_hop_that_multiplies_is_where_it_is_said() {
    let drafts = check(chain(&[("web", "cart", 3), ("cart", "store", 3), ("store", "disk", 1)]));
    assert_eq!(told(&drafts), [("one request to `web` can become 9 requests at `store`", Severity::Warning)]);
}

#[test]
fn two_services_at_the_end_of_one_path_are_two_findings() {
    let mut calls = STORM.to_vec();
    calls.push(("payments", "audit", 2));
    let drafts = check(chain(&calls));
    assert_eq!(
        told(&drafts),
        [
            ("one request to `web` can become 27 requests at `ledger`", Severity::Error),
            ("one request to `web` can become 18 requests at `audit`", Severity::Error),
        ]
    );
}

#[test]
fn three_paths_are_named_and_the_rest_is_a_sum() {
    let middle = ["a", "b", "c", "d"];
    let mut calls = Vec::new();
    for (middle, tries) in middle.iter().zip([5, 4, 3, 2]) {
        calls.push(("web", *middle, tries));
        calls.push((*middle, "ledger", 2));
    }
    let drafts = check(chain(&calls));
    assert_eq!(drafts.len(), 1);
    // [math.md 2.3]: 10 + 8 + 6 are shown, 4 are the rest of 28.
    assert_eq!(
        drafts[0].finding.notes[1..],
        [
            "also by web → b → ledger: 8 requests",
            "also by web → c → ledger: 6 requests",
            "all other paths together: 4 requests"
        ]
    );
}

/// What is said where the last two hops of the storm have no budget.
const OTHERS: &str = "; checkout → payments and payments → ledger have none, so that every try counts";

fn budgeted(mut policy: Policy, ratio: f64, floor: Floor) -> Policy {
    policy.budget = written(Limit::At(Budget {
        ratio: written(ratio),
        floor: written(floor),
        window: written(Limit::None),
        base: BudgetBase::Originals,
    }))
    .boxed();
    policy
}

/// The storm with budgets of a tenth and this floor on its first hops.
fn with_budgets(hops: usize, floor: Floor) -> Sketch {
    let budget = |policy: Policy| budgeted(policy, 0.1, floor);
    let mut sketch = Sketch::default();
    for (at, (from, to, tries)) in STORM.iter().enumerate() {
        sketch.call(from, to, [if at < hops { budget(code(*tries)) } else { code(*tries) }]);
    }
    sketch
}

/// D-13: without a rate the floor is in no figure, and told; with one it counts.
#[test]
fn a_floor_that_is_in_no_figure_is_told() {
    let notes = |sketch: Sketch| check(sketch)[0].finding.notes[0].clone();
    let before = "worst for overload (503 at every hop); some layers have a budget: while they hold, ";
    let floor = Floor::PerSecond(10.0);
    assert_eq!(
        notes(with_budgets(1, floor)),
        format!("{before}9.9 requests, above its floor of 10/s per instance{OTHERS}")
    );
    let in_flight = notes(with_budgets(1, Floor::InFlight(3)));
    assert_eq!(in_flight, format!("{before}9.9 requests, above its floor of three retries in flight{OTHERS}"));
    // 100/s over one instance: 1 + 0.1 + 10/100 = 1.2, times nine.
    let mut rated = with_budgets(1, floor);
    rated.declared(STORM[0].0).rate = Some(written(100.0));
    assert_eq!(notes(rated), format!("{before}10.8 requests{OTHERS}"));
}

#[test]
fn budgets_on_every_layer_decide_and_on_some_are_told() {
    let hops = |with: usize| check(with_budgets(with, Floor::PerSecond(0.0)));
    // [T-47]: 1.1 to the third is 1.331.
    assert!(hops(3).is_empty());
    let some = hops(1);
    assert_eq!(some[0].finding.severity, Severity::Error);
    assert_eq!(
        some[0].finding.notes,
        [format!(
            "worst for overload (503 at every hop); some layers have a budget: while they hold, 9.9 requests{OTHERS}"
        )]
    );
}

/// 16 tries that budgets hold at 1.1 × 1.1, beside 12 that nothing holds.
#[test]
fn a_path_that_budgets_hold_hides_none_that_they_do_not() {
    let mut sketch = with_budgets(0, Floor::PerSecond(0.0));
    sketch.net.graph.clear_edges();
    let both = [("web", "a", 4, true), ("a", "db", 4, true), ("web", "b", 3, false), ("b", "db", 4, false)];
    for (from, to, tries, has_budget) in both {
        let policy = if has_budget { budgeted(code(tries), 0.1, Floor::PerSecond(0.0)) } else { code(tries) };
        sketch.call(from, to, [policy]);
    }
    let drafts = check(sketch);
    assert_eq!(told(&drafts), [("one request to `web` can become 12 requests at `db`", Severity::Error)]);
    assert_eq!(
        drafts[0].finding.notes,
        [
            "worst for overload (503 at every hop); no layer on this path has a budget",
            "also by web → a → db: 16 requests, which budgets hold at 1.21",
        ]
    );
}

fn help(sketch: Sketch) -> String {
    check(sketch).remove(0).finding.help.unwrap()
}

/// Help says what budgets would leave only if that is what the finding then says: one at the last hop changes nothing.
#[test]
fn budgets_are_advised_for_every_layer_that_has_none() {
    let storm = |with: usize| {
        let mut sketch = Sketch::default();
        for (at, (from, to, tries)) in STORM.iter().enumerate() {
            let policy = sidecar(*tries, FIVE_XX);
            sketch.call(from, to, [if at < with { budgeted(policy, 0.1, Floor::PerSecond(0.0)) } else { policy }]);
        }
        sketch
    };
    let rule = "`trafficPolicy: { retryBudget: { percent: 20 } }` in a DestinationRule for";
    let one_hop = |off: &str| {
        format!(
            "retry at one hop only: `retries: {{ attempts: 0 }}` for web → checkout and checkout → payments in {off}"
        )
    };
    // 1.25 to the third is 1.953.
    let all = format!(
        "{} leaves 3×, or bound all of it: {rule} `checkout`, in a DestinationRule for `payments` and in a DestinationRule \
         for `ledger` leave 1.95×",
        one_hop("")
    );
    assert_eq!(help(storm(0)), all);
    // 1.1 × 1.1 × 1.25.
    assert_eq!(help(storm(2)), format!("{} leaves 3×, or bound it: {rule} `ledger` leaves 1.51×", one_hop("")));
    // Code has no such setting, and one layer without keeps the finding as it is.
    let mut sketch = storm(2);
    sketch.call("ledger", "disk", [code(2)]);
    assert!(!help(sketch).contains("bound"));
}

#[test]
fn budgets_that_leave_as_bad_a_figure_are_not_advised() {
    let chain = |hops: usize| {
        let mut sketch = Sketch::default();
        for hop in 0..hops {
            sketch.call(&format!("s{hop}"), &format!("s{}", hop + 1), [sidecar(2, FIVE_XX)]);
        }
        help(sketch)
    };
    // 1.25 to the tenth is 9.3: a warning and no error. To the eleventh it is 11.6.
    assert!(chain(10).ends_with("and 7 more leave 9.31×"), "{}", chain(10));
    assert!(!chain(11).contains("bound"));
}

#[test]
fn an_unknown_factor_makes_it_a_lower_bound() {
    let mut sketch = chain(&STORM);
    sketch.call("ledger", "disk", [of_unknown_tries(code(2))]);
    sketch.call("disk", "block", [code(2)]);
    let drafts = check(sketch);
    assert_eq!(told(&drafts)[0].0, "one request to `web` can become at least 54 requests at `block`");
    let unknown = "one factor is unknown and counted as 1: `loop` (environment variable FLAG_RETRIES)";
    assert!(drafts[0].finding.notes.iter().any(|note| note == unknown), "{:?}", drafts[0].finding.notes);
}

#[test]
fn a_layer_without_end_and_a_cycle_are_left_to_their_own_rules() {
    let mut sketch = chain(&[("web", "cart", 3), ("cart", "store", 3)]);
    let mut forever = code(1);
    forever.attempts = written(crate::facts::Attempts::Unbounded);
    sketch.call("store", "disk", [forever]);
    assert_eq!(told(&check(sketch)), [("one request to `web` can become 9 requests at `store`", Severity::Warning)]);
    let cycle = chain(&[("web", "a", 3), ("a", "b", 3), ("b", "a", 3), ("b", "disk", 3)]);
    assert!(check(cycle).is_empty());
}

#[test]
fn a_hop_that_does_not_retry_the_answer_adds_nothing() {
    let mut sketch = Sketch::default();
    let refused = Classes::of(&[Class::Connect, Class::Unsent]);
    sketch.call("web", "cart", [on(refused, code(3))]);
    sketch.call("cart", "store", [on(Classes::of(&[Class::Overload]), code(3))]);
    assert!(check(sketch).is_empty());
}

#[test]
fn a_standing_decision_covers_what_it_names_and_no_more() {
    let accepted = |limit: f64| {
        let mut sketch = chain(&STORM);
        sketch.declared("ledger").accept =
            Some(Accept { max_amplification: limit, reason: "sized for it".into(), until: None, span: SPAN });
        check(sketch).remove(0).finding
    };
    let covered = accepted(27.0);
    assert_eq!(covered.suppressed.map(|by| (by.by, by.reason)), Some(("accepted", "sized for it".to_owned())));
    let outgrown = accepted(9.0);
    assert_eq!(outgrown.suppressed, None);
    assert!(outgrown.notes.contains(&"accepted up to 9×: sized for it".to_owned()));
}

#[test]
fn stacked_layers_are_labels_of_the_path_they_stand_on() {
    let mut sketch = Sketch::default();
    sketch.call("web", "cart", [code(2)]);
    sketch.call("cart", "store", [code(3), sidecar(2, FIVE_XX)]);
    let drafts = check(sketch);
    assert_eq!(told(&drafts), [("one request to `web` can become 12 requests at `store`", Severity::Error)]);
    let labels: Vec<&str> = drafts[0].finding.labels.iter().map(|label| &*label.text).collect();
    assert_eq!(
        labels,
        [
            "cart → store in the caller's code: two retries, three tries (×3 = 6)",
            "web → cart: one retry, two tries (×2)",
            "cart → store in the caller's sidecar: one retry, two tries (×2 = 12)",
        ]
    );
    // Read in the order of the path, whichever of a hop's layers is the primary place.
    let read: Vec<&str> = drafts[0].finding.in_reading_order().iter().map(|label| &*label.text).collect();
    assert_eq!(read, [labels[1], labels[0], labels[2]]);
}

#[test]
fn a_path_of_a_hundred_hops_shows_those_nearest_the_callee() {
    let mut sketch = Sketch::default();
    for hop in 0..100 {
        sketch.call(&format!("s{hop}"), &format!("s{}", hop + 1), [code(2)]);
    }
    let drafts = check(sketch);
    assert_eq!(drafts.len(), 1);
    let finding = &drafts[0].finding;
    assert_eq!(
        finding.message,
        "one request to `s0` can become 1,267,650,600,228,229,401,496,703,205,376 requests at `s100`"
    );
    assert_eq!(finding.labels.len(), 24);
    assert!(finding.labels[1].text.starts_with("s76 → s77: one retry, two tries (×2 = "), "{}", finding.labels[1].text);
    assert!(finding.notes.contains(&"and 76 factors above those that are shown".to_owned()));
}

#[test]
fn a_long_list_of_hops_to_change_is_cut_with_its_count() {
    let arrows: Vec<String> = (0..SWITCHES + 2).map(|n| format!("s{n} → s{}", n + 1)).collect();
    let cut = shortened(&arrows);
    assert_eq!((cut.len(), cut.last().unwrap().as_str()), (SWITCHES + 1, "2 more"));
    assert_eq!(shortened(&arrows[..SWITCHES]), arrows[..SWITCHES]);
}
