use super::*;
use crate::read::data::tree::Node;

fn root(tree: &Tree) -> Node<'_> {
    tree.documents().next().unwrap()
}

#[test]
fn every_key_and_value_has_its_span_behind_a_bom() {
    let text = "\u{feff}{\"é\": [1.50, \"a\\nb\", null, true], \"b\": {\"c\": -2e3}}\n";
    let tree = parse(FileId(0), text);
    assert_eq!(tree.errors, []);
    let root = root(&tree);
    let entry = root.entry("é").unwrap();
    assert_eq!(&text[entry.key_span.range()], "\"é\"");
    let items: Vec<_> = entry.value.items().map(|item| (&text[item.span().range()], item.text())).collect();
    assert_eq!(items, [("1.50", Some("1.50")), ("\"a\\nb\"", Some("a\nb")), ("null", None), ("true", Some("true"))]);
    assert!(entry.value.items().nth(1).unwrap().is_quoted());
    assert_eq!(&text[root.at(&["b", "c"]).unwrap().span().range()], "-2e3");
    assert_eq!(&text[root.get("b").unwrap().span().range()], "{\"c\": -2e3}");
}

#[test]
fn strict_json_has_neither_comments_nor_trailing_commas() {
    for text in
        ["{\"a\": 1, }", "{\"a\": 1} // x", "{'a': 1}", "{a: 1}", "[0x10]", "[+1]", "[.5]", "[1 2]", "{\"a\": NaN}"]
    {
        let tree = parse(FileId(0), text);
        assert_eq!(tree.errors.len(), 1, "{text}");
        assert!(tree.documents.is_empty());
        assert!(tree.errors[0].message.chars().next().unwrap().is_lowercase());
    }
}

#[test]
fn settings_files_may_have_comments_with_their_places() {
    let text = "{ // one\n  /* two */\n  \"a\": [1,], // three\n}\n";
    let tree = parse_as(FileId(0), text, Strictness::Comments);
    assert_eq!(tree.errors, []);
    let comments: Vec<_> = tree.comments.iter().map(|c| (&text[c.span.range()], c.alone)).collect();
    assert_eq!(comments, [("// one", false), ("/* two */", true), ("// three", false)]);
    assert_eq!(root(&tree).get("a").unwrap().items().count(), 1);
}

#[test]
fn which_files_may_have_comments_is_told_by_their_name() {
    use crate::facts::FileKind;
    let text = "{\"a\": 1, /* x */}";
    for (path, errors) in [("a/appsettings.Production.json", 0), ("x.jsonc", 0), ("x.json", 1)] {
        let tree = crate::read::data::parse(FileKind::Json, path, FileId(0), text);
        assert_eq!(tree.errors.len(), errors, "{path}");
        // It is read all the same: whose file it is decides what the comment matters.
        assert_eq!(root(&tree).get("a").unwrap().text(), Some("1"));
        assert_eq!(tree.is_lenient, errors == 1);
    }
    let broken = crate::read::data::parse(FileKind::Json, "x.json", FileId(0), "{\"a\": // x\n");
    assert!(!broken.is_lenient && broken.errors.len() == 1);
}

#[test]
fn duplicates_are_kept_and_the_last_one_counts() {
    let tree = parse(FileId(0), r#"{"a": 1, "a": 2}"#);
    assert_eq!(root(&tree).written_entries().count(), 2);
    assert_eq!(root(&tree).get("a").unwrap().text(), Some("2"));
}

#[test]
fn one_value_a_line_is_one_document_a_line() {
    let text = "{\"a\": 1}\n\n{\"a\": 2}\r\n[\"é\"]";
    let tree = parse(FileId(0), text);
    assert_eq!(tree.errors, []);
    let documents: Vec<_> = tree.documents().collect();
    assert_eq!(documents.len(), 3);
    assert_eq!(&text[documents[1].get("a").unwrap().span().range()], "2");
    assert_eq!(&text[documents[2].items().next().unwrap().span().range()], "\"é\"");
    // A broken line ends it; what stands before it stays.
    let tree = parse(FileId(0), "{\"a\": 1}\n{\"a\": \n{\"a\": 3}\n");
    assert_eq!((tree.documents.len(), tree.errors.len()), (1, 1));
}

#[test]
fn nesting_without_end_is_an_error_and_no_crash() {
    for nest in ["[", "{\"a\":", "[{\"a\":"] {
        let tree = parse(FileId(0), &nest.repeat(100_000));
        assert_eq!(tree.errors.len(), 1);
        assert!(tree.errors[0].message.contains("512"), "{}", tree.errors[0].message);
    }
    // As deep as is allowed, on the small stack of a test's thread.
    let text = format!("{}1{}", "[".repeat(512), "]".repeat(512));
    let tree = parse(FileId(0), &text);
    assert_eq!(tree.errors, []);
    assert_eq!(tree.nodes.len(), 513);
}

#[test]
fn a_dump_on_one_line_is_read() {
    let text = format!("[{}{{}}]", "{\"a\": [\"b\", 1]},".repeat(100_000));
    let tree = parse(FileId(0), &text);
    assert_eq!(tree.errors, []);
    assert_eq!(root(&tree).items().len(), 100_001);
}

#[test]
fn an_empty_text_has_no_documents() {
    for text in ["", "\u{feff}", " \n"] {
        let tree = parse(FileId(0), text);
        assert!(tree.documents.is_empty() && tree.errors.is_empty());
    }
}
