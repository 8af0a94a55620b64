use super::*;
use crate::read::code::rust::items::name_of;

fn cut_of(source: &str, names: &[&str]) -> Cut {
    let outline = Outline::of(source);
    let is_taken: Vec<bool> = outline.items.iter().map(|item| names.contains(&name_of(item, source))).collect();
    cut(source, &outline, &is_taken, 0..outline.items.len() as u32)
}

#[test]
fn what_is_taken_stands_in_the_headers_of_what_is_around() {
    let source = "\
use a::b;
#[x] impl A for é<B> { const C: u8 = 1; fn d() {} fn e() { f } }
mod m { mod n { fn g() {} } fn h() {} trait T { fn i(); } }
fn j() {}
";
    for (names, expected) in [
        (&["e"][..], "#[x] impl A for é<B> {\nfn e() { f }\n}"),
        (&["C", "e"], "#[x] impl A for é<B> {\nconst C: u8 = 1;\nfn e() { f }\n}"),
        (&["g", "i", "j"], "mod m {\nmod n {\nfn g() {}\n}\ntrait T {\nfn i();\n}\n}\nfn j() {}"),
        (&["m"], "mod m { mod n { fn g() {} } fn h() {} trait T { fn i(); } }"),
        (&[], ""),
    ] {
        let cut = cut_of(source, names);
        assert_eq!(cut.text(), expected);
        // Every piece is found again where it stood.
        for (start, char) in cut.text().char_indices().filter(|(_, char)| *char != '\n') {
            let at = cut.at(start..start + char.len_utf8());
            assert_eq!(source[at.start as usize..at.end as usize].chars().next(), Some(char));
        }
    }
    let cut = cut_of(source, &["C", "e"]);
    let whole = cut.at(0..cut.text().len());
    assert_eq!(&source[whole.start as usize..whole.end as usize], source.lines().nth(1).unwrap());
    let two = cut.text().find("1;\nfn e").unwrap();
    let two = cut.at(two..two + "1;\nfn e".len());
    assert_eq!(&source[two.start as usize..two.end as usize], "1; fn d() {} fn e");
}

#[test]
fn pieces_that_touch_are_one() {
    let source = "fn a(){}fn b(){}fn c(){}";
    let cut = cut_of(source, &["a", "b"]);
    assert_eq!(cut.text(), "fn a(){}fn b(){}");
    assert_eq!(cut.at(0..0), at(0, 0));
}

#[test]
fn a_part_of_the_items_keeps_its_surroundings() {
    let source = "mod m { impl A { fn b() {} fn c() {} } fn d() {} } fn e() {}";
    let outline = Outline::of(source);
    let all: Vec<bool> =
        outline.items.iter().map(|item| item.body.is_some() && !"mA".contains(name_of(item, source))).collect();
    for (ids, expected) in [
        (2..3, "mod m {\nimpl A {\nfn b() {}\n}\n}"),
        (1..4, "mod m {\nimpl A {\nfn b() {}\nfn c() {}\n}\n}"),
        (4..5, "mod m {\nfn d() {}\n}"),
        (5..6, "fn e() {}"),
        (6..7, ""),
    ] {
        assert_eq!(cut(source, &outline, &all, ids).text(), expected);
    }
    // The last bracket is missing in the file.
    let source = "mod m { fn b() {} ";
    assert_eq!(cut(source, &Outline::of(source), &[false, true], 0..2).text(), "mod m {\nfn b() {}}");
}
