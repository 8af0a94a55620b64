//! One section becomes one policy, with the defaults of its kind and the checks that run across its settings.

use super::options::{BREAK, DELAY, Options, TIMEOUT};
use super::sections::{At, Sections};
use super::{ALL_RETRY_KEYS, Kind};
use crate::facts::{
    Attempts, BackoffKind, Breaker, Callee, Class, Classes, Confidence, Count, Counts, Dialect, Jitter, Limit, Methods,
    Nanos, Origin, Place, Policy, Sourced, Why,
};
use crate::read::data::value;
use crate::source::Span;

/// `int.MaxValue`: as a count of retries it means without end.
const ENDLESS: u64 = 2_147_483_647;

/// Why jitter is unknown where it is switched on in a file that leaves the growth of delays to another one.
pub(super) const GROWTH_ELSEWHERE: &str = "how delays grow is left to appsettings.json or to the default";

/// What the HTTP handlers retry unless code says otherwise: any 5xx, 408, 429, lost connections, attempts that timed out.
const TRANSIENT: Classes = Classes::of(&[
    Class::Connect,
    Class::Unsent,
    Class::Reset,
    Class::TryTimeout,
    Class::Overload,
    Class::BadGateway,
    Class::ServerError,
    Class::RateLimited,
    Class::Conflict,
]);

/// The policy of a section.
pub(super) fn policy(sections: &Sections<'_>, at: At, kind: Kind, is_overlay: bool, callee: Callee) -> Policy {
    let by = match kind {
        Kind::Standard => ".NET standard handler",
        Kind::HttpRetry => ".NET HTTP retry",
        Kind::PollyRetry => "Polly",
    };
    let retry = sections.child(at, "retry");
    let own = if kind == Kind::Standard { Some(at) } else { retry };
    let span = own.and_then(|at| sections.span(at)).unwrap_or(Span::new(crate::source::FileId(0), 0..0));
    let name = match own.map(|at| sections.path(at)).unwrap_or_default() {
        path if path.is_empty() => "resilience settings".to_string(),
        path => path,
    };
    let mut policy = Policy::new(Dialect::Dotnet, "dotnet", by, span, name);
    policy.callee = callee;
    let mut options = Options { by, elsewhere: is_overlay.then_some(span), ineffective: Vec::new() };

    read_total(&mut policy, sections, at, kind, &mut options);
    read_retry(&mut policy, sections, retry, kind, &mut options);
    read_breaker(&mut policy, sections, at, kind, &mut options);
    policy.methods = Sourced::default_of(Methods::Any, by, "DisableForUnsafeHttpMethods");
    match kind {
        Kind::Standard | Kind::HttpRetry => {
            policy.retries_on = Sourced::default_of(TRANSIENT, by, "ShouldHandle");
        }
        Kind::PollyRetry => {
            policy.retries_on = Sourced::unknown(Why::Other("`ShouldHandle` is set in code".into()), span);
        }
    }
    // Whether a retry is logged is told in code (`OnRetry`); the handlers' own telemetry counts each.
    policy.observed = match kind {
        Kind::Standard | Kind::HttpRetry => Sourced::default_of(true, by, "telemetry"),
        Kind::PollyRetry => Sourced::unknown(Why::Other("`OnRetry` is set in code".into()), span),
    };
    if kind == Kind::Standard {
        check_limits(&policy, sections, at, &mut options);
    }
    let is_partial = |retry| ALL_RETRY_KEYS.iter().take(4).any(|key| sections.child(retry, key).is_none());
    if is_overlay && retry.is_none_or(is_partial) {
        policy.confidence = Confidence::Low;
    }
    policy.ineffective = options.ineffective;
    policy
}

/// The limits around the retry and inside it.
fn read_total(policy: &mut Policy, sections: &Sections<'_>, at: At, kind: Kind, options: &mut Options) {
    let timeout = |key: &str| sections.child(at, key).and_then(|section| sections.value(section, "timeout"));
    if kind != Kind::Standard {
        let unknown = || Why::Other("the timeouts around this retry are set in code".into());
        policy.total.limit = Sourced::unknown(unknown(), policy.span);
        policy.attempt_timeout = Sourced::unknown(unknown(), policy.span);
        return;
    }
    policy.total.limit = options.limit(timeout("totalrequesttimeout"), "Timeout", TIMEOUT, |options| {
        options.left_out(Limit::At(Nanos::from_secs(30)), "TotalRequestTimeout:Timeout")
    });
    policy.attempt_timeout = options.limit(timeout("attempttimeout"), "Timeout", TIMEOUT, |options| {
        options.left_out(Limit::At(Nanos::from_secs(10)), "AttemptTimeout:Timeout")
    });
}

/// What to do where no retry is wanted: no number says so.
fn no_retry(kind: Kind) -> &'static str {
    match kind {
        Kind::Standard => {
            "no number switches retries off; where none are wanted, leave the retry strategy out: \
             `AddResilienceHandler` without `AddRetry` instead of the standard handler, which always retries"
        }
        Kind::HttpRetry | Kind::PollyRetry => {
            "no number switches retries off; where none are wanted, leave the retry strategy out: no `AddRetry` in the \
             pipeline"
        }
    }
}

fn read_retry(policy: &mut Policy, sections: &Sections<'_>, retry: Option<At>, kind: Kind, options: &mut Options) {
    let setting = |key: &str| sections.value(retry?, key);
    let is_http = kind != Kind::PollyRetry;

    let mut written = None;
    let number = setting("maxretryattempts");
    let is_zero = number.and_then(|node| value::whole(node.text()?.trim())) == Some(0);
    policy.attempts = options.value_or(
        number,
        "MaxRetryAttempts",
        |options| options.left_out(Attempts::Times(4), "MaxRetryAttempts"),
        "a number of retries from 1 on",
        |text| {
            let retries = value::whole(text).filter(|retries| (1..=ENDLESS).contains(retries))?;
            written = Some(retries);
            Some(if retries == ENDLESS { Attempts::Unbounded } else { Attempts::Times(retries + 1) })
        },
        if is_zero { no_retry(kind) } else { "`\"MaxRetryAttempts\": 1`" }.to_owned(),
    );
    if policy.attempts.known() == Some(&Attempts::Unbounded) && policy.total.limit.limit().is_some() {
        policy.attempts = policy.attempts.clone().map(|_| Attempts::ByTime);
    }
    policy.count = written.map(|written| Count { key: "MaxRetryAttempts".into(), written, counts: Counts::Retries });

    let usual = if is_http { BackoffKind::Exponential } else { BackoffKind::Fixed };
    policy.backoff.kind = options.value(
        setting("backofftype"),
        "BackoffType",
        |options| options.left_out(usual, "BackoffType"),
        "Constant, Linear or Exponential",
        |text| match text.to_ascii_lowercase().as_str() {
            "constant" | "0" => Some(BackoffKind::Fixed),
            "linear" | "1" => Some(BackoffKind::Linear),
            "exponential" | "2" => Some(BackoffKind::Exponential),
            _ => None,
        },
        "\"Exponential\"",
    );
    policy.backoff.base =
        options.time(setting("delay"), "Delay", DELAY, |options| options.left_out(Nanos::from_secs(2), "Delay"));
    policy.backoff.factor = Sourced::default_of(2.0, options.by, "BackoffType");
    policy.backoff.cap =
        options.limit(setting("maxdelay"), "MaxDelay", DELAY, |options| options.left_out(Limit::None, "MaxDelay"));

    let switch = options.value(
        setting("usejitter"),
        "UseJitter",
        |options| options.left_out(is_http, "UseJitter"),
        "true or false",
        boolean,
        "true",
    );
    policy.jitter = jitter(switch, &policy.backoff.kind);
    policy.reads_retry_after = if is_http {
        options.value(
            setting("shouldretryafterheader"),
            "ShouldRetryAfterHeader",
            |options| options.left_out(true, "ShouldRetryAfterHeader"),
            "true or false",
            boolean,
            "true",
        )
    } else {
        Sourced::unknown(Why::Other("`DelayGenerator` is set in code".into()), policy.span)
    };
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Jitter by the kind of growth: decorrelated on an exponential, a quarter to either side on the others; the largest delay
/// holds for what comes out.
pub(super) fn jitter(switch: Sourced<bool>, kind: &Sourced<BackoffKind>) -> Sourced<Jitter> {
    if switch.known() == Some(&true) && kind.known().is_none() {
        let why = match kind.why() {
            Some(Why::Other(_)) | None => Why::Other(GROWTH_ELSEWHERE.into()),
            Some(why) => why.clone(),
        };
        let span = kind.span();
        return span.map_or(switch.map(|_| Jitter::DECORRELATED), |span| Sourced::unknown(why, span));
    }
    let is_exponential = kind.known() == Some(&BackoffKind::Exponential);
    switch.map(|on| match (on, is_exponential) {
        (false, _) => Jitter::NONE,
        (true, true) => Jitter::DECORRELATED,
        (true, false) => Jitter::proportional(0.25),
    })
}

fn read_breaker(policy: &mut Policy, sections: &Sections<'_>, at: At, kind: Kind, options: &mut Options) {
    let section = sections.child(at, "circuitbreaker");
    if kind != Kind::Standard {
        policy.breaker =
            Sourced::unknown(Why::Other("the pipeline around this retry is built in code".into()), policy.span);
        return;
    }
    let setting = |key: &str| sections.value(section?, key);
    let ratio = options.value(
        setting("failureratio"),
        "FailureRatio",
        |options| options.left_out(0.1, "FailureRatio"),
        "a share from 0 to 1",
        |text| value::number(text).filter(|ratio| (0.0..=1.0).contains(ratio)),
        "0.1",
    );
    let minimum = options.value(
        setting("minimumthroughput"),
        "MinimumThroughput",
        |options| options.left_out(100, "MinimumThroughput"),
        "a number of requests from 2 on",
        |text| value::whole(text).filter(|count| (2..=ENDLESS).contains(count)),
        "100",
    );
    let window = options.time(setting("samplingduration"), "SamplingDuration", BREAK, |options| {
        options.left_out(Nanos::from_secs(30), "SamplingDuration")
    });
    let open = options.time(setting("breakduration"), "BreakDuration", BREAK, |options| {
        options.left_out(Nanos::from_secs(5), "BreakDuration")
    });
    let breaker = Limit::At(Breaker {
        ratio: Some(ratio),
        consecutive: None,
        minimum: Some(minimum),
        window: Some(window),
        open: Some(open),
        probes: Some(Sourced::default_of(1, options.by, "CircuitBreaker")),
        max_ejection_percent: None,
        always_eject_one: false,
        place: Place::Inside,
    });
    policy.breaker = match section.and_then(|section| sections.span(section)) {
        Some(span) => Sourced::written(breaker, span),
        None => Sourced::default_of(breaker, options.by, "CircuitBreaker"),
    }
    .boxed();
}

/// What the handler checks across its settings at start-up.
fn check_limits(policy: &Policy, sections: &Sections<'_>, at: At, options: &mut Options) {
    let site = |values: &[Option<Span>]| values.iter().flatten().next().copied();
    let written = |value: &Sourced<Limit<Nanos>>| value.span().filter(|_| matches!(value.origin, Origin::Written(_)));
    let Some(attempt) = policy.attempt_timeout.limit().copied() else { return };
    let attempt_at = written(&policy.attempt_timeout);
    if let Some(total) = policy.total.limit.limit().copied()
        && attempt > total
        && let Some(span) = site(&[attempt_at, written(&policy.total.limit)])
    {
        let message = format!(
            "the handler is rejected when the application starts: one try may take {attempt}, all of them together {total}"
        );
        let label = "the attempt timeout must not exceed the total".to_string();
        let help = format!("`\"TotalRequestTimeout\": {{ \"Timeout\": \"{}\" }}`", attempt.times(3).as_timespan());
        options.reject(span, message, label, help);
    }
    let window = policy.breaker.limit().and_then(|breaker| breaker.window.clone());
    if let Some(window) = window
        && let Some(length) = window.known().copied()
        && length < attempt.times(2)
    {
        let window_at = window.span().filter(|_| window.is_written());
        let breaker_at = sections.child(at, "circuitbreaker").and_then(|breaker| sections.span(breaker));
        let Some(span) = site(&[window_at, attempt_at, breaker_at]) else { return };
        let by_default = if window_at.is_some() { "" } else { " (its default)" };
        let message = format!(
            "the handler is rejected when the application starts: `SamplingDuration` is {length}{by_default}, less than two tries of {attempt}"
        );
        let label = "`SamplingDuration` must be at least twice the attempt timeout".to_string();
        let help = format!("`\"CircuitBreaker\": {{ \"SamplingDuration\": \"{}\" }}`", attempt.times(2).as_timespan());
        options.reject(span, message, label, help);
    }
}
