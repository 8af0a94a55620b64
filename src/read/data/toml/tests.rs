use super::*;
use crate::read::data::tree::Node;

fn read(text: &str) -> Tree {
    parse(FileId(0), text)
}

fn root(tree: &Tree) -> Node<'_> {
    tree.documents().next().unwrap()
}

#[test]
fn every_key_and_value_has_its_span_behind_a_bom() {
    let text = "\u{feff}name = \"café ☕\" # note\r\nn = 1_000\r\nx = 0xff\r\nf = 1.5\r\nb = true\r\nl = [1, { a = 'z' }]\r\nd = 2026-01-02\r\n";
    let tree = read(text);
    assert_eq!(tree.errors, []);
    let root = root(&tree);
    let value = |key: &str| root.get(key).map(|node| (&text[node.span().range()], node.text().unwrap_or("")));
    assert_eq!(value("name"), Some(("\"café ☕\"", "café ☕")));
    assert_eq!(value("n"), Some(("1_000", "1000")));
    assert_eq!(value("x"), Some(("0xff", "255")));
    assert_eq!(value("f"), Some(("1.5", "1.5")));
    assert_eq!(value("b"), Some(("true", "true")));
    assert_eq!(value("d"), Some(("2026-01-02", "2026-01-02")));
    assert_eq!(value("l"), Some(("[1, { a = 'z' }]", "")));
    assert!(root.get("name").unwrap().is_quoted() && !root.get("n").unwrap().is_quoted());
    assert_eq!(&text[tree.comments[0].span.range()], "# note");
}

#[test]
fn a_table_reaches_to_the_end_of_its_last_value() {
    let text = "[a]\nx = 1\n\n[a.b]\ny = 2 # two\n\n[[c]]\nz = 3\n[[c]]\nz = 4\n[d]\n";
    let tree = read(text);
    let root = root(&tree);
    assert_eq!(&text[root.get("a").unwrap().span().range()], "[a]\nx = 1\n\n[a.b]\ny = 2");
    let items: Vec<_> = root.get("c").unwrap().items().map(|item| &text[item.span().range()]).collect();
    assert_eq!(items, ["[[c]]\nz = 3", "[[c]]\nz = 4"]);
    let keys: Vec<_> = root.entries().iter().map(|entry| entry.key).collect();
    assert_eq!(keys, ["a", "c", "d"]);
}

#[test]
fn a_hash_in_a_string_is_no_comment() {
    let text = "a = \"# \\\" #\" # one\nb = '#' # two\nc = \"\"\"\n# no\n\\\"\"\" \"\"\"\"\" # three\nd = '''\n# no'''\n  # four\n";
    let tree = read(text);
    assert_eq!(tree.errors, []);
    let comments: Vec<_> = tree.comments.iter().map(|c| (&text[c.span.range()], c.alone)).collect();
    assert_eq!(comments, [("# one", false), ("# two", false), ("# three", false), ("# four", true)]);
}

#[test]
fn what_is_readable_beside_an_error_stays() {
    let text = "a = 1\nb = = 2\nc = 3\n";
    let tree = read(text);
    assert!(!tree.errors.is_empty());
    assert!(tree.errors[0].span.start >= 6 && tree.errors[0].span.start < 14);
    assert_eq!(root(&tree).get("a").unwrap().text(), Some("1"));
    assert_eq!(root(&tree).get("c").unwrap().text(), Some("3"));
}

#[test]
fn nesting_without_end_is_an_error_and_no_crash() {
    let open = |nest: &str| format!("a = {}", nest.repeat(100_000));
    let dotted = format!("{}x = 1\n", "a.".repeat(100_000));
    let header = format!("[{}x]\n", "a.".repeat(100_000));
    for text in [open("["), open("{a = "), "[".repeat(100_000), dotted, header] {
        let tree = read(&text);
        assert!(!tree.errors.is_empty());
    }
    // Numbers with points are no nesting.
    let text = format!("a = [{}1.5]\n", "1.5, ".repeat(1000));
    assert_eq!(read(&text).errors, []);
}

#[test]
fn an_empty_text_is_an_empty_table() {
    assert!(root(&read("")).is_map());
}
