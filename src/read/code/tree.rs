//! The neutral code tree (contracts.md, end): what every language is lowered into. One lowering per language decides outcomes
//! (success, failure) and resolves names; everything after it is language-blind.
//!
//! A [`Unit`] is an arena in post-order: children stand before their parents, and a node with everything below it is one
//! contiguous range of the arena ([`Unit::below`]). Walks are loops over slices, never recursion.

mod unit;

use std::sync::Arc;

use crate::source::{FileId, Span};
pub use unit::{Import, Place, Unit};

/// Index into [`Unit::nodes`].
pub type Id = u32;

/// A name or text; shared within a unit.
pub type Sym = Arc<str>;

/// A byte range in the file of the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl At {
    /// Whether `other` lies inside.
    pub fn covers(self, other: At) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The same range in a file.
    pub fn in_file(self, file: FileId) -> Span {
        Span { file, start: self.start, end: self.end }
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub at: At,
    /// The first node of those below it: `first..=id` is the whole subtree.
    pub first: Id,
}

/// A name as written, and what it means after imports, aliases, renamed packages and modules were looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As written: `Retry::spawn`, `MAX`.
    pub text: Sym,
    /// The full path, `::` between its parts in every language: `tokio_retry::Retry::spawn`; `crate::limits::MAX` for what the
    /// package itself defines; `Self` is written out. None for locals and whatever cannot be told.
    pub full: Option<Sym>,
}

impl Name {
    /// The full path, else the text.
    pub fn best(&self) -> &str {
        self.full.as_deref().unwrap_or(&self.text)
    }

    /// The last part of it: `spawn`.
    pub fn last(&self) -> &str {
        super::words::last_of(&self.text)
    }
}

/// An argument of a call or a field of a record: `f(x)`, `f(stop=x)`, `f(*xs)`, `field: x`.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// Its name, where it has one.
    pub name: Option<Sym>,
    /// Its value.
    pub value: Id,
    /// Whether the value is spread into many.
    pub spread: bool,
}

/// One way on: what it asks of the scrutinee, what else must hold, what happens then.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// What it asks of the scrutinee.
    pub test: Test,
    /// A further condition.
    pub guard: Option<Id>,
    /// What is done.
    pub body: Id,
}

/// One of several things awaited at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// What is awaited.
    pub on: Id,
    /// What is done if it is there first.
    pub arm: Arm,
}

/// What an arm asks of the scrutinee. Success and failure are decided by the lowering, once per language.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// It succeeded: `Ok(v)`, `Ok(Ok(v))`, `Poll::Ready(Ok(v))`, Go's `err == nil`.
    Success {
        /// Names that it binds.
        binds: Vec<Sym>,
    },
    /// It failed: `Err(e)`, `Ok(Err(e))`, a caught exception.
    Failure {
        /// Names that it binds.
        binds: Vec<Sym>,
        /// Which failures, where not all of them: `Err(Error::Timeout)`, `except (A, B)`.
        kinds: Vec<Name>,
    },
    /// It has this shape or is of this variant, and says nothing about success: `Some(x)`, `Retry(after)`.
    Is {
        /// Names that it binds.
        binds: Vec<Sym>,
        /// The variants, any of them.
        kinds: Vec<Name>,
    },
    /// It equals one of these: literals, ranges, constants.
    Equals(Vec<Id>),
    /// This holds; there is no scrutinee, or it does not matter.
    Holds(Id),
    /// Everything else; a name that takes it all is bound.
    Otherwise {
        /// Names that it binds.
        binds: Vec<Sym>,
    },
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A whole number and its suffix: `5u32`, `30s`.
    Int(u128, Option<Sym>),
    /// A number with a fraction and its suffix.
    Float(f64, Option<Sym>),
    /// A text.
    Text(Sym),
    /// A truth value.
    Bool(bool),
    /// `None`, `null`, `nil`.
    Null,
    /// `()`: nothing.
    Unit,
}

/// A piece of a text with holes.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Known text.
    Text(Sym),
    /// A value put in.
    Hole(Id),
}

/// Operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// To the power of.
    Pow,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// Both hold.
    And,
    /// One of them holds.
    Or,
    /// Does not hold.
    Not,
    /// Minus.
    Neg,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// How a loop goes on. What decides stands below the loop and before its body.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopKind {
    /// Over a range of numbers.
    Count {
        /// The counter, if it has a name.
        var: Option<Sym>,
        /// A [`Kind::Range`].
        range: Id,
    },
    /// Over the items of something.
    Each {
        /// What the item binds.
        vars: Vec<Sym>,
        /// What is gone through.
        over: Id,
    },
    /// As long as this holds. `while let P = x { b }` is `Forever` over a Branch whose `Otherwise` breaks.
    While(Id),
    /// Do-while: the body first, then on as long as this holds.
    DoWhile(Id),
    /// Until something leaves it.
    Forever,
}

/// How control leaves a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Out of the function or closure.
    Return,
    /// Out of the loop or block of that label, else the innermost loop.
    Break,
    /// On to the next pass.
    Continue,
    /// By raising; in Rust nothing does.
    Raise,
    /// The thread or process ends: `panic!`, `exit`.
    Abort,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name, if it has one.
    pub name: Option<Sym>,
    /// The outermost name of its type.
    pub ty: Option<Name>,
    /// The value that it has where callers leave it out.
    pub default: Option<Id>,
}

/// What a node is. Parentheses, casts, borrows and dereferences leave no node: the node is what stands in them.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    // values
    /// A literal.
    Literal(Literal),
    /// Text with holes: `format!`, `$""`.
    Template(Vec<Part>),
    /// A name: local, constant, function, type, variant without fields.
    Name(Name),
    /// A member: `o.retry`, `a["b"]` with a constant key.
    Member {
        /// Of this.
        of: Id,
        /// Its name.
        name: Sym,
    },
    /// An element.
    Index {
        /// Of this.
        of: Id,
        /// At this key.
        key: Id,
    },
    /// Arithmetic, comparison, logic; policy algebra.
    Operator {
        /// Which.
        op: Op,
        /// On these.
        of: Vec<Id>,
    },
    /// Whether something failed or succeeded, as a value: `r.is_err()`, Go's `err != nil`.
    Outcome {
        /// Asked of this.
        of: Id,
        /// Whether failure is asked for.
        failed: bool,
    },
    /// A list, array, tuple.
    List(Vec<Id>),
    /// `0..n`, `1..=n`, `range(n)`.
    Range {
        /// First; 0 if there is none.
        from: Option<Id>,
        /// Last, or one past it.
        to: Option<Id>,
        /// Whether `to` is in it.
        inclusive: bool,
    },
    /// A struct literal, object initialiser, dictionary, options object.
    Record {
        /// Of this type.
        of: Option<Name>,
        /// Fields as written.
        fields: Vec<Arg>,
        /// Where the others come from: `..Default::default()`.
        base: Option<Id>,
    },
    /// A call of a function, constructor, variant, macro; `of` is a [`Kind::Name`] where it is called by name. Of macros the
    /// name has a `!` behind it: `anyhow!`.
    Call {
        /// What is called.
        of: Id,
        /// Type arguments.
        types: Vec<Name>,
        /// Its arguments.
        args: Vec<Arg>,
    },
    /// A method call; a chain is Methods nested in `on`. `at` is the whole chain up to here.
    Method {
        /// The receiver.
        on: Id,
        /// The method.
        name: Sym,
        /// Where its name stands.
        name_at: At,
        /// Type arguments.
        types: Vec<Name>,
        /// Its arguments.
        args: Vec<Arg>,
    },
    /// A closure, lambda, `async` block (which has no parameters and is async).
    Closure {
        /// Parameters, by name.
        params: Vec<Sym>,
        /// What it does.
        body: Id,
        /// Whether it is asynchronous.
        is_async: bool,
    },
    /// `x.await`.
    Await(Id),
    // effects
    /// Statements; the value is that of the last one.
    Block(Vec<Id>),
    /// `let`; the value of a block that ends with one is nothing.
    Let {
        /// What it binds.
        names: Vec<Sym>,
        /// To this.
        value: Option<Id>,
        /// The outermost name of a written type.
        ty: Option<Name>,
    },
    /// `n += 1`, `o.retry.max = 5`.
    Assign {
        /// What changes.
        place: Id,
        /// The operator before the `=`.
        op: Option<Op>,
        /// By what.
        value: Id,
    },
    /// Something is held while a body runs: `using`, `with`. A Rust guard is a [`Kind::Let`].
    Held {
        /// Its name.
        name: Option<Sym>,
        /// What is held.
        value: Id,
        /// Meanwhile.
        body: Id,
    },
    /// A loop.
    Loop {
        /// How it goes on.
        kind: LoopKind,
        /// Its label, without the quote.
        label: Option<Sym>,
        /// What is repeated.
        body: Id,
    },
    /// `if`, `match`, `switch`, let-else, `?:`; Rust's `x?` is a Branch whose only arm is Failure → Exit Return, and whose
    /// value is that of `on`, unwrapped. Arms are tried in order; where none takes it, control goes on behind it.
    Branch {
        /// The scrutinee.
        on: Option<Id>,
        /// The ways on.
        arms: Vec<Arm>,
    },
    /// `try`/`catch`/`else`/`finally`.
    Guarded {
        /// What may fail.
        body: Id,
        /// What is done then.
        catch: Vec<Arm>,
        /// What is done if it did not.
        on_success: Option<Id>,
        /// What is done in any case.
        always: Option<Id>,
    },
    /// What is there first: `select!`, Go's select.
    Race(Vec<Contender>),
    /// Leaves the request path: `tokio::spawn`, `go f()`, `Task.Run`.
    Spawn(Id),
    /// Control leaves.
    Exit {
        /// How.
        how: Exit,
        /// To this loop, or out of this block.
        label: Option<Sym>,
        /// With this.
        value: Option<Id>,
    },
    // declarations
    /// A function or method. Its marks (attributes, decorators) hold a Call, a Name or an Opaque each.
    Function {
        /// Its name.
        name: Sym,
        /// The type that it is a method of.
        owner: Option<Name>,
        /// Its full path within its package, `crate::…` (with the owner's name for methods).
        path: Sym,
        /// Parameters, `self` included.
        params: Vec<Param>,
        /// Attributes, decorators, annotations.
        marks: Vec<Id>,
        /// Whether it is asynchronous.
        is_async: bool,
        /// The outermost name of what it returns (`Result`); none if nothing.
        returns: Option<Name>,
        /// What it does; none if it is only declared.
        body: Option<Id>,
    },
    /// A class, struct, impl, trait, trait impl.
    Type {
        /// Its name.
        name: Sym,
        /// Attributes, decorators, annotations.
        marks: Vec<Id>,
        /// What it is derived from or implements.
        bases: Vec<Name>,
        /// Functions and constants in it.
        members: Vec<Id>,
    },
    /// A constant or static.
    Constant {
        /// Its name.
        name: Sym,
        /// Its full path within its package, `crate::…`.
        path: Sym,
        /// Its value.
        value: Id,
    },
    /// Read but not understood: its value is unknown, its children stay.
    Opaque(Vec<Id>),
}
