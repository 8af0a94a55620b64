//! The prefilter spares work and changes nothing, nor does the number of threads: shown over all of testdata.

use std::path::{Path, PathBuf};

use retrylint::facts::PolicyKind;
use retrylint::read::Words;
use retrylint::scan::{Scan, ScanSettings, scan};

fn testdata(change: impl FnOnce(&mut ScanSettings)) -> Scan {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut settings = ScanSettings {
        paths: vec![root.join("testdata"), root.join("rules")],
        base: Some(PathBuf::from(root)),
        include_tests: true,
        ..ScanSettings::default()
    };
    settings.paths.retain(|path| path.exists());
    change(&mut settings);
    scan(&settings).unwrap()
}

#[test]
fn the_prefilter_changes_nothing() {
    let with = testdata(|_| {});
    let without = testdata(|settings| settings.prefilter = false);
    assert_eq!(with.counts, without.counts);
    assert_eq!(with.facts, without.facts);
    // The test rests on a file that the prefilter spares, and on one that refers to what stands in it.
    let constants = std::fs::read_to_string("testdata/prefilter/constants.yaml").unwrap();
    assert!(!Words::get().hold(&constants));
    let user = with.facts.policies.iter().find(|policy| {
        let file = with.facts.file(policy.span.file).unwrap();
        file.path.ends_with("testdata/prefilter/services.yaml")
    });
    let why = user.unwrap().attempts.why().map(ToString::to_string);
    assert_eq!(why.as_deref(), Some("environment variable MAXIMUM"));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let one = testdata(|settings| settings.threads = 1);
    let many = testdata(|settings| settings.threads = 16);
    assert_eq!(one.counts, many.counts);
    assert_eq!(one.facts, many.facts);
}

#[test]
fn each_sign_of_a_site_is_enough_for_its_file_to_be_read() {
    let scan = testdata(|settings| {
        settings.paths = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/prefilter/code")]
    });
    let sites = scan.facts.policies.iter().map(|policy| {
        let path = &scan.facts.file(policy.span.file).unwrap().path;
        (path.rsplit('/').next().unwrap(), policy.kind)
    });
    // Nothing stands in `missed.rs`.
    let expected = [
        ("aliased.rs", PolicyKind::Loop),
        ("client.rs", PolicyKind::TimeLimit),
        ("made.rs", PolicyKind::Library),
        ("recursive.rs", PolicyKind::Loop),
    ];
    assert_eq!(sites.collect::<Vec<_>>(), expected);
}
