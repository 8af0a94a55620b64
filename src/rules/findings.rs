//! [`Findings`]: where checks report. It knows the running rule, so that no check can speak in another's name or at a level
//! that its page does not list. A [`Draft`] is a finding together with what the steps after the check need to know of it.

use std::sync::Arc;

use petgraph::graph::EdgeIndex;

use super::Rule;
use crate::facts::{Accept, Confidence, Policy, PolicyId};
use crate::finding::{Finding, Identity, Label, Severity, Suppressed};
use crate::graph::System;
use crate::source::Span;

/// What the checks of one environment report, and the rule that is running.
#[derive(Debug)]
pub struct Findings {
    rule: &'static Rule,
    drafts: Vec<Draft>,
}

/// An edge of the graph: one between services, or one of [`Net::open`](crate::graph::Net::open).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeRef {
    /// Between two services.
    Net(EdgeIndex),
    /// From callers that nobody knows.
    Open(usize),
}

/// A finding, and what decides whether and how it is shown.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The finding so far.
    pub(crate) finding: Finding,
    /// Policies that it is about, the one at fault first.
    pub(super) policies: Vec<PolicyId>,
    /// Edges that it is about; for a path, all hops, the last one first.
    pub(super) edges: Vec<EdgeRef>,
    /// Whose default it is about: findings about one default become one.
    pub(super) default: Option<Arc<str>>,
    /// The message for several findings about one default, to go around their number.
    pub(super) many: Option<(String, String)>,
    /// How much, to tell which of two environments is worse at the same level.
    pub(super) weight: f64,
    /// Whether it is about a file rather than about an environment.
    pub(super) everywhere: bool,
}

impl Findings {
    /// What `rules` report about one environment, in the order of reporting.
    pub(super) fn of(rules: &'static [Rule], system: &System) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for rule in rules {
            let mut findings = Findings { rule, drafts };
            (rule.check)(system, &mut findings);
            drafts = findings.drafts;
        }
        drafts.iter_mut().for_each(|draft| draft.say_how(system));
        drafts
    }

    /// Reports at the page's first level, with high confidence, about the place that `span` is.
    pub fn report(&mut self, span: Span, message: impl Into<String>) -> &mut Draft {
        let last = self.drafts.len();
        self.drafts.push(Draft::new(self.rule, span, message.into()));
        &mut self.drafts[last]
    }
}

impl Draft {
    /// A finding of `rule` at its first level.
    pub(super) fn new(rule: &'static Rule, span: Span, message: String) -> Draft {
        let severity = rule.meta().levels.first().copied().unwrap_or(Severity::Note);
        Draft {
            finding: Finding {
                pedantic: rule.meta().pedantic == super::Pedantic::Always,
                ..Finding::new(rule.id, severity, span, message)
            },
            policies: Vec::new(),
            edges: Vec::new(),
            default: None,
            many: None,
            weight: 0.0,
            everywhere: false,
        }
    }

    /// A library's own advice is nearer to what its user can write than any that holds for all.
    fn say_how(&mut self, system: &System) {
        let policy = self.policies.first().and_then(|id| system.facts.policy(*id));
        let Some(code) = policy.and_then(|policy| policy.in_code.as_deref()) else { return };
        if let Some((_, advice)) = code.help.iter().find(|(rule, _)| **rule == *self.finding.rule) {
            self.finding.help = Some(advice.to_string());
        }
    }

    /// At this level. One that the page does not list is a mistake in the check: the nearest milder one stands in.
    pub fn severity(&mut self, severity: Severity) -> &mut Self {
        let levels = super::find(self.finding.rule).map(|rule| rule.meta().levels.as_slice()).unwrap_or_default();
        debug_assert!(levels.contains(&severity), "{}: `{}` is not on its page", self.finding.rule, severity.name());
        self.finding.severity = levels
            .iter()
            .copied()
            .filter(|level| *level <= severity)
            .max()
            .or(levels.iter().copied().min())
            .unwrap_or(severity);
        self
    }

    /// No surer than this.
    pub fn confidence(&mut self, confidence: Confidence) -> &mut Self {
        self.finding.confidence = self.finding.confidence.min(confidence);
        self
    }

    /// Shown only under `--pedantic`.
    pub fn pedantic(&mut self) -> &mut Self {
        self.finding.pedantic = true;
        self
    }

    /// What stands at the primary place.
    pub fn label(&mut self, text: impl Into<String>) -> &mut Self {
        if let Some(primary) = self.finding.labels.first_mut() {
            primary.text = text.into();
        }
        self
    }

    /// A further place that contributes.
    pub fn related(&mut self, span: Span, text: impl Into<String>) -> &mut Self {
        self.finding.labels.push(Label { span, text: text.into() });
        self
    }

    /// A further fact, one sentence.
    pub fn note(&mut self, text: impl Into<String>) -> &mut Self {
        self.finding.notes.push(text.into());
        self
    }

    /// What to write instead.
    pub fn help(&mut self, text: impl Into<String>) -> &mut Self {
        self.finding.help = Some(text.into());
        self
    }

    /// What identifies it across runs, where it is not the policy given to [`Draft::about`].
    pub fn identity(&mut self, identity: Identity) -> &mut Self {
        self.finding.identity = identity;
        self
    }

    /// It is about a path between these services.
    pub fn path(&mut self, from: &Arc<str>, to: &Arc<str>) -> &mut Self {
        self.identity(Identity::Path { from: from.clone(), to: to.clone() })
    }

    /// The primary place is read behind all others that are given so far.
    pub fn primary_is_next(&mut self) -> &mut Self {
        self.finding.read_before = self.finding.labels.len().saturating_sub(1);
        self
    }

    /// It is about this policy: no surer than its reader was, identified by its name, subject to precedence with other
    /// findings about it.
    pub fn about(&mut self, id: PolicyId, policy: &Policy) -> &mut Self {
        if self.policies.is_empty()
            && let Identity::Place(place) = &mut self.finding.identity
        {
            *place = policy.name.clone();
        }
        self.policies.push(id);
        self.confidence(policy.confidence)
    }

    /// It is about this edge.
    pub fn on_edge(&mut self, edge: EdgeRef) -> &mut Self {
        self.edges.push(edge);
        self
    }

    /// It is about a default of `by`: all findings of this rule and level about it become one.
    pub fn default_of(&mut self, by: &str) -> &mut Self {
        self.default = Some(by.into());
        self
    }

    /// The message when several findings about one default have become one: `before`, their number, `after`.
    pub fn many(&mut self, before: impl Into<String>, after: impl Into<String>) -> &mut Self {
        self.many = Some((before.into(), after.into()));
        self
    }

    /// How much; of two environments with the same level the greater one's numbers are shown.
    pub fn weight(&mut self, weight: f64) -> &mut Self {
        self.weight = weight;
        self
    }

    /// It is about a file or a comment, whatever the environment.
    pub fn everywhere(&mut self) -> &mut Self {
        self.everywhere = true;
        self
    }

    /// A standing decision covers it.
    pub fn accepted(&mut self, accept: &Accept) -> &mut Self {
        self.finding.suppressed =
            Some(Suppressed { by: "accepted", reason: accept.reason.to_string(), span: Some(accept.span) });
        self
    }
}
