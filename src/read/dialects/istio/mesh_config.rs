//! The mesh's own configuration: retry policies that replace Istio's defaults everywhere. It stands in an IstioOperator, in
//! Helm values, or as a text of its own in the ConfigMap `istio`.

use super::{SOURCE, defaults, may_be_templated, retries, sight};
use crate::facts::{Facts, Ineffective, Limit, Mesh, Policy, PolicyId, Sourced};
use crate::read::Context;
use crate::read::data::tree::Node;
use crate::read::dialects::kubernetes::{Metadata, plain, text_of};
use crate::source::Span;

/// The policies that are read.
const POLICIES: [&str; 2] = ["defaultHttpRetryPolicy", "defaultInboundHttpRetryPolicy"];

/// Where it stands in objects of the operators and in Helm values (of istiod's own chart, or of one that contains it).
const PATHS: [&[&str]; 4] =
    [&["spec", "meshConfig"], &["spec", "values", "meshConfig"], &["meshConfig"], &["istiod", "meshConfig"]];

pub(super) fn recognises(document: Node<'_>) -> bool {
    match (text_of(document, "apiVersion"), text_of(document, "kind")) {
        (Some(version), Some("IstioOperator")) => version.starts_with("install.istio.io/"),
        (Some(version), Some("Istio")) => version.starts_with("sailoperator.io/"),
        (Some("v1"), Some("ConfigMap")) => is_mesh_config_map(document),
        (None, None) => is_bare(document) || PATHS.iter().any(|path| document.at(path).is_some_and(Node::is_map)),
        _ => false,
    }
}

/// The configuration and nothing around it: what the ConfigMap holds.
fn is_bare(document: Node<'_>) -> bool {
    POLICIES.iter().any(|key| document.get(key).is_some_and(Node::is_map))
}

/// `istio`, or `istio-<revision>`, with a key `mesh`. The text of that key is a document of its own.
fn is_mesh_config_map(document: Node<'_>) -> bool {
    let name = document.at(&["metadata", "name"]).and_then(plain).unwrap_or_default();
    (name == "istio" || name.starts_with("istio-")) && document.at(&["data", "mesh"]).is_some()
}

pub(super) fn read(document: Node<'_>, context: &Context<'_>, facts: &mut Facts) {
    if is_bare(document) {
        if let Some(span) = config_span(document) {
            sight(span, context, facts);
        }
        read_config(document, context, facts);
        return;
    }
    if document.get("kind").is_some() {
        Metadata::read(document, facts);
    }
    let at = document.get("kind").or_else(|| PATHS.iter().find_map(|path| document.at(path)));
    sight(at.unwrap_or(document).span(), context, facts);
    for config in PATHS.iter().filter_map(|path| document.at(path)) {
        read_config(config, context, facts);
    }
}

fn read_config(config: Node<'_>, context: &Context<'_>, facts: &mut Facts) {
    let version = context.settings.istio_version;
    let client = config.get("defaultHttpRetryPolicy").filter(|node| !node.is_null()).map(|node| {
        let mut policy = defaults::proxy(node.span(), "meshConfig.defaultHttpRetryPolicy");
        policy.callee = defaults::everyone();
        policy.retries_on = defaults::retries_on(version);
        fill(&mut policy, node, "defaultHttpRetryPolicy");
        add(policy, facts)
    });
    let inbound = config.get("defaultInboundHttpRetryPolicy").filter(|node| !node.is_null()).map(|node| {
        let name = "meshConfig.defaultInboundHttpRetryPolicy";
        let mut policy =
            Policy { retries_on: defaults::inbound_retries_on(version), ..defaults::inbound_proxy(node.span(), name) };
        fill(&mut policy, node, "defaultInboundHttpRetryPolicy");
        add(policy, facts)
    });
    let Some(span) = config_span(config).filter(|_| client.is_some() || inbound.is_some()) else {
        return;
    };
    facts.meshes.push(Mesh {
        source: SOURCE.into(),
        version,
        span,
        environment: None,
        client_default: client,
        inbound_default: inbound,
    });
}

/// Where the first of the two policies is named.
fn config_span(config: Node<'_>) -> Option<Span> {
    POLICIES.iter().find_map(|key| config.entry(key)).map(|entry| entry.key_span)
}

/// What is written, less what does not hold here. `{}` switches retries off on purpose, conditions without a count do so by
/// mistake.
fn fill(policy: &mut Policy, node: Node<'_>, key: &str) {
    // Nothing checks these policies before they are in force.
    retries::fill(policy, node, &mut Vec::new());
    policy.attempt_timeout = Sourced::default_of(Limit::None, "Istio", "perTryTimeout");
    let has_count = node.get("attempts").is_some_and(|attempts| !attempts.is_null());
    if let Some(entry) = retries::set_beside_attempts(node).filter(|_| !has_count && !may_be_templated(node)) {
        policy.ineffective.push(Ineffective {
            span: entry.key_span,
            message: format!("`{key}` without `attempts` switches retries off in the whole mesh"),
            label: "no `attempts` means none".to_string(),
            help: "`attempts: 2`".to_string(),
            rejected: false,
        });
    } else if let Some(entry) = node.entry("perTryTimeout").filter(|entry| !entry.value.is_null()) {
        policy.ineffective.push(Ineffective {
            span: entry.key_span,
            message: format!("a try has no limit of its own: `perTryTimeout` does nothing in `{key}`"),
            label: "not applied here".to_string(),
            help: "`perTryTimeout` in `retries` of the VirtualServices".to_string(),
            rejected: false,
        });
    }
}

fn add(policy: Policy, facts: &mut Facts) -> PolicyId {
    let id = PolicyId(u32::try_from(facts.policies.len()).unwrap_or(u32::MAX));
    facts.policies.push(policy);
    id
}
