//! Where template expressions stand, and whether they steer or print.

use std::ops::Range;

/// An expression with its delimiters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Byte range.
    pub at: Range<usize>,
    /// What it does.
    pub kind: Kind,
}

impl Expression {
    /// Whether another branch of a condition begins here.
    pub fn is_else(&self, text: &str) -> bool {
        self.kind == Kind::Steers && word(text.get(self.at.start + 2..self.at.end).unwrap_or_default()) == "else"
    }
}

/// Which notations are expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expressions {
    /// `{{ … }}` and `{% … %}`.
    Braces,
    /// Those and `${…}`, which `envsubst` and its kin replace.
    Variables,
}

/// What an expression does to the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Prints something, at this column if it says so (`nindent 8`).
    Prints(Option<usize>),
    /// Prints nothing: `if`, `end`, `range`, an assignment.
    Steers,
    /// Begins or ends what is printed elsewhere, if anywhere: `define` and its `end`.
    Defines,
    /// A comment.
    Comment,
}

/// Strings in expressions are looked for this far; beyond, the next closing brace ends the expression whatever it stands in.
const REACH: usize = 64 << 10;

/// All expressions in order. What is opened and never closed is none.
pub fn find(text: &str, which: Expressions) -> Vec<Expression> {
    let is_jinja = text.contains("{%");
    let bytes = text.as_bytes();
    // What opens behind the last closing delimiter is never closed: thousands of them are not searched one by one.
    let last = |close: &str| memchr::memmem::rfind(bytes, close.as_bytes());
    let (last_braces, last_percent, last_hash) = (last("}}"), last("%}"), last("#}"));
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'{', bytes.get(at..).unwrap_or_default()).map(|next| at + next) {
        at = open + 1;
        let (close, last) = match bytes.get(open + 1) {
            Some(b'{') => ("}}", last_braces),
            Some(b'%') => ("%}", last_percent),
            Some(b'#') if is_jinja => ("#}", last_hash),
            _ => {
                let dollar = open.checked_sub(1).filter(|dollar| bytes.get(*dollar) == Some(&b'$'));
                if which == Expressions::Variables
                    && let Some(dollar) = dollar
                    && let Some(end) = variable(text, open + 1)
                {
                    found.push(Expression { at: dollar..end, kind: Kind::Prints(None) });
                    at = end;
                }
                continue;
            }
        };
        if last.is_none_or(|last| last < open + 2) {
            continue;
        }
        let inside = text.get(open + 2..).unwrap_or_default();
        let Some(len) = closing(inside, close) else { continue };
        let mut end = open + 2 + len + close.len();
        // Mustache's unescaped `{{{ x }}}`.
        if inside.starts_with('{') && bytes.get(end) == Some(&b'}') {
            end += 1;
        }
        let kind = kind(close, inside.get(..len).unwrap_or_default());
        found.push(Expression { at: open..end, kind });
        at = end;
    }
    mark_ends(text, &mut found);
    found
}

/// One past the brace that closes `${NAME}` or `${NAME:-text}`; `from` is where the name begins.
fn variable(text: &str, from: usize) -> Option<usize> {
    let inside = text.get(from..)?;
    let end = inside.bytes().take(256).position(|byte| matches!(byte, b'}' | b'{' | b'\n'))?;
    let begins_a_name = inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (begins_a_name && inside.as_bytes().get(end) == Some(&b'}')).then_some(from + end + 1)
}

/// The `end` of a `define` is known by what is open when it comes.
fn mark_ends(text: &str, expressions: &mut [Expression]) {
    if !expressions.iter().any(|one| one.kind == Kind::Defines) {
        return;
    }
    let mut open = Vec::new();
    for one in expressions {
        let word = word(text.get(one.at.start + 2..one.at.end).unwrap_or_default());
        match word {
            "if" | "range" | "with" | "block" | "define" => open.push(one.kind),
            "end" => one.kind = open.pop().unwrap_or(Kind::Steers),
            _ => {}
        }
    }
}

/// The length of what stands before the closing delimiter, those in strings and comments left out.
fn closing(inside: &str, close: &str) -> Option<usize> {
    let find = |text: &str, what: &str| memchr::memmem::find(text.as_bytes(), what.as_bytes());
    let naive = || find(inside, close);
    // A comment may hold expressions.
    let start = inside.strip_prefix('-').unwrap_or(inside).trim_start();
    if start.starts_with("/*")
        && let Some(end) = find(start, "*/")
    {
        let end = inside.len() - start.len() + end;
        return inside.get(end..).and_then(|rest| find(rest, close)).map(|len| end + len);
    }
    if close == "#}" {
        return naive();
    }
    let bytes = inside.as_bytes();
    let mut quote = None;
    for (at, byte) in bytes.iter().enumerate().take(REACH) {
        match (quote, byte) {
            (None, b'"' | b'\'' | b'`') => quote = Some(*byte),
            (None, _) if bytes.get(at..).is_some_and(|rest| rest.starts_with(close.as_bytes())) => return Some(at),
            // An apostrophe, no string.
            (Some(b'"' | b'\''), b'\n') => return naive(),
            (Some(open), byte) if open == *byte && !(open != b'`' && is_escaped(bytes, at)) => quote = None,
            _ => {}
        }
    }
    naive()
}

/// Whether an odd number of backslashes stands before a byte.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    bytes.get(..at).is_some_and(|before| before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1)
}

/// What an expression begins with.
fn word(inside: &str) -> &str {
    let inside = inside.trim_start_matches(BESIDE);
    inside.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// Blanks and marks that trim blanks.
const BESIDE: [char; 7] = ['-', '~', '+', ' ', '\t', '\r', '\n'];

fn kind(close: &str, inside: &str) -> Kind {
    let inside = inside.trim_matches(BESIDE);
    match close {
        "#}" => return Kind::Comment,
        "%}" => return Kind::Steers,
        _ => {}
    }
    if inside.starts_with("/*") || inside.starts_with('!') {
        return Kind::Comment;
    }
    let word = word(inside);
    if word == "define" {
        return Kind::Defines;
    }
    let steers = matches!(word, "if" | "else" | "end" | "range" | "with" | "block" | "break" | "continue" | "fail")
        // Handlebars.
        || inside.starts_with(['#', '/', '^'])
        || (inside.starts_with('$') && inside.split_once(" = ").is_some_and(|(name, _)| !name.contains(' ')))
        || inside.split_once(":=").is_some_and(|(name, _)| name.trim_start().starts_with('$') && !name.contains(['(', '|']));
    if steers { Kind::Steers } else { Kind::Prints(column(inside)) }
}

/// `nindent 8`, `indent 4`: the column at which the lines that are printed begin.
fn column(inside: &str) -> Option<usize> {
    let (_, behind) = inside.rsplit_once("indent ")?;
    let digits: String = behind.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|column| *column <= 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, Kind)> {
        find(text, Expressions::Braces).into_iter().map(|one| (&text[one.at], one.kind)).collect()
    }

    #[test]
    fn expressions_end_outside_of_strings() {
        let text = r#"a: {{ print "}}" `}}` '}}' }} b {{ .x }}"#;
        let found = found(text);
        assert_eq!(found[0].0, r#"{{ print "}}" `}}` '}}' }}"#);
        assert_eq!(found[1].0, "{{ .x }}");
        assert_eq!(super::find(r#"{{ "a\"}}" }}"#, Expressions::Braces)[0].at, 0..13);
    }

    #[test]
    fn an_apostrophe_does_not_swallow_the_rest() {
        assert_eq!(found("{{ don't }}\nx: {{ .y }}\n").len(), 2);
        assert_eq!(found("{{ never closed\n"), []);
    }

    /// Megabytes of them would be searched for as long as the run may take.
    #[test]
    fn what_is_never_closed_is_not_searched_again_and_again() {
        assert_eq!(found(&"{{ ".repeat(2_000_000)), []);
        assert_eq!(found(&format!("{{{{ x }}}} {}", "{{ {% {# ".repeat(500_000))).len(), 1);
        // The end of one kind closes no other.
        assert_eq!(found(&format!("{}%}}", "{{ ".repeat(500_000))), []);
    }

    #[test]
    fn what_steers_and_what_prints_is_told_apart() {
        for steers in [
            "{{- if .x }}",
            "{{ else if eq .a 1 }}",
            "{{- end -}}",
            "{{ range $k, $v := .x }}",
            "{{ $x := 1 }}",
            "{{- $x = 2 }}",
            "{% for a in b %}",
            "{{#each x}}",
            "{{/each}}",
        ] {
            assert_eq!(found(steers), [(steers, Kind::Steers)]);
        }
        for comment in ["{{/* x {{ y }} */}}", "{{- /* x */ -}}", "{{! x }}"] {
            assert_eq!(found(comment)[0].1, Kind::Comment, "{comment}");
        }
        assert_eq!(found("{# x #}"), []);
        assert_eq!(found("{# x #}{% y %}").len(), 2);
        assert_eq!(found("{{ .Values.ending }}")[0].1, Kind::Prints(None));
        assert_eq!(found("{{- toYaml .x | nindent 8 }}")[0].1, Kind::Prints(Some(8)));
        assert_eq!(found("{{{ raw }}}"), [("{{{ raw }}}", Kind::Prints(None))]);
    }
}
