//! One file (or folder) per configuration dialect.
pub mod envoy;
