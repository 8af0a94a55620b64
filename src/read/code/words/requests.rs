//! `[requests]`, `[keys]` and `[purposes]`: by what a try is known to send a request, to carry a key, to connect. Methods are
//! known by their name, functions by the end of their path.

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::Table;

/// How requests are made.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RequestWords {
    /// Methods of a client that make a request of this HTTP method; what is called comes first.
    pub verbs: Table<Verb>,
    /// Functions that do, or that begin to build one.
    pub functions: Table<Verb>,
    /// Methods and functions that are given the HTTP method first, and what is called behind it.
    pub general: Vec<String>,
    /// Methods of a builder that set what is called.
    pub addresses: Vec<String>,
    /// Methods of a builder that set the HTTP method.
    pub methods: Vec<String>,
    /// Methods that send what was built, or are given it.
    pub send: Vec<String>,
    /// Schemes of addresses at which a service answers.
    pub schemes: Vec<String>,
    /// Methods that put a path behind an address.
    pub joins: Vec<String>,
    /// Ends of the names of types that are clients of something.
    pub clients: Vec<String>,
    /// Ends of the names of modules that hold generated clients.
    pub generated: Vec<String>,
    /// Functions that limit the time of what they are given second.
    pub limits: Vec<String>,
    /// Words in the names of what holds an address.
    pub address_words: Vec<String>,
    /// Methods of a builder that limit the time of the request.
    pub timeouts: Vec<String>,
    /// Methods that turn the status of an answer into an error.
    pub status_errors: Vec<String>,
    /// Functions of a type that make one.
    pub constructors: Vec<String>,
    /// Methods of clients that give every answer as one, whatever its status, and those that read one: what they fail by is that
    /// there is no answer.
    pub exchanges: Vec<String>,
    /// Modules whose clients turn statuses into errors by themselves, with methods of the same names.
    pub judging: Vec<String>,
    /// Parts of names that show that a function may retry.
    pub retry_words: Vec<String>,
    /// Words in names that say nothing of which service they are about.
    pub plain_words: Vec<String>,
}

/// By what the key is known that makes it harmless to send a request again.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct KeyWords {
    /// Headers, lower case.
    pub headers: Vec<String>,
    /// Fields of a message, and methods that set them.
    pub fields: Vec<String>,
    /// Functions that make a new key each time.
    pub makers: Vec<String>,
}

/// What a try is for, by words in the names of what it calls and of the function around it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct PurposeWords {
    /// It opens or keeps open a connection, or joins something.
    pub reconnect: Vec<String>,
    /// Functions that a program begins with.
    pub startup: Vec<String>,
    /// Modules of functions that ask nothing but this machine's files.
    pub local: Vec<String>,
    /// Methods that do, by the full path of their type.
    pub local_methods: FxHashMap<String, Vec<String>>,
    /// Methods that ask nobody for anything: what they wait for is in this process.
    pub own: Vec<String>,
}

/// HTTP methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verb {
    /// GET
    Get,
    /// HEAD
    Head,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
    /// OPTIONS
    Options,
}

impl Verb {
    /// All of them.
    const ALL: [Verb; 7] = [Verb::Get, Verb::Head, Verb::Post, Verb::Put, Verb::Patch, Verb::Delete, Verb::Options];

    /// As it is sent.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Head => "HEAD",
            Verb::Post => "POST",
            Verb::Put => "PUT",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
            Verb::Options => "OPTIONS",
        }
    }

    /// The method of this name, in any case.
    pub fn named(name: &str) -> Option<Verb> {
        Verb::ALL.into_iter().find(|verb| verb.name().eq_ignore_ascii_case(name))
    }
}
