//! One file (or folder) per configuration dialect.

pub mod dotnet;
pub mod envoy;
pub mod generic;
pub mod istio;
pub mod kubernetes;
pub mod unread;
