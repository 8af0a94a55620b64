//! [`Upstream`]: what a proxy knows about a callee as a whole: pool, breaker, outlier detection, budget.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Caller, Dialect, Limit, Nanos, ObjectName, Position, ServiceRef, Sourced};
use crate::source::Span;

/// Settings for a callee at one position, which hold for every policy there: an Envoy cluster, an Istio DestinationRule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Upstream {
    /// Whom it is about.
    pub callee: ServiceRef,
    /// Other names that policies call it by (Envoy's cluster name).
    pub names: Vec<Arc<str>>,
    /// Whose proxies hold it.
    pub caller: Caller,
    /// Where it stands.
    pub position: Position,
    /// How it is spelled.
    pub dialect: Dialect,
    /// The cluster or rule.
    pub span: Span,
    /// Its environment (D-2).
    pub environment: Option<Arc<str>>,
    /// Retry budget.
    pub budget: Sourced<Limit<Box<Budget>>>,
    /// The cap on parallel retries (Envoy: 3 unless set; Istio: none unless set).
    pub retry_cap: Sourced<Limit<u64>>,
    /// Outlier detection or breaker.
    pub breaker: Sourced<Limit<Box<Breaker>>>,
    /// The cap on connections.
    pub max_connections: Sourced<Limit<u64>>,
    /// How long connecting may take.
    pub connect_timeout: Sourced<Limit<Nanos>>,
    /// How many hosts stand behind it, where they are listed.
    pub hosts: Option<u64>,
    /// The object that says so, where objects of its kind may be patched.
    pub object: Option<ObjectName>,
    /// Whether it is a patch: what it leaves out holds from the object of that name. The callee of one that names none is
    /// assumed until that object is known.
    pub is_patch: bool,
}

/// A retry budget: the share of traffic that may be retries (contracts.md D-13).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Budget {
    /// The share, as a fraction: 0.2 for 20 %.
    pub ratio: Sourced<f64>,
    /// Retries that are always allowed: a rate per second and instance, or a number in flight.
    pub floor: Sourced<Floor>,
    /// The window it is counted over.
    pub window: Sourced<Limit<Nanos>>,
    /// What the share is of.
    pub base: BudgetBase,
}

/// Retries that a budget always allows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Floor {
    /// Retries per second and instance.
    PerSecond(f64),
    /// Retries in flight per instance.
    InFlight(u64),
}

/// What a budget's share is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BudgetBase {
    /// First tries.
    Originals,
    /// All requests, retries included.
    All,
    /// Requests in flight.
    InFlight,
    /// Recent successes.
    Successes,
}

/// A circuit breaker or outlier detection. The default is one of which nothing but its being there is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Breaker {
    /// The share of failures that opens it.
    pub ratio: Option<Sourced<f64>>,
    /// Failures in a row that open it.
    pub consecutive: Option<Sourced<u64>>,
    /// Requests below which it never opens.
    pub minimum: Option<Sourced<u64>>,
    /// The window it looks at.
    pub window: Option<Sourced<Nanos>>,
    /// How long it stays open.
    pub open: Option<Sourced<Nanos>>,
    /// Requests let through to try whether it can close.
    pub probes: Option<Sourced<u64>>,
    /// Outlier detection only: the share of hosts that may be ejected, in per cent.
    pub max_ejection_percent: Option<Sourced<f64>>,
    /// Outlier detection only: whether one host may always be ejected.
    pub always_eject_one: bool,
    /// Where it stands relative to the retry of its policy.
    pub place: Place,
}

/// Where a breaker stands relative to the retry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Inside: it counts attempts.
    Inside,
    /// Outside: it counts finished sequences.
    Outside,
    /// Not told.
    #[default]
    Unknown,
}
