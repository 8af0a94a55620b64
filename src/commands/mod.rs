//! One file for each command: the stations called one after another. A command answers whether all is well (exit status 0
//! or 1), or why it could not do its job (2).

mod adopt;
pub mod check;
pub mod completions;
pub mod config;
pub mod explain;
pub mod facts;
mod failure;
mod formats;
pub mod graph;
pub mod init;
pub mod man;
mod options;
pub mod policies;
mod progress;
pub mod rules;
mod screen;

pub use failure::Failure;
