//! Host names, normalised once (contracts.md D-1).

use std::sync::Arc;

use super::{Evidence, Host, ServiceRef};
use crate::source::Span;

/// Schemes and resolver prefixes that stand in front of a host.
const PREFIXES: [&str; 4] = ["dns:///", "k8s:", "lb://", "consul://"];
/// Suffixes that prove `name.namespace`.
const CLUSTER_SUFFIXES: [&str; 3] = [".svc.cluster.local", ".svc", ".cluster.local"];

impl Host {
    /// Normalises a host, address or URL as a file has it: scheme, user, path, port, trailing dot and cluster suffix off,
    /// lower case. `None` where it is no service: empty, `*…`, an IP address, `localhost`, or text with a template hole.
    pub fn parse(text: &str) -> Option<Host> {
        let text = text.trim().to_ascii_lowercase();
        if text.contains(['{', '$', '%', '<', '\u{fffd}']) || text.contains(char::is_whitespace) {
            return None;
        }
        // Envoy and Istio: `outbound|8080|v2|ledger.bank.svc.cluster.local`.
        if let Some(rest) = text.strip_prefix("outbound|").or_else(|| text.strip_prefix("outbound_.")) {
            let separator = if text.starts_with("outbound|") { "|" } else { "_." };
            return rest.rsplit(separator).next().and_then(Host::parse);
        }
        if text.starts_with("inbound|") || text.contains('|') {
            return None;
        }
        let mut host = PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(&text);
        if let Some((_, rest)) = host.split_once("://") {
            host = rest;
        }
        host = host.split(['/', '?', '#']).next().unwrap_or_default();
        if let Some((_, rest)) = host.rsplit_once('@') {
            host = rest;
        }
        if host.starts_with('[') || host.matches(':').count() > 1 {
            return None; // IPv6
        }
        host = host.split(':').next().unwrap_or_default().trim_end_matches('.');
        // SRV: `_http._tcp.ledger.bank`.
        while let Some(rest) = host.strip_prefix('_') {
            host = rest.split_once('.')?.1;
        }
        if host.is_empty() || host == "localhost" || host.starts_with('*') || host.parse::<std::net::Ipv4Addr>().is_ok()
        {
            return None;
        }
        if let Some(stem) = CLUSTER_SUFFIXES.iter().find_map(|suffix| host.strip_suffix(suffix)) {
            let (name, namespace) = stem.split_once('.').map_or((stem, None), |(name, rest)| (name, Some(rest)));
            return (!name.is_empty()).then(|| Host::Name { name: name.into(), namespace: namespace.map(Into::into) });
        }
        Some(if host.contains('.') {
            Host::Dotted(host.into())
        } else {
            Host::Name { name: host.into(), namespace: None }
        })
    }

    /// As one would write it: `ledger`, `ledger.bank`, `api.stripe.com`.
    pub fn display(&self) -> String {
        match self {
            Host::Name { name, namespace: Some(namespace) } => format!("{name}.{namespace}"),
            Host::Name { name, namespace: None } => name.to_string(),
            Host::Dotted(host) => host.to_string(),
        }
    }
}

impl ServiceRef {
    /// A reference that a file writes out, `text` at `at`, in an object of namespace `from_namespace`.
    pub fn written(text: &str, from_namespace: Option<Arc<str>>, at: Span) -> Option<ServiceRef> {
        Some(ServiceRef { host: Host::parse(text)?, from_namespace, evidence: Evidence::Written, at: Some(at) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str, namespace: Option<&str>) -> Option<Host> {
        Some(Host::Name { name: name.into(), namespace: namespace.map(Into::into) })
    }

    #[test]
    fn hosts_are_normalised() {
        assert_eq!(Host::parse("Ledger"), name("ledger", None));
        assert_eq!(Host::parse("http://user@ledger.bank.svc:8080/pay?x=1"), name("ledger", Some("bank")));
        assert_eq!(Host::parse("ledger.bank.svc.cluster.local."), name("ledger", Some("bank")));
        assert_eq!(Host::parse("outbound|8080|v2|ledger.bank.svc.cluster.local"), name("ledger", Some("bank")));
        assert_eq!(Host::parse("outbound|80||api.stripe.com"), Some(Host::Dotted("api.stripe.com".into())));
        assert_eq!(Host::parse("dns:///payments:50051"), name("payments", None));
        assert_eq!(Host::parse("lb://payments"), name("payments", None));
        assert_eq!(Host::parse("_http._tcp.ledger.bank.svc"), name("ledger", Some("bank")));
        assert_eq!(Host::parse("ledger.bank"), Some(Host::Dotted("ledger.bank".into())));
    }

    #[test]
    fn what_is_no_service_is_none() {
        for text in [
            "",
            "*",
            "*.bank.svc",
            "10.0.0.1:80",
            "http://[::1]:80",
            "::1",
            "localhost:8080",
            "{{ .Values.host }}",
            "${HOST}",
            "inbound|80||",
            ".svc",
            ".bank.svc.cluster.local",
        ] {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }
}
