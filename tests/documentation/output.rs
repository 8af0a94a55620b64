//! ```` ```console ```` fences: a command, and what it says. `…` on a line of its own stands for any lines; the time that a run took
//! is not compared. Standard output comes first and the summary behind it, as one sees them on a terminal.

use assert_cmd::Command;

use crate::fences::fences;
use crate::{pages, read};

/// What a command says, without the time that it took.
fn said(arguments: &str) -> String {
    let output = Command::cargo_bin("retrylint").unwrap().args(arguments.split_whitespace()).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    timeless(&text)
}

fn timeless(text: &str) -> String {
    let line = |line: &str| match line
        .split_once(") in ")
        .and_then(|(before, rest)| Some((before, rest.split_once(" s: ")?.1)))
    {
        Some((before, behind)) if line.starts_with("Read ") => format!("{before}) in … s: {behind}\n"),
        _ => format!("{}\n", line.trim_end()),
    };
    text.lines().map(line).collect()
}

/// Where the shown text departs from what is said; none if it does not.
fn difference(said: &str, shown: &str) -> Option<String> {
    let mut rest = said;
    let pieces: Vec<&str> = shown.split("…\n").collect();
    for (number, piece) in pieces.iter().enumerate() {
        let is_last = number + 1 == pieces.len();
        let found = match (number, is_last) {
            (0, true) => (rest == *piece).then_some(0),
            (0, false) => rest.starts_with(piece).then_some(0),
            (_, true) => rest.ends_with(piece).then(|| rest.len() - piece.len()),
            // At the start of a line.
            _ => rest.match_indices(piece).map(|(at, _)| at).find(|at| *at == 0 || rest[..*at].ends_with('\n')),
        };
        match found {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return Some(format!("shown is\n{piece}\nsaid is (the rest of it)\n{rest}")),
        }
    }
    None
}

#[test]
fn commands_say_what_is_shown() {
    let mut commands = 0;
    let mut wrong = Vec::new();
    for path in pages() {
        for fence in fences(&read(&path)).iter().filter(|fence| fence.language() == "console") {
            let (command, shown) = fence.text.split_once('\n').unwrap();
            let arguments = command.strip_prefix("$ retrylint ").unwrap_or_else(|| panic!("{path}: {command}"));
            commands += 1;
            if let Some(difference) = difference(&said(arguments), &timeless(shown)) {
                wrong.push(format!("{path}: {command}\n{difference}"));
            }
        }
    }
    assert!(commands > 15, "{commands}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Commands without their output are at least ones that the program takes: `--help` behind them reads them and does nothing.
#[test]
fn other_commands_are_taken() {
    let mut commands = 0;
    for path in pages() {
        for fence in fences(&read(&path)).iter().filter(|fence| fence.language() == "sh") {
            for command in fence.text.lines().filter_map(|line| line.strip_prefix("retrylint ")) {
                commands += 1;
                Command::cargo_bin("retrylint")
                    .unwrap()
                    .args(command.split_whitespace())
                    .arg("--help")
                    .assert()
                    .code(0);
            }
        }
    }
    assert!(commands > 3, "{commands}");
}

/// What shows the start, the end and something between it, in this order, and nothing else.
#[test]
fn a_page_that_is_out_of_date_is_seen() {
    let said = "one\ntwo\nthree\nfour\n";
    assert_eq!(difference(said, said), None);
    assert_eq!(difference(said, "one\n…\nthree\n…\n"), None);
    assert_eq!(difference(said, "…\nfour\n"), None);
    for wrong in ["one\ntwo\n", "two\n…\n", "…\nthree\n", "one\n…\nour\n…\n", "…\nfour\n…\ntwo\n…\n"] {
        assert!(difference(said, wrong).is_some(), "{wrong}");
    }
    assert_eq!(timeless("Read 2 files (2 YAML) in 0.05 s: 4 services\n"), "Read 2 files (2 YAML) in … s: 4 services\n");
}
