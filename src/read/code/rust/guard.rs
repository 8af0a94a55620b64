//! Limits on nesting, checked on the tokens before the parser sees them: the parser recurses, and a stack that overflows ends
//! the process. Everything is counted along the path from the outermost bracket inwards, so that nothing adds up unseen.
//!
//! What may nest: brackets, type arguments, whatever stands before its operand (`!x`, `|a| x`, `if x`, `-> T`), and chains
//! (`a.b.c`, `a + b + c`, `else if`). A `;` or `,` ends all but brackets. With these limits the parser needs less than 48 MiB of
//! stack in a debug build.

use super::scan::{Kind, Scanner, Token};
use crate::read::code::tree::At;

/// Brackets in brackets.
const BRACKETS: usize = 256;
/// Type arguments in type arguments. Comparisons look like them, and count until the next `;`.
const ANGLES: u32 = 128;
/// Signs and keywords before their operand, one behind the other.
const PREFIXES: u32 = 256;
/// Links of a chain. Assignments, which nest to the right, count twice.
const LINKS: u32 = 5_000;

/// Why a text is not given to the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooDeep {
    /// Where the limit was passed.
    pub place: usize,
    /// Which limit, in words.
    pub why: &'static str,
}

/// Whether a range of a text may be given to the parser.
pub fn check(text: &str, range: At) -> Result<(), TooDeep> {
    let mut scanner = Scanner::new(text, range.start as usize);
    let mut guard = Guard::default();
    while let Some(token) = scanner.code().filter(|token| token.end <= range.end as usize) {
        guard.take(text, token, &mut scanner).map_err(|why| TooDeep { place: token.start, why })?;
    }
    Ok(())
}

/// How deep a place is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Depth {
    angles: u32,
    prefixes: u32,
    links: u32,
}

/// What is known within one pair of brackets.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// How deep the brackets stand: what an end of a statement goes back to.
    base: Depth,
    now: Depth,
    /// Whether the last token may end an operand, so that a sign behind it stands between two.
    is_operand: bool,
    /// Between the two signs around a closure's parameters.
    in_params: bool,
    /// In an import, whose path nests.
    in_use: bool,
    /// Behind a `}`: what follows may be a new statement.
    behind_block: bool,
    /// Behind an `else`.
    behind_else: bool,
    /// Within an attribute, which is no operand.
    in_attribute: bool,
}

impl Level {
    /// A statement, an argument or the head of an arm ends here.
    fn restart(&mut self) {
        *self = Level { base: self.base, now: self.base, ..Level::default() };
    }

    fn sign(&mut self, is_prefix: bool) {
        if is_prefix {
            self.now.prefixes += 1;
        } else {
            self.now.links += 1;
        }
        self.is_operand = false;
    }
}

#[derive(Default)]
struct Guard {
    around: Vec<Level>,
    level: Level,
}

impl Guard {
    fn take(&mut self, text: &str, token: Token, scanner: &mut Scanner) -> Result<(), &'static str> {
        let level = &mut self.level;
        let behind_else = std::mem::take(&mut level.behind_else);
        if std::mem::take(&mut level.behind_block) && begins_anew(text, token) {
            level.restart();
        }
        match token.kind {
            Kind::Comment => {}
            Kind::Word => level.word(token.of(text), behind_else),
            Kind::Literal => level.is_operand = true,
            Kind::Lifetime => level.is_operand = false,
            Kind::Open(open) => {
                if level.is_operand && open != b'{' {
                    level.now.links += 1;
                }
                let inner = Level { base: level.now, now: level.now, in_use: level.in_use, ..Level::default() };
                self.around.push(std::mem::replace(level, inner));
            }
            Kind::Close(close) => {
                *level = self.around.pop().unwrap_or_default();
                level.is_operand = !std::mem::take(&mut level.in_attribute);
                level.behind_block = close == b'}';
            }
            Kind::Sign(sign) => level.take_sign(sign, scanner),
        }
        let now = self.level.now;
        match () {
            () if self.around.len() > BRACKETS => Err("nested more than 256 deep"),
            () if now.angles > ANGLES => Err("type arguments are nested more than 128 deep"),
            () if now.prefixes > PREFIXES => Err("operators and keywords are nested more than 256 deep"),
            () if now.links > LINKS => Err("an expression has more than 5,000 operators"),
            () => Ok(()),
        }
    }
}

impl Level {
    fn word(&mut self, word: &str, behind_else: bool) {
        self.is_operand = false;
        match word {
            // The parser goes through `else if` without nesting.
            "if" if behind_else => {}
            "if" | "while" | "match" | "for" | "return" | "break" | "yield" | "become" => self.now.prefixes += 1,
            "else" => {
                self.now.links += 1;
                self.behind_else = true;
            }
            "as" | "box" => self.now.links += 1,
            "use" => self.in_use = true,
            "in" | "let" | "mut" | "ref" | "move" | "async" | "unsafe" | "const" | "static" | "dyn" | "impl" | "fn"
            | "loop" | "where" | "pub" => {}
            _ => self.is_operand = true,
        }
    }

    fn take_sign(&mut self, sign: u8, scanner: &mut Scanner) {
        let is_prefix = !self.is_operand;
        match sign {
            b';' => self.restart(),
            b',' if self.now.angles == self.base.angles && !self.in_params => {
                let in_use = self.in_use;
                self.restart();
                self.in_use = in_use;
            }
            b',' => self.is_operand = false,
            b'=' if scanner.step_over(b'>') => self.restart(),
            b'=' => {
                self.now.links += 2;
                scanner.step_over(b'=');
                self.is_operand = false;
            }
            b'-' if scanner.step_over(b'>') => self.sign(true),
            b'|' if self.in_params => {
                self.in_params = false;
                self.is_operand = false;
            }
            b'|' if is_prefix => {
                self.in_params = !scanner.step_over(b'|');
                self.sign(true);
            }
            b'&' | b'|' => {
                self.sign(is_prefix);
                if scanner.step_over(sign) && is_prefix {
                    self.sign(true);
                }
            }
            b'-' | b'*' => self.sign(is_prefix),
            b'!' => {
                self.sign(is_prefix);
                scanner.step_over(b'=');
            }
            b'<' => self.angle(scanner),
            b'>' => {
                self.now.angles = self.now.angles.saturating_sub(1).max(self.base.angles);
                self.is_operand = false;
            }
            b'.' if scanner.step_over(b'.') => {
                if !scanner.step_over(b'=') {
                    scanner.step_over(b'.');
                }
                if is_prefix {
                    self.now.prefixes += 1;
                }
                self.is_operand = false;
            }
            b':' => {
                if scanner.step_over(b':') && self.in_use {
                    self.now.links += 1;
                }
                self.is_operand = false;
            }
            b'?' => self.now.links += 1,
            b'#' => {
                scanner.step_over(b'!');
                self.in_attribute = scanner.clone().code().is_some_and(|token| token.kind == Kind::Open(b'['));
                self.is_operand = false;
            }
            b'+' | b'/' | b'%' | b'^' | b'.' | b'@' => self.sign(false),
            _ => self.is_operand = false,
        }
    }

    fn angle(&mut self, scanner: &mut Scanner) {
        let mut count = 1;
        let mut is_comparison = scanner.step_over(b'=');
        if !is_comparison && scanner.step_over(b'<') {
            count = 2;
            is_comparison = scanner.step_over(b'=');
        }
        // `x < 5 &&` is a comparison, `A<5>` and `A<5, B>` are not; what stands in the former does not matter.
        let mut ahead = scanner.clone();
        let is_number = ahead.code().is_some_and(|token| token.kind == Kind::Literal)
            && ahead.code().is_some_and(|token| token.kind != Kind::Sign(b','));
        if is_comparison || is_number {
            self.now.links += 1;
        } else {
            self.now.angles += count;
        }
        self.is_operand = false;
    }
}

/// Whether a token behind a `}` begins something new, rather than going on with what the braces belong to.
fn begins_anew(text: &str, token: Token) -> bool {
    match token.kind {
        Kind::Word => !matches!(token.of(text), "else" | "as" | "in"),
        Kind::Literal | Kind::Lifetime | Kind::Sign(b'#') => true,
        _ => false,
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
pub(super) mod tests;
