use std::sync::Arc;

use super::finder::Modules;
use super::layout;
use crate::read::code::build::Builder;
use crate::read::code::files::Files;
use crate::read::code::files::memory::Memory;
use crate::read::code::packages::Packages;
use crate::read::code::project::Project;
use crate::read::code::tree::{Place, Unit};

/// A project in memory.
struct Tree {
    files: Arc<Memory>,
    project: Project,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Tree {
        let files = Arc::new(Memory::new(files));
        let sources: Vec<String> = files.0.keys().filter(|path| path.ends_with(".rs")).cloned().collect();
        let packages = Packages::gather(&*files, sources.iter().map(String::as_str));
        let finder = Modules::new(Arc::clone(&files) as Arc<dyn Files>);
        Tree { project: Project::new(packages).with("rust", Box::new(finder)), files }
    }

    /// A unit of a file that defines nothing: whatever it asks for stands elsewhere.
    fn unit(&self, path: &str) -> Arc<Unit> {
        let file = self.files.number(path).unwrap();
        let id = self.project.packages.of(path);
        let module = layout::module(id.and_then(|id| self.project.packages.get(id)), path);
        Arc::new(Builder::new(file, "rust", id, &module).finish())
    }

    /// Where a place is, as `path:line`.
    fn show(&self, place: &Place) -> String {
        let path = self.files.path(place.unit.file).unwrap();
        let text = self.files.text(&path).unwrap();
        format!("{path}:{}", text[..place.span().start as usize].matches('\n').count() + 1)
    }

    /// What a path names, seen from a file: `path:line`, or the path outside.
    fn names(&self, from: &str, full: &str) -> String {
        let unit = self.unit(from);
        match (self.project.item(&unit, full), self.project.outside(&unit, full)) {
            (Some(place), _) => self.show(&place),
            (None, Some(path)) => path.to_string(),
            (None, None) => "-".to_string(),
        }
    }

    /// Who calls a function, and a `?` if there may be others.
    fn callers(&self, of: &str, full: &str) -> String {
        let callers = self.project.callers(&self.unit(of), full);
        let mut shown: Vec<String> = callers.places.iter().map(|place| self.show(place)).collect();
        shown.extend((!callers.all).then(|| "?".to_string()));
        shown.join(" ")
    }
}

const WEB: (&str, &str) = ("Cargo.toml", "[package]\nname = \"web\"\n[dependencies]\ntokio-retry = \"0.3\"\n");

#[test]
fn modules_are_followed_to_the_file_that_defines_a_name() {
    let tree = Tree::new(&[
        WEB,
        (
            "src/main.rs",
            "mod a;\nmod b;\n#[path = \"os/unix.rs\"]\nmod os;\nmod inline {\n    pub const IN: u32 = 1;\n    pub mod deep;\n    pub mod own { pub static S: u8 = 2; }\n}\nconst TOP: u32 = 3;\n",
        ),
        ("src/a.rs", "pub const MAX: u32 = 3;\n\npub fn wait() {}\nmod c;\n"),
        ("src/a/c.rs", "\npub const C: u32 = 4;\n"),
        ("src/b/mod.rs", "pub mod d;\npub const B: u32 = 1;"),
        ("src/b/d.rs", "pub const D: u32 = 1;"),
        ("src/os/unix.rs", "pub const U: u32 = 1;\nmod inner;"),
        ("src/os/inner.rs", "pub const I: u32 = 1;"),
        ("src/inline/deep.rs", "pub const DEEP: u32 = 1;"),
        ("src/stray.rs", "pub const STRAY: u32 = 1;"),
    ]);
    for (full, names) in [
        ("crate::TOP", "src/main.rs:10"),
        ("crate::a::MAX", "src/a.rs:1"),
        ("crate::a::wait", "src/a.rs:3"),
        ("crate::a::c::C", "src/a/c.rs:2"),
        ("crate::b::B", "src/b/mod.rs:2"),
        ("crate::b::d::D", "src/b/d.rs:1"),
        ("crate::os::U", "src/os/unix.rs:1"),
        ("crate::os::inner::I", "src/os/inner.rs:1"),
        ("crate::inline::IN", "src/main.rs:6"),
        ("crate::inline::deep::DEEP", "src/inline/deep.rs:1"),
        ("crate::inline::own::S", "src/main.rs:8"),
        // A module is nothing that has a value, and what nobody names is not part of the program.
        ("crate::a", "-"),
        ("crate::stray::STRAY", "-"),
        ("crate::a::MIN", "-"),
        ("crate::a::MAX::x", "-"),
        ("web::TOP", "-"),
        ("tokio_retry::Retry", "tokio_retry::Retry"),
        ("crate", "-"),
        ("", "-"),
    ] {
        assert_eq!(tree.names("src/a/c.rs", full), names, "{full}");
    }
}

#[test]
fn types_have_constants_and_methods() {
    let tree = Tree::new(&[
        WEB,
        (
            "src/main.rs",
            "mod client;\npub struct Limits;\nimpl Limits {\n    pub const MAX: u32 = 3;\n    fn new() -> Self { Limits }\n}\nimpl Default for Limits {\n    fn default() -> Self { Limits }\n    fn new() -> u8 { 1 }\n}\ntrait Wait {\n    const LONG: u32 = 1;\n    fn wait(&self) {}\n}\nimpl A for Limits { fn both() {} }\nimpl B for Limits { fn both() {} }\n",
        ),
        ("src/client/mod.rs", "mod send;\npub struct Client;\npub enum Kind { A }\n"),
        ("src/client/send.rs", "use super::Client;\nimpl Client {\n    pub fn send(&self) {}\n}\n"),
    ]);
    for (full, names) in [
        ("crate::Limits", "src/main.rs:2"),
        ("crate::Limits::MAX", "src/main.rs:4"),
        // What a type has by itself comes before what a trait gives it.
        ("crate::Limits::new", "src/main.rs:5"),
        ("crate::Limits::default", "src/main.rs:8"),
        ("crate::Limits::both", "-"),
        ("crate::Wait::LONG", "src/main.rs:12"),
        ("crate::Wait::wait", "src/main.rs:13"),
        // The block of its methods may stand in another file.
        ("crate::client::Client::send", "src/client/send.rs:3"),
        ("crate::client::Kind", "src/client/mod.rs:3"),
        ("crate::client::Kind::A", "-"),
    ] {
        assert_eq!(tree.names("src/main.rs", full), names, "{full}");
    }
}

#[test]
fn what_is_handed_on_is_followed_to_where_it_stands() {
    let tree = Tree::new(&[
        WEB,
        (
            "src/lib.rs",
            "pub mod limits;\nmod inner;\npub mod prelude {\n    pub use super::limits::MAX as MOST;\n    pub use crate::inner::*;\n    pub use tokio_retry::{strategy::jitter, Retry};\n    pub use std::time::Duration;\n}\npub use prelude::MOST;\npub use self::limits as bounds;\ntype Policy = tokio_retry::RetryIf<u8>;\npub use round::X;\npub mod round { pub use crate::X; pub use super::round::*; }\npub use limits::own::limits;\n",
        ),
        ("src/limits.rs", "pub const MAX: u32 = 3;\npub mod own { pub mod limits { pub const O: u8 = 1; } }\n"),
        ("src/inner/mod.rs", "pub const IN: u32 = 1;\npub struct S;\nimpl S { pub fn new() {} }\n"),
    ]);
    for (full, names) in [
        ("crate::prelude::MOST", "src/limits.rs:1"),
        ("crate::MOST", "src/limits.rs:1"),
        ("crate::bounds::MAX", "src/limits.rs:1"),
        ("crate::prelude::IN", "src/inner/mod.rs:1"),
        ("crate::prelude::S::new", "src/inner/mod.rs:3"),
        ("crate::prelude::Retry::spawn", "tokio_retry::Retry::spawn"),
        ("crate::prelude::jitter", "tokio_retry::strategy::jitter"),
        ("crate::prelude::Duration", "std::time::Duration"),
        ("crate::Policy::new", "tokio_retry::RetryIf::new"),
        ("crate::X", "-"),
        ("crate::round::Y", "-"),
    ] {
        assert_eq!(tree.names("src/limits.rs", full), names, "{full}");
    }
}

#[test]
fn members_of_the_workspace_go_by_the_names_of_their_libraries() {
    let tree = Tree::new(&[
        ("Cargo.toml", "[workspace]\n"),
        (
            "app/Cargo.toml",
            "[package]\nname = \"app\"\n[dependencies]\nour-common = { path = \"../common\" }\nbackoff = { path = \"../backoff\" }\nnew = { package = \"tokio-retry\", version = \"0.3\" }\n",
        ),
        ("app/src/main.rs", "mod a;\nuse new::Retry;\n"),
        ("app/src/lib.rs", "pub mod a;\npub const LIB: u32 = 1;\n"),
        ("app/src/a.rs", "pub const A: u32 = 1;"),
        ("app/src/bin/job/main.rs", "mod part;\nconst J: u8 = 1;"),
        ("app/src/bin/job/part.rs", ""),
        ("common/Cargo.toml", "[package]\nname = \"our-common\"\n"),
        ("common/src/lib.rs", "pub mod limits;\npub use limits::MAX;\n"),
        ("common/src/limits.rs", "//! Nothing here.\npub const MAX: u32 = 5;\n"),
        ("backoff/Cargo.toml", "[package]\nname = \"backoff\"\n"),
        ("backoff/src/lib.rs", "pub fn retry() {}"),
    ]);
    for (from, full, names) in [
        ("app/src/a.rs", "our_common::MAX", "common/src/limits.rs:2"),
        ("app/src/a.rs", "our_common::limits::MAX", "common/src/limits.rs:2"),
        ("app/src/a.rs", "backoff::retry", "backoff/src/lib.rs:1"),
        ("app/src/main.rs", "app::LIB", "app/src/lib.rs:2"),
        ("app/src/main.rs", "crate::LIB", "-"),
        ("app/src/main.rs", "crate::Retry::spawn", "tokio_retry::Retry::spawn"),
        // A module of the library and of the program is looked for in both.
        ("app/src/a.rs", "crate::LIB", "app/src/lib.rs:2"),
        ("app/src/a.rs", "crate::a::A", "app/src/a.rs:1"),
        ("app/src/bin/job/part.rs", "crate::J", "app/src/bin/job/main.rs:2"),
        ("app/src/bin/job/main.rs", "crate::LIB", "-"),
        // Nobody depends on `app`.
        ("common/src/limits.rs", "app::LIB", "app::LIB"),
    ] {
        assert_eq!(tree.names(from, full), names, "{from} {full}");
    }
}

#[test]
fn what_cannot_be_told_is_not_told() {
    let circles: String = (0..40)
        .map(|n| {
            format!("pub mod m{n} {{ pub use super::m{}::*; pub use super::m{}::*; }}\n", (n + 1) % 40, (n + 7) % 40)
        })
        .collect();
    let tree = Tree::new(&[
        WEB,
        (
            "src/lib.rs",
            "#[cfg(unix)]\nconst OS: u32 = 1;\n#[cfg(windows)]\nconst OS: u32 = 2;\n#[cfg(test)]\nconst T: u32 = 1;\n#[cfg(not(test))]\nconst T: u32 = 2;\n#[cfg(unix)]\n#[path = \"unix.rs\"]\nmod imp;\n#[cfg(windows)]\n#[path = \"windows.rs\"]\nmod imp;\nmod circles;\nmod broken;\nuse a::*;\nuse b::*;\nmod a { pub const AB: u8 = 1; }\nmod b { pub const AB: u8 = 2; }\n",
        ),
        ("src/unix.rs", "pub const ONLY: u32 = 1;\npub const BOTH: u32 = 1;\n"),
        ("src/windows.rs", "pub const BOTH: u32 = 2;\n"),
        ("src/circles.rs", &circles),
        ("src/broken.rs", "pub const GOOD: u32 = 1;\npub fn bad( {\n"),
    ]);
    for (full, names) in [
        ("crate::OS", "-"),
        ("crate::T", "src/lib.rs:8"),
        ("crate::imp::ONLY", "src/unix.rs:1"),
        ("crate::imp::BOTH", "-"),
        ("crate::AB", "-"),
        ("crate::circles::m0::X", "-"),
        (&format!("crate{}", "::a".repeat(5000)), "-"),
    ] {
        assert_eq!(tree.names("src/unix.rs", full), names, "{full}");
    }
}

#[test]
fn callers_are_found_wherever_they_may_stand() {
    let tree = Tree::new(&[
        (
            "app/Cargo.toml",
            "[package]\nname = \"app\"\n[dependencies]\nlib = { path = \"../lib\" }\nother = { path = \"../other\" }\n",
        ),
        (
            "app/src/main.rs",
            "mod a;\nuse a::fetch;\nfn main() {\n    fetch(3);\n    a::fetch(4);\n    lib::charge(1);\n    handed_on(a::pass);\n}\nfn handed_on(f: fn()) {}\n#[cfg(test)]\nmod tests {\n    fn t() { super::fetch(9); }\n}\n",
        ),
        (
            "app/src/a.rs",
            "pub fn fetch(n: u32) { private() }\nfn private() {}\nfn alone() {}\npub fn pass() {}\nfn again() { private(); other::fetch(1); x.fetch(); }\n",
        ),
        ("lib/Cargo.toml", "[package]\nname = \"lib\"\n"),
        (
            "lib/src/lib.rs",
            "pub fn charge(n: u32) { inside() }\npub(crate) fn inside() {}\npub struct Client { http: Http }\nimpl Client {\n    pub fn send(&self) { self.http.send(); self.once() }\n    fn once(&self) {}\n}\n",
        ),
        ("other/Cargo.toml", "[package]\nname = \"other\"\n[dependencies]\nlib = { path = \"../lib\" }\n"),
        (
            "other/src/lib.rs",
            "use lib::Client;\npub fn fetch(n: u32) {}\nstruct App { client: Client, http: Http }\nimpl App {\n    fn run(&self) {\n        self.client.send();\n        self.http.send();\n        http.post().send();\n    }\n}\n",
        ),
    ]);
    for (of, full, callers) in [
        // Calls in tests are none, and a function of the same name elsewhere is another one.
        ("app/src/a.rs", "crate::a::fetch", "app/src/main.rs:4 app/src/main.rs:5"),
        ("app/src/a.rs", "crate::a::private", "app/src/a.rs:1 app/src/a.rs:5"),
        ("app/src/a.rs", "crate::a::alone", ""),
        // What is handed on as a value may be called from anywhere.
        ("app/src/a.rs", "crate::a::pass", "?"),
        // Anybody may call what a library offers.
        ("lib/src/lib.rs", "crate::charge", "app/src/main.rs:6 ?"),
        ("lib/src/lib.rs", "crate::inside", "lib/src/lib.rs:1"),
        // Fields say of which type a receiver is.
        ("lib/src/lib.rs", "crate::Client::send", "other/src/lib.rs:6 ?"),
        ("lib/src/lib.rs", "crate::Client::once", "lib/src/lib.rs:5"),
        ("lib/src/lib.rs", "crate::gone", "?"),
    ] {
        assert_eq!(tree.callers(of, full), callers, "{full}");
    }
}

#[test]
fn a_file_that_only_tests_have_is_test_code() {
    let tree = Tree::new(&[
        WEB,
        ("src/lib.rs", "mod a;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more { mod deep; }\n"),
        ("src/a.rs", "#[cfg(test)]\nmod tests;\nmod real;"),
        ("src/tests.rs", "mod inner;"),
        ("src/tests/inner.rs", ""),
        ("src/more/deep.rs", ""),
        ("src/a/tests.rs", ""),
        ("src/a/real.rs", ""),
        ("src/stray.rs", ""),
    ]);
    let is_test = |path: &str| tree.project.is_test("rust", tree.files.number(path).unwrap());
    for path in ["src/tests.rs", "src/tests/inner.rs", "src/more/deep.rs", "src/a/tests.rs"] {
        assert!(is_test(path), "{path}");
    }
    for path in ["src/lib.rs", "src/a.rs", "src/a/real.rs", "src/stray.rs"] {
        assert!(!is_test(path), "{path}");
    }
}
