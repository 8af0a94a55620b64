//! Calls: functions and methods of the project are gone into where that is simple, the others are known by name or not.

use super::domain::{Env, Got, Optional, Val};
use super::eval::{Tracer, because};
use super::linear::Symbol;
use super::scope::{self, How};
use super::spread::{anywhere, fresh};
use crate::read::code::tree::{Arg, Id, Kind, Name, Place, Sym};
use crate::read::code::words::{entry, lists};

/// So many callers are asked what they pass.
const CALLERS: usize = 8;
/// So many arguments are looked at.
const ARGUMENTS: usize = 32;

impl Tracer<'_> {
    /// The values of arguments, with their names.
    pub fn arguments(&self, place: &Place, args: &[Arg], env: &Env) -> Vec<(Option<Sym>, Got)> {
        let one = |arg: &Arg| {
            let value = place.at(arg.value);
            let got = match arg.spread {
                true => fresh(because("several arguments at once"), &value),
                false => self.value(&value, env),
            };
            (arg.name.clone(), got)
        };
        args.iter().take(ARGUMENTS).map(one).collect()
    }

    /// The value of a call.
    pub fn call(&self, place: &Place, of: Id, types: &[Name], args: &[Arg], env: &Env) -> Got {
        let construct = || Got::new(Val::Construct(place.clone(), env.clone()), place.span());
        let callee = place.at(of);
        let Kind::Name(name) = callee.kind() else {
            return self
                .called(&self.value(&callee, env), self.arguments(place, args, env), place)
                .unwrap_or_else(construct);
        };
        let is_local = name.full.is_none() && scope::declared(&place.unit, of, &name.text).is_some();
        if is_local {
            return self
                .called(&self.value(&callee, env), self.arguments(place, args, env), place)
                .unwrap_or_else(construct);
        }
        let is_own = name.full.as_deref().is_some_and(|full| full.starts_with("crate::"));
        let arguments = self.arguments(place, args, env);
        let followed = |arguments| {
            let found = self.project.named(&place.unit, name)?;
            self.apply(&found, &Env::default(), arguments, place)
        };
        let got = match is_own {
            true => followed(arguments.clone()).or_else(|| self.known_function(place, name, types, &arguments)),
            false => self.known_function(place, name, types, &arguments).or_else(|| followed(arguments)),
        };
        got.unwrap_or_else(|| self.perhaps_random(name.last(), construct(), place))
    }

    /// What is not followed and has a name that speaks of chance may be random.
    pub fn perhaps_random(&self, name: &str, got: Got, place: &Place) -> Got {
        let words = &self.words(place).random_names;
        let is_random = name.split(['_', ':']).any(|part| words.iter().any(|word| word.eq_ignore_ascii_case(part)));
        if !is_random {
            return got;
        }
        let mut got =
            Got::unknown(because(format!("`{name}` is not followed")), Symbol { at: place.span(), path: "".into() });
        got.drawn.push(place.clone());
        anywhere(got)
    }

    /// The value of a method call.
    pub fn method(&self, place: &Place, on: Id, name: &Sym, types: &[Name], args: &[Arg], env: &Env) -> Got {
        let on = place.at(on);
        let receiver = self.value(&on, env);
        if let Some(ty) = self.type_of(&on, &receiver)
            && let Some(found) = self.project.item(&ty.0, &format!("{}::{name}", ty.1))
        {
            let mut arguments = vec![(None, receiver.clone())];
            arguments.extend(self.arguments(place, args, env));
            if let Some(got) = self.apply(&found, &Env::default(), arguments, place) {
                return got;
            }
        }
        if let Some(got) = self.known_method(place, &receiver, name, types, args, env) {
            return got;
        }
        let construct = || Got::new(Val::Construct(place.clone(), env.clone()), place.span());
        match &receiver.value {
            Val::Construct(..) if receiver.is_random() => anywhere(construct().beside(&receiver)),
            // What is set by a method speaks of chance, and is none: `with_jitter`.
            Val::Construct(..) if name.starts_with("with_") => construct(),
            Val::Construct(..) => self.perhaps_random(name, construct(), place),
            Val::Open(_) if receiver.is_random() => anywhere(fresh(because("random"), place).beside(&receiver)),
            Val::Open(open) => {
                let got = fresh(open.why.clone(), place).optional(Optional::Result);
                self.perhaps_random(name, got.beside(&receiver), place)
            }
            _ => fresh(because(format!("result of `{name}`")), place).beside(&receiver),
        }
    }

    /// The full path of the type that a receiver has, and the unit that it is said in.
    fn type_of(&self, on: &Place, receiver: &Got) -> Option<(std::sync::Arc<crate::read::code::tree::Unit>, Sym)> {
        if let Val::Construct(made, _) = &receiver.value
            && let Kind::Record { of: Some(name), .. } = made.kind()
        {
            return Some((made.unit.clone(), name.full.clone()?));
        }
        let Kind::Name(Name { text, full: None }) = on.kind() else { return None };
        let declared = scope::declared(&on.unit, on.id, text)?;
        let ty = match (on.unit.kind(declared.by), declared.how) {
            (Kind::Function { params, owner, .. }, How::Param(at)) => {
                let ty = params.get(at)?.ty.as_ref();
                if at == 0 { ty.or(owner.as_ref()) } else { ty }
            }
            (Kind::Let { ty, .. }, How::Let) => ty.as_ref(),
            _ => None,
        };
        Some((on.unit.clone(), ty?.full.clone()?))
    }

    /// What a value gives when it is called. None if it is nothing that can be gone into.
    pub fn called(&self, callee: &Got, arguments: Vec<(Option<Sym>, Got)>, call: &Place) -> Option<Got> {
        let Val::Construct(of, env) = &callee.value else { return None };
        match of.kind() {
            Kind::Name(name) => self.known_function(call, name, &[], &arguments),
            _ => self.apply(of, env, arguments, call),
        }
    }

    /// What a function or closure gives for these arguments.
    pub fn apply(&self, of: &Place, env: &Env, arguments: Vec<(Option<Sym>, Got)>, call: &Place) -> Option<Got> {
        let (names, body): (Vec<Option<Sym>>, Id) = match of.kind() {
            Kind::Closure { params, body, .. } => (params.iter().cloned().map(Some).collect(), *body),
            Kind::Function { params, body: Some(body), .. } => {
                (params.iter().map(|param| param.name.clone()).collect(), *body)
            }
            _ => return None,
        };
        // What was drawn for the arguments was drawn before.
        let before: Vec<Place> = arguments.iter().flat_map(|(_, got)| got.drawn.clone()).collect();
        let mut inner = env.clone();
        let mut given: Vec<Option<Got>> = vec![None; names.len()];
        let mut position = 0;
        for (name, got) in arguments {
            let at = match &name {
                Some(name) => names.iter().position(|known| known.as_ref() == Some(name)),
                None => Some(position),
            };
            position += usize::from(name.is_none());
            if let Some(slot) = at.and_then(|at| given.get_mut(at)) {
                *slot = Some(got);
            }
        }
        for (at, (name, got)) in names.iter().zip(given).enumerate() {
            let Some(name) = name else { continue };
            let local = scope::local(&of.unit, of.id, name);
            let got = got.or_else(|| self.left_out(of, at)).unwrap_or_else(|| {
                Got::unknown(because(format!("argument `{name}`")), Symbol { at: local.at, path: Sym::clone(name) })
            });
            inner = inner.with(local, got);
        }
        let mut got = self.body(&of.at(body), &inner);
        let is_before = |place: &Place| before.iter().any(|known| known.span() == place.span());
        if got.drawn.iter().any(|place| !is_before(place)) {
            got.drawn.retain(is_before);
            got.drawn.push(call.clone());
        }
        Some(got)
    }

    /// The value of a parameter that the caller left out.
    fn left_out(&self, of: &Place, at: usize) -> Option<Got> {
        let Kind::Function { params, .. } = of.kind() else { return None };
        params.get(at)?.default.map(|default| self.value(&of.at(default), &Env::default()))
    }

    /// The value of a parameter whose function was not called from anywhere that was followed: what all callers pass, if all
    /// are seen and pass the same.
    pub fn argument(&self, function: &Place, at: usize, name: &Sym) -> Got {
        let symbol = Symbol { at: function.span(), path: Sym::clone(name) };
        let Kind::Function { name: called, path, .. } = function.kind() else {
            return Got::unknown(because(format!("argument `{name}`")), symbol);
        };
        if let Some(got) = self.passed(function, at, path) {
            return got;
        }
        let why = because(format!("argument `{name}` of `{called}`"));
        match self.left_out(function, at).filter(|got| got.why().is_none()) {
            Some(got) => Got { overridden: Some(why), ..got },
            None => Got::unknown(why, symbol).optional(Optional::Setting),
        }
    }

    fn passed(&self, function: &Place, at: usize, path: &Sym) -> Option<Got> {
        if !self.spend(64) {
            return None;
        }
        let callers = self.project.all_callers(&function.unit, path).filter(|callers| callers.len() <= CALLERS)?;
        let mut same: Option<Got> = None;
        for call in &callers {
            let (of, args) = match call.kind() {
                Kind::Call { args, .. } => (None, args),
                Kind::Method { on, args, .. } => (Some(*on), args),
                _ => return None,
            };
            let positional = of.into_iter().chain(args.iter().filter(|arg| arg.name.is_none()).map(|arg| arg.value));
            let got = self.value(&call.at(positional.into_iter().nth(at)?), &Env::default());
            let is_plain = !got.is_random() && got.why().is_none();
            same = match same {
                _ if !is_plain => return None,
                None => Some(got),
                Some(first) if first.value.is_same(&got.value) => Some(first),
                Some(_) => return None,
            };
        }
        same
    }

    /// Whether a call reads an environment variable, and which.
    pub fn environment(&self, place: &Place, path: &str, first: Option<&Got>) -> Option<Got> {
        let words = self.words(place);
        if !lists(&words.environment, path) {
            return None;
        }
        let name = match first.map(|first| &first.value) {
            Some(Val::Text(name)) => Sym::clone(name),
            _ => "of a name that is not known".into(),
        };
        let why = crate::facts::Why::Environment(name.to_string().into());
        Some(Got::unknown(why, Symbol { at: place.span(), path: name }).optional(Optional::Setting))
    }

    /// A length of time that is made of numbers.
    pub fn made_duration(&self, place: &Place, path: &str, args: &[(Option<Sym>, Got)]) -> Option<Got> {
        let words = self.words(place);
        let one = |unit: crate::read::code::words::values::Unit, whole: bool| {
            let [(None, number)] = args else { return None };
            Some(super::arithmetic::duration(&self.as_number(number), unit.nanos(), whole, place))
        };
        let got = match (words.durations.of_path(path), words.fractional_durations.of_path(path)) {
            (Some(unit), _) => one(unit, true)?,
            (None, Some(unit)) => one(unit, false)?,
            (None, None) => {
                let units = entry(&words.compound_durations, path)?;
                let mut sum: Option<Got> = None;
                for (at, (name, number)) in args.iter().enumerate() {
                    let unit = units.of(at, name.as_deref())?;
                    let part = super::arithmetic::duration(&self.as_number(number), unit.nanos(), false, place);
                    sum = Some(match sum {
                        Some(sum) => self.combined(
                            super::arithmetic::Combine::By(crate::read::code::tree::Op::Add),
                            &sum,
                            &part,
                            place,
                        ),
                        None => part,
                    });
                }
                sum?
            }
        };
        // Written on the spot, it is the whole call that says so.
        let is_here = |span: &crate::source::Span| {
            place.span().file == span.file && {
                let at = place.unit.at(place.id);
                at.start <= span.start && span.end <= at.end
            }
        };
        let is_here = got.spans.iter().all(is_here) && got.why().is_none();
        Some(if is_here { Got { spans: vec![place.span()], ..got } } else { got })
    }
}
