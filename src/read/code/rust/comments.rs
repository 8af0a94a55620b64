//! Comments that speak to retrylint, and what they cover. Read from the text alone, so that they count in a file that does not
//! parse.

use memchr::{memchr, memmem, memrchr};

use super::extents::{self, Asked};
use super::items::at;
use super::scan::{Kind, Scanner};
use crate::facts::{Facts, Scope, Suppression};
use crate::read::code::directive::{Directive, DirectiveKind};
use crate::read::code::tree::At;
use crate::read::suppress::{self, Fact, Said};
use crate::source::{FileId, Span};

/// What the comments of a file say.
#[derive(Debug, Default)]
pub struct Comments {
    /// Suppressions, and what is not understood.
    pub facts: Facts,
    /// What is stated of the code.
    pub directives: Vec<Directive>,
}

impl Comments {
    /// Whether they say nothing.
    pub fn is_empty(&self) -> bool {
        self.directives.is_empty() && self.facts == Facts::default()
    }
}

/// Whether a text may speak to retrylint at all.
pub fn speaks_to_us(text: &str) -> bool {
    memmem::find(text.as_bytes(), suppress::MARK.as_bytes()).is_some()
}

/// Reads the comments of a text whose code begins at `start`.
///
/// Behind code a comment covers its line, and the statement or item that begins on this line up to its end. Alone on its line it
/// covers the next statement or item; a fact about whose code it is covers the file, if it stands at the top of it and no
/// function or type follows at once.
pub fn read(text: &str, start: usize, file: FileId) -> Comments {
    let mut comments = Comments::default();
    if !speaks_to_us(text) {
        return comments;
    }
    let (said, asked) = said(text, start, file);
    let covered = extents::covered(text, start, &asked);
    let first = Scanner::new(text, start).code().map_or(text.len(), |token| token.start);
    for ((said, asked), covers) in said.into_iter().zip(asked).zip(covered) {
        match said {
            Said::Nothing => {}
            Said::Wrong(wrong) => comments.facts.misdirected.push(wrong),
            Said::Allow { span, rules, reason, until, whole_file } => {
                let scope = if whole_file { Scope::File } else { Scope::Range(covers.in_file(file)) };
                comments.facts.suppressions.push(Suppression { span, rules, reason, until, scope });
            }
            Said::States { fact, names } => {
                let is_at_top = (asked.comment.start as usize) < first;
                let covers = match fact {
                    Fact::Service if is_at_top && is_of_file(text, covers) => at(0, text.len()),
                    _ => covers,
                };
                let kind = match fact {
                    Fact::Calls => DirectiveKind::Calls,
                    Fact::Service => DirectiveKind::Service,
                };
                comments.directives.extend(names.into_iter().map(|(name, span)| Directive {
                    at: At { start: span.start, end: span.end },
                    kind,
                    name: name.into(),
                    covers,
                }));
            }
        }
    }
    comments
}

/// Whether a comment above everything else is about the file, not about what comes next, which it covers.
fn is_of_file(text: &str, covers: At) -> bool {
    // An import or declaration has no service of its own.
    let next = text.get(covers.start as usize..covers.end as usize).unwrap_or_default();
    next.is_empty() || next.starts_with("#!") || next.ends_with(';')
}

/// The comments that say something, each with what is to be known of its place.
fn said(text: &str, start: usize, file: FileId) -> (Vec<Said>, Vec<Asked>) {
    let bytes = |from: usize, to: usize| text.as_bytes().get(from..to).unwrap_or_default();
    let mut said = Vec::new();
    let mut asked = Vec::new();
    let mut line = 0;
    let mut seen = 0;
    let mut code_end = start;
    for token in Scanner::new(text, start) {
        if token.kind != Kind::Comment {
            code_end = token.end;
            continue;
        }
        if let Some(found) = memrchr(b'\n', bytes(seen, token.start)) {
            line = seen + found + 1;
        }
        seen = token.start;
        let one = suppress::said(text, Span::new(file, token.start..token.end));
        if one != Said::Nothing {
            let is_alone = code_end == start || memchr(b'\n', bytes(code_end, token.start)).is_some();
            asked.push(Asked { comment: at(token.start, token.end), line: (!is_alone).then_some(line) });
            said.push(one);
        }
    }
    (said, asked)
}

#[cfg(test)]
#[path = "comments_tests.rs"]
mod tests;
