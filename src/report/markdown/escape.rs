//! Text within Markdown that stays text. Entities are used throughout: in no reading of Markdown or HTML do they begin
//! anything.

use crate::report::text;

/// Text for one line, in which nothing is markup but what stands between two backticks: that is shown as code. An odd
/// backtick is shown.
pub(super) fn inline(body: &str) -> String {
    let body = body.trim();
    escape(body, body.matches('`').count() / 2 * 2)
}

/// Text for one line, all of it shown as code.
pub(super) fn code(body: &str) -> String {
    format!("<code>{}</code>", escape(body, 0))
}

/// Of the backticks, the first `ticks` begin and end code.
fn escape(body: &str, mut ticks: usize) -> String {
    let body = text::line(body);
    let mut is_code = false;
    let mut out = String::with_capacity(body.len() + body.len() / 4);
    let mut before = ['\0'; 3];
    for (at, c) in body.char_indices() {
        match c {
            '`' if ticks > 0 => {
                out.push_str(if is_code { "</code>" } else { "<code>" });
                is_code = !is_code;
                ticks -= 1;
            }
            // A bare address would become a link.
            ':' if body.get(at..).is_some_and(|rest| rest.starts_with("://")) => out.push_str("&#58;"),
            '.' if before.iter().all(|c| c.eq_ignore_ascii_case(&'w')) => out.push_str("&#46;"),
            c => push(c, &mut out),
        }
        before = [before[1], before[2], c];
    }
    out
}

fn push(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        // Behind these, a name is one of a person and a number one of an issue: the comment comes between them and vanishes.
        '@' | '#' => out.push_str(&format!("&#{};<!-- -->", u32::from(c))),
        '`' | '\\' | '*' | '_' | '~' | '|' | '[' | ']' | '$' => {
            out.push_str(&format!("&#{};", u32::from(c)));
        }
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_an_entity() {
        assert_eq!(inline("a|b"), "a&#124;b");
        assert_eq!(inline("<script>"), "&lt;script&gt;");
        assert_eq!(inline("&amp;"), "&amp;amp;");
        assert_eq!(inline("[x](y)"), "&#91;x&#93;(y)");
        assert_eq!(
            inline("*b* _i_ ~~s~~ $m$ \\"),
            "&#42;b&#42; &#95;i&#95; &#126;&#126;s&#126;&#126; &#36;m&#36; &#92;"
        );
        assert_eq!(inline("a\n\n# b\u{1b}"), "a␊␊&#35;<!-- --> b␛");
        assert_eq!(inline("@team #1"), "&#64;<!-- -->team &#35;<!-- -->1");
        assert_eq!(inline("http://a www.b ww.c"), "http&#58;//a www&#46;b ww.c");
    }

    #[test]
    fn backticks_are_code_two_by_two() {
        assert_eq!(inline("`web` to `a_b`"), "<code>web</code> to <code>a&#95;b</code>");
        assert_eq!(inline("`a` and `b"), "<code>a</code> and &#96;b");
        assert_eq!(inline("`"), "&#96;");
        assert_eq!(inline("`</code>|`"), "<code>&lt;/code&gt;&#124;</code>");
        assert_eq!(code(" a`b`:3"), "<code> a&#96;b&#96;:3</code>");
        assert_eq!(code("www.a http://b"), "<code>www&#46;a http&#58;//b</code>");
    }
}
