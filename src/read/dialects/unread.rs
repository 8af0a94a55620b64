//! Kubernetes objects that are known to retry and that no dialect reads yet, and patches of paths within objects (RFC 6902).
//! They are counted, so that silence about them is not taken for calm.

use crate::facts::{Facts, Unread};
use crate::read::data::tree::Node;
use crate::read::{Context, Dialect};

/// Objects whose retries are not read.
pub const DIALECT: Dialect = Dialect { name: "unread", words: &WORDS, recognises, read };

/// Where such patches of Kubernetes objects begin.
const PATCH: &str = "/spec/";

/// What those that are about retries hold.
const RETRIES: [&str; 2] = ["retr", "Retr"];

/// Kinds whose retries repeat requests: Envoy Gateway, Gateway API, Linkerd, Kuma, Consul, Contour, Dapr, Traefik, APISIX; and
/// patches of Envoy's own configuration.
const KINDS: [&str; 12] = [
    "BackendTrafficPolicy",
    "HTTPRoute",
    "GRPCRoute",
    "ServiceProfile",
    "MeshRetry",
    "ServiceRouter",
    "HTTPProxy",
    "Resiliency",
    "Middleware",
    "ApisixRoute",
    "ApisixUpstream",
    "EnvoyFilter",
];

/// The kinds, and what is said of retries.
const WORDS: [&str; KINDS.len() + RETRIES.len()] = {
    let mut words = [""; KINDS.len() + RETRIES.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = if at < KINDS.len() { KINDS[at] } else { RETRIES[at - KINDS.len()] };
        at += 1;
    }
    words
};

fn recognises(document: Node<'_>) -> bool {
    let is_retry = |name: &str| RETRIES.iter().any(|word| name.contains(word));
    let retries = |node: Node<'_>| node.is_map() && node.written_entries().any(|entry| is_retry(entry.key));
    if document.is_seq() {
        let path = |step: Node<'_>| step.get("path").and_then(Node::text).unwrap_or_default().to_string();
        return document.items().all(|step| step.get("op").and_then(Node::text).is_some())
            && document.items().any(|step| {
                path(step).starts_with(PATCH)
                    && (is_retry(&path(step)) || step.get("value").is_some_and(|value| value.walk().any(retries)))
            });
    }
    let has_kind = kind(document).is_some_and(|kind| KINDS.contains(&kind));
    has_kind && document.get("apiVersion").is_some() && document.walk().any(retries)
}

fn kind(document: Node<'_>) -> Option<&str> {
    document.get("kind")?.text()
}

fn read(document: Node<'_>, _: &Context<'_>, facts: &mut Facts) {
    let kind = if document.is_seq() { Some("JSON patch") } else { kind(document) };
    facts.unread.extend(kind.map(|kind| Unread { kind: kind.into(), span: document.span() }));
}

#[cfg(test)]
mod tests {
    use crate::facts::FileKind;
    use crate::read::{ReadSettings, read_file};
    use crate::source::FileId;

    fn kinds(text: &str) -> Vec<String> {
        let facts = read_file(FileId(0), "a.yaml", FileKind::Yaml, text, &ReadSettings::default());
        assert!(facts.policies.is_empty());
        facts.unread.iter().map(|one| one.kind.to_string()).collect()
    }

    #[test]
    fn patches_of_paths_are_counted_if_they_are_about_retries() {
        let replace = "- op: replace\n  path: /spec/http/0/retries/attempts\n  value: 9\n";
        assert_eq!(kinds(replace), ["JSON patch"]);
        assert_eq!(kinds("- { op: add, path: /spec/http/0, value: { retries: { attempts: 9 } } }\n"), ["JSON patch"]);
        for inline in [
            "patches:\n- target: { kind: VirtualService, name: orders }\n  patch: |-\n",
            "patchesJson6902:\n- patch: |\n",
        ] {
            let text = format!("{inline}{}", replace.lines().map(|line| format!("    {line}\n")).collect::<String>());
            assert_eq!(kinds(&text), ["JSON patch"], "{text}");
        }
        // Another path, another kind of list, and the path of a request.
        assert!(kinds("- { op: replace, path: /spec/replicas, value: 9 }\n").is_empty());
        assert!(kinds("- { name: a, path: /spec/http/0/retries }\n").is_empty());
        assert!(kinds("- { op: GET, path: /orders/retries }\n").is_empty());
    }

    #[test]
    fn objects_that_retry_are_counted_although_nothing_of_them_is_read() {
        let gateway = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nspec: { retry: { numRetries: 9 } }\n";
        assert_eq!(kinds(gateway), ["BackendTrafficPolicy"]);
        let linkerd =
            "apiVersion: linkerd.io/v1alpha2\nkind: ServiceProfile\nspec: { retryBudget: { retryRatio: 2.0 } }\n";
        assert_eq!(kinds(&format!("{gateway}---\n{linkerd}")), ["BackendTrafficPolicy", "ServiceProfile"]);
        // Without any word of retrying there is nothing to miss, and a step that is run again repeats no request.
        assert!(kinds("apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nspec: { rules: [] }\n").is_empty());
        assert!(
            kinds("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: { retryStrategy: { limit: 10 } }\n")
                .is_empty()
        );
    }
}
