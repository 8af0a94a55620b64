//! One file (or folder) per configuration dialect.
