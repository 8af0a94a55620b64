//! Trees written by hand, in the styles of five languages: the recogniser knows none of them.

use std::sync::Arc;

use super::{Told, told};
use crate::read::code::build::Builder;
use crate::read::code::loops::sites_by;
use crate::read::code::project::Project;
use crate::read::code::tree::{Arg, Arm, At, Exit, Id, Kind, Literal, LoopKind, Name, Op, Test};
use crate::read::code::words::Words;
use crate::source::FileId;

/// A tree as it is written down.
enum T {
    Int(u128),
    Real(f64),
    Name(&'static str),
    Call(&'static str, Vec<T>),
    Await(Box<T>),
    Do(Vec<T>),
    Let(&'static [&'static str], Box<T>),
    Set(&'static str, Option<Op>, Box<T>),
    Op(Op, Vec<T>),
    Worked(Box<T>),
    If(Box<T>, Box<T>),
    For(&'static str, u128, Box<T>),
    While(Box<T>, Box<T>),
    Forever(Box<T>),
    Try { body: Box<T>, catch: Box<T>, on_success: Option<Box<T>> },
    Leave(Exit, Option<Box<T>>),
}

use T::{Await, Call, Do, For, Forever, If, Int, Leave, Let, Op as O, Real, Set, Try, While, Worked};

fn n(name: &'static str) -> T {
    T::Name(name)
}

fn b(tree: T) -> Box<T> {
    Box::new(tree)
}

struct Planter {
    builder: Builder,
    at: u32,
}

impl Planter {
    fn put(&mut self, tree: &T) -> Id {
        let mark = self.builder.mark();
        let start = self.at;
        self.at += 1;
        let kind = self.kind(tree);
        self.at += 1;
        self.builder.add(mark, kind, At { start, end: self.at })
    }

    fn name(&mut self, text: &str) -> Name {
        let full = text.contains("::").then(|| self.builder.sym(text));
        Name { text: self.builder.sym(text), full }
    }

    fn kind(&mut self, tree: &T) -> Kind {
        match tree {
            Int(value) => Kind::Literal(Literal::Int(*value, None)),
            Real(value) => Kind::Literal(Literal::Float(*value, None)),
            T::Name(name) => Kind::Name(self.name(name)),
            Call(name, args) => {
                let of = self.put(&T::Name(name));
                let args = args.iter().map(|arg| Arg { name: None, value: self.put(arg), spread: false });
                Kind::Call { of, types: Vec::new(), args: args.collect() }
            }
            Await(of) => Kind::Await(self.put(of)),
            Do(all) => Kind::Block(all.iter().map(|one| self.put(one)).collect()),
            Let(names, value) => {
                let value = self.put(value);
                Kind::Let {
                    names: names.iter().map(|name| self.builder.sym(name)).collect(),
                    value: Some(value),
                    ty: None,
                }
            }
            Set(place, op, value) => {
                let place = self.put(&T::Name(place));
                Kind::Assign { place, op: *op, value: self.put(value) }
            }
            O(op, of) => Kind::Operator { op: *op, of: of.iter().map(|one| self.put(one)).collect() },
            Worked(of) => Kind::Outcome { of: self.put(of), failed: false },
            If(condition, body) => {
                let test = Test::Holds(self.put(condition));
                Kind::Branch { on: None, arms: vec![Arm { test, guard: None, body: self.put(body) }] }
            }
            For(var, to, body) => {
                let mark = self.builder.mark();
                let at = At { start: self.at, end: self.at + 2 };
                let to = self.put(&Int(*to));
                let range = self.builder.add(mark, Kind::Range { from: None, to: Some(to), inclusive: false }, at);
                let var = Some(self.builder.sym(var));
                Kind::Loop { kind: LoopKind::Count { var, range }, label: None, body: self.put(body) }
            }
            While(test, body) => {
                let test = self.put(test);
                Kind::Loop { kind: LoopKind::While(test), label: None, body: self.put(body) }
            }
            Forever(body) => Kind::Loop { kind: LoopKind::Forever, label: None, body: self.put(body) },
            Try { body, catch, on_success } => {
                let body = self.put(body);
                let test = Test::Failure { binds: vec![self.builder.sym("e")], kinds: Vec::new() };
                let catch = vec![Arm { test, guard: None, body: self.put(catch) }];
                let on_success = on_success.as_ref().map(|one| self.put(one));
                Kind::Guarded { body, catch, on_success, always: None }
            }
            Leave(how, value) => {
                let value = value.as_ref().map(|value| self.put(value));
                Kind::Exit { how: *how, label: None, value }
            }
        }
    }
}

/// What is said of the loops of a function with this body, by the words of its language.
fn said(words: &str, body: T) -> Vec<Told> {
    let words: Words = toml::from_str(words).unwrap();
    let mut planter = Planter { builder: Builder::new(FileId(0), "another", None, "crate"), at: 0 };
    let mark = planter.builder.mark();
    let body = planter.put(&body);
    let (name, path) = (planter.builder.sym("fetch"), planter.builder.sym("crate::fetch"));
    let at = At { start: 0, end: planter.at };
    let kind = Kind::Function {
        name,
        owner: None,
        path,
        params: Vec::new(),
        marks: Vec::new(),
        is_async: true,
        returns: None,
        body: Some(body),
    };
    let function = planter.builder.add(mark, kind, at);
    planter.builder.item(function);
    let unit = Arc::new(planter.builder.finish());
    sites_by(&Project::default(), &words, &unit).iter().map(told).collect()
}

#[test]
fn one_loop_in_five_languages() {
    let csharp = Do(vec![
        Let(&["attempt"], b(Int(0))),
        While(
            b(O(Op::Lt, vec![n("attempt"), Int(3)])),
            b(Do(vec![
                Try {
                    body: b(Leave(Exit::Return, Some(b(Await(b(Call("client::GetAsync", vec![]))))))),
                    catch: b(Do(vec![
                        If(b(O(Op::Eq, vec![n("attempt"), Int(2)])), b(Leave(Exit::Raise, None))),
                        Await(b(Call(
                            "Task::Delay",
                            vec![O(Op::Mul, vec![Int(100), O(Op::Pow, vec![Int(2), n("attempt")])])],
                        ))),
                    ])),
                    on_success: None,
                },
                Set("attempt", Some(Op::Add), b(Int(1))),
            ])),
        ),
    ]);
    let python = For(
        "attempt",
        3,
        b(Try {
            body: b(Let(&["answer"], b(Call("client::get", vec![])))),
            catch: b(Do(vec![
                If(b(O(Op::Eq, vec![n("attempt"), Int(2)])), b(Leave(Exit::Raise, None))),
                Call("time::sleep", vec![O(Op::Mul, vec![Real(0.1), O(Op::Pow, vec![Int(2), n("attempt")])])]),
            ])),
            on_success: Some(b(Leave(Exit::Return, Some(b(n("answer")))))),
        }),
    );
    let java = Do(vec![
        Let(&["attempt"], b(Int(0))),
        Forever(b(Try {
            body: b(Leave(Exit::Return, Some(b(Call("client::get", vec![]))))),
            catch: b(Do(vec![
                Set("attempt", Some(Op::Add), b(Int(1))),
                If(b(O(Op::Ge, vec![n("attempt"), Int(3)])), b(Leave(Exit::Raise, None))),
                Call("Thread::sleep", vec![O(Op::Shl, vec![Int(100), O(Op::Sub, vec![n("attempt"), Int(1)])])]),
            ])),
            on_success: None,
        })),
    ]);
    let go = Do(vec![
        Let(&["wait"], b(Int(100))),
        For(
            "i",
            3,
            b(Do(vec![
                Let(&["answer", "err"], b(Call("client::Get", vec![]))),
                If(b(Worked(b(n("err")))), b(Leave(Exit::Return, Some(b(n("answer")))))),
                If(b(O(Op::Lt, vec![n("i"), Int(2)])), b(Call("time::Sleep", vec![n("wait")]))),
                Set("wait", Some(Op::Mul), b(Int(2))),
            ])),
        ),
        Leave(Exit::Return, None),
    ]);
    let typescript = Do(vec![
        Let(&["delay"], b(Int(100))),
        For(
            "i",
            3,
            b(Try {
                body: b(Leave(Exit::Return, Some(b(Await(b(Call("fetch", vec![]))))))),
                catch: b(Do(vec![
                    If(b(O(Op::Eq, vec![n("i"), Int(2)])), b(Leave(Exit::Raise, None))),
                    Await(b(Call("sleep", vec![n("delay")]))),
                    Set("delay", Some(Op::Mul), b(Int(2))),
                ])),
                on_success: None,
            }),
        ),
    ]);
    let expected = Told::parse("3 exponential 100ms x2 none");
    for (language, waits, tree) in [
        ("csharp", "awaited-millis = ['Task::Delay']", csharp),
        ("python", "blocking-seconds = ['time::sleep']", python),
        ("java", "blocking-millis = ['Thread::sleep']", java),
        ("go", "blocking-millis = ['time::Sleep']", go),
        ("typescript", "awaited-millis = ['sleep']", typescript),
    ] {
        let told = said(&format!("language = '{language}'\n[loops.waits]\n{waits}"), tree);
        assert_eq!(told, std::slice::from_ref(&expected), "{language}");
    }
}

#[test]
fn success_that_goes_on_is_no_retry_in_any_of_them() {
    let poller = Forever(b(Do(vec![
        Try {
            body: b(Call("client::report", vec![])),
            catch: b(Do(vec![Call("log", vec![n("e")])])),
            on_success: None,
        },
        Call("time::sleep", vec![Int(5)]),
    ])));
    assert_eq!(said("language = 'python'\n[loops.waits]\nblocking-seconds = ['time::sleep']", poller), []);
}
