//! A page as the tests see it: headings, and under each the project that its fences make.

/// A page.
pub struct Page {
    /// The text before the first heading.
    pub intro: String,
    /// Second-level headings, in order.
    pub headings: Vec<String>,
    /// Headings with fences.
    pub projects: Vec<Project>,
}

/// The files under one heading, and what must be found in them.
pub struct Project {
    /// The heading.
    pub heading: String,
    /// Path and text of each file, without marks.
    pub files: Vec<(String, String)>,
    /// What must be found.
    pub marks: Vec<Mark>,
}

/// A finding that the page announces.
#[derive(Debug)]
pub struct Mark {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// A part of the message.
    pub text: String,
}

impl Page {
    /// Reads a page.
    pub fn parse(text: &str) -> Page {
        let body =
            text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, body)| body);
        let mut page = Page { intro: String::new(), headings: Vec::new(), projects: Vec::new() };
        let mut lines = body.lines();
        while let Some(line) = lines.next() {
            if let Some(heading) = line.strip_prefix("## ") {
                page.headings.push(heading.trim().to_owned());
            } else if let Some(info) = line.strip_prefix("```") {
                let fence: Vec<&str> = lines.by_ref().take_while(|line| line.trim_end() != "```").collect();
                page.fence(info, &fence);
            } else if page.headings.is_empty() {
                page.intro.push_str(line);
                page.intro.push('\n');
            }
        }
        page
    }

    fn fence(&mut self, info: &str, lines: &[&str]) {
        let heading = self.headings.last().cloned().unwrap_or_default();
        let path = info.split_whitespace().find_map(|word| word.strip_prefix("file="));
        if path.is_none() && info.trim() != "findings" {
            return;
        }
        if self.projects.last().is_none_or(|project| project.heading != heading) {
            self.projects.push(Project { heading, files: Vec::new(), marks: Vec::new() });
        }
        let project = self.projects.last_mut().unwrap();
        match path {
            Some(path) => project.file(path, lines),
            None => project.marks.extend(lines.iter().map(|line| Mark::parse(line))),
        }
    }
}

impl Project {
    fn file(&mut self, path: &str, lines: &[&str]) {
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            let mark = ["#~", "//~"].iter().filter_map(|mark| Some((line.find(mark)?, mark.len()))).min();
            match mark {
                Some((start, len)) => {
                    text.push_str(line[..start].trim_end());
                    let fragment = line[start + len..].trim().to_owned();
                    self.marks.push(Mark { path: path.to_owned(), line: at + 1, text: fragment });
                }
                None => text.push_str(line),
            }
            text.push('\n');
        }
        self.files.push((path.to_owned(), text));
    }
}

impl Mark {
    /// `path:line: text`.
    fn parse(line: &str) -> Mark {
        let mut parts = line.splitn(3, ':');
        let mut next = || parts.next().unwrap_or_else(|| panic!("`{line}` is not `path:line: text`"));
        let (path, number, text) = (next(), next(), next());
        Mark { path: path.to_owned(), line: number.trim().parse().unwrap(), text: text.trim().to_owned() }
    }
}
