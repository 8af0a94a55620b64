//! `match:` of an HTTP route: whose requests it takes and which (contracts.md D-7).

use std::collections::HashSet;
use std::sync::Arc;

use super::host;
use crate::facts::{Evidence, Host, Methods, PathMatch, ServiceRef, Why};
use crate::read::data::tree::Node;
use crate::read::data::value::hole;
use crate::read::dialects::kubernetes::{MAX_NAME, Metadata, labels, plain};
use crate::source::Span;

/// Whose proxy holds a route.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Binding {
    /// Every sidecar.
    Mesh,
    /// A gateway of this name.
    Gateway(ServiceRef),
    /// Set by something that cannot be told.
    Unknown(Why),
}

/// `gateways:`; without it, the mesh.
pub(super) fn bindings(node: Option<Node<'_>>, object: &Metadata) -> Option<Vec<Binding>> {
    let node = node.filter(|node| !node.is_null())?;
    if let Some(why) = hole(node) {
        return Some(vec![Binding::Unknown(why)]);
    }
    let mut seen = HashSet::new();
    let distinct = node.items().filter(|gateway| gateway.text().is_none_or(|text| seen.insert(text)));
    let all: Vec<Binding> = distinct.filter_map(|gateway| binding(gateway, object)).collect();
    (!all.is_empty()).then_some(all)
}

fn binding(node: Node<'_>, object: &Metadata) -> Option<Binding> {
    if let Some(why) = hole(node) {
        return Some(Binding::Unknown(why));
    }
    let text = plain(node).filter(|text| text.len() <= MAX_NAME)?;
    if text == "mesh" {
        return Some(Binding::Mesh);
    }
    Some(match text.split_once('/') {
        Some((namespace, name)) if namespace != "." => {
            Binding::Gateway(gateway(name, Some(namespace.into()), node.span()))
        }
        Some((_, name)) => Binding::Gateway(gateway(name, object.namespace.clone(), node.span())),
        // Older files name gateways like hosts.
        None if text.contains('.') => Binding::Gateway(host::named(text, object.namespace.as_ref(), node.span())?),
        None => Binding::Gateway(gateway(text, object.namespace.clone(), node.span())),
    })
}

fn gateway(name: &str, namespace: Option<Arc<str>>, at: Span) -> ServiceRef {
    let host = Host::Name { name: name.to_ascii_lowercase().into(), namespace: namespace.clone() };
    ServiceRef { host, from_namespace: namespace, evidence: Evidence::Written, at: Some(at) }
}

/// One entry of `match:`, all of whose conditions must hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Match {
    /// Gateways that it is limited to; those of the whole object if none.
    pub bindings: Option<Vec<Binding>>,
    /// `sourceNamespace`.
    pub namespace: Option<Arc<str>>,
    /// `sourceLabels`, sorted.
    pub labels: Vec<(Arc<str>, Arc<str>)>,
    methods: Methods,
    path: PathMatch,
    is_conditional: bool,
}

impl Match {
    /// Takes everything.
    pub(super) fn everything() -> Match {
        Match {
            bindings: None,
            namespace: None,
            labels: Vec::new(),
            methods: Methods::Any,
            path: PathMatch::Any,
            is_conditional: false,
        }
    }
}

/// All entries of a route's `match:`, any of which suffices.
pub(super) fn matches(route: Node<'_>, object: &Metadata) -> Vec<Match> {
    let Some(node) = route.get("match").filter(|node| !node.is_null()) else {
        return vec![Match::everything()];
    };
    if !node.is_seq() {
        return vec![Match { is_conditional: true, ..Match::everything() }];
    }
    let all: Vec<Match> = node.items().map(|entry| read(entry, object)).collect();
    if all.is_empty() { vec![Match::everything()] } else { all }
}

fn read(entry: Node<'_>, object: &Metadata) -> Match {
    let mut out = Match::everything();
    out.is_conditional = hole(entry).is_some();
    let ignores_case = entry.get("ignoreUriCase").is_some();
    for condition in entry.entries() {
        let value = condition.value;
        match condition.key {
            "gateways" => out.bindings = bindings(Some(value), object),
            "sourceNamespace" => out.namespace = plain(value).map(Into::into),
            "sourceLabels" => {
                out.labels = labels(Some(value));
                out.labels.sort();
            }
            "method" => match methods(value) {
                Some(methods) => out.methods = methods,
                None => out.is_conditional = true,
            },
            "uri" => out.path = path(value, ignores_case),
            // These say nothing about which requests are taken.
            "name" | "statPrefix" | "ignoreUriCase" => {}
            _ => {
                out.is_conditional |= !value.is_null() && (!value.is_map() || value.written_entries().next().is_some())
            }
        }
    }
    out
}

/// `exact: GET`, or a pattern that is nothing but methods: `GET|HEAD`.
fn methods(node: Node<'_>) -> Option<Methods> {
    if let Some(exact) = node.get("exact").and_then(plain) {
        return Some(Methods::Only(vec![exact.to_ascii_uppercase().into()]));
    }
    let pattern = node.get("regex").and_then(plain)?;
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let pattern = pattern.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(pattern);
    let words: Vec<&str> = pattern.split('|').collect();
    let is_method = |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase());
    words.iter().all(is_method).then(|| Methods::Only(words.into_iter().map(Into::into).collect()))
}

fn path(node: Node<'_>, ignores_case: bool) -> PathMatch {
    let text = |key: &str| node.get(key).and_then(plain);
    match (text("exact"), text("prefix"), text("regex")) {
        (_, Some("/"), _) | (_, _, Some(".*" | "/.*" | "^/.*" | "^/.*$" | "^.*$")) => PathMatch::Any,
        (Some(text), _, _) | (None, Some(text), _) if ignores_case => PathMatch::Pattern(text.into()),
        (Some(exact), _, _) => PathMatch::Exact(exact.into()),
        (None, Some(prefix), _) => PathMatch::Prefix(prefix.into()),
        (None, None, Some(regex)) => PathMatch::Pattern(regex.into()),
        (None, None, None) => PathMatch::Pattern(node.hole().unwrap_or_default().into()),
    }
}

/// What any of several entries takes, as methods, path and whether there is more to it.
pub(super) fn union(all: &[&Match]) -> (Methods, PathMatch, bool) {
    let methods = union_of_methods(all);
    let path = union_of_paths(all);
    let is_whole = |one: &&Match| !one.is_conditional && one.methods == methods && one.path == path;
    let is_free = all.iter().all(|one| !one.is_conditional);
    // `GET /a` or `POST /b` is less than GET or POST on either.
    let is_product = all.iter().all(|one| one.methods == methods) || all.iter().all(|one| one.path == path);
    let is_exact = all.iter().any(is_whole) || (is_free && is_product);
    (methods, path, !is_exact)
}

fn union_of_methods(all: &[&Match]) -> Methods {
    let mut out: Vec<Arc<str>> = Vec::new();
    for one in all {
        match &one.methods {
            Methods::Only(methods) => out.extend(methods.iter().cloned()),
            Methods::Any | Methods::Idempotent => return Methods::Any,
        }
    }
    out.sort();
    out.dedup();
    Methods::Only(out)
}

fn union_of_paths(all: &[&Match]) -> PathMatch {
    let Some(first) = all.first().map(|one| &one.path) else {
        return PathMatch::Any;
    };
    if all.iter().all(|one| one.path == *first) {
        return first.clone();
    }
    let mut texts: Vec<&str> = Vec::new();
    for one in all {
        match &one.path {
            PathMatch::Any => return PathMatch::Any,
            PathMatch::Exact(text) | PathMatch::Prefix(text) | PathMatch::Pattern(text) => texts.push(text),
        }
    }
    PathMatch::Pattern(texts.join(" or ").into())
}
