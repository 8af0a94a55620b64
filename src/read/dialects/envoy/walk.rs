//! Finds clusters and virtual hosts in whatever shape a file of Envoy's has: a bootstrap, a list of resources as a control
//! plane would send them, one typed resource, a bare list, or what the admin port dumps.

use super::proto::{at, entry, field, list, text};
use crate::read::data::tree::Node;

/// What one document holds.
#[derive(Debug, Default)]
pub(super) struct Found<'t> {
    /// `node`: who the proxy is.
    pub node: Option<Node<'t>>,
    /// Clusters.
    pub clusters: Vec<Node<'t>>,
    /// Virtual hosts with what encloses them.
    pub hosts: Vec<Host<'t>>,
    /// Names of route configurations that stand elsewhere, and whether only the same machine reaches what uses them.
    pub used: Vec<(Node<'t>, bool)>,
}

/// A virtual host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Host<'t> {
    /// The virtual host.
    pub node: Node<'t>,
    /// The name of the route configuration, where that is a resource by itself: a proxy elsewhere takes it by name.
    pub resource: Option<&'t str>,
    /// Headers that its whole route configuration adds.
    pub headers: Option<Node<'t>>,
    /// Whether the HTTP connection manager takes some clients for internal ones.
    pub trusts_clients: bool,
    /// Whether only the same machine reaches it: its listener is bound to 127.0.0.1.
    pub is_local: bool,
}

/// What a mapping is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bootstrap,
    Resources,
    Dump,
    Cluster,
    Listener,
    Manager,
    RouteConfig,
    VirtualHost,
    BareClusters,
    BareListeners,
}

/// Fields of a cluster that little else has.
const CLUSTER_FIELDS: [&str; 8] = [
    "load_assignment",
    "eds_cluster_config",
    "circuit_breakers",
    "outlier_detection",
    "lb_policy",
    "load_balancing_policy",
    "dns_lookup_family",
    "typed_extension_protocol_options",
];

/// Whether a document is Envoy's.
pub(super) fn recognises(root: Node<'_>) -> bool {
    if root.is_seq() {
        // A list of resources of one kind. One look decides, so that a long list of something else costs nothing.
        return root.items().next().is_some_and(|first| {
            matches!(kind(first), Some(Kind::Cluster | Kind::Listener | Kind::RouteConfig | Kind::VirtualHost))
        });
    }
    // Kubernetes objects belong to other readers, whatever they carry inside.
    let is_kubernetes = root.get("apiVersion").is_some() && root.get("kind").is_some();
    !is_kubernetes && kind(root).is_some()
}

fn kind(node: Node<'_>) -> Option<Kind> {
    if !node.is_map() {
        return None;
    }
    if let Some(url) = node.get("@type").and_then(Node::text) {
        return kind_of_type(url);
    }
    let has = |name: &str| field(node, name).is_some();
    let any = |name: &str, test: fn(Node<'_>) -> bool| list(node, name).any(test);
    if has("static_resources") || has("dynamic_resources") {
        Some(Kind::Bootstrap)
    } else if any("virtual_hosts", |host| field(host, "domains").is_some() || field(host, "routes").is_some()) {
        Some(Kind::RouteConfig)
    } else if is_listener(node) {
        Some(Kind::Listener)
    } else if field(node, "domains").is_some_and(Node::is_seq) && field(node, "routes").is_some_and(Node::is_seq) {
        Some(Kind::VirtualHost)
    } else if any("resources", |item| type_of(inside(item)).is_some_and(|url| url.contains("envoy."))) {
        Some(Kind::Resources)
    } else if any("configs", |item| type_of(item).is_some_and(|url| url.contains("envoy.admin."))) {
        Some(Kind::Dump)
    } else if is_cluster(node) {
        Some(Kind::Cluster)
    } else if any("clusters", is_cluster) {
        Some(Kind::BareClusters)
    } else if any("listeners", is_listener) {
        Some(Kind::BareListeners)
    } else {
        None
    }
}

/// A control plane wraps some resources once more: `{name, resource: {"@type": …}}`.
fn inside(item: Node<'_>) -> Node<'_> {
    field(item, "resource").unwrap_or(item)
}

fn type_of<'t>(node: Node<'t>) -> Option<&'t str> {
    node.get("@type")?.text()
}

/// `type.googleapis.com/envoy.config.cluster.v3.Cluster`, and the v2 names, which end alike.
fn kind_of_type(url: &str) -> Option<Kind> {
    let name = url.rsplit('/').next()?;
    if !name.starts_with("envoy.") {
        return None;
    }
    match name.rsplit('.').next()? {
        "Bootstrap" => Some(Kind::Bootstrap),
        "Cluster" => Some(Kind::Cluster),
        "Listener" => Some(Kind::Listener),
        "HttpConnectionManager" => Some(Kind::Manager),
        "RouteConfiguration" => Some(Kind::RouteConfig),
        "VirtualHost" => Some(Kind::VirtualHost),
        "DiscoveryResponse" => Some(Kind::Resources),
        _ => None,
    }
}

fn is_listener(node: Node<'_>) -> bool {
    field(node, "default_filter_chain").is_some()
        || list(node, "filter_chains").any(|chain| field(chain, "filters").is_some())
}

/// Whether a listener is bound to addresses that only its own machine reaches.
fn is_bound_to_loopback(listener: Node<'_>) -> bool {
    let further = list(listener, "additional_addresses").map(|entry| field(entry, "address"));
    let mut addresses = std::iter::once(field(listener, "address")).chain(further);
    addresses.all(|address| {
        let Some(address) = address else { return false };
        let host = at(address, &["socket_address", "address"]).and_then(Node::text);
        let is_loopback = |host: &str| host == "localhost" || host == "::1" || host.starts_with("127.");
        host.is_some_and(is_loopback) || at(address, &["pipe", "path"]).is_some()
    })
}

fn is_cluster(node: Node<'_>) -> bool {
    field(node, "name").is_some() && CLUSTER_FIELDS.iter().any(|name| field(node, name).is_some())
}

/// Collects what a document holds.
pub(super) fn gather(root: Node<'_>) -> Found<'_> {
    let mut found = Found::default();
    if root.is_seq() {
        root.items().for_each(|item| found.take(item, true));
    } else {
        found.take(root, true);
    }
    found
}

impl<'t> Found<'t> {
    /// Takes one resource. Those that hold others hand them to a fixed next level: there is no recursion on input depth.
    fn take(&mut self, node: Node<'t>, inline_routes: bool) {
        match kind(node) {
            Some(Kind::Bootstrap) => {
                self.node = self.node.or(field(node, "node"));
                if let Some(resources) = field(node, "static_resources") {
                    self.lists(resources, inline_routes);
                }
            }
            Some(Kind::BareClusters | Kind::BareListeners) => self.lists(node, inline_routes),
            Some(Kind::Resources) => {
                list(node, "resources").for_each(|item| self.single(inside(item), true));
            }
            Some(Kind::Dump) => self.dump(node),
            _ => self.single(node, inline_routes),
        }
    }

    fn lists(&mut self, node: Node<'t>, inline_routes: bool) {
        self.clusters.extend(list(node, "clusters"));
        list(node, "listeners").for_each(|listener| self.listener(listener, inline_routes));
    }

    /// A resource that holds no list of others.
    fn single(&mut self, node: Node<'t>, inline_routes: bool) {
        match kind(node) {
            Some(Kind::Cluster) => self.clusters.push(node),
            Some(Kind::Listener) => self.listener(node, inline_routes),
            Some(Kind::Manager) => self.manager(node, false),
            Some(Kind::RouteConfig) => self.config(node, None, text(node, "name")),
            Some(Kind::VirtualHost) => {
                self.hosts.push(Host { node, resource: None, headers: None, trusts_clients: false, is_local: false })
            }
            _ => {}
        }
    }

    fn listener(&mut self, node: Node<'t>, inline_routes: bool) {
        if !inline_routes {
            return;
        }
        let is_local = is_bound_to_loopback(node);
        for chain in list(node, "filter_chains").chain(field(node, "default_filter_chain")) {
            for filter in list(chain, "filters") {
                if let Some(config) = field(filter, "typed_config").or_else(|| field(filter, "config")) {
                    self.manager(config, is_local);
                }
            }
        }
        if let Some(manager) = at(node, &["api_listener", "api_listener"]) {
            self.manager(manager, false);
        }
    }

    /// An HTTP connection manager; of other filters it finds nothing.
    fn manager(&mut self, node: Node<'t>, is_local: bool) {
        let from = self.hosts.len();
        if let Some(config) = field(node, "route_config") {
            self.config(config, Some(node), None);
        }
        let mut used: Vec<Node<'t>> = at(node, &["rds", "route_config_name"]).into_iter().collect();
        let scopes = at(node, &["scoped_routes", "scoped_route_configurations_list"]);
        for scope in scopes.into_iter().flat_map(|scopes| list(scopes, "scoped_route_configurations")) {
            if let Some(config) = field(scope, "route_configuration") {
                self.config(config, Some(node), None);
            }
            used.extend(field(scope, "route_configuration_name"));
        }
        self.used.extend(used.into_iter().map(|name| (name, is_local)));
        self.hosts.iter_mut().skip(from).for_each(|host| host.is_local = is_local);
    }

    fn config(&mut self, node: Node<'t>, manager: Option<Node<'t>>, resource: Option<&'t str>) {
        let headers = field(node, "request_headers_to_add");
        let trusts_clients = manager.is_some_and(|manager| field(manager, "internal_address_config").is_some());
        let host = |node| Host { node, resource, headers, trusts_clients, is_local: false };
        self.hosts.extend(list(node, "virtual_hosts").map(host));
    }

    /// What the admin port prints. It prints the static part twice, in the bootstrap and in the sections, and the route
    /// configurations of listeners once more among the routes.
    fn dump(&mut self, node: Node<'t>) {
        let has_routes = list(node, "configs").any(|section| entry(section, "static_route_configs").is_some());
        for section in list(node, "configs") {
            if let Some(bootstrap) = field(section, "bootstrap") {
                self.node = self.node.or(field(bootstrap, "node"));
            }
            for group in ["static_clusters", "dynamic_active_clusters"] {
                self.clusters.extend(list(section, group).filter_map(|item| field(item, "cluster")));
            }
            // `/config_dump?resource=…` lists the items themselves.
            self.clusters.extend(field(section, "cluster"));
            for group in ["static_listeners", "dynamic_listeners"] {
                list(section, group).for_each(|item| self.dumped_listener(item, !has_routes));
            }
            self.dumped_listener(section, !has_routes);
            for group in ["static_route_configs", "dynamic_route_configs"] {
                list(section, group)
                    .filter_map(|item| field(item, "route_config"))
                    .for_each(|c| self.config(c, None, None));
            }
            if let Some(config) = field(section, "route_config") {
                self.config(config, None, None);
            }
        }
        // A cluster that is warming up has an older self that is active.
        let known: std::collections::HashSet<&str> = self.clusters.iter().filter_map(|c| text(*c, "name")).collect();
        let warming: Vec<Node<'t>> = list(node, "configs")
            .flat_map(|section| list(section, "dynamic_warming_clusters"))
            .filter_map(|item| field(item, "cluster"))
            .filter(|cluster| !text(*cluster, "name").is_some_and(|name| known.contains(name)))
            .collect();
        self.clusters.extend(warming);
    }

    fn dumped_listener(&mut self, item: Node<'t>, inline_routes: bool) {
        let state = field(item, "active_state").or_else(|| field(item, "warming_state")).unwrap_or(item);
        if let Some(listener) = field(state, "listener") {
            self.listener(listener, inline_routes);
        }
    }
}
