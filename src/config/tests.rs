use super::*;
use crate::facts::{CallSource, Class, Date, Host, Nanos, ServiceSource};

const RULES: &[&str] = &["missing-jitter", "missing-timeout", "no-backoff", "retry-amplification"];

fn config(text: &str) -> Config {
    Config::parse(text, RULES).unwrap()
}

/// What is underlined, what is said, and what would help.
fn errors(text: &str) -> Vec<(String, String, Option<String>)> {
    let errors = Config::parse(text, RULES).unwrap_err().into_iter();
    errors.map(|error| (text[error.span.range()].to_string(), error.message, error.help)).collect()
}

fn error(text: &str) -> (String, String, Option<String>) {
    let [error] = errors(text).try_into().unwrap();
    error
}

const WHOLE: &str = r#"
extend = "../retrylint.toml"
baseline = "known.json"

[scan]
include = ["services/**", "mesh/*.yaml"]
exclude = ["legacy"]
follow-ignore-files = false
max-file-size = "10 MB"

[limits]
max-attempts = 5
max-attempts-job = 20
max-amplification = 3
error-amplification = 9.5
max-backoff = "30s"
max-total-wait = "2m"
min-jitter = "20%"
min-jitter-delay = "50ms"

[dialects.istio]
version = "1.24"

[[environment]]
name = "prod"
paths = ["overlays/prod/**"]

[rules]
missing-jitter = "error"
no-backoff = "off"

[[per-path]]
paths = ["legacy/**"]
rules = { no-backoff = "note" }

[services.checkout]
paths = ["services/checkout/**"]
aliases = ["checkout-v2"]
rate = "500/s"
pool = 50
accept = { max-amplification = 9, reason = "agreed with the payments team", until = "2027-01-31" }

[services."api.stripe.com"]
emits = "503"

[[calls]]
from = "web"
to = "checkout"
per-request = 2

[[library]]
name = "acme-net"
language = "rust"
roots = ["acme_net::retry"]
[[library.shape]]
is = "run"
call = ["acme_net::retry::with_retry"]
params = ["label", "times", "base_ms", "op"]
operation = "$op"
sets = { attempts = "$times", backoff = "exponential", base = "$base_ms ms", jitter = "full", budget = { ratio = 0.1, floor = "3/s" } }
"#;

#[test]
fn every_section_is_read() {
    let config = config(WHOLE);
    assert_eq!(
        config.scan,
        Scan {
            include: vec!["services/**".into(), "mesh/*.yaml".into()],
            exclude: vec!["legacy".into()],
            follow_ignore_files: false,
            max_file_size: 10_000_000,
        }
    );
    let limits = Limits {
        max_attempts: 5,
        max_attempts_job: 20,
        max_amplification: 3.0,
        error_amplification: 9.5,
        max_backoff: Nanos::from_secs(30),
        max_total_wait: Nanos::from_secs(120),
        min_jitter: 0.2,
        min_jitter_delay: Nanos::from_millis(50),
        today: None,
    };
    assert_eq!(config.limits, limits);
    assert_eq!(config.read.istio_version, (1, 24));
    let prod = Environment { name: "prod".into(), paths: vec!["overlays/prod/**".into()] };
    assert_eq!(config.environments, [prod]);
    assert_eq!(config.rule("missing-jitter"), Some(RuleLevel::At(Severity::Error)));
    assert_eq!(config.rule("no-backoff"), Some(RuleLevel::Off));
    assert_eq!(config.rule("missing-timeout"), None);
    let rules = [("no-backoff".to_string(), RuleLevel::At(Severity::Note))].into();
    assert_eq!(config.per_path, [PerPath { paths: vec!["legacy/**".into()], rules }]);
    assert_eq!(config.baseline.as_deref(), Some(Path::new("known.json")));
}

#[test]
fn services_and_calls_become_facts_of_the_file() {
    let facts = config(WHOLE).facts(&[FileId(7)]);
    assert_eq!(facts.services.len(), 2);
    let checkout = &facts.services[0];
    assert_eq!((&*checkout.name, checkout.source), ("checkout", ServiceSource::Settings));
    assert_eq!((checkout.span.file, &WHOLE[checkout.span.range()]), (FileId(7), "checkout"));
    assert_eq!(checkout.paths, ["services/checkout/**".into()]);
    assert_eq!(checkout.aliases, [Host::Name { name: "checkout-v2".into(), namespace: None }]);
    assert_eq!(checkout.rate.as_ref().unwrap().known(), Some(&500.0));
    assert_eq!(checkout.pool.as_ref().unwrap().known(), Some(&50));
    let accept = checkout.accept.as_ref().unwrap();
    assert_eq!((accept.max_amplification, &*accept.reason), (9.0, "agreed with the payments team"));
    assert_eq!(accept.until, Date::parse("2027-01-31"));
    // TOML has days of its own.
    let bare = config("[services.a]\naccept = { max-amplification = 2, reason = \"r\", until = 2027-01-31 }\n");
    let bare = bare.facts(&[FileId(0)]).services.remove(0).accept.unwrap();
    assert_eq!(bare.until, Date::parse("2027-01-31"));
    assert_eq!(&*facts.services[1].name, "api.stripe.com");
    assert_eq!(facts.services[1].emits.as_ref().unwrap().known(), Some(&Class::Overload));
    let [call] = facts.calls.try_into().unwrap();
    assert_eq!((call.source, call.span.file), (CallSource::Settings, FileId(7)));
    let shown = [call.caller.service(), call.callee.service()].map(|service| service.unwrap().host.display());
    assert_eq!(shown, ["web", "checkout"]);
    assert_eq!(call.per_request.known(), Some(&2.0));
    assert_eq!(facts.problems, []);
}

#[test]
fn an_empty_file_changes_nothing() {
    assert_eq!(Config { layers: Vec::new(), ..config("") }, Config::default());
    assert_eq!(config("").facts(&[FileId(0)]), Facts::default());
    assert_eq!(config("[scan]\n[limits]\n").limits, Limits::default());
}

#[test]
fn an_unknown_key_is_underlined_with_the_one_that_was_meant() {
    let case = |text, at: &str, message: &str, help: &str| {
        assert_eq!(error(text), (at.to_string(), message.to_string(), Some(help.to_string())));
    };
    case(
        "[limits]\nmax-attempt = 3\n",
        "max-attempt",
        "unknown key `max-attempt` in `[limits]`",
        "did you mean `max-attempts`?",
    );
    case(
        "[limits]\nmax_backoff = '3s'\n",
        "max_backoff",
        "unknown key `max_backoff` in `[limits]`",
        "did you mean `max-backoff`?",
    );
    case("[service.web]\npool = 3\n", "service", "unknown key `service` in retrylint.toml", "did you mean `services`?");
    case("[services.web]\npol = 3\n", "pol", "unknown key `pol` in a service", "did you mean `pool`?");
    case("[scan]\nexlude = []\n", "exlude", "unknown key `exlude` in `[scan]`", "did you mean `exclude`?");
    case("[dialects.isto]\nversion = '1.24'\n", "isto", "unknown key `isto` in `[dialects]`", "did you mean `istio`?");
    case(
        "[[calls]]\nfrom = 'a'\nto = 'b'\nper-requests = 2\n",
        "per-requests",
        "unknown key `per-requests` in `[[calls]]`",
        "did you mean `per-request`?",
    );
    case("[dialects.istio]\nx = 1\n", "x", "unknown key `x` in `[dialects.istio]`", "known here: `version`");
    case(
        "[services.web]\ncalls = []\n",
        "calls",
        "a service has no `calls` in retrylint.toml",
        "write `[[calls]]` with `from = \"web\"`",
    );
}

#[test]
fn an_unknown_rule_suggests_the_nearest() {
    let (at, message, help) = error("[rules]\nmising-jitter = 'off'\n");
    assert_eq!((&*at, &*message), ("mising-jitter", "no rule is called `mising-jitter`"));
    assert_eq!(help.as_deref(), Some("did you mean `missing-jitter`?"));
    let (_, message, help) = error("[rules]\nspelling = 'off'\n");
    assert_eq!((&*message, help), ("no rule is called `spelling`", None));
}

#[test]
fn a_wrong_type_says_what_was_found_and_what_was_expected() {
    let message = |text| error(text).1;
    assert_eq!(
        message("[limits]\nmax-attempts = \"six\"\n"),
        "`max-attempts` should be a whole number from 1 on, found the text \"six\""
    );
    assert_eq!(
        message("[limits]\nmax-attempts = \"6\"\n"),
        "`max-attempts` should be a whole number from 1 on, found the text \"6\""
    );
    assert_eq!(
        message("[limits]\nmax-attempts = -1\n"),
        "`max-attempts` should be a whole number from 1 on, found `-1`"
    );
    assert!(message("[limits]\nmax-backoff = 60\n").ends_with(", found `60`"));
    assert_eq!(
        message("[limits]\nmin-jitter = 10\n"),
        "`min-jitter` should be a share such as `0.1` or `10%`, found `10`"
    );
    assert_eq!(message("limits = 3\n"), "`limits` should be a table, found `3`");
    assert_eq!(message("[calls]\nfrom = 'a'\n"), "`calls` should be tables: `[[calls]]`, found a mapping");
    assert_eq!(message("[scan]\ninclude = ['a', { a = 2 }]\n"), "`include` should be a list of texts, found a mapping");
    assert_eq!(message("[scan]\ninclude = ['a', 1]\n"), "`include` should be a list of texts, found `1`");
    assert_eq!(message("[services.a]\nowner = true\n"), "`owner` should be a text, found `true`");
    // Nothing fills settings in.
    assert_eq!(
        message("[limits]\nmax-attempts = '${TRIES}'\n"),
        "`max-attempts` should be a whole number from 1 on, found the text \"${TRIES}\""
    );
    assert_eq!(message("[[calls]]\nfrom = '${WEB}'\nto = 'a'\n"), "`${WEB}` is no name of a service");
    assert_eq!(
        message("[rules]\nno-backoff = 'warn'\n"),
        "`no-backoff` should be `\"error\"`, `\"warning\"`, `\"note\"` or `\"off\"`, found the text \"warn\""
    );
    assert_eq!(
        message("[dialects.istio]\nversion = 1.24\n"),
        "`version` should be a version of Istio 1 in quotes such as `\"1.24\"`, found `1.24`"
    );
    assert_eq!(message("[services.localhost]\n"), "`localhost` is no name of a service");
    assert_eq!(message("[[calls]]\nfrom = 'a'\n"), "`[[calls]]` needs both `from` and `to`");
    assert_eq!(message("[[environment]]\nname = 'a'\n"), "`[[environment]]` needs both `name` and `paths`");
    assert_eq!(message("[[per-path]]\npaths = ['a']\n"), "`[[per-path]]` needs both `paths` and `rules`");
    assert!(message("[scan]\nexclude = ['a[']\n").starts_with("`a[` is not a path pattern: "));
}

#[test]
fn limits_that_nothing_could_keep_are_faults_with_what_is_right() {
    let limit = |text: &str| error(&format!("[limits]\n{text}\n")).1;
    for key in ["max-attempts", "max-attempts-job"] {
        assert_eq!(limit(&format!("{key} = 0")), format!("`{key}` should be a whole number from 1 on, found `0`"));
    }
    for key in ["max-amplification", "error-amplification"] {
        for value in ["0", "0.9", "-2"] {
            let expected = format!("`{key}` should be a number from 1 on, found `{value}`");
            assert_eq!(limit(&format!("{key} = {value}")), expected);
        }
    }
    for key in ["max-backoff", "max-total-wait"] {
        let message = limit(&format!("{key} = \"0s\""));
        assert!(message.starts_with(&format!("`{key}` should be a time above zero")), "{message}");
        assert!(!errors(&format!("[limits]\n{key} = \"-1s\"\n")).is_empty());
    }
    assert!(error("[scan]\nmax-file-size = 0\n").1.contains("a size above zero"));
    // No retries at all, no amplification at all, and no jitter asked for are decisions.
    let strict =
        config("[limits]\nmax-attempts = 1\nmax-amplification = 1\nmin-jitter = 0\nmin-jitter-delay = \"0s\"\n");
    assert_eq!((strict.limits.max_attempts, strict.limits.max_amplification, strict.limits.min_jitter), (1, 1.0, 0.0));
}

#[test]
fn every_fault_is_told_in_the_order_of_the_text() {
    let places: Vec<String> =
        errors("[rules]\nx = 'off'\n[limits]\ny = 1\nmax-attempts = 'z'\n").into_iter().map(|e| e.0).collect();
    assert_eq!(places, ["x", "y", "'z'"]);
}

#[test]
fn what_is_not_toml_is_an_error_with_its_place() {
    let errors = errors("[limits]\nmax-attempts = = 3\n");
    assert!(!errors.is_empty());
    assert!(errors[0].1.starts_with("not valid TOML: "), "{errors:?}");
}

#[test]
fn sizes_are_bytes_or_have_a_unit() {
    let size = |text: &str| config(&format!("[scan]\nmax-file-size = {text}\n")).scan.max_file_size;
    assert_eq!(size("1_000"), 1000);
    assert_eq!(size("'512 KB'"), 512_000);
    assert_eq!(size("'10MiB'"), 10 << 20);
    assert_eq!(error("[scan]\nmax-file-size = 'big'\n").0, "'big'");
}

#[test]
fn a_file_that_is_not_there_is_told_with_its_name() {
    let error = Config::load(std::path::Path::new("/nonexistent/retrylint.toml"), RULES).unwrap_err();
    assert!(error.to_string().starts_with("cannot read /nonexistent/retrylint.toml: "), "{error}");
}

#[test]
fn no_cut_of_a_file_makes_the_reader_panic() {
    for end in 0..WHOLE.len() {
        if let Ok(config) = Config::parse(&WHOLE[..end], RULES) {
            config.facts(&[FileId(1)]);
            config.settings();
        }
    }
}

mod schema {
    use serde_json::{Value, json};

    use super::*;
    use crate::read::code::catalogue::format;
    use crate::read::vocabulary::Table;
    use crate::read::vocabulary::agreement::{Agreement, By, Excuse, is_address};
    use crate::report::schemas::of_settings;
    use crate::rules;

    fn is_valid(text: &str) -> bool {
        let value: Value = ::toml::from_str(text).unwrap();
        jsonschema::draft202012::new(&of_settings()).unwrap().is_valid(&value)
    }

    /// A value as TOML has it on one line; none where it cannot say it.
    fn inline(value: &Value) -> Option<String> {
        let text = match value {
            Value::Null => return None,
            Value::Array(items) => {
                format!("[{}]", items.iter().map(inline).collect::<Option<Vec<_>>>()?.join(", "))
            }
            Value::Object(map) => {
                let entries = map.iter().map(|(key, value)| Some(format!("{} = {}", quoted(key), inline(value)?)));
                format!("{{ {} }}", entries.collect::<Option<Vec<_>>>()?.join(", "))
            }
            other => other.to_string(),
        };
        Some(text)
    }

    /// Whether a file is read without a fault; none if TOML cannot say it.
    fn reads(file: &Value) -> Option<bool> {
        let text: String = file
            .as_object()?
            .iter()
            .map(|(key, value)| Some(format!("{} = {}\n", quoted(key), inline(value)?)))
            .collect::<Option<_>>()?;
        let ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
        Some(Config::parse(&text, &ids).is_ok())
    }

    /// Tables that are no part of the catalogue.
    const OURS: [&str; 10] =
        ["settings", "scan", "limits", "per-path", "service", "call", "accept", "environment", "dialects", "istio"];

    #[test]
    fn agrees_with_the_reader_on_every_value_of_every_key() {
        let excuses = [
            Excuse {
                why: "addresses are nobody's name",
                taken: By::Schema,
                holds: |_, key, written| is_address(key, written),
            },
            Excuse {
                why: "29 February is a day of some years only",
                taken: By::Schema,
                holds: |_, _, written| *written == json!("2027-02-29"),
            },
            Excuse {
                why: "what `extend` names is looked at when it is read",
                taken: By::Reader,
                holds: |table, key, _| table == "settings" && key == "extend",
            },
            Excuse {
                why: "paths lie under a root",
                taken: By::Schema,
                holds: |_, key, _| ["roots", "call", "method_of", "record", "mark", "const"].contains(&key),
            },
            Excuse {
                why: "`combine` names kinds of parts that are there",
                taken: By::Schema,
                holds: |_, key, written| key == "combine" || written.get("combine").is_some(),
            },
            Excuse {
                why: "a table of what methods say recognises nothing, and so does an empty list",
                taken: By::Schema,
                holds: |table, key, written| {
                    table == "shape" && key == "method" && (written.is_object() || *written == json!([]))
                },
            },
            Excuse {
                why: "of several clauses all but the last need `if`",
                taken: By::Schema,
                holds: |_, _, written| written.to_string().contains("[{},{}]"),
            },
            Excuse {
                why: "references are to what is there, and no value in an example",
                taken: By::Schema,
                holds: |table, _, written| !OURS.contains(&table) && written.to_string().contains("\"$"),
            },
            Excuse {
                why: "shapes and kinds of parts are named that are there",
                taken: By::Schema,
                holds: |table, key, _| table == "clause" && matches!(key, "shape" | "part"),
            },
        ];
        let library = |says: Value, expected: Value| {
            let shape = json!({ "is": "run", "call": "x", "sets": says });
            let part = json!({ "is": "part", "part": "x", "id": "x", "call": "x" });
            let example = json!({ "code": "x", "file": "x", "expect": expected });
            let library =
                json!({ "name": "x", "language": "x", "roots": "x", "shape": [shape, part], "example": [example] });
            json!({ "library": [library] })
        };
        let tables = format::schema::tables();
        let wrap = |target: Option<&'static str>| {
            move |table: Value| match target {
                Some("") => library(table, json!([])),
                Some(target) => library(json!({ target: table }), json!([])),
                None => library(json!({}), table),
            }
        };
        let wraps: Vec<_> = tables.iter().map(|(table, target)| (*table, wrap(*target))).collect();
        let others: Vec<(&'static Table, &dyn Fn(Value) -> Value)> =
            wraps.iter().map(|(table, wrap)| (*table, wrap as &dyn Fn(Value) -> Value)).collect();
        Agreement { schema: of_settings(), reads: &reads, excuses: &excuses }.check(&keys::TOP, &others);
    }

    #[test]
    fn takes_what_the_reader_takes_and_refuses_what_it_refuses() {
        assert!(is_valid(WHOLE));
        assert!(is_valid(""));
        for text in [
            "[limits]\nmax-attempt = 3\n",
            "[limits]\nmax-attempts = '6'\n",
            "[limits]\nmax-backoff = 60\n",
            "[limits]\nmax-attempts = 0\n",
            "[limits]\nmax-attempts-job = 0\n",
            "[limits]\nmax-amplification = 0.5\n",
            "[limits]\nerror-amplification = 0\n",
            "[limits]\nmax-backoff = '0s'\n",
            "[limits]\nmax-total-wait = '0ms'\n",
            "[scan]\nmax-file-size = 0\n",
            "[rules]\nno-backoff = 'warn'\n",
            "[[per-path]]\npaths = ['a']\n",
            "[[per-path]]\npaths = ['a']\nrules = { no-backoff = 'warn' }\n",
            "baseline = 3\n",
            "extend = ['a.toml']\n",
            "[services.web]\naccept = { max-amplification = 9, reason = 'r', until = 'soon' }\n",
            "[dialects.istio]\nversion = 1.24\n",
            "[[calls]]\nfrom = 'a'\n",
            "[services.web]\ncalls = []\n",
            "[services.web]\naccept = { max-amplification = 9 }\n",
            "[scan]\nmax-file-size = 'big'\n",
            "[[library]]\nname = 'a'\nlanguage = 'b'\nroots = ['a']\n",
            "[[library]]\nname = 'a'\nlanguage = 'b'\nroots = ['a']\n[[library.shape]]\nis = 'runs'\ncall = 'a'\n",
            "[[library]]\nname = 'a'\nlanguage = 'b'\nroots = ['a']\n[[library.shape]]\nis = 'run'\ncall = 'a'\nsets = { tries = 3 }\n",
            "[[library]]\nname = 'a'\nlanguage = 'b'\nroots = ['a']\n[[library.shape]]\nis = 'run'\ncall = 'a'\nsets = { retries = 'three' }\n",
        ] {
            assert!(!is_valid(text), "{text}");
            assert!(Config::parse(text, RULES).is_err(), "{text}");
        }
    }
}

#[test]
fn a_library_stands_once_in_a_file() {
    let of = |name: &str| {
        format!(
            "[[library]]\nname = '{name}'\nlanguage = 'rust'\nroots = ['acme']\n[[library.shape]]\nis = 'run'\ncall = ['acme::run']\n"
        )
    };
    let (at, message, help) = error(&format!("{}{}", of("acme"), of("acme")));
    assert_eq!((at.as_str(), message.as_str()), ("'acme'", "`acme` is described twice, in line 2 and in line 9"));
    assert_eq!(help.as_deref(), Some("put all its shapes below one `[[library]]`"));
    assert_eq!(config(&format!("{}{}", of("acme"), of("acme-net"))).read.libraries.len(), 2);
}

#[test]
fn a_path_that_is_no_pattern_is_an_error() {
    let errors = Config::parse("[services.a]\npaths = [\"services/a/**\", \"[\"]\n", &[]).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].message.starts_with("`[` is no pattern"), "{}", errors[0].message);
}

#[test]
fn a_release_of_istio_that_is_not_known_is_told_and_the_newest_known_one_holds() {
    let read = |version: &str| {
        let config = Config::parse(&format!("[dialects.istio]\nversion = '{version}'\n"), &[]).unwrap();
        (config.read.istio_version, config.unmatched(&[]))
    };
    let (major, newest) = crate::read::NEWEST_ISTIO;
    let next = newest + 1;
    assert_eq!(
        read(&format!("1.{next}")),
        (
            (major, newest),
            vec![format!(
                "retrylint.toml:2: Istio 1.{next} is newer than any release that is known here; the defaults of 1.{newest} are \
                 taken"
            )]
        )
    );
    assert_eq!(read(&format!("1.{newest}")), ((major, newest), vec![]));
    assert_eq!(read("1.9.4"), ((1, 9), vec![]));
}
