//! One file per source of call graphs.

pub mod services;
