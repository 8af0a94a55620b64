//! How findings are worded: lower case, no final stop, no blame, the words of this project.

use super::run::Found;

/// What is wrong with a page's summary.
pub fn of_summary(summary: &str) -> Vec<String> {
    of_text("summary", summary)
}

/// What is wrong with the wording of a finding.
pub fn of_finding(found: &Found) -> Vec<String> {
    let mut out = of_text("message", &found.message);
    for label in &found.labels {
        out.extend(of_text("label", label));
    }
    for note in &found.notes {
        out.extend(of_text("note", note));
    }
    match &found.help {
        Some(help) => out.extend(of_text("help", help)),
        None => out.push(format!("no help: {}", found.message)),
    }
    out
}

/// Words that blame, or that mean something else here.
const NOT_SO: [&str; 8] = ["invalid", "should have", "please", "consider ", "bad ", "wrong", "max retries", "re-try"];

fn of_text(what: &str, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut complain = |complaint: &str| out.push(format!("{what} {complaint}: {text}"));
    if text.trim() != text || text.contains("  ") {
        complain("has stray blanks");
    }
    if text.ends_with('.') || text.contains('!') {
        complain("ends with a stop or shouts");
    }
    if text.contains('\n') {
        complain("has more than one line");
    }
    // Names keep their capitals: a word in backticks, a dialect, a protocol.
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_name = ["Istio", "Envoy", "Istio's", "Envoy's", "DestinationRule", "VirtualService"].contains(&first)
        || first.chars().filter(|c| c.is_ascii_uppercase()).count() > 1
        || first.starts_with('.');
    if first.starts_with(char::is_uppercase) && !is_name {
        complain("starts with a capital");
    }
    // What the user wrote is quoted as it is; only our own words are looked at.
    let own: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
    for word in NOT_SO {
        if own.contains(word) {
            complain(&format!("says `{}`", word.trim()));
        }
    }
    out
}
