//! Several runs become one: what was scanned, and what files of facts tell.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::Recorded;
use crate::facts::{Call, CallId, CallSource, Facts, File, ServiceSource, Visit, Visitor};
use crate::scan::{Counts, Scan};
use crate::source::{FileId, Source, Sources, Span};

/// What is told by one input.
struct Part {
    /// The file of facts; none for what was scanned.
    name: Option<Arc<str>>,
    sources: Vec<Source>,
    facts: Facts,
}

/// Puts together what was scanned and what was recorded. Files are numbered by path again.
pub fn join(scan: Scan, recorded: Vec<Recorded>) -> Scan {
    let Scan { sources, facts, mut counts } = scan;
    let scanned = Part { name: None, sources: sources.into_files(), facts };
    let recorded = recorded.into_iter().map(|one| {
        counts.join(one.counts);
        Part { name: Some(one.name.into()), sources: one.sources, facts: one.facts }
    });
    let recorded: Vec<Part> = recorded.collect();
    let mut parts: Vec<Part> =
        std::iter::once(scanned).chain(recorded).filter(|part| !part.sources.is_empty()).collect();
    if parts.len() < 2 {
        let Part { sources, facts, .. } =
            parts.pop().unwrap_or(Part { name: None, sources: Vec::new(), facts: Facts::default() });
        return Scan { sources: Sources::new(sources), facts, counts };
    }
    tell_apart(&mut parts);
    let (sources, files, numbers) = number(&mut parts);
    let mut all = Facts::default();
    for (mut part, files) in parts.into_iter().zip(numbers) {
        part.facts.visit(&mut Renumber { files: &files, calls: None });
        forget_repeated(&mut part.facts, &all, &sources);
        all.absorb(part.facts);
    }
    all.files = files;
    Scan { sources: Sources::new(sources), facts: all, counts }
}

/// Notes for each file who tells of it, and puts that before a path that another input has too.
fn tell_apart(parts: &mut [Part]) {
    let mut inputs: HashMap<Arc<str>, usize> = HashMap::new();
    for part in parts.iter() {
        let paths: HashSet<&Arc<str>> = part.facts.files.iter().map(|file| &file.path).collect();
        paths.into_iter().for_each(|path| *inputs.entry(Arc::clone(path)).or_default() += 1);
    }
    for Part { name, sources, facts } in parts {
        let Some(name) = name else { continue };
        for (file, source) in facts.files.iter_mut().zip(sources) {
            let told_by: Arc<str> = match &file.told_by {
                Some(inner) => format!("{name}:{inner}").into(),
                None => Arc::clone(name),
            };
            let own = file.own_path();
            if own.len() < file.path.len() || inputs.get(&file.path).is_some_and(|inputs| *inputs > 1) {
                file.path = format!("{told_by}:{own}").into();
                source.path = Arc::clone(&file.path);
            }
            file.told_by = Some(told_by);
        }
    }
}

/// Numbers all files by path: the files, and for each part the new number of each of its own.
fn number(parts: &mut [Part]) -> (Vec<Source>, Vec<File>, Vec<Vec<FileId>>) {
    let mut numbers: Vec<Vec<FileId>> = parts.iter().map(|part| vec![FileId(0); part.sources.len()]).collect();
    let mut all: Vec<(File, Source, (usize, usize))> = Vec::new();
    for (at, part) in parts.iter_mut().enumerate() {
        let files = std::mem::take(&mut part.facts.files).into_iter().zip(std::mem::take(&mut part.sources));
        all.extend(files.enumerate().map(|(own, (file, source))| (file, source, (at, own))));
    }
    all.sort_by(|(a, ..), (b, ..)| a.path.cmp(&b.path));
    let (mut sources, mut files) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
    for (id, (file, source, (part, own))) in all.into_iter().enumerate() {
        if let Some(slot) = numbers.get_mut(part).and_then(|numbers| numbers.get_mut(own)) {
            *slot = FileId(id as u32);
        }
        sources.push(source);
        files.push(file);
    }
    (sources, files, numbers)
}

/// Gives files and calls other numbers.
struct Renumber<'a> {
    files: &'a [FileId],
    calls: Option<&'a [CallId]>,
}

impl Visitor for Renumber<'_> {
    fn span(&mut self, span: &mut Span) {
        span.file = self.files.get(span.file.0 as usize).copied().unwrap_or(span.file);
    }

    fn call(&mut self, id: &mut CallId) {
        *id = self.calls.and_then(|calls| calls.get(id.0 as usize)).copied().unwrap_or(*id);
    }
}

/// Several repositories may extend one retrylint.toml: the calls that it states are there once.
fn forget_repeated(facts: &mut Facts, known: &Facts, sources: &[Source]) {
    let theirs: Vec<FileId> = settings(known).into_iter().collect();
    let source = |id: FileId| sources.get(id.0 as usize);
    let same = |own: FileId, other: FileId| {
        source(own).zip(source(other)).is_some_and(|(own, other)| own.is_part_of(other) && other.is_part_of(own))
    };
    let twins: HashMap<FileId, FileId> = settings(facts)
        .into_iter()
        .filter_map(|own| Some((own, theirs.iter().copied().find(|other| same(own, *other))?)))
        .collect();
    if !twins.is_empty() {
        let as_known = |call: &Call| {
            let mut call = call.clone();
            call.visit(&mut Rename(&twins));
            call
        };
        forget(facts, known, as_known);
    }
}

/// The files of settings that services and calls stand in.
pub fn settings(facts: &Facts) -> BTreeSet<FileId> {
    let services = facts.services.iter().filter(|service| service.source == ServiceSource::Settings);
    let calls = facts.calls.iter().filter(|call| call.source == CallSource::Settings);
    services.map(|service| service.span.file).chain(calls.map(|call| call.span.file)).collect()
}

/// Puts other files in the place of some.
struct Rename<'a>(&'a HashMap<FileId, FileId>);

impl Visitor for Rename<'_> {
    fn span(&mut self, span: &mut Span) {
        span.file = self.0.get(&span.file).copied().unwrap_or(span.file);
    }
}

/// Drops the calls of settings that are known, once they are seen `as_known`, and that no policy speaks of.
fn forget(facts: &mut Facts, known: &Facts, as_known: impl Fn(&Call) -> Call) {
    let stated = |calls: &[Call]| calls.iter().any(|call| call.source == CallSource::Settings);
    if !stated(&facts.calls) || !stated(&known.calls) {
        return;
    }
    let known = known.calls.iter().filter(|call| call.source == CallSource::Settings);
    let known: HashMap<Span, &Call> = known.map(|call| (call.span, call)).collect();
    let used: HashSet<CallId> = facts.policies.iter().flat_map(|policy| policy.calls.iter().copied()).collect();
    let mut numbers = Vec::with_capacity(facts.calls.len());
    let mut kept = Vec::with_capacity(facts.calls.len());
    for (id, call) in std::mem::take(&mut facts.calls).into_iter().enumerate() {
        numbers.push(CallId(kept.len() as u32));
        let is_known = call.source == CallSource::Settings && !used.contains(&CallId(id as u32)) && {
            let call = as_known(&call);
            known.get(&call.span).is_some_and(|known| **known == call)
        };
        if !is_known {
            kept.push(call);
        }
    }
    facts.calls = kept;
    facts.policies.visit(&mut Renumber { files: &[], calls: Some(&numbers) });
}

/// Takes from the services and calls of retrylint.toml those that are among the facts: a file of facts that was written with the
/// same settings has them.
pub fn forget_known(stated: &mut Facts, known: &Facts) {
    forget(stated, known, Call::clone);
    let settings = known.services.iter().filter(|service| service.source == ServiceSource::Settings);
    let known: HashMap<Span, _> = settings.map(|service| (service.span, service)).collect();
    stated.services.retain(|service| known.get(&service.span).is_none_or(|known| *known != service));
}

impl Counts {
    /// Adds what another run looked at.
    fn join(&mut self, other: Counts) {
        let Counts { files, bytes, tests, left_out, unread } = other;
        files.into_iter().for_each(|(kind, count)| {
            let known = self.files.entry(kind).or_default();
            *known = known.saturating_add(count);
        });
        self.bytes = self.bytes.saturating_add(bytes);
        self.tests = self.tests.saturating_add(tests);
        self.left_out.extend(left_out);
        for (language, count) in unread {
            let sum = self.unread.entry(language).or_default();
            *sum = sum.saturating_add(count);
        }
    }
}
