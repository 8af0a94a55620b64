//! Source code into facts.
//!
//! ```text
//! text ─► language (rust/): the items worth reading ─► neutral tree (Unit)
//!           │ values: what is this node's value here?  project: what does this name refer to, in this file or another?
//!           ▼
//!         loops (by structure) and catalogue (libraries, by data) ─► sites ─► assemble: nests, callees, callers ─► facts
//! ```
//!
//! Nothing behind the lowering mentions a language: words of a language stand in `rules/languages/*.toml`, libraries in
//! `rules/libraries/*.toml`.

pub mod assemble;
pub mod build;
pub mod catalogue;
pub mod directive;
pub mod files;
#[cfg(test)]
pub(crate) mod fixture;
pub mod hits;
pub mod index;
pub mod languages;
pub mod loops;
pub mod operation;
pub mod packages;
pub mod project;
pub mod rust;
pub mod search;
pub mod site;
pub mod statuses;
pub mod tree;
pub mod values;
pub mod words;

pub use languages::Language;
