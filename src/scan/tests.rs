use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A folder of its own for each test, removed behind it.
struct Folder(PathBuf);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("retrylint-scan-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = Folder(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&folder.0).unwrap();
        for (path, text) in files {
            folder.write(path, text.as_bytes());
        }
        folder
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn settings(&self) -> ScanSettings {
        ScanSettings { paths: vec![self.0.clone()], base: Some(self.0.clone()), ..ScanSettings::default() }
    }

    /// The paths that were kept, relative to the folder, with their numbers in order.
    fn paths(&self, scan: &Scan) -> Vec<String> {
        let below = |path: &str| Path::new(path).strip_prefix(&self.0).unwrap().to_string_lossy().into_owned();
        let files: Vec<String> = scan.facts.files.iter().map(|file| below(&file.path)).collect();
        let sources: Vec<String> = scan.sources.iter().map(|(_, source)| below(&source.path)).collect();
        assert_eq!(files, sources);
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file that has something to say whatever dialects there are.
const TALKS: &str = "# retrylint: allow-file(no-backoff) x\na: 1\n";

#[test]
fn ignored_generated_and_hidden_files_are_left_out() {
    let folder = Folder::new(&[
        ("a.yaml", TALKS),
        ("b/c.yml", TALKS),
        ("b/mute.yaml", "a: 1\n"),
        ("b/notes.md", TALKS),
        ("out/a.yaml", TALKS),
        ("mine/a.yaml", TALKS),
        ("target/a.yaml", TALKS),
        ("x/node_modules/a.yaml", TALKS),
        ("x/vendor/a.yaml", TALKS),
        (".hidden/a.yaml", TALKS),
        (".gitignore", "out/\n"),
        (".retrylintignore", "mine\n"),
    ]);
    let found = scan(&folder.settings()).unwrap();
    assert_eq!(folder.paths(&found), ["a.yaml", "b/c.yml"]);
    assert_eq!(found.counts.total(), 3);
    let found = scan(&ScanSettings { follow_ignore_files: false, ..folder.settings() }).unwrap();
    assert_eq!(folder.paths(&found), ["a.yaml", "b/c.yml", "mine/a.yaml", "out/a.yaml"]);
}

#[test]
fn patterns_hold_for_named_files_too() {
    let folder = Folder::new(&[("a/x.yaml", TALKS), ("b/x.yaml", TALKS), ("b/y.yaml", TALKS)]);
    let named = vec![folder.0.join("a/x.yaml"), folder.0.join("b/x.yaml"), folder.0.join("b/y.yaml")];
    let settings = ScanSettings { paths: named, exclude: vec!["a/**".into()], ..folder.settings() };
    assert_eq!(folder.paths(&scan(&settings).unwrap()), ["b/x.yaml", "b/y.yaml"]);
    let settings = ScanSettings { include: vec!["x.yaml".into()], ..settings };
    assert_eq!(folder.paths(&scan(&settings).unwrap()), ["b/x.yaml"]);
}

#[test]
fn patterns_hold_for_paths_that_lead_up_and_down_again() {
    let folder = Folder::new(&[("a/x.yaml", TALKS), ("b/x.yaml", TALKS)]);
    let named = vec![folder.0.join("b/../a/x.yaml"), folder.0.join("a/../b/x.yaml")];
    let settings = ScanSettings { paths: named, exclude: vec!["a/**".into()], ..folder.settings() };
    let found = scan(&settings).unwrap();
    assert_eq!(folder.paths(&found), ["a/../b/x.yaml"]);
    let settings = ScanSettings { base: Some(folder.0.join("b/..")), ..settings };
    assert_eq!(folder.paths(&scan(&settings).unwrap()), ["a/../b/x.yaml"]);
}

#[test]
fn the_ignore_file_of_our_own_holds_for_named_paths_too() {
    let folder = Folder::new(&[
        ("mine/a.yaml", TALKS),
        ("mine/b/c.yaml", TALKS),
        ("out/a.yaml", TALKS),
        ("x/keep/a.yaml", TALKS),
        ("x/y.yaml", TALKS),
        ("x/.retrylintignore", "!keep\n"),
        (".gitignore", "out/\n"),
        (".retrylintignore", "mine/\nkeep\n"),
    ]);
    let named = ["mine/a.yaml", "mine/b", "out/a.yaml", "x/keep", "x/y.yaml"];
    let settings = ScanSettings { paths: named.map(|path| folder.0.join(path)).to_vec(), ..folder.settings() };
    assert_eq!(folder.paths(&scan(&settings).unwrap()), ["out/a.yaml", "x/keep/a.yaml", "x/y.yaml"]);
    let settings = ScanSettings { follow_ignore_files: false, ..settings };
    assert_eq!(scan(&settings).unwrap().facts.files.len(), 5);
}

#[test]
fn a_path_that_is_not_there_is_an_error_that_names_it() {
    let folder = Folder::new(&[]);
    let settings = ScanSettings { paths: vec![folder.0.join("nope")], ..folder.settings() };
    let error = scan(&settings).unwrap_err().to_string();
    assert!(error.ends_with("nope: no such file or folder"), "{error}");
}

#[test]
fn test_code_is_left_out_unless_asked_for_or_named() {
    let folder = Folder::new(&[("a.yaml", TALKS), ("testdata/b.yaml", TALKS), ("samples/c.yaml", TALKS)]);
    let found = scan(&folder.settings()).unwrap();
    assert_eq!(folder.paths(&found), ["a.yaml", "samples/c.yaml"]);
    assert_eq!(found.counts.tests, 1);
    assert_eq!(found.facts.files.iter().map(|file| file.role).collect::<Vec<_>>(), [Role::Production, Role::Example]);
    let found = scan(&ScanSettings { include_tests: true, ..folder.settings() }).unwrap();
    assert_eq!(folder.paths(&found), ["a.yaml", "samples/c.yaml", "testdata/b.yaml"]);
    let found = scan(&ScanSettings { paths: vec![folder.0.join("testdata")], ..folder.settings() }).unwrap();
    assert_eq!(folder.paths(&found), ["testdata/b.yaml"]);
}

#[test]
fn environments_come_from_settings_first_and_from_paths_else() {
    let folder = Folder::new(&[("eu/a.yaml", TALKS), ("overlays/prod/a.yaml", TALKS), ("z.yaml", TALKS)]);
    let environments = vec![("europe".to_string(), vec!["eu/**".to_string()])];
    let found = scan(&ScanSettings { environments, ..folder.settings() }).unwrap();
    let said: Vec<_> = found.facts.files.iter().map(|file| file.environment.as_deref()).collect();
    assert_eq!(said, [Some("europe"), Some("prod"), None]);
}

#[test]
fn what_cannot_be_read_is_a_problem_and_the_run_goes_on() {
    let folder = Folder::new(&[("a.yaml", TALKS)]);
    folder.write("big.yaml", &[b'#'; 1025]);
    folder.write("utf16.yaml", b"\xff\xfer\0e\0t\0r\0y\0l\0i\0n\0t\0:\0");
    folder.write("mute16.yaml", b"\xff\xfea\0");
    folder.write("latin.yaml", b"# retrylint: allow-file(no-backoff) caf\xe9\na: 1\n");
    let found = scan(&ScanSettings { max_file_size: 1024, ..folder.settings() }).unwrap();
    assert_eq!(folder.paths(&found), ["a.yaml", "big.yaml", "latin.yaml", "utf16.yaml"]);
    let told: Vec<_> = found.facts.problems.iter().map(|problem| (problem.span.file.0, &*problem.message)).collect();
    assert_eq!(
        told,
        [
            (
                1,
                "it has 1,025 bytes, and more than 1,024 bytes is not read; `max-file-size` under [scan] in retrylint.toml raises the limit"
            ),
            (3, "it is UTF-16; save it as UTF-8"),
        ]
    );
    assert_eq!(found.facts.suppressions.len(), 2);
}

#[test]
fn links_are_not_followed() {
    let folder = Folder::new(&[("a/x.yaml", TALKS)]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&folder.0, folder.0.join("a/loop")).unwrap();
        std::os::unix::fs::symlink(folder.0.join("a/x.yaml"), folder.0.join("a/y.yaml")).unwrap();
    }
    assert_eq!(folder.paths(&scan(&folder.settings()).unwrap()), ["a/x.yaml"]);
}

#[test]
fn the_result_is_the_same_for_any_number_of_threads_and_without_the_prefilter() {
    let files: Vec<(String, String)> = (0..60)
        .map(|n| {
            let text = match n % 3 {
                0 => format!("# retrylint: allow-file(no-backoff) {n}\na: {n}\n"),
                1 => "a: [1\n# retrylint: allow(\n".to_string(),
                _ => "nothing: here\nb: [\n".to_string(),
            };
            (format!("d{}/f{n}.yaml", n % 7), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let folder = Folder::new(&files);
    let one = scan(&ScanSettings { threads: 1, ..folder.settings() }).unwrap();
    assert_eq!(one.facts.files.len(), 40);
    for settings in
        [ScanSettings { threads: 8, ..folder.settings() }, ScanSettings { prefilter: false, ..folder.settings() }]
    {
        let other = scan(&settings).unwrap();
        assert_eq!(one.facts, other.facts);
        assert_eq!(one.counts, other.counts);
    }
}

#[test]
fn standard_input_is_one_named_file() {
    let settings = ScanSettings {
        paths: Vec::new(),
        stdin: Some(("mesh/x".into(), b"{\"a\": [}".to_vec())),
        ..ScanSettings::default()
    };
    let found = scan(&settings).unwrap();
    let file = &found.facts.files[0];
    assert_eq!((&*file.path, file.kind, file.named), ("mesh/x", FileKind::Json, true));
    assert_eq!(found.facts.problems.len(), 1);
    let settings = ScanSettings { exclude: vec!["mesh/**".into()], ..settings };
    assert!(scan(&settings).unwrap().facts.files.is_empty());
}

#[test]
fn a_named_file_twice_is_one_file() {
    let folder = Folder::new(&[("a.yaml", TALKS)]);
    let settings = ScanSettings { paths: vec![folder.0.clone(), folder.0.join("a.yaml")], ..folder.settings() };
    let found = scan(&settings).unwrap();
    assert_eq!(folder.paths(&found), ["a.yaml"]);
    assert!(found.facts.files[0].named);
}

#[test]
fn each_file_is_read_once_whatever_ways_lead_to_it() {
    let folder = Folder::new(&[("a/x.yaml", TALKS), ("b.yaml", TALKS)]);
    let with = |paths: &[&str]| {
        let paths = paths.iter().map(|path| folder.0.join(path)).collect();
        let scan = scan(&ScanSettings { paths, ..folder.settings() }).unwrap();
        (scan.counts.total(), folder.paths(&scan))
    };
    assert_eq!(with(&["a/../b.yaml", "b.yaml"]).0, 1);
    assert_eq!(with(&["a", "a/x.yaml", "a/x.yaml", "./a"]), (1, vec!["a/x.yaml".to_string()]));
    assert_eq!(with(&["", "a"]), (2, vec!["a/x.yaml".to_string(), "b.yaml".to_string()]));
    // Two files with the same contents are two.
    assert_eq!(with(&["a/x.yaml", "b.yaml"]).0, 2);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.0.join("b.yaml"), folder.0.join("link.yaml")).unwrap();
        std::os::unix::fs::symlink(folder.0.join("a"), folder.0.join("same")).unwrap();
        assert_eq!(with(&["b.yaml", "link.yaml"]), (1, vec!["b.yaml".to_string()]));
        assert_eq!(with(&["a", "same/"]).0, 1);
    }
}

#[test]
fn a_named_path_that_is_left_out_is_told_with_what_leaves_it_out() {
    let folder = Folder::new(&[
        ("legacy/a.yaml", TALKS),
        ("b.yaml", TALKS),
        ("c.json", "{}"),
        (".retrylintignore", "# ours\nb.*\n"),
    ]);
    let with = |path: &str, include: &[&str]| {
        let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        let paths = vec![folder.0.join(path)];
        let settings =
            ScanSettings { paths, exclude: texts(&["*.md", "legacy/"]), include: texts(include), ..folder.settings() };
        let scan = scan(&settings).unwrap();
        let told: Vec<String> = scan.counts.left_out.iter().map(ToString::to_string).collect();
        (scan.counts.total(), told.join("\n").replace(&format!("{}/", folder.0.display()), ""))
    };
    let excluded = |path: &str| (0, format!("{path} is not read: `exclude` in retrylint.toml has `legacy/`"));
    assert_eq!(with("legacy/a.yaml", &[]), excluded("legacy/a.yaml"));
    assert_eq!(with("legacy", &[]), excluded("legacy"));
    assert_eq!(with("b.yaml", &[]), (0, "b.yaml is not read: .retrylintignore has `b.*`".to_string()));
    assert_eq!(
        with("c.json", &["*.yaml"]),
        (0, "c.json is not read: no pattern of `include` in retrylint.toml takes it".to_string())
    );
    // What is read is not told, nor what a folder leaves out by itself.
    assert_eq!(with("c.json", &["c.*"]), (1, String::new()));
    assert_eq!(with("", &[]), (1, String::new()));
}

#[test]
fn files_of_kinds_that_are_not_read_are_told_and_not_counted() {
    let files = [
        ("a.py", TALKS),
        ("b.py", "x = 1\n"),
        ("c.go", ""),
        ("notes.txt", "todo: nothing\n\tat all\n"),
        ("known.conf", TALKS),
        ("bare", "a: 1\n"),
        ("tests/d.py", ""),
        ("out/e.py", ""),
    ];
    let folder = Folder::new(&files);
    let scan = |paths: &[&str]| {
        let paths = paths.iter().map(|path| folder.0.join(path)).collect();
        let exclude = vec!["out".to_string()];
        scan(&ScanSettings { paths, exclude, ..folder.settings() }).unwrap().counts
    };
    let below = format!("{}/", slashes(&folder.0));
    let told = |counts: &Counts| -> Vec<String> {
        counts.left_out.iter().map(|left_out| left_out.to_string().replace(&below, "")).collect()
    };
    let counts = scan(&["a.py", "c.go", "b.py", "notes.txt", "known.conf", "bare"]);
    assert_eq!(
        told(&counts),
        [
            "a.py and 1 more are not read: Python is not read yet; Rust, YAML, JSON and TOML are",
            "c.go is not read: Go is not read yet; Rust, YAML, JSON and TOML are",
            "notes.txt is not read: neither its name nor what it holds is YAML, JSON, TOML or Rust that is known here",
        ]
    );
    assert_eq!(counts.files, BTreeMap::from([(FileKind::Yaml, 2)]));
    // In a folder nobody named them: they are counted, but for test code and what is left out.
    let counts = scan(&[""]);
    assert_eq!((told(&counts), counts.files.len()), (Vec::new(), 0));
    assert_eq!(counts.unread, BTreeMap::from([("Go".into(), 1), ("Python".into(), 2)]));
}

#[test]
fn standard_input_of_a_kind_that_is_not_read_says_so() {
    let folder = Folder::new(&[]);
    let with = |name: &str, text: &str| {
        let stdin = Some((name.to_string(), text.as_bytes().to_vec()));
        let counts = scan(&ScanSettings { paths: Vec::new(), stdin, ..folder.settings() }).unwrap().counts;
        (counts.total(), counts.left_out.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    let rust = "pub fn get() {\n}\n";
    assert_eq!(with("x.py", "").1, "x.py is not read: Python is not read yet; Rust, YAML, JSON and TOML are");
    assert_eq!(
        with("<stdin>", rust),
        (
            0,
            "<stdin> is not read: it looks like Rust; `--stdin-filename src/lib.rs` says which file it stands for"
                .into()
        )
    );
    assert_eq!(with("src/lib.rs", rust), (1, String::new()));
    assert_eq!(with("<stdin>", "a: 1\n"), (1, String::new()));
}

mod code;
