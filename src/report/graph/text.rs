//! `graph --format text`: services from the roots on, then calls with the parties that retry on them.

use super::{Shown, View, how_sure};
use crate::facts::{Class, Facts, Methods, Policy, PolicyKind, words};
use crate::graph::amount::Amount;
use crate::graph::paths::{BestPaths, By};
use crate::graph::{Hop, Layer, Path, System};
use crate::report::paint::{Paint, Tone};
use crate::report::summary::{Step, arrows, policies_of};
use crate::report::table::{Align, Table};
use crate::report::{Look, text};
use crate::source::{Sources, Span};

/// Services and calls of each environment.
pub fn render(views: &[View<'_>], facts: &Facts, sources: &Sources, look: Look) -> String {
    let paint = Paint(look.colour);
    let mut out = String::new();
    for view in views {
        if views.len() > 1 {
            let name = view.system.net.environment.as_deref().unwrap_or("(no environment)");
            out.push_str(&paint.tone(Tone::Note, &format!("environment {}", text::line(name))));
            out.push('\n');
        }
        if view.nodes.is_empty() {
            push_wrapped(&text::line(&view.nothing), look, &mut out);
            continue;
        }
        if let Some(class) = view.class {
            let (name, is) = (class.name(), class.describe());
            push_wrapped(&format!("if every failure is {name} ({is}){}", what_is_counted(class)), look, &mut out);
        }
        out.push_str(&services(view, look));
        for call in view.calls() {
            out.push('\n');
            push_call(&call, view, (facts, sources), look, &mut out);
        }
        for note in &view.system.net.notes {
            out.push('\n');
            push_wrapped(&format!("note: {}", text::line(note)), look, &mut out);
        }
    }
    out
}

/// Adds a text, its further lines indented.
fn push_wrapped(body: &str, look: Look, out: &mut String) {
    for (row, line) in text::wrap(body, look.width.saturating_sub(2)).iter().enumerate() {
        out.push_str(if row == 0 { "" } else { "  " });
        out.push_str(line);
        out.push('\n');
    }
}

/// What load means for failures in which nothing arrives (contracts.md D-5).
fn what_is_counted(class: Class) -> &'static str {
    if never_arrives(class) { ": the numbers are connection attempts, and nothing arrives" } else { "" }
}

fn never_arrives(class: Class) -> bool {
    matches!(class, Class::Connect | Class::Unsent)
}

fn services(view: &View<'_>, look: Look) -> String {
    let mut table = Table::new(&[
        ("service", Align::Left),
        (if view.class.is_some_and(never_arrives) { "attempts" } else { "load" }, Align::Right),
        ("amplification", Align::Right),
        ("slowest answer", Align::Right),
        ("worst path", Align::Left),
    ]);
    let mut best = BestPaths::new(view.system, 1);
    for node in &view.nodes {
        let Some(weight) = view.node(*node) else { continue };
        let Some(load) = view.system.amplification.nodes.get(node.index()) else { continue };
        let time = view.system.deadlines.nodes.get(node.index()).and_then(|time| time.slowest);
        let bound = how_sure(load.is_lower_bound, load.about);
        let path = if load.worst > Amount::ONE { best.to(*node, By::Tries) } else { Vec::new() };
        let path = path.first().map_or_else(String::new, |path| {
            let class = load.class.map_or_else(String::new, |class| format!(" ({})", class.name()));
            format!("{} = {bound}{}{class}", route(view.system, path), load.worst)
        });
        let name = text::line(&weight.display);
        table.push(vec![
            if weight.external { format!("{name} (external)") } else { name.into_owned() },
            format!("{bound}{}", load.load),
            format!("{bound}{}", amplification(load.amplification)),
            time.map_or_else(|| "–".to_string(), |time| time.to_string()),
            path,
        ]);
    }
    table.render(look, &[(4, 30), (0, 16)])
}

fn amplification(value: f64) -> String {
    if value.is_finite() { words::factor(value) } else { "unbounded".into() }
}

/// `web ×3 → checkout → ledger`, a long path without its middle.
fn route(system: &System<'_>, path: &Path) -> String {
    let step = |hop: &Hop| {
        let (from, _) = system.net.graph.edge_endpoints(hop.edge)?;
        let from = system.net.graph.node_weight(from)?;
        Some(Step { from: text::line(&from.display).into_owned(), tries: hop.factor.tries })
    };
    let steps: Vec<Step> = path.hops.iter().filter_map(step).collect();
    let to = path.hops.last().and_then(|hop| system.net.graph.edge_endpoints(hop.edge));
    let to = to.and_then(|(_, to)| system.net.graph.node_weight(to)).map_or("?", |node| &*node.display);
    format!("{}{}", arrows(&steps), text::line(to))
}

fn push_call(call: &Shown<'_>, view: &View<'_>, (facts, sources): (&Facts, &Sources), look: Look, out: &mut String) {
    let paint = Paint(look.colour);
    let from = call.from.map_or("(any)", |node| &node.display);
    let arrow = format!("{} → {}", text::line(from), text::line(&call.to.display));
    let mut said = arrow.clone();
    if call.edge.per_request != 1.0 {
        said.push_str(&format!(", {} calls per request", words::factor(call.edge.per_request)));
    }
    if let Some((class, factor)) = call.tries(view) {
        let least = how_sure(!factor.unknown.is_empty(), factor.about);
        said.push_str(&format!(": {least}{}× for {} ({})", factor.tries, class.name(), class.describe()));
    }
    let mut head = String::new();
    push_wrapped(&said, look, &mut head);
    // What is broken within the names stays as it is.
    match head.strip_prefix(&arrow) {
        Some(rest) => out.push_str(&format!("{}{rest}", paint.tone(Tone::Strong, &arrow))),
        None => out.push_str(&head),
    }
    if policies_of(call.edge, facts).next().is_none() && call.edge.unclaimed.is_empty() {
        out.push_str("  nobody retries\n");
    }
    for layer in &call.edge.layers {
        push_layer(layer, facts, sources, look, out);
    }
    // They may be this caller's: that nobody retries cannot be said.
    let mut lead = "caller unknown";
    for policy in call.edge.unclaimed.iter().filter_map(|id| facts.policy(*id)) {
        push_policy((lead, policy, "", policy.site()), sources, look, out);
        lead = "";
    }
}

/// Columns before what is said of a policy.
const INDENT: usize = 18;

/// One line for each policy; alternatives begin with `or`.
fn push_layer(layer: &Layer, facts: &Facts, sources: &Sources, look: Look, out: &mut String) {
    let mut lead = layer.position.name();
    for nest in &layer.alternatives {
        let policies = nest.policies.iter().filter_map(|id| Some((nest.site_of(*id, facts), facts.policy(*id)?)));
        for (site, policy) in policies.filter(|(_, policy)| policy.kind != PolicyKind::TimeLimit) {
            let inferred = if nest.is_inferred { ", inferred" } else { "" };
            push_policy((lead, policy, inferred, site), sources, look, out);
            lead = "";
        }
        lead = if lead.is_empty() { "  or" } else { lead };
    }
}

/// What a policy does, and where that is said.
fn push_policy(
    (lead, policy, how, site): (&str, &Policy, &str, Span),
    sources: &Sources,
    look: Look,
    out: &mut String,
) {
    let place = sources.get(site.file).map_or_else(String::new, |source| {
        format!("{}:{}", text::line(&source.path), source.position(site.start).line)
    });
    let said = text::wrap(&format!("{}{how}", policy_in_words(policy)), look.width.saturating_sub(INDENT));
    let mut last = INDENT;
    for (row, line) in said.iter().enumerate() {
        out.push_str(&if row == 0 { format!("  {lead:<15} {line}") } else { format!("\n{:INDENT$}{line}", "") });
        last = INDENT + text::width(line);
    }
    // Where both do not fit, the place has a line of its own, which can still be clicked.
    let fits = last + 2 + text::width(&place) <= look.width;
    out.push_str(&if fits { format!("  {place}\n") } else { format!("\n{:INDENT$}{place}\n", "") });
}

fn policy_in_words(policy: &Policy) -> String {
    let tries = match policy.attempts.known() {
        Some(crate::facts::Attempts::Times(n)) => words::tries(*n),
        Some(crate::facts::Attempts::Unbounded) => "tries without end".into(),
        Some(crate::facts::Attempts::ByTime) => "tries until its time is up".into(),
        None => format!("tries unknown ({})", policy.attempts.why().map_or_else(String::new, ToString::to_string)),
    };
    let default = if policy.kind == PolicyKind::Default { " default" } else { "" };
    let hedged = policy.hedged_in_words().map_or_else(String::new, |hedged| {
        let requests = policy.most_requests().map_or_else(String::new, |n| format!(" (×{})", words::grouped(n.into())));
        format!(" {hedged}{requests}")
    });
    let methods = match policy.methods.known() {
        Some(Methods::Only(methods)) => format!(" of {}", methods.join(", ")),
        Some(Methods::Idempotent) => " of idempotent methods".into(),
        Some(Methods::Any) | None => String::new(),
    };
    format!("{}{hedged}, {}{default}", text::line(&(tries + &methods)), text::line(&policy.source))
}
