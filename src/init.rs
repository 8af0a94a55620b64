//! A first retrylint.toml for a repository: what was found in it, and what could be stated about that. Every setting in it
//! is commented out (`#key = value`, without a blank behind the `#`), so that writing it changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use petgraph::Direction;

use crate::config::{DEFAULTS, bare, quoted};
use crate::facts::{Dialect, Facts, Role, ServiceSource};
use crate::graph::System;
use crate::report::text::visible;

/// Services that are listed; more would be a page that nobody reads.
const MOST: usize = 100;

/// A name that more folders have is nobody's own.
const MOST_FOLDERS: usize = 4;

/// A service, as far as it is known.
#[derive(Debug, Default)]
struct Found {
    paths: Vec<Arc<str>>,
    /// Whether nobody in the repository calls it: then its requests come from outside.
    is_root: bool,
    calls: bool,
    has_rate: bool,
    has_pool: bool,
}

/// The text of the file, and how many services and environments are in it.
pub fn settings(facts: &Facts, systems: &[System<'_>]) -> (String, usize, usize) {
    let services = services(facts, systems);
    let environments: BTreeSet<&Arc<str>> = facts.files.iter().filter_map(|file| file.environment.as_ref()).collect();
    let is_istio = facts.policies.iter().any(|policy| policy.dialect == Dialect::Istio);
    let mut out = String::from(HEAD);
    for (name, table) in DEFAULTS {
        match name {
            "scan" => out.push_str("\n# What is read. Patterns are relative to this file.\n[scan]\n"),
            "limits" => out.push_str("\n# From where on something is too much.\n[limits]\n"),
            _ if is_istio => out.push_str(
                "\n# Istio's defaults depend on its version; without it the newest known holds.\n[dialects.istio]\n",
            ),
            _ => continue,
        }
        for (key, value) in table.defaults() {
            out.push_str(&format!("#{} = {value} # {}\n", key.name, key.about));
        }
    }
    out.push_str(RULES);
    out.push_str(&environments_text(&environments));
    out.push_str(&services_text(&services));
    out.push_str(CALLS);
    (out, services.len(), environments.len())
}

/// Services by name as they are shown, those outside of the system left out.
fn services(facts: &Facts, systems: &[System<'_>]) -> BTreeMap<Arc<str>, Found> {
    let mut services: BTreeMap<Arc<str>, Found> = BTreeMap::new();
    for system in systems {
        let graph = &system.net.graph;
        for at in graph.node_indices() {
            let Some(node) = graph.node_weight(at).filter(|node| !node.external && is_plain(&node.display)) else {
                continue;
            };
            let found = services.entry(node.display.clone()).or_default();
            // Those of a manifest start at its folder, those of a package where the run started.
            let manifest = system.facts.file(node.service.span.file).filter(|file| file.path.contains('/'));
            if found.paths.is_empty() && (manifest.is_none() || node.service.source == ServiceSource::Package) {
                found.paths = node.service.paths.iter().filter(|path| is_plain(path)).cloned().collect();
            }
            found.is_root |= graph.neighbors_directed(at, Direction::Incoming).next().is_none();
            found.calls |= graph.neighbors_directed(at, Direction::Outgoing).next().is_some();
            found.has_rate |= node.service.rate.is_some();
            found.has_pool |= node.service.pool.is_some();
        }
    }
    let folders = folders(facts);
    for (name, found) in services.iter_mut().filter(|(_, found)| found.paths.is_empty()) {
        let of_that_name = folders.get(&name.to_lowercase()).filter(|folders| folders.len() <= MOST_FOLDERS);
        found.paths = of_that_name.into_iter().flatten().map(|folder| format!("{folder}/**").into()).collect();
    }
    services
}

/// Folders by their own names in lower case, those within one of the same name left out. Environments have their services'
/// names for folders too, and belong to all of them.
fn folders(facts: &Facts) -> BTreeMap<String, BTreeSet<&str>> {
    let files = facts.files.iter().filter(|file| {
        file.told_by.is_none() && file.environment.is_none() && file.role == Role::Production && is_plain(&file.path)
    });
    let mut folders: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for file in files {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for (end, _) in file.path.match_indices('/') {
            let Some(folder) = file.path.get(..end) else { continue };
            let name = folder.rsplit('/').next().unwrap_or(folder).to_lowercase();
            if seen.insert(name.clone()) {
                folders.entry(name).or_default().insert(folder);
            }
        }
    }
    folders
}

/// Whether a name can stand on one line of a file that people read.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| !c.is_whitespace() && visible(c).is_none())
}

fn environments_text(environments: &BTreeSet<&Arc<str>>) -> String {
    let names: Vec<&str> = environments.iter().map(|name| &***name).filter(|name| is_plain(name)).collect();
    let found = if names.is_empty() {
        "No environments were found in paths.".to_string()
    } else {
        format!("Environments found in paths: {}.", names.join(", "))
    };
    format!(
        "\n# {found} Files of two environments are never combined.\n#[[environment]]\n#name = \"prod\"\n#paths = [\"clusters/eu/**\"]\n"
    )
}

fn services_text(services: &BTreeMap<Arc<str>, Found>) -> String {
    let mut out = String::from("\n# Services: what no file says of them.\n");
    if services.is_empty() {
        out.push_str(
            "# None were found. One that you know of:\n#[services.checkout]\n#paths = [\"services/checkout/**\"]\n",
        );
    }
    for (number, (name, found)) in services.iter().take(MOST).enumerate() {
        let notes = number == 0;
        let note = |text: &'static str| if notes { text } else { "" };
        out.push_str(&format!("\n#[services.{}]\n", bare(name)));
        let paths: Vec<String> = found.paths.iter().map(|path| quoted(path)).collect();
        if !paths.is_empty() {
            out.push_str(&format!("#paths = [{}]{}\n", paths.join(", "), note(" # its code and configuration")));
        } else if notes {
            out.push_str("#paths = [\"services/…/**\"] # its code and configuration\n");
        }
        if found.is_root && !found.has_rate {
            out.push_str(&format!("#rate = \"500/s\"{}\n", note(" # requests from outside; nobody here calls it")));
        }
        if found.calls && !found.has_pool {
            out.push_str(&format!("#pool = 50{}\n", note(" # connections that its calls share")));
        }
        if !found.is_root {
            let accept = "#accept = { max-amplification = 9, reason = \"…\", until = 2027-12-31 }";
            out.push_str(&format!("{accept}{}\n", note(" # a decision that stands")));
        }
    }
    if services.len() > MOST {
        out.push_str(&format!("\n# … and {} more: `retrylint graph` lists them.\n", services.len() - MOST));
    }
    out
}

const HEAD: &str = "\
# Settings of retrylint for this repository. `retrylint config` shows what is in force and where it comes from.
# Take away a `#` to change something; what is not written here has the default shown.

# Another file to build on: this one wins key by key.
#extend = \"../retrylint.toml\"

# Findings that are known and do not count. `retrylint --write-baseline retrylint-baseline.json` writes them.
#baseline = \"retrylint-baseline.json\"
";

const RULES: &str = "
# Levels of rules: error, warning, note or off. `retrylint rules` lists them.
[rules]
#missing-jitter = \"off\"

# The same for findings in some files.
#[[per-path]]
#paths = [\"legacy/**\"]
#rules = { missing-jitter = \"note\" }
";

const CALLS: &str = "
# Calls that no file shows.
#[[calls]]
#from = \"web\"
#to = \"checkout\"
#per-request = 2
";

/// The file with every setting in force: what its reader gets who takes away each `#`.
#[cfg(test)]
fn uncommented(text: &str) -> String {
    let bare = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') && !rest.is_empty() => rest.to_string(),
        _ => line.to_string(),
    };
    text.lines().map(|line| bare(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;
    use crate::facts::{File, FileKind};
    use crate::graph::link::{environments, link};
    use crate::limits::Limits;
    use crate::pipeline::{self, Options};
    use crate::rules;

    fn facts_of(text: &str) -> Facts {
        let settings = crate::read::ReadSettings::default();
        crate::read::read_file(crate::source::FileId(0), "a.yaml", crate::facts::FileKind::Yaml, text, &settings)
    }

    fn of(facts: &Facts) -> (String, usize, usize) {
        let limits = Limits::default();
        let systems: Vec<System<'_>> =
            environments(facts).into_iter().map(|one| System::new(facts, &limits, link(facts, one))).collect();
        settings(facts, &systems)
    }

    /// As written it changes nothing, and with every `#` taken away and each reason given it is understood.
    fn loads(text: &str) {
        let ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
        let read = Config::parse(text, &ids).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        let nothing = Config { layers: Vec::new(), ..read.clone() };
        assert_eq!(nothing, Config::default());
        assert_eq!(read.facts(&[crate::source::FileId(0)]), Facts::default());
        let all = uncommented(text).replace("reason = \"…\"", "reason = \"agreed\"");
        Config::parse(&all, &ids).unwrap_or_else(|errors| panic!("{errors:?}\n{all}"));
    }

    #[test]
    fn an_empty_folder_gets_a_file_that_loads() {
        let (text, services, environments) = of(&Facts::default());
        assert_eq!((services, environments), (0, 0));
        assert!(text.contains("# None were found.") && !text.contains("dialects"), "{text}");
        loads(&text);
    }

    #[test]
    fn services_are_named_with_what_could_be_stated() {
        let manifest =
            "services:\n  web:\n    rate: 5/s\n    calls: [api.shop]\n  \"api.shop\":\n    calls: [api.stripe.com]\n";
        let (text, services, _) = of(&facts_of(manifest));
        loads(&text);
        assert_eq!(services, 2, "{text}");
        let web = text.split("#[services.web]").nth(1).unwrap();
        // Its rate is known, and others do not call it.
        assert!(web.contains("#pool = 50") && !web.contains("#rate") && !web.contains("#accept"), "{web}");
        assert!(!text.contains("stripe"), "{text}");
    }

    #[test]
    fn a_folder_that_bears_a_services_name_is_proposed_as_its_path() {
        let mut facts = facts_of("services:\n  cart:\n    calls: [stock, web]\n  checkout:\n    calls: []\n");
        let mut add = |path: &str, environment: Option<&str>| {
            facts.files.push(File {
                path: path.into(),
                kind: FileKind::Json,
                environment: environment.map(Into::into),
                role: Role::Production,
                named: false,
                told_by: None,
            });
        };
        add("services.yaml", None);
        add("services/Cart/src/cart/appsettings.json", None);
        add("k8s/cart/deployment.yaml", None);
        add("overlays/prod/cart/vs.yaml", Some("prod"));
        // Part of a name is none, nor is a file's.
        add("services/stock-audit/stock", None);
        for n in 0..5 {
            add(&format!("{n}/web/index.json"), None);
        }
        let (text, ..) = of(&facts);
        loads(&text);
        let of = |name: &str| text.split(&format!("#[services.{name}]\n")).nth(1).unwrap().lines().next().unwrap();
        assert_eq!(of("cart"), "#paths = [\"k8s/cart/**\", \"services/Cart/**\"] # its code and configuration");
        assert!(!of("stock").contains("paths") && !of("web").contains("paths"), "{text}");
    }

    #[test]
    fn a_mesh_is_asked_for_its_version() {
        let route = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: { name: ledger }\nspec:\n  hosts: [ledger]\n  http:\n    - route: [{ destination: { host: ledger } }]\n      retries: { attempts: 2 }\n";
        let (text, ..) = of(&facts_of(route));
        assert!(text.contains("[dialects.istio]\n#version = "), "{text}");
        loads(&text);
    }

    #[test]
    fn fifty_services_and_names_that_need_quotes_load() {
        let services: String = (0..150).map(|n| format!("  s{n}:\n    calls: [s{}]\n", n + 1)).collect();
        let (text, count, _) = of(&facts_of(&format!("services:\n{services}")));
        assert_eq!(count, 151);
        assert!(text.contains("# … and 51 more"), "{text}");
        loads(&text);
        let odd = "services:\n  \"a b\":\n    calls: []\n  \"x\\\"y\":\n    calls: [\"q\\n[scan]\\nz\"]\n  caf\u{e9}:\n    calls: [\"x\\\"y\"]\n";
        loads(&of(&facts_of(odd)).0);
    }

    #[test]
    fn whole_repositories_get_a_file_that_loads() {
        for case in ["testdata/storm", "testdata/calm", "testdata/readme"] {
            let mut options = Options::new(Config::default());
            options.scan.paths = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(case)];
            let world = pipeline::read(&options).unwrap();
            let (text, services, _) = settings(&world.facts, &world.systems());
            assert!(services > 1, "{case}");
            loads(&text);
        }
    }
}
