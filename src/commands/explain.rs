//! `retrylint explain`: a rule's page.

use retrylint::finding::Severity;
use retrylint::rules;

use retrylint::report::text;

use super::{Failure, screen};
use crate::cli::{Explain, unknown_rule};

/// Prints it.
pub fn run(args: &Explain) -> Result<bool, Failure> {
    let Some(name) = &args.rule else {
        let help = "`retrylint rules` lists them: `retrylint explain retry-amplification`";
        return Err(Failure::Said("which rule is to be explained is not said".into(), Some(help.into())));
    };
    let Some(rule) = rules::find(name) else {
        return Err(Failure::Said(unknown_rule(name), None));
    };
    let meta = rule.meta();
    let levels: Vec<&str> = meta.levels.iter().copied().map(Severity::name).collect();
    let head = format!("# {}\n\n{} ({}; {})\n\n", rule.id, meta.summary, meta.category.name(), levels.join(", "));
    let page = head + &rule.body();
    screen::print(&screen::stdout_columns().map_or_else(|| page.clone(), |columns| filled(&page, columns)))?;
    Ok(true)
}

/// A page whose paragraphs and items of lists fill so many columns; examples, headings and tables stay as they are.
fn filled(page: &str, columns: usize) -> String {
    let mut out = String::with_capacity(page.len());
    let mut paragraph = String::new();
    let mut is_example = false;
    let flush = |paragraph: &mut String, out: &mut String| {
        let indent = if paragraph.starts_with("- ") { "  " } else { "" };
        for (row, line) in text::wrap(paragraph, columns.saturating_sub(indent.len())).iter().enumerate() {
            out.push_str(if row == 0 { "" } else { indent });
            out.push_str(line);
            out.push('\n');
        }
        paragraph.clear();
    };
    for line in page.lines() {
        let is_fence = line.starts_with("```");
        let is_kept = is_example || is_fence || line.is_empty() || line.starts_with(['#', '|']);
        if (is_kept || line.starts_with("- ")) && !paragraph.is_empty() {
            flush(&mut paragraph, &mut out);
        }
        if is_kept {
            out.push_str(line);
            out.push('\n');
        } else {
            paragraph.push_str(if paragraph.is_empty() { "" } else { " " });
            paragraph.push_str(line.trim());
        }
        is_example ^= is_fence;
    }
    if !paragraph.is_empty() {
        flush(&mut paragraph, &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_fills_the_columns_and_examples_stay() {
        let page = "# a heading that is longer\n\none two three\nfour five\n\n- an item of\n  a list\n- more\n\n\
                    ```yaml\na: 1 # a line that is longer\n\nb: 2\n```\n| a | table | of | columns |\n";
        let expected = "# a heading that is longer\n\none two three four\nfive\n\n- an item of a\n  list\n- more\n\n\
                        ```yaml\na: 1 # a line that is longer\n\nb: 2\n```\n| a | table | of | columns |\n";
        assert_eq!(filled(page, 18), expected);
    }

    #[test]
    fn every_page_is_the_same_words_at_any_width() {
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        for rule in rules::ALL {
            let body = rule.body();
            assert_eq!(words(&filled(&body, 60)), words(&body), "{}", rule.id);
        }
    }
}
