//! Literals and operators.

use syn::{BinOp, Lit};

use super::Lower;
use crate::read::code::tree::{Id, Kind, Literal, Op};

impl Lower<'_> {
    /// A literal. In patterns it may have a minus before it.
    pub(super) fn literal(&mut self, lit: &Lit) -> Id {
        let mark = self.b.mark();
        let at = self.at(lit.span());
        let (digits, suffix) = match lit {
            Lit::Int(one) => (one.base10_digits(), one.suffix()),
            Lit::Float(one) => (one.base10_digits(), one.suffix()),
            _ => {
                let text = match lit {
                    Lit::Str(one) => one.value(),
                    Lit::Char(one) => one.value().to_string(),
                    Lit::ByteStr(one) => String::from_utf8_lossy(&one.value()).into_owned(),
                    Lit::CStr(one) => one.value().to_string_lossy().into_owned(),
                    Lit::Byte(one) => {
                        let kind = Literal::Int(u128::from(one.value()), Some(self.sym("u8")));
                        return self.leaf(Kind::Literal(kind), at);
                    }
                    Lit::Bool(one) => return self.leaf(Kind::Literal(Literal::Bool(one.value)), at),
                    _ => return self.opaque(at),
                };
                let text = self.sym(&text);
                return self.leaf(Kind::Literal(Literal::Text(text)), at);
            }
        };
        let positive = digits.strip_prefix('-').unwrap_or(digits);
        let is_whole = matches!(lit, Lit::Int(_)) && !matches!(suffix, "f32" | "f64");
        let named = (!suffix.is_empty()).then(|| self.sym(suffix));
        let literal = match is_whole {
            true => positive.parse().ok().map(|number| Literal::Int(number, named)),
            false => positive.parse().ok().map(|number| Literal::Float(number, named)),
        };
        let Some(literal) = literal else { return self.opaque(at) };
        let id = self.leaf(Kind::Literal(literal), at);
        match digits.starts_with('-') {
            true => self.b.add(mark, Kind::Operator { op: Op::Neg, of: vec![id] }, at),
            false => id,
        }
    }
}

/// An operator, and whether it assigns.
pub(super) fn operator(op: &BinOp) -> Option<(Op, bool)> {
    Some(match op {
        BinOp::Add(_) => (Op::Add, false),
        BinOp::Sub(_) => (Op::Sub, false),
        BinOp::Mul(_) => (Op::Mul, false),
        BinOp::Div(_) => (Op::Div, false),
        BinOp::Rem(_) => (Op::Rem, false),
        BinOp::And(_) => (Op::And, false),
        BinOp::Or(_) => (Op::Or, false),
        BinOp::BitXor(_) => (Op::BitXor, false),
        BinOp::BitAnd(_) => (Op::BitAnd, false),
        BinOp::BitOr(_) => (Op::BitOr, false),
        BinOp::Shl(_) => (Op::Shl, false),
        BinOp::Shr(_) => (Op::Shr, false),
        BinOp::Eq(_) => (Op::Eq, false),
        BinOp::Lt(_) => (Op::Lt, false),
        BinOp::Le(_) => (Op::Le, false),
        BinOp::Ne(_) => (Op::Ne, false),
        BinOp::Ge(_) => (Op::Ge, false),
        BinOp::Gt(_) => (Op::Gt, false),
        BinOp::AddAssign(_) => (Op::Add, true),
        BinOp::SubAssign(_) => (Op::Sub, true),
        BinOp::MulAssign(_) => (Op::Mul, true),
        BinOp::DivAssign(_) => (Op::Div, true),
        BinOp::RemAssign(_) => (Op::Rem, true),
        BinOp::BitXorAssign(_) => (Op::BitXor, true),
        BinOp::BitAndAssign(_) => (Op::BitAnd, true),
        BinOp::BitOrAssign(_) => (Op::BitOr, true),
        BinOp::ShlAssign(_) => (Op::Shl, true),
        BinOp::ShrAssign(_) => (Op::Shr, true),
        _ => return None,
    })
}
