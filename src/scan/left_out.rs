//! Paths that were named and are not read all the same, each with the reason, so that silence about them is no praise.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A path that was named and is not looked at all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LeftOutPath"))]
pub struct LeftOut {
    /// As named.
    pub path: String,
    /// How many further paths are left out for the same reason and not told.
    pub more: usize,
    /// What leaves it out.
    pub by: LeftOutBy,
}

/// What leaves out a named path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutBy {
    /// Patterns leave out each file below it; this is what they say of the first.
    Below(Box<LeftOutBy>),
    /// This pattern of `exclude`.
    Exclude(String),
    /// It is among nothing that `include` takes.
    Include,
    /// An ignore file of ours: the line, and which file.
    IgnoreFile(String, String),
    /// It is written in a language that is not read.
    Language(Cow<'static, str>),
    /// It holds facts that describe again what lies around it, or something else.
    Facts,
    /// Its name ends like nothing that is read, and what it holds is nothing that is known.
    Unknown,
    /// Standard input that looks like Rust, whose facts rest on where in a package it stands.
    UnnamedRust,
}

impl LeftOutBy {
    /// A language that is not read.
    pub fn language(name: &'static str) -> LeftOutBy {
        LeftOutBy::Language(name.into())
    }
}

impl LeftOut {
    /// One path.
    pub fn new(path: impl Into<String>, by: LeftOutBy) -> LeftOut {
        LeftOut { path: path.into(), more: 0, by }
    }
}

/// Of many files in one language, or of facts, a tool that names every file wants to hear one line.
pub fn folded(all: Vec<LeftOut>) -> Vec<LeftOut> {
    let mut folded: Vec<LeftOut> = Vec::with_capacity(all.len());
    for one in all {
        let is_one_of_many = matches!(one.by, LeftOutBy::Language(_) | LeftOutBy::Facts);
        let is_same = |known: &&mut LeftOut| is_one_of_many && known.by == one.by;
        match folded.iter_mut().find(is_same) {
            Some(known) => known.more += 1,
            None => folded.push(one),
        }
    }
    folded
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LeftOut { path, more, by } = self;
        match by {
            LeftOutBy::Below(by) => write!(f, "nothing below {path} is read: {by}"),
            by if *more > 0 => write!(f, "{path} and {more} more are not read: {by}"),
            by => write!(f, "{path} is not read: {by}"),
        }
    }
}

impl std::fmt::Display for LeftOutBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LeftOutBy::Below(by) => by.fmt(f),
            LeftOutBy::Exclude(pattern) => write!(f, "`exclude` in retrylint.toml has `{pattern}`"),
            LeftOutBy::Include => write!(f, "no pattern of `include` in retrylint.toml takes it"),
            LeftOutBy::IgnoreFile(pattern, file) => write!(f, "{file} has `{pattern}`"),
            LeftOutBy::Language(name) => write!(f, "{name} is not read yet; Rust, YAML, JSON and TOML are"),
            LeftOutBy::Facts => f.write_str("facts are read where they are named one by one"),
            LeftOutBy::Unknown => {
                write!(f, "neither its name nor what it holds is YAML, JSON, TOML or Rust that is known here")
            }
            LeftOutBy::UnnamedRust => {
                write!(f, "it looks like Rust; `--stdin-filename src/lib.rs` says which file it stands for")
            }
        }
    }
}
