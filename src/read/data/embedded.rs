//! YAML inside of YAML: a ConfigMap's value that is a file of its own.

use super::tree::{Node, Tree};
use super::yaml;

/// Reads the YAML that a scalar holds. Its spans point into the file where the scalar is a literal block (`|`), whose lines
/// stand there as they are; else all of them are the whole scalar.
pub fn yaml(scalar: Node<'_>) -> Tree {
    let (span, text) = (scalar.span(), scalar.text().unwrap_or_default());
    let mut tree = yaml::parse(span.file, text);
    tree.is_template |= scalar.tree().is_template;
    let lines = Lines::of(text, (span.end - span.start) as usize);
    let place = |at: u32| match &lines {
        Some(lines) => span.start.saturating_add(lines.place(at as usize)).min(span.end),
        None => span.start,
    };
    let end = |at: u32| if lines.is_some() { place(at) } else { span.end };
    for node in &mut tree.nodes {
        (node.start, node.end) = (place(node.start), end(node.end));
    }
    for comment in &mut tree.comments {
        (comment.span.start, comment.span.end) = (place(comment.span.start), end(comment.span.end));
    }
    for error in &mut tree.errors {
        (error.span.start, error.span.end) = (place(error.span.start), end(error.span.end));
    }
    tree
}

/// Where the lines of a literal block begin, in its text and in the file (counted from the block's first character).
struct Lines {
    starts: Vec<(usize, usize)>,
}

impl Lines {
    /// From the text and the length that it has in the file: what is more there must be indentation, the same on each line
    /// that is not blank. None where that cannot be.
    fn of(text: &str, written: usize) -> Option<Lines> {
        let escapes = text.matches(['\n', '"', '\\']).count();
        if written == text.len() + 2 + escapes {
            return None; // quoted
        }
        // The block begins at its first character that is not a line break, and ends behind its last.
        let blank = text.len() - text.trim_start_matches('\n').len();
        let body = text.trim_end().get(blank..)?;
        let indented = body.split('\n').skip(1).filter(|line| !line.is_empty()).count();
        let more = written.checked_sub(body.len())?;
        // One column more for each line break, where lines end in CR LF.
        let breaks = body.matches('\n').count();
        let (indent, line_break) = if indented == 0 {
            (0, 1)
        } else if more.is_multiple_of(indented) && more >= indented {
            (more / indented, 1)
        } else {
            let more = more.checked_sub(breaks).filter(|more| more.is_multiple_of(indented) && *more >= indented)?;
            (more / indented, 2)
        };
        let mut starts = vec![(0, 0)];
        let (mut here, mut there) = (blank, 0);
        for line in body.split('\n') {
            let indent = if here == blank || line.is_empty() { 0 } else { indent };
            there += indent;
            starts.push((here, there));
            here += line.len() + 1;
            there += line.len() + line_break;
        }
        Some(Lines { starts })
    }

    fn place(&self, at: usize) -> u32 {
        let line = self.starts.partition_point(|(here, _)| *here <= at).saturating_sub(1);
        let (here, there) = self.starts.get(line).copied().unwrap_or_default();
        u32::try_from(there + at.saturating_sub(here)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    /// The texts in the file at the spans of the values of `keys` in the YAML that `mesh` holds.
    fn values(source: &str, keys: &[&str]) -> Vec<String> {
        let tree = yaml::parse(FileId(0), source);
        let inner = super::yaml(tree.documents().next().unwrap().get("mesh").unwrap());
        let inner = inner.documents().next().unwrap();
        keys.iter().map(|key| source[inner.get(key).unwrap().span().range()].to_string()).collect()
    }

    #[test]
    fn values_in_a_literal_block_keep_their_place() {
        let block = "mesh: |-\n  # first\n  a: 1\n\n  b: é\n  c:\n    - x\n  d: 44\nx: 1\n";
        assert_eq!(values(block, &["a", "b", "c", "d"]), ["1", "é", "- x", "44"]);
        let crlf = block.replace('\n', "\r\n");
        assert_eq!(values(&crlf, &["a", "b", "d"]), ["1", "é", "44"]);
        assert_eq!(values("mesh: |\n\n\n    a: 1\n    b: 22\n", &["a", "b"]), ["1", "22"]);
        assert_eq!(values("mesh: |\n  a: 1\n", &["a"]), ["1"]);
    }

    #[test]
    fn values_in_a_quoted_text_stand_for_all_of_it() {
        assert_eq!(values(r#"{ "mesh": "a: 1\nb: 2\n" }"#, &["b"]), [r#""a: 1\nb: 2\n""#]);
    }
}
