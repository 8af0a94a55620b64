//! retrylint finds retry storms before they happen. Data goes one way:
//! scan → read (files → facts) → link (facts → graph) → analyse → check (rules → findings) → report.

pub mod config;
pub mod facts;
pub mod finding;
pub mod fingerprint;
pub mod graph;
pub mod limits;
pub mod pipeline;
pub mod read;
pub mod report;
pub mod rules;
pub mod scan;
pub mod source;
pub mod suggest;
pub mod suppress;
