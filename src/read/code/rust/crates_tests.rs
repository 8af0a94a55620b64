//! Real sources: those of the crates that this one depends on, as far as the local registry has them; with `RETRYLINT_CRATES`
//! set, everything below that folder.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::items::{Item, ItemKind, Outline, at, name_of};
use super::{How, Input, STACK, guard, read, scan};
use crate::read::code::fixture::shape;
use crate::read::code::search::Search;
use crate::read::code::tree::{At, Id, Kind, Unit};
use crate::source::FileId;

/// In a debug build larger files take too long to be read several times.
const LARGEST: u64 = 20_000;

/// The folders in which sources are looked for, how large a file may be, and of how many one is taken.
fn folders() -> (Vec<PathBuf>, u64, usize) {
    if let Some(all) = std::env::var_os("RETRYLINT_CRATES") {
        return (vec![all.into()], 4 << 20, 1);
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let registries = home.and_then(|home| std::fs::read_dir(home.join("registry/src")).ok());
    let registries: Vec<PathBuf> = registries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let locked = include_str!("../../../../Cargo.lock").split("[[package]]");
    let folder = |package: &str| {
        let field = |name: &str| Some(package.split_once(name)?.1.split('"').next()?.to_owned());
        let folder = format!("{}-{}", field("name = \"")?, field("version = \"")?);
        registries.iter().map(|registry| registry.join(&folder)).find(|path| path.is_dir())
    };
    (locked.filter_map(folder).collect(), LARGEST, 5)
}

fn sources(is_wanted: impl Fn(&str) -> bool) -> Vec<(PathBuf, String)> {
    let (folders, largest, step) = folders();
    let files = folders.iter().flat_map(walkdir::WalkDir::new).flatten().filter(|entry| {
        let is_source = entry.path().extension().is_some_and(|extension| extension == "rs");
        is_source && entry.metadata().is_ok_and(|file| file.is_file() && file.len() <= largest)
    });
    let read = |path: PathBuf| Some((path.clone(), std::fs::read_to_string(path).ok()?));
    files.filter_map(|entry| read(entry.into_path())).filter(|(_, text)| is_wanted(text)).step_by(step).collect()
}

/// Runs `check` on each text, on threads like those that read files; what it says is told with the path of the file.
fn each(texts: &[(PathBuf, String)], check: impl Fn(&str) -> Result<(), String> + Sync) {
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).build().unwrap();
    let check = |path: &Path, text: &str| {
        let said = catch_unwind(AssertUnwindSafe(|| check(text)));
        said.unwrap_or(Err("a panic".to_owned())).err().map(|error| format!("{}: {error}", path.display()))
    };
    let wrong: Vec<String> = pool.install(|| texts.par_iter().filter_map(|(path, text)| check(path, text)).collect());
    assert!(wrong.is_empty(), "{} of {} files: {:#?}", wrong.len(), texts.len(), &wrong[..wrong.len().min(20)]);
}

fn words() -> Search {
    Search::all_with(["retry", "tries", "backoff", "attempt", "sleep", "timeout"])
}

/// Everything that is known of a function, place by place.
fn dump(unit: &Unit, function: Id) -> String {
    let first = unit.node(function).first;
    let mut out = shape(unit, function);
    for id in unit.below(function) {
        let node = unit.node(id);
        // Numbers of nodes are not the same in two units: literals are told by the shape.
        let kind: String = format!("{:?}", node.kind).chars().filter(|char| !char.is_ascii_digit()).collect();
        let _ = write!(out, "\n{} {:?} {} {kind}", node.first - first, node.at, unit.is_from_macro(id));
    }
    out
}

fn functions(unit: &Unit) -> impl Iterator<Item = (At, Id)> {
    let is_top = |id: Id| unit.function_of(id).is_none();
    let function = move |(id, node): (Id, &super::super::tree::Node)| {
        (matches!(node.kind, Kind::Function { .. }) && is_top(id)).then_some((node.at, id))
    };
    unit.ids().filter_map(function)
}

fn both_ways_agree(text: &str, compared: &AtomicUsize) -> Result<(), String> {
    let input = Input { file: FileId(0), text, module: "crate::m", package: None };
    let parts = read(input, &words(), How::Ranges);
    let whole = read(input, &words(), How::Whole);
    if !whole.problems.is_empty() {
        // What no compiler takes is in some crates too, for tests of what they do about it.
        return Ok(());
    }
    if !parts.problems.is_empty() {
        return Err(format!("{:?}", parts.problems));
    }
    let all: std::collections::HashMap<At, Id> = functions(&whole.unit).collect();
    for (at, id) in functions(&parts.unit) {
        let Some(same) = all.get(&at) else { return Err(format!("a function at {at:?} in a part only")) };
        let (part, whole) = (dump(&parts.unit, id), dump(&whole.unit, *same));
        if part != whole {
            let line = part.lines().zip(whole.lines()).find(|(part, whole)| part != whole);
            return Err(format!("the function at {at:?} differs: {line:?}"));
        }
        compared.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// The outline says of each item what the parser says.
fn outline_is_right(text: &str) -> Result<(), String> {
    let start = scan::preamble(text);
    let Ok(file) = syn::parse_file(&text[start..]) else { return Ok(()) };
    let outline = Outline::of(text);
    if outline.broken.is_some() {
        return Err(format!("{:?}", outline.broken));
    }
    let mut expected = Vec::new();
    expect(&file.items, start, &mut expected);
    proc_macro2::extra::invalidate_current_thread_spans();
    let found: Vec<Known> = outline.items.iter().map(|item| known(item, text)).collect();
    // The parser leaves some forms of functions and imports as they are.
    let is_same = |(expected, found): &(&Known, &Known)| match expected.0 {
        ItemKind::Other => expected.2 == found.2,
        _ => expected == found,
    };
    match expected.iter().zip(&found).find(|both| !is_same(both)) {
        Some((expected, found)) => Err(format!("{found:?} is {expected:?}")),
        None if expected.len() != found.len() => Err(format!("{} items are {}", found.len(), expected.len())),
        None => Ok(()),
    }
}

/// An item as both know it: kind, name, range.
type Known = (ItemKind, String, At);

fn known(item: &Item, text: &str) -> Known {
    let name = if item.kind == ItemKind::Impl { "" } else { name_of(item, text) };
    (item.kind, name.to_owned(), item.range)
}

fn expect(items: &[syn::Item], start: usize, out: &mut Vec<Known>) {
    use syn::Item;
    use syn::spanned::Spanned;
    for item in items {
        let path = |mac: &syn::Macro| mac.path.segments.last().map(|last| last.ident.clone());
        let (kind, name) = match item {
            Item::Const(one) => (ItemKind::Const, Some(one.ident.clone())),
            Item::Enum(one) => (ItemKind::Enum, Some(one.ident.clone())),
            Item::ExternCrate(one) => (ItemKind::ExternCrate, Some(one.ident.clone())),
            Item::Fn(one) => (ItemKind::Fn, Some(one.sig.ident.clone())),
            Item::ForeignMod(_) => (ItemKind::Foreign, None),
            Item::Impl(_) => (ItemKind::Impl, None),
            Item::Macro(one) if one.mac.path.is_ident("macro_rules") => (ItemKind::MacroRules, one.ident.clone()),
            Item::Macro(one) => (ItemKind::Macro, path(&one.mac)),
            Item::Mod(one) => (ItemKind::Mod, Some(one.ident.clone())),
            Item::Static(one) => (ItemKind::Static, Some(one.ident.clone())),
            Item::Struct(one) => (ItemKind::Struct, Some(one.ident.clone())),
            Item::Trait(one) => (ItemKind::Trait, Some(one.ident.clone())),
            Item::TraitAlias(one) => (ItemKind::Trait, Some(one.ident.clone())),
            Item::Type(one) => (ItemKind::Type, Some(one.ident.clone())),
            Item::Union(one) => (ItemKind::Struct, Some(one.ident.clone())),
            Item::Use(_) => (ItemKind::Use, None),
            _ => (ItemKind::Other, None),
        };
        let mut add = |kind: ItemKind, name: Option<syn::Ident>, span: proc_macro2::Span| {
            let name = name.map_or(String::new(), |name| name.to_string().trim_start_matches("r#").to_owned());
            let range = span.byte_range();
            out.push((kind, name, at(start + range.start, start + range.end)));
        };
        add(kind, name, item.span());
        match item {
            Item::Impl(one) => one.items.iter().for_each(|inner| match inner {
                syn::ImplItem::Const(one) => add(ItemKind::Const, Some(one.ident.clone()), inner.span()),
                syn::ImplItem::Fn(one) => add(ItemKind::Fn, Some(one.sig.ident.clone()), inner.span()),
                syn::ImplItem::Type(one) => add(ItemKind::Type, Some(one.ident.clone()), inner.span()),
                syn::ImplItem::Macro(one) => add(ItemKind::Macro, path(&one.mac), inner.span()),
                _ => add(ItemKind::Other, None, inner.span()),
            }),
            Item::Trait(one) => one.items.iter().for_each(|inner| match inner {
                syn::TraitItem::Const(one) => add(ItemKind::Const, Some(one.ident.clone()), inner.span()),
                syn::TraitItem::Fn(one) => add(ItemKind::Fn, Some(one.sig.ident.clone()), inner.span()),
                syn::TraitItem::Type(one) => add(ItemKind::Type, Some(one.ident.clone()), inner.span()),
                syn::TraitItem::Macro(one) => add(ItemKind::Macro, path(&one.mac), inner.span()),
                _ => add(ItemKind::Other, None, inner.span()),
            }),
            Item::Mod(one) => {
                if let Some((_, items)) = &one.content {
                    expect(items, start, out);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn real_sources_come_out_the_same_by_ranges_and_as_a_whole() {
    let words = words();
    let sources = sources(|text| words.words.is_match(text));
    let compared = AtomicUsize::new(0);
    each(&sources, |text| both_ways_agree(text, &compared));
    match compared.into_inner() {
        0 => eprintln!("no sources of crates here: nothing was compared"),
        compared => eprintln!("{compared} functions of {} files are the same", sources.len()),
    }
}

#[test]
fn real_sources_pass_the_guard_and_are_outlined_as_the_parser_sees_them() {
    let sources = sources(|_| true);
    each(&sources, |text| {
        let start = scan::preamble(text);
        guard::check(text, at(start, text.len())).map_err(|too_deep| format!("{too_deep:?}"))?;
        if !scan::tests::agrees(&text[start..]) {
            return Err("other tokens than the lexer's".to_owned());
        }
        outline_is_right(text)
    });
}
