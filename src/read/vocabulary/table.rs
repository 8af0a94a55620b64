//! The keys that a table may have. The reader's suggestions, `retrylint init` and `config`, the tables of
//! docs/configuration.md and the schemas in docs/schemas are all made of these, and a test holds every value of every key
//! that the reader takes against what its schema says (`agreement`).
//!
//! What a key says stands beside its name and kind, and not in a table of the tests: `init` writes it behind each setting, and
//! whoever adds a key sees what is missing. Faults do not quote it: they say what the value should be, which is shorter.

use super::kind::Is;

/// A table, as one sees it in a file.
#[derive(Debug)]
pub struct Table {
    /// What a schema calls it.
    pub name: &'static str,
    /// What a message calls it: `a call`, `[scan]`.
    pub place: &'static str,
    /// What it looks like, for a message: behind "should be".
    pub shape: &'static str,
    /// What it is for, lower case, without a full stop; empty where the keys that have it say so.
    pub about: &'static str,
    /// Its keys, in groups that other tables may have too.
    pub keys: &'static [&'static [Key]],
    /// What must stand in it beside its required keys.
    pub needs: &'static [Need],
}

/// What must stand in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// At least one of these keys.
    AnyOf(&'static [&'static str]),
    /// One key and no more.
    One,
    /// Where the key stands, at least one of the others too.
    With(&'static str, &'static [&'static str]),
    /// The first key stands where the second says this word, and nowhere else.
    Just(&'static str, &'static str, &'static str),
    /// At most one of these keys.
    NotBoth(&'static str, &'static str),
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What its value is.
    pub is: Is,
    /// What it says, lower case, without a full stop. Empty where its table says it.
    pub about: &'static str,
    /// What holds where it is not written, as one would write it in TOML.
    pub default: Option<&'static str>,
    /// Whether it must be written.
    pub is_required: bool,
}

impl Key {
    /// A key that may be left out.
    pub const fn new(name: &'static str, is: Is, about: &'static str) -> Key {
        Key { name, is, about, default: None, is_required: false }
    }

    /// The same with what holds where it is left out.
    pub const fn or(self, default: &'static str) -> Key {
        Key { default: Some(default), ..self }
    }

    /// The same, which must not be left out.
    pub const fn required(self) -> Key {
        Key { is_required: true, ..self }
    }
}

impl Table {
    /// Its keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().copied().flatten()
    }

    /// Their names.
    pub fn names(&self) -> Vec<&'static str> {
        self.keys().map(|key| key.name).collect()
    }

    /// The keys that have a default, with that.
    pub fn defaults(&self) -> impl Iterator<Item = (&'static Key, &'static str)> {
        self.keys().filter_map(|key| Some((key, key.default?)))
    }
}
