//! Kubernetes objects, as far as identity and mesh membership need them (contracts.md D-1, D-3, D-9): workloads with the
//! labels of their pods, Services with their selectors, namespaces. What retries is read elsewhere.

use std::sync::Arc;

use super::istio;
use crate::facts::{Facts, KubeService, Namespace, PortProtocol, ServiceRef, Sourced, Workload};
use crate::read::data::tree::Node;
use crate::read::data::value::{self, hole};
use crate::read::{Context, Dialect};
use crate::source::Span;

/// Plain Kubernetes objects. ConfigMaps and Secrets are left to the dialects that lie in them.
pub const DIALECT: Dialect = Dialect { name: "kubernetes", words: &["apiVersion"], recognises, read };

/// Kinds with a pod template, and where its metadata lies.
const WORKLOADS: [(&str, &[&str]); 9] = [
    ("Deployment", &["spec", "template"]),
    ("StatefulSet", &["spec", "template"]),
    ("DaemonSet", &["spec", "template"]),
    ("ReplicaSet", &["spec", "template"]),
    ("Rollout", &["spec", "template"]),
    ("Job", &["spec", "template"]),
    ("DeploymentConfig", &["spec", "template"]),
    ("CronJob", &["spec", "jobTemplate", "spec", "template"]),
    ("Pod", &[]),
];

/// Words in the name of a variable whose value is a host.
const ADDRESSES: [&str; 7] = ["host", "hostname", "url", "uri", "addr", "address", "endpoint"];

/// So many variables of one workload are looked at.
const MOST_VARIABLES: usize = 4096;

/// The longest name of an object.
pub(super) const MAX_NAME: usize = 253;

/// What every object says about itself.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    /// `metadata.name`; what stands there if it is a template.
    pub name: Arc<str>,
    /// `metadata.namespace`, if it is plain text.
    pub namespace: Option<Arc<str>>,
    /// Where the name stands; the whole object if it has none.
    pub span: Span,
}

impl Metadata {
    /// Reads it, and takes the namespace as proof that such a namespace exists.
    pub(super) fn read(object: Node<'_>, facts: &mut Facts) -> Metadata {
        let name = object.at(&["metadata", "name"]).filter(|name| !name.is_null());
        let namespace = object.at(&["metadata", "namespace"]);
        if let Some(node) = namespace
            && let Some(name) = plain(node)
            && facts.namespaces.last().is_none_or(|last| *last.name != *name)
        {
            facts.namespaces.push(Namespace {
                name: name.into(),
                environment: None,
                span: node.span(),
                mesh: None,
                declared: false,
            });
        }
        // Longer names are not accepted, and would be repeated in every fact of the object.
        let whole = |text: &str| text.chars().take(MAX_NAME).collect::<String>();
        let shown = |node: Node<'_>| node.text().map(whole).or_else(|| node.hole().map(value::shorten));
        Metadata {
            name: name.and_then(shown).unwrap_or_else(|| "unnamed".to_string()).into(),
            namespace: namespace.and_then(plain).map(Into::into),
            span: name.map_or(object.span(), Node::span),
        }
    }
}

/// The text of a node that neither is empty nor comes from a template or the environment.
pub(super) fn plain(node: Node<'_>) -> Option<&str> {
    let text = node.text()?.trim();
    (!text.is_empty() && hole(node).is_none()).then_some(text)
}

/// The text of a key of an object.
pub(super) fn text_of<'t>(node: Node<'t>, key: &str) -> Option<&'t str> {
    node.get(key)?.text()
}

/// A mapping of labels: plain keys and values only, so that a templated label never matches anything.
pub(super) fn labels(node: Option<Node<'_>>) -> Vec<(Arc<str>, Arc<str>)> {
    let entries = node.map(Node::entries).unwrap_or_default();
    entries.into_iter().filter_map(|entry| Some((entry.key.into(), plain(entry.value)?.into()))).collect()
}

fn recognises(document: Node<'_>) -> bool {
    let (Some(group), Some(kind)) = (text_of(document, "apiVersion"), text_of(document, "kind")) else {
        return false;
    };
    match group.split_once('/').map(|(group, _)| group) {
        None => group == "v1" && !matches!(kind, "ConfigMap" | "Secret" | "List"),
        Some("apps" | "batch" | "policy" | "autoscaling" | "extensions" | "apps.openshift.io") => true,
        Some("argoproj.io") => kind == "Rollout",
        Some("networking.k8s.io" | "rbac.authorization.k8s.io") => true,
        Some(_) => false,
    }
}

fn read(document: Node<'_>, context: &Context<'_>, facts: &mut Facts) {
    let metadata = Metadata::read(document, facts);
    let kind = text_of(document, "kind").unwrap_or_default();
    match kind {
        "Namespace" => read_namespace(document, &metadata, context, facts),
        "Service" => read_service(document, metadata, facts),
        _ => {
            if let Some((_, path)) = WORKLOADS.iter().find(|(name, _)| *name == kind) {
                read_workload(document, path, metadata, context, facts);
            }
        }
    }
}

fn read_namespace(document: Node<'_>, metadata: &Metadata, context: &Context<'_>, facts: &mut Facts) {
    if document.at(&["metadata", "name"]).and_then(plain).is_none() {
        return;
    }
    let labels = document.at(&["metadata", "labels"]);
    let annotations = document.at(&["metadata", "annotations"]);
    if let Some(node) = istio_label(labels) {
        istio::sight(node.span(), context, facts);
    }
    facts.namespaces.push(Namespace {
        name: metadata.name.clone(),
        environment: None,
        span: metadata.span,
        mesh: membership(&[labels, annotations]),
        declared: true,
    });
}

fn read_service(document: Node<'_>, metadata: Metadata, facts: &mut Facts) {
    if document.at(&["metadata", "name"]).and_then(plain).is_none() {
        return;
    }
    let ports = document.at(&["spec", "ports"]);
    facts.kube_services.push(KubeService {
        name: metadata.name,
        namespace: metadata.namespace,
        environment: None,
        span: metadata.span,
        selector: labels(document.at(&["spec", "selector"])),
        ports: distinct(ports.into_iter().flat_map(Node::items).map(port_protocol)),
    });
}

/// What a port speaks as Istio picks it: by `appProtocol`, else by the name up to its first hyphen. Kubernetes' own `protocol`
/// is TCP for everything, and only tells datagrams.
fn port_protocol(port: Node<'_>) -> PortProtocol {
    if text_of(port, "protocol").is_some_and(|protocol| protocol == "UDP" || protocol == "SCTP") {
        return PortProtocol::Opaque;
    }
    let said = |key: &str| port.get(key).filter(|node| !node.is_null());
    let word = said("appProtocol").or_else(|| said("name")).and_then(plain).unwrap_or_default();
    let is_grpc_web = word.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("grpc-web"));
    let word = match word {
        "kubernetes.io/h2c" | "kubernetes.io/ws" => "http",
        "kubernetes.io/wss" => "https",
        "kubernetes.io/grpc" => "grpc",
        _ if is_grpc_web => "grpc-web",
        word => word.split('-').next().unwrap_or_default(),
    };
    match protocol_of(word) {
        // Where the server speaks first, there is nothing to go by: mail, DNS, MySQL, MongoDB.
        PortProtocol::Unsaid if matches!(text_of(port, "port"), Some("25" | "53" | "3306" | "27017")) => {
            PortProtocol::Opaque
        }
        protocol => protocol,
    }
}

/// What a word of Istio's says that a port speaks.
pub(super) fn protocol_of(word: &str) -> PortProtocol {
    match word.to_ascii_lowercase().as_str() {
        "http" | "http2" | "grpc-web" => PortProtocol::Http,
        "grpc" => PortProtocol::Grpc,
        "tcp" | "tls" | "https" | "udp" | "mongo" | "mysql" | "redis" => PortProtocol::Opaque,
        _ => PortProtocol::Unsaid,
    }
}

/// Each answer once.
pub(super) fn distinct(ports: impl Iterator<Item = PortProtocol>) -> Vec<PortProtocol> {
    let mut all = Vec::new();
    for port in ports {
        if !all.contains(&port) {
            all.push(port);
        }
    }
    all
}

fn read_workload(document: Node<'_>, path: &[&str], metadata: Metadata, context: &Context<'_>, facts: &mut Facts) {
    if document.at(&["metadata", "name"]).and_then(plain).is_none() {
        return;
    }
    let pod = document.at(path);
    let pod_metadata = |key: &str| pod.and_then(|pod| pod.at(&["metadata", key]));
    let (pod_labels, annotations) = (pod_metadata("labels"), pod_metadata("annotations"));
    for node in [istio_label(pod_labels), istio_label(annotations)].into_iter().flatten() {
        istio::sight(node.span(), context, facts);
    }
    let containers = pod.and_then(|pod| pod.at(&["spec", "containers"]));
    let images = containers.into_iter().flat_map(Node::items).filter_map(|container| plain(container.get("image")?));
    let variables = variables(containers, metadata.namespace.as_ref());
    facts.workloads.push(Workload {
        name: metadata.name,
        namespace: metadata.namespace,
        variables,
        environment: None,
        span: metadata.span,
        labels: labels(pod_labels),
        mesh: membership(&[pod_labels, annotations]),
        replicas: document
            .at(&["spec", "replicas"])
            .filter(|node| !node.is_null())
            .map(|node| value::written(node, "a whole number", value::whole)),
        images: images.map(|image| untagged(image).into()).collect(),
    });
}

/// Environment variables that name a host; text with `$(OTHER)` in it is no value yet.
fn variables(containers: Option<Node<'_>>, namespace: Option<&Arc<str>>) -> Vec<(Arc<str>, ServiceRef)> {
    let settings = containers.into_iter().flat_map(Node::items).filter_map(|container| container.get("env"));
    let settings = settings.flat_map(Node::items).take(MOST_VARIABLES);
    let read = |setting: Node<'_>| {
        let (name, value) = (plain(setting.get("name")?)?, setting.get("value")?);
        let text = plain(value).filter(|text| text.len() <= MAX_NAME && names_host(name, text))?;
        Some((name.into(), ServiceRef::written(text, namespace.cloned(), value.span())?))
    };
    settings.filter_map(read).collect()
}

/// Whether a variable holds the address of something: by its value, or by its name where the value may be a mere word.
fn names_host(name: &str, value: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    value.contains("://")
        || value.contains(".svc")
        || value.rsplit_once(':').is_some_and(|(_, port)| is_port(port))
        || name.split('_').any(|word| ADDRESSES.iter().any(|address| word.eq_ignore_ascii_case(address)))
}

/// An image without tag and digest: `registry:5000/team/web:1.2@sha256:…` is `registry:5000/team/web`.
fn untagged(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or(image);
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => image,
    }
}

/// The label by which an object joins an Istio mesh with sidecars; such a label shows that there is a mesh.
fn istio_label(labels: Option<Node<'_>>) -> Option<Node<'_>> {
    let labels = labels?;
    let says = |key: &str, yes: &str| labels.get(key).filter(|node| node.text() == Some(yes));
    says("istio-injection", "enabled")
        .or_else(|| says("sidecar.istio.io/inject", "true"))
        .or_else(|| labels.get("istio.io/rev").filter(|node| plain(*node).is_some()))
}

/// What labels and annotations say about the mesh, the first that says anything: member, not a member.
fn membership(sources: &[Option<Node<'_>>]) -> Option<Sourced<bool>> {
    type Says = fn(&str) -> Option<bool>;
    // In the order in which the injectors look at them: an object's own word beats the revision that would inject it.
    const KEYS: [(&str, Says); 5] = [
        ("sidecar.istio.io/inject", value::boolean),
        ("istio-injection", enabled),
        ("linkerd.io/inject", enabled),
        ("istio.io/dataplane-mode", |mode| match mode {
            "ambient" => Some(true),
            "none" => Some(false),
            _ => None,
        }),
        ("istio.io/rev", |_| Some(true)),
    ];
    KEYS.iter().find_map(|(key, says)| {
        let node = sources.iter().flatten().find_map(|labels| labels.get(key))?;
        (!node.is_null()).then(|| value::written(node, "a word that its injector knows", says))
    })
}

fn enabled(text: &str) -> Option<bool> {
    match text {
        "enabled" | "ingress" => Some(true),
        "disabled" => Some(false),
        _ => None,
    }
}
