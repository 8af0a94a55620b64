//! What `use` items and type aliases say, read from their tokens: the name that each gives, and the path behind it.

use super::items::{Item, ItemKind};
use super::scan::{Kind, Scanner, Token};

/// More imports than this in one item are no import.
const MOST: usize = 1_000;
/// Longer paths than this are no path.
const LONGEST: usize = 64;

/// One name that an item gives to something that stands elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The name; none of an import of everything.
    pub name: Option<String>,
    /// The path as written.
    pub path: Vec<String>,
    /// Whether the path begins with `::`, so that its first part is a crate.
    pub is_rooted: bool,
}

/// What an item says; nothing if it is neither an import nor an alias.
pub fn read(text: &str, item: &Item) -> Vec<Use> {
    match item.kind {
        ItemKind::Use => imports(text, item),
        ItemKind::Type => alias(text, item).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn tokens<'t>(text: &'t str, item: &Item) -> impl Iterator<Item = Token> + 't {
    let mut scanner = Scanner::new(text, item.header.start as usize);
    let end = item.header.end as usize;
    std::iter::from_fn(move || scanner.code().filter(|token| token.end <= end))
}

/// `use a::{self, b::*, c as d};`
fn imports(text: &str, item: &Item) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut path: Vec<String> = Vec::new();
    // How long the path was where each `{` opened.
    let mut open: Vec<usize> = Vec::new();
    let mut is_rooted = false;
    let mut is_empty = true;
    let mut alias: Option<Option<String>> = None;
    let is_use = |token: &Token| token.of(text) != "use";
    for token in tokens(text, item).skip_while(is_use).skip(1) {
        let mut ends = false;
        match token.kind {
            Kind::Word if token.of(text) == "as" => alias = Some(None),
            Kind::Word => {
                let word = plain(token.of(text)).to_owned();
                match &mut alias {
                    Some(name) => *name = Some(word),
                    None if path.len() < LONGEST => path.push(word),
                    None => {}
                }
                is_empty = false;
            }
            Kind::Sign(b':') => is_rooted |= path.is_empty() && open.is_empty(),
            Kind::Sign(b'*') => {
                uses.push(Use { name: None, path: path.clone(), is_rooted });
                is_empty = true;
            }
            Kind::Open(b'{') => {
                open.push(path.len());
                is_empty = true;
            }
            Kind::Sign(b',' | b';') | Kind::Close(b'}') => ends = true,
            _ => {}
        }
        if ends {
            if !is_empty {
                uses.push(one(&path, alias.take(), is_rooted));
            }
            if token.kind == Kind::Close(b'}') {
                open.pop();
            }
            alias = None;
            is_empty = true;
            path.truncate(open.last().copied().unwrap_or_default());
        }
        if uses.len() >= MOST {
            break;
        }
    }
    uses
}

/// A leaf: `{self}` and `{self as x}` mean the path before it.
fn one(path: &[String], alias: Option<Option<String>>, is_rooted: bool) -> Use {
    let mut path = path.to_vec();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = match alias {
        Some(name) => name.filter(|name| name != "_"),
        None => path.last().cloned(),
    };
    // What is imported without a name gives its methods only: nothing can be found by it.
    Use { name: Some(name.unwrap_or_default()), path, is_rooted }
}

/// `type A<T> = b::C<T>;`
fn alias(text: &str, item: &Item) -> Option<Use> {
    let name = Some(plain(text.get(item.name.start as usize..item.name.end as usize)?).to_owned());
    let mut path = Vec::new();
    let mut is_rooted = false;
    let mut angles = 0usize;
    let mut is_behind = false;
    for token in tokens(text, item) {
        match token.kind {
            Kind::Sign(b'=') if angles == 0 => is_behind = true,
            Kind::Sign(b'<') if is_behind => break,
            Kind::Sign(b'<') => angles += 1,
            Kind::Sign(b'>') => angles = angles.saturating_sub(1),
            Kind::Sign(b':') if is_behind => is_rooted |= path.is_empty(),
            Kind::Word if is_behind && path.len() < LONGEST => path.push(plain(token.of(text)).to_owned()),
            Kind::Sign(b';') => break,
            _ if is_behind => return None,
            _ => {}
        }
    }
    (!path.is_empty()).then_some(Use { name, path, is_rooted })
}

fn plain(word: &str) -> &str {
    word.strip_prefix("r#").unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::super::items::Outline;
    use super::*;

    /// Every name with the path behind it.
    fn said(text: &str) -> Vec<String> {
        let outline = Outline::of(text);
        let show = |one: Use| {
            let root = if one.is_rooted { "::" } else { "" };
            format!("{} = {root}{}", one.name.as_deref().unwrap_or("*"), one.path.join("::"))
        };
        outline.items.iter().flat_map(|item| read(text, item)).map(show).collect()
    }

    #[test]
    fn every_leaf_of_an_import_is_a_name_with_a_path() {
        for (text, uses) in [
            ("use a;", &["a = a"][..]),
            ("pub(crate) use a::b::C;", &["C = a::b::C"]),
            ("use ::a::b as c;", &["c = ::a::b"]),
            (
                "use a::{self, b, c::{D, e::*}, f as g};",
                &["a = a", "b = a::b", "D = a::c::D", "* = a::c::e", "g = a::f"],
            ),
            ("use {a::b, super::c,};", &["b = a::b", "c = super::c"]),
            ("use self::a::{self as x};", &["x = self::a"]),
            ("use a::*;", &["* = a"]),
            ("use a::b as _;", &[" = a::b"]),
            ("#[cfg(unix)]\nuse a::/* x */r#type;", &["type = a::type"]),
            ("use a::{};", &[]),
            ("use {};", &[]),
            ("use a::{b", &[]),
        ] {
            assert_eq!(said(text), uses, "{text}");
        }
    }

    #[test]
    fn an_alias_names_the_type_behind_it() {
        for (text, uses) in [
            ("pub type A = b::C;", &["A = b::C"][..]),
            ("type A<T: X = Y> = ::b::C<T, D>;", &["A = ::b::C"]),
            ("type A = (B, C);", &[]),
            ("type A = &'static str;", &[]),
            ("type A = Box<dyn B>;", &["A = Box"]),
            ("struct A; fn b() {}", &[]),
        ] {
            assert_eq!(said(text), uses, "{text}");
        }
    }
}
