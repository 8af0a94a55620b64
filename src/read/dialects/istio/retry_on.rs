//! `retryOn`: Envoy's conditions and bare HTTP codes, as Istio checks and passes them on (contracts.md D-10).

use crate::facts::{Class, Classes};

/// No connection, stream refused, lost on the way, or cut by the limit of one try: what `reset` retries.
const RESET: Classes = Classes::of(&[Class::Connect, Class::Unsent, Class::Reset, Class::TryTimeout]);

/// Conditions that Istio lets pass, with what they retry (measured: M-2 and the table of tokens).
const TOKENS: [(&str, Classes); 16] = [
    ("5xx", RESET.or(Classes::of(&[Class::Overload, Class::BadGateway, Class::ServerError]))),
    ("gateway-error", RESET.or(Classes::of(&[Class::Overload, Class::BadGateway]))),
    ("reset", RESET),
    ("reset-before-request", Classes::of(&[Class::Connect])),
    ("connect-failure", Classes::of(&[Class::Connect])),
    ("refused-stream", Classes::of(&[Class::Unsent])),
    ("retriable-4xx", Classes::of(&[Class::Conflict])),
    // These two do nothing without codes or headers, and Istio has no field for headers.
    ("retriable-status-codes", Classes::NONE),
    ("retriable-headers", Classes::NONE),
    ("envoy-ratelimited", Classes::of(&[Class::RateLimited])),
    // Only over QUIC, which no sidecar speaks to another.
    ("http3-post-connect-failure", Classes::NONE),
    ("cancelled", Classes::of(&[Class::Aborted])),
    ("deadline-exceeded", Classes::of(&[Class::Deadline])),
    ("internal", Classes::of(&[Class::Internal])),
    ("resource-exhausted", Classes::of(&[Class::Exhausted])),
    ("unavailable", Classes::of(&[Class::Unavailable])),
];

/// A condition that Istio does not let pass.
#[derive(Debug, PartialEq)]
pub(super) enum Refused<'t> {
    /// It has a blank before or behind it: the list is split at commas and not trimmed.
    Blank(&'t str),
    /// There is no such condition.
    Unknown(&'t str),
}

/// What a written `retryOn` means.
#[derive(Debug, PartialEq)]
pub(super) struct RetryOn<'t> {
    /// The classes that are retried, refused conditions left out.
    pub classes: Classes,
    /// Conditions for which the whole object is rejected.
    pub refused: Vec<Refused<'t>>,
}

/// Reads a comma-separated list.
pub(super) fn parse(text: &str) -> RetryOn<'_> {
    let mut classes = Classes::NONE;
    let mut refused = Vec::new();
    for token in text.split(',') {
        match classes_of(token) {
            Some(more) => classes = classes.or(more),
            None if classes_of(token.trim()).is_some() => {
                classes = classes.or(classes_of(token.trim()).unwrap_or_default());
                refused.push(Refused::Blank(token.trim()));
            }
            None => refused.push(Refused::Unknown(token.trim())),
        }
    }
    RetryOn { classes, refused }
}

/// The list as Istio would take it: blanks out, each unknown condition replaced by the nearest known one or left out.
pub(super) fn corrected(text: &str) -> String {
    let mut tokens: Vec<&str> = Vec::new();
    // There are not that many conditions.
    for token in text.split(',').take(64).map(str::trim) {
        let known = if classes_of(token).is_some() { Some(token) } else { nearest(token) };
        if let Some(token) = known
            && !tokens.contains(&token)
        {
            tokens.push(token);
        }
    }
    if tokens.is_empty() { "connect-failure,refused-stream".to_string() } else { tokens.join(",") }
}

fn classes_of(token: &str) -> Option<Classes> {
    if let Some((_, classes)) = TOKENS.iter().find(|(name, _)| *name == token) {
        return Some(*classes);
    }
    let code = token.parse::<u16>().ok().filter(|code| is_status(*code))?;
    Some(Class::of_status(code).map_or(Classes::NONE, |class| Classes::of(&[class])))
}

/// Codes that have a name in Go's `net/http`: Istio takes no others.
fn is_status(code: u16) -> bool {
    matches!(code, 100..=103 | 200..=208 | 226 | 300..=305 | 307 | 308 | 400..=418 | 421..=426 | 428 | 429 | 431 | 451
        | 500..=508 | 510 | 511)
}

/// The known condition that a misspelt one was meant to be.
fn nearest(token: &str) -> Option<&'static str> {
    let wanted: String = token.to_ascii_lowercase().replace(['_', ' '], "-");
    let names = TOKENS.iter().map(|(name, _)| *name);
    let (distance, name) = names.map(|name| (edits(&wanted, name), name)).min()?;
    (distance <= 3 && distance * 3 <= name.len()).then_some(name)
}

/// Insertions, deletions and replacements between two short words.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    // A condition is short; a longer text is no misspelling of one.
    for (i, from) in a.chars().take(40).enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(i + 1);
        for ((to, above), diagonal) in b.iter().zip(row.iter().skip(1)).zip(&row) {
            let left = next.last().copied().unwrap_or_default();
            next.push((diagonal + usize::from(from != *to)).min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Class::*;

    #[test]
    fn conditions_are_the_classes_that_were_measured() {
        let classes = |text| parse(text).classes;
        assert_eq!(classes("connect-failure"), Classes::of(&[Connect]));
        assert_eq!(classes("reset-before-request"), Classes::of(&[Connect]));
        assert_eq!(classes("refused-stream"), Classes::of(&[Unsent]));
        assert_eq!(classes("reset"), Classes::of(&[Connect, Unsent, Reset, TryTimeout]));
        assert_eq!(classes("gateway-error"), Classes::of(&[Connect, Unsent, Reset, TryTimeout, Overload, BadGateway]));
        assert_eq!(
            classes("5xx"),
            Classes::of(&[Connect, Unsent, Reset, TryTimeout, Overload, BadGateway, ServerError])
        );
        assert_eq!(classes("retriable-4xx"), Classes::of(&[Conflict]));
        assert_eq!(
            classes("cancelled,deadline-exceeded,internal,resource-exhausted,unavailable"),
            Classes::of(&[Aborted, Deadline, Internal, Exhausted, Unavailable])
        );
    }

    #[test]
    fn bare_codes_are_conditions_too() {
        let read = parse("503,reset,429");
        assert_eq!(read.refused, []);
        assert_eq!(read.classes, Classes::of(&[Connect, Unsent, Reset, TryTimeout, Overload, RateLimited]));
        // 200 is a code, and no failure; 599 has no name, and Istio refuses it.
        assert_eq!(parse("200"), RetryOn { classes: Classes::NONE, refused: vec![] });
        assert_eq!(parse("599").refused, [Refused::Unknown("599")]);
    }

    #[test]
    fn the_list_is_not_trimmed() {
        assert_eq!(parse("5xx, reset").refused, [Refused::Blank("reset")]);
        assert_eq!(parse("5xx,,reset").refused, [Refused::Unknown("")]);
        assert_eq!(parse("5XX").refused, [Refused::Unknown("5XX")]);
        assert_eq!(corrected("5xx, reset"), "5xx,reset");
        assert_eq!(corrected("5XX,connect_failure,foo"), "5xx,connect-failure");
        assert_eq!(corrected("foo"), "connect-failure,refused-stream");
        assert_eq!(corrected(&"x".repeat(1000)), "connect-failure,refused-stream");
    }
}
