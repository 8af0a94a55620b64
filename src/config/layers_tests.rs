//! Files that extend each other.

use super::*;
use crate::facts::{Facts, Nanos};

/// A folder that goes away.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, files: &[(&str, &str)]) -> Scratch {
        let path = std::env::temp_dir().join(format!("retrylint-layers-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        for (file, text) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Scratch(path.canonicalize().unwrap())
    }

    fn load(&self, file: &str) -> Result<Config, LoadError> {
        Config::load(&self.0.join(file), &["missing-jitter", "no-backoff"])
    }

    /// What is underlined in which file, and what is said.
    fn fault(&self, file: &str) -> (String, String, String) {
        let Err(LoadError::Invalid { source_file, errors }) = self.load(file) else { panic!("{file}") };
        let [error] = errors.try_into().unwrap();
        let name = source_file.path.rsplit_once('/').map_or(&*source_file.path, |(_, name)| name).to_string();
        (name, source_file.slice(error.span).to_string(), error.message)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const OUTER: &str = "\
baseline = \"known.json\"
[limits]
max-attempts = 5
max-backoff = \"30s\"
[rules]
missing-jitter = \"off\"
no-backoff = \"note\"
[[per-path]]
paths = [\"legacy/**\"]
rules = { no-backoff = \"off\" }
[services.web]
rate = \"5/s\"
pool = 10
aliases = [\"www\"]
[[calls]]
from = \"web\"
to = \"api\"
[[environment]]
name = \"outer\"
paths = [\"**/prod/**\"]
";

const INNER: &str = "\
extend = \"../retrylint.toml\"
[limits]
max-attempts = 4
[rules]
missing-jitter = \"error\"
[[per-path]]
paths = [\"old\", \"./gen/**\"]
rules = { no-backoff = \"error\" }
[services.web]
pool = 20
[services.api]
pool = 30
[[calls]]
from = \"web\"
to = \"db\"
[[environment]]
name = \"inner\"
paths = [\"/prod/x.yaml\"]
";

#[test]
fn settings_win_key_by_key_and_lists_of_tables_add_up() {
    let scratch = Scratch::new("keys", &[("retrylint.toml", OUTER), ("app/retrylint.toml", INNER)]);
    let config = scratch.load("app/retrylint.toml").unwrap();
    assert_eq!(config.limits.max_attempts, 4);
    assert_eq!(config.limits.max_backoff, Nanos::from_secs(30));
    assert_eq!(config.limits.max_amplification, 4.0);
    assert_eq!(config.rule("missing-jitter"), Some(RuleLevel::At(Severity::Error)));
    assert_eq!(config.rule("no-backoff"), Some(RuleLevel::At(Severity::Note)));
    assert_eq!(config.baseline, Some(scratch.0.join("known.json")));
    let names: Vec<&str> = config.environments.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["inner", "outer"], "the first that takes a path has it");
    let levels: Vec<_> = config.per_path.iter().map(|one| one.rules["no-backoff"]).collect();
    assert_eq!(levels, [RuleLevel::Off, RuleLevel::At(Severity::Error)], "the last that takes a path has it");

    let facts: Facts = config.facts(&[FileId(3), FileId(4)]);
    let [web, api] = facts.services.as_slice() else { panic!("{:?}", facts.services) };
    assert_eq!((web.rate.as_ref().unwrap().known(), web.pool.as_ref().unwrap().known()), (Some(&5.0), Some(&20)));
    assert_eq!((web.aliases.len(), web.span.file), (1, FileId(3)));
    assert_eq!((&*api.name, api.span.file), ("api", FileId(4)));
    let callees: Vec<_> = facts.calls.iter().map(|call| call.callee.service().unwrap().host.display()).collect();
    assert_eq!(callees, ["api", "db"]);
}

#[test]
fn patterns_start_at_the_folder_of_the_file_that_says_them() {
    let scratch = Scratch::new("globs", &[("retrylint.toml", OUTER), ("app/retrylint.toml", INNER)]);
    let config = scratch.load("app/retrylint.toml").unwrap();
    assert_eq!(config.base.as_ref(), Some(&scratch.0));
    assert_eq!(config.per_path[0].paths, ["legacy/**"]);
    assert_eq!(config.per_path[1].paths, ["app/**/old", "app/gen/**"]);
    assert_eq!(config.environments[0].paths, ["app/prod/x.yaml"]);
    // A file beside it rather than above.
    let scratch = Scratch::new(
        "beside",
        &[("shared/a.toml", OUTER), ("app[1]/retrylint.toml", &INNER.replace("../retrylint.toml", "../shared/a.toml"))],
    );
    let config = scratch.load("app[1]/retrylint.toml").unwrap();
    assert_eq!(config.per_path[0].paths, ["shared/legacy/**"]);
    let globs = crate::scan::Globs::new(&config.per_path[1].paths).unwrap();
    assert!(globs.take("app[1]/x/old/y.yaml") && globs.take("app[1]/gen/y.yaml"));
    assert!(!globs.take("app1/gen/y.yaml") && !globs.take("shared/old/y.yaml"));
    // Alone, a file's patterns are what they are.
    let alone = scratch.load("shared/a.toml").unwrap();
    assert_eq!(alone.per_path[0].paths, ["legacy/**"]);
}

#[test]
fn a_file_may_extend_one_that_extends_another_and_no_circle() {
    let limit = |key: &str, extend: &str| format!("{extend}\n[limits]\n{key} = 3\n");
    let scratch = Scratch::new(
        "chain",
        &[
            ("a.toml", &limit("max-attempts", "extend = \"b.toml\"")),
            ("b.toml", &limit("max-attempts-job", "extend = \"x/c.toml\"")),
            ("x/c.toml", &limit("max-amplification", "")),
            ("self.toml", "extend = \"./self.toml\"\n"),
            ("one.toml", "extend = \"two.toml\"\n"),
            ("two.toml", "extend = \"x/../one.toml\"\n"),
        ],
    );
    let config = scratch.load("a.toml").unwrap();
    let limits = &config.limits;
    assert_eq!((limits.max_attempts, limits.max_attempts_job, limits.max_amplification), (3, 3, 3.0));
    let told = |file: &str, at: &str, message: &str| (file.to_string(), at.to_string(), message.to_string());
    assert_eq!(
        scratch.fault("self.toml"),
        told("self.toml", "\"./self.toml\"", "`./self.toml` extends this file in turn")
    );
    assert_eq!(
        scratch.fault("one.toml"),
        told("two.toml", "\"x/../one.toml\"", "`x/../one.toml` extends this file in turn")
    );
}

#[test]
fn what_cannot_be_extended_is_underlined() {
    let scratch = Scratch::new(
        "wrong",
        &[
            ("none.toml", "extend = \"nowhere.toml\"\n"),
            ("folder.toml", "extend = \".\"\n"),
            ("other.toml", "extend = \"secret.env\"\n"),
            ("number.toml", "extend = 3\n"),
            ("secret.env", "TOKEN=1\n"),
            ("broken.toml", "[limits]\nmax-attempt = 3\n"),
            ("fine.toml", "extend = \"broken.toml\"\n[limits]\nmax-attempts = 3\n"),
        ],
    );
    let message = |file: &str| scratch.fault(file).2;
    assert_eq!(message("none.toml"), "cannot read `nowhere.toml`: no such file or folder");
    assert_eq!(message("folder.toml"), "`.` is no TOML file");
    // Its lines would be quoted in the message.
    assert_eq!(message("other.toml"), "`secret.env` is no TOML file");
    assert_eq!(message("number.toml"), "`extend` should be the path of a retrylint.toml, found `3`");
    let (file, at, message) = scratch.fault("fine.toml");
    assert_eq!((&*file, &*at, &*message), ("broken.toml", "max-attempt", "unknown key `max-attempt` in `[limits]`"));
}

#[cfg(unix)]
#[test]
fn a_link_does_not_bring_another_kind_of_file_in() {
    let scratch = Scratch::new("link", &[("a.toml", "extend = \"b.toml\"\n"), ("secret.env", "TOKEN=1\n")]);
    std::os::unix::fs::symlink(scratch.0.join("secret.env"), scratch.0.join("b.toml")).unwrap();
    assert_eq!(scratch.fault("a.toml").2, "`b.toml` is no TOML file");
}

#[test]
fn each_setting_knows_where_it_is_written() {
    let scratch = Scratch::new("origin", &[("retrylint.toml", OUTER), ("app/retrylint.toml", INNER)]);
    let config = scratch.load("app/retrylint.toml").unwrap();
    let settings = config.settings();
    let of = |table: &str, key: &str| {
        let found: Vec<_> = settings.iter().filter(|one| (&*one.table, &*one.key) == (table, key)).collect();
        let [one] = found.as_slice() else { panic!("{table}.{key}: {found:?}") };
        (one.value.as_str(), one.written.map(|at| at.layer))
    };
    assert_eq!(of("limits", "max-attempts"), ("4", Some(1)));
    assert_eq!(of("limits", "max-backoff"), ("\"30s\"", Some(0)));
    assert_eq!(of("limits", "min-jitter"), ("0.1", None));
    assert_eq!(of("services.web", "rate"), ("\"5/s\"", Some(0)));
    assert_eq!(of("services.web", "pool"), ("20", Some(1)));
    assert_eq!(of("calls[1]", "to"), ("\"api\"", Some(0)));
    assert_eq!(of("calls[2]", "to"), ("\"db\"", Some(1)));
    assert_eq!(of("per-path[2]", "rules"), ("{ no-backoff = \"error\" }", Some(1)));
    assert_eq!(of("", "baseline"), ("\"known.json\"", Some(0)));
    assert_eq!(of("", "extend"), ("\"../retrylint.toml\"", Some(1)));
    let odd = Config::parse(
        "[services.\"a.b\"]\npool = 3\n[services.x.accept]\nmax-amplification = 3\nreason = \"r\"\n",
        &[],
    );
    let odd: Vec<String> = odd
        .unwrap()
        .settings()
        .into_iter()
        .filter(|one| one.written.is_some())
        .map(|one| format!("{}/{}={}", one.table, one.key, one.value))
        .collect();
    assert_eq!(
        odd,
        ["services.\"a.b\"/pool=3", "services.x.accept/max-amplification=3", "services.x.accept/reason=\"r\""]
    );
}
