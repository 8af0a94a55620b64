//! YAML, JSON and TOML into one spanned tree, and what their scalars mean: durations, numbers, holes.

pub mod duration;
pub mod json;
pub mod template;
pub mod toml;
pub mod tree;
pub mod value;
pub mod yaml;

use crate::facts::FileKind;
use crate::source::FileId;

/// Reads a file's text as what its name says it is. Templates of YAML and JSON are read as far as that goes.
pub fn parse(kind: FileKind, path: &str, file: FileId, text: &str) -> tree::Tree {
    let tree = match kind {
        FileKind::Yaml => return template::parse(file, text),
        FileKind::Json => json::parse_as(file, text, strictness(path)),
        FileKind::Toml => toml::parse(file, text),
        // Code is no data; it has readers of its own.
        FileKind::Rust => return template::parse(file, ""),
    };
    if tree.errors.is_empty() {
        return tree;
    }
    if kind == FileKind::Json {
        // Its reader may take comments although its name does not say so.
        let lenient = json::parse_as(file, text, json::Strictness::Comments);
        if lenient.errors.is_empty() {
            return tree::Tree { errors: tree.errors, is_lenient: true, ..lenient };
        }
    }
    if !text.contains("{{") {
        return tree;
    }
    // JSON is YAML, nearly; TOML templates are told as such, and not read.
    match kind {
        FileKind::Json => template::parse(file, text),
        _ => tree::Tree { is_template: true, ..tree },
    }
}

/// Files of these names have comments, though they end in `.json`: their own readers take them.
const COMMENTED: [&str; 4] = ["appsettings", "tsconfig", "jsconfig", "devcontainer"];

/// How strict a JSON file's own reader is, from its name.
fn strictness(path: &str) -> json::Strictness {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if name.ends_with(".jsonc") || COMMENTED.iter().any(|commented| name.starts_with(commented)) {
        json::Strictness::Comments
    } else {
        json::Strictness::Strict
    }
}

#[cfg(test)]
mod properties;
