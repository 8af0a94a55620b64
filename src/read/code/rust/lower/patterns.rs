//! Patterns: what they ask, and what they bind.

use syn::Pat;
use syn::spanned::Spanned;

use super::super::names::text;
use super::Lower;
use crate::read::code::tree::{At, Id, Kind, Name, Sym, Test};

/// What was taken off a scrutinee: of `r.ok()` and `r.err()` it is `r` that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    /// Nothing.
    Nothing,
    /// `.ok()`: `Some` is success.
    Ok,
    /// `.err()`: `Some` is failure.
    Err,
}

/// A pattern as a test.
#[derive(Debug)]
pub(super) struct Asked {
    /// The test.
    pub(super) test: Test,
    /// What the test cannot express: an Opaque over the names and literals of the pattern.
    pub(super) guard: Option<Id>,
    /// Whether it takes all successes, or all failures.
    pub(super) is_exact: bool,
    /// Other tests that lead the same way: `Ok(_) | Err(Error::Exists)`.
    pub(super) also: Vec<Test>,
}

impl Asked {
    /// The test of whatever this one leaves.
    pub(super) fn otherwise(&self) -> Test {
        match self.test {
            _ if !self.is_exact => Test::Otherwise { binds: Vec::new() },
            Test::Success { .. } => Test::Failure { binds: Vec::new(), kinds: Vec::new() },
            Test::Failure { .. } => Test::Success { binds: Vec::new() },
            _ => Test::Otherwise { binds: Vec::new() },
        }
    }
}

/// What a pattern asks, before anything is added to the tree.
struct Seen<'p> {
    shape: Shape<'p>,
    /// Parts that the shape does not express.
    rest: Vec<&'p Pat>,
    /// Other shapes that lead the same way.
    also: Vec<Shape<'p>>,
}

enum Shape<'p> {
    Any,
    Success { is_exact: bool },
    Failure { kinds: Vec<Name>, is_exact: bool },
    Is(Vec<Name>),
    Equals(Vec<&'p Pat>),
    Unclear,
}

impl<'p> Shape<'p> {
    fn seen(self) -> Seen<'p> {
        Seen { shape: self, rest: Vec::new(), also: Vec::new() }
    }

    fn is_outcome(&self) -> bool {
        matches!(self, Shape::Success { .. } | Shape::Failure { .. })
    }
}

impl<'p> Seen<'p> {
    fn is_any(&self) -> bool {
        matches!(self.shape, Shape::Any) && self.rest.is_empty()
    }

    fn not_exact(mut self) -> Self {
        if let Shape::Success { is_exact } | Shape::Failure { is_exact, .. } = &mut self.shape {
            *is_exact = false;
        }
        self
    }
}

/// Whether a name is written like a constant: `MAX`, `NOT_FOUND`; a single letter may as well be a variant.
fn is_constant_like(name: &str) -> bool {
    name.len() > 1 && name.starts_with(|c: char| c.is_uppercase()) && !name.contains(|c: char| c.is_lowercase())
}

/// Whether a plain name in a pattern binds, rather than naming a constant or a variant.
fn is_binding(pat: &syn::PatIdent) -> bool {
    pat.by_ref.is_some()
        || pat.mutability.is_some()
        || pat.subpat.is_some()
        || !text(&pat.ident).starts_with(|c: char| c.is_uppercase())
}

/// What stands in parentheses, behind `&` and before a type.
fn bare(mut pat: &Pat) -> &Pat {
    loop {
        pat = match pat {
            Pat::Paren(one) => &one.pat,
            Pat::Reference(one) => &one.pat,
            Pat::Type(one) => &one.pat,
            _ => return pat,
        };
    }
}

/// Whether a pattern asks an `Option`, or nothing.
pub(super) fn asks_option(pat: &Pat) -> bool {
    match bare(pat) {
        Pat::Wild(_) => true,
        Pat::Ident(one) => is_binding(one) && one.subpat.is_none() || one.ident == "None",
        Pat::TupleStruct(one) => is_of_option(&one.path, "Some"),
        Pat::Path(one) => is_of_option(&one.path, "None"),
        Pat::Or(one) => one.cases.iter().all(asks_option),
        Pat::Guard(one) => asks_option(&one.pat),
        _ => false,
    }
}

/// Whether a path is a variant of `Option` by its name: an enum of somebody's own may have a `None` too.
fn is_of_option(path: &syn::Path, variant: &str) -> bool {
    let mut from_the_end = path.segments.iter().rev();
    from_the_end.next().is_some_and(|last| last.ident == variant)
        && from_the_end.next().is_none_or(|of| of.ident == "Option")
}

/// What a variant is called where its enum says whether something worked or is there; nothing for a `None` or `Some` that
/// is not `Option`'s.
fn outcome(name: &Name) -> &str {
    let mut from_the_end = name.best().rsplit("::");
    let last = from_the_end.next().unwrap_or_default();
    let is_own = matches!(last, "None" | "Some") && from_the_end.next().is_some_and(|of| of != "Option");
    if is_own { "" } else { last }
}

impl Lower<'_> {
    /// Where a pattern stands.
    pub(super) fn pattern_at(&self, pat: &Pat) -> At {
        self.at(pat.span())
    }

    /// The names that a pattern binds, in the order in which they stand.
    pub(super) fn binds(&mut self, pat: &Pat) -> Vec<Sym> {
        let mut names = Vec::new();
        self.collect(pat, &mut names);
        names
    }

    fn collect(&mut self, pat: &Pat, names: &mut Vec<Sym>) {
        match bare(pat) {
            Pat::Ident(one) => {
                if is_binding(one) {
                    names.push(self.plain(&one.ident));
                }
                if let Some((_, inner)) = &one.subpat {
                    self.collect(inner, names);
                }
            }
            Pat::Guard(one) => self.collect(&one.pat, names),
            Pat::Or(one) => {
                if let Some(first) = one.cases.first() {
                    self.collect(first, names);
                }
            }
            Pat::Slice(one) => one.elems.iter().for_each(|pat| self.collect(pat, names)),
            Pat::Struct(one) => one.fields.iter().for_each(|field| self.collect(&field.pat, names)),
            Pat::Tuple(one) => one.elems.iter().for_each(|pat| self.collect(pat, names)),
            Pat::TupleStruct(one) => one.elems.iter().for_each(|pat| self.collect(pat, names)),
            _ => {}
        }
    }

    /// What a pattern asks, without the guard behind it. Does not bind its names.
    pub(super) fn asked(&mut self, pat: &Pat, through: Through) -> Asked {
        let (pat, is_guarded) = match pat {
            Pat::Guard(one) => (&*one.pat, true),
            pat => (pat, false),
        };
        let binds = self.binds(pat);
        let mut seen = self.see(pat, through);
        // A guard holds for all alternatives, and what they lead to may change what it asks: they stay together.
        if is_guarded && !seen.also.is_empty() {
            seen = Seen { rest: vec![pat], ..Shape::Unclear.seen() };
        }
        let is_exact = seen.rest.is_empty()
            && seen.also.is_empty()
            && matches!(seen.shape, Shape::Success { is_exact: true } | Shape::Failure { is_exact: true, .. });
        let test = self.test(seen.shape, binds);
        let also = seen.also.into_iter().map(|shape| self.test(shape, Vec::new())).collect();
        let guard = (!seen.rest.is_empty()).then(|| {
            let mark = self.b.mark();
            let mut leaves = Vec::new();
            seen.rest.iter().for_each(|pat| self.leaves(pat, &mut leaves));
            let at = seen.rest.iter().map(|pat| self.pattern_at(pat)).reduce(super::join);
            let at = at.unwrap_or_else(|| self.pattern_at(pat));
            self.b.add(mark, Kind::Opaque(leaves), at)
        });
        Asked { test, guard, is_exact, also }
    }

    fn test(&mut self, shape: Shape, binds: Vec<Sym>) -> Test {
        match shape {
            Shape::Any | Shape::Unclear => Test::Otherwise { binds },
            Shape::Success { .. } => Test::Success { binds },
            Shape::Failure { kinds, .. } => Test::Failure { binds, kinds: once(kinds) },
            Shape::Is(kinds) => Test::Is { binds, kinds: once(kinds) },
            Shape::Equals(pats) => {
                let mut values = Vec::new();
                pats.iter().for_each(|pat| self.leaves(pat, &mut values));
                Test::Equals(values)
            }
        }
    }

    /// The names and literals in a pattern, as nodes.
    fn leaves(&mut self, pat: &Pat, ids: &mut Vec<Id>) {
        match bare(pat) {
            Pat::Const(one) => ids.push(self.block(&one.block)),
            Pat::Guard(one) => {
                self.leaves(&one.pat, ids);
                ids.push(self.expr(&one.guard));
            }
            Pat::Ident(one) => {
                if !is_binding(one) {
                    let path = syn::Path::from(one.ident.clone());
                    ids.push(self.path(None, &path));
                }
                if let Some((_, inner)) = &one.subpat {
                    self.leaves(inner, ids);
                }
            }
            Pat::Lit(one) => ids.push(self.literal(&one.lit)),
            Pat::Or(one) => one.cases.iter().for_each(|pat| self.leaves(pat, ids)),
            Pat::Path(one) => ids.push(self.path(one.qself.as_ref(), &one.path)),
            Pat::Range(one) => {
                let (id, _) = self.range(one);
                ids.push(id);
            }
            Pat::Slice(one) => one.elems.iter().for_each(|pat| self.leaves(pat, ids)),
            Pat::Struct(one) => {
                ids.push(self.path(one.qself.as_ref(), &one.path));
                one.fields.iter().for_each(|field| self.leaves(&field.pat, ids));
            }
            Pat::Tuple(one) => one.elems.iter().for_each(|pat| self.leaves(pat, ids)),
            Pat::TupleStruct(one) => {
                ids.push(self.path(one.qself.as_ref(), &one.path));
                one.elems.iter().for_each(|pat| self.leaves(pat, ids));
            }
            _ => {}
        }
    }

    fn see<'p>(&mut self, pat: &'p Pat, through: Through) -> Seen<'p> {
        let pat = bare(pat);
        match pat {
            Pat::Wild(_) | Pat::Rest(_) => Shape::Any.seen(),
            Pat::Ident(one) => match &one.subpat {
                Some((_, inner)) => self.see(inner, through),
                None if is_binding(one) => Shape::Any.seen(),
                None => self.see_path(None, &syn::Path::from(one.ident.clone()), pat, through),
            },
            Pat::Lit(_) | Pat::Range(_) | Pat::Const(_) => Shape::Equals(vec![pat]).seen(),
            Pat::Path(one) => self.see_path(one.qself.as_ref(), &one.path, pat, through),
            Pat::Guard(one) => {
                let inner = self.see(&one.pat, through);
                Seen { rest: vec![pat], ..inner }
            }
            Pat::TupleStruct(one) => {
                let name = self.value_name(one.qself.as_ref(), &one.path);
                self.see_variant(name, one.elems.iter().collect(), through)
            }
            Pat::Struct(one) => {
                let name = self.value_name(one.qself.as_ref(), &one.path);
                let rest = one.fields.iter().map(|field| &*field.pat);
                self.see_other(name, rest.collect())
            }
            Pat::Tuple(one) => self.see_tuple(one),
            Pat::Slice(one) if one.elems.len() == 1 && one.elems.iter().all(is_rest) => Shape::Any.seen(),
            Pat::Or(one) => self.see_or(one.cases.iter(), through),
            _ => Seen { rest: vec![pat], ..Shape::Unclear.seen() },
        }
    }

    fn see_path<'p>(
        &mut self,
        qself: Option<&syn::QSelf>,
        path: &syn::Path,
        pat: &'p Pat,
        through: Through,
    ) -> Seen<'p> {
        let name = self.value_name(qself, path);
        match (outcome(&name), through) {
            ("None", Through::Ok) => Shape::Failure { kinds: Vec::new(), is_exact: true }.seen(),
            ("None", Through::Err) => Shape::Success { is_exact: true }.seen(),
            _ if is_constant_like(name.last()) => Shape::Equals(vec![pat]).seen(),
            _ => Shape::Is(vec![name]).seen(),
        }
    }

    fn see_variant<'p>(&mut self, name: Name, parts: Vec<&'p Pat>, through: Through) -> Seen<'p> {
        let only = match parts.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let role = match (outcome(&name), through) {
            ("Some", Through::Ok) => "Ok",
            ("Some", Through::Err) => "Err",
            (last @ ("Ok" | "Err" | "Some" | "Ready"), _) => match last {
                "Ok" => "Ok",
                "Err" => "Err",
                _ => "wrapper",
            },
            _ => "",
        };
        let (Some(only), false) = (only, role.is_empty()) else { return self.see_other(name, parts) };
        let inner = self.see(only, NOTHING);
        match role {
            "Err" if inner.is_any() => Shape::Failure { kinds: Vec::new(), is_exact: true }.seen(),
            "Err" => match self.kinds(&inner) {
                Some(kinds) => Seen { rest: inner.rest, ..Shape::Failure { kinds, is_exact: false }.seen() },
                None => Seen { rest: vec![only], ..Shape::Failure { kinds: Vec::new(), is_exact: false }.seen() },
            },
            "Ok" if inner.shape.is_outcome() && inner.also.iter().all(Shape::is_outcome) => inner,
            "Ok" if inner.is_any() => Shape::Success { is_exact: true }.seen(),
            "Ok" => Seen { rest: vec![only], ..Shape::Success { is_exact: false }.seen() },
            _ if inner.shape.is_outcome() => inner.not_exact(),
            _ if inner.is_any() => Shape::Is(vec![name]).seen(),
            _ => Seen { rest: vec![only], ..Shape::Is(vec![name]).seen() },
        }
    }

    /// A variant or struct that says nothing about success.
    fn see_other<'p>(&mut self, name: Name, parts: Vec<&'p Pat>) -> Seen<'p> {
        let rest = parts.into_iter().filter(|pat| !self.see(pat, NOTHING).is_any()).collect();
        Seen { rest, ..Shape::Is(vec![name]).seen() }
    }

    /// The variants and constants that a pattern asks for, if that is all it does.
    fn kinds(&mut self, seen: &Seen) -> Option<Vec<Name>> {
        let mut kinds = Vec::new();
        for shape in std::iter::once(&seen.shape).chain(&seen.also) {
            match shape {
                Shape::Is(names) => kinds.extend(names.iter().cloned()),
                Shape::Equals(pats) => {
                    for pat in pats {
                        kinds.push(self.constant_name(pat)?);
                    }
                }
                _ => return None,
            }
        }
        Some(kinds)
    }

    fn constant_name(&mut self, pat: &Pat) -> Option<Name> {
        match pat {
            Pat::Path(one) => Some(self.value_name(one.qself.as_ref(), &one.path)),
            Pat::Ident(one) => Some(self.value_name(None, &syn::Path::from(one.ident.clone()))),
            _ => None,
        }
    }

    /// A tuple failed if one of its values did, and succeeded if none failed and one succeeded.
    fn see_tuple<'p>(&mut self, tuple: &'p syn::PatTuple) -> Seen<'p> {
        let mut outcomes: Vec<Shape> = Vec::new();
        let mut rest = Vec::new();
        for pat in &tuple.elems {
            let seen = self.see(pat, NOTHING);
            if seen.shape.is_outcome() && seen.also.is_empty() {
                rest.extend(seen.rest);
                outcomes.push(seen.shape);
            } else if !seen.is_any() {
                rest.push(pat);
            }
        }
        let is_single = outcomes.len() == 1;
        let failure = outcomes.iter().position(|shape| matches!(shape, Shape::Failure { .. }));
        let shape = outcomes.into_iter().nth(failure.unwrap_or_default());
        match shape {
            Some(shape) => {
                let seen = Seen { rest, ..shape.seen() };
                if is_single { seen } else { seen.not_exact() }
            }
            None if rest.is_empty() => Shape::Any.seen(),
            None => Seen { rest, ..Shape::Unclear.seen() },
        }
    }

    fn see_or<'p>(&mut self, cases: impl Iterator<Item = &'p Pat>, through: Through) -> Seen<'p> {
        let mut merged: Vec<Seen> = Vec::new();
        for case in cases {
            let seen = self.see(case, through);
            if seen.is_any() {
                return seen;
            }
            let known = merged
                .iter_mut()
                .find(|known| std::mem::discriminant(&known.shape) == std::mem::discriminant(&seen.shape));
            match known {
                Some(known) => merge(known, seen),
                None => merged.push(seen),
            }
        }
        let is_all = |of: &dyn Fn(&Shape) -> bool| merged.iter().any(|seen| seen.rest.is_empty() && of(&seen.shape));
        if is_all(&|shape| matches!(shape, Shape::Success { is_exact: true }))
            && is_all(&|shape| matches!(shape, Shape::Failure { is_exact: true, .. }))
        {
            return Shape::Any.seen();
        }
        // What succeeds leads; the others lead the same way.
        let lead = merged.iter().position(|seen| matches!(seen.shape, Shape::Success { .. }));
        if merged.len() > 1 && merged.iter().any(|seen| matches!(seen.shape, Shape::Unclear)) {
            return Seen { rest: merged.into_iter().flat_map(|seen| seen.rest).collect(), ..Shape::Unclear.seen() };
        }
        if merged.is_empty() {
            return Shape::Unclear.seen();
        }
        let mut first = merged.remove(lead.unwrap_or_default());
        for other in merged {
            first.rest.extend(other.rest);
            first.also.push(other.shape);
            first.also.extend(other.also);
        }
        // A variant written like a constant, beside others: `Error::IO | Error::Timeout`.
        if !first.also.is_empty()
            && let Some(kinds) = self.kinds(&first)
        {
            return Seen { rest: first.rest, ..Shape::Is(kinds).seen() };
        }
        first
    }
}

/// Nothing was taken off.
pub(super) const NOTHING: Through = Through::Nothing;

/// Names without those that stood there before.
fn once(mut names: Vec<Name>) -> Vec<Name> {
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(Sym::clone(&name.text)));
    names
}

fn is_rest(pat: &Pat) -> bool {
    match pat {
        Pat::Rest(_) => true,
        Pat::Ident(one) => one.subpat.as_ref().is_some_and(|(_, inner)| matches!(**inner, Pat::Rest(_))),
        _ => false,
    }
}

/// Adds another case of the same kind.
fn merge<'p>(known: &mut Seen<'p>, other: Seen<'p>) {
    known.also.extend(other.also);
    match (&mut known.shape, other.shape) {
        (Shape::Success { is_exact: a }, Shape::Success { is_exact: b }) => *a |= b && other.rest.is_empty(),
        (Shape::Failure { kinds: a, is_exact: ea }, Shape::Failure { kinds: b, is_exact: eb }) => {
            // One case without kinds takes all of them.
            if a.is_empty() || b.is_empty() {
                a.clear();
            } else {
                a.extend(b);
            }
            *ea |= eb && other.rest.is_empty();
        }
        (Shape::Is(a), Shape::Is(b)) => a.extend(b),
        (Shape::Equals(a), Shape::Equals(b)) => a.extend(b),
        _ => {}
    }
    let is_exact = matches!(known.shape, Shape::Success { is_exact: true } | Shape::Failure { is_exact: true, .. });
    if is_exact {
        known.rest.clear();
    } else {
        known.rest.extend(other.rest);
    }
}
