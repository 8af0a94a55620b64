//! The keys of retrylint.toml. Those of plain settings come with their defaults as one would write them: the reader, the
//! documentation, `retrylint config` and the JSON Schema are held against this table by tests.

/// Tables and settings at the top.
pub const TOP_KEYS: &[&str] = &[
    "extend",
    "baseline",
    "scan",
    "limits",
    "rules",
    "per-path",
    "services",
    "calls",
    "environment",
    "dialects",
    "library",
];
/// Keys of `[scan]`.
pub const SCAN_KEYS: &[&str] = &keys(&SCAN);
/// Keys of `[limits]`.
pub const LIMIT_KEYS: &[&str] = &keys(&LIMITS);
/// Values of `[rules]`.
pub const RULE_LEVELS: &[&str] = &["error", "warning", "note", "off"];
/// Keys of `[[per-path]]`.
pub const PER_PATH_KEYS: &[&str] = &["paths", "rules"];
/// Keys of `[[calls]]`.
pub const CALL_KEYS: &[&str] =
    &["from", "to", "per-request", "operation", "protocol", "idempotent", "one-of", "async", "propagates-deadline"];
/// Keys of `[[environment]]`.
pub const ENVIRONMENT_KEYS: &[&str] = &["name", "paths"];
/// Tables of `[dialects]`.
pub const DIALECT_KEYS: &[&str] = &["istio"];
/// Keys of `[dialects.istio]`.
pub const ISTIO_KEYS: &[&str] = &keys(&ISTIO);

/// `[scan]` with its defaults.
const SCAN: [(&str, &str); 4] =
    [("include", "[]"), ("exclude", "[]"), ("follow-ignore-files", "true"), ("max-file-size", "\"64 MiB\"")];
/// `[limits]` with its defaults (contracts.md D-17).
const LIMITS: [(&str, &str); 8] = [
    ("max-attempts", "6"),
    ("max-attempts-job", "10"),
    ("max-amplification", "4"),
    ("error-amplification", "10"),
    ("max-backoff", "\"60s\""),
    ("max-total-wait", "\"60s\""),
    ("min-jitter", "0.1"),
    ("min-jitter-delay", "\"100ms\""),
];
/// `[dialects.istio]` with its default.
const ISTIO: [(&str, &str); 1] = [("version", "\"1.31\"")];

/// The tables whose keys all have a default: the table's name, and its keys with what holds where they are not written.
pub const DEFAULTS: &[(&str, &[(&str, &str)])] = &[("scan", &SCAN), ("limits", &LIMITS), ("dialects.istio", &ISTIO)];

const fn keys<const N: usize>(pairs: &[(&'static str, &'static str); N]) -> [&'static str; N] {
    let mut keys = [""; N];
    let mut at = 0;
    while at < N {
        keys[at] = pairs[at].0;
        at += 1;
    }
    keys
}

/// A text as TOML and JSON have it, on one line.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A key as TOML has it: in quotes where it is more than letters, digits, `-` and `_`.
pub fn bare(key: &str) -> String {
    let is_bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare { key.to_string() } else { quoted(key) }
}
