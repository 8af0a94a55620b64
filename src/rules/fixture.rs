//! Small systems made by hand, for tests of single checks: services, policies and calls, with factors that are plain
//! products. What the real arithmetic makes of real files is tested with the pages.

use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};

use super::findings::{Draft, Findings};
use crate::facts::{
    Attempts, CallSource, Class, Confidence, Dialect, Facts, File, FileKind, Limit, Nanos, Policy, PolicyId, Role,
    Service, ServiceSource, Sourced,
};
use crate::graph::amount::Amount;
use crate::graph::{
    Amplification, Cycle, Edge, EdgeLoad, Factor, Layer, Membership, Nest, Net, Node, NodeLoad, Part, Resolved, System,
};
use crate::limits::Limits;
use crate::source::{FileId, Span};

/// A system under construction. Everything stands in one file, `services.yaml`, each thing at its own place.
pub struct Fixture {
    pub facts: Facts,
    pub graph: DiGraph<Node, Edge>,
    pub limits: Limits,
    pub loads: Vec<EdgeLoad>,
    pub nodes: Vec<NodeLoad>,
    pub cycles: Vec<Cycle>,
    resolved: Vec<Resolved>,
    next: u32,
}

impl Fixture {
    pub fn new() -> Fixture {
        let file = File {
            path: "services.yaml".into(),
            kind: FileKind::Yaml,
            environment: None,
            role: Role::Production,
            named: false,
            told_by: None,
        };
        Fixture {
            facts: Facts { files: vec![file], ..Facts::default() },
            graph: DiGraph::new(),
            limits: Limits::default(),
            loads: Vec::new(),
            nodes: Vec::new(),
            cycles: Vec::new(),
            resolved: Vec::new(),
            next: 0,
        }
    }

    /// A place of its own.
    pub fn place(&mut self) -> Span {
        self.next += 10;
        Span { file: FileId(0), start: self.next, end: self.next + 5 }
    }

    pub fn service(&mut self, name: &str) -> NodeIndex {
        let span = self.place();
        self.nodes.push(NodeLoad::default());
        self.graph.add_node(Node {
            name: name.into(),
            namespace: None,
            display: name.into(),
            external: false,
            service: Service::new(name, span, ServiceSource::Manifest),
            declared: true,
            mesh: Membership::Unknown,
            upstreams: Vec::new(),
        })
    }

    /// A written policy of a manifest with so many tries, changed as the test wants it.
    pub fn policy(&mut self, tries: u64, change: impl FnOnce(&mut Policy)) -> PolicyId {
        let span = self.place();
        let mut policy = Policy::new(Dialect::Manifest, "manifest", "the manifest", span, format!("policy {span:?}"));
        policy.attempts = Sourced::written(Attempts::Times(tries), span);
        change(&mut policy);
        self.facts.policies.push(policy);
        self.resolved.push(Resolved::default());
        PolicyId(self.facts.policies.len() as u32 - 1)
    }

    /// A call through these policies, outermost first, each a layer of its own.
    pub fn call(&mut self, from: NodeIndex, to: NodeIndex, policies: &[PolicyId]) -> EdgeIndex {
        let span = self.place();
        let layers = policies.iter().map(|id| {
            let policy = self.facts.policy(*id).unwrap();
            let nest = Nest {
                policies: vec![*id],
                site: policy.span,
                upstream: None,
                confidence: Confidence::High,
                is_inferred: false,
            };
            Layer { position: policy.position, alternatives: vec![nest] }
        });
        let edge = Edge {
            calls: Vec::new(),
            source: CallSource::Manifest,
            span,
            per_request: 1.0,
            protocol: None,
            operation: None,
            one_of: None,
            is_async: false,
            idempotent: None,
            propagates_deadline: false,
            confidence: Confidence::High,
            layers: layers.collect(),
            unclaimed: Vec::new(),
        };
        for id in policies {
            self.resolved[id.0 as usize] = Resolved {
                caller: Some(from),
                callee: Some(to),
                inferred: false,
                position: None,
                takes_nothing: false,
            };
        }
        self.loads.push(EdgeLoad { class: Class::Overload, factor: self.factor(policies), unheld: None, unsent: None });
        self.graph.add_edge(from, to, edge)
    }

    /// The product of what these policies are known to try.
    pub fn factor(&self, policies: &[PolicyId]) -> Factor {
        let parts: Vec<Part> = policies
            .iter()
            .map(|id| {
                let policy = self.facts.policy(*id).unwrap();
                let tries = match policy.attempts.known() {
                    Some(Attempts::Times(n)) => Amount::Exact(u128::from(*n)),
                    Some(_) => Amount::Unbounded,
                    None => Amount::ONE,
                };
                Part { policy: *id, position: policy.position, site: policy.span, tries, bound: None }
            })
            .collect();
        let tries = parts.iter().fold(Amount::ONE, |product, part| product * part.tries);
        Factor { tries, parts, unknown: Vec::new(), bounded: None, all_bounded: false, about: false }
    }

    /// What one rule reports.
    pub fn check(&self, rule: &str) -> Vec<Draft> {
        let rule = super::find(rule).unwrap();
        let net = Net { graph: self.graph.clone(), resolved: self.resolved.clone(), ..Net::default() };
        let amplification = Amplification {
            nodes: self.nodes.clone(),
            edges: self.loads.clone(),
            cycles: self.cycles.clone(),
            ..Amplification::default()
        };
        let mut system = System::new(&self.facts, &self.limits, net);
        system.amplification = amplification;
        Findings::of(std::slice::from_ref(rule), &system)
    }
}

/// A written attempt timeout.
pub fn attempt_timeout(policy: &mut Policy, limit: Nanos) {
    policy.attempt_timeout = Sourced::written(Limit::At(limit), policy.span);
}

/// The text of a note, label or help that a draft has.
pub fn texts(draft: &Draft) -> Vec<String> {
    let finding = &draft.finding;
    let labels = finding.labels.iter().map(|label| label.text.clone());
    labels.chain(finding.notes.iter().cloned()).chain(finding.help.clone()).collect()
}
