//! Places as SARIF gives them: percent-encoded paths below the repository root, lines and columns from 1, columns in UTF-16
//! code units.

use serde::Serialize;

use crate::report::repository::Locate;
use crate::source::{Sources, Span};

/// From spans to locations.
pub(super) struct Places<'a> {
    pub sources: &'a Sources,
    pub locate: Locate<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    physical_location: Physical,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    #[serde(skip)]
    path: String,
}

#[derive(Serialize)]
pub(super) struct Message {
    pub text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

impl Places<'_> {
    /// The location of a span, with what stands there and the number that messages link to.
    pub fn location(&self, span: Span, message: Option<&str>, id: Option<u32>) -> Option<Location> {
        let source = self.sources.get(span.file)?;
        let path = (self.locate)(&source.path);
        let (uri, uri_base_id) = if path.starts_with('/') {
            (format!("file://{}", encode(&path)), None)
        } else {
            (encode(&path), Some("%SRCROOT%"))
        };
        let (start, end) = (source.utf16_position(span.start), source.utf16_position(span.end.max(span.start)));
        Some(Location {
            id,
            physical_location: Physical {
                artifact_location: Artifact { uri, uri_base_id },
                region: Region {
                    start_line: start.line,
                    start_column: start.column,
                    end_line: end.line,
                    end_column: end.column,
                },
            },
            message: message.map(|text| Message { text: text.to_string() }),
            path: format!("{}:{}", source.path, start.line),
        })
    }
}

impl Location {
    /// The line on which it starts.
    pub fn line(&self) -> u32 {
        self.physical_location.region.start_line
    }

    /// Path and line as the text of a link.
    pub fn shown(&self) -> String {
        escape(&self.path)
    }
}

/// Percent-encodes everything but unreserved characters and `/`.
fn encode(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// Text in which brackets are no links.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded_byte_by_byte() {
        assert_eq!(encode("a b/é#%.yaml"), "a%20b/%C3%A9%23%25.yaml");
        assert_eq!(escape("a[b](1)\\"), "a\\[b\\](1)\\\\");
    }
}
