//! YAML, JSON and TOML into one spanned tree, and what their scalars mean: durations, numbers, holes.

pub mod duration;
pub mod json;
pub mod toml;
pub mod tree;
pub mod value;
pub mod yaml;

use crate::facts::FileKind;
use crate::source::FileId;

/// Reads a file's text as what its name says it is.
pub fn parse(kind: FileKind, path: &str, file: FileId, text: &str) -> tree::Tree {
    match kind {
        FileKind::Yaml => yaml::parse(file, text),
        FileKind::Json => json::parse_as(file, text, strictness(path)),
        FileKind::Toml => toml::parse(file, text),
    }
}

/// How strict a JSON file's own reader is, from its name.
fn strictness(path: &str) -> json::Strictness {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if name.ends_with(".jsonc") || name.starts_with("appsettings") {
        json::Strictness::Comments
    } else {
        json::Strictness::Strict
    }
}
