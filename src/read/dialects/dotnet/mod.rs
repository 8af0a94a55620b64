//! Settings of Microsoft.Extensions.Http.Resilience and Polly, as `appsettings*.json` and YAML files hold them.
//!
//! Which section belongs to which pipeline is decided in C#; what is here are sections of a shape that nothing else has:
//! the standard handler's (`TotalRequestTimeout`, `Retry`, `CircuitBreaker`, `AttemptTimeout`, `RateLimiter`), or a
//! `Retry` of its own with Polly's keys.
//! Source: dotnet/extensions `Microsoft.Extensions.Http.Resilience`, App-vNext/Polly `Polly.Core` (2026-08).

mod options;
mod overlay;
mod pipeline;
mod sections;
#[cfg(test)]
mod tests;

use crate::facts::{Callee, Evidence, Facts, Host, ServiceRef, Why};
use crate::read::Context;
use crate::read::data::tree::Node;
pub use overlay::finish;
use overlay::is_overlay;
use sections::{At, Sections};

/// The reader of .NET resilience settings. The words hold for every spelling of a key that is in use: .NET ignores case.
pub const DIALECT: crate::read::Dialect = crate::read::Dialect {
    name: "dotnet",
    words: &[
        "MaxRetryAttempts",
        "maxRetryAttempts",
        "BackoffType",
        "backoffType",
        "UseJitter",
        "useJitter",
        "TotalRequestTimeout",
        "totalRequestTimeout",
        "AttemptTimeout",
        "attemptTimeout",
        "CircuitBreaker",
        "circuitBreaker",
        "DefaultRateLimiterOptions",
        "defaultRateLimiterOptions",
    ],
    recognises,
    read,
};

/// Keys of a retry strategy that show it to be Polly's.
const RETRY_KEYS: &[&str] = &["maxretryattempts", "backofftype", "usejitter", "shouldretryafterheader"];
/// Every key of a retry strategy.
const ALL_RETRY_KEYS: &[&str] =
    &["maxretryattempts", "backofftype", "usejitter", "shouldretryafterheader", "delay", "maxdelay"];
/// Keys of retry settings that are somebody else's (MicroProfile, Spring).
const FOREIGN_KEYS: &[&str] = &["maxretries", "maxattempts", "attempts", "retries"];
/// Keys of a circuit breaker.
const BREAKER_KEYS: &[&str] = &["failureratio", "minimumthroughput", "samplingduration", "breakduration"];

/// What a section configures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The standard handler: everything that is left out has its default.
    Standard,
    /// An HTTP retry strategy; which timeouts stand around it is decided in code.
    HttpRetry,
    /// A retry strategy of Polly itself, whose defaults are others.
    PollyRetry,
}

/// Whether some section of a document configures retrying.
pub fn recognises(document: Node<'_>) -> bool {
    // A Kubernetes object is none of .NET's business, whatever its fields are called.
    if !document.is_map() || (document.get("apiVersion").is_some() && document.get("kind").is_some()) {
        return false;
    }
    let sections = Sections::of(document);
    sections.iter().any(|at| classify(&sections, at).is_some())
}

/// Reads every such section.
pub fn read(document: Node<'_>, context: &Context<'_>, facts: &mut Facts) {
    let sections = Sections::of(document);
    let is_overlay = is_overlay(context.path);
    for at in sections.iter() {
        if let Some(kind) = classify(&sections, at) {
            facts.policies.push(pipeline::policy(&sections, at, kind, is_overlay, callee(&sections, at)));
        }
    }
}

/// What a section configures, if anything.
fn classify(sections: &Sections<'_>, at: At) -> Option<Kind> {
    let inner = |key: &str, keys: &[&str]| sections.child(at, key).is_some_and(|child| sections.has_any(child, keys));
    let limiter = sections
        .child(at, "ratelimiter")
        .and_then(|limiter| sections.child(limiter, "defaultratelimiteroptions"))
        .is_some_and(|options| sections.has_any(options, &["permitlimit", "queuelimit"]));
    let parts = [
        inner("totalrequesttimeout", &["timeout"]),
        inner("retry", ALL_RETRY_KEYS) && !inner("retry", FOREIGN_KEYS),
        inner("circuitbreaker", BREAKER_KEYS),
        inner("attempttimeout", &["timeout"]),
        limiter,
    ];
    if parts.iter().filter(|part| **part).count() >= 2 {
        return Some(Kind::Standard);
    }
    // A retry strategy alone: other systems have keys like these in other cases, so .NET's own case is wanted.
    let retry = sections.child(at, "retry")?;
    let is_cased = |child: At| {
        ["MaxRetryAttempts", "BackoffType", "UseJitter", "ShouldRetryAfterHeader"].contains(&sections.key(child))
    };
    let is_dotnet = RETRY_KEYS.iter().filter_map(|key| sections.child(retry, key)).any(is_cased);
    if !is_dotnet {
        return None;
    }
    let is_named = |words: &[&str]| {
        sections.enclosing(at).any(|at| {
            let key = sections.key(at).to_ascii_lowercase();
            words.iter().any(|word| key.contains(word))
        })
    };
    if sections.value(retry, "shouldretryafterheader").is_some() {
        Some(Kind::HttpRetry)
    } else if is_named(&["standardresilience"]) {
        Some(Kind::Standard)
    } else if is_named(&["polly", "pipeline"]) || inner("timeout", &["timeout"]) {
        Some(Kind::PollyRetry)
    } else {
        Some(Kind::HttpRetry)
    }
}

/// Keys that say what a section is and not whose.
const GENERIC: &[&str] = &[
    "resilience",
    "resilienceoptions",
    "resiliencesettings",
    "resiliencepipeline",
    "resiliencepipelines",
    "standardresilience",
    "standardresiliencehandler",
    "httpresilience",
    "httpstandardresilience",
    "httpstandardresilienceoptions",
    "httpclient",
    "httpclients",
    "httpclientfactory",
    "http",
    "grpc",
    "client",
    "clients",
    "services",
    "service",
    "endpoints",
    "apis",
    "api",
    "polly",
    "retry",
    "retryoptions",
    "retrysettings",
    "policy",
    "policies",
    "pipeline",
    "pipelines",
    "options",
    "settings",
    "configuration",
    "config",
    "handler",
    "default",
    "defaults",
    "app",
    "appsettings",
    "data",
];

/// Keys beside a section that hold the address of what the client calls.
const ADDRESSES: &[&str] = &["baseaddress", "baseurl", "baseuri", "address", "url", "uri", "endpoint", "host"];

/// Whom the client of a section calls: the address beside it, else what the nearest telling key around it names.
fn callee(sections: &Sections<'_>, at: At) -> Callee {
    // In the section itself, or beside it in the section of its client.
    for place in sections.enclosing(at).take(2) {
        for key in ADDRESSES {
            let Some(node) = sections.value(place, key) else { continue };
            if let Some(host) = node.text().and_then(Host::parse) {
                let service =
                    ServiceRef { host, from_namespace: None, evidence: Evidence::Written, at: Some(node.span()) };
                return Callee::Service { service, hosts: Vec::new() };
            }
        }
        if !is_generic(sections.key(place)) {
            break;
        }
    }
    let named = sections.enclosing(at).map(|at| sections.key(at)).find(|key| !is_generic(key));
    match named {
        Some(name) => Callee::Named(vec![name.into()]),
        None => Callee::Unknown(Why::Other("the client that uses this section is named in code".into())),
    }
}

fn is_generic(key: &str) -> bool {
    key.bytes().all(|b| b.is_ascii_digit()) || GENERIC.contains(&key.to_ascii_lowercase().as_str())
}
