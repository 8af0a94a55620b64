use super::*;
use crate::facts::Confidence;
use crate::read::code::catalogue::telling;

fn acme() -> Library {
    library(
        r#"
[[shape]]
is = "run"
call = ["acme::run"]
operation = "$0"
default = { retries = 2, backoff = "none", jitter = "none" }
sets = { observed = true }
[[shape.when]]
versions = "<1.4"
default = { retries = 7 }

[[shape]]
id = "policy"
is = "policy"
call = ["acme::Policy::new"]
default = { retries = 3, backoff = "none", jitter = "none" }
[[shape]]
is = "run"
method = ["execute"]
on = ["policy"]
policy = "$self"
operation = "$0"
[[shape]]
is = "run"
method_of = ["acme::Retryable::retry"]
policy = "$0"
operation = "$self"
"#,
    )
}

/// Tries and confidence where a call of this path is made in a package of these dependencies.
fn called(path: &'static str, packages: Packages) -> Option<(String, Confidence)> {
    let whole = function("f", &[], Vec::new(), call(path, vec![("", local("op"))]));
    let unit = unit(HERE, &[], vec![whole]);
    let sites = find(acme(), packages, &unit);
    sites.first().map(|site| (brief(&site.policy).0, site.policy.confidence))
}

#[test]
fn a_library_is_its_path_and_its_package() {
    let acme = |from, version, locked| package(&[("acme", dependency("acme-retry", from, version, locked))]);
    let high = |n: &str| Some((n.to_string(), Confidence::High));
    assert_eq!(called("acme.run", acme(From::Outside, (1, 5, 0), true)), high("3"));
    // The locked version picks what is said of it.
    assert_eq!(called("acme.run", acme(From::Outside, (1, 3, 9), true)), high("8"));
    // Without a lock file the newest is taken, and it is less sure.
    assert_eq!(called("acme.run", acme(From::Outside, (1, 3, 9), false)), Some(("3".into(), Confidence::Medium)));
    assert_eq!(called("acme.run", acme(From::Outside, (3, 0, 0), true)), None);
    // Of the workspace, it is the project's own, whatever it is called.
    assert_eq!(called("acme.run", acme(From::Inside(None), (1, 5, 0), true)), None);
    assert_eq!(called("acme.run", package(&[])), None);
    // Another package under that name.
    assert_eq!(called("acme.run", package(&[("acme", dependency("acme", From::Outside, (1, 5, 0), true))])), None);
    // The package under another name.
    let renamed = package(&[("again", dependency("acme", From::Outside, (1, 5, 0), true))]);
    assert_eq!(called("again.run", renamed), None);
    assert_eq!(called("other.acme.run", acme(From::Outside, (1, 5, 0), true)), high("3"));
    assert_eq!(called("crate.acme.run", acme(From::Outside, (1, 5, 0), true)), None);
    assert_eq!(called("acme.walk", acme(From::Outside, (1, 5, 0), true)), None);
}

#[test]
fn without_a_manifest_the_path_counts_for_less() {
    let whole = function("f", &[], Vec::new(), call("acme.run", vec![("", local("op"))]));
    let unit = unit(None, &[], vec![whole]);
    let [site] = find(acme(), Packages::default(), &unit).try_into().unwrap();
    assert_eq!(site.policy.confidence, Confidence::Medium);
}

#[test]
fn a_module_of_which_everything_is_imported_is_tried() {
    let whole = |imports: &[&str]| {
        let body = call_local("run", vec![("", local("op"))]);
        find(acme(), with_acme(), &unit(HERE, imports, vec![function("f", &[], Vec::new(), body)])).len()
    };
    assert_eq!(whole(&["acme.*"]), 1);
    assert_eq!(whole(&["mine.*"]), 0);
    assert_eq!(whole(&[]), 0);
}

#[test]
fn a_method_needs_its_trait_in_scope() {
    let found = |imports: &[&str], policy: N| {
        let body = method(local("op"), "retry", vec![("", policy)]);
        let sites = find(acme(), with_acme(), &unit(HERE, imports, vec![function("f", &[], Vec::new(), body)]));
        sites.into_iter().filter(|site| !site.is_described).count()
    };
    let policy = || call("acme.Policy.new", vec![]);
    assert_eq!(found(&["acme.Retryable"], policy()), 1);
    assert_eq!(found(&["acme.*"], policy()), 1);
    assert_eq!(found(&["other.acme.Retryable"], policy()), 1);
    assert_eq!(found(&["mine.Retryable"], policy()), 0);
    assert_eq!(found(&[], policy()), 0);
}

#[test]
fn a_method_is_known_by_what_it_is_called_on() {
    let lib = acme();
    let policy = || call("acme.Policy.new", vec![]);
    let direct = only(&lib, vec![method(policy(), "execute", vec![("", local("op"))])]);
    assert_eq!(brief(&direct).0, "4");
    let held = only(&lib, vec![bind("p", policy()), method(local("p"), "execute", vec![("", local("op"))])]);
    assert_eq!(brief(&held).0, "4");
    let other = in_function(&lib, vec![method(call("mine.Policy.new", vec![]), "execute", vec![("", local("op"))])]);
    assert!(other.is_empty());
}

#[test]
fn an_in_house_helper_needs_no_package() {
    let text = r#"
name = "acme-net"
language = "any"
roots = ["acme_net::retry"]
[[shape]]
is = "run"
call = ["acme_net::retry::with_retry"]
params = ["label", "times", "base_ms", "op"]
operation = "$op"
sets = { attempts = "$times", backoff = "exponential", base = "$base_ms ms", factor = 2.0, cap = "5s", jitter = { low = 0.0, high = 1.0 }, budget = { ratio = 0.1, floor = "3/s", base = "originals" }, observed = true }
"#;
    let config = crate::config::Config::parse(
        &text.replace("[[shape]]", "[[library.shape]]").replacen('\n', "\n[[library]]\n", 1),
        &[],
    );
    let libraries = config.unwrap().read.libraries;
    let helper = |times: N| {
        call("acme_net.retry.with_retry", vec![("", text_of("charge")), ("", times), ("", int(200)), ("", local("op"))])
    };
    let unit = unit(HERE, &[], vec![function("f", &[], Vec::new(), helper(int(4)))]);
    // Its package is one of the workspace.
    let packages = package(&[("acme_net", dependency("acme-net", From::Inside(None), (0, 1, 0), true))]);
    let project = Project::new(packages).looking_for(Arc::new(Catalogue::new(&libraries)));
    let [site] = sites(&project, &project.catalogue, &unit).try_into().unwrap();
    assert_eq!(brief(&site.policy), ("4".into(), vec![200, 400, 800], "full"));
    let budget = site.policy.budget.limit().unwrap();
    assert_eq!(budget.ratio.known(), Some(&0.1));
    let [own] = &*libraries else { panic!("one library") };
    assert!(telling::roots(own).contains(&"with_retry".to_string()));
}

fn text_of(value: &'static str) -> N {
    text(value)
}
