//! Aligned columns.

use super::paint::{Paint, Tone};
use super::{Look, text};

/// On which side a column is filled up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
    /// Paths: where one is cut, its end stays.
    Path,
}

/// Rows of cells below a heading. Cells must be clean text.
#[derive(Debug)]
pub struct Table {
    head: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
    /// Cells that say what a row is about.
    names: usize,
}

impl Table {
    /// An empty table whose first column says what a row is about.
    pub fn new(head: &[(&'static str, Align)]) -> Self {
        Table::named_by(1, head)
    }

    /// An empty table whose first columns say what a row is about.
    pub fn named_by(names: usize, head: &[(&'static str, Align)]) -> Self {
        Table { head: head.to_vec(), rows: Vec::new(), names }
    }

    /// Adds a row, one cell for each column.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// The table within `look.width` columns: each column of `gives`, in this order, is cut down to its minimum until the
    /// table fits. Where it still does not, each row becomes a paragraph: lines that a terminal breaks are no table.
    pub fn render(&self, look: Look, gives: &[(usize, usize)]) -> String {
        let mut widths: Vec<usize> = self.head.iter().map(|(name, _)| text::width(name)).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = text::width(cell).max(*width);
            }
        }
        for (column, least) in gives {
            let total = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
            if let Some(width) = widths.get_mut(*column) {
                let over = total.saturating_sub(look.width);
                *width = width.saturating_sub(over).max((*least).min(*width));
            }
        }
        if widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1) > look.width {
            return self.paragraphs(look);
        }
        let paint = Paint(look.colour);
        let head: Vec<&str> = self.head.iter().map(|(name, _)| *name).collect();
        let mut out = paint.tone(Tone::Strong, &self.line(&head, &widths));
        out.push('\n');
        for row in &self.rows {
            let row: Vec<&str> = row.iter().map(String::as_str).collect();
            out.push_str(&self.line(&row, &widths));
            out.push('\n');
        }
        out
    }

    /// The first cells of each row as its heading, the others by name below.
    fn paragraphs(&self, look: Look) -> String {
        let paint = Paint(look.colour);
        let mut out = String::new();
        for row in &self.rows {
            let named = self.head.iter().zip(row);
            let (first, rest): (Vec<_>, Vec<_>) = named.enumerate().partition(|(at, _)| *at < self.names);
            let heading: Vec<&str> =
                first.iter().map(|(_, (_, cell))| cell.as_str()).filter(|cell| !cell.is_empty()).collect();
            let is_one_line = heading.iter().map(|cell| text::width(cell) + 2).sum::<usize>() <= look.width + 2;
            let heading = heading.join(if is_one_line { "  " } else { "\n" });
            out.push_str(&paint.tone(Tone::Strong, &heading));
            let mut used = usize::MAX;
            for (_, ((name, _), cell)) in rest.iter().filter(|(_, (_, cell))| !cell.is_empty()) {
                let item = format!("{name} {cell}");
                let width = text::width(&item);
                if used.saturating_add(3 + width) <= look.width {
                    out.push_str(" · ");
                    out.push_str(&item);
                    used += 3 + width;
                    continue;
                }
                // Below its name, where it takes more than one line.
                for (row, line) in text::wrap(&item, look.width.saturating_sub(4)).iter().enumerate() {
                    let indent = if row == 0 { 2 } else { 4 };
                    out.push_str(&format!("\n{:indent$}{line}", ""));
                    used = indent + text::width(line);
                }
            }
            out.push_str("\n\n");
        }
        out
    }

    fn line(&self, cells: &[&str], widths: &[usize]) -> String {
        let cells = cells.iter().zip(widths).zip(&self.head).map(|((cell, width), (_, align))| {
            let cell = if *align == Align::Path { text::clip_start(cell, *width) } else { text::clip(cell, *width) };
            match align {
                Align::Left | Align::Path => text::pad(&cell, *width),
                Align::Right => format!("{}{cell}", " ".repeat(width.saturating_sub(text::width(&cell)))),
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_the_first_to_give_way_is_cut() {
        let mut table = Table::new(&[("place", Align::Left), ("tries", Align::Right), ("on", Align::Left)]);
        table.push(vec!["日本.yaml:1".into(), "3".into(), "overload,reset".into()]);
        table.push(vec!["b".into(), "unbounded".into(), "x".into()]);
        let wide = table.render(Look { colour: false, width: 80 }, &[(2, 4)]);
        assert_eq!(
            wide,
            "place            tries  on\n日本.yaml:1          3  overload,reset\nb            unbounded  x\n"
        );
        let narrow = table.render(Look { colour: false, width: 30 }, &[(2, 4)]);
        assert!(narrow.contains("3  overl…\n"), "{narrow}");
    }

    #[test]
    fn the_cells_of_a_heading_stand_below_each_other_where_they_must() {
        let mut table = Table::named_by(2, &[("place", Align::Path), ("call", Align::Left), ("x", Align::Left)]);
        table.push(vec!["a.yaml:1".into(), "web → api".into(), "1".into()]);
        let at = |width| table.render(Look { colour: false, width }, &[]);
        assert_eq!(at(19), "a.yaml:1  web → api\n  x 1\n\n");
        assert_eq!(at(18), "a.yaml:1\nweb → api\n  x 1\n\n");
    }

    #[test]
    fn a_paragraph_breaks_what_takes_more_than_a_line() {
        let mut table = Table::new(&[("rule", Align::Left), ("level", Align::Left), ("finds", Align::Left)]);
        table.push(vec!["no-backoff".into(), "error".into(), "tries follow each other at once".into()]);
        let narrow = table.render(Look { colour: false, width: 24 }, &[]);
        assert_eq!(narrow, "no-backoff\n  level error\n  finds tries follow\n    each other at once\n\n");
    }
}
