//! retrylint finds retry storms before they happen. Data goes one way:
//! scan → read (files → facts) → link (facts → graph) → analyse → check (rules → findings) → report.

pub mod baseline;
pub mod config;
pub mod facts;
pub mod finding;
pub mod fingerprint;
pub mod git;
pub mod graph;
pub mod init;
pub mod limits;
pub mod pipeline;
pub mod read;
mod regular;
pub mod report;
pub mod repository;
pub mod rules;
pub mod scan;
pub mod since;
pub mod source;
pub mod suggest;
pub mod suppress;
