//! A site in each of the first files, each found by another sign; a near miss of each in the last.

mod aliased;
mod client;
mod made;
mod missed;
mod recursive;
