//! The tables of retrylint.toml: their keys, what each takes, what it says and what holds where it is not written.

use std::sync::Arc;

use super::RuleLevel;
use crate::finding::Severity;
use crate::read::code::catalogue::format::keys::LIBRARY;
use crate::read::manifests::services::keys::{OF_CALL, OF_SERVICE, TO};
use crate::read::vocabulary::values::{
    DURATION, HOST, ISTIO_VERSION, SHARE, SIZE, SWITCH, TEXT, TEXTS, TIME, TIMES, TOML_FILE, TRIES, named,
};
use crate::read::vocabulary::{Is, Key, Kind, Table};

/// The top.
pub static TOP: Table = Table {
    name: "settings",
    place: "retrylint.toml",
    shape: "a table",
    about: "what retrylint is told about a repository",
    keys: &[
        PATHS,
        &[
            Key::new("scan", Is::Table(&SCAN), ""),
            Key::new("limits", Is::Table(&LIMITS), ""),
            Key::new("rules", LEVELS, "the level of a rule, by its id"),
            Key::new(
                "per-path",
                Is::List(&Is::Table(&PER_PATH)),
                "levels of rules for findings that stand in some files; of two that take a path the later one wins",
            ),
            Key::new(
                "services",
                Is::Map(&HOST.is, &Is::Table(&SERVICE)),
                "services by name, and what no file says of them",
            ),
            Key::new("calls", Is::List(&Is::Table(&CALL)), "calls that no file shows"),
            Key::new(
                "environment",
                Is::List(&Is::Table(&ENVIRONMENT)),
                "files that belong to one environment; facts of two are never combined",
            ),
            Key::new("dialects", Is::Table(&DIALECTS), ""),
            Key::new("library", Is::List(&Is::Table(&LIBRARY)), "helpers of your own that retry"),
        ],
    ],
    needs: &[],
};

/// What stands outside of all tables.
pub const PATHS: &[Key] = &[
    Key::new(
        "extend",
        TOML_FILE.is,
        "another retrylint.toml, which holds wherever this one says nothing; from the folder of this file",
    ),
    Key::new(
        "baseline",
        BASELINE.is,
        "the file of known findings, which `--write-baseline` writes; from the folder of this file",
    ),
];

/// The path of a baseline.
pub const BASELINE: Kind<Arc<str>> = named("the path of a baseline");

/// `[scan]`.
pub static SCAN: Table = Table {
    name: "scan",
    place: "`[scan]`",
    shape: "a table",
    about: "what is read",
    keys: &[&[
        Key::new("include", TEXTS, "only what one of these patterns takes is read").or("[]"),
        Key::new("exclude", TEXTS, "patterns of what is left out, also if it is named on the command line").or("[]"),
        Key::new("follow-ignore-files", SWITCH.is, "whether .gitignore and .retrylintignore hold").or("true"),
        Key::new("max-file-size", SIZE.is, "larger files are not read: `\"10 MB\"`, or a number of bytes")
            .or("\"64 MiB\""),
    ]],
    needs: &[],
};

/// `[limits]` (contracts.md D-17).
pub static LIMITS: Table = Table {
    name: "limits",
    place: "`[limits]`",
    shape: "a table",
    about: "from where on something is too much",
    keys: &[&[
        Key::new("max-attempts", TRIES.is, "tries of one policy on a request path; `--max-attempts` for one run")
            .or("6"),
        Key::new("max-attempts-job", TRIES.is, "tries of one job, workflow or broker policy").or("10"),
        Key::new(
            "max-amplification",
            TIMES.is,
            "requests that one may become: more is a warning; `--max-amplification` for one run",
        )
        .or("4"),
        Key::new("error-amplification", TIMES.is, "requests that one may become: more is an error").or("10"),
        Key::new("max-backoff", TIME.is, "largest delay between two tries").or("\"60s\""),
        Key::new("max-total-wait", TIME.is, "slowest answer on a request path").or("\"60s\""),
        Key::new("min-jitter", SHARE.is, "least spread of the last delay").or("0.1"),
        Key::new("min-jitter-delay", DURATION.is, "shorter delays need no jitter").or("\"100ms\""),
    ]],
    needs: &[],
};

/// What `[rules]` says of one.
pub const LEVEL: Kind<RuleLevel> = Kind::words(&[
    ("error", RuleLevel::At(Severity::Error)),
    ("warning", RuleLevel::At(Severity::Warning)),
    ("note", RuleLevel::At(Severity::Note)),
    ("off", RuleLevel::Off),
]);

/// `[rules]`.
const LEVELS: Is = Is::Map(&Is::Rule, &LEVEL.is);

/// `[[per-path]]`.
pub static PER_PATH: Table = Table {
    name: "per-path",
    place: "`[[per-path]]`",
    shape: "a table",
    about: "",
    keys: &[&[
        Key::new("paths", TEXTS, "patterns of the files").required(),
        Key::new("rules", LEVELS, "as under `[rules]`, which it wins over").required(),
    ]],
    needs: &[],
};

/// `[services.NAME]`.
pub static SERVICE: Table =
    Table { name: "service", place: "a service", shape: "a table", about: "", keys: &[OF_SERVICE], needs: &[] };

/// `[[calls]]`.
pub static CALL: Table = Table {
    name: "call",
    place: "`[[calls]]`",
    shape: "a table",
    about: "a call that no file shows",
    keys: &[&[Key::new("from", HOST.is, "the service that calls").required(), TO], OF_CALL],
    needs: &[],
};

/// `[[environment]]`.
pub static ENVIRONMENT: Table = Table {
    name: "environment",
    place: "`[[environment]]`",
    shape: "a table",
    about: "",
    keys: &[&[
        Key::new("name", TEXT.is, "its name, for `--environment` too").required(),
        Key::new("paths", TEXTS, "patterns of its files").required(),
    ]],
    needs: &[],
};

/// `[dialects]`.
pub static DIALECTS: Table = Table {
    name: "dialects",
    place: "`[dialects]`",
    shape: "a table",
    about: "versions that defaults depend on",
    keys: &[&[Key::new("istio", Is::Table(&ISTIO), "")]],
    needs: &[],
};

/// `[dialects.istio]`.
pub static ISTIO: Table = Table {
    name: "istio",
    place: "`[dialects.istio]`",
    shape: "a table",
    about: "whose defaults hold",
    keys: &[&[Key::new(
        "version",
        ISTIO_VERSION.is,
        "the version that is deployed; the newest known if it is left out",
    )
    .or("\"1.31\"")]],
    needs: &[],
};

/// The tables whose keys all have a default, each as it is headed in a file.
pub static DEFAULTS: [(&str, &Table); 3] = [("scan", &SCAN), ("limits", &LIMITS), ("dialects.istio", &ISTIO)];

/// A text as TOML and JSON have it, on one line.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A key as TOML has it: in quotes where it is more than letters, digits, `-` and `_`.
pub fn bare(key: &str) -> String {
    let is_bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare { key.to_string() } else { quoted(key) }
}
