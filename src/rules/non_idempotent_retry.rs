//! Requests that may be carried out twice. Page: `rules/non-idempotent-retry.md`.

use std::collections::{HashMap, HashSet};

use super::advice::code;
use super::view::{EdgeView, policies};
use super::{Findings, advice};
use crate::facts::{
    Class, Classes, Dialect, Methods, Operation, Policy, PolicyId, PolicyKind, Protocol, is_idempotent, words,
};
use crate::finding::Severity;
use crate::graph::{Nest, System, handover};

/// Verbs of RPCs that change something each time they are called.
const VERBS: [&str; 12] = [
    "create", "charge", "send", "notify", "submit", "transfer", "refund", "publish", "withdraw", "deposit", "append",
    "insert",
];

/// What is known of a policy that may repeat what must not be repeated.
struct Suspect<'s> {
    /// Where it was found; none for code of which nobody can tell whom it calls.
    on: Option<(EdgeView<'s>, &'s Nest)>,
    /// The operation or methods as shown; none if unknown.
    what: Option<String>,
    severity: Severity,
    /// Classes in which the request may have been carried out.
    classes: Classes,
}

pub(super) fn check(system: &System, findings: &mut Findings) {
    // A policy may stand on many edges; the worst of them speaks for it.
    let mut worst: HashMap<PolicyId, Suspect> = HashMap::new();
    let mut placed: HashSet<PolicyId> = HashSet::new();
    for view in EdgeView::all(system) {
        for nest in view.edge.layers.iter().flat_map(|layer| &layer.alternatives) {
            placed.extend(&nest.policies);
            for id in &nest.policies {
                let Some(policy) = system.facts.policy(*id) else { continue };
                let Some(suspect) = suspect(Some((view, nest)), policy) else { continue };
                let rank = |suspect: &Suspect| (suspect.what.is_some(), suspect.severity);
                if worst.get(id).is_none_or(|other| rank(&suspect) > rank(other)) {
                    worst.insert(*id, suspect);
                }
            }
        }
    }
    // Code says what it sends even where it does not say to whom.
    let alone = policies(system).filter(|(id, policy, _)| policy.in_code.is_some() && !placed.contains(id));
    worst.extend(alone.filter_map(|(id, policy, _)| Some((id, suspect(None, policy)?))));
    let mut worst: Vec<_> = worst.into_iter().collect();
    worst.sort_by_key(|(id, _)| *id);
    for (id, suspect) in worst {
        if let Some(policy) = system.facts.policy(id) {
            report(id, policy, &suspect, findings);
        }
    }
}

fn suspect<'s>(on: Option<(EdgeView<'s>, &'s Nest)>, policy: &Policy) -> Option<Suspect<'s>> {
    // A default that nobody wrote is implicit-retries' business.
    if policy.kind == PolicyKind::Default || !policy.may_retry() {
        return None;
    }
    let edge = on.map(|(view, _)| view.edge);
    let harmless = edge.is_some_and(|edge| edge.idempotent == Some(true))
        || policy.idempotent.known().copied().flatten() == Some(true);
    // An unknown set of methods or an unknown key may be the very precaution that is asked for.
    let methods = policy.methods.known()?;
    if harmless || policy.idempotent.why().is_some() || !methods.may_be_unsafe() {
        return None;
    }
    let possible = on.map_or_else(|| handover::possible(Protocol::Http), |(view, _)| view.possible());
    let dangerous = Classes::UNSAFE.and(possible);
    let written = policy.names_classes.and(dangerous);
    let (what, is_unsafe) = what(on.map(|(view, _)| view), policy, methods);
    match is_unsafe {
        Some(false) => None,
        Some(true) if !written.is_empty() => Some(Suspect { on, what, severity: Severity::Error, classes: written }),
        // Nothing is excluded: what is retried includes what may have been carried out.
        Some(true) => {
            let classes = policy.retries_on.known()?.and(dangerous);
            (!classes.is_empty()).then_some(Suspect { on, what, severity: Severity::Warning, classes })
        }
        None if !written.is_empty() => Some(Suspect { on, what: None, severity: Severity::Warning, classes: written }),
        None => None,
    }
}

/// What is called, and whether it must not be repeated; none where that cannot be told.
fn what(view: Option<EdgeView>, policy: &Policy, methods: &Methods) -> (Option<String>, Option<bool>) {
    let protocol = view.and_then(|view| view.edge.protocol);
    // What the code itself sends says more than what is known of the call as a whole.
    let own = policy.in_code.as_deref().and_then(|code| code.request.as_ref());
    let told = [own, view.and_then(|view| view.edge.operation.as_ref())];
    let told = told.into_iter().flatten().find_map(|operation| Some((operation, is_unsafe(operation, protocol)?)));
    if let Some((operation, is_unsafe)) = told {
        let covered = operation.method.as_deref().is_none_or(|method| methods.covers(method));
        let shown = [operation.method.as_deref(), operation.path.as_deref()];
        let shown: Vec<&str> = shown.into_iter().flatten().collect();
        return (Some(shown.join(" ")), Some(is_unsafe && covered));
    }
    if let Some(view) = view.filter(|view| view.edge.idempotent == Some(false)) {
        return (Some(format!("request to {}", view.callee.display)), Some(true));
    }
    // A route or a policy that is limited to unsafe methods says what it is for.
    let route = policy.route.as_ref().map(|route| &route.methods);
    for limited in [Some(methods), route].into_iter().flatten() {
        if let Methods::Only(names) = limited {
            let bad: Vec<&str> = names.iter().map(|name| &**name).filter(|name| !is_idempotent(name)).collect();
            return (Some(bad.join(", ")), Some(!bad.is_empty()));
        }
        if *limited == Methods::Idempotent {
            return (None, Some(false));
        }
    }
    (None, None)
}

/// Whether an operation must not be repeated; none if neither method nor name tells.
pub(super) fn is_unsafe(operation: &Operation, protocol: Option<Protocol>) -> Option<bool> {
    if let Some(method) = operation.method.as_deref() {
        // Every gRPC call is a POST: there the name tells, not the method.
        if protocol != Some(Protocol::Grpc) {
            return Some(!is_idempotent(method));
        }
    }
    let path = operation.path.as_deref()?;
    let is_rpc =
        protocol == Some(Protocol::Grpc) || (!path.starts_with('/') && path.contains('/') && path.contains('.'));
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    // `CreateOrder` and `Charge`, but not `Created` or `SenderStatus`.
    let verb = VERBS.iter().find_map(|verb| Some((verb, name.strip_prefix(verb)?)));
    let original = path.rsplit('/').next().unwrap_or(path);
    let starts_word = verb.is_some_and(|(verb, rest)| {
        rest.is_empty()
            || original.get(verb.len()..).is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase() || c == '_'))
    });
    (is_rpc && starts_word).then_some(true)
}

/// What went before the repetition.
fn after(class: Class) -> &'static str {
    match class {
        Class::Reset => "a lost connection",
        Class::TryTimeout => "a timed-out try",
        Class::BadGateway => "a 502 or 504",
        Class::ServerError => "a 500",
        Class::Conflict => "a 408 or 409",
        other => other.describe(),
    }
}

fn report(id: PolicyId, policy: &Policy, suspect: &Suspect, findings: &mut Findings) {
    let Suspect { on, what, severity, classes } = suspect;
    let after: Vec<&str> = classes.iter().take(3).map(after).collect();
    let after = after.join(", ");
    let times = policy.tries().map_or_else(
        || "several times".to_owned(),
        |n| match n {
            2 => "twice".to_owned(),
            n => format!("{} times", words::number(n)),
        },
    );
    let to = on.map_or_else(String::new, |(view, _)| format!(" to `{}`", view.callee.display));
    let message = match what {
        Some(what) => format!("one `{what}`{to} can be carried out {times}: it is sent again after {after}"),
        None => format!("a request{to} can be carried out {times}: it is sent again after {after}"),
    };
    let draft = findings.report(advice::site(policy, policy.retries_on.span().or(policy.attempts.span())), message);
    draft.about(id, policy).severity(*severity);
    match on {
        Some((view, nest)) => draft.on_edge(view.at).confidence(nest.confidence),
        None => draft.confidence(policy.confidence),
    };
    draft.label("retries what may have been carried out already").help(help(policy));
    if what.is_none() {
        draft.pedantic().note("harmless if everything behind it is a read, or carries an idempotency key");
    }
    if let Some((view, nest)) = on
        && view.edge.operation.is_some()
        && view.edge.span != nest.site
    {
        draft.related(view.edge.span, "called here");
    }
}

/// What to write instead.
fn help(policy: &Policy) -> String {
    match policy.dialect {
        Dialect::Istio => format!(
            "retry only what was never sent, {}, or give such requests a route of their own with {}",
            code(policy, "retryOn: connect-failure,refused-stream"),
            advice::retry_off(policy)
        ),
        Dialect::Envoy => format!(
            "retry only what was never sent, {}, or give such requests a route of their own without retries",
            code(policy, "retry_on: connect-failure,refused-stream,reset-before-request")
        ),
        Dialect::Dotnet => "call `options.Retry.DisableForUnsafeHttpMethods()` where the handler is added, or send an \
                            idempotency key"
            .to_owned(),
        Dialect::Manifest => format!(
            "retry only what was never sent, {}, or say {} if a key makes the second one harmless",
            code(policy, "on: [connect, unsent]"),
            code(policy, "idempotent: true")
        ),
        Dialect::Generic | Dialect::Code => {
            "retry only what was never sent, or send an idempotency key that stays the same for all tries".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_of_rpcs_are_whole_words() {
        let rpc = |path: &str| is_unsafe(&Operation::parse(path), Some(Protocol::Grpc));
        assert_eq!(rpc("payments.Payments/Charge"), Some(true));
        assert_eq!(rpc("shop.Orders/CreateOrder"), Some(true));
        assert_eq!(rpc("shop.Orders/Created"), None);
        assert_eq!(rpc("shop.Orders/GetOrder"), None);
        let http = |text: &str| is_unsafe(&Operation::parse(text), Some(Protocol::Http));
        assert_eq!(http("POST /charge"), Some(true));
        assert_eq!(http("PUT /charge"), Some(false));
        assert_eq!(http("/create"), None);
    }
}
