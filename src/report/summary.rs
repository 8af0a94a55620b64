//! The last lines of a run: what was looked at, the worst of what follows from it, and the counts of everything, hidden
//! things too. On standard error as text, and in JSON.

mod survey;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::paint::{Paint, Tone};
use super::{Counts, Look, text};
use crate::facts::{FileKind, Nanos, words};
use crate::graph::amount::Amount;

pub use survey::{is_listed, policies_in, policies_of, survey};

/// What a run looked at and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    /// Findings.
    #[serde(flatten)]
    pub findings: Counts,
    /// Files read, by kind.
    pub files: BTreeMap<FileKind, usize>,
    /// Files of test code that were not read.
    pub test_files: usize,
    /// Paths that were named and are left out all the same, each with what leaves it out.
    pub left_out: Vec<String>,
    /// Files in languages that are not read, below what was named.
    #[serde(skip)]
    pub unread: BTreeMap<Cow<'static, str>, usize>,
    /// Services, those outside the system included.
    pub services: usize,
    /// Calls between them.
    pub calls: usize,
    /// Retry policies, defaults that nobody wrote included.
    pub policies: usize,
    /// Routes and calls that were read and never retry.
    pub without_retries: usize,
    /// How much of the calls is known.
    pub coverage: Coverage,
    /// The path on which one request becomes most.
    pub worst_path: Option<WorstPath>,
    /// Who waits longest.
    pub slowest_answer: Option<Slowest>,
    /// What all clients of a service send on top if each of them retries.
    pub extra_requests: Vec<Extra>,
    /// What the linker wants said. `notes` is the number of findings at that level.
    #[serde(rename = "remarks")]
    pub notes: Vec<String>,
}

/// How much of the calls is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Calls with policies, all of whose tries are known.
    pub calls_known: usize,
    /// The same where one of them stands on the call by inference only: a callee by its likeness, an assumed member of the
    /// mesh, a gateway that no caller names.
    pub calls_inferred: usize,
    /// Calls with a policy whose tries are unknown, or one that may be another caller's.
    pub calls_with_unknown_factor: usize,
    /// Calls that nobody retries.
    pub calls_without_policy: usize,
    /// Policies whose callee is unknown: on no call, in no number.
    pub unknown_callees: usize,
    /// Policies whose callee is known and whose caller is not: on no call, in no number.
    pub unknown_callers: usize,
}

/// The path on which one request becomes most.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorstPath {
    /// From the root on: each caller with the tries of its call.
    pub hops: Vec<Step>,
    /// The last service.
    pub to: String,
    /// The product.
    pub factor: Amount,
    /// The failure that it holds for.
    #[cfg_attr(test, schemars(with = "crate::facts::Class"))]
    pub class: &'static str,
    /// Whether an unknown factor lies on it, or on another path to the same service: then the product is a lower bound.
    pub lower_bound: bool,
    /// Whether tries bounded by time are among the factors.
    pub about: bool,
    /// What budgets leave of the product in the long run; none unless every layer on the path is bounded and that is less.
    /// Of several paths the one of which budgets leave most is told.
    pub bounded: Option<Amount>,
    /// The environment.
    pub environment: Option<String>,
}

/// A caller on a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    /// The caller.
    pub from: String,
    /// Its tries.
    pub tries: Amount,
}

/// Who waits longest.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Slowest {
    /// The caller.
    pub from: String,
    /// Whom it calls.
    pub to: String,
    /// When the caller gives up, where that is sooner than the callee's slowest answer.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub waits_ms: Option<f64>,
    /// How long the work can take.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub takes_ms: f64,
    #[serde(skip)]
    waits: Option<Nanos>,
    #[serde(skip)]
    takes: Nanos,
}

/// What all clients of a service send on top if each of them retries.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Extra {
    /// The service whose clients are counted.
    pub service: String,
    /// How many there are.
    pub clients: u64,
    /// Whom it calls.
    pub to: String,
    /// Retries of each.
    pub retries: u64,
    /// The product.
    pub requests: u64,
}

impl Slowest {
    /// Who waits how long for what.
    pub fn new(from: String, to: String, waits: Option<Nanos>, takes: Nanos) -> Self {
        Slowest { from, to, waits_ms: waits.map(Nanos::as_millis_f64), takes_ms: takes.as_millis_f64(), waits, takes }
    }
}

impl Summary {
    /// The lines for people. `elapsed` is left out where output must not change from run to run.
    pub fn text(&self, elapsed: Option<Duration>, look: Look) -> String {
        let paint = Paint(look.colour);
        let mut out = String::new();
        for line in self.lines(elapsed) {
            for (row, line) in text::wrap(&text::line(&line), look.width.saturating_sub(2)).iter().enumerate() {
                out.push_str(if row == 0 { "" } else { "  " });
                out.push_str(line);
                out.push('\n');
            }
        }
        for (row, line) in text::wrap(&self.counts_text(), look.width.saturating_sub(2)).iter().enumerate() {
            out.push_str(if row == 0 { "" } else { "  " });
            out.push_str(&paint.tone(Tone::Strong, line));
            out.push('\n');
        }
        out
    }

    /// What was looked at and the worst of it, as it stands in the files; without the counts of findings.
    pub(super) fn lines(&self, elapsed: Option<Duration>) -> Vec<String> {
        let mut lines = vec![self.looked_at(elapsed)];
        lines.extend(self.left_out.iter().map(|left_out| format!("note: {left_out}")));
        if self.policies == 0 && self.calls == 0 {
            // Who hears that all that was named is left out need not hear what could have been read.
            if self.without_retries > 0 {
                let routes = count(self.without_retries, "route or call was", "routes and calls were");
                lines.push(format!("{routes} read, and nothing retries; who calls through them is not known"));
            } else if !self.files.is_empty() || self.left_out.is_empty() {
                lines.push(format!("{NOTHING_FOUND}{}", self.unread_text()));
            }
        } else {
            lines.extend(self.worst_path.as_ref().map(WorstPath::text));
            lines.extend(self.extra_requests.iter().map(Extra::text));
            lines.extend(self.coverage_text());
            lines.extend(self.slowest_answer.as_ref().map(Slowest::text));
        }
        lines.extend(self.notes.iter().cloned());
        lines
    }

    /// `Read 214 files (181 Rust, 33 YAML) in 0.08 s: 12 services, 31 calls, 19 retry policies`.
    fn looked_at(&self, elapsed: Option<Duration>) -> String {
        let total = self.files.values().fold(0usize, |sum, count| sum.saturating_add(*count));
        let kinds: Vec<String> =
            self.files.iter().map(|(kind, n)| format!("{} {}", words::grouped(*n as u128), kind.name())).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        let time = elapsed.map_or_else(String::new, |time| format!(" in {:.2} s", time.as_secs_f64()));
        let tests = match self.test_files {
            0 => String::new(),
            n => format!(", {} of test code left out", words::grouped(n as u128)),
        };
        format!(
            "Read {}{kinds}{time}{tests}: {}, {}, {}",
            count(total, "file", "files"),
            count(self.services, "service", "services"),
            count(self.calls, "call", "calls"),
            count(self.policies, "retry policy", "retry policies"),
        )
    }

    /// `; 12 Python files and 1 Go file here are not read yet`: who has no others believes that all is well.
    fn unread_text(&self) -> String {
        let total = self.unread.values().fold(0usize, |sum, count| sum.saturating_add(*count));
        let file = |n: usize| if n == 1 { "file" } else { "files" };
        let kinds = self.unread.iter().map(|(name, n)| format!("{} {name} {}", words::grouped(*n as u128), file(*n)));
        let kinds: Vec<String> = kinds.collect();
        match total {
            0 => String::new(),
            n => format!("; {} here {} not read yet", words::list(&kinds), if n == 1 { "is" } else { "are" }),
        }
    }

    fn coverage_text(&self) -> Option<String> {
        let Coverage { calls_known, calls_inferred, calls_with_unknown_factor, calls_without_policy, .. } =
            self.coverage;
        let unknown: Vec<String> =
            [("callee", self.coverage.unknown_callees), ("caller", self.coverage.unknown_callers)]
                .into_iter()
                .filter(|(_, n)| *n > 0)
                .map(|(end, n)| {
                    let one = format!("retried call has an unknown {end} and is in no number above");
                    let many = format!("retried calls have unknown {end}s and are in no number above");
                    let says = match (end, n) {
                        ("caller", 1) => ": `paths` under [services.NAME] in retrylint.toml says whose it is",
                        ("caller", _) => ": `paths` under [services.NAME] in retrylint.toml says whose they are",
                        _ => "",
                    };
                    format!("{}{says}", count(n, &one, &many))
                })
                .collect();
        let unknown = unknown.join("; ");
        if self.calls == 0 {
            let is_unlinked = self.policies > 0 && self.services > 1 && unknown.is_empty();
            let unlinked =
                "No call is known, so nothing is multiplied: `[[calls]]` in retrylint.toml says who calls whom";
            return if is_unlinked { Some(unlinked.to_owned()) } else { (!unknown.is_empty()).then_some(unknown) };
        }
        let parts: Vec<String> = [
            (calls_known, "with every factor known"),
            // "One" needs something before it to mean.
            (calls_inferred, if calls_known > 0 { "with an inferred one" } else { "with an inferred factor" }),
            (
                calls_with_unknown_factor,
                if calls_known + calls_inferred > 0 { "with an unknown one" } else { "with an unknown factor" },
            ),
            (calls_without_policy, "without any policy"),
        ]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{} {what}", words::grouped(n as u128)))
        .collect();
        let unknown = if unknown.is_empty() { unknown } else { format!("; {unknown}") };
        Some(format!("{}: {}{unknown}", count(self.calls, "call", "calls"), parts.join(", ")))
    }

    /// `3 errors, 5 warnings; 4 opinionated findings with --pedantic`.
    pub(super) fn counts_text(&self) -> String {
        let Counts { errors, warnings, notes, suppressed, baseline, grouped, pedantic, deselected, off, unchanged } =
            self.findings;
        let levels: Vec<String> =
            [(errors, "error", "errors"), (warnings, "warning", "warnings"), (notes, "note", "notes")]
                .into_iter()
                .filter(|(n, ..)| *n > 0)
                .map(|(n, one, many)| count(n, one, many))
                .collect();
        let mut parts = vec![if levels.is_empty() { "Nothing to report".to_string() } else { levels.join(", ") }];
        if grouped > 0 {
            parts.push(format!("{} shown with another of the same text", words::grouped(grouped as u128)));
        }
        if suppressed > 0 {
            let by = match baseline {
                0 => String::new(),
                n if n == suppressed => " by the baseline".to_string(),
                n => format!(", {} of them by the baseline", words::grouped(n as u128)),
            };
            parts.push(format!("{} suppressed{by}", words::grouped(suppressed as u128)));
        }
        if unchanged > 0 {
            parts.push(format!("{} on lines that did not change", words::grouped(unchanged as u128)));
        }
        if pedantic > 0 {
            parts.push(format!("{} with --pedantic", count(pedantic, "opinionated finding", "opinionated findings")));
        }
        if deselected > 0 {
            parts.push(format!("{} left out by --select or --ignore", words::grouped(deselected as u128)));
        }
        if off > 0 {
            parts.push(format!("{} of rules that retrylint.toml switches off", words::grouped(off as u128)));
        }
        parts.join("; ")
    }
}

/// Hops that are shown of a path.
const MOST_HOPS: usize = 10;
/// Hops that are shown at each end of a longer one.
const END_HOPS: usize = 4;

/// What would have been read, for a tree in which nothing was.
const NOTHING_FOUND: &str = "warning: no retry policy and no call was found; retrylint reads Envoy bootstraps and routes, Istio \
                             VirtualServices and DestinationRules, .NET resilience settings (appsettings*.json), services \
                             manifests (a `services` map with `calls`), `retry:` sections in YAML, JSON and TOML, and Rust code";

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", words::grouped(n as u128), if n == 1 { one } else { many })
}

/// `web ×3 → checkout ×3 → `; of a path that no line can hold, the two ends.
pub fn arrows(steps: &[Step]) -> String {
    let step = |step: &Step| {
        let tries = if step.tries == Amount::ONE { String::new() } else { format!(" ×{}", step.tries) };
        format!("{}{tries} → ", step.from)
    };
    let ends = (steps.len() > MOST_HOPS)
        .then(|| Some((steps.get(..END_HOPS)?, steps.get(steps.len().checked_sub(END_HOPS)?..)?)))
        .flatten();
    match ends {
        None => steps.iter().map(step).collect(),
        Some((first, last)) => {
            let left_out = words::grouped((steps.len() - 2 * END_HOPS) as u128);
            let [first, last] = [first, last].map(|steps| steps.iter().map(step).collect::<String>());
            format!("{first}{left_out} more → {last}")
        }
    }
}

impl WorstPath {
    /// `Worst path: web ×3 → checkout ×3 → payments ×3 → ledger = 27 requests for one (overload)`.
    fn text(&self) -> String {
        let path = arrows(&self.hops);
        let how = match (self.lower_bound, self.about) {
            (true, _) => "at least ",
            (false, true) => "about ",
            (false, false) => "",
        };
        let total = match self.factor {
            Amount::Unbounded => "requests without end".to_string(),
            factor => format!("{how}{factor} requests"),
        };
        let environment = self.environment.as_ref().map_or_else(String::new, |name| format!(" in {name}"));
        let bounded = self.bounded.map_or_else(String::new, |bounded| format!("; budgets hold it at {bounded}×"));
        format!("Worst path{environment}: {path}{} = {total} for one ({}){bounded}", self.to, self.class)
    }
}

impl Slowest {
    /// `Slowest answer: web → checkout waits 10 s for work that can take 43.5 s`.
    fn text(&self) -> String {
        let Slowest { from, to, waits, takes, .. } = self;
        match waits {
            Some(waits) => format!("Slowest answer: {from} → {to} waits {waits} for work that can take {takes}"),
            None => format!("Slowest answer: {from} → {to} can take {takes}"),
        }
    }
}

impl Extra {
    /// `500 clients of app × five retries = 2,500 extra requests at api`.
    fn text(&self) -> String {
        format!(
            "{} clients of {} × {} = {} extra requests at {}",
            words::grouped(u128::from(self.clients)),
            self.service,
            words::retries(self.retries),
            words::grouped(u128::from(self.requests)),
            self.to
        )
    }
}

#[cfg(test)]
mod tests;
