use super::*;
use crate::facts::Nanos;

const POLLY: &str = include_str!("../fixtures/polly.toml");
const TENACITY: &str = include_str!("../fixtures/tenacity.toml");

const HEADER: &str = "schema = 1\nname = 'acme'\nlanguage = 'any'\npackages = ['cargo:acme@>=1,<2']\nroots = ['acme']\nsource = 'its documentation'\n";

/// What is underlined, what is said, what would help.
fn faults(shapes: &str) -> Vec<(String, String, String)> {
    let text = format!("{HEADER}{shapes}");
    let faults = parse(&text, Some(&["missing-jitter"])).unwrap_err();
    let quote = |fault: &Fault| text[fault.span.range()].lines().next().unwrap_or_default().to_string();
    faults.iter().map(|fault| (quote(fault), fault.message.clone(), fault.help.clone().unwrap_or_default())).collect()
}

#[test]
fn options_objects_stacks_and_callbacks_are_understood() {
    let polly = parse(POLLY, None).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!(polly.packages.len(), 2);
    let options = polly.shape("retry-options").unwrap();
    assert_eq!((options.is, &*options.record[0]), (Is::Policy, "Polly::Retry::RetryStrategyOptions"));
    let jitter = &options.says.field.iter().find(|(name, _)| &**name == "UseJitter").unwrap().1;
    assert_eq!(jitter.0.len(), 3);
    assert_eq!(jitter.0[1].tests[0].0.root, Root::Set(Target::Backoff));
    let handler = polly.shape("standard-handler").unwrap();
    assert_eq!(handler.on, [On::Method("AddHttpClient".into())]);
    let layers: Vec<Option<Layer>> = handler.says.layers.iter().map(|layer| layer.push).collect();
    let expected = [Layer::Limiter, Layer::Timeout, Layer::Retry, Layer::Breaker, Layer::Timeout];
    assert_eq!(layers, expected.map(Some));
    let (callback, says) = &handler.says.callback[1];
    assert_eq!(callback.path[1], Step::Call("DisableForUnsafeHttpMethods".into()));
    assert_eq!(says.0[0].layer, Some(2));
}

#[test]
fn parts_and_their_operators_are_understood() {
    let tenacity = parse(TENACITY, None).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!(tenacity.combine[0], ("stop".into(), "|".into(), Combining::First));
    let wait = tenacity.shapes.iter().find(|shape| shape.params.len() == 4).unwrap();
    assert_eq!(wait.params[1], Param { name: "max".into(), default: Some(Value::None) });
    let base = wait.says.sets.as_ref().unwrap().settings().find(|set| set.target == Target::Base).unwrap();
    let unit = Some(Unit::Nanos(1_000_000_000));
    assert_eq!(base.value, Value::Ref(Ref { root: Root::Param(0), path: Vec::new(), unit }));
}

#[test]
fn values_have_the_kind_of_their_target() {
    let text = format!(
        "{HEADER}[[shape]]\nis = 'policy'\ncall = 'acme::Policy::new'\nparams = ['first']\n\
         default = {{ retries = 3, base = '250ms', factor = 2, cap = 'none', jitter = {{ low = 0.5, high = 1.0, plus = '$base' }}, \
         predicate = ['connect', '503'], budget = {{ ratio = 0.2, floor = '3/s', base = 'all' }}, schedule = ['1s', '2s'] }}\n\
         [shape.method]\ngrow = {{ base = {{ mul = ['$base', '$0', 2] }}, cap = {{ min = ['$first ms', '5s'] }} }}\n"
    );
    let library = parse(&text, None).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let says = &library.shapes[0].says;
    let default = says.default.as_ref().unwrap();
    let value = |target| &default.settings().find(|set| set.target == target).unwrap().value;
    assert_eq!(*value(Target::Retries), Value::Int(3));
    assert_eq!(*value(Target::Base), Value::Time(Nanos::from_millis(250)));
    assert_eq!(*value(Target::Cap), Value::None);
    assert_eq!(*value(Target::Predicate), Value::Classes(classes("connect").unwrap().or(classes("overload").unwrap())));
    let Value::Fields(budget) = value(Target::Budget) else { panic!() };
    assert_eq!(budget[1].1, Value::PerSecond(3.0));
    let Value::Fold(Fold::Mul, factors) = &says.method[0].1.0[0].set[0].value else { panic!() };
    assert_eq!(factors[2], Value::Float(2.0));
}

#[test]
fn what_is_not_understood_is_underlined_with_what_was_meant() {
    let shape = "[[shape]]\nis = 'policy'\ncall = 'acme::Policy::new'\n";
    for (written, quote, message, help) in [
        ("default = { retires = 3 }", "retires", "`retires` is nothing that can be set", "did you mean `retries`?"),
        ("defaults = { retries = 3 }", "defaults", "unknown key `defaults` in a shape", "did you mean `default`?"),
        ("default = { backoff = 'expo' }", "'expo'", "`backoff` should be `\"none\"`, `\"fixed\"`", ""),
        ("default = { base = 5 }", "5", "`base` should be a time such as `\"250ms\"`", ""),
        ("default = { base = '$firts ms' }", "'$firts ms'", "`$firts` refers to nothing", "did you mean `$first`?"),
        ("default = { base = '$0 sec' }", "'$0 sec'", "`sec` is no unit", "known here: `ns`"),
        ("default = { attempts = 3, retries = 2 }", "retries", "`attempts` and `retries` say the same thing", ""),
        (
            "default = { predicate = ['conect'] }",
            "'conect'",
            "the text \"conect\" is no class",
            "did you mean `connect`?",
        ),
        ("default = { jitter = { hi = 2.0 } }", "hi", "unknown key `hi` in a jitter", "known here: `low`, `high`"),
        ("help = { missing-jiter = 'x' }", "missing-jiter", "no rule is called `missing-jiter`", "did you mean"),
        ("sets = [{ retries = 1 }, { retries = 2 }]", "{ retries = 1 }", "without `if` this always holds", ""),
        ("on = 'x'", "[[shape]]", "`on` says what a method is called on", ""),
        ("part = 'stop'", "[[shape]]", "only a part has `part`", ""),
        (
            "record = 'other::Options'",
            "'other::Options'",
            "`other::Options` lies under no root",
            "paths here begin with",
        ),
        ("[shape.argument]\nstop = { part = 'stop' }", "'stop'", "no part is of the kind `stop`", ""),
        ("[[shape.when]]\nversions = '1.4'", "'1.4'", "`versions` should be versions such as", ""),
        ("[shape.callback]\nRetry = { retries = '$value' }", "Retry", "`Retry` is no path in a callback", ""),
        ("[shape.callback]\n'0.x' = { retries = '$value' }", "'0.x'", "`0.x` is no path in a callback", ""),
        ("sets = { if = { value = 1 }, retries = 1 }", "value", "`value` refers to nothing", "a reference is `$0`"),
        (
            "default = { retries = { fit = '$0', x = 1 } }",
            "{ fit = '$0', x = 1 }",
            "`fit` should be a whole number",
            "",
        ),
        ("default = { retries = 1.5 }", "1.5", "`retries` should be a whole number", ""),
        ("[[shape.when]]\nversions = 2", "2", "`versions` should be versions such as", ""),
    ] {
        let all = faults(&format!("{shape}params = ['first']\n{written}\n"));
        let is_told = all.iter().any(|(at, what, how)| {
            (at == quote || quote == "[[shape]]") && what.starts_with(message) && how.starts_with(help)
        });
        assert!(is_told, "{written}: {all:?}");
    }
    let all = faults("[[shape]]\nis = 'polcy'\ncall = 'acme::new'\n");
    assert_eq!(
        all,
        [("'polcy'".into(), "the text \"polcy\" is no kind of shape".into(), "did you mean `policy`?".into())]
    );
    let all = faults("[[shape]]\nis = 'run'\n");
    assert!(all[0].1.starts_with("a shape needs something that it is recognised by"), "{all:?}");
}

#[test]
fn a_library_without_what_it_needs_is_refused() {
    let faults = parse("name = 'x'\n", None).unwrap_err();
    assert_eq!(faults[0].message, "a library needs `schema`, `language`, `packages`, `roots`, `source`, `shape`");
    let faults = parse(&HEADER.replace("cargo:acme@>=1,<2", "crates:acme"), None).unwrap_err();
    assert!(faults.iter().any(|fault| fault.message == "`crates:acme` names no package"), "{faults:?}");
}

#[test]
fn examples_say_what_must_be_read() {
    let text = format!(
        "{HEADER}[[shape]]\nis = 'run'\ncall = 'acme::run'\n[[example]]\nname = 'the default'\ncode = 'acme::run(f)'\nfile = 'src/lib.rs'\n\
         expect = {{ attempts = 4, delays = ['1s', '2s'], jitter = 'proportional', line = 1 }}\n\
         [[example]]\ncode = 'mine::run(f)'\nfile = 'src/lib.rs'\nversion = '1.3'\nexpect = []\n"
    );
    let library = parse(&text, None).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!(library.examples[0].expect[0].len(), 4);
    assert_eq!((library.examples[1].version, library.examples[1].expect.len()), (Some((1, 3, 0)), 0));
    let faults = parse(&text.replace("attempts = 4", "attempt = 4"), None).unwrap_err();
    assert_eq!(faults[0].help.as_deref(), Some("did you mean `attempts`?"));
}

#[test]
fn paths_have_one_spelling() {
    assert_eq!(&*path("Polly.Retry.RetryStrategyOptions"), "Polly::Retry::RetryStrategyOptions");
    assert_eq!(&*path("github.com/avast/retry-go/v4.Do"), "github.com/avast/retry-go/v4::Do");
    assert_eq!(&*path("tokio_retry::Retry::spawn"), "tokio_retry::Retry::spawn");
    assert!(is_within("backon::Retryable", "backon") && !is_within("backonly::Retryable", "backon"));
    assert!(is_within("aws_sdk_s3::Client", "aws_sdk_*") && !is_within("aws_config::Client", "aws_sdk_*"));
    assert_eq!(behind("aws_sdk_s3::config::retry::RetryConfig", "aws_sdk_*::config::retry"), Some("::RetryConfig"));
    assert_eq!(behind("aws_sdk_s3::retry::RetryConfig", "aws_sdk_*::config::retry"), None);
    assert_eq!(behind("aws_sdk_s3::config::retryable", "aws_sdk_*::config::retry"), None);
}
