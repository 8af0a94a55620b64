//! The GitHub Action, the release behind it, and the other ways to run retrylint beside a repository: every step of `action.yml`
//! and every script runs here as a runner would run it, on a machine without a network. A test that wants a tool that is not
//! installed says so and passes; `.ci/run` installs them.
#![cfg(target_os = "linux")]

mod check;
#[path = "../folder/mod.rs"]
mod folder;
mod install;
mod lint;
mod recipes;
mod release;
mod runner;
