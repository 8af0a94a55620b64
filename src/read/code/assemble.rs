//! Sites into facts: which site stands inside which, who calls whom, what is test code.
//!
//! ```text
//! sites ─► one for each place (merge) ─► what each does (operation), for whoever calls (callers) ─► policies, calls, nests
//! ```

mod callers;
mod merge;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::facts::{
    Attempts, Call, CallId, CallSource, Callee, Caller, Check, Classes, Confidence, Enclosure, Facts, Limit, Measures,
    Nanos, Policy, PolicyId, PolicyKind, Purpose, ServiceRef, Sourced, Total,
};
use crate::source::FileId;

use super::directive::{Directive, DirectiveKind};
use super::loops;
use super::operation::scene::Scene;
use super::operation::{self, Tried};
use super::project::Project;
use super::site::{Finder, Site};
use super::tree::{At, Id, Kind, Place, Unit};
use super::words::{Words, lists, split};
use callers::Use;

/// The facts of one unit: a policy for each site, and the calls that are retried.
pub fn facts(project: &Project, unit: &Arc<Unit>, sites: Vec<Site>, directives: &[Directive]) -> Facts {
    let mut facts = Facts::default();
    let mut sites = merge::merge(unit, sites);
    find_requests(project, unit, &mut sites);
    let inside = merge::nests(unit, &sites);
    let mut constructs: Vec<Id> = sites.iter().map(|site| site.construct).collect();
    constructs.sort_unstable();
    let constructs = Some(constructs);
    let retries =
        |at: &(usize, &Option<PolicyId>)| sites.get(at.0).is_some_and(|site| site.policy.kind != PolicyKind::TimeLimit);
    let around_retries = inside.iter().enumerate().filter(retries).filter_map(|(_, outer)| *outer).collect();
    let words = Words::of(unit.language);
    let assembler = Assembler { project, unit, words, directives, constructs, around_retries };
    for (at, site) in sites.iter().enumerate() {
        let mut policy = site.policy.clone();
        policy.inside = inside.get(at).copied().flatten().or(policy.inside);
        assembler.assemble(site, policy, PolicyId(at as u32), &mut facts);
    }
    limit_tries(&sites, &mut facts.policies);
    for (place, site) in sites.iter().flat_map(|site| loops::helpers::of_callers(project, unit, site)) {
        let mut policy = site.policy.clone();
        policy.inside = merge::around(unit, &sites, place.span(site.construct));
        let directives = if place.file == unit.file { directives } else { &[] };
        let around_retries = HashSet::new();
        let assembler = Assembler { project, unit: &place, words, directives, constructs: None, around_retries };
        assembler.assemble(&site, policy, PolicyId(facts.policies.len() as u32), &mut facts);
    }
    facts
}

/// A try that is one request on a client lasts no longer than that client lets it. Of a client that tries again by
/// itself, the limit is that of its own tries, and none of those around them.
fn limit_tries(sites: &[Site], policies: &mut [Policy]) {
    let mut inner: HashMap<PolicyId, Vec<usize>> = HashMap::new();
    for (at, policy) in policies.iter().enumerate() {
        inner.entry(policy.inside.unwrap_or(PolicyId(u32::MAX))).or_default().push(at);
    }
    for (at, site) in sites.iter().enumerate() {
        let Some([only]) = inner.get(&PolicyId(at as u32)).map(Vec::as_slice) else { continue };
        let (Some(client), Some(policy)) = (sites.get(*only), policies.get(*only)) else { continue };
        if policy.kind != PolicyKind::TimeLimit || client.operations.len() != 1 || site.is_described {
            continue;
        }
        let limit = policy.attempt_timeout.clone();
        let Some(outer) = policies.get_mut(at) else { continue };
        let is_nearer = match (outer.attempt_timeout.known(), limit.known()) {
            // Nobody says how long the other one is, which may be the smaller.
            (None, _) if outer.attempt_timeout.is_written() => false,
            (Some(own), Some(limit)) => limit < own,
            // Nothing else was seen to limit it.
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if is_nearer {
            outer.attempt_timeout = limit;
        }
    }
}

/// Fills in the requests that are made on clients that retry by themselves, where nobody did so yet.
fn find_requests(project: &Project, unit: &Arc<Unit>, sites: &mut [Site]) {
    let mut clients: Vec<&mut Site> =
        sites.iter_mut().filter(|site| site.from == Finder::Catalogue && site.operations.is_empty()).collect();
    let constructs: Vec<Id> = clients.iter().map(|site| site.construct).collect();
    let requests = operation::client::requests_on(project, unit, &constructs);
    for (site, requests) in clients.iter_mut().zip(requests) {
        site.operations = requests;
    }
}

struct Assembler<'a> {
    project: &'a Project,
    unit: &'a Arc<Unit>,
    words: &'static Words,
    directives: &'a [Directive],
    /// Where the sites of the unit stand, if that is known.
    constructs: Option<Vec<Id>>,
    /// Those whose tries are made of the tries of others.
    around_retries: HashSet<PolicyId>,
}

impl Assembler<'_> {
    fn assemble(&self, site: &Site, mut policy: Policy, id: PolicyId, facts: &mut Facts) {
        let place = Place { unit: Arc::clone(self.unit), id: site.construct };
        let uses = callers::uses(self.project, &place, &site.operations, &site.apart);
        self.describe(site, &mut policy);
        let own: Vec<&Tried> = uses.iter().filter(|one| one.is_here).map(|one| &one.tried).collect();
        if let Some(tried) = Tried::all(&own) {
            if self.is_run(site) {
                policy.retries_on = policy.retries_on.map(|classes| classes.and(tried.fails_by));
            }
            self.tell(&tried, &mut policy, id);
            facts.enclosures.extend(callers::enclosed(self.project, id, &tried.entered, |one| self.may_retry(one)));
        }
        self.call(site, &mut policy, &uses, facts);
        facts.policies.push(policy);
    }

    /// Whether what is tried is handed to a library that asks whether it failed: a closure, a function. Clients and layers look at
    /// answers themselves.
    fn is_run(&self, site: &Site) -> bool {
        let is_code = |id: &Id| matches!(self.unit.kind(*id), Kind::Closure { .. } | Kind::Name(_));
        site.from == Finder::Catalogue && !site.operations.is_empty() && site.operations.iter().all(is_code)
    }

    /// Whether something retries in a function: known of this unit, a guess by its words elsewhere.
    fn may_retry(&self, function: &Place) -> bool {
        let unit = &function.unit;
        let below = unit.below(function.id);
        if let Some(constructs) = self.constructs.as_ref().filter(|_| Arc::ptr_eq(unit, self.unit)) {
            let at = constructs.partition_point(|construct| construct < below.start());
            return constructs.get(at).is_some_and(|construct| below.contains(construct));
        }
        let speaks_of_it = |name: &str| self.words.requests.retry_words.iter().any(|word| name.contains(&**word));
        below.into_iter().any(|id| match unit.kind(id) {
            Kind::Loop { .. } => true,
            Kind::Name(name) => speaks_of_it(name.best()),
            Kind::Method { name, .. } => speaks_of_it(name),
            _ => false,
        })
    }

    /// What the place alone says.
    fn describe(&self, site: &Site, policy: &mut Policy) {
        let unit = self.unit;
        let at = unit.at(site.construct);
        policy.test_code |= unit.is_test(at);
        if unit.is_from_macro(site.construct) {
            policy.confidence = policy.confidence.min(Confidence::Medium);
        }
        let function = unit.function_of(site.construct);
        let in_code = policy.in_code.get_or_insert_default();
        in_code.is_async |= is_async(unit, site.construct);
        in_code.built_of.clone_from(&site.uses);
        in_code.is_described = site.is_described;
        if let Some(Kind::Function { name, owner, .. }) = function.map(|id| unit.kind(id)) {
            let shown: Arc<str> = match owner {
                Some(owner) => format!("{}::{name}", owner.last()).into(),
                None => Arc::clone(name),
            };
            if policy.name.is_empty() {
                policy.name = Arc::clone(&shown);
            }
            in_code.function.get_or_insert(shown);
        } else if policy.name.is_empty() {
            policy.name = Arc::clone(&unit.module);
        }
        self.limit(site, policy);
        let is_background = unit.around(site.construct).any(|id| matches!(unit.kind(id), Kind::Spawn(_)));
        if is_background && policy.purpose == Purpose::Request {
            policy.purpose = Purpose::Background;
        }
    }

    /// A time limit around the whole site limits all tries together; so does one around every call of the function in which it
    /// goes on without end.
    fn limit(&self, site: &Site, policy: &mut Policy) {
        if policy.total.limit.is_written() {
            return;
        }
        let place = Place { unit: Arc::clone(self.unit), id: site.construct };
        let total = |limit| Total { limit, measures: Measures::Wall, check: Check::Cuts };
        if let Some(limit) = self.limit_around(&place) {
            policy.total = total(limit);
        } else if policy.attempts.known() == Some(&Attempts::Unbounded)
            && let Some(limit) = self.limit_of_callers(&place)
        {
            policy.attempts = policy.attempts.clone().map(|_| Attempts::ByTime);
            policy.total = total(limit);
        }
    }

    /// The limit that a call sets to what is around a node in its function.
    fn limit_around(&self, place: &Place) -> Option<Sourced<Limit<Nanos>>> {
        let unit = &place.unit;
        let mut inner = place.id;
        for outer in unit.around(place.id) {
            if let Kind::Call { of, args, .. } = unit.kind(outer)
                && let [time, limited, ..] = args.as_slice()
                && limited.value == inner
                && unit.callee(*of).is_some_and(|name| lists(&self.words.requests.limits, name.best()))
            {
                return Some(operation::time(self.project, &Scene::new(place.at(time.value))));
            }
            inner = outer;
        }
        None
    }

    /// The greatest of the limits around all calls of the function that a node stands in; none if one call has none, or if code
    /// that is not here may call it.
    fn limit_of_callers(&self, place: &Place) -> Option<Sourced<Limit<Nanos>>> {
        let calls = callers::all_calls(self.project, place)?;
        let limits: Option<Vec<_>> = calls.iter().map(|call| self.limit_around(call)).collect();
        let longest = |limit: &Sourced<Limit<Nanos>>| match limit.known() {
            Some(Limit::At(time)) => (0, *time),
            Some(Limit::None) => (1, Nanos::ZERO),
            None => (2, Nanos::ZERO),
        };
        limits?.into_iter().max_by_key(longest).filter(|limit| limit.known() != Some(&Limit::None))
    }

    /// What the tries do.
    fn tell(&self, tried: &Tried, policy: &mut Policy, id: PolicyId) {
        let catches_all = policy.retries_on.known() == Some(&Classes::ALL) && policy.names_classes.is_empty();
        let in_code = policy.in_code.get_or_insert_default();
        in_code.operation = in_code.operation.take().or_else(|| tried.shown.clone());
        in_code.request = tried.request.clone();
        if catches_all {
            in_code.status_to_error = in_code.status_to_error.or(tried.status_error);
        }
        if let Some(key) = tried.key {
            match key.made_in_try {
                Some(made) => in_code.key_in_attempt = Some(made),
                None if policy.idempotent.is_written() => {}
                None => policy.idempotent = Sourced::written(Some(true), key.span),
            }
        }
        // What limits the request limits each of its own tries, not those around them.
        if let Some(limit) = &tried.limit
            && !policy.attempt_timeout.is_written()
            && !self.around_retries.contains(&id)
            && !tried.entered.iter().any(|(function, _)| self.may_retry(function))
        {
            policy.attempt_timeout = limit.clone();
        }
        let named = in_code.function.as_deref().unwrap_or_default();
        let connects = |name: &str| split(name).iter().any(|word| self.words.purposes.reconnect.contains(word));
        if policy.purpose == Purpose::Request && tried.request.is_none() && (tried.only_connects || connects(named)) {
            let starts = self.words.purposes.startup.iter().any(|start| start == named);
            policy.purpose = if starts { Purpose::Startup } else { Purpose::Reconnect };
        }
        // What is retried for nothing that a call can answer is no call.
        if tried.only_local || policy.retries_on.known() == Some(&Classes::NONE) {
            policy.purpose = Purpose::Local;
        }
    }

    /// The one service that comments within the tries say is called.
    fn stated_within(&self, site: &Site) -> Option<ServiceRef> {
        let is_tried = |at: At| site.operations.iter().any(|root| self.unit.at(*root).covers(at));
        let mut stated = self.directives.iter().filter(|one| one.kind == DirectiveKind::Calls && is_tried(one.covers));
        let first = stated.next()?;
        let is_same = stated.all(|one| one.name == first.name);
        is_same.then(|| ServiceRef::written(&first.name, None, first.at.in_file(self.unit.file))).flatten()
    }

    /// Who calls whom.
    fn call(&self, site: &Site, policy: &mut Policy, uses: &[Use], facts: &mut Facts) {
        let at = self.unit.at(site.construct);
        let stated = |kind: DirectiveKind| {
            let covering = self.directives.iter().filter(|one| one.kind == kind && one.covers.covers(at));
            let nearest = covering.min_by_key(|one| one.covers.end - one.covers.start)?;
            ServiceRef::written(&nearest.name, None, nearest.at.in_file(self.unit.file))
        };
        policy.caller = match stated(DirectiveKind::Service) {
            Some(service) => Caller::Service(service),
            None => Caller::ByPath,
        };
        let is_known = uses.iter().any(|one| !matches!(one.tried.callee, Callee::Unknown(_)));
        let within = || if is_known { None } else { self.stated_within(site) };
        let callee = stated(DirectiveKind::Calls).or_else(within);
        let callee = callee.map(|service| Callee::Service { service, hosts: Vec::new() });
        let told = |one: &Use| callee.clone().unwrap_or_else(|| one.tried.callee.clone());
        if let Some(best) = uses.iter().map(told).min_by_key(rank) {
            policy.callee = best;
        }
        // Tests call nobody, unless they are what was asked for.
        if policy.test_code {
            return;
        }
        for one in uses {
            let callee = told(one);
            if matches!(callee, Callee::Unknown(_)) {
                continue;
            }
            // Whoever states whose code it is speaks of this place, not of those who use it.
            let caller = if one.is_here { policy.caller.clone() } else { Caller::ByPath };
            policy.calls.push(CallId(facts.calls.len() as u32));
            facts.calls.push(Call {
                caller,
                callee,
                span: one.span,
                source: CallSource::Code,
                environment: None,
                per_request: Sourced::default_of(1.0, "code", "per-request"),
                operation: one.tried.request.clone(),
                protocol: one.tried.protocol,
                one_of: None,
                is_async: policy.purpose == Purpose::Background,
                idempotent: None,
                propagates_deadline: None,
                confidence: policy.confidence,
            });
        }
    }
}

/// Better known callees first.
fn rank(callee: &Callee) -> u8 {
    match callee {
        Callee::Service { .. } => 0,
        Callee::Named(_) => 1,
        Callee::Unknown(_) => 2,
    }
}

/// Whether a node stands in asynchronous code.
fn is_async(unit: &Unit, id: Id) -> bool {
    let around = unit.around(id).find_map(|id| match unit.kind(id) {
        Kind::Function { is_async, .. } | Kind::Closure { is_async, .. } => Some(*is_async),
        _ => None,
    });
    around.unwrap_or(false)
}

/// Puts policies inside those whose tries call the function that they stand in. To be called once all files are read.
pub fn finish(facts: &mut Facts) {
    if facts.enclosures.is_empty() {
        return;
    }
    let mut open: Vec<(FileId, u32, usize)> = Vec::new();
    for (at, policy) in facts.policies.iter().enumerate() {
        if policy.in_code.is_some() && policy.inside.is_none() {
            open.push((policy.span.file, policy.span.start, at));
        }
    }
    open.sort_unstable();
    let enclosures = &mut facts.enclosures;
    // The nearest first: what encloses from further away encloses the nearest. Of those that are not the only ones, whoever
    // tries most often.
    let tries = |id: PolicyId| facts.policies.get(id.0 as usize).map(merge::how_often);
    enclosures.sort_by_key(|one| (!one.is_only, one.depth, Reverse(tries(one.outer)), one.outer));
    for Enclosure { outer, function, is_only, .. } in enclosures {
        // Where others call it too, it is inside on the outer one's own call alone, so that call must be known.
        let calls = facts.policies.get(outer.0 as usize).is_some_and(|policy| policy.callee.service().is_some());
        if !*is_only && !calls {
            continue;
        }
        let from = open.partition_point(|(file, start, _)| (*file, *start) < (function.file, function.start));
        let within =
            open.iter().skip(from).take_while(|(file, start, _)| (*file, *start) < (function.file, function.end));
        for (_, _, at) in within {
            if let Some(policy) = facts.policies.get_mut(*at).filter(|policy| policy.inside.is_none())
                && *at != outer.0 as usize
            {
                policy.inside = Some(*outer);
            }
        }
    }
}

#[cfg(test)]
mod described_tests;
#[cfg(test)]
mod enclosed_tests;
#[cfg(test)]
mod project_tests;
#[cfg(test)]
mod tests;
