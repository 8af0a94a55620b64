use super::*;
use crate::facts::Class;
use crate::read::code::fixture;
use crate::read::code::words::loops::Outcome;

/// What the condition of the only `if` of a function asks: statuses at the edges of what it holds for, and whether it holds
/// without one.
fn ask(condition: &str) -> Option<(String, bool)> {
    let unit = fixture::unit(&format!("fn f() {{ if {condition} {{ g(); }} }}"));
    let condition = unit.ids().find_map(|(_, node)| match &node.kind {
        Kind::Branch { arms, .. } => match arms.first()?.test {
            Test::Holds(condition) => Some(condition),
            _ => None,
        },
        _ => None,
    })?;
    let asked = asked(&unit, Words::of("rust"), condition)?;
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for status in (FIRST..=LAST).filter(|status| asked.for_.has(*status)) {
        match ranges.last_mut() {
            Some(last) if last.1 + 1 == status => last.1 = status,
            _ => ranges.push((status, status)),
        }
    }
    let shown = |(from, to): &(u16, u16)| if from == to { from.to_string() } else { format!("{from}-{to}") };
    Some((ranges.iter().map(shown).collect::<Vec<_>>().join(" "), asked.without_one))
}

#[test]
fn questions_about_a_status_are_sets_of_statuses() {
    for (condition, statuses) in [
        ("status.is_server_error()", "500-599"),
        ("!r.status().is_success()", "100-199 300-599"),
        ("r.status() == StatusCode::TOO_MANY_REQUESTS", "429"),
        ("reqwest::StatusCode::OK != r.status()", "100-199 201-599"),
        ("r.status() == 503", "503"),
        ("r.status().as_u16() >= 500", "500-599"),
        ("400 <= status && status < 500", "400-499"),
        ("u16::from(r.status()) > 499", "500-599"),
        ("r.status.as_u16() / 100 == 5", "500-599"),
        ("status / 100 != 2", "100-199 300-599"),
        ("[429, 503].contains(&r.status().as_u16())", "429 503"),
        ("(500..600).contains(&status)", "500-599"),
        ("(500..=503).contains(&code)", "500-503"),
        ("r.status() == StatusCode::BAD_GATEWAY || status.as_u16() == 504", "502 504"),
    ] {
        assert_eq!(ask(condition).map(|(found, _)| found).as_deref(), Some(statuses), "{condition}");
    }
}

#[test]
fn errors_without_an_answer_have_no_status() {
    for (condition, statuses, without_one) in [
        ("e.status().is_some_and(|s| s.is_server_error())", "500-599", false),
        ("e.status().is_none_or(|s| s == 429)", "429", true),
        ("e.status().map_or(true, |s| s.as_u16() >= 500)", "500-599", true),
        ("e.status().map(|s| s.is_client_error()).unwrap_or(false)", "400-499", false),
        ("e.status() == Some(StatusCode::SERVICE_UNAVAILABLE)", "503", false),
        ("e.status() != Some(StatusCode::NOT_FOUND)", "100-403 405-599", true),
    ] {
        assert_eq!(ask(condition), Some((statuses.to_owned(), without_one)), "{condition}");
    }
}

#[test]
fn other_numbers_are_no_statuses() {
    for condition in [
        "r.len() == 503",
        "r.content_length() >= 500",
        "child.exit_code() == 1",
        "state == State::Accepted",
        "kind == ErrorKind::NotFound",
        "items.contains(&503)",
        "codes.contains(&r.status())",
        "e.status().is_some_and(|s| s.is_odd())",
        "r.is_success()",
    ] {
        assert_eq!(ask(condition), None, "{condition}");
    }
}

#[test]
fn a_set_tells_how_it_went_where_it_can() {
    let server = Statuses::between(500, 599);
    assert_eq!(server.outcome(), Some(Outcome::Failure));
    assert_eq!(Statuses::all().without(server).outcome(), None);
    assert_eq!(Statuses::between(200, 299).outcome(), Some(Outcome::Success));
    assert_eq!(Statuses::all().without(Statuses::between(200, 299)).outcome(), Some(Outcome::Failure));
    assert_eq!(Statuses::all().without(Statuses::of(404)).outcome(), None);
    assert_eq!(Statuses::between(300, 399).outcome(), None);
    assert_eq!(Statuses::of(404).outcome(), None);
    assert_eq!(Statuses::of(401).or(Statuses::of(407)).outcome(), None);
    assert_eq!(Statuses::of(404).or(Statuses::of(503)).outcome(), Some(Outcome::Failure));
    assert_eq!(Statuses::of(429).or(Statuses::of(503)).classes(), Classes::of(&[Class::RateLimited, Class::Overload]));
    assert!(Statuses::failed().without(Statuses::of(404)).is_most());
    assert!(!server.or(Statuses::of(429)).is_most());
}
