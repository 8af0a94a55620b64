//! Helpers: functions of the project's own that try again what they are handed over. Each call of one is a place where something
//! is tried again, with the numbers that it gives.

use std::sync::Arc;

use super::run::{Mode, Val};
use super::{Candidate, site};
use crate::facts::{InCode, Purpose};
use crate::read::code::project::Project;
use crate::read::code::site::{Finder, Site};
use crate::read::code::tree::{Arg, Id, Kind, Place, Sym, Unit};
use crate::read::code::words::Words;
use crate::read::code::words::loops::has;

/// Helpers that hand on to helpers, at most.
const FURTHEST: u32 = 3;

/// Calls of one helper that are told apart, at most.
const MOST_CALLS: usize = 64;

/// The calls of helpers in a unit.
pub fn sites(project: &Project, words: &Words, unit: &Arc<Unit>) -> Vec<Site> {
    let mut sites = Vec::new();
    for (id, node) in unit.ids() {
        let (Kind::Call { args, .. } | Kind::Method { args, .. }) = &node.kind else { continue };
        if !speaks(words, unit, id) || !args.iter().any(|arg| is_code(project, unit, arg.value)) {
            continue;
        }
        let Some(callee) = callee(project, unit, id) else { continue };
        let candidate = Candidate::new(project, words, unit, id);
        let given = given(&candidate, &callee, args);
        let Some(found) = in_helper(project, words, &callee, given, 0) else { continue };
        // Where the helper says by itself how often it tries, its own loop is the policy, whoever calls it.
        let by_itself = in_helper(project, words, &callee, Vec::new(), FURTHEST);
        if by_itself.is_some_and(|own| own.policy.attempts.known() == found.policy.attempts.known()) {
            continue;
        }
        sites.extend(call_site(&candidate, found, args));
    }
    sites
}

/// The calls of a helper whose loop this is, wherever they stand, and what each makes of it: of those only that do not say by
/// their name that they try again, for these are found where they stand.
pub fn of_callers(project: &Project, unit: &Arc<Unit>, site: &Site) -> Vec<(Arc<Unit>, Site)> {
    let Some(helper) = unit.function_of(site.construct) else { return Vec::new() };
    let Kind::Function { params, path, .. } = unit.kind(helper) else { return Vec::new() };
    let is_param = |name: &str| params.iter().any(|param| param.name.as_deref() == Some(name));
    if site.policy.attempts.known().is_some() || !calls_param(unit, site.construct, &is_param) {
        return Vec::new();
    }
    let words = Words::of(unit.language);
    let helper = Place { unit: Arc::clone(unit), id: helper };
    let calls = project.callers(unit, path).places.into_iter().take(MOST_CALLS);
    let site = |call: Place| {
        let Place { unit, id } = call;
        let (Kind::Call { args, .. } | Kind::Method { args, .. }) = unit.kind(id) else { return None };
        let hands_over = args.iter().any(|arg| is_code(project, &unit, arg.value));
        if !hands_over || speaks(words, &unit, id) || unit.is_test(unit.at(id)) {
            return None;
        }
        let candidate = Candidate::new(project, words, &unit, id);
        let found = in_helper(project, words, &helper, given(&candidate, &helper, args), FURTHEST)?;
        let site = call_site(&candidate, found, args)?;
        Some((Arc::clone(&unit), site))
    };
    calls.filter_map(site).collect()
}

/// Whether an argument is code that is handed over: a closure, a block to be awaited, or a function of the project by its name.
fn is_code(project: &Project, unit: &Arc<Unit>, id: Id) -> bool {
    match unit.kind(id) {
        Kind::Closure { .. } => true,
        Kind::Name(name) if name.full.is_some() => {
            project.named(unit, name).is_some_and(|meant| matches!(meant.kind(), Kind::Function { .. }))
        }
        _ => false,
    }
}

/// Whether what a call calls says that it tries again.
fn speaks(words: &Words, unit: &Unit, id: Id) -> bool {
    let names = &words.loops.names;
    match unit.kind(id) {
        Kind::Call { of, .. } => unit.callee(*of).is_some_and(|name| has(&names.retries, name.last())),
        Kind::Method { name, .. } => has(&names.retries, name),
        _ => false,
    }
}

/// The function of the project that a call calls.
fn callee(project: &Project, unit: &Arc<Unit>, id: Id) -> Option<Place> {
    let place = match unit.kind(id) {
        Kind::Call { of, .. } => project.named(unit, unit.callee(*of)?)?,
        Kind::Method { on, name, .. } => {
            let Kind::Name(receiver) = unit.kind(*on) else { return None };
            let Kind::Function { params, owner, .. } = unit.kind(unit.function_of(id)?) else { return None };
            let first = params.first().and_then(|param| param.name.as_ref());
            let owner = owner.as_ref()?.full.as_ref().filter(|_| first == Some(&receiver.text))?;
            project.item(unit, &format!("{owner}::{name}"))?
        }
        _ => return None,
    };
    matches!(place.kind(), Kind::Function { body: Some(_), .. }).then_some(place)
}

/// What a call gives to each parameter, as far as it is known.
fn given(candidate: &Candidate, callee: &Place, args: &[Arg]) -> Vec<(Sym, Val)> {
    let Kind::Function { params, .. } = callee.kind() else { return Vec::new() };
    let machine = candidate.machine(Mode::Count, &[]);
    let has_receiver = usize::from(params.len() == args.len() + 1);
    let mut all = Vec::new();
    for (param, arg) in params.iter().skip(has_receiver).zip(args) {
        let Some(name) = &param.name else { continue };
        if is_code(candidate.project, candidate.unit, arg.value) {
            continue;
        }
        let value = machine.value_before(arg.value);
        if !matches!(value, Val::Unknown(_) | Val::Try(_) | Val::Option(_)) {
            all.push((Sym::clone(name), value));
        }
    }
    all
}

/// The loop of a helper with what it is given, through helpers that only hand on.
fn in_helper(project: &Project, words: &Words, helper: &Place, given: Vec<(Sym, Val)>, depth: u32) -> Option<Site> {
    let unit = &helper.unit;
    let Kind::Function { params, body: Some(body), .. } = helper.kind() else { return None };
    let is_param = |name: &str| params.iter().any(|param| param.name.as_deref() == Some(name));
    let mut loops = Vec::new();
    let mut handed_on = Vec::new();
    for id in unit.below(*body) {
        match unit.kind(id) {
            Kind::Loop { .. } if calls_param(unit, id, &is_param) => loops.push(id),
            Kind::Call { args, .. }
                if depth < FURTHEST
                    && speaks(words, unit, id)
                    && args
                        .iter()
                        .any(|arg| matches!(unit.kind(arg.value), Kind::Name(name) if is_param(&name.text))) =>
            {
                handed_on.push((id, args));
            }
            _ => {}
        }
    }
    for id in loops {
        let mut candidate = Candidate::new(project, words, unit, id);
        candidate.given.clone_from(&given);
        if let Some(site) = site::read(&candidate) {
            return Some(site);
        }
    }
    for (id, args) in handed_on {
        let Some(next) = callee(project, unit, id).filter(|next| next.id != helper.id) else { continue };
        let mut candidate = Candidate::new(project, words, unit, id);
        candidate.given.clone_from(&given);
        let given = self::given(&candidate, &next, args);
        if let Some(site) = in_helper(project, words, &next, given, depth + 1) {
            return Some(site);
        }
    }
    None
}

/// Whether a loop calls something that the function was handed over, or hands it on to what decides.
fn calls_param(unit: &Unit, id: Id, is_param: &impl Fn(&str) -> bool) -> bool {
    unit.below(id).any(|id| match unit.kind(id) {
        Kind::Call { of, .. } => unit.callee(*of).is_some_and(|name| name.full.is_none() && is_param(&name.text)),
        Kind::Method { args, .. } => {
            args.iter().any(|arg| matches!(unit.kind(arg.value), Kind::Name(name) if is_param(&name.text)))
        }
        _ => false,
    })
}

/// The site of a call: the numbers of the helper's loop, at the place of the call.
fn call_site(candidate: &Candidate, found: Site, args: &[Arg]) -> Option<Site> {
    let unit = candidate.unit;
    let mut policy = found.policy;
    // What is known neither of tries nor of delays is said of the helper's own loop.
    policy.attempts.known()?;
    policy.span = candidate.span();
    policy.name = candidate.shown_function().unwrap_or_else(|| "call".to_owned()).into();
    let operations: Vec<Id> =
        args.iter().map(|arg| arg.value).filter(|id| is_code(candidate.project, unit, *id)).collect();
    // What is wrong in the helper is said once, where it stands.
    policy.in_code = Some(Box::new(InCode {
        function: candidate.shown_function().map(Into::into),
        is_async: candidate.is_async(candidate.id),
        ..InCode::default()
    }));
    policy.purpose = Purpose::Request;
    Some(Site {
        policy,
        construct: candidate.id,
        operations,
        apart: Vec::new(),
        from: Finder::Loops,
        uses: Vec::new(),
        is_described: false,
    })
}
