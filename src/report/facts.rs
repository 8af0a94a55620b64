//! `retrylint facts`: the facts of a run as one file (contracts.md D-22), which a later run reads in the place of what it was made
//! from. Of each file it has the lines that a fact speaks of, so that a report can show them, and no others.

use std::io::Write;

use serde::ser::{Serialize, Serializer};

use super::{json, snippet};
use crate::facts::{Facts, Visit, Visitor};
use crate::scan::recorded::{KIND, VERSION};
use crate::scan::{Counts, Scan};
use crate::source::{KeptLine, Source, Sources, Span};

/// The facts of a run, which a later run reads in the place of what they were made from. Fields are added in later versions, never
/// changed or taken away.
#[derive(serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Document<'a> {
    /// What this file is.
    #[cfg_attr(test, schemars(extend("const" = KIND)))]
    kind: &'static str,
    /// Version of this format.
    #[cfg_attr(test, schemars(extend("const" = VERSION)))]
    version: u64,
    /// What was looked at.
    counts: &'a Counts,
    /// What is kept of each of `files`.
    #[cfg_attr(test, schemars(with = "Vec<File<'static>>"))]
    sources: Kept<'a>,
    /// The facts.
    facts: &'a Facts,
}

/// Writes the document, as it comes about.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write(scan: &mut Scan, out: impl Write) -> std::io::Result<()> {
    let Scan { sources, facts, counts } = scan;
    let mut lines = Lines { sources, ranges: vec![Vec::new(); facts.files.len()] };
    facts.visit(&mut lines);
    let sources = Kept(lines.told());
    json::write_rows(&Document { kind: KIND, version: VERSION, counts, sources, facts }, out)
}

/// The lines that facts speak of, from 0, of each file.
struct Lines<'a> {
    sources: &'a Sources,
    ranges: Vec<Vec<(usize, usize)>>,
}

impl<'a> Lines<'a> {
    fn add(&mut self, span: Span, range: impl Fn(&Source) -> (usize, usize)) {
        if let Some((source, ranges)) = self.sources.get(span.file).zip(self.ranges.get_mut(span.file.0 as usize)) {
            ranges.push(range(source));
        }
    }

    /// Sorted, each line once, and with them the lines between two that a snippet shows.
    fn told(self) -> Vec<(&'a Source, Vec<(usize, usize)>)> {
        let joined = |mut ranges: Vec<(usize, usize)>| {
            ranges.sort_unstable();
            let mut joined: Vec<(usize, usize)> = Vec::new();
            for (first, last) in ranges {
                match joined.last_mut() {
                    Some((_, end)) if first <= *end + snippet::GAP + 1 => *end = last.max(*end),
                    _ => joined.push((first, last)),
                }
            }
            joined
        };
        self.sources.iter().map(|(_, source)| source).zip(self.ranges.into_iter().map(joined)).collect()
    }
}

impl Visitor for Lines<'_> {
    fn span(&mut self, span: &mut Span) {
        self.add(*span, |source| (source.line_of(span.start), last_line(source, *span)));
    }

    fn extent(&mut self, span: &mut Span) {
        self.add(*span, |source| (source.line_of(span.start), source.line_of(span.start)));
        self.add(*span, |source| (last_line(source, *span), last_line(source, *span)));
    }
}

/// The line of the last byte.
fn last_line(source: &Source, span: Span) -> usize {
    source.line_of(span.end.saturating_sub(1).max(span.start))
}

/// For each file, its lines.
struct Kept<'a>(Vec<(&'a Source, Vec<(usize, usize)>)>);

/// What is kept of a file.
#[derive(serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Source"))]
struct File<'a> {
    /// The lines that facts speak of, in the order in which they stand.
    lines: Vec<KeptLine<'a>>,
}

impl Serialize for Kept<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lines =
            |ranges: &[(usize, usize)]| ranges.iter().flat_map(|(first, last)| *first..=*last).collect::<Vec<_>>();
        serializer.collect_seq(
            self.0.iter().map(|(source, ranges)| File { lines: source.kept(lines(ranges).into_iter()).collect() }),
        )
    }
}
