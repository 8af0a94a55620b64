//! Requests: by which method, to which address, limited to which time; and calls of a client that has a name.

use std::sync::Arc;

use super::address::{Address, Form, Reader, is_telling};
use super::scene::Scene;
use crate::read::code::tree::{Arg, Exit, Id, Kind, Literal, Name, Place, Sym, Test};
use crate::read::code::words::requests::Verb;
use crate::read::code::words::{last_of, lists, split};

/// Chains of methods are followed so far.
const LONGEST: usize = 64;

/// A request that a try sends.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Where to.
    pub address: Address,
    /// By which method.
    pub verb: Option<Verb>,
    /// What says so: the method or function that begins it.
    pub at: Scene,
    /// The time that it may take, if it has a limit of its own.
    pub limit: Option<Scene>,
    /// What it is sent through.
    pub client: Option<Scene>,
}

/// A call of something that is called like a service's client.
#[derive(Clone, Debug)]
pub(super) struct ClientCall {
    /// Its names, best first.
    pub names: Vec<Arc<str>>,
    /// Where it was said to connect to.
    pub address: Address,
    /// What is called.
    pub method: Sym,
    /// How good the names are.
    pub how: Kinship,
    /// Whether it is generated from a description of the service.
    pub is_generated: bool,
}

/// How a client's name is known, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kinship {
    /// Its type or variable is called a client.
    Client,
    /// A variable has the name.
    Variable,
}

/// How a chain of methods goes on.
struct Chain {
    is_sent: bool,
    verb: Option<Verb>,
    limit: Option<Scene>,
}

impl Reader<'_> {
    /// The request that a node begins or sends.
    pub fn request(&self, scene: &Scene) -> Option<Request> {
        let words = &self.words.requests;
        match scene.kind() {
            Kind::Method { on, name, args, .. } => {
                if words.send.iter().any(|send| **send == **name) {
                    return self.sent(scene, *on, args);
                }
                let chain = self.behind(scene);
                let (verb, target) = match args.as_slice() {
                    [verb, target, ..] if words.general.iter().any(|general| **general == **name) => {
                        (self.verb(&scene.at(verb.value)), target)
                    }
                    [target, ..] if words.addresses.iter().any(|address| **address == **name) => {
                        (chain.verb.or_else(|| self.verb_before(&scene.at(*on))), target)
                    }
                    [target, ..] => (Some(words.verbs.get(name)?), target),
                    [] => return None,
                };
                let address = self.address(&scene.at(target.value), Form::Url);
                let limit = chain.limit.or_else(|| self.limit_among(scene, args));
                let is_one = chain.is_sent || self.is_address(&address);
                let client = Some(scene.at(*on));
                is_one.then(|| Request { address, verb, at: scene.clone(), limit, client })
            }
            Kind::Call { of, args, .. } => {
                let name = scene.place.unit.callee(*of).filter(|name| !name.best().starts_with("crate::"))?;
                let chain = self.behind(scene);
                let (verb, target) = match args.as_slice() {
                    [verb, target, ..] if lists(&words.general, name.best()) => {
                        (self.verb(&scene.at(verb.value)), target)
                    }
                    [target, ..] => (words.functions.of_path(name.best()), target),
                    [] => return None,
                };
                verb?;
                let address = self.address(&scene.at(target.value), Form::Url);
                let limit = chain.limit.or_else(|| self.limit_among(scene, args));
                Some(Request { address, verb, at: scene.clone(), limit, client: None })
            }
            _ => None,
        }
    }

    /// The argument that limits the time of a request, by its name.
    fn limit_among(&self, scene: &Scene, args: &[Arg]) -> Option<Scene> {
        let is_limit = |name: &Sym| self.words.requests.timeouts.iter().any(|limit| **limit == **name);
        let limit = args.iter().find(|arg| arg.name.as_ref().is_some_and(is_limit))?;
        Some(scene.at(limit.value))
    }

    /// Whether a method of this name may begin a request.
    pub fn may_begin(&self, name: &str) -> bool {
        let words = &self.words.requests;
        words.verbs.get(name).is_some()
            || [&words.general, &words.addresses].into_iter().any(|list| list.iter().any(|word| word == name))
    }

    /// What was built elsewhere and is sent here: `request.send()`, `client.execute(request)`.
    fn sent(&self, scene: &Scene, on: Id, args: &[Arg]) -> Option<Request> {
        let receiver = scene.at(on);
        let (mut limit, mut built) = (None, None);
        for from in std::iter::once(receiver.clone()).chain(args.first().map(|arg| scene.at(arg.value))) {
            let mut at = from;
            let mut was_named = false;
            for _ in 0..LONGEST {
                let next = match at.kind() {
                    Kind::Name(_) => {
                        let found = at.resolve(self.project);
                        if found.is_same(&at) {
                            break;
                        }
                        was_named = true;
                        found
                    }
                    Kind::Method { .. } | Kind::Call { .. } if was_named && self.begins(&at) => {
                        built = Some(at);
                        break;
                    }
                    Kind::Method { on, name, args, .. } => {
                        if limit.is_none() && self.words.requests.timeouts.iter().any(|limit| **limit == **name) {
                            limit = args.first().map(|arg| at.at(arg.value));
                        }
                        at.at(*on)
                    }
                    Kind::Await(of) => at.at(*of),
                    Kind::Branch { on: Some(on), .. } => at.at(*on),
                    _ => break,
                };
                at = next;
            }
        }
        // What begins in the very same chain is met by itself.
        let request = self.request(&built?)?;
        Some(Request { limit: limit.or(request.limit), ..request })
    }

    /// Whether a node begins a request.
    fn begins(&self, scene: &Scene) -> bool {
        let words = &self.words.requests;
        match scene.kind() {
            Kind::Method { name, .. } => self.may_begin(name),
            Kind::Call { of, .. } => {
                let name = scene.place.unit.callee(*of);
                name.is_some_and(|name| words.functions.of_path(name.best()).is_some())
            }
            _ => false,
        }
    }

    /// What is done with what a node gives, up to where it is sent.
    fn behind(&self, scene: &Scene) -> Chain {
        let words = &self.words.requests;
        let unit = &scene.place.unit;
        let mut chain = Chain { is_sent: false, verb: None, limit: None };
        let mut at = scene.place.id;
        for _ in 0..LONGEST {
            let Some(parent) = unit.parent(at) else { break };
            match unit.kind(parent) {
                Kind::Method { on, name, args, .. } if *on == at => {
                    let is = |list: &[String]| list.iter().any(|word| **word == **name);
                    let first = args.first().map(|arg| scene.at(arg.value));
                    if is(&words.send) {
                        chain.is_sent = true;
                        break;
                    } else if is(&words.timeouts) {
                        chain.limit = first;
                    } else if is(&words.methods) {
                        chain.verb = first.and_then(|arg| self.verb(&arg));
                    }
                }
                Kind::Branch { on: Some(on), .. } if *on == at => {}
                _ => break,
            }
            at = parent;
        }
        chain
    }

    /// The HTTP method that a builder was given before.
    fn verb_before(&self, scene: &Scene) -> Option<Verb> {
        let mut at = scene.clone();
        for _ in 0..LONGEST {
            let next = match at.kind() {
                Kind::Method { on, name, args, .. } => {
                    if self.words.requests.methods.iter().any(|method| **method == **name) {
                        return self.verb(&at.at(args.first()?.value));
                    }
                    at.at(*on)
                }
                _ => return None,
            };
            at = next;
        }
        None
    }

    /// `Method::POST`, `"POST"`.
    fn verb(&self, scene: &Scene) -> Option<Verb> {
        match scene.kind() {
            Kind::Name(name) => Verb::named(name.last()).or_else(|| Verb::named(&self.text(scene)?)),
            Kind::Literal(Literal::Text(text)) => Verb::named(text),
            _ => None,
        }
    }

    /// Whether an argument is an address even where nothing shows that a request is sent to it: maps have a `get` too.
    fn is_address(&self, address: &Address) -> bool {
        let words = &self.words.requests.address_words;
        match address {
            Address::Host { .. } | Address::Path(_) | Address::Nowhere => true,
            Address::Names { names, .. } => {
                names.iter().any(|name| split(name).iter().any(|word| words.contains(word)))
            }
            Address::Unknown(_) => false,
        }
    }

    /// The call of a client that is called like a service.
    pub fn client_call(&self, scene: &Scene) -> Option<ClientCall> {
        match scene.kind() {
            Kind::Method { on, name, .. } if is_waited_for(scene) => self.client(&scene.at(*on), name),
            Kind::Call { of, .. } if is_waited_for(scene) => {
                // `payments_client::charge(request)` of a package that is not the project's own.
                let name = scene.place.unit.callee(*of).filter(|name| !name.best().starts_with("crate::"))?;
                let (around, method) = name.best().rsplit_once("::")?;
                let module = around.rsplit("::").find(|part| self.is_client(part))?;
                Some(ClientCall {
                    names: vec![module.into()],
                    address: Address::Unknown(crate::facts::Why::Other("not told".into())),
                    method: method.into(),
                    how: Kinship::Client,
                    is_generated: false,
                })
            }
            _ => None,
        }
    }

    /// What a path alone is sent through: a client with a name, else the type of client whose method this is.
    pub fn sent_through(&self, request: &Request) -> Option<ClientCall> {
        let client = request.client.as_ref().filter(|_| matches!(request.address, Address::Path(_)))?;
        let method: Sym = "".into();
        self.client(client, &method).or_else(|| {
            let unit = &client.place.unit;
            match unit.kind(unit.function_of(client.place.id)?) {
                Kind::Function { owner: Some(owner), .. } => self.of_type(owner.best(), &method),
                _ => None,
            }
        })
    }

    fn client(&self, receiver: &Scene, method: &Sym) -> Option<ClientCall> {
        let unknown = || Address::Unknown(crate::facts::Why::Other("not told".into()));
        let mut at = receiver.resolve(self.project);
        // Through what configures it to what makes it.
        for _ in 0..LONGEST {
            let next = match at.kind() {
                Kind::Await(of) => at.at(*of),
                Kind::Branch { on: Some(on), .. } => at.at(*on),
                Kind::Method { on, .. } => at.at(*on).resolve(self.project),
                _ => break,
            };
            at = next;
        }
        let made = match at.kind() {
            Kind::Call { args, .. } => args.first().map(|arg| self.address(&at.at(arg.value), Form::Authority)),
            _ => None,
        };
        if let Some(call) = self.type_of(&at).and_then(|ty| self.of_type(ty.best(), method)) {
            return Some(ClientCall { address: made.unwrap_or_else(unknown), ..call });
        }
        let name: &str = match at.kind() {
            Kind::Name(name) => name.last(),
            Kind::Member { name, .. } => name,
            _ => return None,
        };
        let how = if self.is_client(name) { Kinship::Client } else { Kinship::Variable };
        let names = vec![name.into()];
        let method = method.clone();
        is_telling(name, self.words).then(|| ClientCall { names, address: unknown(), method, how, is_generated: false })
    }

    /// What is called on a client of this type, if the type is called after a service.
    fn of_type(&self, path: &str, method: &Sym) -> Option<ClientCall> {
        let (module, ty) = path.rsplit_once("::").unwrap_or(("", path));
        if !self.is_client(ty) || !is_telling(ty, self.words) {
            return None;
        }
        let module = last_of(module);
        Some(ClientCall {
            names: vec![ty.into()],
            address: Address::Unknown(crate::facts::Why::Other("not told".into())),
            method: method.clone(),
            how: Kinship::Client,
            is_generated: self.words.requests.generated.iter().any(|end| module.ends_with(&**end)),
        })
    }

    /// What something is made for, by the variable, field or type of client that it is made for.
    pub fn made_for(&self, made: &Place) -> Option<Sym> {
        let unit = &made.unit;
        let mut inner = made.id;
        for outer in unit.around(made.id) {
            let name = match unit.kind(outer) {
                Kind::Let { names, .. } => match names.as_slice() {
                    [only] => Some(only.clone()),
                    _ => None,
                },
                Kind::Record { fields, .. } => fields.iter().find(|field| field.value == inner)?.name.clone(),
                Kind::Function { owner, name, .. } => {
                    let owner = owner.as_ref().map(Name::last).filter(|owner| self.is_client(owner));
                    return owner
                        .map(Sym::from)
                        .or_else(|| Some(name.clone()).filter(|name| self.is_client(name)))
                        .filter(|name| is_telling(name, self.words));
                }
                _ => None,
            };
            if let Some(name) = name.filter(|name| is_telling(name, self.words) && self.is_client(name)) {
                return Some(name);
            }
            inner = outer;
        }
        None
    }

    /// Whether a name ends in a word for a client.
    fn is_client(&self, name: &str) -> bool {
        let last = split(name).pop().unwrap_or_default();
        self.words.requests.clients.iter().any(|end| end.eq_ignore_ascii_case(&last))
    }
}

/// Whether the outcome of a call is waited for, or decides what is done next.
pub(super) fn is_waited_for(scene: &Scene) -> bool {
    let unit = &scene.place.unit;
    let Some(parent) = unit.parent(scene.place.id) else { return false };
    match unit.kind(parent) {
        Kind::Await(_) | Kind::Outcome { .. } => true,
        Kind::Branch { on: Some(on), arms } => {
            *on == scene.place.id
                && arms.iter().any(|arm| matches!(arm.test, Test::Success { .. } | Test::Failure { .. }))
        }
        Kind::Exit { how: Exit::Return, .. } => true,
        Kind::Closure { .. } => true,
        _ => false,
    }
}
