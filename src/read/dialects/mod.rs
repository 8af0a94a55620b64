//! One file (or folder) per configuration dialect.

pub mod istio;
pub mod kubernetes;
