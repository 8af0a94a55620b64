//! What patterns ask: each case is the pattern of an arm.

use crate::read::code::fixture::{body, faults, unit};

fn check(cases: &[(&str, &str)]) {
    for (pattern, expected) in cases {
        let unit = unit(&format!("fn f() {{ match x {{ {pattern} => a }} }}"));
        assert_eq!(faults(&unit), Vec::<String>::new(), "{pattern}");
        assert_eq!(body(&unit), format!("x ? [{expected} -> a]"), "{pattern}");
    }
}

#[test]
fn success() {
    check(&[
        ("Ok(v)", "success v"),
        ("Ok(())", "success"),
        ("Ok((a, b))", "success a b"),
        ("std::result::Result::Ok(_)", "success"),
        ("Ok(Ok(v))", "success v"),
        ("Poll::Ready(Ok(v))", "success v"),
        ("Some(Ok(v))", "success v"),
        ("whole @ Ok(_)", "success whole"),
        ("&Ok(ref v)", "success v"),
        ("(Ok(v), _)", "success v"),
        ("(Ok(a), Ok(b))", "success a b"),
        // Some successes only.
        ("Ok(Some(v))", "success v when opaque[Some]"),
        ("Ok(0)", "success when opaque[0]"),
        ("Ok(Response { code: 200, body })", "success body when opaque[Response, 200]"),
    ]);
}

#[test]
fn failure() {
    check(&[
        ("Err(e)", "failure e"),
        ("Err(_elapsed)", "failure _elapsed"),
        ("Ok(Err(e))", "failure e"),
        ("Poll::Ready(Err(e))", "failure e"),
        ("Some(Err(e))", "failure e"),
        ("Err(Error::Timeout)", "failure of Error::Timeout"),
        ("Err(Error::A | Error::B(_))", "failure of Error::A|Error::B"),
        ("Err(Error::A) | Err(Error::B { .. })", "failure of Error::A|Error::B"),
        ("Err(Error::IO | Error::Timeout)", "failure of Error::IO|Error::Timeout"),
        ("Err(Error::A) | Err(_)", "failure"),
        ("Err(e @ Error::A)", "failure of Error::A e"),
        ("Err(libc::EAGAIN)", "failure of libc::EAGAIN"),
        ("(Ok(a), Err(e))", "failure a e"),
        ("(Err(e), n)", "failure e n"),
        // Some failures only, told by more than the kind.
        ("Err(Error::Http(503))", "failure of Error::Http when opaque[503]"),
        ("Err(Error::Http { code: 500..=599, .. })", "failure of Error::Http when opaque[(500..=599)]"),
        ("Err(e) if e.again()", "failure e when e.again()"),
        ("Err(Error::Http(503)) if n < 3", "failure of Error::Http when (opaque[503] && (n < 3))"),
        ("Err(404)", "failure when opaque[404]"),
    ]);
}

#[test]
fn neither() {
    check(&[
        ("Some(v)", "is Some v"),
        ("None", "is None"),
        ("Some(0)", "is Some when opaque[0]"),
        ("Some(Some(v))", "is Some v when opaque[Some]"),
        ("Retry(after)", "is Retry after"),
        ("Outcome::Retry { after, .. }", "is Outcome::Retry after"),
        ("A | B(_)", "is A|B"),
        ("Error::IO | Error::Timeout", "is Error::IO|Error::Timeout"),
        ("Event::Done(Ok(v))", "is Event::Done v when opaque[Ok]"),
        ("200 | 201", "= 200|201"),
        ("500..=599", "= (500..=599)"),
        ("\"a\"", "= \"a\""),
        ("-1", "= (-1)"),
        ("StatusCode::OK | MAX", "= StatusCode::OK|MAX"),
        ("true", "= true"),
        ("_", "else"),
        ("other", "else other"),
        ("(a, b)", "else a b"),
        ("(1, b)", "else b when opaque[1]"),
        ("[first, ..]", "else first when opaque[]"),
        ("[all @ ..]", "else all"),
        ("v if v > 3", "else v when (v > 3)"),
    ]);
}

#[test]
fn several_ways_of_one_arm() {
    let cases = [
        // Where it is left the same way, the other cases leave it the same way.
        ("Ok(v) | Err(Error::Exists(v)) => return v", "success v -> return v, failure of Error::Exists -> return"),
        (
            "Ok(_) | Err(Error::Exists) => { log(); break 'a }",
            "success -> {log(); break 'a}, failure of Error::Exists -> break 'a",
        ),
        ("Err(Error::Exists) | Ok(_) => log()", "success -> log(), failure of Error::Exists -> {}"),
        ("None | Some(Err(_)) => continue", "is None -> continue, failure -> continue"),
    ];
    for (arm, expected) in cases {
        let unit = unit(&format!("fn f() {{ match x {{ {arm} }} }}"));
        assert_eq!(faults(&unit), Vec::<String>::new(), "{arm}");
        assert_eq!(body(&unit), format!("x ? [{expected}]"), "{arm}");
    }
}
