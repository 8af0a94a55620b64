use super::*;
use crate::read::data::tree::Node;
use crate::source::Span;

fn tree(text: &str) -> Tree {
    let tree = parse(FileId(0), text);
    assert_eq!(tree.errors, [], "{text}");
    for node in &tree.nodes {
        assert!(text.get(node.start as usize..node.end as usize).is_some(), "{node:?}");
    }
    tree
}

fn root(tree: &Tree) -> Node<'_> {
    tree.documents().next().unwrap()
}

fn slice(text: &str, span: Span) -> &str {
    &text[span.range()]
}

/// A whole chart template, as charts have them.
const CHART: &str = r#"{{- if .Values.mesh.enabled }}
{{- $name := include "web.name" . }}
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata:
  name: {{ $name }}-routes
  labels:
    {{- include "web.labels" . | nindent 4 }}
  annotations: {{ toYaml .Values.annotations | nindent 4 }}
spec:
  hosts:
    - "{{ .Values.host }}"
    {{- range .Values.more }}
    - {{ . | quote }}
    {{- end }}
  http:
    - timeout: {{ .Values.timeout | default "2s" }}   # café
      retries:
        attempts: 3
        perTryTimeout: 1s
        {{- with .Values.retryOn }}
        retryOn: {{ . }}
        {{- end }}
      route:
        - destination:
            host: {{ .Values.a }}.{{ .Values.b }}
      {{- /* a comment
        on two lines */}}
    - retries:
        {{- toYaml .Values.retries | nindent 8 }}
{{- end }}
"#;

#[test]
fn a_chart_is_read_with_its_expressions_as_holes_and_every_span_in_place() {
    let tree = tree(CHART);
    assert!(tree.is_template);
    let root = root(&tree);
    let at = |path: &[&str]| root.at(path).unwrap();
    assert_eq!(at(&["kind"]).text(), Some("VirtualService"));
    assert_eq!(at(&["metadata", "name"]).hole(), Some("{{ $name }}-routes"));
    assert_eq!(at(&["metadata", "labels"]).hole(), Some(r#"{{- include "web.labels" . | nindent 4 }}"#));
    assert_eq!(at(&["metadata", "annotations"]).hole(), Some("{{ toYaml .Values.annotations | nindent 4 }}"));
    let hosts: Vec<_> = at(&["spec", "hosts"]).items().map(Node::hole).collect();
    assert_eq!(hosts, [Some("{{ .Values.host }}"), Some("{{ . | quote }}")]);
    let routes: Vec<_> = at(&["spec", "http"]).items().collect();
    let timeout = routes[0].get("timeout").unwrap();
    assert_eq!(timeout.hole(), Some(r#"{{ .Values.timeout | default "2s" }}"#));
    assert_eq!(slice(CHART, timeout.span()), r#"{{ .Values.timeout | default "2s" }}"#);
    let retries = routes[0].get("retries").unwrap();
    assert_eq!(retries.get("attempts").unwrap().text(), Some("3"));
    assert_eq!(slice(CHART, retries.get("perTryTimeout").unwrap().span()), "1s");
    assert_eq!(retries.get("retryOn").unwrap().hole(), Some("{{ . }}"));
    let host = routes[0].get("route").unwrap().items().next().unwrap().at(&["destination", "host"]).unwrap();
    assert_eq!(host.hole(), Some("{{ .Values.a }}.{{ .Values.b }}"));
    assert_eq!(routes[1].get("retries").unwrap().hole(), Some("{{- toYaml .Values.retries | nindent 8 }}"));
    assert_eq!(slice(CHART, tree.comments[0].span), "# café");
    // The same with the line ends of Windows.
    let windows = CHART.replace('\n', "\r\n");
    let other = self::tree(&windows);
    assert_eq!(tree.nodes.len(), other.nodes.len());
}

#[test]
fn a_line_that_prints_among_entries_hides_none_of_them() {
    let tree = tree("a: 1\nb:\n  c: 2\n  {{- include \"x\" . | nindent 2 }}\n  d: 3\ne: 4\n");
    let root = root(&tree);
    assert_eq!(root.at(&["b", "c"]).unwrap().text(), Some("2"));
    assert_eq!(root.at(&["b", "d"]).unwrap().text(), Some("3"));
    assert_eq!(root.get("e").unwrap().text(), Some("4"));
}

#[test]
fn a_line_that_prints_among_items_is_an_item() {
    for text in [
        "args:\n  - a\n  {{- toYaml .x | nindent 2 }}\n  - b\n",
        "args:\n{{ toYaml .x | indent 2 }}\n  - b\n",
        "args:\n- a\n{{ toYaml .Values.more }}\n",
    ] {
        let tree = tree(text);
        let items: Vec<_> = root(&tree).get("args").unwrap().items().collect();
        assert!(items.iter().any(|item| item.hole().is_some()), "{text}");
        assert!(items.iter().any(|item| item.text().is_some()), "{text}");
    }
}

#[test]
fn what_is_printed_below_a_key_may_have_more_entries_behind_it() {
    let tree = tree(
        "labels: {{- include \"x\" . | nindent 2 }}\n  app: web\nargs: {{ toYaml .a | nindent 2 }}\n  - b\nlist:\n- {{ toYaml . | nindent 2 | trim }}\n  port: 1\nend: {{ toYaml .e | nindent 2 }}\n",
    );
    let root = root(&tree);
    assert_eq!(root.at(&["labels", "app"]).unwrap().text(), Some("web"));
    assert_eq!(root.get("args").unwrap().items().last().unwrap().text(), Some("b"));
    assert_eq!(root.get("list").unwrap().items().next().unwrap().get("port").unwrap().text(), Some("1"));
    assert_eq!(root.get("end").unwrap().hole(), Some("{{ toYaml .e | nindent 2 }}"));
}

#[test]
fn branches_that_do_not_fit_together_leave_the_written_one() {
    let tree = tree(
        "rules:\n{{- with .x }}\n{{- toYaml . | nindent 2 }}\n{{- else }}\n- verbs:\n  - get\n{{- end }}\nend: 1\n",
    );
    let root = root(&tree);
    assert_eq!(root.get("rules").unwrap().items().next().unwrap().get("verbs").unwrap().items().count(), 1);
    assert_eq!(root.get("end").unwrap().text(), Some("1"));
}

#[test]
fn a_choice_of_keys_on_one_line_is_an_unknown_key() {
    let tree = tree(
        "{{ if .x -}} stringData: {{- else -}} data: {{- end }}\n  a.yaml: |\n{{- if .y }}\n    b: 1\n{{- end }}\nend: 1\n",
    );
    let root = root(&tree);
    assert!(root.get("data").is_none());
    assert_eq!(root.get("end").unwrap().text(), Some("1"));
}

#[test]
fn steering_inside_of_a_block_of_text_breaks_nothing() {
    let text = "data:\n  a.yaml: |\n        {{- if .x }}\n    b: 1\n        {{- end }}\n    c: {{ .y }}\nend: 1\n";
    let tree = tree(text);
    let root = root(&tree);
    assert!(root.at(&["data", "a.yaml"]).unwrap().hole().is_some());
    assert_eq!(root.get("end").unwrap().text(), Some("1"));
}

#[test]
fn jinja_is_read_like_helm() {
    let text =
        "{% set x = 1 %}\na: {{ x }}\n{% for h in hosts %}\n{{ h }}:\n  - {{ h }}:80\n{% endfor %}\n{# note #}\nb: 2\n";
    let tree = tree(text);
    assert_eq!(root(&tree).get("a").unwrap().hole(), Some("{{ x }}"));
    assert_eq!(root(&tree).get("b").unwrap().text(), Some("2"));
}

#[test]
fn a_document_that_is_one_expression_is_a_hole() {
    let tree = tree("{{ include \"lib.deployment\" . }}\n");
    assert_eq!(root(&tree).hole(), Some("{{ include \"lib.deployment\" . }}"));
}

#[test]
fn documents_between_expressions_stay_apart() {
    let tree = tree("{{- range .x }}\n---\na: {{ . }}\n{{- end }}\n---\nb: 1\n");
    let last = tree.documents().last().unwrap();
    assert_eq!(last.get("b").unwrap().text(), Some("1"));
}

#[test]
fn braces_in_what_is_no_template_damage_nothing() {
    // GitHub's expressions, Prometheus' labels, a script in a block.
    let text = "run: ${{ github.ref }}\nsummary: \"{{ $labels.x }} is down\"\nexpr: '{{ $value }}'\ndescription: |\n  {{ if .x }}\n  text\n  {{ end }}\nmap: {a: {b: c}}\nnext: 1\n";
    let tree = tree(text);
    let root = root(&tree);
    assert_eq!(root.get("run").unwrap().text(), Some("${{ github.ref }}"));
    assert_eq!(root.get("summary").unwrap().hole(), Some("{{ $labels.x }} is down"));
    assert_eq!(root.get("expr").unwrap().hole(), Some("{{ $value }}"));
    assert_eq!(root.get("description").unwrap().text(), Some("{{ if .x }}\ntext\n{{ end }}\n"));
    assert_eq!(root.at(&["map", "a", "b"]).unwrap().text(), Some("c"));
    assert_eq!(root.get("next").unwrap().text(), Some("1"));
}

#[test]
fn a_value_is_not_joined_with_the_steering_below_it() {
    let tree = tree("retries:\n  attempts: 3\n    {{- if .Values.x }}\n  retryOn: 5xx\n    {{- end }}\n");
    assert_eq!(root(&tree).at(&["retries", "attempts"]).unwrap().text(), Some("3"));
    assert_eq!(root(&tree).at(&["retries", "retryOn"]).unwrap().text(), Some("5xx"));
}

#[test]
fn a_value_between_steering_is_unknown() {
    let tree = tree("attempts: {{ if .x }}3{{ else }}5{{ end }}\nnext: 1\n");
    assert_eq!(root(&tree).get("attempts").unwrap().hole(), Some("{{ if .x }}3{{ else }}5{{ end }}"));
    assert_eq!(root(&tree).get("next").unwrap().text(), Some("1"));
}

#[test]
fn a_template_that_cannot_be_read_says_that_it_is_one() {
    let text = "a: {{ .x }}\n  b: [\n";
    let tree = parse(FileId(0), text);
    assert!(tree.is_template);
    assert_eq!(tree.errors.len(), 1);
}

#[test]
fn many_expressions_on_one_line_cost_linear_time() {
    let text = format!("a: {}\nb: 1\n", "{{ x }}".repeat(100_000));
    let tree = tree(&text);
    assert_eq!(root(&tree).get("b").unwrap().text(), Some("1"));
}

#[test]
fn what_is_defined_is_a_document_of_its_own() {
    let text = "{{- define \"rules\" }}\n- a: {{ .x }}\n  b: 1\n{{- end }}\n\nkind: Hooks\nlist:\n{{- include \"rules\" . }}\n  more: 2\n";
    for text in [text.to_string(), text.replace('\n', "\r\n")] {
        let tree = tree(&text);
        let documents: Vec<_> = tree.documents().filter(|document| !document.is_null()).collect();
        let [part, object] = documents.as_slice() else { panic!("{documents:?}") };
        assert_eq!(part.items().next().unwrap().get("b").unwrap().text(), Some("1"));
        assert_eq!(object.get("kind").unwrap().text(), Some("Hooks"));
        // Its own lines are all there; in the object that includes it they are not.
        assert!(!part.may_hold_more() && object.may_hold_more());
    }
}

#[test]
fn a_definition_on_one_line_or_inside_of_a_text_divides_nothing() {
    let tree = tree(
        "a: 1\n{{- define \"x\" }}{{ .y }}{{ end }}\nb: 2\nc: |\n  {{ define \"z\" }}\n  text\n  {{ end }}\nd: 3\n",
    );
    assert_eq!(tree.documents().count(), 1);
    assert_eq!(root(&tree).get("d").unwrap().text(), Some("3"));
}

#[test]
fn a_document_into_which_no_line_is_printed_is_known_whole() {
    let text = "a: {{ .x }}\n{{- if .y }}\nb: 1\n{{- end }}\n---\na: 2\n{{- include \"more\" . | nindent 0 }}\n---\na: \"{{ .z }}\"\n";
    let tree = tree(text);
    assert_eq!(tree.documents().map(Node::may_hold_more).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn variables_are_left_out_only_where_they_break_what_they_stand_in() {
    let text = "a: {b: ${B}, c: ${C:-1}}\nlist:\n  - 1\n  ${MORE}\nd: ${D}\n";
    let broken = tree(text);
    assert!(broken.is_template);
    assert_eq!(root(&broken).at(&["a", "b"]).unwrap().hole(), Some("${B}"));
    assert_eq!(root(&broken).get("list").unwrap().items().count(), 2);
    assert!(root(&broken).may_hold_more());
    let whole = tree("d: ${D}\ne: http://${HOST}:80\n");
    assert!(!whole.is_template);
    assert_eq!(root(&whole).get("d").unwrap().text(), Some("${D}"));
    // What is broken for another reason is no template.
    let other = parse(FileId(0), "d: ${D}\ne: [\n");
    assert!(!other.is_template && other.errors.len() == 1);
}

#[test]
fn a_text_whose_header_and_expression_touch_is_unknown() {
    let text = "data:\n  a.crt: |-{{ .Values.pem | trim | nindent 4 }}\n  b: >{{ .b }}\nc: 1\n";
    let tree = tree(text);
    assert_eq!(root(&tree).at(&["data", "a.crt"]).unwrap().hole(), Some("|-{{ .Values.pem | trim | nindent 4 }}"));
    assert!(root(&tree).at(&["data", "b"]).unwrap().hole().is_some());
    assert_eq!(root(&tree).get("c").unwrap().text(), Some("1"));
}

#[test]
fn an_empty_branch_takes_nothing_from_the_other_one() {
    let text = "tracing:\n{{- if .x }}\n  zipkin:\n    address: {{ .x }}\n{{- else }}\n  {}\n{{- end }}\nnext: {}\n";
    let tree = tree(text);
    assert_eq!(root(&tree).at(&["tracing", "zipkin", "address"]).unwrap().hole(), Some("{{ .x }}"));
    assert!(root(&tree).get("next").unwrap().is_map());
}
