use super::*;
use crate::read::data::tree::Node;

fn read(text: &str) -> Tree {
    parse(FileId(0), text)
}

fn root(tree: &Tree) -> Node<'_> {
    tree.documents().next().unwrap()
}

fn slice<'t>(text: &'t str, node: Node<'_>) -> &'t str {
    &text[node.span().range()]
}

#[test]
fn spans_count_bytes_behind_a_bom_and_windows_line_ends() {
    let text = "\u{feff}# note\r\nname: café ☕\r\nb: [1, 'ü', \"\\u00e9\"]\r\nc: 5xx\r\n";
    let tree = read(text);
    assert_eq!(tree.errors, []);
    let root = root(&tree);
    assert_eq!(slice(text, root.get("name").unwrap()), "café ☕");
    let items: Vec<_> = root.get("b").unwrap().items().map(|item| (slice(text, item), item.text().unwrap())).collect();
    assert_eq!(items, [("1", "1"), ("'ü'", "ü"), ("\"\\u00e9\"", "é")]);
    assert_eq!(slice(text, root.get("c").unwrap()), "5xx");
    assert_eq!(&text[root.entry("c").unwrap().key_span.range()], "c");
    assert_eq!(&text[tree.comments[0].span.range()], "# note");
    assert!(tree.comments[0].alone);
}

#[test]
fn a_collection_reaches_from_its_first_key_to_the_end_of_its_last_value() {
    let text = "a:\n  b: 1 # one\n  c:\n    - 2\n    - d: [3]\n\n# end\ne: {f: 4} \n";
    let tree = read(text);
    let root = root(&tree);
    assert_eq!(slice(text, root.get("a").unwrap()), "b: 1 # one\n  c:\n    - 2\n    - d: [3]");
    assert_eq!(slice(text, root.at(&["a", "c"]).unwrap()), "- 2\n    - d: [3]");
    assert_eq!(slice(text, root.get("e").unwrap()), "{f: 4}");
    assert_eq!(slice(text, root), text.trim_end());
}

#[test]
fn an_anchor_is_no_part_of_its_node() {
    let text = "a: &x {b: 1}\nc: &y\n- 1\nd: &z\n  e: 2\nf: !!str &s 3\n";
    let tree = read(text);
    let root = root(&tree);
    assert_eq!(slice(text, root.get("a").unwrap()), "{b: 1}");
    assert_eq!(slice(text, root.get("c").unwrap()), "- 1");
    assert_eq!(slice(text, root.get("d").unwrap()), "e: 2");
    assert_eq!(slice(text, root.get("f").unwrap()), "3");
    assert!(root.get("f").unwrap().is_quoted());
}

#[test]
fn a_missing_value_is_null_and_stands_behind_its_colon() {
    let text = "a:\nb: ~\nc: null\nd: \"\"\ne: # nothing\nf: !!str\ng: [x, ]\n-: 1\n";
    let tree = read(text);
    assert_eq!(tree.errors, []);
    let root = root(&tree);
    for key in ["a", "b", "c", "e"] {
        assert!(root.get(key).unwrap().is_null(), "{key}");
    }
    assert_eq!(root.get("a").unwrap().span().range(), 2..2);
    assert_eq!(slice(text, root.get("b").unwrap()), "~");
    assert_eq!(root.get("d").unwrap().text(), Some(""));
    assert_eq!(root.get("f").unwrap().text(), Some(""));
    assert_eq!(root.get("g").unwrap().items().count(), 1);
    assert!(root.get("missing").is_none());
}

#[test]
fn scalars_keep_their_text_whatever_they_look_like() {
    let text =
        "a: on\nb: 014\nc: 1_000\nd: 1:30\ne: 123456789012345678901234567890\nf: 5xx,reset\ng: NULL\nh: nullable\n";
    let tree = read(text);
    let root = root(&tree);
    for (key, value) in [
        ("a", "on"),
        ("b", "014"),
        ("c", "1_000"),
        ("d", "1:30"),
        ("e", "123456789012345678901234567890"),
        ("f", "5xx,reset"),
        ("h", "nullable"),
    ] {
        assert_eq!(root.get(key).unwrap().text(), Some(value));
        assert!(!root.get(key).unwrap().is_quoted());
    }
    assert!(root.get("g").unwrap().is_null());
}

#[test]
fn block_scalars_are_text_without_the_line_breaks_behind_them() {
    let text = "a: |\n  one\n  two\n\n\nb: >-\n  three\n  four\nc: |2\n    five\nd: x\n";
    let tree = read(text);
    let root = root(&tree);
    assert_eq!(root.get("a").unwrap().text(), Some("one\ntwo\n"));
    assert_eq!(slice(text, root.get("a").unwrap()), "one\n  two");
    assert_eq!(root.get("b").unwrap().text(), Some("three four"));
    assert_eq!(root.get("c").unwrap().text(), Some("  five\n"));
    assert!(root.get("a").unwrap().is_quoted());
    assert_eq!(slice(text, root.get("d").unwrap()), "x");
}

#[test]
fn an_alias_is_where_its_anchor_is() {
    let text = "a: &x {attempts: 3}\nb: *x\nc: [*x]\n";
    let tree = read(text);
    let root = root(&tree);
    let (a, b) = (root.get("a").unwrap(), root.get("b").unwrap());
    assert_eq!(a.id(), b.id());
    assert_eq!(slice(text, b.get("attempts").unwrap()), "3");
    assert_eq!(root.get("c").unwrap().items().next().unwrap().id(), a.id());
}

#[test]
fn aliases_of_nothing_and_of_themselves_are_errors_and_null() {
    let text = "a: *nope\nb: &y {c: *y, d: [*y]}\ne: 1\n";
    let tree = read(text);
    assert_eq!(tree.errors.len(), 2);
    assert_eq!(&text[tree.errors[0].span.range()], "*nope");
    let root = root(&tree);
    assert!(root.get("a").unwrap().is_null());
    assert!(root.at(&["b", "c"]).unwrap().is_null());
    assert!(root.at(&["b", "d"]).unwrap().items().next().unwrap().is_null());
    assert_eq!(root.get("e").unwrap().text(), Some("1"));
}

#[test]
fn anchors_end_with_their_document() {
    let tree = read("a: &x 1\n---\nb: *x\n");
    assert_eq!(tree.errors.len(), 1);
    assert!(tree.documents().nth(1).unwrap().get("b").unwrap().is_null());
}

#[test]
fn written_keys_win_over_merged_ones() {
    let text = "base: &b {attempts: 3, timeout: 1s}\nmore: &m {timeout: 9s, jitter: full}\nuse:\n  <<: [*b, *m]\n  attempts: 5\n";
    let tree = read(text);
    let used = root(&tree).get("use").unwrap();
    let entries: Vec<_> = used.entries().iter().map(|e| (e.key, e.value.text().unwrap())).collect();
    assert_eq!(entries, [("attempts", "5"), ("timeout", "1s"), ("jitter", "full")]);
    assert_eq!(used.get("timeout").unwrap().text(), Some("1s"));
}

#[test]
fn of_duplicate_keys_the_last_one_counts() {
    let tree = read("a: 1\nb: 2\na: 3\n");
    let root = root(&tree);
    assert_eq!(root.get("a").unwrap().text(), Some("3"));
    assert_eq!(root.written_entries().count(), 3);
    assert_eq!(root.entries().len(), 2);
}

#[test]
fn a_broken_document_leaves_the_others_standing() {
    let text = "a: 1\n---\nb: [1, 2\nc: }\n---\nd: 3\n...\n---\n";
    let tree = read(text);
    assert_eq!(tree.errors.len(), 1);
    let message = &tree.errors[0].message;
    assert!(!message.ends_with('.') && message.chars().next().unwrap().is_lowercase(), "{message}");
    assert!((5..text.find("d: 3").unwrap()).contains(&(tree.errors[0].span.start as usize)));
    let documents: Vec<_> = tree.documents().collect();
    assert_eq!(documents[0].get("a").unwrap().text(), Some("1"));
    assert_eq!(slice(text, documents[1].get("d").unwrap()), "3");
    assert!(documents[2].is_null());
}

#[test]
fn a_tag_of_another_program_makes_a_hole() {
    let tree = read("a: !Ref Retries\nb: !env RETRIES\nc: !!int 3\nd: ! 4\ne: !Sub {x: 1}\n");
    let root = root(&tree);
    assert_eq!(root.get("a").unwrap().hole(), Some("!Ref Retries"));
    assert_eq!(root.get("b").unwrap().hole(), Some("!env RETRIES"));
    assert_eq!(root.get("c").unwrap().text(), Some("3"));
    assert!(root.get("d").unwrap().is_quoted());
    assert!(root.get("e").unwrap().is_map());
}

#[test]
fn a_hundred_lines_of_comment_between_a_key_and_its_value_are_no_error() {
    let text = format!("a:\n{}  b: 1\n-: x\n", "  # note\n".repeat(500));
    let tree = read(&text);
    assert_eq!(tree.errors, []);
    assert_eq!(root(&tree).at(&["a", "b"]).unwrap().text(), Some("1"));
    assert_eq!(tree.comments.len(), 500);
}

#[test]
fn nesting_without_end_is_an_error_and_no_crash() {
    for nest in ["[", "{a: ", "- ", "? ", "[{"] {
        let tree = read(&nest.repeat(100_000));
        let messages: Vec<&str> = tree.errors.iter().map(|error| error.message.as_str()).collect();
        assert_eq!(messages, ["nested too deeply"], "{nest:?}");
        assert!(tree.documents.is_empty(), "{nest:?}");
    }
    let text = format!("{}\n---\na: 1\n", "[".repeat(100_000));
    assert_eq!(root(&read(&text)).get("a").unwrap().text(), Some("1"));
}

#[test]
fn nesting_within_reason_is_read() {
    let tree = read(&format!("{}{}", "[".repeat(200), "]".repeat(200)));
    assert_eq!(tree.errors, []);
    assert_eq!(tree.nodes.len(), 200);
}

#[test]
fn a_billion_laughs_are_a_hundred_nodes_and_few_steps() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let before = vec![format!("*a{}", n - 1); 9].join(", ");
        text.push_str(&format!("a{n}: &a{n} [{before}]\n"));
    }
    let tree = read(&text);
    assert!(tree.nodes.len() < 200);
    assert!(root(&tree).walk().count() < 200);
    // A reader that follows every alias comes to an end all the same.
    assert!(tree.errors.iter().any(|error| error.message.contains("aliases stand for more than")));
    let mut todo = vec![root(&tree)];
    let mut steps = 0_u64;
    while let Some(node) = todo.pop() {
        steps += 1;
        todo.extend(node.items());
        todo.extend(node.entries().into_iter().map(|entry| entry.value));
    }
    assert!(steps < 3_000_000, "{steps}");
}

#[test]
fn files_of_many_lines_are_read_whole() {
    let text = "- a: 1\n".repeat(66_000);
    let tree = read(&text);
    assert_eq!(tree.errors, []);
    assert_eq!(root(&tree).items().count(), 66_000);
    let text = "---\na: 1\n".repeat(5_000);
    assert_eq!(read(&text).documents.len(), 5_000);
    // So many broken documents cost so many steps, not the square.
    let tree = read(&"---\n[\n".repeat(20_000));
    assert!((1..=MAX_ERRORS).contains(&tree.errors.len()));
}

#[test]
fn a_tab_for_indentation_is_told_where_it_stands() {
    let text = "a:\n\tb: 1\n";
    let tree = read(text);
    assert_eq!(tree.errors.len(), 1);
    assert!(tree.errors[0].span.start >= 2);
}
