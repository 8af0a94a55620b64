use super::*;
use crate::read::code::files::memory::Memory;

fn gather(files: &[(&str, &str)], sources: &[&str]) -> Packages {
    Packages::gather(&Memory::new(files), sources.iter().copied())
}

/// The packages by name, each with its folder, kind and dependencies in short.
fn outline(packages: &Packages) -> Vec<String> {
    let one = |package: &Package| {
        let dependency = |(name, dependency): (&Arc<str>, &Dependency)| {
            let from = match dependency.from {
                From::Outside => "out".to_string(),
                From::Inside(None) => "in".to_string(),
                From::Inside(Some(id)) => format!("in:{}", packages.get(id).unwrap().name),
            };
            let version = dependency
                .version
                .map_or(String::new(), |(a, b, c)| format!(" {a}.{b}.{c}{}", if dependency.locked { "!" } else { "" }));
            format!("{name}={} {from}{version}", dependency.package)
        };
        let dependencies: Vec<String> = package.dependencies.iter().map(dependency).collect();
        format!("{}@{} [{}]", package.name, package.dir, dependencies.join(", "))
    };
    packages.iter().map(|(_, package)| one(package)).collect()
}

/// A package with these dependencies, that one source file belongs to.
fn dependencies(manifest: &str) -> String {
    let manifest = format!("[package]\nname = \"web\"\n{manifest}");
    let packages = gather(&[("Cargo.toml", &manifest), ("src/main.rs", "")], &["src/main.rs"]);
    let all = outline(&packages).remove(0);
    all.split_once(" [").unwrap().1.trim_end_matches(']').to_string()
}

#[test]
fn dependencies_are_what_code_calls_them_and_the_packages_behind() {
    for (written, outline) in [
        ("[dependencies]\ntokio-retry = \"0.3\"", "tokio_retry=tokio-retry out 0.3.0"),
        ("[dependencies]\nretries = { package = \"backon\", version = \"1.2\" }", "retries=backon out 1.2.0"),
        ("[dependencies.backon]\nversion = \">=1.0, <2\"\nfeatures = [\"x\"]", "backon=backon out 1.0.0"),
        ("[target.'cfg(unix)'.dependencies]\nbackon = \"1\"", "backon=backon out 1.0.0"),
        ("[dependencies]\nbackoff = { git = \"https://example.org/x\", branch = \"main\" }", "backoff=backoff out"),
        // A folder of that name is the project's own, whatever it is called and whatever version stands beside it.
        ("[dependencies]\nbackoff = { path = \"../backoff\", version = \"0.4\" }", "backoff=backoff in"),
        ("[dependencies]\nb = { path = \"b\", package = \"backoff\" }", "b=backoff in"),
        // What runs wins over what builds and tests.
        (
            "[dev-dependencies]\nbackon = \"0.4\"\nrand = \"0.9\"\n[build-dependencies]\nbackon = \"0.5\"\n[dependencies]\nbackon = \"1\"",
            "backon=backon out 1.0.0, rand=rand out 0.9.0",
        ),
        // What replaces a package from outside must be like it.
        ("[dependencies]\nbackon = \"1\"\n[patch.crates-io]\nbackon = { path = \"fork\" }", "backon=backon out 1.0.0"),
        ("[dependencies]\nbackon = { workspace = true }", ""),
        ("[dependencies]\nbackon = 1\nrand = []", "backon=backon out 1.0.0, rand=rand out"),
    ] {
        assert_eq!(dependencies(written), outline, "{written}");
    }
}

#[test]
fn members_inherit_from_the_workspace_and_depend_on_each_other() {
    let files = [
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"services/*\", \"libs/*\"]\n[workspace.dependencies]\n\
             retry = { package = \"tokio-retry\", version = \"0.3\" }\nour-common = { path = \"libs/common\" }\nbackon = \"1\"\n",
        ),
        (
            "Cargo.lock",
            "[[package]]\nname = \"tokio-retry\"\nversion = \"0.3.2\"\nsource = \"registry\"\n\n\
             [[package]]\nname = \"backoff\"\nversion = \"0.0.1\"\n",
        ),
        (
            "services/web/Cargo.toml",
            "[package]\nname = \"web\"\n[dependencies]\nretry = { workspace = true, features = [\"a\"] }\n\
             our-common.workspace = true\nbackoff = { path = \"../../libs/backoff\" }\nabsent.workspace = true\n",
        ),
        ("services/web/src/main.rs", ""),
        (
            "libs/common/Cargo.toml",
            "[package]\nname = \"our-common\"\n[lib]\nname = \"shared\"\n[dependencies]\nbackon.workspace = true\n",
        ),
        ("libs/common/src/lib.rs", ""),
        ("libs/backoff/Cargo.toml", "[package]\nname = \"backoff\"\n"),
        ("libs/backoff/src/lib.rs", ""),
        ("libs/unused/Cargo.toml", "[package]\nname = \"unused\"\n"),
    ];
    // The path dependencies of a scanned package are known, whether they are scanned themselves or not.
    let packages = gather(&files, &["services/web/src/main.rs"]);
    assert_eq!(
        outline(&packages),
        [
            "backoff@libs/backoff []",
            "our-common@libs/common [backon=backon out 1.0.0]",
            "web@services/web [backoff=backoff in:backoff, retry=tokio-retry out 0.3.2!, shared=our-common in:our-common]",
        ]
    );
    let all = gather(&files, &["libs/backoff/src/lib.rs", "libs/common/src/lib.rs", "services/web/src/main.rs"]);
    assert_eq!(all, packages);
}

#[test]
fn programs_and_libraries_lie_where_cargo_looks_for_them() {
    for (manifest, sources, library, programs) in [
        ("", &["src/lib.rs"][..], Some("src/lib.rs"), &[][..]),
        ("", &["src/main.rs", "src/lib.rs"], Some("src/lib.rs"), &["src/main.rs"]),
        ("", &["src/bin/a.rs", "src/bin/b/main.rs", "src/bin/b/c.rs"], None, &["src/bin/a.rs", "src/bin/b/main.rs"]),
        ("autobins = false", &["src/main.rs", "src/bin/a.rs", "src/lib.rs"], Some("src/lib.rs"), &[]),
        ("[[bin]]\nname = \"web\"\n", &["src/main.rs"], None, &["src/main.rs"]),
        ("autobins = false\n[[bin]]\nname = \"a\"\n", &["src/main.rs", "src/bin/a.rs"], None, &["src/bin/a.rs"]),
        (
            "[lib]\npath = \"lib/x.rs\"\n[[bin]]\nname = \"run\"\npath = \"cli/run.rs\"",
            &["lib/x.rs", "cli/run.rs"],
            Some("lib/x.rs"),
            &["cli/run.rs"],
        ),
        ("[[bin]]\nname = \"gone\"\n", &["src/lib.rs"], Some("src/lib.rs"), &[]),
    ] {
        let text = format!("[package]\nname = \"web\"\n{manifest}");
        let mut files = vec![("Cargo.toml", text.as_str())];
        files.extend(sources.iter().map(|path| (*path, "")));
        let packages = gather(&files, sources);
        let package = packages.get(PackageId(0)).unwrap();
        assert_eq!(package.library.as_deref(), library, "{manifest}");
        assert_eq!(package.programs.iter().map(|path| &**path).collect::<Vec<_>>(), programs, "{manifest}");
        assert_eq!(package.has_binary, !programs.is_empty(), "{manifest}");
    }
}

#[test]
fn a_file_belongs_to_the_nearest_manifest_or_to_nothing() {
    let files = [
        ("r/.git/HEAD", ""),
        ("r/Cargo.toml", "[package]\nname = \"outer\"\n[workspace]\n"),
        ("r/src/lib.rs", ""),
        ("r/a/Cargo.toml", "[package]\nname = \"in-ner\"\n"),
        ("r/a/src/deep/x.rs", ""),
        ("r/group/Cargo.toml", "[workspace]\n"),
        ("r/group/x.rs", ""),
        ("r/bad/Cargo.toml", "[package\nname = 1\n"),
        ("r/bad/src/lib.rs", ""),
        ("Cargo.toml", "[package]\nname = \"beyond\"\n"),
        ("s/.git", ""),
        ("s/x.rs", ""),
    ];
    let sources = ["r/a/src/deep/x.rs", "r/bad/src/lib.rs", "r/group/x.rs", "r/src/lib.rs", "s/x.rs"];
    let packages = gather(&files, &sources);
    let named = |path: &str| {
        packages.of(path).map(|id| packages.get(id).unwrap()).map(|package| (&*package.name, &*package.library_name))
    };
    assert_eq!(sources.map(named), [Some(("in-ner", "in_ner")), None, None, Some(("outer", "outer")), None]);
    let declared = packages.declared(packages.of("r/a/src/deep/x.rs").unwrap()).unwrap();
    assert_eq!(*declared, Declared { manifest: "r/a/Cargo.toml".into(), name: 18..24 });
}

#[test]
fn a_broken_manifest_costs_what_it_breaks() {
    let broken = "[dependencies]\nbackon = \"1\"\nrand = = 2\ntokio-retry = \"0.3\"";
    assert!(dependencies(broken).contains("backon=backon out 1.0.0"));
    // Workspaces that are not there, and circles.
    assert_eq!(dependencies("workspace = \"../gone\"\n[dependencies]\nx.workspace = true\n"), "");
    // What a manifest names outside of its repository is not looked at.
    let outside = [
        ("r/.git", ""),
        (
            "r/a/Cargo.toml",
            "[package]\nname = \"a\"\n[dependencies]\nb = { path = \"../b\" }\nc = { path = \"../../c\" }\n",
        ),
        ("r/b/Cargo.toml", "[package]\nname = \"b\"\n"),
        ("c/Cargo.toml", "[package]\nname = \"c\"\n"),
        ("r/a/src/main.rs", ""),
    ];
    assert_eq!(outline(&gather(&outside, &["r/a/src/main.rs"])), ["a@r/a [b=b in:b, c=c in]", "b@r/b []"]);
    let circle = [
        ("a/Cargo.toml", "[package]\nname = \"a\"\n[dependencies]\nb = { path = \"../b\" }\n"),
        (
            "b/Cargo.toml",
            "[package]\nname = \"b\"\n[dependencies]\na = { path = \"../a\" }\nout = { path = \"../../..\" }\n",
        ),
        ("a/src/main.rs", ""),
    ];
    assert_eq!(outline(&gather(&circle, &["a/src/main.rs"])), ["a@a [b=b in:b]", "b@b [a=a in:a, out=out in]"]);
}
