//! What an expression says of where a request goes: a host, a name that a host is known by, a path alone.

use std::sync::Arc;

use super::receiver::type_of_name;
use super::scene::Scene;
use crate::facts::{Evidence, Host, ServiceRef, Value, Why};
use crate::read::code::project::Project;
use crate::read::code::tree::{Arg, Id, Kind, Literal, Name, Op, Part};
use crate::read::code::values::{self, Known};
use crate::read::code::words::{self, Words};
use crate::source::Span;

/// Expressions are looked into so deep.
const DEEPEST: usize = 24;
/// Longer texts are no addresses.
const LONGEST: usize = 2048;

/// Where a request goes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Address {
    /// To this service, on this path where that is literal.
    Host { service: ServiceRef, path: Option<Arc<str>> },
    /// To what has one of these names in settings or the environment; best first.
    Names { names: Vec<Arc<str>>, path: Option<Arc<str>> },
    /// On this path of whatever its client is a client of.
    Path(Arc<str>),
    /// To this machine, or nowhere.
    Nowhere,
    /// Not told.
    Unknown(Why),
}

impl Address {
    fn unknown(why: &'static str) -> Address {
        Address::Unknown(Why::Other(why.into()))
    }

    /// Whether it says that there is an address at all.
    pub fn is_known(&self) -> bool {
        !matches!(self, Address::Unknown(_))
    }

    /// The same with this path behind it; none if the path is not literal.
    fn with_path(self, behind: Option<&str>) -> Address {
        let join = |path: Option<Arc<str>>| -> Option<Arc<str>> {
            let behind = behind?;
            let before = path.as_deref().unwrap_or_default().trim_end_matches('/');
            let behind = behind.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
            Some(format!("{before}/{behind}").into())
        };
        match self {
            Address::Host { service, path } => Address::Host { service, path: join(path) },
            Address::Names { names, path } => Address::Names { names, path: join(path) },
            Address::Path(path) => {
                join(Some(path)).map_or(Address::Unknown(Why::Other("a path".into())), Address::Path)
            }
            other => other,
        }
    }
}

/// What a text is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A URL, or a path.
    Url,
    /// A URL, or `host:port`.
    Authority,
    /// A URL, or a host alone.
    Host,
}

/// Reads addresses.
pub(super) struct Reader<'p> {
    pub project: &'p Project,
    pub words: &'static Words,
}

impl Reader<'_> {
    /// The address that an expression holds.
    pub fn address(&self, scene: &Scene, form: Form) -> Address {
        self.look(scene, form, 0)
    }

    fn look(&self, scene: &Scene, form: Form, depth: usize) -> Address {
        if depth > DEEPEST {
            return Address::unknown("too far from where it is written");
        }
        let found = scene.resolve(self.project);
        let inner = |id: Id| self.look(&found.at(id), form, depth + 1);
        match found.kind() {
            Kind::Literal(Literal::Text(text)) => self.read(text, form, &found),
            Kind::Template(parts) => self.template(&found, parts, form, depth),
            Kind::Operator { op: Op::Add, of } => match of.as_slice() {
                [first, rest @ ..] => {
                    let behind: Option<String> =
                        rest.iter().map(|id| Some(self.text(&found.at(*id))?.to_string())).collect();
                    inner(*first).with_path(behind.as_deref())
                }
                [] => Address::unknown("not followed"),
            },
            Kind::Name(_) | Kind::Member { .. } => self.named(&found),
            Kind::Index { of, key } => match self.text(&found.at(*key)) {
                Some(key) => self.setting(&key, &[]),
                None => inner(*of),
            },
            Kind::Method { on, name, args, .. } => self.method((&found, *on), name, args, form, depth),
            Kind::Call { of, args, .. } => {
                if let Some(names) = self.environment(&found) {
                    return names;
                }
                let name = found.place.unit.callee(*of);
                // What `or else` gives of one that fails is no address.
                match args.first().filter(|_| name.is_none_or(|name| !name.best().starts_with("crate::"))) {
                    Some(arg) => inner(arg.value),
                    None => name.map_or(Address::unknown("not followed"), |name| self.setting(name.last(), &[])),
                }
            }
            Kind::Branch { on: Some(on), arms } if arms.iter().all(|arm| leaves(&found, arm.body)) => inner(*on),
            Kind::Branch { arms, .. } => {
                let mut all = arms.iter().map(|arm| inner(arm.body)).filter(Address::is_known);
                match all.next() {
                    Some(first) if all.all(|other| other == first) => first,
                    Some(_) => Address::unknown("decided at run time"),
                    None => Address::unknown("not followed"),
                }
            }
            Kind::Await(of) => inner(*of),
            Kind::Block(statements) => statements.last().map_or(Address::unknown("not followed"), |last| inner(*last)),
            Kind::Closure { params, body, .. } if params.is_empty() => inner(*body),
            _ => Address::unknown("not followed"),
        }
    }

    /// A text with holes, read from its start: known text up to the end of the host is enough.
    fn template(&self, scene: &Scene, parts: &[Part], form: Form, depth: usize) -> Address {
        let mut text = String::new();
        let mut base = None;
        for (at, part) in parts.iter().enumerate() {
            let hole = match part {
                Part::Text(known) => {
                    text.push_str(known);
                    continue;
                }
                Part::Hole(hole) => scene.at(*hole),
            };
            if let Some(known) = self.text(&hole) {
                text.push_str(&known);
            } else if text.is_empty() && base.is_none() {
                base = Some(self.look(&hole, form, depth + 1));
            } else if base.is_some() || has_host(&text) {
                // The path is not literal, but the host is.
                return match base {
                    Some(base) => base.with_path(None),
                    None => self.read(&text, form, scene).with_path(None),
                };
            } else if text.ends_with("://") {
                let whole = parts.get(at + 1..).unwrap_or_default();
                return self.host_hole(&hole, whole, depth);
            } else {
                return Address::unknown("part of the host is decided at run time");
            }
            if text.len() > LONGEST {
                break;
            }
        }
        match base {
            Some(base) if text.is_empty() => base,
            Some(base) => base.with_path(Some(&text)),
            None => self.read(&text, form, scene),
        }
    }

    /// `http://{host}:8080/x`: what the hole says, with the path behind it.
    fn host_hole(&self, hole: &Scene, behind: &[Part], depth: usize) -> Address {
        let rest: Option<String> = behind
            .iter()
            .map(|part| match part {
                Part::Text(text) => Some(text.to_string()),
                Part::Hole(_) => None,
            })
            .collect();
        let follows_host = match behind.first() {
            None => true,
            Some(Part::Text(text)) => text.starts_with([':', '/', '?']),
            Some(Part::Hole(_)) => false,
        };
        if !follows_host {
            return Address::unknown("part of the host is decided at run time");
        }
        let path = rest.as_deref().and_then(|rest| rest.split_once('/')).map(|(_, path)| path);
        self.look(hole, Form::Host, depth + 1).with_path(path)
    }

    /// Builders, conversions, fallbacks and look-ups: the receiver says where, or the key that is asked for.
    fn method(&self, (scene, on): (&Scene, Id), name: &str, args: &[Arg], form: Form, depth: usize) -> Address {
        if let Some(names) = self.environment(scene) {
            return self.or_else(names, scene, args, form, depth);
        }
        let receiver = self.look(&scene.at(on), form, depth + 1);
        let first = args.first().map(|arg| scene.at(arg.value));
        if self.words.requests.joins.iter().any(|join| join == name) {
            return receiver.with_path(first.and_then(|arg| self.text(&arg)).as_deref());
        }
        let key = first.as_ref().and_then(|arg| self.text(arg)).filter(|key| is_key(key));
        match (receiver, key) {
            // `settings.get("payments.url")`: the key says more than the settings.
            (Address::Unknown(_) | Address::Names { .. }, Some(key)) => self.setting(&key, &[]),
            (Address::Unknown(why), None) => match first {
                Some(arg) => match self.look(&arg, form, depth + 1) {
                    Address::Unknown(_) => Address::Unknown(why),
                    known => known,
                },
                None => self.setting(name, &[]),
            },
            (known, _) => self.or_else(known, scene, args, form, depth),
        }
    }

    /// What stands in for a setting that is not there names its service too.
    fn or_else(&self, found: Address, scene: &Scene, args: &[Arg], form: Form, depth: usize) -> Address {
        let (Address::Names { mut names, path }, [arg]) = (found.clone(), args) else { return found };
        let fallback = scene.at(arg.value).resolve(self.project);
        let fallback = match fallback.kind() {
            Kind::Closure { body, .. } => fallback.at(*body),
            _ => fallback,
        };
        if let Address::Host { service, .. } = self.look(&fallback, form, depth + 1) {
            let name: Arc<str> = service.host.display().into();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Address::Names { names, path }
    }

    /// The variable that a node reads from the environment.
    fn environment(&self, scene: &Scene) -> Option<Address> {
        let traced = values::trace_in(self.project, &scene.place, &scene.bindings);
        let (why, default) = match (traced.value, traced.overridden) {
            (Value::Unknown(why), _) => (*why, None),
            (Value::Known(value), Some(why)) => (why, Some(value)),
            (Value::Known(_), None) => return None,
        };
        let Why::Environment(name) = why else { return None };
        let mut names: Vec<Arc<str>> = vec![name.into_owned().into()];
        // What stands in for a variable that is not set names the service too.
        if let Some(Known::Text(text)) = default
            && let Address::Host { service, .. } = self.read(&text, Form::Url, scene)
        {
            names.push(service.host.display().into());
        }
        Some(Address::Names { names, path: None })
    }

    /// A name or member that nothing more is known of: what it is called says whose address it is.
    fn named(&self, scene: &Scene) -> Address {
        if let Some(names) = self.environment(scene) {
            return names;
        }
        let mut parts: Vec<&str> = Vec::new();
        let mut at = scene.place.id;
        let mut owner = None;
        loop {
            match scene.place.unit.kind(at) {
                Kind::Member { of, name } if parts.len() < 8 => {
                    parts.push(name);
                    at = *of;
                }
                Kind::Name(name) => {
                    parts.push(name.last());
                    owner = type_of_name(&scene.place, name);
                    break;
                }
                _ => break,
            }
        }
        // `self.base_url` of a `PaymentsClient`.
        parts.extend(owner.as_ref().filter(|_| parts.len() > 1).map(Name::last));
        let Some((last, around)) = parts.split_first() else { return Address::unknown("not followed") };
        self.setting(last, around)
    }

    /// The names that a setting may be known by: its own, if it says which service it belongs to, else together with that of
    /// the group that it stands in.
    fn setting(&self, name: &str, around: &[&str]) -> Address {
        let mut names: Vec<Arc<str>> = Vec::new();
        if is_telling(name, self.words) {
            names.push(name.into());
        } else if let Some(group) = around.iter().find(|group| is_telling(group, self.words)) {
            names.push(format!("{group}.{name}").into());
        }
        match names.is_empty() {
            true => Address::unknown("what is called is decided where this is used"),
            false => Address::Names { names, path: None },
        }
    }

    fn read(&self, text: &str, form: Form, scene: &Scene) -> Address {
        read(text, form, &self.words.requests.schemes, scene.place.span())
    }

    /// The text that a node is known to be.
    pub fn text(&self, scene: &Scene) -> Option<Arc<str>> {
        let found = scene.resolve(self.project);
        if let Kind::Literal(literal) = found.kind() {
            return match literal {
                Literal::Text(text) => Some(text.clone()),
                Literal::Int(number, _) => Some(number.to_string().into()),
                _ => None,
            };
        }
        let traced = values::trace_in(self.project, &found.place, &found.bindings);
        match traced.value {
            // A default is what something else stands in for.
            _ if traced.overridden.is_some() => None,
            Value::Known(Known::Text(text)) => Some(text),
            Value::Known(Known::Int(number)) => Some(number.to_string().into()),
            _ => None,
        }
    }
}

/// Whether a name says which service it is about, once words such as `url` and `client` are left out.
pub(super) fn is_telling(name: &str, words: &Words) -> bool {
    let is_plain =
        |word: &String| words.requests.plain_words.contains(word) || word.bytes().all(|b| b.is_ascii_digit());
    words::split(name).iter().any(|word| !is_plain(word))
}

/// Whether a text is a key of settings.
fn is_key(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    !text.is_empty()
        && text.len() < 128
        && text.chars().all(is_word)
        && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// Whether what is known of a URL goes past its host.
fn has_host(text: &str) -> bool {
    text.split_once("://").is_some_and(|(_, rest)| rest.contains([':', '/', '?']))
}

/// Whether a node leaves the function: the arm of an operator that hands failures on.
fn leaves(scene: &Scene, id: Id) -> bool {
    matches!(scene.place.unit.kind(id), Kind::Exit { .. })
}

/// An address written as text.
fn read(text: &str, form: Form, schemes: &[String], at: Span) -> Address {
    let text = text.trim();
    if text.len() > LONGEST {
        return Address::unknown("not an address");
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        return match form {
            Form::Url if text.starts_with('/') => Address::Path(path_of(text)),
            Form::Authority if text.rsplit_once(':').is_some_and(|(_, port)| is_port(port)) => host(text, None, at),
            Form::Host if !text.is_empty() => host(text, None, at),
            _ => Address::unknown("not an address"),
        };
    };
    let scheme = scheme.to_ascii_lowercase();
    if !schemes.contains(&scheme) {
        return Address::unknown("not the address of a service");
    }
    let path = rest.find(['/', '?', '#']).and_then(|at| rest.get(at..)).map(path_of);
    host(text, path.filter(|_| scheme.starts_with("http")), at)
}

/// The path of what begins with it.
fn path_of(text: &str) -> Arc<str> {
    text.split(['?', '#']).next().filter(|path| !path.is_empty()).unwrap_or("/").into()
}

fn host(text: &str, path: Option<Arc<str>>, at: Span) -> Address {
    let Some(host) = Host::parse(text).filter(|host| !is_nowhere(host)) else { return Address::Nowhere };
    let service = ServiceRef { host, from_namespace: None, evidence: Evidence::Written, at: Some(at) };
    Address::Host { service, path }
}

/// Names that are set apart for examples and tests (RFC 2606, RFC 6761).
fn is_nowhere(host: &Host) -> bool {
    let name = host.display();
    let last = name.rsplit('.').next().unwrap_or(&name);
    matches!(last, "test" | "example" | "invalid" | "localhost")
        || ["example.com", "example.org", "example.net"]
            .iter()
            .any(|example| name.strip_suffix(example).is_some_and(|before| before.is_empty() || before.ends_with('.')))
}
