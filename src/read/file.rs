//! One file: its text into trees, its documents to the dialects that recognise them, its errors and comments kept.
//!
//! Two steps, so that the scan can number only those files that have something to say: [`parse_file`] finds out whose a
//! file is, [`Parsed::read`] makes facts of it once its number is known.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::data::tree::{Id, Node, Tree};
use super::{Context, DIALECTS, Dialect, ReadSettings, data, embedded, suppress};
use crate::facts::{Facts, FileKind, Problem};
use crate::source::FileId;

/// The words of all dialects: a file that holds none of them has nothing to say.
pub struct Words(Option<AhoCorasick>);

impl Words {
    /// The words of all dialects and the mark of comments to retrylint.
    pub fn get() -> &'static Words {
        static WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(DIALECTS));
        &WORDS
    }

    pub(super) fn of(dialects: &[&Dialect]) -> Words {
        let words = dialects.iter().flat_map(|dialect| dialect.words).copied();
        let words = words.chain([suppress::MARK]).chain(SIGNS.iter().copied());
        // Only gigabytes of words could fail; then every file is read.
        Words(AhoCorasick::new(words).ok())
    }

    /// Whether a text holds one of them.
    pub fn hold(&self, text: &str) -> bool {
        self.0.as_ref().is_none_or(|words| words.is_match(text))
    }
}

/// Text that stands in no file but those of the dialects that are read here: then not being able to read it matters.
const SIGNS: &[&str] =
    &["networking.istio.io/", "type.googleapis.com/envoy", "static_resources", "staticResources", "virtual_hosts"];

/// A file whose trees are there, and of whose documents it is known which dialect they are.
pub struct Parsed {
    /// The file's own tree, then those of texts inside of it.
    trees: Vec<Tree>,
    /// Documents to read: index of the tree, root, reader.
    documents: Vec<(usize, Id, &'static Dialect)>,
    /// What the file's own tree was written in; texts inside of it are YAML or read as such.
    kind: FileKind,
    /// Whether what could not be read is worth telling.
    tells_errors: bool,
    is_recognised: bool,
}

/// What is known of a file before it is read.
#[derive(Clone, Copy, Debug)]
struct Input<'a> {
    path: &'a str,
    kind: FileKind,
    text: &'a str,
}

/// Parses a file and finds the dialects of its documents. `named`: whether it was named on the command line, so that it
/// matters if it cannot be read, whatever stands in it.
pub fn parse_file(path: &str, kind: FileKind, text: &str, named: bool) -> Parsed {
    parse_with(DIALECTS, Words::get(), Input { path, kind, text }, named)
}

fn parse_with(dialects: &[&'static Dialect], words: &Words, input: Input<'_>, named: bool) -> Parsed {
    // The number is not known yet: see `Parsed::renumber`.
    let tree = data::parse(input.kind, input.path, FileId(0), input.text);
    let mut documents = Vec::new();
    let mut inner = Vec::new();
    for root in tree.documents() {
        for object in objects(root) {
            if describes(object) {
                continue;
            }
            documents.extend(recognise(dialects, object).map(|dialect| (0, object.id(), dialect)));
            inner.extend(embedded::trees(object, input.text, words));
        }
    }
    let mut trees = vec![tree];
    for (tree, is_told) in inner {
        for root in tree.documents().flat_map(objects) {
            documents.extend(recognise(dialects, root).map(|dialect| (trees.len(), root.id(), dialect)));
        }
        let mut tree = tree;
        if !is_told {
            tree.errors.clear();
        }
        trees.push(tree);
    }
    // Decided by the words alone, so that it is the same with and without the prefilter.
    let has_words = words.hold(input.text);
    let has_signs = || SIGNS.iter().any(|sign| input.text.contains(sign)) || is_manifest(input);
    let is_recognised = !documents.is_empty() || (has_words && has_signs());
    let tells_errors = named || has_words;
    // What nothing here knows is none of its business beyond what could not be read.
    if !is_recognised && !named {
        trees.iter_mut().filter(|tree| tree.is_lenient).for_each(|tree| tree.errors.clear());
    }
    Parsed { trees, documents, kind: input.kind, tells_errors, is_recognised }
}

fn recognise(dialects: &[&'static Dialect], node: Node<'_>) -> Option<&'static Dialect> {
    dialects.iter().find(|dialect| (dialect.recognises)(node)).copied()
}

/// A services manifest that is too broken to show its shape.
fn is_manifest(input: Input<'_>) -> bool {
    let name = input.path.rsplit('/').next().unwrap_or_default();
    name.starts_with("services.") && input.text.contains("services") && input.text.contains("calls")
}

/// Lists in lists of Kubernetes objects are followed this deep.
const LIST_DEPTH: usize = 4;

/// The objects of a document: itself, or the items of a Kubernetes `List`.
fn objects(root: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut todo = vec![(root, 0)];
    while let Some((node, depth)) = todo.pop() {
        let is_list = node.get("kind").and_then(Node::text).is_some_and(|kind| kind.ends_with("List"));
        match node.get("items").filter(|items| is_list && items.is_seq()) {
            Some(items) if depth < LIST_DEPTH => todo.extend(items.items().rev().map(|item| (item, depth + 1))),
            _ => found.push(node),
        }
    }
    found
}

/// Whether a document merely describes fields that others have (contracts.md D-18).
fn describes(node: Node<'_>) -> bool {
    let kind = node.get("kind").and_then(Node::text);
    let is_schema = node.get("$schema").is_some()
        && ["properties", "$defs", "definitions"].iter().any(|key| node.get(key).is_some_and(Node::is_map));
    let is_openapi = node.get_any(&["openapi", "swagger"]).is_some() && node.get_any(&["paths", "info"]).is_some();
    let is_release_note = node.get("releaseNotes").is_some() && kind.is_some();
    kind == Some("CustomResourceDefinition") || is_schema || is_openapi || is_release_note
}

/// Reads a file in one go: its number is known.
pub fn read_file(file: FileId, path: &str, kind: FileKind, text: &str, settings: &ReadSettings) -> Facts {
    let mut parsed = parse_file(path, kind, text, false);
    parsed.renumber(file);
    parsed.read(path, text, settings)
}

impl Parsed {
    /// Whether there is anything in it: a document to read, a comment to retrylint, an error worth telling.
    pub fn has_something(&self, text: &str) -> bool {
        !self.documents.is_empty()
            || (self.tells_errors && self.trees.iter().any(|tree| !tree.errors.is_empty()))
            || self.speaks_to_us(text)
    }

    /// Whether a comment in it is one to retrylint.
    fn speaks_to_us(&self, text: &str) -> bool {
        text.contains(suppress::MARK) && self.trees.iter().any(|tree| suppress::speaks_to_us(tree, text))
    }

    /// Whether anything in the file is known here, whatever could not be read of it.
    pub fn is_known(&self, text: &str) -> bool {
        self.is_recognised || self.speaks_to_us(text)
    }

    /// Gives the file its number.
    pub fn renumber(&mut self, file: FileId) {
        for tree in &mut self.trees {
            tree.file = file;
            tree.comments.iter_mut().for_each(|comment| comment.span.file = file);
            tree.errors.iter_mut().for_each(|error| error.span.file = file);
        }
    }

    /// The facts in it. `text` is the same text that was parsed.
    pub fn read(&self, path: &str, text: &str, settings: &ReadSettings) -> Facts {
        let mut facts = Facts::default();
        for (tree, root, dialect) in &self.documents {
            let notation = if *tree == 0 { self.kind } else { FileKind::Yaml };
            let Some(tree) = self.trees.get(*tree) else { continue };
            let context = Context { file: tree.file, path, settings };
            let before = facts.policies.len();
            (dialect.read)(tree.node(*root), &context, &mut facts);
            facts.policies.iter_mut().skip(before).for_each(|policy| policy.notation = notation);
        }
        for tree in &self.trees {
            suppress::read(tree, text, &mut facts);
            if self.tells_errors {
                facts.problems.extend(tree.errors.iter().map(|error| Problem {
                    span: error.span,
                    message: error.message.clone(),
                    partial: false,
                    recognised: self.is_recognised,
                    template: tree.is_template,
                }));
            }
        }
        facts
    }
}

#[cfg(test)]
mod tests;
