//! One file per source of call graphs.
