//! Files that could not be read to their end. Page: `rules/unreadable-file.md`.

use super::Findings;
use crate::facts::FileKind;
use crate::facts::words::in_words;
use crate::finding::Severity;
use crate::graph::System;

/// Whether it is the file's permissions and not what stands in it.
fn is_closed(message: &str) -> bool {
    message == in_words(&std::io::ErrorKind::PermissionDenied.into())
}

pub(super) fn check(system: &System, findings: &mut Findings) {
    for problem in &system.facts.problems {
        let file = system.facts.file(problem.span.file);
        let path = file.map_or("a file", |file| &*file.path);
        // A template is no mistake of the reader's: what it says is known only once it is rendered.
        let matters = !problem.template && (problem.recognised || file.is_some_and(|file| file.named));
        // Nobody renders code with a tool that is known here: what is wrong with it is told as of any other.
        let is_rendered = problem.template && file.is_none_or(|file| file.kind != FileKind::Rust);
        // One text for all templates, so that those of a chart are shown as one.
        let (message, label) = if problem.partial {
            (problem.message.clone(), "left out; the rest of the file is read")
        } else if is_rendered {
            (
                "a template cannot be read to its end before it is rendered".to_string(),
                "decided when the template is rendered",
            )
        } else if is_closed(&problem.message) {
            (format!("{path} cannot be read: {}", problem.message), "nothing of it is read")
        } else {
            (format!("{path} cannot be read: {}", problem.message), "reading broke here")
        };
        let draft = findings.report(problem.span, message);
        draft.severity(if matters { Severity::Warning } else { Severity::Note }).everywhere();
        draft.label(label);
        if is_rendered {
            draft.help("render the chart (`helm template`) and run over the result, to have it checked too");
        } else {
            draft.help(if problem.partial {
                "change it: until then what it says is in no number"
            } else if is_closed(&problem.message) {
                "let whoever runs retrylint read it, or leave it out with `exclude` under [scan] in retrylint.toml"
            } else {
                "mend the file, or leave it out with `exclude` under [scan] in retrylint.toml"
            });
        }
    }
}
