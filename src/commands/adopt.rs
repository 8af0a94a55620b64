//! What `check` does for a repository that has findings already: the baseline, `--since`, and the day of the run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use retrylint::baseline::{Baseline, BaselineError, Known};
use retrylint::config::RuleLevel;
use retrylint::facts::Date;
use retrylint::facts::words::{grouped, in_words};
use retrylint::finding::Finding;
use retrylint::git::GitError;
use retrylint::pipeline::{Options, World};
use retrylint::report::{Selection, select};
use retrylint::repository::Repository;
use retrylint::scan::recorded;
use retrylint::since::Since;

use super::{Failure, screen};
use crate::cli::Check;

/// What is asked for, made ready before anything is read, so that a wrong name is told at once.
pub struct Adoption {
    /// The repository that the first path lies in.
    pub repository: Repository,
    baseline: Option<(PathBuf, What)>,
    since: Option<Since>,
    /// The paths that are read, links resolved.
    paths: Vec<PathBuf>,
    /// What the settings name as the baseline.
    settled: Option<PathBuf>,
    /// Whether only one environment is looked at: then nobody can tell what no longer occurs.
    is_partial: bool,
    quiet: bool,
}

/// What is done with a baseline.
enum What {
    Use(Baseline),
    Prune(Baseline),
    Write,
}

impl From<BaselineError> for Failure {
    fn from(error: BaselineError) -> Self {
        Failure::Said(error.to_string(), Some(error.help()))
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        Failure::Said(error.to_string(), Some(error.help().to_string()))
    }
}

impl Adoption {
    /// Reads the baseline and looks up the revision.
    pub fn new(args: &Check, options: &Options) -> Result<Adoption, Failure> {
        let asked = &args.adoption;
        let start = options.scan.paths.first().map_or(Path::new("."), PathBuf::as_path);
        let settled = options.config.baseline.clone();
        let read = |path: &PathBuf| Ok::<_, Failure>((path.clone(), Baseline::load(path)?));
        let baseline = if let Some(path) = &asked.write_baseline {
            Some((path.clone(), What::Write))
        } else if let Some(path) = &asked.prune_baseline {
            Some(read(path).map(|(path, baseline)| (path, What::Prune(baseline)))?)
        } else if let Some(path) = asked.baseline.as_ref().or(settled.as_ref()) {
            Some(read(path).map(|(path, baseline)| (path, What::Use(baseline)))?)
        } else {
            None
        };
        Ok(Adoption {
            repository: Repository::of(start),
            baseline,
            since: asked.since.as_deref().map(|revision| Since::new(start, revision)).transpose()?,
            paths: options.scan.paths.iter().filter_map(|path| path.canonicalize().ok()).collect(),
            settled,
            is_partial: options.environment.is_some(),
            quiet: args.terminal.quiet,
        })
    }

    /// The fingerprints of findings on lines that changed, if only these are asked for.
    pub fn changed(
        &self,
        findings: &[Finding],
        fingerprints: &[String],
        world: &World,
    ) -> Result<Option<HashSet<String>>, Failure> {
        let Some(since) = &self.since else { return Ok(None) };
        let touched = since.touched(findings, &world.sources)?;
        let changed = fingerprints.iter().zip(touched).filter(|(_, touched)| *touched);
        Ok(Some(changed.map(|(fingerprint, _)| fingerprint.clone()).collect()))
    }

    /// Marks what the baseline knows, having written or pruned it first if that is asked for. Answers what the summary should
    /// say about it.
    pub fn settle(
        &self,
        findings: &mut [Finding],
        fingerprints: &[String],
        selection: &Selection,
        world: &World,
    ) -> Result<Option<String>, Failure> {
        let Some((path, what)) = &self.baseline else { return Ok(None) };
        let mut remark = None;
        match what {
            What::Use(baseline) => {
                if !self.is_partial
                    && !self.reads_facts()
                    && !baseline.findings.iter().any(|known| self.is_elsewhere(known))
                {
                    let (_, stale) = baseline.pruned(fingerprints, may_occur(findings, world, &self.repository));
                    remark = (stale > 0).then(|| stale_remark(stale, path));
                }
                baseline.apply(findings, fingerprints);
            }
            What::Prune(baseline) => {
                if self.reads_facts() {
                    let message = "a baseline is not pruned by facts: their files lie elsewhere".to_string();
                    return Err(Failure::Said(message, Some("prune in the repository that it was written for".into())));
                }
                // What is found in one file rests on others: who reads a part cannot tell what is gone.
                if let Some(known) = baseline.findings.iter().find(|known| self.is_elsewhere(known)) {
                    let message = format!("{} of the baseline is not among what is read", known.path);
                    let help = "prune with all paths that the baseline was written for; without any, from the root";
                    return Err(Failure::Said(message, Some(help.into())));
                }
                let (baseline, dropped) = baseline.pruned(fingerprints, may_occur(findings, world, &self.repository));
                if dropped > 0 {
                    write(path, &baseline)?;
                }
                let left = entries(baseline.findings.len());
                self.say(&format!("Dropped {} from {}, {left} left", entries(dropped), path.display()));
                baseline.apply(findings, fingerprints);
            }
            What::Write => {
                let (shown, counts) = select(findings, fingerprints, selection);
                let open: Vec<_> = shown.into_iter().filter(|entry| entry.finding.suppressed.is_none()).collect();
                let baseline = Baseline::of(&open, &world.sources, |path| self.repository.path(path));
                write(path, &baseline)?;
                let left_out: Vec<String> = [
                    (counts.deselected, "that --select or --ignore leave out"),
                    (counts.pedantic, "that only --pedantic shows"),
                ]
                .iter()
                .filter(|(n, _)| *n > 0)
                .map(|(n, which)| format!("; {} {which} are not in it", grouped(*n as u128)))
                .collect();
                self.say(&format!(
                    "Wrote {} to {}{}",
                    entries(baseline.findings.len()),
                    path.display(),
                    left_out.concat()
                ));
                self.tell_who_reads(path);
                baseline.apply(findings, fingerprints);
            }
        }
        Ok(remark)
    }

    /// Whether what is read tells of files that lie elsewhere.
    fn reads_facts(&self) -> bool {
        self.paths.iter().any(|path| recorded::lies_at(path))
    }

    /// Whether an entry lies in a file that is there and was not asked for.
    fn is_elsewhere(&self, known: &Known) -> bool {
        let file = self.repository.root().join(&known.path).canonicalize();
        file.is_ok_and(|file| !self.paths.iter().any(|path| file.starts_with(path)))
    }

    /// Says how later runs come to read what was written, if they would not.
    fn tell_who_reads(&self, path: &Path) {
        let same = |other: &PathBuf| other.canonicalize().ok() == path.canonicalize().ok();
        match &self.settled {
            Some(settled) if same(settled) => {}
            Some(settled) => self.say(&format!("note: retrylint.toml names another baseline, {}", settled.display())),
            None => self.say(&format!(
                "note: `baseline = \"{0}\"` in retrylint.toml makes every run read it, `--baseline {0}` one",
                path.display()
            )),
        }
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            screen::say(line);
        }
    }
}

/// Whether an entry may stand for something that this run could not find: in a file that could not be read, or of a rule
/// that is switched off.
fn may_occur<'w>(findings: &[Finding], world: &'w World, repository: &Repository) -> impl Fn(&Known) -> bool + use<'w> {
    let unreadable = findings.iter().filter(|finding| finding.rule == "unreadable-file");
    let sources = unreadable.filter_map(|finding| world.sources.get(finding.primary()?.span.file));
    let unreadable: HashSet<String> = sources.map(|source| repository.path(&source.path)).collect();
    let root = repository.root().to_path_buf();
    move |known| {
        let is_unread = known.rule != "unreadable-file" && unreadable.contains(&known.path);
        is_unread || world.rule_in(&known.rule, &root.join(&known.path).to_string_lossy()) == Some(RuleLevel::Off)
    }
}

fn entries(n: usize) -> String {
    format!("{} {}", grouped(n as u128), if n == 1 { "finding" } else { "findings" })
}

fn stale_remark(stale: usize, path: &Path) -> String {
    let occur = if stale == 1 { "no longer occurs" } else { "no longer occur" };
    format!("{} of the baseline {occur}; `--prune-baseline {}` drops what is gone", entries(stale), path.display())
}

fn write(path: &Path, baseline: &Baseline) -> Result<(), Failure> {
    if !Baseline::may_replace(path) {
        let message = format!("{} is no baseline and stays as it is", path.display());
        return Err(Failure::Said(message, Some("name another file, or remove this one first".into())));
    }
    std::fs::write(path, baseline.text()).map_err(|error| {
        let help = "name a file in a folder that is there and can be written to".to_string();
        Failure::Said(format!("cannot write the baseline {}: {}", path.display(), in_words(&error)), Some(help))
    })
}

/// The day of the run: as asked for, else that of `SOURCE_DATE_EPOCH`, else the clock's, in UTC.
pub fn today(asked: Option<Date>) -> Result<Option<Date>, Failure> {
    if asked.is_some() {
        return Ok(asked);
    }
    let Some(epoch) = std::env::var_os("SOURCE_DATE_EPOCH").filter(|epoch| !epoch.is_empty()) else {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        return Ok(now.ok().and_then(|now| Date::from_unix(now.as_secs())));
    };
    let seconds = epoch.to_str().and_then(|epoch| epoch.trim().parse().ok());
    seconds.and_then(Date::from_unix).map(Some).ok_or_else(|| {
        let help = "unset it, or name the day with `--today 2027-01-31`".to_string();
        Failure::Said("`SOURCE_DATE_EPOCH` is no number of seconds since 1970".into(), Some(help))
    })
}
