use super::*;

/// What each `//?` of a text covers.
fn asked(text: &str) -> Vec<&str> {
    let comments: Vec<Asked> = text
        .match_indices("//?")
        .map(|(start, _)| {
            let line = text[..start].rfind('\n').map_or(0, |line| line + 1);
            let end = text[start..].find('\n').map_or(text.len(), |end| start + end);
            let is_alone = text[line..start].trim().is_empty();
            Asked { comment: at(start, end), line: (!is_alone).then_some(line) }
        })
        .collect();
    covered(text, 0, &comments).iter().map(|at| &text[at.start as usize..at.end as usize]).collect()
}

#[test]
fn alone_it_covers_what_comes_next_up_to_its_end() {
    // Between `<` and `>` stands what the comment covers.
    for text in [
        "fn a() {}\n//?\n«fn b() { c; }» fn d() {}",
        "«pub(crate) async fn a<A, B>(x: A) -> M<{ 1 }, B> where A: B, C: D { e(1, 2); }» f();",
        "// more\n\n/// doc\n«#[a(b, c)]\n#[d]\npub fn a() {}» fn b() {}",
        "«impl A for B { fn c() {} }» fn d() {}",
        "«struct A { b: u8, c: u8 }» fn d() {}",
        "«mod a;» fn b() {}",
        "«use a::{b, c};» fn d() {}",
        "«const A: [u8; 2] = [1, 2];» fn d() {}",
        "«#![allow(a)]» fn d() {}",
        "«macro_rules! a { () => {} }» fn b() {}",
        "fn a() {\n//?\n«let x = y(|a, b| { c; d }, e);» f(); }",
        "fn a() {\n//?\n«let x: HashMap<A, B> = f::<C, D>(g);» f(); }",
        "fn a() {\n//?\n«x = |a, b| c + d;» f(); }",
        "fn a() {\n//?\n«x()» }",
        "fn a() {\n//?\n«x().await?.y();» z(); }",
        "fn a() {\n//?\n«if b { c } else if d { e } else { f }» g(); }",
        "fn a() {\n//?\n«if b == unsafe { c } { d }» g(); }",
        "fn a() {\n//?\n«match b { C => d, E => { f } }» g(); }",
        "fn a() {\n//?\n«match b { C => d }.await?;» g(); }",
        "fn a() {\n//?\n«'outer: loop { b }» g(); }",
        "fn a() {\n//?\n«for x in 0..3 { b }» g(); }",
        "fn a() {\n//?\n«for x in 0.. { b }» g(); }",
        "fn a() {\n//?\n«async move { b }.await;» g(); }",
        "fn a() {\n//?\n«unsafe { b }» g(); }",
        "fn a() {\n//?\n«{ b }» g(); }",
        "fn a() {\n//?\n«select! { a = b => c, d = e => f }» g(); }",
        "fn a() {\n//?\n«tokio::select! { a = b => c }.await;» g(); }",
        "fn a() {\n//?\n«let Some(a) = b else { return };» g(); }",
        "fn a() {\n//?\n«let x = A { b, c };» g(); }",
        "fn a() { match b {\n//?\n«C | D if e => f(g, h)», I => j } }",
        "fn a() { match b {\n//?\n«C => { f }» I => j } }",
        "fn a() { match b {\n//?\n«C => if f { g } else { h }» I => j } }",
        "fn a() { match b {\n//?\n«C => f { g }», I => j } }",
        "fn a() { b(c,\n//?\n«d.e(f, g)», h) }",
        "fn a() { b\n//?\n«.c(|d| { e; f })\n.g();» h(); }",
        "struct A { b: u8,\n//?\n«pub c: HashMap<D, E>», f: u8 }",
        "enum A { B,\n//?\n«C { d: u8 }», E }",
        "fn a() { b;\n//?\n«» }",
        "fn a() { b }\n//?\n",
    ] {
        let text = if text.contains("//?") { text.to_owned() } else { format!("//?\n{text}") };
        let expected = text.split_once('«').map_or("", |(_, rest)| rest.split_once('»').unwrap().0).to_owned();
        let text = text.replace(['«', '»'], "");
        assert_eq!(asked(&text), [expected.as_str()], "{text}");
    }
}

#[test]
fn behind_code_it_covers_the_line_and_what_begins_on_it() {
    for text in [
        "fn a() { b();\n«    c(); //?»\n d(); }",
        "fn a() {\n«    let b = c() //?\n        .d()\n        .e();»\n f(); }",
        "fn a() {\n«    for b in c { //?\n        d();\n    }»\n f(); }",
        "fn a() {\n«    b(); c(|| { //?\n        d();\n    });»\n f(); }",
        "«fn a() { //?\n    b();\n}»\nfn c() {}",
        "fn a() { match b {\n«    Err(e) => { //?\n        c();\n    }»\n    d => e,\n} }",
        "fn a() { b()\n«        .c(d) //?»\n        .e();\n}",
        "fn a() { if b {\n    c\n«} else { //?»\n    d\n}\n}",
        "fn a() { b(\n«    c, //?»\n    d)\n}",
        "fn a() { loop {\n    b();\n«} //?»\n c(); }",
        "«fn a() {} //?»",
        "«fn a() { //?\n    b(»",
    ] {
        let expected = text.split_once('«').unwrap().1.split_once('»').unwrap().0.to_owned();
        let text = text.replace(['«', '»'], "");
        assert_eq!(asked(&text), [expected.as_str()], "{text}");
    }
}

#[test]
fn several_are_answered_each() {
    let text = "//?\n//?\nfn a() { //?\n    //?\n    b();\n    //?\n}\n//?\nfn c() {}\n";
    let a = "fn a() { //?\n    //?\n    b();\n    //?\n}";
    assert_eq!(asked(text), [a, a, a, "b();", "", "fn c() {}"]);
}

#[test]
fn depth_and_number_cost_no_more_than_a_pass() {
    for text in ["//?\n{", "//?\n(a,", "a( //?\n", "//?\n#[a", "//?\nif a ", "//?\n}", "a => //?\n"] {
        let text = text.repeat(20_000);
        assert_eq!(asked(&text).len(), 20_000);
    }
}
