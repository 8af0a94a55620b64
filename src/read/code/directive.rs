//! [`Directive`]: a comment that states what cannot be told from code: `// retrylint: calls(payments)`.

use super::tree::{At, Sym};

/// A comment that states a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// The name in the comment.
    pub at: At,
    /// What is stated.
    pub kind: DirectiveKind,
    /// The service.
    pub name: Sym,
    /// What it is stated of: the statement or item that the comment belongs to, or the file.
    pub covers: At,
}

/// What a directive states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectiveKind {
    /// Whom the retried calls go to.
    Calls,
    /// Whose code it is.
    Service,
}
