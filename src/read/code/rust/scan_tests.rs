use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::*;

/// Tokens as text, comments left out, kinds by their first letter.
fn tokens(text: &str) -> Vec<String> {
    let kind = |kind: Kind| match kind {
        Kind::Comment => 'c',
        Kind::Word => 'w',
        Kind::Literal => 'l',
        Kind::Lifetime => 't',
        Kind::Open(_) | Kind::Close(_) | Kind::Sign(_) => 's',
    };
    Scanner::new(text, 0).map(|token| format!("{}:{}", kind(token.kind), token.of(text))).collect()
}

#[test]
fn literals_lifetimes_and_comments_are_told_apart() {
    for (text, expected) in [
        ("'a' 'b 'static", vec!["l:'a'", "t:'b", "t:'static"]),
        (r"'\'' '\\' '\u{1F600}' b'\'' '\x7f'", vec![r"l:'\''", r"l:'\\'", r"l:'\u{1F600}'", r"l:b'\''", r"l:'\x7f'"]),
        ("'é' '\"' '{'", vec!["l:'é'", "l:'\"'", "l:'{'"]),
        ("<'a,'b>", vec!["s:<", "t:'a", "s:,", "t:'b", "s:>"]),
        (r#""a\"}" b"{" c"{""#, vec![r#"l:"a\"}""#, r#"l:b"{""#, r#"l:c"{""#]),
        (
            r###"r"\" r#"a"{"# br##""#"## cr"}""###,
            vec![r#"l:r"\""#, r##"l:r#"a"{"#"##, r###"l:br##""#"##"###, r#"l:cr"}""#],
        ),
        ("r#type r#\"a\"#", vec!["w:r#type", "l:r#\"a\"#"]),
        // The end of a longer word is no prefix.
        ("for\"\\\"\"", vec!["w:for", "l:\"\\\"\""]),
        ("\"a\"u8 1u32 0x_ff 1_000 2.5e-3f32", vec!["l:\"a\"u8", "l:1u32", "l:0x_ff", "l:1_000", "l:2.5e-3f32"]),
        (
            "1..2 1.max(2) 1. 1e5-2",
            vec!["l:1", "s:.", "s:.", "l:2", "l:1", "s:.", "w:max", "s:(", "l:2", "s:)", "l:1.", "l:1e5", "s:-", "l:2"],
        ),
        ("a//b\nc/*d/*e*/f*/g", vec!["w:a", "c://b", "w:c", "c:/*d/*e*/f*/", "w:g"]),
        ("a/b /= \"//\"", vec!["w:a", "s:/", "w:b", "s:/", "s:=", "l:\"//\""]),
        ("größe\u{a0}x\u{2028}y", vec!["w:größe", "w:x", "w:y"]),
        ("\"open", vec!["l:\"open"]),
        ("/* open", vec!["c:/* open"]),
        ("r#\"open\"", vec!["l:r#\"open\""]),
        ("", vec![]),
    ] {
        assert_eq!(tokens(text), expected, "{text}");
    }
}

#[test]
fn a_group_is_skipped_with_all_that_hides_brackets() {
    for (group, behind) in [
        ("{ a { b } c }", "d"),
        ("{ '{' '\\'' b'{' \"{\" r#\"{\"# // {\n /* { /* { */ */ &'a x }", "d"),
        ("{ f(\"\\\"{\") r\"\\\" }", "d"),
        ("{ for\"\\\"}\" br#\"}\"# 'r' \"x\" }", "d"),
        // Another kind that is left open does not carry it away.
        ("{ ( [ }", "d"),
        ("( ] \")\" )", "d"),
    ] {
        let text = format!("{group}{behind}");
        let mut scanner = Scanner::new(&text, 1);
        assert_eq!(scanner.skip_group(text.as_bytes()[0]), Some(group.len()), "{text}");
        assert_eq!(scanner.at(), group.len());
    }
    for open in ["{ a", "{ \"}", "{ /* }", "{ 'a", "{ {}", "{ \"\\"] {
        assert_eq!(Scanner::new(open, 1).skip_group(b'{'), None, "{open}");
    }
}

#[test]
fn what_is_no_code_at_the_top_is_stepped_over() {
    for (text, rest) in [
        ("fn f() {}", "fn f() {}"),
        ("\u{feff}fn f() {}", "fn f() {}"),
        ("#!/usr/bin/env run\nfn f() {}", "\nfn f() {}"),
        ("#![allow(x)]\n", "#![allow(x)]\n"),
        ("#! /* a */ [allow(x)]\n", "#! /* a */ [allow(x)]\n"),
        ("\u{feff}#!/bin/run\n---cargo\n[dependencies]\n---  \nfn f() {}", "\nfn f() {}"),
        ("----\na = 1\n---\nb\n----\nfn f() {}", "\nfn f() {}"),
        // Never closed: it is left to the parser to complain.
        ("---\nfn f() {}", "---\nfn f() {}"),
        ("#!", ""),
        ("", ""),
    ] {
        assert_eq!(text.get(preamble(text)..), Some(rest), "{text:?}");
    }
}

/// The tokens of the real lexer, in the form of [`lexed`].
fn real(stream: TokenStream, out: &mut Vec<(char, std::ops::Range<usize>)>) {
    let mut todo = vec![stream.into_iter()];
    let mut closes = Vec::new();
    while let Some(trees) = todo.last_mut() {
        let Some(tree) = trees.next() else {
            todo.pop();
            out.extend(closes.pop());
            continue;
        };
        match tree {
            TokenTree::Group(group) => {
                let open = match group.delimiter() {
                    Delimiter::Parenthesis => '(',
                    Delimiter::Bracket => '[',
                    Delimiter::Brace | Delimiter::None => '{',
                };
                out.push((open, group.span_open().byte_range()));
                closes.push((closing(open as u8) as char, group.span_close().byte_range()));
                todo.push(group.stream().into_iter());
            }
            TokenTree::Ident(ident) => out.push(('w', ident.span().byte_range())),
            TokenTree::Literal(literal) => out.push(('l', literal.span().byte_range())),
            TokenTree::Punct(punct) => out.push((punct.as_char(), punct.span().byte_range())),
        }
    }
}

/// The tokens of the scanner in the real lexer's form: documentation left out, lifetimes in two.
fn lexed(text: &str) -> Vec<(char, std::ops::Range<usize>)> {
    let mut out = Vec::new();
    for token in Scanner::new(text, 0) {
        let range = token.start..token.end;
        match token.kind {
            Kind::Comment => {}
            Kind::Word => out.push(('w', range)),
            Kind::Literal => out.push(('l', range)),
            Kind::Lifetime => {
                out.push(('\'', token.start..token.start + 1));
                out.push(('w', token.start + 1..token.end));
            }
            Kind::Open(sign) | Kind::Close(sign) | Kind::Sign(sign) => out.push((sign as char, range)),
        }
    }
    out
}

/// Compares the scanner with the real lexer wherever that one takes a text.
pub(in crate::read::code::rust) fn agrees(text: &str) -> bool {
    let Ok(stream) = text.parse::<TokenStream>() else { return true };
    let mut expected = Vec::new();
    // Documentation is an attribute to the real lexer: five tokens in one place.
    real(stream, &mut expected);
    proc_macro2::extra::invalidate_current_thread_spans();
    expected.retain(|(_, range)| {
        let text = &text[range.clone()];
        !(text.starts_with("//") || text.starts_with("/*"))
    });
    // The brackets of documentation: the spans of a group of one byte each, at its ends.
    let mut documentation = Vec::new();
    documentation.extend(
        Scanner::new(text, 0).filter(|token| token.kind == Kind::Comment).map(|token| (token.start, token.end)),
    );
    let inside = |range: &std::ops::Range<usize>| {
        let at = documentation.partition_point(|(start, _)| *start <= range.start);
        at.checked_sub(1).is_some_and(|at| range.end <= documentation[at].1)
    };
    expected.retain(|(_, range)| !inside(range));
    lexed(text) == expected
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 2000, ..Default::default() })]

    #[test]
    fn it_agrees_with_the_real_lexer(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..12)) {
        let text: String = pieces.concat();
        proptest::prop_assert!(agrees(&text), "{text:?}: {:?}", lexed(&text));
    }

    #[test]
    fn it_goes_on_over_any_text(text in "\\PC*", at in 0usize..40) {
        let mut end = 0;
        for token in Scanner::new(&text, 0) {
            proptest::prop_assert!(token.start >= end && token.end > token.start && token.end <= text.len());
            end = token.end;
        }
        Scanner::new(&text, at).skip_group(b'{');
        preamble(&text);
    }
}

/// What texts are put together from: all that begins, ends or looks like a literal or comment.
const PIECES: &[&str] = &[
    "\"", "'", "r", "b", "c", "br", "cr", "#", "\\", "a", "é", "_", "0", "1", "e", ".", "-", "+", "x", "{", "}", "(",
    ")", "[", "]", "/", "*", "//", "/*", "*/", "\n", " ", "!", "\u{a0}", "u{41}", "'a'", "'a", "\"\"", "r#\"", "\"#",
    "<", ">", "ERROR", "r\"",
];
