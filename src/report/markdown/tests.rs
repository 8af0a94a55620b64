use super::*;
use crate::finding::{Label, Suppressed};
use crate::report::hostile::{Hostile, STRINGS};
use crate::report::{Counts, Entry, examples, summary::Summary};
use crate::source::{FileId, Span};

fn markdown(findings: &[Finding], sources: &Sources, show_suppressed: bool) -> String {
    let entries = findings.iter().map(|finding| Entry { finding, fingerprint: "0" }).collect();
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let findings = Counts {
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        notes: count(Severity::Note),
        ..Counts::default()
    };
    let summary = Summary { findings, policies: 1, ..Summary::default() };
    render(&Report { entries, sources, summary: &summary, show_suppressed }, &|path| format!("below/{path}"))
}

#[test]
fn a_path_is_told_hop_by_hop() {
    let (sources, finding) = examples::path();
    assert_eq!(
        markdown(&[finding], &sources, false),
        "\
## retrylint: 1 error

- Read 0 files: 0 services, 0 calls, 1 retry policy

### Errors

- **retry-amplification**: one request to <code>web</code> can become 27 requests at <code>ledger</code>
  - <code>below/mesh/checkout.yaml:14</code>: web → checkout: two retries, three tries (×3)
  - <code>below/services/checkout/src/client.rs:31</code>: checkout → payments: two retries, three tries (×3 = 9)
  - <code>below/gateway/envoy.yaml:188</code>: payments → ledger: two retries, three tries (×3 = 27)
  - worst for overload (503 at every hop); no layer on this path has a budget
  - help: retry at one hop only: <code>attempts: 0</code> in mesh/checkout.yaml and no retry in checkout's client leaves 3×,\
         <br>or bound it: <code>retry&#95;budget: { budget&#95;percent: { value: 20 } }</code> on cluster <code>ledger</code> leaves 11.25×
  - web → checkout is owned by &#64;<!-- -->team-web, checkout → payments by &#64;<!-- -->team-pay
"
    );
}

#[test]
fn nothing_to_report_says_what_was_looked_at() {
    assert_eq!(
        markdown(&[], &Sources::default(), false),
        "## retrylint: nothing to report\n\n- Read 0 files: 0 services, 0 calls, 1 retry policy\n"
    );
}

#[test]
fn a_group_in_four_files_is_one_item_and_in_three_it_is_three() {
    let sources = examples::sources(&[("a", "x"), ("b_c", "x"), ("d", "x"), ("e", "x")]);
    let at = |file: u32| {
        let mut finding = examples::finding("no-backoff", &sources, &["x"]);
        finding.labels = vec![Label { span: Span::new(FileId(file), 0..1), text: "said".into() }];
        finding.group = Some("g".into());
        finding
    };
    let four: Vec<Finding> = (0..4).map(at).collect();
    let text = markdown(&four, &sources, false);
    assert!(
        text.ends_with(
            "### Warnings\n\n- **no-backoff**: the effect\n  - below/a:1, below/b&#95;c:1, below/d:1 and 1 more: said\n"
        ),
        "{text}"
    );
    assert_eq!(markdown(&four[..3], &sources, false).matches("- **no-backoff**").count(), 3);
}

#[test]
fn long_lists_and_notes_are_to_be_opened() {
    let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
    let at = |severity| Finding { severity, ..examples::finding("no-backoff", &sources, &["x"]) };
    let mut all = vec![at(Severity::Warning); OPEN];
    assert!(!markdown(&all, &sources, false).contains("<details>"));
    all.extend(vec![at(Severity::Warning); 2]);
    all.push(at(Severity::Note));
    let text = markdown(&all, &sources, false);
    let (open, closed) = text.split_once("\n<details><summary>Warnings: 2 more</summary>\n\n").unwrap();
    assert_eq!(open.matches("- **no-backoff**").count(), OPEN);
    assert!(closed.ends_with(
        "\n</details>\n\n<details><summary>Notes: 1</summary>\n\n- **no-backoff**: the effect\n  - \
         <code>below/a.yaml:1</code>: three tries\n\n</details>\n"
    ));
}

#[test]
fn of_a_suppressed_finding_the_reason_is_told_if_it_is_shown_at_all() {
    let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
    let mut finding = examples::finding("no-backoff", &sources, &["x"]);
    finding.labels[0].text.clear();
    finding.suppressed = Some(Suppressed { by: "inline", reason: "drained | by ops".into(), span: None });
    let all = [finding];
    assert!(!markdown(&all, &sources, false).contains("no-backoff"));
    assert!(markdown(&all, &sources, true).ends_with(
        "- **no-backoff**: the effect (suppressed)\n  - <code>below/a.yaml:1</code>\n  - suppressed: drained &#124; by ops\n"
    ));
}

#[test]
fn what_does_not_fit_into_a_comment_is_counted() {
    let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
    let mut long = examples::finding("no-backoff", &sources, &["x"]);
    long.message = "m".repeat(500);
    let mut all = vec![long.clone(); 60];
    assert!(!markdown(&all, &sources, false).contains("left out"));
    all.extend(vec![long.clone(); 340]);
    all.push(Finding { severity: Severity::Note, ..examples::finding("no-backoff", &sources, &["x"]) });
    let text = markdown(&all, &sources, false);
    assert!(text.len() <= MOST_BYTES && text.len() > MOST_BYTES - RESERVED - 1_000, "{}", text.len());
    let told = text.matches("- **no-backoff**").count();
    let left_out = all.len() - told;
    // The note would have fitted, but what is worse goes first.
    assert!(!text.contains("Notes:"), "{text}");
    assert!(
        text.ends_with(&format!(
            "\n</details>\n\n{left_out} findings are left out here for want of room; `--format json` has all of them.\n"
        )),
        "{}",
        &text[text.len() - 200..]
    );
}

#[test]
fn one_finding_cannot_push_out_the_others() {
    let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
    let mut huge = examples::finding("no-backoff", &sources, &["x"]);
    huge.message = "@".repeat(100_000);
    huge.notes = vec!["<".repeat(100_000); 100];
    let text = markdown(&[huge, examples::finding("weak-jitter", &sources, &["x"])], &sources, false);
    assert!(text.len() < 2 * MOST_ITEM && text.contains("…\n- **weak-jitter**: the effect\n"), "{}", text.len());
}

/// The tags that are ours, and how often each may be opened.
#[test]
fn hostile_text_breaks_out_of_nothing() {
    let hostile = Hostile::new();
    let text = render(&hostile.report(), &|path| path.to_string());
    let mut rest = text.clone();
    for tag in ["<code>", "</code>", "<br>", "<!-- -->", "<details><summary>", "</summary>", "</details>"] {
        rest = rest.replace(tag, "");
    }
    assert!(!rest.contains(['<', '>', '`', '|', '[', ']', '\\', '@', '$']), "{rest}");
    assert_eq!(text.matches("<code>").count(), text.matches("</code>").count());
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    // Every line is a heading, an item, one of our tags or empty.
    for line in text.lines() {
        let is_ours =
            ["## retrylint: ", "### Errors", "### Warnings", "- ", "  - ", "<details><summary>", "</details>"];
        assert!(line.is_empty() || is_ours.iter().any(|start| line.starts_with(start)), "{line}");
    }
    assert_eq!(text.matches("\n- **").count(), hostile.findings.len());
    for escaped in [
        "<code>fa&#124;b&#124;&#124;c.yaml:1</code>",
        "<code>f&lt;script&gt;alert('1')&lt;/script&gt;.yaml:1</code>",
        "<code>f␊::error::line.yaml:1</code>",
        "<code>f&#96;code&#96; &#96;&#96;&#96; fence.yaml:1</code>",
    ] {
        assert!(text.contains(escaped), "{escaped}");
    }
    assert_eq!(STRINGS.len() + 1, hostile.findings.len());
}
