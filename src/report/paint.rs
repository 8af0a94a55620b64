//! Colours, in the sixteen that every terminal lets its user choose, so that light and dark backgrounds both work.

/// Whether to paint at all.
#[derive(Clone, Copy, Debug)]
pub struct Paint(pub bool);

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The name of an error.
    Error,
    /// The name of a warning.
    Warning,
    /// The name of a note.
    Note,
    /// The word in front of help and notes.
    Help,
    /// What is read first.
    Strong,
    /// What may be passed over.
    Faint,
}

impl Paint {
    /// The text in its tone, or as it is. The text must be clean already.
    pub fn tone(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Error => "1;31",
            Tone::Warning => "1;33",
            Tone::Note => "1;36",
            Tone::Help => "36",
            Tone::Strong => "1",
            Tone::Faint => "2",
        };
        if self.0 && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }
}

/// Columns of a text that may hold tones.
pub fn visible_width(text: &str) -> usize {
    let mut width = 0;
    let mut is_code = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => is_code = true,
            'm' if is_code => is_code = false,
            _ if is_code => {}
            c => width += super::text::char_width(c),
        }
    }
    width
}
