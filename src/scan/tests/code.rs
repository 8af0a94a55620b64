use super::*;
use crate::facts::{Attempts, Caller, Policy, ServiceSource};

/// A program that calls through a library of its workspace, whose limit stands in a file without any word of retrying.
const WORKSPACE: &[(&str, &str)] = &[
    ("Cargo.toml", "[workspace]\nmembers = [\"services/*\", \"libs/*\"]\n[workspace.dependencies]\nbackon = \"1\"\n"),
    (
        "services/web/Cargo.toml",
        "[package]\nname = \"web\"\n[dependencies]\nbackon.workspace = true\ncommon = { path = \"../../libs/common\" }\n",
    ),
    ("services/web/src/main.rs", "mod client;\nfn main() {}\n"),
    (
        "services/web/src/client.rs",
        "use backon::{ExponentialBuilder, Retryable};\nuse common::prelude::MOST;\n\npub async fn fetch() -> Result<u8, E> {\n    \
         get.retry(ExponentialBuilder::default().with_max_times(MOST)).await\n}\n",
    ),
    ("libs/common/Cargo.toml", "[package]\nname = \"common\"\n"),
    ("libs/common/src/lib.rs", "pub mod bounds;\npub mod prelude { pub use crate::bounds::*; }\n"),
    ("libs/common/src/bounds.rs", "//! Numbers.\npub const MOST: usize = 2 * HALF;\nconst HALF: usize = 2;\n"),
    ("libs/common/src/other.rs", "pub fn nothing() {}\n"),
];

/// The policies that retry, each with the file that it stands in.
fn policies<'s>(folder: &Folder, scan: &'s Scan) -> Vec<(String, &'s Policy)> {
    let path = |policy: &Policy| {
        let path = &scan.facts.file(policy.span.file).unwrap().path;
        Path::new(&**path).strip_prefix(&folder.0).map_or(path.to_string(), |path| path.to_string_lossy().into_owned())
    };
    scan.facts.policies.iter().filter(|policy| policy.may_retry()).map(|policy| (path(policy), policy)).collect()
}

/// The one policy that retries.
fn policy(scan: &Scan) -> &Policy {
    let mut all = scan.facts.policies.iter().filter(|policy| policy.may_retry());
    let first = all.next().expect("a policy");
    assert_eq!(all.count(), 0);
    first
}

#[test]
fn a_limit_in_a_file_that_is_not_searched_is_found() {
    let folder = Folder::new(WORKSPACE);
    let found = scan(&folder.settings()).unwrap();
    let policy = policy(&found);
    assert_eq!(policy.attempts.known(), Some(&Attempts::Times(5)));
    assert_eq!(policy.caller, Caller::ByPath);
    // The limit can be shown where it is written; files that nobody asked for cost no memory.
    let texts: Vec<(String, bool)> = folder
        .paths(&found)
        .into_iter()
        .zip(found.sources.iter().map(|(_, source)| source.text().unwrap().is_empty()))
        .collect();
    let texts: Vec<(&str, bool)> = texts.iter().map(|(path, is_empty)| (path.as_str(), *is_empty)).collect();
    assert_eq!(
        texts,
        [
            ("libs/common/src/bounds.rs", false),
            ("libs/common/src/lib.rs", true),
            ("libs/common/src/other.rs", true),
            ("services/web/Cargo.toml", false),
            ("services/web/src/client.rs", false),
            ("services/web/src/main.rs", true),
        ]
    );
    // A package with a program is a service, under its own name; a library is none.
    let services: Vec<_> = found
        .facts
        .services
        .iter()
        .map(|one| (&*one.name, one.source, found.sources.get(one.span.file).unwrap().slice(one.span)))
        .collect();
    assert_eq!(services, [("web", ServiceSource::Package, "web")]);
    assert_eq!(found.counts.files[&FileKind::Rust], 5);
}

#[test]
fn neither_threads_nor_the_prefilter_change_what_is_found_in_code() {
    let folder = Folder::new(WORKSPACE);
    let one = scan(&ScanSettings { threads: 1, ..folder.settings() }).unwrap();
    for settings in [
        ScanSettings { threads: 8, ..folder.settings() },
        ScanSettings { prefilter: false, ..folder.settings() },
        ScanSettings { prefilter: false, threads: 8, ..folder.settings() },
    ] {
        let other = scan(&settings).unwrap();
        assert_eq!(one.facts, other.facts);
        assert_eq!(one.counts, other.counts);
    }
}

#[test]
fn a_part_of_a_workspace_is_read_like_the_whole() {
    let folder = Folder::new(WORKSPACE);
    let whole = scan(&folder.settings()).unwrap();
    for part in ["services", "services/web", "services/web/src", "services/web/src/client.rs"] {
        let found = scan(&ScanSettings { paths: vec![folder.0.join(part)], ..folder.settings() }).unwrap();
        let (known, expected) = (policy(&found), policy(&whole));
        assert_eq!(known.attempts.known(), expected.attempts.known(), "{part}");
        // What lies beside is there to be referred to, and is not counted.
        assert_eq!(found.counts.files[&FileKind::Rust], if part.ends_with(".rs") { 1 } else { 2 }, "{part}");
        assert_eq!(found.facts.services.len(), 1, "{part}");
    }
}

#[test]
fn standard_input_stands_in_for_its_file() {
    let folder = Folder::new(WORKSPACE);
    let name = folder.0.join("services/web/src/client.rs").to_string_lossy().into_owned();
    let text = WORKSPACE.iter().find(|(path, _)| path.ends_with("client.rs")).unwrap().1.replace("MOST)", "MOST + 1)");
    let settings = ScanSettings { paths: Vec::new(), stdin: Some((name, text.into_bytes())), ..folder.settings() };
    let found = scan(&settings).unwrap();
    assert_eq!(policy(&found).attempts.known(), Some(&Attempts::Times(6)));
    assert_eq!(found.counts.files, BTreeMap::from([(FileKind::Rust, 1)]));
}

#[test]
fn test_code_is_known_wherever_it_stands() {
    let retry =
        |name: &str| format!("async fn {name}() {{ get.retry(backon::ExponentialBuilder::default()).await }}\n");
    let main = format!(
        "#[cfg(test)]\nmod unit;\nfn main() {{}}\nuse backon::Retryable;\n{}#[cfg(test)]\nmod tests {{\n    use backon::Retryable;\n    // retrylint: allow(missing-jitter) a test\n    {}}}\n",
        retry("real"),
        retry("within")
    );
    let unit = format!("use backon::Retryable;\n{}", retry("unit"));
    let folder = Folder::new(&[
        ("Cargo.toml", "[package]\nname = \"web\"\n[dependencies]\nbackon = \"1\"\n"),
        ("src/main.rs", &main),
        ("src/unit.rs", &unit),
        ("tests/whole.rs", &unit),
        ("examples/show.rs", &unit),
    ]);
    let told = |settings: &ScanSettings| {
        let scan = scan(settings).unwrap();
        let lines: Vec<(String, bool)> =
            policies(&folder, &scan).into_iter().map(|(path, one)| (path, one.test_code)).collect();
        (lines, scan.facts.suppressions.len())
    };
    let of = |path: &str, is_test: bool| (path.to_string(), is_test);
    let (show, real, within) = (of("examples/show.rs", false), of("src/main.rs", false), of("src/main.rs", true));
    assert_eq!(told(&folder.settings()), (vec![show.clone(), real.clone()], 0));
    let all = vec![show, real, within, of("src/unit.rs", true), of("tests/whole.rs", true)];
    assert_eq!(told(&ScanSettings { include_tests: true, ..folder.settings() }), (all, 1));
    // Whoever names a file wants to read it.
    let named = vec![folder.0.join("src/unit.rs")];
    assert_eq!(told(&ScanSettings { paths: named, ..folder.settings() }), (vec![of("src/unit.rs", false)], 0));
}

#[test]
fn code_belongs_to_all_environments_unless_the_settings_say_otherwise() {
    let folder = Folder::new(&[
        ("Cargo.toml", "[package]\nname = \"web\"\n"),
        ("src/main.rs", "mod local;\nmod prod;\n"),
        ("src/local/mod.rs", "// retrylint: allow-file(no-backoff) a\n"),
        ("src/prod.rs", "// retrylint: allow-file(no-backoff) a\n"),
    ]);
    let said = |settings: &ScanSettings| {
        let scan = scan(settings).unwrap();
        scan.facts.files.iter().filter_map(|file| file.environment.clone()).collect::<Vec<_>>()
    };
    assert!(said(&folder.settings()).is_empty());
    let environments = vec![("live".to_string(), vec!["src/prod.rs".to_string()])];
    assert_eq!(said(&ScanSettings { environments, ..folder.settings() }), ["live".into()]);
}

#[test]
fn code_that_cannot_be_read_is_a_problem_of_its_own() {
    let folder = Folder::new(WORKSPACE);
    folder.write("services/web/src/utf16.rs", b"\xff\xfer\0e\0t\0r\0y\0");
    folder.write("services/web/src/mute16.rs", b"\xff\xfea\0");
    folder.write("services/web/src/latin.rs", b"// caf\xe9 retrylint: nothing\nfn a() {}\n");
    folder.write("services/web/Cargo.toml", b"[package\n");
    let found = scan(&folder.settings()).unwrap();
    let told: Vec<(String, bool)> = found
        .facts
        .problems
        .iter()
        .map(|one| {
            (found.facts.file(one.span.file).unwrap().path.rsplit('/').next().unwrap().to_string(), one.recognised)
        })
        .collect();
    assert_eq!(told, [("utf16.rs".to_string(), false)]);
    // A broken manifest costs what it would have said: that there is a program.
    assert!(found.facts.services.is_empty());
}

#[test]
fn helpers_of_ones_own_are_found_by_their_names() {
    let own = "[[library]]\nname = 'ours'\nlanguage = 'rust'\nroots = ['common']\n[[library.shape]]\nis = 'run'\n\
               call = ['common::reliably']\nparams = ['times', 'op']\noperation = '$op'\nsets = { attempts = '$times' }\n";
    let read = crate::config::Config::parse(own, &[]).unwrap().read;
    let folder = Folder::new(WORKSPACE);
    folder.write("services/web/src/client.rs", b"pub async fn fetch() {\n    common::reliably(3, || get()).await\n}\n");
    let tries = |read: ReadSettings| {
        let scan = scan(&ScanSettings { read, ..folder.settings() }).unwrap();
        scan.facts.policies.iter().filter_map(|policy| policy.tries()).collect::<Vec<_>>()
    };
    assert_eq!(tries(read), [3]);
    assert!(tries(ReadSettings::default()).is_empty());
}
