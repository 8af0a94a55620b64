//! [`Rows`]: JSON in which a fact is a line, so that a list of many can be read, compared and searched by lines.

use std::io::{Result, Write};

use serde_json::ser::Formatter;

/// Levels of objects that are laid out; the lists in the last of them are as well.
const LAID_OUT: usize = 2;

/// Lays out the outer levels of a document.
#[derive(Default)]
pub struct Rows {
    /// For each list and object that is open: whether it is laid out.
    open: Vec<bool>,
    /// Whether the innermost has anything in it.
    has_any: bool,
}

impl Rows {
    fn begin(&mut self, levels: usize) {
        let is_laid_out = self.open.len() < levels && self.open.last().is_none_or(|outer| *outer);
        self.open.push(is_laid_out);
        self.has_any = false;
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, close: &[u8]) -> Result<()> {
        if self.open.pop().unwrap_or_default() && self.has_any {
            self.line(writer)?;
        }
        self.has_any = true;
        writer.write_all(close)
    }

    fn item<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.has_any = true;
        if self.open.last().copied().unwrap_or_default() { self.line(writer) } else { Ok(()) }
    }

    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> Result<()> {
        writer.write_all(b"\n")?;
        self.open.iter().try_for_each(|_| writer.write_all(b" "))
    }
}

impl Formatter for Rows {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.begin(LAID_OUT + 1);
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.item(writer, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.begin(LAID_OUT);
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.item(writer, first)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn two_levels_and_their_lists_are_laid_out() {
        let document = json!({ "a": 1, "b": { "c": [{ "d": [1, 2] }, [3]], "e": { "f": [] }, "j": [] }, "g": [{ "h": { "i": null } }] });
        let mut out = Vec::new();
        super::super::write_rows(&document, &mut out).unwrap();
        let expected = "{\n \"a\":1,\n \"b\":{\n  \"c\":[\n   {\"d\":[1,2]},\n   [3]\n  ],\n  \"e\":{\"f\":[]},\n  \"j\":[]\n },\n \"g\":[\n  \
                        {\"h\":{\"i\":null}}\n ]\n}\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
