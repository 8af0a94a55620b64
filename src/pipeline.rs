//! The stations called one after another: paths in, findings out.
//!
//! ```text
//! Options ─► read (scan, settings) ─► World ─► systems (link, analyse) ─► check ─► findings
//! ```

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{Config, RuleLevel};
use crate::facts::{Class, Facts, File, FileKind, Role, Service, ServiceRef, ServiceSource};
use crate::finding::Finding;
use crate::fingerprint::fingerprints;
use crate::graph::System;
use crate::graph::link::{environments, link, misspelt, unnamed};
use crate::limits::Limits;
use crate::read::suppress::MARK;
use crate::rules;
use crate::scan::recorded::{forget_known, settings};
use crate::scan::{self, Counts, Globs, Scan, ScanError, ScanSettings};
use crate::source::{FileId, Source, Sources, Span};
use crate::suggest::did_you_mean;

/// What a run is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What to read; [`Options::new`] takes from the settings what they say about it.
    pub scan: ScanSettings,
    /// retrylint.toml, its limits changed by the command line.
    pub config: Config,
    /// Only this environment.
    pub environment: Option<String>,
}

/// Why a run could not be made: the command line or the settings are wrong.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A path or a pattern.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// An environment that is not there.
    #[error("no environment is called `{name}`")]
    Environment {
        /// As asked for.
        name: String,
        /// What would help: the nearest name, or that there are none.
        help: String,
    },
}

/// What was read, and by which limits it is judged.
#[derive(Debug)]
pub struct World {
    /// The files that facts point into.
    pub sources: Sources,
    /// The facts.
    pub facts: Facts,
    /// What was looked at.
    pub counts: Counts,
    /// What is said about settings that nothing answers to.
    pub unmatched: Vec<String>,
    config: Config,
    per_path: PerPath,
    environments: Vec<Option<Arc<str>>>,
    include_tests: bool,
}

/// Everything that a run finds out but the graph, which borrows from the world.
#[derive(Debug)]
pub struct Analysis {
    /// What was read.
    pub world: World,
    /// All findings, sorted worst first, then by place; suppressed and pedantic ones are marked.
    pub findings: Vec<Finding>,
    /// A fingerprint for each.
    pub fingerprints: Vec<String>,
}

impl Options {
    /// Options with everything that the settings say.
    pub fn new(config: Config) -> Self {
        let base = config.base.clone();
        let environments = config.environments.iter().map(|one| (one.name.to_string(), one.paths.clone())).collect();
        Options {
            scan: ScanSettings {
                include: config.scan.include.clone(),
                exclude: config.scan.exclude.clone(),
                base,
                follow_ignore_files: config.scan.follow_ignore_files,
                max_file_size: config.scan.max_file_size,
                environments,
                read: config.read.clone(),
                ..ScanSettings::default()
            },
            config,
            environment: None,
        }
    }
}

/// The facts of each file and of retrylint.toml, before they are put together: what `retrylint facts` writes.
///
/// # Errors
/// If a path is not there, or a pattern is none.
pub fn gather(options: &Options) -> Result<Scan, Failure> {
    let Scan { sources, facts, counts } = scan::scan(&options.scan)?;
    let (sources, facts) = with_settings(sources, facts, &options.config);
    Ok(Scan { sources, facts, counts })
}

/// Reads everything.
///
/// # Errors
/// If a path is not there, a pattern is none, or no fact belongs to the environment that was asked for.
pub fn read(options: &Options) -> Result<World, Failure> {
    let per_path = PerPath::new(&options.config)?;
    let Scan { sources, mut facts, counts } = gather(options)?;
    crate::read::finish(&mut facts);
    let all = environments(&facts);
    let environments = match &options.environment {
        None => all,
        Some(name) if all.iter().flatten().any(|one| **one == **name) => vec![Some(name.as_str().into())],
        Some(name) => {
            let nearest = did_you_mean(name, all.iter().flatten().map(|one| &**one));
            let help = match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None if all.iter().flatten().next().is_none() => {
                    "nothing here is divided into environments; `[[environment]]` in retrylint.toml names them".into()
                }
                None => {
                    let names: Vec<&str> = all.iter().flatten().map(|one| &**one).collect();
                    format!("there is {}", crate::facts::words::list(&names))
                }
            };
            return Err(Failure::Environment { name: name.clone(), help });
        }
    };
    let include_tests = options.scan.include_tests;
    let mut unmatched = options.config.unmatched(&options.scan.paths);
    unmatched.extend(services_of_nothing(&options.config, (&facts, &sources), &options.scan.paths));
    if let Some(name) = &options.environment {
        facts.leave_out_others(name);
    }
    let config = options.config.clone();
    Ok(World { sources, facts, counts, unmatched, config, per_path, environments, include_tests })
}

/// What is said about services that retrylint.toml or a comment states and nothing else names, although all that lies around
/// was read: what is stated of them changes nothing, or is about a service that is not there. Of an `accept`, a rule says it.
fn services_of_nothing(config: &Config, (facts, sources): (&Facts, &Sources), paths: &[PathBuf]) -> Vec<String> {
    let here = std::env::current_dir().unwrap_or_default();
    let base = config.whole_base();
    let is_all_read = paths.iter().any(|path| base.starts_with(scan::whole(&here, path)));
    // What cannot be read may name it.
    if !is_all_read || facts.problems.iter().any(|problem| !problem.template) {
        return Vec::new();
    }
    let place = |at: Span| {
        let source = sources.get(at.file)?;
        Some(format!("{}:{}", source.path, source.position(at.start).line))
    };
    let stated = facts.services.iter().filter(|service| service.source == ServiceSource::Settings);
    let stated = stated.filter(|service| service.accept.is_none() && service.paths.is_empty());
    let said = |(service, meant): (&Service, Option<String>)| {
        let help = meant.map_or_else(
            || "without a call or `paths` it changes nothing".to_string(),
            |name| format!("did you mean `{name}`?"),
        );
        let place = place(service.span)?;
        Some(format!("{place}: no call and no other file names the service `{}`; {help}", service.name))
    };
    let is_comment = |service: &ServiceRef| {
        service.at.and_then(|at| Some((at, sources.get(at.file)?))).is_some_and(|(at, source)| {
            let line = source.line_of(at.start);
            let before = Span { start: source.line_range(line).start as u32, end: at.start, ..at };
            source.slice(before).contains(MARK)
        })
    };
    let mut all: Vec<String> = unnamed(facts, stated.collect()).into_iter().filter_map(said).collect();
    for (service, meant) in misspelt(facts, is_comment) {
        let place = service.at.and_then(place).map_or_else(String::new, |place| format!("{place}: "));
        let name = service.host.display();
        all.push(format!("{place}nothing else names the service `{name}`; did you mean `{meant}`?"));
    }
    all
}

/// Adds what retrylint.toml states as facts: services and calls. Its text, and that of the files it extends, become files
/// of the run.
fn with_settings(mut sources: Sources, mut facts: Facts, config: &Config) -> (Sources, Facts) {
    let told = settings(&facts);
    let mut files = Vec::new();
    for mut source in config.sources() {
        let path = source.path.clone();
        // A file of facts tells of the file that it was written with, by whatever path.
        let is_ours = |id: &FileId| facts.file(*id).is_some_and(|file| file.told_by.is_none());
        let is_same = |id: &FileId, known: &Source| told.contains(id) || (known.path == path && is_ours(id));
        let known = sources.iter().find(|(id, known)| is_same(id, known) && known.is_part_of(&source));
        let id = match known.map(|(id, known)| (id, Arc::clone(&known.path))) {
            Some((id, path)) => {
                source.path = path;
                sources.replace(id, source);
                id
            }
            None => {
                let file = File {
                    path,
                    kind: FileKind::Toml,
                    environment: None,
                    role: Role::Production,
                    named: false,
                    told_by: None,
                };
                facts.files.push(file);
                let id;
                (sources, id) = sources.with(source);
                id
            }
        };
        files.push(id);
    }
    let mut stated = config.facts(&files);
    forget_known(&mut stated, &facts);
    facts.absorb(stated);
    (sources, facts)
}

/// `[[per-path]]`, ready to be asked.
#[derive(Debug, Default)]
struct PerPath {
    entries: Vec<(Globs, BTreeMap<String, RuleLevel>)>,
    /// What patterns are relative to.
    base: PathBuf,
    here: PathBuf,
}

impl PerPath {
    fn new(config: &Config) -> Result<Self, ScanError> {
        let entries = config.per_path.iter().map(|one| Ok((Globs::new(&one.paths)?, one.rules.clone())));
        let entries = entries.collect::<Result<_, ScanError>>()?;
        let here = std::env::current_dir().unwrap_or_default();
        let base = scan::whole(&here, config.base.as_deref().unwrap_or(Path::new("")));
        Ok(PerPath { entries, base, here })
    }

    /// The level of a rule in a file, given its path as shown; of several entries the last one says it.
    fn level(&self, rule: &str, shown: &str) -> Option<RuleLevel> {
        if self.entries.is_empty() {
            return None;
        }
        let whole = scan::whole(&self.here, Path::new(shown));
        let relative = whole.strip_prefix(&self.base).map_or_else(|_| shown.into(), Path::to_string_lossy);
        let relative = relative.replace('\\', "/");
        let say = self.entries.iter().rev().filter(|(paths, _)| paths.take(&relative));
        say.filter_map(|(_, rules)| rules.get(rule).copied()).next()
    }
}

impl World {
    /// The limits that findings are judged by.
    pub fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// The level that the settings give a rule in a file, whose path is whole or from where the run started.
    pub fn rule_in(&self, id: &str, path: &str) -> Option<RuleLevel> {
        self.per_path.level(id, path).or_else(|| self.config.rule(id))
    }

    /// Every environment, linked and analysed.
    pub fn systems(&self) -> Vec<System<'_>> {
        self.systems_if(None)
    }

    /// The same if services fail in one way only, where one is given.
    pub fn systems_if(&self, class: Option<Class>) -> Vec<System<'_>> {
        let system = |environment: &Option<Arc<str>>| {
            let net = link(&self.facts, environment.clone());
            System::caused_by(&self.facts, &self.config.limits, net, class)
        };
        self.environments.iter().map(system).collect()
    }

    /// Runs the rules, at the levels that the settings give them. Sorted worst first, then by place.
    pub fn check(&self, systems: &[System<'_>]) -> Vec<Finding> {
        self.check_and_count(systems).0
    }

    /// The same, and how many findings are left out because the settings switch their rules off.
    pub fn check_and_count(&self, systems: &[System<'_>]) -> (Vec<Finding>, usize) {
        let mut findings = rules::check(systems, rules::Options { include_tests: self.include_tests });
        let all = findings.len();
        findings.retain(|finding| self.level(finding) != Some(RuleLevel::Off));
        let off = all - findings.len();
        let mut is_changed = false;
        for finding in &mut findings {
            if let Some(RuleLevel::At(level)) = self.level(finding)
                && finding.severity != level
            {
                finding.severity = level;
                is_changed = true;
            }
        }
        if is_changed {
            // Within a level they keep the order of the rules.
            findings.sort_by_key(|finding| Reverse(finding.severity));
        }
        (findings, off)
    }

    /// The level that the settings give a finding: by the file of its primary place, else by its rule.
    fn level(&self, finding: &Finding) -> Option<RuleLevel> {
        let source = finding.primary().and_then(|label| self.sources.get(label.span.file));
        self.rule_in(finding.rule, source.map_or("", |source| &source.path))
    }
}

impl Analysis {
    /// Reads, links and checks.
    ///
    /// # Errors
    /// As [`read`].
    pub fn new(options: &Options) -> Result<Self, Failure> {
        let world = read(options)?;
        let findings = world.check(&world.systems());
        let fingerprints = fingerprints(&findings, &world.sources);
        Ok(Analysis { world, findings, fingerprints })
    }
}

/// A folder with its own retrylint.toml left aside, as tests want it.
///
/// # Errors
/// As [`read`].
pub fn analyse_dir(path: &Path, options: &Options) -> Result<Analysis, Failure> {
    let mut options = options.clone();
    options.scan.paths = vec![PathBuf::from(path)];
    Analysis::new(&options)
}
