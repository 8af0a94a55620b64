//! The tables of the catalogue: their keys, what each takes and what it says. What a clause sets beside is told by
//! [`Target`].

use super::Combining;
use super::says::LAYERS;
use super::shape::{IS, ORDER};
use super::targets::Target;
use crate::read::vocabulary::values::{FIRST, SWITCH, TEXT, WHOLE};
use crate::read::vocabulary::{Is, Key, Kind, Need, Table};

/// A library. What must be written differs between files and `[[library]]`; this is the latter.
pub static LIBRARY: Table = Table {
    name: "library",
    place: "a library",
    shape: "a table",
    about: "",
    keys: &[&[
        Key::new("schema", FIRST.is, "the version of the format"),
        Key::new("name", TEXT.is, "its name as shown; one that comes with retrylint is replaced by it").required(),
        Key::new("language", TEXT.is, "the language of the code that uses it").required(),
        Key::new("packages", PACKAGES, "`cargo:acme-net@>=1`: one of these must be a dependency"),
        Key::new("roots", ROOTS, "paths that its own begin with").required(),
        Key::new("aliases", Is::Map(&TEXT.is, &TEXT.is), "re-exports, and what they are"),
        Key::new("source", TEXT.is, "what was read for it"),
        Key::new(
            "combine",
            Is::Map(&TEXT.is, &Is::Map(&Is::Words(&OPERATORS), &WAYS.is)),
            "how parts of a kind are joined, by operator",
        ),
        Key::new("shape", Is::Series(&Is::Table(&SHAPE)), "its constructs").required(),
        Key::new("example", Is::List(&Is::Table(&EXAMPLE)), "code, and what must be read in it"),
    ]],
    needs: &[],
};

/// A construct.
pub static SHAPE: Table = Table {
    name: "shape",
    place: "a shape",
    shape: "a table",
    about: "",
    keys: &[
        &[
            Key::new("id", TEXT.is, "its name, by which `on` and `shape` of others speak of it"),
            Key::new("is", Is::Words(&IS), "what it is").required(),
            Key::new("part", TEXT.is, "of which kind a part is"),
            Key::new("call", PATHS, "functions, constructors and macros, by full path"),
            Key::new(
                "method",
                Is::Either(&[METHODS, SAYINGS], ""),
                "methods that it is recognised by, by name; or what methods of the chain say",
            ),
            Key::new("on", ON, "what must stand in the receiver of `method`: ids of shapes, methods, paths"),
            Key::new(
                "sends",
                SENDS,
                "methods of a client that begin a call; left out, every method that is not told of",
            ),
            Key::new(
                "in_place",
                SWITCH.is,
                "whether methods change what they are called on; else they give another one",
            )
            .or("false"),
            Key::new("method_of", PATHS, "methods of traits and extension methods, by full path"),
            Key::new("record", PATHS, "record literals, by the path of their type"),
            Key::new("mark", PATHS, "attributes, decorators, annotations, by full path"),
            Key::new("const", PATHS, "constants, by full path"),
            Key::new("params", PARAMS, "names of the parameters in order: `times`, or `times=3` with a default"),
            own(Target::Policy, CODE),
            own(Target::Operation, CODE),
            own(Target::Inner, CODE),
            own(Target::Name, TEXT_VALUE),
            own(Target::Config, TEXT_VALUE),
            own(Target::Env, TEXT_VALUE),
        ],
        OF_VERSIONS,
        &[Key::new("when", Is::List(&Is::Table(&WHEN)), "what is said instead in some versions")],
    ],
    needs: &[
        Need::AnyOf(&["call", "method", "method_of", "record", "mark", "const"]),
        Need::With("on", &["method", "method_of"]),
        Need::Just("part", "is", "part"),
    ],
};

/// A target that stands in the shape itself.
const fn own(target: Target, is: Is) -> Key {
    Key::new(target.name(), is, target.about())
}

/// A reference to code.
const CODE: Is = Is::Defined("code-value");
/// A text, or a reference to one.
const TEXT_VALUE: Is = Is::Defined("text-value");

pub(super) const PACKAGES: Is = Is::Some(&Is::Defined("package"), "packages such as `\"cargo:acme-net@>=1\"`");
pub(super) const ROOTS: Is = Is::Some(&TEXT.is, "paths such as `\"acme_net::retry\"`");
pub(super) const PATHS: Is = Is::Some(&TEXT.is, "a path, or a list of them");
pub(super) const METHODS: Is = Is::Some(&TEXT.is, "method names, or a table of what methods say");
pub(super) const ON: Is = Is::Some(&TEXT.is, "method names, paths or ids of shapes");
pub(super) const SENDS: Is = Is::Some(&TEXT.is, "names of methods");
pub(super) const PARAMS: Is = Is::Some(&TEXT.is, "names such as `\"times\"` or `\"times=3\"`");

/// What is said by name.
const SAYINGS: Is = Is::Map(&TEXT.is, &SAYS);
const SAYS: Is = Is::Defined("says");

/// What a shape says, and what it says instead in some versions.
const OF_VERSIONS: &[Key] = &[
    Key::new("default", SAYS, "what holds where nothing is written"),
    Key::new("sets", SAYS, "what the construct itself says"),
    Key::new("chain", SAYINGS, "what methods say, where `method` is what the shape is recognised by"),
    Key::new("request", SAYINGS, "what methods of one call on a client say of that call"),
    Key::new("field", SAYINGS, "what fields of the record say"),
    Key::new("argument", SAYINGS, "what arguments say: by name, by position, `*` for each of the others"),
    Key::new(
        "callback",
        Is::Map(&Is::Defined("place"), &SAYS),
        "what statements of a closure say that is given to it: `$0.Retry.Delay`",
    ),
    Key::new("layers", Is::List(&Is::Defined("clause")), "layers that it has before any is added"),
    Key::new("order", ORDER.is, "which layer is outermost"),
    Key::new("help", Is::Map(&Is::Rule, &TEXT.is), "advice for findings of a rule, by its id"),
];

/// What a clause says beside what it sets.
pub static CLAUSE: Table = Table {
    name: "clause",
    place: "a clause",
    shape: "a table such as `{ retries = \"$0\" }`",
    about: "",
    keys: &[&[
        Key::new("if", Is::Defined("tests"), "references and what they must be, all of them"),
        Key::new("push", Is::Words(&LAYERS), "a layer of this kind is added; the rest is about it"),
        Key::new("layer", WHOLE.is, "the rest is about this layer, from 0"),
        Key::new("part", TEXT.is, "`from` is built of parts of this kind"),
        Key::new("from", Is::Defined("reference"), "where the parts or the fields of `shape` are"),
        Key::new("shape", TEXT.is, "what follows has the fields of this shape"),
    ]],
    needs: &[Need::With("part", &["from"]), Need::NotBoth("attempts", "retries")],
};

/// How parts are joined.
pub(super) const WAYS: Kind<Combining> =
    Kind::words(&[("first", Combining::First), ("last", Combining::Last), ("sum", Combining::Sum)]);
/// What joins parts in code.
pub(super) const OPERATORS: [&str; 5] = ["|", "&", "+", "||", "&&"];

/// What a shape says in some versions.
pub static WHEN: Table = Table {
    name: "when",
    place: "`when`",
    shape: "a table",
    about: "",
    keys: &[
        &[
            Key::new("versions", Is::Defined("versions"), "`<1.4`, `>=2, <3`").required(),
            Key::new("method", SAYINGS, "what methods say"),
        ],
        OF_VERSIONS,
    ],
    needs: &[],
};

/// Code, and what must be read in it.
pub static EXAMPLE: Table = Table {
    name: "example",
    place: "an example",
    shape: "a table",
    about: "",
    keys: &[&[
        Key::new("name", TEXT.is, "what it shows"),
        Key::new("code", TEXT.is, "a whole file").required(),
        Key::new("file", TEXT.is, "what the file is called").required(),
        Key::new("version", Is::Defined("version"), "the version of the library; the newest if it is left out"),
        Key::new("measure", Is::Defined("measure"), "how the program is run that measures it"),
        Key::new(
            "expect",
            Is::Defined("expect"),
            "what must be read: a table, or a list of them; `[]` where nothing must be found",
        )
        .required(),
    ]],
    needs: &[],
};
