//! The sections of retrylint.toml, each read once, every fault noted.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::keys::{self, BASELINE, LEVEL};
use super::{Config, ConfigError, Environment, PerPath, RuleLevel};
use crate::facts::{CallSource, Evidence, Facts, Host, Service, ServiceRef, ServiceSource};
use crate::read::NEWEST_ISTIO;
use crate::read::code::catalogue::format::{Origin, library};
use crate::read::data::toml;
use crate::read::data::tree::{Entry, Node};
use crate::read::manifests::services::{CallFields, service_field};
use crate::read::vocabulary::values::{
    DURATION, ISTIO_VERSION, SHARE, SIZE, SWITCH, TEXT, TEXTS, TIME, TIMES, TOML_FILE, TRIES, named,
};
use crate::read::vocabulary::{Faults, Kind, fields, plain, texts};
use crate::scan::Globs;
use crate::source::{FileId, Span};

/// Reads files into settings and facts: what a later one says wins key by key, and its tables of a list come behind those
/// of the earlier ones.
pub(super) struct Reader<'r> {
    /// Services and calls.
    pub(super) facts: Facts,
    /// Settings.
    pub(super) config: Config,
    rules: &'r [&'r str],
    faults: Faults,
    /// The folder of the file that is read.
    folder: PathBuf,
    /// The same from the folder that patterns are relative to.
    below: String,
    /// `[[environment]]` of the file that is read.
    environments: Vec<Environment>,
    /// `[[library]]` of the file that is read: names, and where they stand.
    libraries: Vec<(Arc<str>, Span)>,
    /// Services that files before it state something of, by name and namespace: their place among the facts.
    earlier: HashMap<(Arc<str>, Option<Arc<str>>), usize>,
}

impl<'r> Reader<'r> {
    /// A reader that knows these rules.
    pub(super) fn new(rules: &'r [&'r str]) -> Self {
        Reader {
            facts: Facts::default(),
            config: Config::default(),
            rules,
            faults: Faults::default(),
            folder: PathBuf::new(),
            below: String::new(),
            environments: Vec::new(),
            libraries: Vec::new(),
            earlier: HashMap::new(),
        }
    }

    /// Reads one file, or says everything that is wrong with it in the order of the text. It lies in `folder`, which is
    /// `below` the one that patterns are relative to.
    pub(super) fn layer(
        &mut self,
        file: FileId,
        text: &str,
        folder: &Path,
        below: &str,
    ) -> Result<(), Vec<ConfigError>> {
        (self.folder, self.below) = (folder.to_path_buf(), below.to_string());
        let tree = toml::parse(file, text);
        for error in &tree.errors {
            self.faults.add(error.span, format!("not valid TOML: {}", error.message), None);
        }
        // Of what is not TOML, only that is told: values that the parser made up are nobody's fault.
        if tree.errors.is_empty() {
            tree.documents().for_each(|document| self.document(document));
            self.same_libraries(text);
        }
        // The nearest file decides first where a path belongs.
        let mut environments = std::mem::take(&mut self.environments);
        environments.append(&mut self.config.environments);
        self.config.environments = environments;
        let key = |service: &Service| (service.name.clone(), service.namespace.clone());
        self.earlier = self.facts.services.iter().enumerate().map(|(at, service)| (key(service), at)).collect();
        let mut faults = std::mem::take(&mut self.faults).list;
        faults.sort_by_key(|fault| fault.span);
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Reads the whole file.
    fn document(&mut self, document: Node<'_>) {
        for entry in fields(document) {
            match entry.key {
                "extend" => _ = plain(&entry, TOML_FILE, &mut self.faults),
                "baseline" => {
                    let file = plain(&entry, BASELINE, &mut self.faults);
                    self.config.baseline = file.map(|path| self.folder.join(&*path)).or(self.config.baseline.take());
                }
                "scan" => self.table(&entry, Self::scan),
                "limits" => self.table(&entry, Self::limit),
                "rules" => {
                    let levels = self.levels(&entry);
                    self.config.rules.extend(levels);
                }
                "per-path" => self.tables(&entry, Self::per_path),
                "services" => self.table(&entry, Self::service),
                "dialects" => self.table(&entry, Self::dialect),
                "calls" => self.tables(&entry, Self::call),
                "environment" => self.tables(&entry, Self::environment),
                "library" => self.tables(&entry, Self::library),
                _ => self.faults.unknown(&entry, &keys::TOP),
            }
        }
    }

    fn table(&mut self, entry: &Entry<'_>, read: impl Fn(&mut Self, &Entry<'_>)) {
        if self.faults.is_map(entry, "a table") {
            fields(entry.value).for_each(|field| read(self, &field));
        }
    }

    fn tables(&mut self, entry: &Entry<'_>, read: impl Fn(&mut Self, Node<'_>)) {
        let key = entry.key;
        if !entry.value.is_seq() || entry.value.items().any(|item| !item.is_map()) {
            self.faults.misfit(key, entry.value, &format!("tables: `[[{key}]]`"));
            return;
        }
        entry.value.items().for_each(|item| read(self, item));
    }

    fn scan(&mut self, field: &Entry<'_>) {
        match field.key {
            "include" => self.config.scan.include = self.globs(field),
            "exclude" => self.config.scan.exclude = self.globs(field),
            "follow-ignore-files" => set(&mut self.config.scan.follow_ignore_files, field, SWITCH, &mut self.faults),
            "max-file-size" => set(&mut self.config.scan.max_file_size, field, SIZE, &mut self.faults),
            _ => self.faults.unknown(field, &keys::SCAN),
        }
    }

    fn limit(&mut self, field: &Entry<'_>) {
        let limits = &mut self.config.limits;
        let faults = &mut self.faults;
        match field.key {
            "max-attempts" => set(&mut limits.max_attempts, field, TRIES, faults),
            "max-attempts-job" => set(&mut limits.max_attempts_job, field, TRIES, faults),
            "max-amplification" => set(&mut limits.max_amplification, field, TIMES, faults),
            "error-amplification" => set(&mut limits.error_amplification, field, TIMES, faults),
            "max-backoff" => set(&mut limits.max_backoff, field, TIME, faults),
            "max-total-wait" => set(&mut limits.max_total_wait, field, TIME, faults),
            "min-jitter" => set(&mut limits.min_jitter, field, SHARE, faults),
            "min-jitter-delay" => set(&mut limits.min_jitter_delay, field, DURATION, faults),
            _ => faults.unknown(field, &keys::LIMITS),
        }
    }

    /// The level of each rule that a table names.
    fn levels(&mut self, entry: &Entry<'_>) -> BTreeMap<String, RuleLevel> {
        let mut levels = BTreeMap::new();
        if self.faults.is_map(entry, "a table") {
            for field in fields(entry.value) {
                if let Some(level) = self.level(&field) {
                    levels.insert(field.key.to_string(), level);
                }
            }
        }
        levels
    }

    fn level(&mut self, field: &Entry<'_>) -> Option<RuleLevel> {
        // Facts are read without the list of rules; then nobody looks at these either.
        if !self.rules.contains(&field.key) {
            let known = self.rules.iter().copied();
            self.faults.unknown_name(field.key_span, "no rule is called", field.key, known);
            return None;
        }
        plain(field, LEVEL, &mut self.faults)
    }

    fn per_path(&mut self, node: Node<'_>) {
        let (mut paths, mut rules) = (None, None);
        for field in fields(node) {
            match field.key {
                "paths" => paths = Some(self.globs(&field)),
                "rules" => rules = Some(self.levels(&field)),
                _ => self.faults.unknown(&field, &keys::PER_PATH),
            }
        }
        match (paths, rules) {
            (Some(paths), Some(rules)) => self.config.per_path.push(PerPath { paths, rules }),
            _ => self.faults.add(node.span(), "`[[per-path]]` needs both `paths` and `rules`", None),
        }
    }

    fn service(&mut self, entry: &Entry<'_>) {
        let Some(host) = self.host(entry.key, entry.key_span) else { return };
        let (name, namespace) = match host {
            Host::Name { name, namespace } => (name, namespace),
            Host::Dotted(whole) => (whole, None),
        };
        let stated = self.earlier.get(&(name.clone(), namespace.clone())).copied();
        let mut service = match stated.and_then(|at| self.facts.services.get(at)) {
            Some(service) => service.clone(),
            None => Service { namespace, ..Service::new(name, entry.key_span, ServiceSource::Settings) },
        };
        if self.faults.is_map(entry, "a table") {
            for field in fields(entry.value) {
                if field.key == "paths" {
                    // They start at the folder of the file that says them.
                    service.paths.clear();
                    service.span = entry.key_span;
                }
                if field.key == "calls" {
                    let help = format!("write `[[calls]]` with `from = \"{}\"`", entry.key);
                    self.faults.add(field.key_span, "a service has no `calls` in retrylint.toml", Some(help));
                } else if !service_field(&mut service, &field, &mut self.faults) {
                    self.faults.unknown(&field, &keys::SERVICE);
                }
            }
        }
        match stated.and_then(|at| self.facts.services.get_mut(at)) {
            Some(slot) => *slot = service,
            None => self.facts.services.push(service),
        }
    }

    fn call(&mut self, node: Node<'_>) {
        let mut call = CallFields::new(CallSource::Settings);
        let mut from = None;
        for field in fields(node) {
            match field.key {
                "from" => from = Some(field),
                _ if call.take(&field, &mut self.faults) => {}
                _ => self.faults.unknown(&field, &keys::CALL),
            }
        }
        let (Some(from), Some(to)) = (from, call.to) else {
            self.faults.add(node.span(), "`[[calls]]` needs both `from` and `to`", None);
            return;
        };
        let hosts = [&from, &to].map(|end| {
            let name = plain(end, NAME, &mut self.faults)?;
            self.host(&name, end.value.span())
        });
        let [Some(caller), Some(callee)] = hosts else { return };
        let caller =
            ServiceRef { host: caller, from_namespace: None, evidence: Evidence::Written, at: Some(from.value.span()) };
        self.facts.calls.push(call.build(caller, None, callee, node.span()));
    }

    fn environment(&mut self, node: Node<'_>) {
        let (mut name, mut paths) = (None, None);
        for field in fields(node) {
            match field.key {
                "name" => name = plain(&field, TEXT, &mut self.faults),
                "paths" => paths = Some(self.globs(&field)),
                _ => self.faults.unknown(&field, &keys::ENVIRONMENT),
            }
        }
        match (name, paths) {
            (Some(name), Some(paths)) => self.environments.push(Environment { name, paths }),
            _ => self.faults.add(node.span(), "`[[environment]]` needs both `name` and `paths`", None),
        }
    }

    fn library(&mut self, node: Node<'_>) {
        // Facts are read without the list of rules; then nobody looks at advice either.
        let rules = Some(self.rules).filter(|rules| !rules.is_empty());
        let library = library(node, Origin::Settings, rules, &mut self.faults);
        if let (Some(library), Some(name)) = (&library, node.entry("name")) {
            self.libraries.push((Arc::clone(&library.name), name.value.span()));
        }
        self.config.read.libraries.extend(library.map(Arc::new));
    }

    /// Two libraries of one name in one file: nobody could tell which of them holds. A later file may replace an earlier one's.
    fn same_libraries(&mut self, text: &str) {
        let line = |at: Span| text.get(..at.start as usize).unwrap_or_default().matches('\n').count() + 1;
        let mut first: HashMap<Arc<str>, Span> = HashMap::new();
        for (name, at) in std::mem::take(&mut self.libraries) {
            let Some(known) = first.get(&name) else {
                first.insert(name, at);
                continue;
            };
            let message = format!("`{name}` is described twice, in line {} and in line {}", line(*known), line(at));
            self.faults.add(at, message, Some("put all its shapes below one `[[library]]`".into()));
        }
    }

    fn dialect(&mut self, entry: &Entry<'_>) {
        if entry.key != "istio" {
            self.faults.unknown(entry, &keys::DIALECTS);
            return;
        }
        self.table(entry, |reader, field| {
            if field.key != "version" {
                reader.faults.unknown(field, &keys::ISTIO);
                return;
            }
            if let Some(version) = plain(field, ISTIO_VERSION, &mut reader.faults) {
                reader.config.read.istio_version = version.min(NEWEST_ISTIO);
                reader.config.unknown_istio = (version > NEWEST_ISTIO).then(|| (field.value.span(), version));
            }
        });
    }

    /// Globs, each checked by what will read them.
    fn globs(&mut self, field: &Entry<'_>) -> Vec<String> {
        let mut out = Vec::new();
        for (text, node) in texts(field, TEXTS, &mut self.faults) {
            match Globs::new(&[text]) {
                Ok(_) => out.push(from_base(text, &self.below)),
                Err(error) => self.faults.add(node.span(), error.to_string(), None),
            }
        }
        out
    }

    /// A name of a service as [`Host`]; a fault where it can be none.
    fn host(&mut self, name: &str, span: crate::source::Span) -> Option<Host> {
        let host = Host::parse(name);
        if host.is_none() {
            let name = crate::read::data::value::shorten(name);
            self.faults.add(span, format!("`{name}` is no name of a service"), None);
        }
        host
    }
}

/// A pattern of a file that lies `below` the folder that patterns are relative to, from there.
fn from_base(pattern: &str, below: &str) -> String {
    if below.is_empty() {
        return pattern.to_string();
    }
    let below = globset::escape(below);
    let bare = pattern.trim_start_matches("./");
    match bare.strip_prefix('/') {
        Some(rest) => format!("{below}/{rest}"),
        None if bare.trim_end_matches('/').contains('/') => format!("{below}/{bare}"),
        // Without a `/` it stands at any depth.
        None => format!("{below}/**/{bare}"),
    }
}

/// A name, before it is known whether a service can have it.
const NAME: Kind<Arc<str>> = named("the name of a service");

/// Takes the value of a setting, if it has one.
fn set<T: Clone>(slot: &mut T, field: &Entry<'_>, kind: Kind<T>, faults: &mut Faults) {
    if let Some(value) = plain(field, kind, faults) {
        *slot = value;
    }
}
