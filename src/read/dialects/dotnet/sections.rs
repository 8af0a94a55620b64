//! A document as .NET's configuration sees it: sections within sections, keys without regard to case, and `A:B` as one
//! key meaning B in A.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::read::data::tree::Node;
use crate::source::Span;

/// Index of a section in its [`Sections`].
pub(super) type At = usize;

/// Of the sections around one, so many are looked at: a single key may hold a million colons.
const INNERMOST: usize = 32;

/// All sections of a document; parents stand before their children.
pub(super) struct Sections<'t> {
    all: Vec<Section<'t>>,
    by_key: HashMap<(At, String), At>,
}

struct Section<'t> {
    key: Cow<'t, str>,
    /// The mapping, or from the first to the last of its flattened entries.
    span: Span,
    /// The scalar, if it is a leaf.
    value: Option<Node<'t>>,
    parent: Option<At>,
}

impl<'t> Sections<'t> {
    /// The sections of a document.
    pub(super) fn of(document: Node<'t>) -> Self {
        let root = Section { key: "".into(), span: document.span(), value: None, parent: None };
        let mut sections = Sections { all: vec![root], by_key: HashMap::new() };
        let mut todo = vec![(document, 0)];
        // What several aliases share is read at the first: an alias bomb is small.
        let mut seen = HashSet::new();
        while let Some((node, at)) = todo.pop() {
            if !seen.insert(node.id()) {
                continue;
            }
            let children: Vec<(Cow<'t, str>, Span, Node<'t>)> = if node.is_map() {
                node.entries().into_iter().map(|entry| (entry.key.into(), entry.key_span, entry.value)).collect()
            } else {
                node.items().enumerate().map(|(i, item)| (i.to_string().into(), item.span(), item)).collect()
            };
            let above = todo.len();
            for (key, key_span, value) in children {
                let at = sections.descend(at, &key, key_span, value.span());
                if value.is_map() || value.is_seq() {
                    todo.push((value, at));
                } else if let Some(section) = sections.all.get_mut(at) {
                    section.value = Some(value);
                }
            }
            // The first one next, so that sections come in the order written.
            if let Some(added) = todo.get_mut(above..) {
                added.reverse();
            }
        }
        sections
    }

    /// The section that a key means, made if it is new.
    fn descend(&mut self, from: At, key: &str, key_span: Span, value_span: Span) -> At {
        let mut at = from;
        for part in key.split(':') {
            let known = (at, part.to_ascii_lowercase());
            at = match self.by_key.get(&known) {
                Some(child) => {
                    // A second place of the same section: flattened keys.
                    if let Some(section) = self.all.get_mut(*child) {
                        section.span = section.span.to(key_span).to(value_span);
                    }
                    *child
                }
                None => {
                    let child = self.all.len();
                    let span = if key.contains(':') { key_span.to(value_span) } else { value_span };
                    let key = part.to_string().into();
                    self.all.push(Section { key, span, value: None, parent: Some(at) });
                    self.by_key.insert(known, child);
                    child
                }
            };
        }
        at
    }

    /// All sections but the root.
    pub(super) fn iter(&self) -> impl Iterator<Item = At> {
        0..self.all.len()
    }

    /// The section of a key, which is given in lower case.
    pub(super) fn child(&self, at: At, key: &str) -> Option<At> {
        self.by_key.get(&(at, key.to_string())).copied()
    }

    /// The scalar of a key, which is given in lower case; null is as good as missing.
    pub(super) fn value(&self, at: At, key: &str) -> Option<Node<'t>> {
        self.all.get(self.child(at, key)?)?.value.filter(|value| !value.is_null())
    }

    /// Whether some of these keys, given in lower case, stand in a section.
    pub(super) fn has_any(&self, at: At, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.child(at, key).is_some())
    }

    /// The key of a section as written.
    pub(super) fn key(&self, at: At) -> &str {
        self.all.get(at).map_or("", |section| &section.key)
    }

    /// Where a section stands.
    pub(super) fn span(&self, at: At) -> Option<Span> {
        Some(self.all.get(at)?.span)
    }

    /// The section around this one.
    pub(super) fn parent(&self, at: At) -> Option<At> {
        self.all.get(at)?.parent
    }

    /// This section and the nearest of those around it, innermost first, the root left out.
    pub(super) fn enclosing(&self, at: At) -> impl Iterator<Item = At> + '_ {
        std::iter::successors(Some(at), |at| self.parent(*at)).filter(|at| *at != 0).take(INNERMOST)
    }

    /// `HttpClients:Payments:Resilience`.
    pub(super) fn path(&self, at: At) -> String {
        let mut keys: Vec<&str> = self.enclosing(at).map(|at| self.key(at)).collect();
        keys.reverse();
        keys.join(":")
    }
}
