//! `request_headers_to_add`: the retry headers among them are a hidden retry source, since Envoy's router reads them
//! like a trusted client's; the timeout headers come too late to have an effect (measured.md, M-7).

use super::proto::{self, field, text};
use crate::facts::{Sourced, Why};
use crate::read::data::tree::Node;

/// What the headers added to a route's requests say about retrying.
#[derive(Debug, Default)]
pub(super) struct Headers<'t> {
    /// `x-envoy-max-retries`, which beats `num_retries`.
    pub max_retries: Option<Sourced<u64>>,
    /// `x-envoy-retry-on` and `x-envoy-retry-grpc-on`, which add conditions.
    pub retry_on: Vec<Node<'t>>,
    /// Headers that name codes or further headers: what is retried is then not told by the policy alone.
    pub is_open: bool,
    /// Timeout headers: their names and where their values stand.
    pub ignored: Vec<(&'static str, Node<'t>)>,
}

/// So many of one level are looked at, since each of its routes does.
const MAX_HEADERS: usize = 64;

const TIMEOUTS: [&str; 2] = ["x-envoy-upstream-rq-timeout-ms", "x-envoy-upstream-rq-per-try-timeout-ms"];

impl<'t> Headers<'t> {
    /// Reads the lists of the levels at which headers are added: the weighted destination, the route, its virtual host,
    /// the whole configuration.
    pub fn read(levels: impl Iterator<Item = Node<'t>>) -> Headers<'t> {
        let mut out = Headers::default();
        for level in levels {
            for option in level.items().take(MAX_HEADERS) {
                let Some(header) = field(option, "header") else { continue };
                let (Some(key), Some(value)) = (text(header, "key"), field(header, "value")) else { continue };
                match key.to_ascii_lowercase().as_str() {
                    "x-envoy-max-retries" => {
                        let count = proto::count(value);
                        // Text that is no number is as good as absent (measured).
                        if matches!(count.why(), Some(Why::Malformed { .. })) {
                            continue;
                        }
                        // Two levels append to one another, and Envoy reads neither then, unless one says `OVERWRITE…`.
                        out.max_retries = Some(match out.max_retries.take() {
                            None => count,
                            Some(_) => Sourced::unknown(Why::Other("two levels set the header".into()), value.span()),
                        });
                    }
                    "x-envoy-retry-on" | "x-envoy-retry-grpc-on" => out.retry_on.push(value),
                    "x-envoy-retriable-status-codes" | "x-envoy-retriable-header-names" => out.is_open = true,
                    key => {
                        if let Some(name) = TIMEOUTS.iter().find(|name| **name == key) {
                            out.ignored.push((name, value));
                        }
                    }
                }
            }
        }
        out
    }
}
