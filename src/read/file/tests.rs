use super::*;
use crate::facts::Namespace;

/// Reads documents with a key `marker`: a namespace named like its value.
static MARKER: Dialect = Dialect {
    name: "marker",
    words: &["marker"],
    recognises: |node| node.get("marker").is_some(),
    read: |node, _, facts| {
        let Some(value) = node.get("marker") else { return };
        let name = value.text().unwrap_or("?").into();
        facts.namespaces.push(Namespace { name, environment: None, span: value.span(), mesh: None, declared: false });
    },
};

fn read(path: &str, kind: FileKind, text: &str) -> Facts {
    let dialects = &[&MARKER];
    let mut parsed = parse_with(dialects, &Words::of(dialects), Input { path, kind, text }, false);
    parsed.renumber(FileId(7));
    let facts = parsed.read(path, text, &ReadSettings::default());
    for namespace in &facts.namespaces {
        assert_eq!(namespace.span.file, FileId(7));
    }
    facts
}

/// The markers found, with the text at their places.
fn markers<'t>(text: &'t str, facts: &Facts) -> Vec<(String, &'t str)> {
    facts.namespaces.iter().map(|found| (found.name.to_string(), &text[found.span.range()])).collect()
}

fn pairs<'t>(texts: &[&'t str]) -> Vec<(String, &'t str)> {
    texts.iter().map(|text| ((*text).to_string(), *text)).collect()
}

#[test]
fn every_document_and_every_item_of_a_list_is_read_in_order() {
    let text = "marker: a\n---\nkind: List\nitems:\n- marker: b\n- {kind: PodList, items: [{marker: c}, {x: 1}]}\n- marker: d\n---\nx: 1\n";
    assert_eq!(markers(text, &read("a.yaml", FileKind::Yaml, text)), pairs(&["a", "b", "c", "d"]));
    let text = r#"{"kind": "VirtualServiceList", "items": [{"marker": 1}, {"marker": 2}]}"#;
    assert_eq!(markers(text, &read("a.json", FileKind::Json, text)), pairs(&["1", "2"]));
    let text = "marker = 5\n";
    assert_eq!(markers(text, &read("a.toml", FileKind::Toml, text)), pairs(&["5"]));
}

#[test]
fn items_of_what_is_no_list_are_left_alone() {
    let text = "kind: Bucket\nitems:\n- marker: a\n";
    assert_eq!(markers(text, &read("a.yaml", FileKind::Yaml, text)), []);
}

#[test]
fn what_merely_describes_fields_is_read_as_nothing() {
    for text in [
        "kind: CustomResourceDefinition\nmarker: a\n",
        "$schema: https://json-schema.org/draft\nproperties: {x: 1}\nmarker: a\n",
        "openapi: 3.0.0\npaths: {}\nmarker: a\n",
        "kind: feature\nreleaseNotes: [x]\nmarker: a\n",
    ] {
        assert_eq!(markers(text, &read("a.yaml", FileKind::Yaml, text)), [], "{text}");
    }
    // A settings file that names its schema is no schema.
    let text = "$schema: https://example.com/settings.json\nmarker: a\n";
    assert_eq!(markers(text, &read("a.yaml", FileKind::Yaml, text)), pairs(&["a"]));
}

#[test]
fn configuration_in_a_config_map_is_read_with_its_places_in_the_outer_file() {
    let text = "kind: ConfigMap\ndata:\n  envoy.yaml: |\n\n    # café ☕\n    x: 1\n    marker: inner\n\n    y:\n      - 2 \n  note: |\n    marker is a word\n  mesh: |-\n    marker: second # retrylint: allow(no-backoff)\n";
    for text in [text.to_string(), text.replace('\n', "\r\n")] {
        let facts = read("a.yaml", FileKind::Yaml, &text);
        assert_eq!(facts.problems, []);
        assert_eq!(markers(&text, &facts), pairs(&["inner", "second"]));
        let [suppression] = facts.suppressions.as_slice() else { panic!() };
        assert_eq!(&text[suppression.rules[0].1.range()], "no-backoff");
    }
}

#[test]
fn a_template_in_a_config_map_of_a_template_is_read_too() {
    let text = "kind: ConfigMap\nmetadata: {name: {{ .x }}}\ndata:\n  envoy.yaml: |\n{{- if .y }}\n    marker: inner\n    z: {{ .z }}\n{{- end }}\n";
    let facts = read("a.yaml", FileKind::Yaml, text);
    assert_eq!(facts.problems, []);
    assert_eq!(markers(text, &facts), pairs(&["inner"]));
}

#[test]
fn folded_and_quoted_texts_in_a_config_map_are_left_alone() {
    let text =
        "kind: ConfigMap\ndata:\n  a.yaml: >\n    marker: a\n  b.yaml: \"marker: b\"\n  c.sh: |\n    marker: c\n";
    assert_eq!(markers(text, &read("a.yaml", FileKind::Yaml, text)), []);
}

#[test]
fn a_piece_of_json_in_a_config_map_is_no_broken_file() {
    let map = |text: &str| format!("kind: ConfigMap\ndata:\n  piece.json: |\n    {text}\n# virtual_hosts\n");
    let piece = map("\"marker\": {\"x\": 1}");
    assert_eq!(read("a.yaml", FileKind::Yaml, &piece).problems, []);
    // A value of its own is read, and told where it breaks; a comment before it changes nothing.
    let whole = map("// note\n    {\"marker\": \"a\"}");
    assert_eq!(markers(&whole, &read("a.yaml", FileKind::Yaml, &whole)), [("a".to_string(), "\"a\"")]);
    let broken = map("{\"marker\": {");
    assert_eq!(read("a.yaml", FileKind::Yaml, &broken).problems.len(), 1);
}

#[test]
fn comments_in_json_matter_in_a_known_dialect_only() {
    let of_nobody = "{ // marker\n \"x\": 1 }";
    assert_eq!(read("a.json", FileKind::Json, of_nobody).problems, []);
    // Its own reader stops there, and what it says is read nonetheless.
    let known = "{ // note\n \"marker\": 1 }";
    let facts = read("a.json", FileKind::Json, known);
    assert_eq!((facts.problems.len(), markers(known, &facts)), (1, pairs(&["1"])));
    // What is broken beyond comments is told whoever it belongs to.
    assert_eq!(read("a.json", FileKind::Json, "{ // marker\n \"x\": ").problems.len(), 1);
}

#[test]
fn a_broken_document_costs_itself_and_is_told() {
    let text = "marker: a\n---\nx: [1\n---\nmarker: b\n";
    let facts = read("a.yaml", FileKind::Yaml, text);
    assert_eq!(markers(text, &facts), pairs(&["a", "b"]));
    let [problem] = facts.problems.as_slice() else { panic!("{:?}", facts.problems) };
    assert!(problem.recognised && !problem.template);
}

#[test]
fn a_broken_file_of_nobody_is_not_told() {
    assert_eq!(read("a.yaml", FileKind::Yaml, "x: [1\n").problems, []);
    assert!(!read("a.yaml", FileKind::Yaml, "x: [1\ny: marker\n").problems[0].recognised);
    assert!(read("a.yaml", FileKind::Yaml, "apiVersion: networking.istio.io/v1\nx: [1\n").problems[0].recognised);
    assert!(read("services.yaml", FileKind::Yaml, "# marker\nservices:\n  a: {calls: [\n").problems[0].recognised);
}
