//! The shape that many programs give their own retry settings: `retry: { attempts: 3, delay: 1s }` in YAML, JSON or TOML.
//! Nobody says that a program reads it so, or at all: every fact from here has low confidence, and what is not written is
//! unknown. Comes after every other dialect.

mod foreign;
mod keys;
mod settings;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::collections::HashSet;

use crate::facts::{Callee, Evidence, Facts, Host, ServiceRef, Why};
use crate::read::Context;
use crate::read::data::tree::Node;
use keys::name;

/// The reader of the generic shape.
pub const DIALECT: crate::read::Dialect =
    crate::read::Dialect { name: "generic", words: &["retr", "Retr", "RETR"], recognises, read };

/// Names of the mapping that holds retry settings.
const SECTIONS: &[&str] = &["retry", "retries", "retrypolicy", "retryconfig", "retryoptions", "retrysettings"];
/// Keys around it that show a client of something, with its address as value.
const ADDRESSES: &[&str] =
    &["url", "uri", "baseurl", "baseuri", "baseaddress", "endpoint", "address", "host", "hostname", "target"];
/// Keys around it that name what is called.
const CLIENTS: &[&str] = &["client", "upstream", "clientname"];
/// Keys that say what a mapping is and not whose.
const GENERIC: &[&str] = &[
    "client",
    "clients",
    "http",
    "https",
    "grpc",
    "httpclient",
    "httpclients",
    "config",
    "configuration",
    "settings",
    "options",
    "default",
    "defaults",
    "service",
    "services",
    "upstream",
    "upstreams",
    "endpoint",
    "endpoints",
    "api",
    "apis",
    "resilience",
    "policy",
    "policies",
    "global",
    "spec",
    "data",
    "app",
    "application",
    "values",
    "env",
    "environment",
    "request",
    "requests",
    "server",
    "target",
    "targets",
    "common",
    "base",
    "connection",
    "transport",
    "route",
    "routes",
    "rules",
    "methodconfig",
];

/// A mapping on the way to a node.
struct Frame<'t> {
    key: &'t str,
    index: Option<usize>,
    node: Node<'t>,
    parent: Option<usize>,
    /// What its own entries say of a client; asked for once however many settings stand in it.
    client: OnceCell<Client>,
}

/// What a mapping says of the client whose settings stand in it.
struct Client {
    /// Whether an address or a name is there.
    is_there: bool,
    /// Whom it calls, if that can be told.
    callee: Option<Callee>,
}

impl Frame<'_> {
    fn client(&self) -> &Client {
        self.client.get_or_init(|| Client::of(self.node))
    }
}

impl Client {
    fn of(node: Node<'_>) -> Self {
        let mut client = Client { is_there: false, callee: None };
        for entry in node.written_entries() {
            let (Some(text), key) = (entry.value.text(), name(entry.key)) else { continue };
            let (is_address, is_name) = (ADDRESSES.contains(&key.as_str()), CLIENTS.contains(&key.as_str()));
            client.is_there |= is_address || is_name;
            if client.callee.is_some() {
                break;
            }
            if is_address && let Some(host) = Host::parse(text) {
                let at = Some(entry.value.span());
                let service = ServiceRef { host, from_namespace: None, evidence: Evidence::Written, at };
                client.callee = Some(Callee::Service { service, hosts: Vec::new() });
            } else if is_name {
                client.callee = Some(Callee::Named(vec![text.into()]));
            }
        }
        client
    }
}

/// Whether a document holds retry settings of this shape and is nothing that merely looks so.
pub fn recognises(document: Node<'_>) -> bool {
    !foreign::is_document(document) && !sites(document).1.is_empty()
}

/// Reads each of them.
pub fn read(document: Node<'_>, context: &Context<'_>, facts: &mut Facts) {
    if foreign::is_file(context.path) || foreign::is_document(document) {
        return;
    }
    let (frames, sites) = sites(document);
    for at in sites {
        if let Some(frame) = frames.get(at) {
            let callee = callee(&frames, frame);
            facts.policies.push(settings::policy(frame.node, &path(&frames, at), callee));
        }
    }
}

/// All mappings of a document, and those of them that are retry settings, in the order written.
fn sites<'t>(document: Node<'t>) -> (Vec<Frame<'t>>, Vec<usize>) {
    let mut frames = vec![Frame { key: "", index: None, node: document, parent: None, client: OnceCell::new() }];
    let mut sites = Vec::new();
    let mut todo = vec![0];
    // What several aliases share is read at the first: an alias bomb is small.
    let mut seen = HashSet::from([document.id()]);
    while let Some(at) = todo.pop() {
        let Some(node) = frames.get(at).map(|frame| frame.node) else { continue };
        if foreign::is_object(node) {
            continue;
        }
        if is_site(&frames, at) {
            sites.push(at);
        }
        let above = todo.len();
        let mut visit = |key: &'t str, index, child: Node<'t>| {
            if (child.is_map() || child.is_seq()) && seen.insert(child.id()) {
                todo.push(frames.len());
                frames.push(Frame { key, index, node: child, parent: Some(at), client: OnceCell::new() });
            }
        };
        if node.is_map() {
            node.written_entries().for_each(|entry| visit(entry.key, None, entry.value));
        } else {
            node.items().enumerate().for_each(|(i, item)| visit("", Some(i), item));
        }
        if let Some(added) = todo.get_mut(above..) {
            added.reverse();
        }
    }
    (frames, sites)
}

/// Whether a mapping is one of retry settings: its name says so, it counts, and it says one thing more, or what is around
/// it is a client of something.
fn is_site(frames: &[Frame<'_>], at: usize) -> bool {
    let Some(frame) = frames.get(at) else { return false };
    if !frame.node.is_map() || !SECTIONS.contains(&name(frame.key).as_str()) {
        return false;
    }
    if !settings::counts(frame.node) || settings::is_disabled(frame.node) {
        return false;
    }
    let around = frame.parent.and_then(|parent| frames.get(parent));
    settings::says_more(frame.node) || around.is_some_and(|around| around.client().is_there)
}

/// Whom the client around the settings calls: its address, or else its name.
fn callee(frames: &[Frame<'_>], site: &Frame<'_>) -> Callee {
    let around = site.parent.and_then(|parent| frames.get(parent));
    if let Some(callee) = around.and_then(|frame| frame.client().callee.clone()) {
        return callee;
    }
    let mut at = around;
    while let Some(frame) = at {
        if !frame.key.is_empty() && !GENERIC.contains(&name(frame.key).as_str()) {
            return Callee::Named(vec![frame.key.into()]);
        }
        at = frame.parent.and_then(|parent| frames.get(parent));
    }
    Callee::Unknown(Why::Other("nothing beside the settings says what is called".into()))
}

/// Of the keys around a mapping, so many are shown: files may be nested deeply.
const SHOWN: usize = 16;

/// `clients.payments.retry`, `sinks[2].retry`.
fn path(frames: &[Frame<'_>], at: usize) -> String {
    let mut parts = Vec::new();
    let mut at = frames.get(at);
    while let Some(frame) = at.filter(|_| parts.len() < SHOWN) {
        match frame.index {
            Some(index) => parts.push(format!("[{index}]")),
            None if frame.parent.is_some() => parts.push(format!(".{}", frame.key)),
            None => {}
        }
        at = frame.parent.and_then(|parent| frames.get(parent));
    }
    parts.reverse();
    parts.concat().trim_start_matches('.').to_string()
}
