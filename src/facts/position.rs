//! Where a policy stands on its edge, and in what it is spelled.

use serde::{Deserialize, Serialize};

/// Where a retrying party stands on an edge, outermost first (D-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    /// The caller's own code and its settings.
    CallerCode,
    /// The caller's sidecar.
    ClientSidecar,
    /// An egress gateway.
    EgressGateway,
    /// A mesh gateway, API gateway or load balancer in between.
    Gateway,
    /// The callee's sidecar, Istio's inbound policy too.
    ServerSidecar,
    /// The callee's own server and middleware.
    CalleeInbound,
    /// A message broker.
    Broker,
    /// A message consumer.
    Consumer,
    /// A job runner.
    Job,
    /// A workflow engine.
    Workflow,
}

impl Position {
    /// All of them, outermost first.
    pub const ALL: [Position; 10] = [
        Position::CallerCode,
        Position::ClientSidecar,
        Position::EgressGateway,
        Position::Gateway,
        Position::ServerSidecar,
        Position::CalleeInbound,
        Position::Broker,
        Position::Consumer,
        Position::Job,
        Position::Workflow,
    ];

    /// The name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Position::CallerCode => "caller-code",
            Position::ClientSidecar => "client-sidecar",
            Position::EgressGateway => "egress-gateway",
            Position::Gateway => "gateway",
            Position::ServerSidecar => "server-sidecar",
            Position::CalleeInbound => "callee-inbound",
            Position::Broker => "broker",
            Position::Consumer => "consumer",
            Position::Job => "job",
            Position::Workflow => "workflow",
        }
    }

    /// The position of a name.
    pub fn parse(name: &str) -> Option<Position> {
        Position::ALL.into_iter().find(|position| position.name() == name)
    }

    /// The coarse form that `policies` JSON calls `layer` (D-19).
    pub fn layer(self) -> &'static str {
        match self {
            Position::CallerCode | Position::Consumer | Position::Job => "application",
            other => other.name(),
        }
    }

    /// Whether a user's request waits here (D-17): such positions have the request-path limits.
    pub fn is_request_path(self) -> bool {
        self <= Position::CalleeInbound
    }

    /// Whether a proxy stands here, which answers in its own words when it gives up (D-10).
    pub fn is_proxy(self) -> bool {
        matches!(self, Position::ClientSidecar | Position::EgressGateway | Position::Gateway | Position::ServerSidecar)
    }
}

/// The spelling of a policy: what its help text is written in and how its proxy behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Envoy's own configuration.
    Envoy,
    /// Istio resources.
    Istio,
    /// Microsoft.Extensions.Http.Resilience settings.
    Dotnet,
    /// The generic `retry:` shape in YAML or JSON that no known reader claims.
    Generic,
    /// A services manifest.
    Manifest,
    /// Source code.
    Code,
}

impl Dialect {
    /// The proxy behind it, if one is: decides what is handed outward after giving up.
    pub fn proxy(self) -> Option<Proxy> {
        match self {
            Dialect::Envoy | Dialect::Istio => Some(Proxy::Envoy),
            Dialect::Dotnet | Dialect::Generic | Dialect::Manifest | Dialect::Code => None,
        }
    }
}

/// Proxies by what they hand outward (the table of D-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Proxy {
    /// Envoy and what is built on it.
    Envoy,
    /// nginx.
    Nginx,
    /// HAProxy.
    Haproxy,
    /// Traefik.
    Traefik,
}
