//! Istio: VirtualServices, DestinationRules, ServiceEntries, the mesh's own configuration, and the defaults that hold
//! although no object states them.
//!
//! Each document gives what is written in it and sights the mesh; [`finish`] settles, once all files are read, one mesh
//! for each environment with its default policies. EnvoyFilters, Sidecars and Gateways only sight it: what an EnvoyFilter
//! patches into a route is in no number.

mod defaults;
mod destination_rule;
mod host;
mod inherit;
mod mesh_config;
mod patch;
mod retries;
mod retry_on;
mod route_match;
mod service_entry;
#[cfg(test)]
mod tests;
mod virtual_service;

pub use defaults::finish;

use std::sync::Arc;

use crate::facts::{Facts, Ineffective, Limit, Mesh, Nanos, ObjectName, Sourced, Value};
use crate::read::data::duration::{self, Syntax};
use crate::read::data::tree::Node;
use crate::read::data::value;
use crate::read::dialects::kubernetes::{Metadata, text_of};
use crate::read::{Context, Dialect};
use crate::source::Span;

/// Istio resources and mesh configuration.
pub const DIALECT: Dialect =
    Dialect { name: "istio", words: &["istio.io/", "meshConfig", "HttpRetryPolicy"], recognises, read };

/// The name of these policies' source in output.
const SOURCE: &str = "istio";

/// Groups of which any object shows that there is a mesh.
const GROUPS: [&str; 4] = ["networking.istio.io", "security.istio.io", "telemetry.istio.io", "extensions.istio.io"];

fn recognises(document: Node<'_>) -> bool {
    is_resource(document) || mesh_config::recognises(document)
}

fn is_resource(document: Node<'_>) -> bool {
    let group = text_of(document, "apiVersion").and_then(|version| version.split_once('/'));
    group.is_some_and(|(group, _)| GROUPS.contains(&group)) && text_of(document, "kind").is_some()
}

fn read(document: Node<'_>, context: &Context<'_>, facts: &mut Facts) {
    if !is_resource(document) {
        mesh_config::read(document, context, facts);
        return;
    }
    if let Some(kind) = document.get("kind") {
        sight(kind.span(), context, facts);
    }
    let metadata = Metadata::read(document, facts);
    match text_of(document, "kind") {
        Some("VirtualService") => virtual_service::read(document, metadata, context, facts),
        Some("DestinationRule") => destination_rule::read(document, &metadata, context, facts),
        Some("ServiceEntry") => service_entry::read(document, &metadata, facts),
        _ => {}
    }
}

/// Notes that a mesh is there. One sighting is enough for a file.
pub(super) fn sight(span: Span, context: &Context<'_>, facts: &mut Facts) {
    if facts.meshes.last().is_some_and(|mesh| mesh.source == SOURCE && mesh.span.file == span.file) {
        return;
    }
    facts.meshes.push(Mesh {
        source: SOURCE.into(),
        version: context.settings.istio_version,
        span,
        environment: None,
        client_default: None,
        inbound_default: None,
    });
}

/// The name of an object of Istio's.
fn object_name(name: Arc<str>, namespace: Option<Arc<str>>) -> ObjectName {
    ObjectName { dialect: crate::facts::Dialect::Istio, name, namespace }
}

/// A patch of an overlay rather than an object of its own.
fn is_patch(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.contains("patch") || path.split('/').any(|part| part == "overlays")
}

/// What Istio rejects, and with it the whole object.
struct Rejection {
    /// The smallest thing at fault.
    span: Span,
    /// What is wrong, as a clause.
    what: String,
    /// What stands there.
    label: String,
    /// The corrected text.
    help: String,
}

impl Rejection {
    /// As a finding about the object `of` ("VirtualService `ledger`"), with what holds instead.
    fn of(self, object: &str, instead: &str) -> Ineffective {
        Ineffective {
            span: self.span,
            message: format!("Istio rejects {object}: {}; {instead}", self.what),
            label: self.label,
            help: self.help,
            rejected: true,
        }
    }
}

/// A duration of one of Istio's objects, with no limit where it is missing. What Istio rejects is unknown here and said in
/// `rejections`.
fn duration(
    node: Option<Node<'_>>,
    key: &'static str,
    default: impl FnOnce() -> Sourced<Limit<Nanos>>,
    rejections: &mut Vec<Rejection>,
) -> Sourced<Limit<Nanos>> {
    let expected = "a duration such as 250ms or 1m30s";
    let limit = value::sourced(node, default, expected, |text| duration::parse(text, Syntax::Istio).map(Limit::At));
    if let (Some(crate::facts::Why::Malformed { found, .. }), Some(node)) = (limit.why(), node) {
        rejections.push(refused_duration(node, key, found));
    }
    limit
}

fn refused_duration(node: Node<'_>, key: &str, found: &str) -> Rejection {
    let text = node.text().unwrap_or_default().trim();
    let (what, label, help) = match duration::parse(text, Syntax::Go) {
        Some(Nanos::ZERO) => (
            format!("`{key}: {found}` is below its least duration of 1 ms"),
            "zero does not mean \"no limit\" here",
            format!("leave `{key}` out: there is no limit unless one is written"),
        ),
        Some(time) => (
            format!("`{key}: {found}` is not in whole milliseconds"),
            "finer than a millisecond",
            format!("`{key}: {}ms`", time.0.div_ceil(1_000_000)),
        ),
        None => {
            let seconds = if value::number(text).is_some() { format!("{text}s") } else { "250ms".to_string() };
            (
                format!("`{key}: {found}` is not a duration"),
                "a number with its unit is wanted",
                format!("`{key}: {seconds}`"),
            )
        }
    };
    Rejection { span: node.span(), what, label: label.to_string(), help }
}

/// Whether lines that only rendering shows may hold what is missing here.
fn may_be_templated(node: Node<'_>) -> bool {
    node.may_hold_more()
}

/// The same value, known or not, behind `Limit::At`.
fn limited<T>(value: Sourced<T>) -> Sourced<Limit<T>> {
    value.map(Limit::At)
}

/// Whether a value is known and zero.
fn is_zero(value: &Sourced<u64>) -> bool {
    matches!(value.value, Value::Known(0))
}
