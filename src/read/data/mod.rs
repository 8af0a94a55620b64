//! YAML, JSON and TOML into one spanned tree.

pub mod tree;
pub mod value;
