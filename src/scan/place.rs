//! What a path says: which environment a file belongs to (contracts.md D-2), whether it is test code or an example (D-18),
//! and what it is read as.

use crate::facts::{FileKind, Role};
use crate::read::code::Language;

/// Words that name an environment wherever they stand.
const ENVIRONMENTS: [&str; 12] =
    ["dev", "test", "qa", "uat", "stage", "staging", "preprod", "prod", "production", "live", "sandbox", "local"];

/// Below these, every segment names one.
const ENVIRONMENT_PARENTS: [&str; 3] = ["overlays", "environments", "envs"];

/// Files of these names come in one variant per environment; elsewhere `-test` and `-live` are part of a name.
const VARIED: [&str; 3] = ["values", "appsettings", "application"];

const TESTS: [&str; 11] =
    ["test", "tests", "testdata", "test-data", "fixtures", "__tests__", "spec", "e2e", "benches", "benchmarks", "fuzz"];

const EXAMPLES: [&str; 3] = ["examples", "samples", "docs"];

/// Folders and file name of a path whose parts are separated by `/`.
fn segments(path: &str) -> (Vec<&str>, &str) {
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let name = parts.pop().unwrap_or_default();
    (parts, name)
}

/// The environment that a path says, in lower case.
pub fn environment(path: &str) -> Option<String> {
    let (folders, name) = segments(path);
    let folders: Vec<String> = folders.into_iter().map(str::to_ascii_lowercase).collect();
    let is_word = |word: &str| ENVIRONMENTS.contains(&word);
    let below = folders.windows(2).find_map(|pair| match pair {
        [parent, child] if ENVIRONMENT_PARENTS.contains(&parent.as_str()) => Some(child.clone()),
        _ => None,
    });
    below.or_else(|| folders.iter().find(|folder| is_word(folder)).cloned()).or_else(|| {
        let stem = stem(name).to_ascii_lowercase();
        if folders.last().is_some_and(|folder| ENVIRONMENT_PARENTS.contains(&folder.as_str())) && is_word(&stem) {
            return Some(stem);
        }
        let (base, suffix) = stem.rsplit_once(['-', '.'])?;
        let is_varied = VARIED.iter().any(|varied| base == *varied || base.starts_with(&format!("{varied}-")));
        let is_plain_word = !matches!(suffix, "test" | "live" | "local");
        (is_word(suffix) && (is_varied || is_plain_word)).then(|| suffix.to_string())
    })
}

/// A file name without what says its format.
fn stem(name: &str) -> &str {
    let mut stem = name;
    while let Some((base, extension)) = stem.rsplit_once('.')
        && !base.is_empty()
        && (format_of(extension).is_some() || TEMPLATES.contains(&extension))
    {
        stem = base;
    }
    stem
}

/// Whether a file is production, an example or a test, from its path below the scanned folder.
pub fn role(path: &str) -> Role {
    let (folders, name) = segments(path);
    let folders: Vec<String> = folders.into_iter().map(str::to_ascii_lowercase).collect();
    let has = |words: &[&str]| {
        folders.iter().enumerate().any(|(at, folder)| {
            // `overlays/test` is an environment.
            let parent = at.checked_sub(1).and_then(|at| folders.get(at));
            let is_environment = parent.is_some_and(|parent| ENVIRONMENT_PARENTS.contains(&parent.as_str()));
            words.contains(&folder.as_str()) && !is_environment
        })
    };
    let (stem, _) = name.split_once('.').unwrap_or((name, ""));
    let is_test = stem.ends_with("_test")
        || name.contains(".test.")
        || (name.starts_with("test_") && name.ends_with(".py"))
        || name.ends_with("Tests.cs")
        || name == "build.rs";
    if has(&TESTS) || is_test {
        Role::Test
    } else if has(&EXAMPLES) {
        Role::Example
    } else {
        Role::Production
    }
}

/// Endings of template files, behind or before that of the format: `envoy.yaml.tmpl`, `envoy.tmpl.yaml`.
const TEMPLATES: [&str; 8] = ["tmpl", "tpl", "gotmpl", "j2", "jinja", "jinja2", "template", "mustache"];

fn format_of(extension: &str) -> Option<FileKind> {
    match extension.to_ascii_lowercase().as_str() {
        "yaml" | "yml" => Some(FileKind::Yaml),
        "json" | "jsonc" => Some(FileKind::Json),
        "toml" => Some(FileKind::Toml),
        "rs" => Some(FileKind::Rust),
        _ => None,
    }
}

/// What a file is read as, from its name; none if it is nothing that is read.
pub fn kind(path: &str) -> Option<FileKind> {
    let (_, name) = segments(path);
    let (base, extension) = name.rsplit_once('.')?;
    format_of(extension).or_else(|| {
        let is_template = TEMPLATES.contains(&extension.to_ascii_lowercase().as_str());
        let inner = is_template.then(|| base.rsplit_once('.')).flatten();
        // A template of code is no code.
        inner.and_then(|(_, extension)| format_of(extension)).filter(|kind| Language::of(*kind).is_none())
    })
}

/// What a file that was named is read as when its name does not say: JSON if it looks so, else YAML.
pub fn kind_by_shape(text: &str) -> FileKind {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with(['{', '[']) && !text.starts_with("{{") { FileKind::Json } else { FileKind::Yaml }
}

/// Whether a file's name has an ending, which says something even where nobody here knows what.
pub fn has_ending(path: &str) -> bool {
    let (_, name) = segments(path);
    name.trim_start_matches('.').contains('.')
}

/// The language that a file is written in, from its name, if it is one that is not read.
pub fn language(path: &str) -> Option<&'static str> {
    let (_, name) = segments(path);
    let (_, ending) = name.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    UNREAD.iter().find(|(_, endings)| endings.contains(&ending.as_str())).map(|(language, _)| *language)
}

/// Languages that are not read, with how the names of their files end.
const UNREAD: [(&str, &[&str]); 20] = [
    ("C", &["c", "h"]),
    ("C#", &["cs"]),
    ("C++", &["cc", "cpp", "cxx", "hpp"]),
    ("Clojure", &["clj"]),
    ("Dart", &["dart"]),
    ("Elixir", &["ex", "exs"]),
    ("F#", &["fs"]),
    ("Go", &["go"]),
    ("Groovy", &["groovy"]),
    ("Java", &["java"]),
    ("JavaScript", &["js", "jsx", "mjs", "cjs"]),
    ("Kotlin", &["kt", "kts"]),
    ("PHP", &["php"]),
    ("Perl", &["pl", "pm"]),
    ("Python", &["py"]),
    ("Ruby", &["rb"]),
    ("Scala", &["scala"]),
    ("Swift", &["swift"]),
    ("Terraform", &["tf"]),
    ("TypeScript", &["ts", "tsx", "mts", "cts"]),
];

/// Whether text without a name is Rust: a line begins with the head of a function or of an implementation, and there are
/// braces at the ends of lines. In data such a line is indented, as all text within it is.
pub fn is_rust(text: &str) -> bool {
    const HEADS: [&str; 8] =
        ["fn ", "async fn ", "pub fn ", "pub async fn ", "impl ", "impl<", "pub(crate) fn ", "pub(crate) async fn "];
    let is_head = |line: &str| HEADS.iter().any(|head| line.starts_with(head));
    text.lines().any(is_head) && text.lines().any(|line| line.trim_end().ends_with(['{', '}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_a_segment_below_overlays_or_an_environment_word() {
        let says = |path: &str| environment(path);
        assert_eq!(says("deploy/overlays/eu-west/mesh.yaml").as_deref(), Some("eu-west"));
        assert_eq!(says("envs/Prod/region/mesh.yaml").as_deref(), Some("prod"));
        assert_eq!(says("clusters/staging/mesh.yaml").as_deref(), Some("staging"));
        assert_eq!(says("chart/values-production.yaml").as_deref(), Some("production"));
        assert_eq!(says("web/appsettings.Test.json").as_deref(), Some("test"));
        assert_eq!(says("mesh/gateway-prod.yaml.tmpl").as_deref(), Some("prod"));
        assert_eq!(says("environments/prod.yaml").as_deref(), Some("prod"));
    }

    #[test]
    fn a_service_in_a_deploy_folder_is_no_environment() {
        for path in [
            "deploy/checkout/mesh.yaml",
            "overlays/mesh.yaml",
            "smoke-test.yaml",
            "go-live.yaml",
            "prod.yaml",
            "product/x.yaml",
            "",
        ] {
            assert_eq!(environment(path), None, "{path}");
        }
    }

    #[test]
    fn test_code_and_examples_are_known_by_their_path() {
        assert_eq!(role("src/testdata/a.yaml"), Role::Test);
        assert_eq!(role("a/e2e/b.yaml"), Role::Test);
        assert_eq!(role("docs/fixtures/b.yaml"), Role::Test);
        assert_eq!(role("mesh_test.yaml"), Role::Test);
        assert_eq!(role("samples/bookinfo/mesh.yaml"), Role::Example);
        assert_eq!(role("docs/a.yaml"), Role::Example);
        for path in ["overlays/test/mesh.yaml", "latest/a.yaml", "contest.yaml", "appsettings.Test.json", "spec.yaml"] {
            assert_eq!(role(path), Role::Production, "{path}");
        }
    }

    #[test]
    fn a_name_says_in_which_language_a_file_is_that_is_not_read() {
        assert_eq!(language("a/client.py"), Some("Python"));
        assert_eq!(language("A.GO"), Some("Go"));
        for path in ["a.rs", "a.yaml", "notes.txt", "py", "a.py/b", ".go/a", "", "a."] {
            assert_eq!(language(path), None, "{path}");
        }
        assert!(has_ending("a/b.txt") && has_ending(".a.txt"));
        assert!(!has_ending("a.b/c") && !has_ending("<stdin>") && !has_ending(".envrc"));
    }

    #[test]
    fn rust_is_known_by_the_heads_of_its_functions() {
        assert!(is_rust("use backon::Retryable;\n\npub async fn get() -> Result<()> {\n}\n"));
        assert!(is_rust("impl<T> Client<T> {\n    fn get(&self) {}\n}\n"));
        for text in [
            "",
            "fn: 1\n",
            "services: {\n  web: {}\n}\n",
            "fn main",
            "# fn x() {\na: 1\n",
            "a: |\n  fn main() {\n  }\n",
            "{\"fn \": {}}",
        ] {
            assert!(!is_rust(text), "{text}");
        }
    }

    #[test]
    fn a_name_says_what_a_file_is_read_as() {
        assert_eq!(kind("a/b.yml"), Some(FileKind::Yaml));
        assert_eq!(kind("a.JSON"), Some(FileKind::Json));
        assert_eq!(kind("a.jsonc"), Some(FileKind::Json));
        assert_eq!(kind("Cargo.toml"), Some(FileKind::Toml));
        assert_eq!(kind("envoy.yaml.tmpl"), Some(FileKind::Yaml));
        assert_eq!(kind("envoy.tmpl.yaml"), Some(FileKind::Yaml));
        assert_eq!(kind("envoy.yaml.j2"), Some(FileKind::Yaml));
        assert_eq!(kind("src/main.rs"), Some(FileKind::Rust));
        assert_eq!(kind("main.rs.j2"), None);
        assert_eq!(kind("_helpers.tpl"), None);
        assert_eq!(kind("README.md"), None);
        assert_eq!(kind("yaml"), None);
        assert_eq!(kind_by_shape("\u{feff} {\"a\": 1}"), FileKind::Json);
        assert_eq!(kind_by_shape("{{ .Values.x }}"), FileKind::Yaml);
    }
}
