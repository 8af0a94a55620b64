//! What a finding says beyond its headline, piece by piece, for formats that have room for text but not for pictures.

use std::borrow::Cow;

use super::group::is_more;
use super::repository::Locate;
use super::text;
use crate::facts::words;
use crate::finding::Finding;
use crate::source::Sources;

/// Places that are told of one finding.
const MOST_PLACES: usize = 20;

/// One piece.
pub(super) enum Detail<'a> {
    /// `path:line`, and what stands there.
    Place(String, &'a str),
    /// A further fact.
    Note(Cow<'a, str>),
    /// What to write instead.
    Help(&'a str),
}

impl Detail<'_> {
    /// The piece as one or more lines of clean text.
    pub fn text(&self) -> String {
        match self {
            Detail::Place(place, says) => format!("{}: {}", text::line(place), text::line(says)),
            Detail::Note(note) => text::block(note).into_owned(),
            Detail::Help(help) => format!("help: {}", text::block(help)),
        }
    }
}

/// The pieces, in the order in which `full` shows them. A primary place of which nothing is said is left out: each format
/// gives it in a way of its own.
pub(super) fn details<'a>(finding: &'a Finding, sources: &Sources, locate: Locate<'_>) -> Vec<Detail<'a>> {
    let mut out: Vec<Detail<'_>> = finding
        .in_reading_order()
        .into_iter()
        .filter(|label| !label.text.is_empty())
        .filter_map(|label| {
            let source = sources.get(label.span.file)?;
            let line = source.position(label.span.start).line;
            Some(Detail::Place(format!("{}:{line}", locate(&source.path)), &label.text))
        })
        .collect();
    if let Some(more) = out.len().checked_sub(MOST_PLACES).filter(|more| *more > 0) {
        out.truncate(MOST_PLACES);
        out.push(Detail::Note(
            format!("and {}", words::counted(more as u64, "further place", "further places")).into(),
        ));
    }
    // A count of further places belongs to the places.
    let (more, notes): (Vec<&String>, Vec<&String>) = finding.notes.iter().partition(|note| is_more(note));
    let note = |note: &'a String| Detail::Note(note.into());
    out.extend(more.into_iter().map(note));
    let mut notes = notes.into_iter().map(note);
    out.extend(notes.next());
    out.extend(finding.help.as_deref().map(Detail::Help));
    out.extend(notes);
    if !finding.environments.is_empty() {
        let names: Vec<&str> = finding.environments.iter().map(|name| &**name).collect();
        out.push(Detail::Note(format!("holds in {}", names.join(", ")).into()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Label;
    use crate::report::examples;

    fn lines(finding: &Finding, sources: &Sources) -> Vec<String> {
        details(finding, sources, &|path| format!("below/{path}")).iter().map(Detail::text).collect()
    }

    #[test]
    fn places_come_in_reading_order_before_notes_and_help() {
        let (sources, mut finding) = examples::path();
        finding.help = Some("write\n  a: 1".into());
        finding.environments = vec!["prod".into(), "test".into()];
        assert_eq!(
            lines(&finding, &sources),
            [
                "below/mesh/checkout.yaml:14: web → checkout: two retries, three tries (×3)",
                "below/services/checkout/src/client.rs:31: checkout → payments: two retries, three tries (×3 = 9)",
                "below/gateway/envoy.yaml:188: payments → ledger: two retries, three tries (×3 = 27)",
                "worst for overload (503 at every hop); no layer on this path has a budget",
                "help: write\n  a: 1",
                "web → checkout is owned by @team-web, checkout → payments by @team-pay",
                "holds in prod, test",
            ]
        );
    }

    #[test]
    fn of_many_places_the_rest_is_counted() {
        let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
        let mut finding = examples::finding("no-backoff", &sources, &["x"; MOST_PLACES]);
        assert_eq!(lines(&finding, &sources).len(), MOST_PLACES);
        finding.labels.extend(vec![finding.labels[0].clone(); 2]);
        let lines = lines(&finding, &sources);
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (MOST_PLACES + 1, Some("and two further places")));
    }

    #[test]
    fn a_count_of_places_stands_behind_the_places() {
        let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
        let mut finding = examples::finding("implicit-retries", &sources, &["x"]);
        finding.notes = vec!["it repeats".into(), "and 34 more".into(), "and 34 more of them".into()];
        finding.help = Some("write".into());
        assert_eq!(lines(&finding, &sources)[1..], ["and 34 more", "it repeats", "help: write", "and 34 more of them"]);
    }

    #[test]
    fn a_place_of_which_nothing_is_said_is_left_out() {
        let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
        let mut finding = examples::finding("no-backoff", &sources, &["x"]);
        finding.labels = vec![Label { text: String::new(), ..finding.labels[0].clone() }];
        assert_eq!(lines(&finding, &sources), Vec::<String>::new());
    }
}
