//! Text on the left, the tree on the right, as `fixture::shape` prints it.

mod control;
mod items;
mod macros;
mod patterns;
mod sources;
mod values;

use crate::read::code::fixture::{body, faults, unit};

/// What statements come out as, in the body of `async fn f()`.
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let unit = unit(&format!("async fn f() {{ {text} }}"));
        assert_eq!(faults(&unit), Vec::<String>::new(), "{text}");
        assert_eq!(body(&unit), *expected, "{text}");
    }
}
