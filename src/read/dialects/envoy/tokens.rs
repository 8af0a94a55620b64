//! The conditions of `retry_on`, and the failure classes that each of them retries (contracts.md D-10, measured.md 2.1).

use crate::facts::{Class, Classes};
use crate::suggest::did_you_mean;

/// The token that puts `retriable_status_codes` in force.
pub(super) const CODES: &str = "retriable-status-codes";
/// The token that puts `retriable_headers` in force.
pub(super) const HEADERS: &str = "retriable-headers";
/// QUIC only: it matches nothing over TCP.
pub(super) const HTTP3: &str = "http3-post-connect-failure";

/// What happens to a connection, the attempt limit included: Envoy resets the try when that is hit.
const RESETS: Classes = Classes::of(&[Class::Connect, Class::Unsent, Class::Reset, Class::TryTimeout]);
const GATEWAY: Classes = RESETS.or(Classes::of(&[Class::Overload, Class::BadGateway]));

/// Every token with what it retries by itself.
const TOKENS: [(&str, Classes); 16] = [
    ("5xx", GATEWAY.or(Classes::of(&[Class::ServerError]))),
    ("gateway-error", GATEWAY),
    ("reset", RESETS),
    ("connect-failure", Classes::of(&[Class::Connect])),
    ("reset-before-request", Classes::of(&[Class::Connect])),
    ("refused-stream", Classes::of(&[Class::Unsent])),
    ("retriable-4xx", Classes::of(&[Class::Conflict])),
    ("envoy-ratelimited", Classes::of(&[Class::RateLimited])),
    ("cancelled", Classes::of(&[Class::Aborted])),
    ("deadline-exceeded", Classes::of(&[Class::Deadline])),
    ("internal", Classes::of(&[Class::Internal])),
    ("resource-exhausted", Classes::of(&[Class::Exhausted])),
    ("unavailable", Classes::of(&[Class::Unavailable])),
    (CODES, Classes::NONE),
    (HEADERS, Classes::NONE),
    (HTTP3, Classes::NONE),
];

/// The parts of a `retry_on` text. Envoy trims blanks and drops what it does not know without a word.
#[derive(Debug, Default)]
pub(super) struct Tokens<'t> {
    /// Known tokens, in the order written.
    pub known: Vec<&'static str>,
    /// The rest.
    pub unknown: Vec<&'t str>,
}

impl<'t> Tokens<'t> {
    /// Adds the tokens of one text.
    pub fn add(&mut self, text: &'t str) {
        for token in text.split(',').map(str::trim).filter(|token| !token.is_empty()) {
            match TOKENS.iter().find(|(name, _)| *name == token) {
                Some((name, _)) if self.known.contains(name) => {}
                Some((name, _)) => self.known.push(name),
                None => self.unknown.push(token),
            }
        }
    }

    /// Whether a token is there.
    pub fn has(&self, token: &str) -> bool {
        self.known.contains(&token)
    }

    /// What the tokens retry by themselves, without listed codes and headers.
    pub fn classes(&self) -> Classes {
        let of = |token: &&str| TOKENS.iter().find(|(name, _)| name == token).map(|(_, classes)| *classes);
        self.known.iter().filter_map(of).fold(Classes::NONE, Classes::or)
    }

    /// Whether an answer with this status is retried without being listed.
    pub fn cover(&self, status: u64) -> bool {
        match status {
            502..=504 => self.has("5xx") || self.has("gateway-error"),
            500..=599 => self.has("5xx"),
            409 => self.has("retriable-4xx"),
            _ => false,
        }
    }
}

/// The known token that somebody who wrote `token` most likely meant.
pub(super) fn nearest(token: &str) -> Option<&'static str> {
    let lower = token.to_ascii_lowercase().replace('_', "-");
    // Other proxies' and older names of the same thing.
    match lower.as_str() {
        "status-codes" => return Some(CODES),
        "connection-failure" | "connect-error" => return Some("connect-failure"),
        "server-error" => return Some("5xx"),
        _ => {}
    }
    did_you_mean(token, TOKENS.iter().map(|(name, _)| *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_trimmed_and_strangers_kept_apart() {
        let mut tokens = Tokens::default();
        tokens.add("foo, connect-failure ,bar");
        assert_eq!(tokens.known, ["connect-failure"]);
        assert_eq!(tokens.unknown, ["foo", "bar"]);
    }

    #[test]
    fn tokens_are_case_sensitive_and_the_nearest_is_named() {
        let mut tokens = Tokens::default();
        tokens.add("5XX");
        assert!(tokens.known.is_empty());
        assert_eq!(nearest("5XX"), Some("5xx"));
        assert_eq!(nearest("gatway-error"), Some("gateway-error"));
        assert_eq!(nearest("connect_failure"), Some("connect-failure"));
        assert_eq!(nearest("foo"), None);
    }
}
