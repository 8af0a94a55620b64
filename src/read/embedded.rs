//! Configuration inside of configuration: the literal blocks of a ConfigMap's `data` and the patches of a kustomization, as
//! trees whose spans point into the outer file.
//!
//! Only literal blocks (`|`) are read: their lines are the file's lines less an indentation, so that every place in them
//! has exactly one place in the file. Quoted and folded texts have no such places.

use super::data;
use super::data::tree::{Node, Tree};
use super::file::Words;
use crate::facts::FileKind;
use crate::source::Span;

/// Texts in an object that may be configuration, with whether their errors are worth telling.
pub fn trees(object: Node<'_>, text: &str, words: &Words) -> Vec<(Tree, bool)> {
    let kind_of = object.get("kind").and_then(Node::text);
    if kind_of == Some("Kustomization") || kind_of.is_none() {
        return patches(object, text, words);
    }
    if kind_of != Some("ConfigMap") {
        return Vec::new();
    }
    let entries = object.get("data").map(Node::entries).unwrap_or_default();
    let mut found = Vec::new();
    for entry in entries {
        let Some(kind) = kind(entry.key) else { continue };
        let Some(block) = Block::of(entry.value, text).filter(|block| words.hold(&block.text)) else { continue };
        if kind == Some(FileKind::Json) && !block.is_json() {
            continue;
        }
        let mut tree = data::parse(kind.unwrap_or(FileKind::Yaml), entry.key, object.span().file, &block.text);
        // `nginx.conf` or a script read as YAML is often one long scalar.
        if kind.is_none() && !tree.documents().any(Node::is_map) {
            continue;
        }
        block.place(&mut tree);
        found.push((tree, kind.is_some()));
    }
    found
}

/// The patches that a kustomization holds itself.
fn patches(object: Node<'_>, text: &str, words: &Words) -> Vec<(Tree, bool)> {
    let of = |key: &str| object.get(key).filter(|list| list.is_seq()).into_iter().flat_map(Node::items);
    let within = of("patches").chain(of("patchesJson6902")).filter_map(|entry| entry.get("patch"));
    let blocks = within.chain(of("patchesStrategicMerge")).filter_map(|patch| Block::of(patch, text));
    let read = |block: Block| {
        let mut tree = data::parse(FileKind::Yaml, "patch.yaml", object.span().file, &block.text);
        block.place(&mut tree);
        (tree, false)
    };
    blocks.filter(|block| words.hold(&block.text)).map(read).collect()
}

/// What a key's name says about its text: `Some(None)` if nothing (Istio's key is `mesh`), `None` if it is none of ours.
fn kind(key: &str) -> Option<Option<FileKind>> {
    match key.rsplit_once('.') {
        None => Some(None),
        Some((_, "yaml" | "yml")) => Some(Some(FileKind::Yaml)),
        Some((_, "json")) => Some(Some(FileKind::Json)),
        Some((_, "toml")) => Some(Some(FileKind::Toml)),
        Some(_) => None,
    }
}

/// A literal block without its indentation.
struct Block {
    text: String,
    /// For each line: where it starts in `text`, and in the file.
    lines: Vec<(u32, u32)>,
}

impl Block {
    fn of(node: Node<'_>, file: &str) -> Option<Block> {
        // A block with template expressions is a hole, and still text.
        if node.text().is_none() && node.hole().is_none() {
            return None;
        }
        let Span { start, end, .. } = node.span();
        let before = file.get(..start as usize)?;
        let line = before.rfind('\n')? + 1;
        // Blank lines, and in templates lines that steer, may stand between the header and the first text.
        let is_blank = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with("{{");
        let header = before.get(..line - 1)?.rsplit('\n').find(|line| !is_blank(line))?;
        let header = header.split(" #").next()?.trim_end();
        if !header.trim_end_matches(['+', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']).ends_with('|') {
            return None;
        }
        let indent = start as usize - line;
        if !file.get(line..start as usize)?.bytes().all(|b| b == b' ') {
            return None;
        }
        let mut text = String::with_capacity(end as usize - line);
        let mut lines = Vec::new();
        let mut at = line;
        for whole in file.get(line..end as usize)?.split_inclusive('\n') {
            let blanks = whole.bytes().take(indent).take_while(|b| *b == b' ').count();
            lines.push((text.len() as u32, (at + blanks) as u32));
            text.push_str(whole.get(blanks..)?.trim_end_matches(['\n', '\r']));
            text.push('\n');
            at += whole.len();
        }
        // The parser's word on what the text is; blanks at the end of lines and text do not move anything.
        let same = node.text().is_none_or(|parsed| {
            parsed
                .trim_start_matches('\n')
                .trim_end()
                .lines()
                .map(str::trim_end)
                .eq(text.trim_end().lines().map(str::trim_end))
        });
        same.then_some(Block { text, lines })
    }

    /// Whether it is a value of its own rather than a piece that is pasted into one (Istio's `custom_bootstrap.json` may
    /// begin with a key).
    fn is_json(&self) -> bool {
        let mut rest = self.text.trim_start();
        while let Some((_, behind)) = rest
            .strip_prefix("//")
            .map(|comment| comment.split_once('\n').unwrap_or_default())
            .or_else(|| rest.strip_prefix("/*").and_then(|comment| comment.split_once("*/")))
        {
            rest = behind.trim_start();
        }
        rest.starts_with(['{', '['])
    }

    /// Where a place of the block stands in the file.
    fn outer(&self, at: u32) -> u32 {
        let line = self.lines.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        self.lines.get(line).map_or(at, |(inner, outer)| outer + (at - inner))
    }

    /// The end of a range: behind its last byte, not at the start of the next line.
    fn outer_end(&self, start: u32, end: u32) -> u32 {
        if end > start { self.outer(end - 1) + 1 } else { self.outer(end) }
    }

    fn place(&self, tree: &mut Tree) {
        for node in &mut tree.nodes {
            (node.start, node.end) = (self.outer(node.start), self.outer_end(node.start, node.end));
        }
        tree.printed.iter_mut().for_each(|line| *line = self.outer(*line));
        let spans = tree.comments.iter_mut().map(|comment| &mut comment.span);
        for span in spans.chain(tree.errors.iter_mut().map(|error| &mut error.span)) {
            (span.start, span.end) = (self.outer(span.start), self.outer_end(span.start, span.end));
        }
    }
}
