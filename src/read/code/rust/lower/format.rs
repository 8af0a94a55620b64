//! Format strings into templates.

use syn::{Expr, Lit, LitStr};

use super::super::names::text;
use super::Lower;
use super::macros::{Piece, PieceValue, literal_text};
use crate::read::code::build::Mark;
use crate::read::code::tree::{At, Id, Kind, Name, Part};

/// A piece of a format string.
#[derive(Debug, PartialEq)]
enum Segment {
    Text(String),
    /// What stands in a hole before its `:`.
    Hole(String),
}

/// A format string in pieces; none if it is not one.
fn segments(format: &str) -> Option<Vec<Segment>> {
    let mut all = Vec::new();
    let mut known = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.peek() == Some(&c) => {
                chars.next();
                known.push(c);
            }
            '}' => return None,
            '{' => {
                let mut hole = String::new();
                loop {
                    match chars.next()? {
                        '}' => break,
                        '{' => return None,
                        c => hole.push(c),
                    }
                }
                if !known.is_empty() {
                    all.push(Segment::Text(std::mem::take(&mut known)));
                }
                let name = hole.split(':').next().unwrap_or_default().trim();
                if !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                    return None;
                }
                all.push(Segment::Hole(name.to_owned()));
            }
            c => known.push(c),
        }
    }
    if !known.is_empty() {
        all.push(Segment::Text(known));
    }
    Some(all)
}

/// Whether a text is a format string with holes.
pub(super) fn has_holes(format: &str) -> bool {
    segments(format).is_some_and(|all| all.iter().any(|one| matches!(one, Segment::Hole(_))))
}

/// The text that an argument is.
pub(super) fn text_of(piece: &Piece) -> Option<LitStr> {
    match &piece.value {
        PieceValue::Expr(expr) => match &**expr {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(literal), .. }) => Some(literal.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// What a literal looks like as text.
pub(super) fn plain(piece: &Piece) -> Option<String> {
    let PieceValue::Expr(expr) = &piece.value else { return None };
    let Expr::Lit(literal) = &**expr else { return None };
    Some(match &literal.lit {
        Lit::Str(one) => one.value(),
        Lit::Char(one) => one.value().to_string(),
        Lit::Int(one) => one.base10_digits().to_owned(),
        Lit::Float(one) => one.base10_digits().to_owned(),
        Lit::Bool(one) => one.value.to_string(),
        _ => return None,
    })
}

impl Lower<'_> {
    /// `format!("…", …)`; none if its first argument is no format string.
    pub(super) fn template(&mut self, pieces: Vec<Piece>, mark: Mark, at: At) -> Option<Id> {
        let mut pieces = pieces.into_iter();
        let literal = text_of(&pieces.next()?)?;
        segments(&literal.value())?;
        Some(self.filled(&literal, pieces.collect(), mark, at).0)
    }

    /// A format string with its arguments, and the arguments that it does not show.
    pub(super) fn filled(&mut self, literal: &LitStr, args: Vec<Piece>, mark: Mark, at: At) -> (Id, Vec<Piece>) {
        let literal_at = self.at(literal.span());
        let format = literal.value();
        let mut args: Vec<Option<Piece>> = args.into_iter().map(Some).collect();
        let mut parts = Vec::new();
        let mut next = 0;
        for segment in segments(&format).unwrap_or_default() {
            match segment {
                Segment::Text(known) => parts.push(Part::Text(self.sym(&known))),
                Segment::Hole(name) => {
                    let at = match name.parse::<usize>() {
                        Ok(index) => Some(index),
                        Err(_) if name.is_empty() => {
                            next += 1;
                            Some(next - 1)
                        }
                        Err(_) => args
                            .iter()
                            .position(|arg| arg.as_ref().is_some_and(|arg| arg.name.as_deref() == Some(&*name))),
                    };
                    let hole = match at.and_then(|at| args.get_mut(at)).and_then(Option::take) {
                        Some(piece) => self.piece_value(piece.value),
                        None if at.is_none() && !name.is_empty() => self.captured(&name, literal_at),
                        // Shown twice, or not there.
                        None => self.opaque(literal_at),
                    };
                    parts.push(Part::Hole(hole));
                }
            }
        }
        let id = self.parts(parts, mark, at);
        (id, args.into_iter().flatten().collect())
    }

    /// `{name}`: a local, else what the name means at this place.
    fn captured(&mut self, name: &str, at: At) -> Id {
        let Ok(ident) = syn::parse_str::<syn::Ident>(name) else { return self.opaque(at) };
        let path = syn::Path::from(ident.clone());
        let full = self.value_name(None, &path).full;
        let name = Name { text: self.sym(&text(&ident)), full };
        self.leaf(Kind::Name(name), at)
    }

    /// Parts as one text: a literal if all are known.
    pub(super) fn parts(&mut self, parts: Vec<Part>, mark: Mark, at: At) -> Id {
        let mut known = String::new();
        for part in &parts {
            match part {
                Part::Text(text) => known.push_str(text),
                Part::Hole(_) => return self.b.add(mark, Kind::Template(parts), at),
            }
        }
        let text = self.sym(&known);
        self.b.add(mark, literal_text(text), at)
    }
}
