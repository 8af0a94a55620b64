//! Which requests a route takes, and which of them a retry policy repeats.

use std::sync::Arc;

use super::proto::{self, BY, field, list, text};
use crate::facts::{Methods, PathMatch, Protocol, Sourced, Why};
use crate::read::data::tree::Node;

/// What a route's `match` says.
#[derive(Debug)]
pub(super) struct Match {
    /// Methods that it is limited to.
    pub methods: Methods,
    /// Paths that it is limited to.
    pub path: PathMatch,
    /// Whether it has conditions that are not modelled.
    pub is_conditional: bool,
    /// Whether it takes gRPC alone.
    pub protocol: Option<Protocol>,
    /// The path as it is shown.
    pub shown: Option<Arc<str>>,
}

impl Match {
    /// Reads a `match`; a route without one takes everything.
    pub fn read(node: Option<Node<'_>>) -> Match {
        let mut out =
            Match { methods: Methods::Any, path: PathMatch::Any, is_conditional: false, protocol: None, shown: None };
        let Some(node) = node else {
            return out;
        };
        for name in ["prefix", "path", "safe_regex", "regex", "path_separated_prefix", "path_match_policy"] {
            let Some(value) = field(node, name) else { continue };
            let written: Arc<str> = match name {
                "safe_regex" => text(value, "regex").unwrap_or("a pattern").into(),
                "path_match_policy" => "a template".into(),
                _ => value.text().or(value.hole()).unwrap_or_default().into(),
            };
            out.shown = Some(Arc::clone(&written));
            out.path = match name {
                _ if proto::hole(value).is_some() => PathMatch::Pattern(written),
                "prefix" if matches!(&*written, "" | "/") => PathMatch::Any,
                "prefix" => PathMatch::Prefix(written),
                "path" => PathMatch::Exact(written),
                // `/pay` of this kind takes `/pay` and `/pay/…` but not `/payments`.
                _ => PathMatch::Pattern(written),
            };
        }
        for header in list(node, "headers") {
            match (text(header, "name"), methods_of(header)) {
                (Some(":method"), Some(methods)) => out.methods = Methods::Only(methods),
                _ => out.is_conditional = true,
            }
        }
        if field(node, "grpc").is_some() {
            out.protocol = Some(Protocol::Grpc);
        }
        out.is_conditional |= [
            "query_parameters",
            "cookies",
            "runtime_fraction",
            "tls_context",
            "dynamic_metadata",
            "filter_state",
            "connect_matcher",
            "grpc",
        ]
        .iter()
        .any(|name| field(node, name).is_some());
        out
    }
}

/// The methods that a matcher of `:method` takes, where it lists them.
fn methods_of(header: Node<'_>) -> Option<Vec<Arc<str>>> {
    if proto::flag(header, "invert_match") == Some(true) {
        return None;
    }
    let matcher = field(header, "string_match").unwrap_or(header);
    let exact = text(matcher, "exact").or_else(|| text(header, "exact_match"));
    if let Some(method) = exact {
        return (!proto::is_placeholder(method)).then(|| vec![method.to_ascii_uppercase().into()]);
    }
    let pattern = field(matcher, "safe_regex").or_else(|| field(header, "safe_regex_match"));
    let pattern = pattern.and_then(|pattern| text(pattern, "regex"))?;
    let inner = pattern.trim_start_matches('^').trim_end_matches('$').trim_start_matches('(').trim_end_matches(')');
    let names: Vec<&str> = inner.trim_start_matches("?:").split('|').collect();
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase());
    names.iter().all(is_name).then(|| names.into_iter().map(Into::into).collect())
}

/// Which requests a retry policy repeats: `retriable_request_headers`, of which one must hit.
pub(super) fn retried_methods(policy: Node<'_>) -> Sourced<Methods> {
    let Some(matchers) = field(policy, "retriable_request_headers").filter(|node| node.items().len() > 0) else {
        return Sourced::default_of(Methods::Any, BY, "retriable_request_headers");
    };
    let mut methods = Vec::new();
    for matcher in matchers.items() {
        match methods_of(matcher).filter(|_| text(matcher, "name") == Some(":method")) {
            Some(more) => methods.extend(more),
            None => return Sourced::unknown(Why::Other("decided by request headers".into()), matchers.span()),
        }
    }
    Sourced::written(Methods::Only(methods), matchers.span())
}
