//! DestinationRule: what proxies know about a destination as a whole. `http.maxRetries` caps parallel retries and counts
//! nothing per request.

use super::{Rejection, defaults, duration, host, is_patch, is_zero, limited, may_be_templated, object_name};
use crate::facts::{
    Attempts, Breaker, Budget, BudgetBase, Callee, Caller, Dialect, Evidence, Facts, Floor, Ineffective, Limit, Nanos,
    Place, PolicyKind, Position, ServiceRef, Sourced, Upstream, Why, words,
};
use crate::read::Context;
use crate::read::data::tree::{Entry, Node};
use crate::read::data::value::{self, number, whole};
use crate::read::dialects::kubernetes::{Metadata, labels, plain};
use crate::source::Span;

/// Blocks of a traffic policy that matter here. A narrower policy replaces each of them whole.
const BLOCKS: [&str; 3] = ["connectionPool", "outlierDetection", "retryBudget"];

/// The first release with `retryBudget`.
const BUDGETS_SINCE: (u32, u32) = (1, 27);
/// The first release in which a budget without `percent` is one of 20 %; before, it was 0.2 %.
const PERCENT_SINCE: (u32, u32) = (1, 30);

pub(super) fn read(document: Node<'_>, object: &Metadata, context: &Context<'_>, facts: &mut Facts) {
    let Some(spec) = document.get("spec") else {
        return;
    };
    let mut reader = Reader {
        spec,
        top: spec.get("trafficPolicy"),
        version: context.settings.istio_version,
        is_patch: is_patch(context.path),
        rejections: Vec::new(),
        ineffective: Vec::new(),
    };
    let upstream = reader.upstream(object);
    reader.ports_that_drop();
    let is_rejected = !reader.rejections.is_empty();
    let of = format!("DestinationRule `{}`", object.name);
    let mut ineffective = reader.ineffective;
    ineffective
        .extend(reader.rejections.into_iter().map(|rejection| rejection.of(&of, "Istio's own settings stay in force")));
    if !ineffective.is_empty() {
        // A finding needs a policy to stand on; this one retries nothing and calls nobody.
        let mut policy = defaults::proxy(object.span, &*of);
        policy.kind = PolicyKind::TimeLimit;
        policy.attempts = Sourced::default_of(Attempts::Times(1), "Istio", "attempts");
        policy.caller = Caller::Unknown(Why::Other("a DestinationRule retries nothing".into()));
        policy.callee = Callee::Unknown(Why::Other("a DestinationRule retries nothing".into()));
        policy.ineffective = ineffective;
        facts.policies.push(policy);
    }
    facts.upstreams.extend(upstream.filter(|_| !is_rejected));
}

struct Reader<'t> {
    spec: Node<'t>,
    top: Option<Node<'t>>,
    version: (u32, u32),
    /// Whether its file is one of patches.
    is_patch: bool,
    rejections: Vec<Rejection>,
    ineffective: Vec<Ineffective>,
}

impl<'t> Reader<'t> {
    /// None if the destination is no single service. A patch need not name one.
    fn upstream(&mut self, object: &Metadata) -> Option<Upstream> {
        let node = self.spec.get("host").filter(|host| !host.is_null());
        let is_templated = object.name.contains("{{");
        let callee = match node {
            Some(node) => host::service(node, object).ok(),
            None if is_templated || may_be_templated(self.spec) => None,
            None => host::named(&object.name, object.namespace.as_ref(), object.span)
                .map(|of| ServiceRef { evidence: Evidence::Assumed, ..of }),
        };
        let budget = self.budget();
        let pool = self.block("connectionPool");
        let retry_cap = self.retry_cap(pool);
        let breaker = self.breaker();
        let max_connections = cap(pool.and_then(|pool| pool.at(&["tcp", "maxConnections"])), "maxConnections");
        let max_connections = self.unless_templated(pool.is_some(), max_connections);
        let connect_timeout = duration(
            pool.and_then(|pool| pool.at(&["tcp", "connectTimeout"])),
            "connectTimeout",
            || Sourced::default_of(Limit::At(Nanos::from_secs(10)), "Istio", "connectTimeout"),
            &mut self.rejections,
        );
        let callee = callee?;
        Some(Upstream {
            caller: self.caller(&callee, object),
            callee,
            names: Vec::new(),
            position: Position::ClientSidecar,
            dialect: Dialect::Istio,
            span: node.map_or(object.span, Node::span),
            environment: None,
            budget: budget.boxed(),
            retry_cap,
            breaker: breaker.boxed(),
            max_connections,
            connect_timeout,
            hosts: None,
            object: (!is_templated).then(|| object_name(object.name.clone(), object.namespace.clone())),
            is_patch: node.is_none() || self.is_patch,
        })
    }

    /// A rule in the callers' namespace is theirs alone, one beside the service is everyone's.
    fn caller(&self, callee: &ServiceRef, object: &Metadata) -> Caller {
        let mut exports = self.spec.get("exportTo").into_iter().flat_map(Node::items);
        let own = match (exports.next().and_then(plain), exports.next()) {
            (Some("."), None) => true,
            _ => match (&callee.host, &object.namespace) {
                (crate::facts::Host::Name { namespace: Some(of_service), .. }, Some(of_rule)) => {
                    of_service != of_rule && &**of_rule != "istio-system"
                }
                _ => false,
            },
        };
        Caller::Members {
            namespace: object.namespace.clone().filter(|_| own),
            labels: labels(self.spec.at(&["workloadSelector", "matchLabels"])),
        }
    }

    /// A block as it is in force: the one set at the top; else, where every subset or every port sets one, the loosest.
    fn block(&self, name: &str) -> Option<Node<'t>> {
        let of = |policy: Option<Node<'t>>| policy?.get(name).filter(|block| !block.is_null());
        if let Some(block) = of(self.top) {
            return Some(block);
        }
        let subsets: Vec<_> = self.subsets().map(|subset| of(subset.get("trafficPolicy"))).collect();
        let ports: Vec<_> = self.ports().map(|port| of(Some(port))).collect();
        [subsets, ports].into_iter().find_map(|all| {
            let all: Option<Vec<Node<'t>>> = all.into_iter().collect();
            all?.into_iter().max_by(|a, b| looseness(*a).total_cmp(&looseness(*b)))
        })
    }

    fn subsets(&self) -> impl Iterator<Item = Node<'t>> {
        self.spec.get("subsets").into_iter().flat_map(Node::items)
    }

    fn ports(&self) -> impl Iterator<Item = Node<'t>> {
        self.top.and_then(|top| top.get("portLevelSettings")).into_iter().flat_map(Node::items)
    }

    /// A default is only known if no line of a template may set what is missing.
    fn unless_templated<T>(&self, is_set: bool, value: Sourced<T>) -> Sourced<T> {
        if is_set || value.is_written() || !may_be_templated(self.spec) {
            return value;
        }
        Sourced::unknown(Why::Template("a line of this file that only rendering shows".into()), self.spec.span())
    }

    fn retry_cap(&mut self, pool: Option<Node<'t>>) -> Sourced<Limit<u64>> {
        let node = pool.and_then(|pool| pool.at(&["http", "maxRetries"]));
        let written = node.map(|node| value::written(node, "a whole number", whole));
        if let (Some(node), Some(cap)) = (node, &written)
            && is_zero(cap)
        {
            self.ineffective.push(Ineffective {
                span: node.span(),
                message: "`maxRetries: 0` caps nothing: Istio takes 0 for unset, and parallel retries stay unlimited"
                    .to_string(),
                label: "0 is the same as leaving it out".to_string(),
                help: "`maxRetries: 1`, or `retries: { attempts: 0 }` in the VirtualService to switch retries off"
                    .to_string(),
                rejected: false,
            });
        }
        let value = cap(node, "http.maxRetries");
        self.unless_templated(pool.is_some(), value)
    }

    fn budget(&mut self) -> Sourced<Limit<Budget>> {
        let none = Sourced::default_of(Limit::None, "Istio", "retryBudget");
        let Some(node) = self.block("retryBudget") else {
            return self.unless_templated(false, none);
        };
        if let Some(why) = value::hole(node) {
            return Sourced::unknown(why, node.span());
        }
        if self.version < BUDGETS_SINCE {
            let (major, minor) = self.version;
            self.ineffective.push(Ineffective {
                span: node.span(),
                message: format!(
                    "`retryBudget` bounds nothing: Istio {major}.{minor} does not know it, 1.27 is the first"
                ),
                label: "dropped when the object is stored".to_string(),
                help: "`connectionPool: { http: { maxRetries: 10 } }`".to_string(),
                rejected: false,
            });
            return none;
        }
        let percent = node.get("percent").filter(|percent| !percent.is_null());
        if percent.is_none() && self.version < PERCENT_SINCE && !may_be_templated(node) {
            self.ineffective.push(Ineffective {
                span: node.span(),
                message:
                    "a `retryBudget` without `percent` allows 0.2 % of the requests to be retries, not 20 %, up to \
                          Istio 1.29"
                        .to_string(),
                label: "no `percent`".to_string(),
                help: "`percent: 20`".to_string(),
                rejected: false,
            });
        }
        let default = if self.version < PERCENT_SINCE { 0.2 } else { 20.0 };
        let percent = value::sourced(
            percent,
            || Sourced::default_of(default, defaults::by(self.version), "retryBudget.percent"),
            "a percentage",
            |text| number(text).filter(|percent| (0.0..=100.0).contains(percent)),
        );
        let floor = value::sourced(
            node.get("minRetryConcurrency"),
            || Sourced::default_of(3, "Istio", "minRetryConcurrency"),
            "a whole number",
            whole,
        );
        // Zero is unset here too.
        let floor = if is_zero(&floor) { Sourced::default_of(3, "Istio", "minRetryConcurrency") } else { floor };
        let window = duration(
            node.get("budgetInterval"),
            "budgetInterval",
            || Sourced::default_of(Limit::None, "Istio", "budgetInterval"),
            &mut self.rejections,
        );
        let budget = Budget {
            ratio: percent.map(|percent| percent / 100.0),
            floor: floor.map(Floor::InFlight),
            window,
            base: BudgetBase::InFlight,
        };
        Sourced::written(Limit::At(budget), node.span())
    }

    fn breaker(&mut self) -> Sourced<Limit<Breaker>> {
        let none = Sourced::default_of(Limit::None, "Istio", "outlierDetection");
        let Some(node) = self.block("outlierDetection") else {
            return self.unless_templated(false, none);
        };
        if let Some(why) = value::hole(node) {
            return Sourced::unknown(why, node.span());
        }
        self.outdated_errors(node);
        let count =
            |key: &str| node.get(key).filter(|n| !n.is_null()).map(|n| value::written(n, "a whole number", whole));
        let gateway_errors = count("consecutiveGatewayErrors").filter(|errors| !is_zero(errors));
        let errors =
            count("consecutive5xxErrors").unwrap_or_else(|| Sourced::default_of(5, "Istio", "consecutive5xxErrors"));
        let consecutive = if is_zero(&errors) { gateway_errors } else { Some(errors) };
        let Some(consecutive) = consecutive else {
            // Both counters are off, and Istio never ejects by success rate.
            return Sourced::written(Limit::None, node.span());
        };
        let percent = count("maxEjectionPercent").filter(|percent| !is_zero(percent));
        let percent = percent.unwrap_or_else(|| Sourced::default_of(10, "Istio", "maxEjectionPercent"));
        let window = self.time(node, "interval", 10);
        let open = self.time(node, "baseEjectionTime", 30);
        let breaker = Breaker {
            ratio: None,
            consecutive: Some(consecutive),
            minimum: None,
            window: Some(window),
            open: Some(open),
            probes: None,
            max_ejection_percent: Some(percent.map(|percent| percent as f64)),
            always_eject_one: false,
            place: Place::Inside,
        };
        Sourced::written(Limit::At(breaker), node.span())
    }

    fn time(&mut self, node: Node<'_>, key: &'static str, seconds: u64) -> Sourced<Nanos> {
        let default = Nanos::from_secs(seconds);
        let limit = || limited(Sourced::default_of(default, "Istio", key));
        duration(node.get(key), key, limit, &mut self.rejections).map(|limit| limit.at().unwrap_or(default))
    }

    fn outdated_errors(&mut self, node: Node<'_>) {
        let Some(Entry { key_span, value, .. }) =
            node.entry("consecutiveErrors").filter(|entry| !entry.value.is_null())
        else {
            return;
        };
        if node.get("consecutive5xxErrors").is_some() || node.get("consecutiveGatewayErrors").is_some() {
            return;
        }
        let text = value.text().unwrap_or("5").trim();
        self.ineffective.push(Ineffective {
            span: key_span,
            message: "`consecutiveErrors` does nothing: Istio no longer applies it, and five 5xx in a row eject a host"
                .to_string(),
            label: "not applied".to_string(),
            help: format!("`consecutive5xxErrors: {}`", value::shorten(text)),
            rejected: false,
        });
    }

    /// A port's settings replace those above it whole: what they do not repeat is gone for that port.
    fn ports_that_drop(&mut self) {
        let Some(top) = self.top else {
            return;
        };
        let set: Vec<&str> = BLOCKS.into_iter().filter(|name| top.get(name).is_some_and(|n| !n.is_null())).collect();
        // What is lost, with where it is lost first and the ports that lose it: one mistake, one finding.
        let mut losses: Vec<(Vec<&str>, Span, Vec<&str>)> = Vec::new();
        for port in self.ports() {
            let missing: Vec<&str> =
                set.iter().copied().filter(|name| port.get(name).is_none_or(Node::is_null)).collect();
            if missing.is_empty() || may_be_templated(port) {
                continue;
            }
            let number = port.at(&["port", "number"]);
            let name = number.and_then(Node::text).unwrap_or("without a number");
            match losses.iter_mut().find(|(lost, ..)| *lost == missing) {
                Some((.., ports)) => ports.push(name),
                None => losses.push((missing, number.unwrap_or(port).span(), vec![name])),
            }
        }
        for (missing, span, ports) in losses {
            let quoted: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
            let lost = words::list(&quoted);
            let (do_not, them) = if missing.len() == 1 { ("does not", "it") } else { ("do not", "them") };
            let (name, its) = match ports.as_slice() {
                [port] => (format!("port {}", value::shorten(port)), "its"),
                // Of very many, the first say enough.
                _ => (format!("ports {}", value::shorten(&words::list(&ports))), "their"),
            };
            let help = if missing == ["retryBudget"] {
                "`connectionPool: { http: { maxRetries: 10 } }` in the port's settings: a port has no `retryBudget`"
                    .to_string()
            } else {
                format!("repeat {lost} in the settings of {name}")
            };
            self.ineffective.push(Ineffective {
                span,
                message: format!("{lost} set above {do_not} hold for {name}: {its} own settings replace {them} whole"),
                label: format!("without {lost}"),
                help,
                rejected: false,
            });
        }
    }
}

/// A cap of which zero means none.
fn cap(node: Option<Node<'_>>, reference: &'static str) -> Sourced<Limit<u64>> {
    let none = || Sourced::default_of(Limit::None, "Istio", reference);
    value::sourced(node, none, "a whole number", |text| {
        whole(text).map(|cap| if cap == 0 { Limit::None } else { Limit::At(cap) })
    })
}

/// How much a block lets through, to compare those of subsets: parallel retries, or a budget's share; without a number,
/// without limit.
fn looseness(block: Node<'_>) -> f64 {
    let node = block.at(&["http", "maxRetries"]).or_else(|| block.get("percent"));
    let value = node.and_then(Node::text).and_then(|text| number(text.trim()));
    value.filter(|value| *value > 0.0).unwrap_or(f64::INFINITY)
}
