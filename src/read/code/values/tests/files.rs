//! Values that stand in other files, which hold no word that is searched for (contracts.md D-21).

use std::sync::Arc;

use super::{delayed, shown};
use crate::read::code::files::Files;
use crate::read::code::files::memory::Memory;
use crate::read::code::packages::Packages;
use crate::read::code::project::Project;
use crate::read::code::rust::{self, Input};
use crate::read::code::search::Search;
use crate::read::code::tree::{Kind, Place};
use crate::read::code::values::{definition, delay, field, trace};

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[workspace]\nmembers = [\"web\", \"common\"]\n"),
    (
        "web/Cargo.toml",
        "[package]\nname = \"web\"\n[dependencies]\ncommon = { path = \"../common\" }\ntokio-retry = \"0.3\"\n",
    ),
    ("common/Cargo.toml", "[package]\nname = \"common\"\n"),
    (
        "common/src/lib.rs",
        "pub mod limits;\npub use limits::MOST;\npub fn chain() -> impl Iterator { tokio_retry::strategy::FixedInterval::from_millis(5).take(limits::MOST) }\n",
    ),
    ("common/src/limits.rs", "pub const MOST: usize = 2 + LEAST;\nconst LEAST: usize = 1;\n"),
    ("web/src/main.rs", "mod limits;\nmod shape;\nmod client;\nmod callers;\nfn main() {}\n"),
    (
        "web/src/limits.rs",
        "use std::time::Duration;\npub const PAUSE: Duration = Duration::from_millis(HALF * 2);\nconst HALF: u64 = 50;\npub static NAMES: [&str; 2] = [\"a\", \"b\"];\n",
    ),
    (
        "web/src/shape.rs",
        "use std::time::Duration;\n#[derive(Clone)]\npub struct Shape { pub first: Duration, pub times: usize }\nimpl Default for Shape { fn default() -> Self { Shape { first: crate::limits::PAUSE, times: common::MOST } } }\nimpl Shape { pub const FAST: Shape = Shape { first: Duration::ZERO, times: 1 };\n    pub fn wait(&self, n: u32) -> Duration { spread(self.first * 2u32.pow(n)) } }\nfn spread(d: Duration) -> Duration { d.mul_f64(fastrand::f64() + 0.5) }\n",
    ),
    (
        "web/src/callers.rs",
        "use crate::client::{agreed, disputed};\nfn one() { agreed(7, 1); disputed(7); }\nfn two() { agreed(7, 2); disputed(8); }\n",
    ),
];

/// What the argument of `ask` is in the file of a client, whose text is this.
fn asked(text: &str) -> (Project, Place, Arc<Memory>) {
    let path = "web/src/client.rs";
    let mut files = FILES.to_vec();
    files.push((path, text));
    let files = Arc::new(Memory::new(&files));
    let sources: Vec<String> = files.0.keys().filter(|path| path.ends_with(".rs")).cloned().collect();
    let packages = Packages::gather(&*files, sources.iter().map(String::as_str));
    let finder = (rust::LANGUAGE.finder)(Arc::clone(&files) as Arc<dyn Files>);
    let project = Project::new(packages).with(rust::LANGUAGE.name, finder);
    let id = project.packages.of(path);
    let package = id.and_then(|id| Some((id, project.packages.get(id)?)));
    let file = files.number(path).unwrap();
    let unit =
        rust::read(Input { file, text, module: "crate::client", package }, &Search::all_with([""]), rust::How::Whole)
            .unit;
    let found = unit.ids().filter_map(|(_, node)| match &node.kind {
        Kind::Call { of, args, .. } if unit.callee(*of).is_some_and(|callee| &*callee.text == "ask") => {
            Some(args[0].value)
        }
        _ => None,
    });
    let id = found.last().expect("something is asked");
    (project, Place { unit, id }, files)
}

#[test]
fn constants_functions_and_defaults_of_other_files() {
    for (argument, expected) in [
        ("limits::PAUSE", "100 ms"),
        ("crate::limits::PAUSE * 3", "300 ms"),
        ("common::MOST", "3"),
        ("common::limits::MOST + 1", "4"),
        ("common::limits::LOST + 1", "?`common::limits::LOST` is not seen"),
        ("limits::NAMES.len()", "2"),
        ("Shape::default().times", "3"),
        ("Shape { times: 9, ..Default::default() }.first", "100 ms"),
        ("Shape::FAST.times", "1"),
        ("Shape::default().wait(3)", "800 ms x [0.5, 1.5] + 0 s"),
    ] {
        let text = format!("use crate::limits;\nuse crate::shape::Shape;\npub fn retry() {{ ask({argument}) }}\n");
        let (project, place, _) = asked(&text);
        assert_eq!(delayed(&delay(&project, &place)), expected, "{argument}");
    }
    let (project, place, _) =
        asked("use crate::shape::Shape;\nfn retry() { let s = Shape::default(); ask(s.clone()) }\n");
    assert_eq!(shown(&field(&project, &place, "times")), "3");
}

#[test]
fn what_all_callers_pass_is_the_value() {
    let text = "pub fn agreed(n: u32, m: u32) { retry(n); ASK }\npub fn disputed(n: u32) { retry(n); ASK }\nfn retry(n: u32) {}\n";
    let with = |function: &str, ask: &str| {
        let (before, behind) = text.split_once(&format!("fn {function}")).unwrap();
        let behind = behind.replacen("ASK", ask, 1);
        format!("{before}fn {function}{behind}").replace("ASK", "")
    };
    for (function, ask, expected) in [
        ("agreed", "ask(n)", "7"),
        ("agreed", "ask(m)", "?argument `m` of `agreed`"),
        ("disputed", "ask(n)", "?argument `n` of `disputed`"),
    ] {
        let (project, place, _) = asked(&with(function, ask));
        assert_eq!(shown(&trace(&project, &place)), expected, "{function} {ask}");
    }
}

#[test]
fn places_are_those_of_the_file_that_says_it() {
    let (project, place, files) = asked("fn retry() { ask(crate::limits::PAUSE) }\n");
    let said = |span: crate::source::Span| {
        let path = files.path(span.file).unwrap();
        format!("{path}: {}", &files.text(&path).unwrap()[span.range()])
    };
    let spans: Vec<String> = trace(&project, &place).spans.into_iter().map(said).collect();
    assert_eq!(spans, ["web/src/limits.rs: 50", "web/src/limits.rs: 2"]);
    let (project, place, files) = asked("fn retry() { let c = common::chain(); ask(c) }\n");
    let found = definition(&project, &place);
    let path = files.path(found.unit.file).unwrap();
    let text = files.text(&path).unwrap();
    let text = &text[found.span().range()];
    assert_eq!(
        (&*path, text),
        ("common/src/lib.rs", "tokio_retry::strategy::FixedInterval::from_millis(5).take(limits::MOST)")
    );
    // And from there on.
    let Kind::Method { args, .. } = found.kind() else { panic!("a method") };
    assert_eq!(shown(&trace(&project, &found.at(args[0].value))), "3");
}
