use super::*;
use crate::read::code::rust::items::at;

/// What `check` says of a whole text.
fn checked(text: &str) -> Result<(), &'static str> {
    check(text, at(0, text.len())).map_err(|too_deep| too_deep.why)
}

/// `count` times `open`, then `middle`, then as often `close`, in the body of a function.
pub(in crate::read::code::rust) fn nested(open: &str, middle: &str, close: &str, count: usize) -> String {
    format!("fn f() {{ x = {}{middle}{}; }}", open.repeat(count), close.repeat(count))
}

const DEEP: &str = "nested more than 256 deep";
const ANGLES: &str = "type arguments are nested more than 128 deep";
const PREFIXES: &str = "operators and keywords are nested more than 256 deep";
const LINKS: &str = "an expression has more than 5,000 operators";

/// Everything that the parser recurses on: the most that passes within `fn f() { x = …; }`, and what is said of one more.
pub(in crate::read::code::rust) const HOSTILE: &[(&str, &str, &str, usize, &str)] = &[
    ("(", "1", ")", 255, DEEP),
    ("[", "1", "]", 255, DEEP),
    ("{", "1", "}", 255, DEEP),
    ("a(", "1", ")", 255, DEEP),
    ("if a { ", "1", "}", 255, DEEP),
    ("|| { ", "1", "}", 255, DEEP),
    ("mod a { ", "", "}", 255, DEEP),
    ("m!(", "1", ")", 255, DEEP),
    ("x as A<", "u8", ">", 128, ANGLES),
    ("x::<A, B<", "u8", ">>", 64, ANGLES),
    ("<<", "u8", " as A>::B as C>::D", 64, ANGLES),
    ("A<1, ", "u8", ">", 128, ANGLES),
    ("!", "1", "", 256, PREFIXES),
    ("&", "1", "", 256, PREFIXES),
    ("&&", "1", "", 128, PREFIXES),
    ("-", "1", "", 256, PREFIXES),
    ("*", "1", "", 256, PREFIXES),
    (".. ", "1", "", 256, PREFIXES),
    ("..=", "1", "", 256, PREFIXES),
    ("&mut ", "1", "", 256, PREFIXES),
    ("#[a(b)] !", "1", "", 256, PREFIXES),
    ("|| ", "1", "", 256, PREFIXES),
    ("|a| ", "1", "", 256, PREFIXES),
    ("|a, (b, c)| ", "1", "", 256, PREFIXES),
    ("move |a: A<B, C>| ", "1", "", 256, PREFIXES),
    ("return ", "1", "", 256, PREFIXES),
    ("break 'a ", "1", "", 256, PREFIXES),
    ("if ", "1", " {}", 256, PREFIXES),
    ("match ", "1", " {}", 256, PREFIXES),
    ("for A {} in ", "1", " {}", 256, PREFIXES),
    ("&'a mut ", "T", "", 256, PREFIXES),
    ("*const ", "T", "", 256, PREFIXES),
    ("fn(A) -> ", "T", "", 256, PREFIXES),
    ("for<'a, 'b> fn() -> ", "T", "", 128, PREFIXES),
    ("a.", "b", "", 4997, LINKS),
    ("1 + ", "1", "", 4997, LINKS),
    ("a && ", "b", "", 4997, LINKS),
    ("a < 1 || ", "b", "", 2498, LINKS),
    ("", "a", "?", 4997, LINKS),
    ("", "a", "()", 4997, LINKS),
    ("", "a", "[0]", 4997, LINKS),
    ("", "a", ".await", 4997, LINKS),
    ("", "a", " as u8", 4997, LINKS),
    ("if a {} else ", "{}", "", 4997, LINKS),
    ("a = ", "b", "", 2498, LINKS),
    ("a += ", "b", "", 1665, LINKS),
    ("a @ ", "b", "", 4997, LINKS),
];

#[test]
fn each_kind_of_nesting_has_its_limit() {
    for (open, middle, close, most, why) in HOSTILE {
        assert_eq!(checked(&nested(open, middle, close, *most)), Ok(()), "{open}");
        assert_eq!(checked(&nested(open, middle, close, most + 1)), Err(*why), "{open}");
        assert_eq!(checked(&nested(open, middle, close, 100_000)), Err(*why), "{open}");
        // Bodies of macros are parsed too.
        let body = format!("{}{middle}{}", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(checked(&format!("fn f() {{ m!{{ {body} }} }}")), Err(*why), "{open}");
    }
    assert_eq!(checked(&format!("use {}b;", "a::".repeat(5_000))), Ok(()));
    assert_eq!(checked(&format!("use {}b;", "a::".repeat(5_001))), Err(LINKS));
    assert_eq!(checked(&format!("use {}b;", "a::{".repeat(256))), Ok(()));
    assert_eq!(checked(&format!("use {}b;", "a::{".repeat(257))), Err(DEEP));
}

#[test]
fn the_path_counts_and_not_what_stands_beside_it() {
    for text in [
        // Statements, arguments, arms and items side by side are no nesting.
        "fn f() { if a { } else { } }".repeat(10_000),
        format!("fn f() {{ {} }}", "if a {} match b {} for c in d {} return; ".repeat(10_000)),
        format!("fn f() {{ {} }}", "let a: Vec<Vec<u8>> = !b; x = y + &z; ".repeat(10_000)),
        format!("fn f() {{ match a {{ {} }} }}", "A { b } | C => {} D if e => f(), &G => !h, ".repeat(10_000)),
        format!("const A: &[u8] = &[{}];", "-1, 2 + 3, a < b, c > d, |x| y, ".repeat(10_000)),
        format!("impl A {{ {} }}", "pub fn a<T: B<C>>(&self) -> Result<D, E<F>> { } ".repeat(10_000)),
        format!("struct A {{ {} }}", "a: Option<fn(&B<'a, C>) -> *const D>, ".repeat(10_000)),
        format!("trait A {{ {} }}", "fn a() -> B; ".repeat(10_000)),
        format!("use a::{{{}}};", "b::c, d::{e as f}, ".repeat(10_000)),
    ] {
        assert_eq!(checked(&text), Ok(()), "{}", text.get(..60).unwrap_or_default());
    }
    // What is around counts on: half of it outside of brackets, half inside.
    let half = "!".repeat(128);
    assert_eq!(checked(&format!("{half}({half}a)")), Ok(()));
    assert_eq!(checked(&format!("{half}(b, c; {half}!a)")), Err(PREFIXES));
    assert_eq!(checked(&format!("{half}(b)({half}!a)")), Err(PREFIXES));
    assert_eq!(checked(&format!("{half}b, {half}!a")), Ok(()));
}

#[test]
fn it_tells_where() {
    let text = format!("fn a() {{}} fn b() {{ {}", "(".repeat(300));
    let found = check(&text, at(0, text.len()));
    assert_eq!(found, Err(TooDeep { place: "fn a() {} fn b() { ".len() + 255, why: DEEP }));
    assert_eq!(check(&text, at(0, 9)), Ok(()));
}
