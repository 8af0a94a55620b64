//! From what was set to a policy: counts, delays, and limits by where they stand in a stack.

use std::borrow::Cow;

use super::super::format::{Layer, Target};
use super::guards::{boxed, breaker, breaker_of, budget, hedging};
use super::meaning::{Read, classes, jitter, limit, methods, number, switch, time, whole};
use super::spot::Spot;
use super::state::{Got, Laid, Said, State};
use crate::facts::{
    Attempts, Backoff, BackoffKind, Breaker, Check, Classes, Confidence, Count, Counts, Dialect, Freeze, Frozen,
    InCode, Ineffective, Limit, Measures, Nanos, Place, Policy, PolicyKind, Purpose, Sourced, Total, Why,
};
use crate::read::code::site::{COUNTLESS, LIMITS_ITSELF, unseen_limit};
use crate::source::Span;

/// What is told of a policy beside its values.
#[derive(Clone, Debug)]
pub(super) struct About {
    /// The construct.
    pub(super) span: Span,
    /// What it is called.
    pub(super) name: String,
    /// The library.
    pub(super) by: &'static str,
    /// What only code has.
    pub(super) in_code: InCode,
    /// Whether something is tried here, so that a count must be somewhere.
    pub(super) is_run: bool,
}

/// The policies of a state: one for each layer that retries, outermost first; one without any retrying where there is none.
/// `inner`: the client inside of all layers, where one is told of; its inside none if it is not followed.
pub(super) fn policies(mut state: State, inner: Option<Option<State>>, about: &About) -> Vec<(Policy, Option<Spot>)> {
    let mut layers = std::mem::take(&mut state.layers);
    if state.is_last_outermost {
        layers.reverse();
    }
    let mut all = Vec::new();
    for (i, layer) in layers.iter().enumerate().filter(|(_, layer)| layer.kind == Layer::Retry) {
        let mut whole = state.clone();
        whole.merge(layer.state.clone());
        let mut policy = policy(&whole, about);
        let (before, after) = (layers.get(..i).unwrap_or_default(), layers.get(i + 1..).unwrap_or_default());
        outside(&mut policy, before);
        policy.attempt_timeout = match after.iter().position(|layer| layer.kind == Layer::Retry) {
            Some(next) => between(&layer.state, after.get(..next).unwrap_or_default(), about),
            None => inside(&whole, after, inner.as_ref(), about),
        };
        around(&mut policy, before, Place::Outside);
        around(&mut policy, after, Place::Inside);
        all.push((policy, whole.given));
    }
    if all.is_empty() {
        let mut policy = policy(&state, about);
        policy.attempt_timeout = inside(&state, &layers, inner.as_ref(), about);
        around(&mut policy, &layers, Place::Unknown);
        all.push((policy, state.given));
    }
    all
}

/// The limits of time layers around a retry are limits of all tries.
fn outside(policy: &mut Policy, layers: &[Laid]) {
    let Some(limit) = least(layers.iter().filter_map(limit_of)) else { return };
    let is_nearer = match (policy.total.limit.known(), limit.known()) {
        (Some(own), Some(outer)) => outer <= own,
        _ => true,
    };
    if is_nearer {
        policy.total = Total { limit, measures: Measures::Wall, check: Check::Cuts };
    }
}

/// The limit of one try: that of the policy itself, of time layers inside of the retry, of the client inside of them all.
fn inside(state: &State, layers: &[Laid], inner: Option<&Option<State>>, about: &About) -> Sourced<Limit<Nanos>> {
    let own = state.get(Target::AttemptTimeout).or_else(|| whole_limit(state, false)).map(|said| said.sourced(limit));
    let of_client = inner.and_then(|client| client.as_ref()).and_then(try_limit);
    let all = layers.iter().filter_map(limit_of).chain(of_client).chain(own);
    let is_followed = !matches!(inner, Some(None));
    let told = least(all).filter(|limit| is_followed || limit.limit().is_some());
    told.unwrap_or_else(|| {
        unseen_limit(if is_followed { LIMITS_ITSELF } else { "the client inside is not followed" }, about.by)
    })
}

/// The limit of one try that is made of tries further inside: what limits each of those says nothing of them together.
fn between(own: &State, layers: &[Laid], about: &About) -> Sourced<Limit<Nanos>> {
    let own = own.get(Target::AttemptTimeout).map(|said| said.sourced(limit));
    least(layers.iter().filter_map(limit_of).chain(own)).unwrap_or_else(|| unseen_limit(LIMITS_ITSELF, about.by))
}

/// The limit that stands around everything a construct does: around its own retries (`retries`), or its only try.
fn whole_limit(state: &State, retries: bool) -> Option<&Said> {
    state.get(Target::Limit).filter(|_| state.retries() == retries)
}

/// The limit that a client sets on one call of it.
fn try_limit(client: &State) -> Option<Sourced<Limit<Nanos>>> {
    let mut layers = client.layers.clone();
    if client.is_last_outermost {
        layers.reverse();
    }
    let first_retry = layers.iter().position(|layer| layer.kind == Layer::Retry);
    // Of a client that tries again, the limit of one of its tries is none of them all.
    let retries = client.retries() || first_retry.is_some();
    let targets = [Target::Total, Target::Limit].into_iter().chain((!retries).then_some(Target::AttemptTimeout));
    let own = targets.filter_map(|target| client.get(target));
    let layers = layers.iter().take(first_retry.unwrap_or(layers.len())).filter_map(limit_of);
    least(own.map(|said| said.sourced(limit)).chain(layers))
}

fn limit_of(layer: &Laid) -> Option<Sourced<Limit<Nanos>>> {
    if layer.kind != Layer::Timeout {
        return None;
    }
    let targets = [Target::Limit, Target::Total, Target::AttemptTimeout];
    let said = targets.into_iter().find_map(|target| layer.state.get(target));
    Some(said.map_or_else(
        || Sourced::unknown(Why::Other("a time limit that is not told".into()), layer.at),
        |said| said.sourced(limit),
    ))
}

/// The least of several limits; unknown if one of them is.
fn least(all: impl Iterator<Item = Sourced<Limit<Nanos>>>) -> Option<Sourced<Limit<Nanos>>> {
    all.reduce(|a, b| match (a.known(), b.known()) {
        (None, _) => a,
        (_, None) => b,
        // `At` is less than `None`.
        (Some(x), Some(y)) => {
            if y < x {
                b
            } else {
                a
            }
        }
    })
}

/// Breakers and hedges among the layers around or inside of a retry.
fn around(policy: &mut Policy, layers: &[Laid], place: Place) {
    for layer in layers {
        match layer.kind {
            Layer::Breaker => {
                let breaker = Breaker { place, ..breaker(&layer.state) };
                policy.breaker = Sourced::written(Limit::At(Box::new(breaker)), layer.at);
            }
            Layer::Hedging => policy.hedging = hedging(&layer.state),
            Layer::Retry | Layer::Timeout | Layer::Limiter | Layer::Other => {}
        }
    }
}

/// A policy of everything that was set, without its layers.
fn policy(state: &State, about: &About) -> Policy {
    let mut policy = Policy::new(Dialect::Code, about.by, about.by, about.span, about.name.as_str());
    policy.kind = PolicyKind::Library;
    policy.confidence = state.confidence.unwrap_or(Confidence::High);
    policy.jitter_switch = state.has_jitter_switch;
    policy.in_code = Some(Box::new(about.in_code.clone()));
    let text = |target: Target| match state.get(target).map(|said| &said.got) {
        Some(Got::Word(word)) => Some(word.clone()),
        _ => None,
    };

    if let Some(said) = state.get(Target::Total) {
        policy.total.limit = said.sourced(limit);
        policy.total.check = Check::BetweenAttempts;
    }
    if text(Target::TotalMeasures).as_deref() == Some("delays") {
        policy.total.measures = Measures::Delays;
    }
    if let Some(word) = text(Target::TotalCheck) {
        policy.total.check = if &*word == "cuts" { Check::Cuts } else { Check::BetweenAttempts };
    }
    if let Some(said) = whole_limit(state, true) {
        policy.total = Total { limit: said.sourced(limit), measures: Measures::Wall, check: Check::Cuts };
    }
    match attempts(state, about) {
        Some(attempts) => policy.attempts = until(attempts, &policy.total.limit),
        None => policy.kind = PolicyKind::TimeLimit,
    }
    policy.count = count(state);
    policy.backoff = backoff(state, policy.backoff);
    if let Some(said) = state.get(Target::Jitter) {
        policy.jitter = said.sourced(jitter);
    }
    if let Some(said) = state.get(Target::ConnectTimeout) {
        policy.connect_timeout = Some(said.sourced(limit));
    }
    if let Some(said) = state.get(Target::Predicate) {
        policy.retries_on = said.sourced(|got| classes(got).map(|(all, _)| all));
        policy.names_classes = classes(&said.got).map_or(Classes::NONE, |(_, named)| named);
        if said.why().is_some() {
            policy.confidence = policy.confidence.min(Confidence::Medium);
        }
    }
    if let Some(said) = state.get(Target::Methods) {
        policy.methods = said.sourced(methods);
    }
    if let Some(said) = state.get(Target::ReadsRetryAfter) {
        policy.reads_retry_after = said.sourced(switch);
    }
    if let Some(said) = state.get(Target::Observed) {
        policy.observed = said.sourced(switch);
    }
    if let Some(said) = state.get(Target::Budget) {
        policy.budget = said.sourced(|got| budget(got, said).map(boxed));
    }
    if let Some(said) = state.get(Target::Breaker) {
        policy.breaker = said.sourced(|got| match got {
            Got::None => Ok(Limit::None),
            Got::Fields(fields) => Ok(Limit::At(Box::new(breaker_of(fields)))),
            _ => Err(Why::Other("a breaker that is not followed".into())),
        });
    }
    if state.get(Target::Hedge).is_some_and(|said| !matches!(said.got, Got::None)) {
        policy.hedging = hedging(state);
    }
    policy.purpose = match text(Target::Purpose).as_deref() {
        Some("reconnect") => Purpose::Reconnect,
        Some("startup") => Purpose::Startup,
        Some("background") => Purpose::Background,
        _ => Purpose::Request,
    };
    if let Some(name) = text(Target::Name) {
        policy.name = name;
    }
    only_in_code(state, &mut policy, about);
    policy
}

/// What rules about code ask: waits that block, frozen jitter, settings without effect.
fn only_in_code(state: &State, policy: &mut Policy, about: &About) {
    policy.ineffective = state
        .inert
        .iter()
        .map(|inert| Ineffective {
            span: inert.at,
            message: format!("`{}` has no effect", inert.key),
            label: inert.why.to_string(),
            help: inert.help.clone().unwrap_or_else(|| inert.why.to_string()),
            rejected: false,
        })
        .collect();
    let Some(in_code) = &mut policy.in_code else { return };
    in_code.help = state.help.clone();
    let blocks = matches!(state.get(Target::Blocking).map(|said| &said.got), Some(Got::Bool(true)));
    if blocks && in_code.is_async {
        in_code.blocking_sleep = Some(about.span);
    }
    let is_random = policy.jitter.known().is_some_and(|jitter| !jitter.is_none());
    if let Some(Said { got: Got::Word(how), spans, .. }) = state.get(Target::Frozen).filter(|_| is_random) {
        let how = match &**how {
            "seed" => Freeze::Seed,
            "sequence" => Freeze::Sequence,
            _ => Freeze::DrawnOnce,
        };
        in_code.frozen_jitter = Some(Frozen { span: spans.first().copied().unwrap_or(about.span), how });
    }
}

/// How often it is tried; none if nothing at all is said about retrying.
fn attempts(state: &State, about: &About) -> Option<Sourced<Attempts>> {
    let read = |got: &Got, more: u64| match got {
        Got::Word(_) | Got::None => Ok(Attempts::Unbounded),
        got => whole(got).map(|n| match n {
            n if n as f64 > COUNTLESS => Attempts::Unbounded,
            n => Attempts::Times(n.saturating_add(more).max(1)),
        }),
    };
    if let Some(said) = state.get(Target::Retries) {
        return Some(said.sourced(|got| read(got, 1)));
    }
    if let Some(said) = state.get(Target::Attempts) {
        return Some(said.sourced(|got| read(got, 0)));
    }
    let says_something = [Target::Backoff, Target::Schedule, Target::Jitter, Target::Predicate];
    let retries = about.is_run || says_something.iter().any(|target| state.get(*target).is_some());
    retries.then(|| Sourced::unknown(Why::Other("the count is not told".into()), about.span))
}

/// Without a count, a limit on time is what ends it.
fn until(attempts: Sourced<Attempts>, total: &Sourced<Limit<Nanos>>) -> Sourced<Attempts> {
    if attempts.known() != Some(&Attempts::Unbounded) {
        return attempts;
    }
    match (total.known(), total.why()) {
        (Some(Limit::At(_)), _) => attempts.map(|_| Attempts::ByTime),
        (_, Some(why)) => {
            Sourced { value: crate::facts::Value::Unknown(Box::new(why.clone())), origin: total.origin.clone() }
        }
        _ => attempts,
    }
}

/// How the count is spelled, where a method, field or argument spells it.
fn count(state: &State) -> Option<Count> {
    [(Target::Retries, Counts::Retries), (Target::Attempts, Counts::Attempts)].into_iter().find_map(
        |(target, counts)| {
            let said = state.get(target).filter(|said| !said.spans.is_empty())?;
            let key = Cow::Owned(said.key.as_ref()?.to_string());
            Some(Count { key, written: whole(&said.got).ok()?, counts })
        },
    )
}

fn backoff(state: &State, mut backoff: Backoff) -> Backoff {
    if let Some(said) = state.get(Target::Schedule) {
        backoff.kind = said.sourced(|got| match got {
            Got::List(items) => {
                items.iter().map(|item| time(&item.got)).collect::<Read<Vec<Nanos>>>().map(BackoffKind::Schedule)
            }
            _ => Err(Why::Other("delays that are not followed".into())),
        });
    } else if let Some(said) = state.get(Target::Backoff) {
        backoff.kind = said.sourced(|got| match got {
            Got::None => Ok(BackoffKind::None),
            Got::Word(word) => match &**word {
                "fixed" => Ok(BackoffKind::Fixed),
                "linear" => Ok(BackoffKind::Linear),
                "exponential" => Ok(BackoffKind::Exponential),
                "fibonacci" => Ok(BackoffKind::Fibonacci),
                _ => Err(Why::Other("delays of an unknown kind".into())),
            },
            _ => Err(Why::Other("delays of an unknown kind".into())),
        });
    }
    if let Some(said) = state.get(Target::Base) {
        backoff.base = said.sourced(time);
    }
    if let Some(said) = state.get(Target::Factor) {
        backoff.factor = said.sourced(number);
    }
    if let Some(said) = state.get(Target::Cap) {
        backoff.cap = said.sourced(limit);
    }
    match state.get(Target::SkipDelays).map(|said| (said, whole(&said.got))) {
        Some((_, Ok(skip))) => backoff.skip = u32::try_from(skip).unwrap_or(u32::MAX),
        Some((said, Err(why))) => backoff.kind = said.sourced(|_| Err(why)),
        None => {}
    }
    backoff
}

/// As many retries as nominal delays add up to less than a limit.
pub(super) fn fitting(state: &State, within: &Got) -> Got {
    /// More are as good as no limit on the count.
    const MOST: u64 = 100_000;
    let limit = match time(within) {
        Ok(limit) => limit,
        Err(why) => return Got::Unknown(why),
    };
    let none = Policy::new(Dialect::Code, "", "", Span { file: crate::source::FileId(0), start: 0, end: 0 }, "");
    let backoff = backoff(state, none.backoff);
    let mut sum = Nanos::ZERO;
    for i in 1..=MOST {
        let Some(delay) = backoff.nominal(i) else {
            let why = [backoff.kind.why(), backoff.base.why(), backoff.factor.why(), backoff.cap.why()];
            let why = why.into_iter().flatten().next().cloned();
            return Got::Unknown(why.unwrap_or_else(|| Why::Other("delays that are not known".into())));
        };
        sum = sum + delay;
        if sum >= limit {
            return Got::Int(i128::from(i - 1));
        }
    }
    Got::Word("unbounded".into())
}
