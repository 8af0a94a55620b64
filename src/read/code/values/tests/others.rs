//! Other languages than the ones that are read: nothing here knows which one it is.

use super::hand::{argument_of, call, constant, float, function, int, local, member, op, path, set, text, unit};
use super::{delayed, shown};
use crate::read::code::project::Project;
use crate::read::code::tree::Op;
use crate::read::code::values::{delay, trace};

#[test]
fn c_sharp_caps_a_power_and_adds_up_to_a_second() {
    // const double Base = 0.5;
    // TimeSpan Wait(int n) => TimeSpan.FromSeconds(Math.Min(Base * Math.Pow(2, n), 3));
    // Delay(Wait(1)); Delay(Wait(9)); Delay(Wait(2) + TimeSpan.FromMilliseconds(Random.Next(0, 1000)));
    let wait = || {
        let grown = op(Op::Mul, path("crate::Base"), call("System::Math::Pow", vec![("", int(2)), ("", local("n"))]));
        let capped = call("System::Math::Min", vec![("", grown), ("", int(3))]);
        function("Wait", &["n"], vec![call("System::TimeSpan::FromSeconds", vec![("", capped)])])
    };
    let of = |n| call("crate::Wait", vec![("", int(n))]);
    let chance = || {
        let drawn = call("System::Random::Next", vec![("", int(0)), ("", int(1000))]);
        call("System::TimeSpan::FromMilliseconds", vec![("", drawn)])
    };
    for (argument, expected) in [(of(1), "1 s"), (of(9), "3 s"), (op(Op::Add, of(2), chance()), "2 s x [1, 1] + 1 s")] {
        let unit = unit(
            "csharp",
            vec![constant("Base", float(0.5)), wait(), function("Run", &[], vec![call("Delay", vec![("", argument)])])],
        );
        assert_eq!(delayed(&delay(&Project::default(), &argument_of(&unit, "Delay"))), expected);
    }
}

#[test]
fn python_adds_up_named_parts_and_divides_with_a_fraction() {
    // half = 5 / 2; sleep(timedelta(minutes=1, seconds=half)); sleep(uniform(1, 3)); sleep(int(os.getenv("WAIT")))
    let parts = || call("datetime::timedelta", vec![("minutes", int(1)), ("seconds", local("half"))]);
    let uniform = || call("random::uniform", vec![("", int(1)), ("", int(3))]);
    let environment = || call("int", vec![("", call("os::getenv", vec![("", text("WAIT"))]))]);
    for (argument, expected) in [
        (parts(), "62.5 s"),
        (uniform(), "3 x [0.333333333, 1] + 0 s"),
        (environment(), "?environment variable WAIT"),
        (local("seconds"), "?argument `seconds` of `run`"),
    ] {
        let half = set("half", op(Op::Div, int(5), int(2)));
        let unit = unit("python", vec![function("run", &["seconds"], vec![half, call("sleep", vec![("", argument)])])]);
        assert_eq!(delayed(&delay(&Project::default(), &argument_of(&unit, "sleep"))), expected);
    }
}

#[test]
fn go_multiplies_units() {
    // func run(cfg Config) { base := 250 * time.Millisecond; Sleep(base * 2) … }
    let base = || set("base", op(Op::Mul, int(250), path("time::Millisecond")));
    for (argument, expected) in [
        (op(Op::Mul, local("base"), int(2)), "500 ms"),
        (op(Op::Div, path("time::Second"), int(4)), "250 ms"),
        (op(Op::Add, local("base"), call("math::rand::Int63n", vec![("", local("base"))])), "250 ms x [1, 2] + 0 s"),
        (op(Op::Mul, member(local("cfg"), "Tries"), path("time::Second")), "?field `Tries` of `cfg`"),
        // A half that is not whole is cut off.
        (op(Op::Div, int(5), int(2)), "2"),
    ] {
        let unit = unit("go", vec![function("run", &["cfg"], vec![base(), call("Sleep", vec![("", argument)])])]);
        let project = Project::default();
        let place = argument_of(&unit, "Sleep");
        let delay = delay(&project, &place);
        assert_eq!(delayed(&delay), expected);
        if delay.drawn.is_empty() {
            assert_eq!(shown(&trace(&project, &place)), expected);
        }
    }
}
