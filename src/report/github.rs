//! `--format github`: workflow commands, of which GitHub makes annotations in a pull request.
//!
//! ```text
//! ::error file=mesh/a.yaml,line=13,endLine=13,col=9,endColumn=20,title=stacked-retries::one call … can become 18 requests
//! ```

use super::details::{Detail, details};
use super::repository::Locate;
use super::{Report, text};
use crate::facts::words;
use crate::finding::{Finding, Severity};
use crate::source::Sources;

/// Annotations of one level that GitHub shows for one step; further ones stand in its log.
const MOST_SHOWN: usize = 10;
/// Characters of a message; GitHub cuts longer ones without a word.
const MOST_CHARACTERS: usize = 4_096;
/// The levels, worst first, and what they are called here.
const LEVELS: [(Severity, &str); 3] =
    [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "notice")];

/// A command per finding, worst first, each on a line. If GitHub will not show all of them, a notice says so, last of those
/// that are shown. Suppressed findings are left out: GitHub would show them as open.
pub fn render(report: &Report<'_>, locate: Locate<'_>) -> String {
    let open = || report.entries.iter().map(|entry| entry.finding).filter(|finding| finding.suppressed.is_none());
    let mut cut = cut(LEVELS.map(|(level, _)| open().filter(|finding| finding.severity == level).count()));
    let mut out = String::new();
    for (level, name) in LEVELS {
        for (index, finding) in open().filter(|finding| finding.severity == level).enumerate() {
            if level == Severity::Note && index == MOST_SHOWN - 1 {
                out.extend(cut.take());
            }
            out.push_str(&command(name, finding, report.sources, locate));
        }
    }
    out.extend(cut);
    out
}

/// The notice about what GitHub does not show; none if it shows all. It takes the place of a note itself.
fn cut([errors, warnings, notes]: [usize; 3]) -> Option<String> {
    let total = errors + warnings + notes;
    if [errors, warnings, notes].iter().all(|count| *count <= MOST_SHOWN) {
        return None;
    }
    let levels = [(errors, MOST_SHOWN, "error"), (warnings, MOST_SHOWN, "warning"), (notes, MOST_SHOWN - 1, "note")];
    let parts: Vec<String> = levels
        .into_iter()
        .filter(|(count, shown, _)| count > shown)
        .map(|(count, shown, name)| format!("{shown} of {} {name}s", words::grouped(count as u128)))
        .collect();
    let text = format!(
        "GitHub shows {}, because it takes {MOST_SHOWN} annotations of a level from one step; all {} findings stand in the \
         log of this step",
        words::list(&parts),
        words::grouped(total as u128)
    );
    Some(format!("::notice title=retrylint::{}\n", data(&text)))
}

fn command(level: &str, finding: &Finding, sources: &Sources, locate: Locate<'_>) -> String {
    let place = finding.primary().and_then(|label| {
        let source = sources.get(label.span.file)?;
        let (start, end) = (source.position(label.span.start), source.position(label.span.end));
        let mut place = format!("file={},line={},endLine={},", property(&locate(&source.path)), start.line, end.line);
        // GitHub takes columns within one line only.
        if start.line == end.line {
            place.push_str(&format!("col={},endColumn={},", start.column, end.column));
        }
        Some(place)
    });
    format!(
        "::{level} {}title={}::{}\n",
        place.unwrap_or_default(),
        property(finding.rule),
        data(&message(finding, sources, locate))
    )
}

/// The headline, and as many of the further lines as there is room for.
fn message(finding: &Finding, sources: &Sources, locate: Locate<'_>) -> String {
    const MARK: &str = "\n…";
    let room = MOST_CHARACTERS - utf16(MARK);
    let mut message = start(&text::line(&finding.message), room / 2);
    for line in details(finding, sources, locate).iter().map(Detail::text) {
        if utf16(&message) + 1 + utf16(&line) > room {
            message.push_str(MARK);
            break;
        }
        message.push('\n');
        message.push_str(&line);
    }
    message
}

/// The text, or what there is room for of it.
fn start(text: &str, room: usize) -> String {
    if utf16(text) <= room {
        return text.to_owned();
    }
    let mut used = 1; // for the ellipsis
    let kept = text.chars().take_while(|c| {
        used += c.len_utf16();
        used <= room
    });
    kept.chain(['…']).collect()
}

/// Length as GitHub counts it.
fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The text behind the second `::`, escaped by GitHub's rules; what a terminal would act on is shown.
fn data(text: &str) -> String {
    escape(text, "")
}

/// The value of a property: `:` and `,` would end it.
fn property(text: &str) -> String {
    escape(text, ":,")
}

fn escape(text: &str, also: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' | '\r' | '\n' => out.push_str(&format!("%{:02X}", u32::from(c))),
            c if also.contains(c) => out.push_str(&format!("%{:02X}", u32::from(c))),
            c => out.push(text::visible(c).unwrap_or(c)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::hostile::{Hostile, STRINGS};
    use crate::report::{Entry, examples, summary::Summary};

    fn github(findings: &[Finding], sources: &Sources) -> String {
        let entries = findings.iter().map(|finding| Entry { finding, fingerprint: "0" }).collect();
        let summary = Summary::default();
        render(&Report { entries, sources, summary: &summary, show_suppressed: true }, &|path| format!("below/{path}"))
    }

    #[test]
    fn a_command_per_finding() {
        let (sources, finding) = examples::path();
        assert_eq!(
            github(&[finding], &sources),
            "::error file=below/gateway/envoy.yaml,line=188,endLine=188,col=32,endColumn=33,title=retry-amplification::\
             one request to `web` can become 27 requests at `ledger`\
             %0Abelow/mesh/checkout.yaml:14: web → checkout: two retries, three tries (×3)\
             %0Abelow/services/checkout/src/client.rs:31: checkout → payments: two retries, three tries (×3 = 9)\
             %0Abelow/gateway/envoy.yaml:188: payments → ledger: two retries, three tries (×3 = 27)\
             %0Aworst for overload (503 at every hop); no layer on this path has a budget\
             %0Ahelp: retry at one hop only: `attempts: 0` in mesh/checkout.yaml and no retry in checkout's client leaves 3×,\
             %0Aor bound it: `retry_budget: { budget_percent: { value: 20 } }` on cluster `ledger` leaves 11.25×\
             %0Aweb → checkout is owned by @team-web, checkout → payments by @team-pay\n"
        );
    }

    #[test]
    fn columns_stand_only_where_a_place_is_within_a_line() {
        let sources = examples::sources(&[("a.yaml", "x:\n  y: 1\n")]);
        let two = examples::finding("no-backoff", &sources, &["x:\n  y"]);
        assert!(
            github(&[two], &sources).starts_with("::warning file=below/a.yaml,line=1,endLine=2,title=no-backoff::")
        );
        let one = examples::finding("no-backoff", &sources, &["x:"]);
        assert!(github(&[one], &sources).contains("line=1,endLine=1,col=1,endColumn=3,title="));
    }

    #[test]
    fn escapes_are_githubs_and_controls_are_pictures() {
        assert_eq!(property("a:b,c%0A\r\n\u{1b}"), "a%3Ab%2Cc%250A%0D%0A␛");
        assert_eq!(data("a:b,c%0A\r\n\u{1b}::"), "a:b,c%250A%0D%0A␛::");
    }

    /// What GitHub's runner reads: a command is a line that begins with `::`, up to the next `::`, and its properties stand
    /// between commas.
    #[test]
    fn hostile_text_stays_within_its_command() {
        let hostile = Hostile::new();
        let text = render(&hostile.report(), &|path| path.to_string());
        let decode = |text: &str| {
            let text = text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",");
            text.replace("%25", "%")
        };
        // Of so many, one more command says that GitHub will not show all.
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("::notice title=retrylint::")).collect();
        assert_eq!((lines.len(), text.lines().count()), (hostile.findings.len(), lines.len() + 1));
        for (line, finding) in lines.iter().zip(&hostile.findings) {
            let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
            let (level, properties) = head.split_once(' ').unwrap();
            assert!(["error", "warning", "notice"].contains(&level));
            let names: Vec<&str> = properties.split(',').map(|one| one.split_once('=').unwrap().0).collect();
            assert!(names.starts_with(&["file", "line", "endLine"]) && names.ends_with(&["title"]), "{names:?}");
            assert!(names.len() == 4 || names[3..5] == ["col", "endColumn"], "{names:?}");
            let source = hostile.sources.get(finding.labels[0].span.file).unwrap();
            let file = properties.split(',').next().unwrap().strip_prefix("file=").unwrap();
            let shown = |c: char| if matches!(c, '\r' | '\n') { c } else { text::visible(c).unwrap_or(c) };
            assert_eq!(decode(file), source.path.chars().map(shown).collect::<String>());
            assert!(decode(message).starts_with(&*text::line(&finding.message)), "{message}");
        }
        assert!(text.contains("file=f%250A%3A%3Aerror%3A%3Apercent.yaml,"), "{text}");
        assert!(text.contains("file=f%0A%3A%3Aerror%3A%3Aline.yaml,") && STRINGS[6].starts_with('\n'));
    }

    fn many(counts: [usize; 3]) -> Vec<String> {
        let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
        let findings: Vec<Finding> = LEVELS
            .iter()
            .zip(counts)
            .flat_map(|((severity, _), count)| {
                let finding = examples::finding("no-backoff", &sources, &["x"]);
                vec![Finding { severity: *severity, ..finding }; count]
            })
            .collect();
        github(&findings, &sources).lines().map(str::to_string).collect()
    }

    #[test]
    fn what_github_does_not_show_is_said_in_a_notice_that_it_shows() {
        assert_eq!(many([10, 10, 10]).len(), 30);
        let lines = many([22, 10, 3]);
        assert_eq!(lines.len(), 36);
        assert_eq!(
            lines[35],
            "::notice title=retrylint::GitHub shows 10 of 22 errors, because it takes 10 annotations of a level from one step; \
             all 35 findings stand in the log of this step"
        );
        // The eleventh notice would not be shown: the one that matters is the tenth.
        let lines = many([11, 12, 14]);
        assert!(lines[11 + 12 + 9].contains("GitHub shows 10 of 11 errors, 10 of 12 warnings and 9 of 14 notes,"));
        assert_eq!(lines.iter().filter(|line| line.contains("title=retrylint")).count(), 1);
        assert!(lines[37].starts_with("::notice file="));
        // Ten notes have room, but not beside a notice about errors.
        assert!(many([11, 0, 10])[11 + 9].contains("10 of 11 errors and 9 of 10 notes,"));
    }

    #[test]
    fn a_message_ends_before_github_would_cut_it() {
        let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
        let mut finding = examples::finding("no-backoff", &sources, &["x"]);
        let room = MOST_CHARACTERS - 2 - "the effect\nbelow/a.yaml:1: three tries\n".len();
        finding.notes = vec!["n".repeat(room)];
        let length = |finding: &Finding| utf16(&message(finding, &sources, &|path| format!("below/{path}")));
        assert_eq!(length(&finding), MOST_CHARACTERS - 2);
        finding.notes[0].push('n');
        assert_eq!(length(&finding), "the effect\nbelow/a.yaml:1: three tries\n…".encode_utf16().count());
        finding.message = "😀".repeat(MOST_CHARACTERS);
        assert!(length(&finding) <= MOST_CHARACTERS);
    }

    #[test]
    fn suppressed_findings_are_no_annotations() {
        let (sources, mut finding) = examples::path();
        finding.suppressed = Some(crate::finding::Suppressed { by: "inline", reason: "known".into(), span: None });
        assert_eq!(github(&[finding], &sources), "");
    }
}
