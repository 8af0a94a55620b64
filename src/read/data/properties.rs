//! What holds for any text: no panic, spans inside the text and on the borders of characters, plain scalars as written.

use proptest::prelude::*;

use super::tree::{Data, Tree};
use super::{json, parse, toml, yaml};
use crate::facts::{Facts, FileKind, Scope};
use crate::read::suppress;
use crate::source::{FileId, Span};

const KINDS: [(FileKind, &str); 4] = [
    (FileKind::Yaml, "a.yaml"),
    (FileKind::Json, "a.json"),
    (FileKind::Json, "appsettings.json"),
    (FileKind::Toml, "a.toml"),
];

const SEEDS: [&str; 5] = [
    "a: &x {b: [1, 'é', \"\\u00e9\"], c: }\n# retrylint: allow(no-backoff) é\nd: *x\n? e\n: |\n  ☕ text\n  more\n---\n- !t f\n- - g\n...\n",
    "{{- if .Values.é }}\na: {{ .Values.x | default \"☕\" }}-y\nb:\n  {{- toYaml .Values.b | nindent 2 }}\nc:\n  - \"{{ .d }}\"\n  {{- include \"e\" . | indent 2 }}\n{{- end }} # retrylint: allow(x)\n",
    "\u{feff}{\"a\": [1.5, null, {\"é\": \"☕\\n\"}], // retrylint: alow(x)\n \"b\": true}\n{\"c\": 2}",
    "\u{feff}# é\n[a.'b'] # retrylint: allow-file(x)\nc = [1, {d = \"\"\"\n☕\"\"\"}]\n[[e]]\nf = 0x1f\n",
    "kind: ConfigMap\ndata:\n  a.yaml: |\n    b: ☕ # retrylint: allow(y)\n    c: [\r\n  d: x\r\n",
];

/// Pieces that break parsers more often than random characters do.
const PIECES: [&str; 40] = [
    "a",
    ": ",
    ":\n",
    "- ",
    "? ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\n",
    "\r\n",
    "  ",
    "\t",
    "&x ",
    "*x",
    "<<",
    "|\n",
    ">-\n",
    "'",
    "\"",
    "\\",
    "#",
    " # ",
    "---\n",
    "...\n",
    "!!str ",
    "%",
    "{{ ",
    " }}",
    "{%",
    "é",
    "☕",
    "\u{feff}",
    "=",
    "//",
    "/*",
    "*/",
    "nindent 3",
    "retrylint: allow(",
];

fn check(tree: &Tree, text: &str) {
    let fits = |start: u32, end: u32| text.get(start as usize..end as usize).is_some();
    for (id, node) in tree.nodes.iter().enumerate() {
        assert!(fits(node.start, node.end), "{node:?} in {text:?}");
        if let Data::Alias(target) = node.data {
            assert!((target as usize) < id);
        }
    }
    for span in tree.errors.iter().map(|e| e.span).chain(tree.comments.iter().map(|c| c.span)) {
        assert!(fits(span.start, span.end), "{span:?} in {text:?}");
    }
    for root in tree.documents() {
        assert!(root.walk().count() <= tree.nodes.len());
    }
    let mut facts = Facts::default();
    suppress::read(tree, text, &mut facts);
    let spans = facts.suppressions.iter().flat_map(|one| {
        let scope = match one.scope {
            Scope::Range(span) => span,
            Scope::File => one.span,
        };
        one.rules.iter().map(|(_, span)| *span).chain([one.span, scope]).collect::<Vec<Span>>()
    });
    for span in spans.chain(facts.misdirected.iter().map(|wrong| wrong.span)) {
        assert!(fits(span.start, span.end), "{span:?} in {text:?}");
    }
}

/// A plain scalar on one line is its own source.
fn check_plain(tree: &Tree, text: &str) {
    for node in &tree.nodes {
        let written = &text[node.start as usize..node.end as usize];
        match &node.data {
            Data::Scalar { text: value, quoted: false } if !written.contains('\n') && !written.contains('\r') => {
                assert_eq!(written, &**value, "in {text:?}");
            }
            _ => {}
        }
    }
}

fn check_all(text: &str) {
    for (kind, path) in KINDS {
        check(&parse(kind, path, FileId(0), text), text);
        let mut parsed = crate::read::parse_file(path, kind, text, true);
        parsed.renumber(FileId(3));
        parsed.has_something(text);
        let facts = parsed.read(path, text, &crate::read::ReadSettings::default());
        for problem in &facts.problems {
            assert!(text.get(problem.span.range()).is_some(), "{problem:?} in {text:?}");
        }
    }
    check_plain(&yaml::parse(FileId(0), text), text);
    check_plain(&json::parse(FileId(0), text), text);
    let _ = toml::parse(FileId(0), text);
}

/// A seed with pieces cut out and others put in.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0_usize..6, prop::sample::select(&PIECES[..]));
    (prop::sample::select(&SEEDS[..]), prop::collection::vec(change, 1..6)).prop_map(|(seed, changes)| {
        let mut chars: Vec<char> = seed.chars().collect();
        for (at, cut, piece) in changes {
            let at = at.index(chars.len() + 1);
            let end = (at + cut).min(chars.len());
            chars.splice(at..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_all(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_heap_of_pieces_is_read_without_a_panic(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)) {
        check_all(&pieces.concat());
    }

    #[test]
    fn any_change_of_a_good_file_is_read_without_a_panic(text in mutated()) {
        check_all(&text);
    }

    #[test]
    fn any_text_is_a_duration_or_none(text in "[0-9.,:PTDHMSpdhmsnuµ +-]{0,24}") {
        use super::duration::{Syntax, parse};
        for syntax in [
            Syntax::Proto, Syntax::Istio, Syntax::Go, Syntax::GatewayApi, Syntax::Linkerd, Syntax::Traefik, Syntax::Nginx,
            Syntax::Dapr, Syntax::Argo, Syntax::Dotnet, Syntax::Iso8601, Syntax::BareSeconds, Syntax::BareMillis, Syntax::Any,
        ] {
            let _ = parse(&text, syntax);
        }
    }
}

#[test]
fn the_seeds_themselves_hold() {
    for seed in SEEDS {
        check_all(seed);
    }
}
